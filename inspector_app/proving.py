"""The proof of a conversation, made in a thread while its texts can be read already.

Nothing here imports Streamlit. Proving takes longer than encoding, so no page waits for it: a page shows what is there,
and looks again.
"""

from __future__ import annotations

import threading

from inspector_app import data, tidying
from inspector_app.views.analysis import Proof

__all__ = ["NotWanted", "Proving", "proving"]


class NotWanted(Exception):
    """Another proof took the place of this one."""


class Proving:
    """A proof that is being made. `share` says how far it is."""

    def __init__(self, held: data.Held, options: data.Options) -> None:
        self.share = 0.0
        self._held = held
        self._options = options
        self._result: Proof | Exception | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> Proof | None:
        """Return the proof as soon as it is there, or None after `seconds`. Raises what made it fail."""
        self._thread.join(seconds)
        if isinstance(self._result, Exception):
            raise self._result
        return self._result

    def stop(self) -> None:
        """End it after the step that it is at; there is no result then."""
        self._stop.set()

    def _run(self) -> None:
        try:
            self._result = data.prove(self._held, self._options, self._step)
        except NotWanted:
            self._result = NotWanted()  # the one that was caught names what the proof was made of
        except Exception as error:  # raised where somebody looks
            self._result = error
        if self._held.gone:
            tidying.soon()
        else:
            tidying.give_back()

    def _step(self, share: float) -> None:
        self.share = share
        if self._stop.is_set() or self._held.gone:
            raise NotWanted


def proving(held: data.Held, options: data.Options) -> Proving:
    """Return the proof of a trace under `options` in the making; one begins where there is none."""
    with held.lock:
        wanted = held.proving.get(options)
        if not isinstance(wanted, Proving):
            for other in held.proving.values():
                if isinstance(other, Proving):
                    other.stop()
            held.proving.clear()  # what was finished is remembered with the trace
            wanted = held.proving[options] = Proving(held, options)
        return wanted
