"""Running numbered cases: rounds of a given length, two processes, and a state from which the next run goes on.

A case is a target and a number; the number is its seed, so that a finding is named by it and can be run again alone.
The state keeps, for every target, the next number, what was done so far and what failed. A round gives each target its
share of the time. A run that is stopped leaves the rest of its round to the next one, and what failed before is tried
first: it leaves the state when it holds. Times are of the processor, so that a round beside other work is as long as
one alone.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final

__all__ = ["SHARED", "Hang", "Progress", "State", "Target", "attempt", "bounded", "figures", "run_round"]

# What the cases of one process share and what must be ended with it, such as a database server.
SHARED: Final = contextlib.ExitStack()

_BLOCK_SECONDS: Final = 2.0
_PATIENCE: Final = 8
_MOST_IN_A_BLOCK: Final = 100_000
_MOST_SAID: Final = 20
_LONGEST_MESSAGE: Final = 3000


class Hang(BaseException):
    """A case took longer than its target allows. No handler for ordinary exceptions may swallow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Something to try: `run` takes a number and raises whatever it finds. `limit`: processor seconds of one case."""

    name: str
    run: Callable[[int], None]
    share: int = 1
    limit: float = 30.0


@dataclass(slots=True, kw_only=True)
class Progress:
    """How far one target is: the next number, what was done in how much processor time, what failed, what is left."""

    next: int = 0
    cases: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    failed: dict[str, str] = field(default_factory=dict)
    left: float = 0.0
    round_first: int = 0
    round_seconds: float = 0.0


@dataclass(slots=True)
class State:
    """The progress of every target, and where it is kept."""

    path: Path
    targets: dict[str, Progress] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> State:
        """The state in a file, a new one where there is none."""
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return cls(path, {name: Progress(**each) for name, each in kept.items()})

    def save(self) -> None:
        """Write the state, so that it is whole whenever the run is stopped."""
        text = json.dumps({name: asdict(each) for name, each in self.targets.items()}, indent=1)
        beside = self.path.with_name(f"{self.path.name}.new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(self.path)


@dataclass(frozen=True, slots=True)
class _Done:
    """What a process says of a block: how many numbers it ran, what failed, and the processor time that it took."""

    cases: int
    failed: dict[int, str]
    seconds: float
    slowest: float


@contextlib.contextmanager
def bounded(limit: float, *, waiting: bool = True) -> Iterator[None]:
    """Raises `Hang` in what computes for more than `limit` seconds or, if `waiting`, waits for a multiple of them."""

    def ring(*_: object) -> None:
        raise Hang(f"longer than {limit:.0f} s")

    # In processor time, since the machine may be busy; and in time, for one that waits for ever.
    timers = {signal.SIGPROF: (signal.ITIMER_PROF, limit)}
    if waiting:
        timers[signal.SIGALRM] = (signal.ITIMER_REAL, _PATIENCE * limit)
    before = {number: signal.signal(number, ring) for number in timers}
    for timer, seconds in timers.values():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for number, (timer, _) in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])


def attempt(target: Target, number: int) -> str:
    """Run one case; what went wrong, or nothing."""
    try:
        with bounded(target.limit):
            target.run(number)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever it is, it is a finding
        # Where a case hung is where the signal came.
        place = [each for each in traceback.extract_tb(error.__traceback__) if each.name != "ring"][-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return f"{type(error).__name__} at {where}: {error}"[:_LONGEST_MESSAGE]
    return ""


def _processor_seconds() -> float:
    """What this process and those that it waited for have computed."""
    return sum(os.times()[:4])


def _work(targets: Mapping[str, Target], link: Connection, current: Any) -> None:
    """The life of a process: blocks of numbers, until there is none."""
    with SHARED, contextlib.suppress(KeyboardInterrupt, EOFError):
        while (block := link.recv()) is not None:
            name, numbers, seconds = block
            began, computed, done, slowest = time.monotonic(), 0.0, 0, 0.0
            for number in numbers:
                current.value = number
                started = _processor_seconds()
                said = attempt(targets[name], number)
                used, done = _processor_seconds() - started, done + 1
                computed, slowest = computed + used, max(slowest, used)
                if said:
                    # At once: the next case may end the process.
                    link.send((number, said))
                if computed >= seconds or time.monotonic() - began >= _PATIENCE * seconds:
                    break
            link.send(_Done(done, {}, computed, slowest))


class _Process:
    """One process and what it is doing."""

    def __init__(self, targets: Mapping[str, Target]) -> None:
        # Forked, since targets are functions: nothing else runs in this process.
        context = multiprocessing.get_context("fork")
        self.link, theirs = context.Pipe()
        self.target: Target | None = None
        self.dead = False
        self._numbers: Sequence[int] = ()
        self._failed: dict[int, str] = {}
        self._patience = 0.0
        self._current = context.Value("q", -1)
        self._process = context.Process(target=_work, args=(targets, theirs, self._current))
        self._process.start()
        theirs.close()

    def begin(self, target: Target, numbers: Sequence[int], seconds: float) -> None:
        """Hand it a block."""
        self.target, self._numbers, self._failed = target, numbers, {}
        # A case that no signal ends, because it is in code that is not Python, is ended from here.
        self._patience = time.monotonic() + _PATIENCE * seconds + (_PATIENCE + 2) * target.limit
        self.link.send((target.name, numbers, seconds))

    @property
    def stuck(self) -> bool:
        """Whether it should have answered long ago."""
        return self.target is not None and time.monotonic() > self._patience

    def result(self) -> _Done | None:
        """What it found, when it has done its block or died of a case of it; None while there is more to come."""
        try:
            found: _Done | tuple[int, str] = self.link.recv()
        except (EOFError, ConnectionError):
            self.dead = True
            self._process.join()
            number = int(self._current.value)
            self._failed[number] = f"the process ended with {self._process.exitcode}"
            found = _Done(number - self._numbers[0] + 1, {}, 0.0, 0.0)
        if isinstance(found, tuple):
            self._failed[found[0]] = found[1]
            return None
        self.target = None
        return replace(found, failed=self._failed)

    def end(self, *, now: bool = False) -> None:
        """Let it end, or end it."""
        if now:
            self._process.kill()
        with contextlib.suppress(OSError):
            self.link.send(None)
        self._process.join(30)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def run_round(
    targets: Sequence[Target],
    state: State,
    *,
    minutes: float,
    processes: int = 2,
    cases: int = 0,
    say: Callable[[str], None] = print,
) -> None:
    """Go on with the round of the state, or begin a new one of so many minutes, or of so many `cases` a target."""
    known = {target.name: target for target in targets}
    for name in known:
        state.targets.setdefault(name, Progress())
    if any(state.targets[name].failed for name in known):
        _retry(known, state, say)
    if not any(state.targets[name].left > 0 for name in known):
        _begin(targets, state, minutes * 60 * processes, cases)
    running: list[_Process] = []
    try:
        running = [_Process(known) for _ in range(processes)]
        _share_out(known, state, running, cases, say)
    finally:
        for process in running:
            process.end()
        state.save()


def _retry(known: Mapping[str, Target], state: State, say: Callable[[str], None]) -> None:
    """Try again what failed before, in a process of its own, which it may take with it."""
    process = _Process(known)
    for name, target in known.items():
        progress = state.targets[name]
        for number in map(int, list(progress.failed)):
            process.begin(target, [number], 0.0)
            done = None
            while done is None:
                if not process.link.poll((_PATIENCE + 2) * target.limit):
                    process.end(now=True)
                done = process.result()
            said = done.failed.get(number, "")
            if process.dead:
                process = _Process(known)
            if said:
                progress.failed[str(number)] = said
                say(f"{name} {number} still fails: {said}")
            else:
                del progress.failed[str(number)]
                say(f"{name} {number} holds now")
    process.end()


def _begin(targets: Sequence[Target], state: State, seconds: float, cases: int) -> None:
    whole = sum(target.share for target in targets)
    for target in targets:
        progress = state.targets[target.name]
        progress.left = float(cases) if cases else seconds * target.share / whole
        progress.round_first, progress.round_seconds = progress.next, 0.0


def _share_out(
    known: Mapping[str, Target], state: State, running: list[_Process], cases: int, say: Callable[[str], None]
) -> None:
    """Give every idle process the target that has most left; a target is in one process at a time."""
    while True:
        for process in running:
            busy = {each.target.name for each in running if each.target is not None}
            waiting = [name for name in known if state.targets[name].left > 0 and name not in busy]
            if process.target is None and waiting:
                name = max(waiting, key=lambda each: state.targets[each].left)
                progress = state.targets[name]
                count = int(progress.left) if cases else _MOST_IN_A_BLOCK
                seconds = _BLOCK_SECONDS if cases else min(_BLOCK_SECONDS, progress.left)
                process.begin(known[name], range(progress.next, progress.next + count), seconds)
        links = [process.link for process in running if process.target is not None]
        if not links:
            return
        ready = wait(links, timeout=5)
        for at, process in enumerate(running):
            if process.stuck and process.link not in ready:
                process.end(now=True)
            elif process.link not in ready:
                continue
            target, done = process.target, process.result()
            if done is None:
                continue
            assert target is not None
            _note(state.targets[target.name], done, cases, target.name, say)
            state.save()
            if process.dead:
                running[at] = _Process(known)


def _note(progress: Progress, done: _Done, cases: int, name: str, say: Callable[[str], None]) -> None:
    progress.next += done.cases
    progress.cases += done.cases
    progress.seconds += done.seconds
    progress.round_seconds += done.seconds
    progress.slowest = max(progress.slowest, done.slowest)
    progress.left = max(0.0, progress.left - (done.cases if cases else done.seconds))
    for number, said in done.failed.items():
        progress.failed[str(number)] = said
        if len(progress.failed) <= _MOST_SAID:
            say(f"{name} {number}: {said}")


def figures(targets: Sequence[Target], state: State) -> Iterator[str]:
    """A line for each target: this round, and all rounds of the state."""
    heading = ("target", "numbers of this round", "seconds", "slowest", "cases in all", "failed")
    yield "{:<11} {:>22} {:>8} {:>9} {:>13} {:>7}".format(*heading)
    for target in targets:
        each = state.targets.get(target.name, Progress())
        numbers = f"{each.round_first}-{each.next - 1}" if each.next > each.round_first else "none"
        yield (
            f"{target.name:<11} {numbers:>22} {each.round_seconds:>8.0f} {each.slowest:>7.1f} s "
            f"{each.cases:>13,} {len(each.failed):>7}"
        )
