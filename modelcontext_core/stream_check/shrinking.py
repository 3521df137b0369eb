"""The smallest text and the fewest cuts that still fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from modelcontext_core.stream_check.report import CutFailure
from modelcontext_core.stream_check.trials import Subject, streamed

__all__ = ["smallest"]

_TRIES: Final = 3000


def smallest(failure: CutFailure, subject: Subject) -> CutFailure:
    """Joins chunks, then leaves out parts of them, the largest first, for as long as the cut fails."""
    shrinking = _Shrinking(failure, subject)
    before: Sequence[str] = ()
    while shrinking.best.chunks != before and shrinking.tries > 0:
        before = shrinking.best.chunks
        shrinking.join_chunks()
        shrinking.leave_out()
    return shrinking.best


class _Shrinking:
    def __init__(self, failure: CutFailure, subject: Subject) -> None:
        self.best = failure
        self.tries = _TRIES
        self._subject = subject

    def _fails(self, chunks: Sequence[str]) -> bool:
        self.tries -= 1
        if self.tries < 0 or not all(chunks):
            return False
        try:
            whole = self._subject.decoded("".join(chunks))
        except Exception:
            return False  # a text that cannot be decoded at all is another failure
        found = streamed(self._subject.make, chunks)
        if found != whole:
            self.best = replace(self.best, chunks=tuple(chunks), streamed=found, whole=whole)
        return found != whole

    def join_chunks(self) -> None:
        """Fewer chunks of the same text."""
        size = len(self.best.chunks) // 2
        while size:
            at = 0
            while at + 1 < len(self.best.chunks):
                now = self.best.chunks
                if not self._fails([*now[:at], "".join(now[at : at + size + 1]), *now[at + size + 1 :]]):
                    at += 1
            size //= 2

    def leave_out(self) -> None:
        """Shorter chunks, as many."""
        size = max(map(len, self.best.chunks), default=0)
        while size:
            for number in range(len(self.best.chunks)):
                at = 0
                while at < len(self.best.chunks[number]):
                    now = self.best.chunks
                    shorter = now[number][:at] + now[number][at + size :]
                    if not self._fails([*now[:number], shorter, *now[number + 1 :]]):
                        at += size
            size //= 2
