"""Simulations and checks of the streams of a trace that is held in memory. They live and go with it.

Nothing here imports Streamlit. A check runs in a thread of its own, so that one can step through the stream meanwhile;
it stops when it is told to, and when nobody has looked at it for a while.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeVar, cast

from inspector_app import data
from inspector_app.stream_subjects import byte_events, subject_of
from inspector_app.views.streamed import CAPTURE, Streamed, Subject
from modelcontext_core.chunking import ChannelKey, Chunk, Chunking, ChunkLike, at_places, chunking_named, cut
from modelcontext_core.simulate import simulate
from modelcontext_core.stream_check import CutReport, watch_every_cut
from modelcontext_core.testing_examples import forgets_word_boundaries

__all__ = ["Checking", "HowCut", "check_of", "start_check", "stop_checks", "streamed"]

_RUNS_HELD: Final = 6
_SECONDS_UNWATCHED: Final = 60.0
_BROKEN: Final = "broken"
_Kept = TypeVar("_Kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class HowCut:
    """What of a trace is streamed, and how it is cut: the fields of the page's state that decide it."""

    answer: int
    made: bool
    chunking: str
    size: int
    seed: int
    places: tuple[int, ...]
    channel: str
    assumed: float


def streamed(held: data.Held, options: data.Options, how: HowCut) -> Streamed:
    """Simulate a stream of a trace; the last few are remembered with the trace."""
    return _kept(held, ("streamed", options, how), lambda: _simulated(held, options, how))


def _simulated(held: data.Held, options: data.Options, how: HowCut) -> Streamed:
    subject = _subject(held, options, how.answer, how.made)
    chunks, chunking = subject.chunks, _chunking(how)
    if how.chunking == "places":
        chunks, chunking = _at_the_cut(chunks, how.places, how.channel), None
    simulation = simulate(subject.registry, chunks, chunking)
    assumed = bool(how.assumed) and not subject.timed
    if assumed:
        timed = [
            Chunk(text=each.text, channel=each.channel, index=each.index, name=each.name, time=number / how.assumed)
            for number, each in enumerate(simulation.chunks)
        ]
        simulation = simulate(subject.registry, timed)
    return Streamed(subject=subject, simulation=simulation, assumed=assumed)


def _subject(held: data.Held, options: data.Options, answer: int, made: bool) -> Subject:
    return _kept(held, ("subject", options, answer, made), lambda: subject_of(held, options, answer, made=made))


def _chunking(how: HowCut) -> Chunking | None:
    return chunking_named(how.chunking, size=how.size, seed=how.seed, places=how.places)


def _at_the_cut(chunks: Iterable[ChunkLike], places: Iterable[int], channel: str) -> list[Chunk]:
    """Each channel whole, but for the one that is cut."""
    joined: dict[ChannelKey, Chunk] = {}
    for chunk in chunks:
        key = (chunk.channel, chunk.index)
        before = joined.get(key) or Chunk(text="", channel=chunk.channel, index=chunk.index)
        joined[key] = replace(before, text=before.text + chunk.text, name=before.name or chunk.name)
    return [
        replace(whole, text=text)
        for key, whole in joined.items()
        for text in (cut(whole.text, at_places(places)) if f"{key[0]}{key[1]}" == channel else (whole.text,))
    ]


def _kept(held: data.Held, key: object, make: Callable[[], _Kept]) -> _Kept:
    with held.lock:
        if key in held.streams:
            held.streams.move_to_end(key)
            return cast("_Kept", held.streams[key])
    made = make()
    with held.lock:
        held.streams[key] = made
        while len(held.streams) > _RUNS_HELD:
            held.streams.popitem(last=False)
    return made


# --- checks


class Checking:
    """A check that runs in a thread. `report` is what is known so far; `running` whether there is more to come."""

    def __init__(self, subject: Subject, held: data.Held, *, seed: int, decoder: str) -> None:
        self.report: CutReport = CutReport(tallies={}, seed=seed)
        self.stopped = False
        self._looked = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(subject, held, seed, decoder), daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether the check goes on. Asking keeps it from ending as unwatched."""
        self._looked = time.monotonic()
        return self._thread.is_alive()

    def stop(self) -> None:
        """End it: what was found so far stays."""
        self.stopped = True
        self._stop.set()
        self._thread.join(timeout=5)

    def _run(self, subject: Subject, held: data.Held, seed: int, decoder: str) -> None:
        registry = subject.registry
        broken = (lambda: forgets_word_boundaries(registry)) if decoder == _BROKEN else None
        received = held.data if subject.choice == CAPTURE and broken is None else b""
        split = byte_events(held) if received else None
        reports = watch_every_cut(registry, subject.chunks, decoder=broken, data=received, split=split, seed=seed)
        for report in reports:
            self.report = report
            if self._stop.is_set() or time.monotonic() - self._looked > _SECONDS_UNWATCHED:
                self.stopped = not report.complete
                reports.close()
                return


def start_check(held: data.Held, options: data.Options, how: HowCut, *, decoder: str) -> Checking:
    """Begin to check the stream of `how`, whatever its chunks: all cuts are tried."""
    before = check_of(held, options, how, decoder=decoder)
    if before is not None:
        before.stop()
    subject = _subject(held, options, how.answer, how.made)
    checking = Checking(subject, held, seed=how.seed, decoder=decoder)
    with held.lock:
        held.checks[_check_key(options, how, decoder)] = checking
    return checking


def check_of(held: data.Held, options: data.Options, how: HowCut, *, decoder: str) -> Checking | None:
    """The check of the stream of `how`, if one was begun."""
    return cast("Checking | None", held.checks.get(_check_key(options, how, decoder)))


def stop_checks(held: data.Held) -> None:
    """End all checks of a trace that is closed."""
    for checking in held.checks.values():
        cast("Checking", checking).stop()


def _check_key(options: data.Options, how: HowCut, decoder: str) -> object:
    return options, how.answer, how.made, how.seed, decoder
