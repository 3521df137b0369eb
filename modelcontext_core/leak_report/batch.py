"""The leak scan over many files: small tasks, pure functions, any number of processes.

A task is a few files, or a range of lines of a large one. `scan_task` reads its traces and gives one report, the
proposals of discovery, and the effect of the suggestions that the task's own traces lead to. Most traces of a source
lead to the same ones; where all traces together lead to another rule, `measure_task` measures that again. Both only
need what is in the task and the settings, so a process pool and a cluster run the same code, and the results add up in
any order.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, Protocol, TypeVar

from modelcontext_core import formats
from modelcontext_core.detectors import DEFAULT_DETECTORS, Detectors
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.base import Trace
from modelcontext_core.leak_report.measure import NOTHING, Effect, measure, tools_of
from modelcontext_core.leak_report.report import Collector, LeakReport
from modelcontext_core.leak_report.suggestions import (
    ProposalKey,
    Proposals,
    Suggestion,
    applied_packs,
    candidates,
    gather,
    propose,
    with_effects,
)
from modelcontext_core.leak_report.trace_scan import Leaks
from modelcontext_core.limits import MIB
from modelcontext_core.policies import DEFAULT_POLICIES, Proposal, ToolPolicies

__all__ = [
    "Measured",
    "Piece",
    "Progress",
    "Runner",
    "ScanResult",
    "Settings",
    "Task",
    "bounded",
    "locally",
    "make_tasks",
    "measure_task",
    "named_traces",
    "pieces_of",
    "scan_files",
    "scan_task",
]

_TASK_BYTES: Final = 4 * MIB
_TASK_FILES: Final = 100
_RANGE_BYTES: Final = 8 * MIB
_MAX_MEASURED: Final = 40
# How much text of traces is held until their suggestions are measured.
_HELD_CHARACTERS: Final = 8 * MIB
_LINES_TRIED: Final = 20
_TRIED_BYTES: Final = 8 * MIB

_Result = TypeVar("_Result")
_Given = TypeVar("_Given")
Opener = Callable[[str], BinaryIO]


class Piece(NamedTuple):
    """A file, or the lines of it that begin in `[start, end)`; `end` is -1 for all of it. `first` is the number of its
    first record, for the names of traces."""

    path: str
    size: int
    start: int = 0
    end: int = -1
    first: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to scan. `opener` opens a path for reading: the local one, or that of a cluster's file systems."""

    pack: ToolPolicies = DEFAULT_POLICIES
    detectors: Detectors = DEFAULT_DETECTORS
    format: str = ""
    values: bool = False
    suggest: bool = True
    opener: Opener | None = None


Task = tuple[Piece, ...]


class Measured(NamedTuple):
    """What a suggestion says (`Suggestion.says`), and what that does to the traces of a task."""

    says: tuple[object, ...]
    effect: Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanResult:
    """The report of a task or of a whole scan, and what discovery proposes there.

    Of a task also what was measured already, and the `tools` of the traces in which anything can change.
    """

    report: LeakReport
    proposals: Proposals = field(default_factory=dict)
    suggestions: Sequence[Suggestion] = ()
    measured: Mapping[str, Measured] = field(default_factory=dict)
    tools: frozenset[str] = frozenset()


# --- tasks


def make_tasks(pieces: Iterable[Piece]) -> Iterator[Task]:
    """The pieces in tasks of about the same work."""
    waiting: list[Piece] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += piece.size
        if size >= _TASK_BYTES or len(waiting) >= _TASK_FILES:
            yield tuple(waiting)
            waiting, size = [], 0
    if waiting:
        yield tuple(waiting)


def pieces_of(path: str | Path, format_name: str = "") -> Iterator[Piece]:
    """A local file as pieces: a large one whose lines are traces by themselves is cut between lines."""
    path = Path(path)
    size = path.stat().st_size
    if size < 2 * _RANGE_BYTES or not _lines_are_traces(path, format_name):
        yield Piece(str(path), size)
        return
    start = first = 0
    with path.open("rb") as file:
        while start < size:
            file.seek(start)
            block = file.read(_RANGE_BYTES)
            rest = file.readline() if start + len(block) < size else b""
            end = start + len(block) + len(rest)
            yield Piece(str(path), end - start, start, end, first)
            first += block.count(b"\n") + rest.count(b"\n")
            start = end


def _lines_are_traces(path: Path, format_name: str) -> bool:
    """Whether each line of a file is one JSON document and one trace: only then may it be cut anywhere."""
    with path.open("rb") as file:
        lines = file.read(_TRIED_BYTES).splitlines(keepends=True)
    # Whether a format joins the lines of a source may depend on what stands in them: it is tried on the first ones.
    whole = [line for line in lines if line.endswith(b"\n")][:_LINES_TRIED]
    if not all(line.startswith(b"{") and line.rstrip().endswith(b"}") for line in whole):
        return False
    try:
        name = format_name or formats.detect(path)
        found = sum(1 for _ in formats.iter_traces(b"".join(whole), format=name))
    except UnreadableTrace:
        return False
    return found == len(whole) > 1


# --- work


def scan_task(task: Task, settings: Settings) -> ScanResult:
    """The report of some files. A file that cannot be read is counted and named; it stops no other."""
    collector = Collector()
    advisor = _Advisor(settings, collector)
    for piece in task:
        whole = piece.start == 0
        try:
            for name, trace in named_traces(piece, settings):
                leaks = collector.scan(trace, settings.pack, settings.detectors, name=name, values=settings.values)
                if settings.suggest:
                    advisor.add(trace, leaks)
        except (UnreadableTrace, OSError) as error:
            collector.source(size=piece.size, unreadable=_reason(error), name=piece.path, whole=whole)
        else:
            collector.source(size=piece.size, name=piece.path, whole=whole)
    if settings.suggest:
        advisor.measure()
    return ScanResult(
        report=collector.report(),
        proposals=advisor.proposals,
        measured=advisor.measured,
        tools=frozenset(advisor.tools),
    )


class _Advisor:
    """The suggestions for the traces of one task, measured while these are still held."""

    def __init__(self, settings: Settings, collector: Collector) -> None:
        self.proposals: dict[ProposalKey, Proposal] = {}
        self.measured: dict[str, Measured] = {}
        self.tools: set[str] = set()
        self._settings = settings
        self._collector = collector
        self._held: list[tuple[Trace, Leaks]] = []
        self._characters = 0
        self._unsettled: set[str] = set()

    def add(self, trace: Trace, leaks: Leaks) -> None:
        """Take a trace and what it leaks."""
        gather(self.proposals, propose(trace, self._settings.pack))
        if not leaks:
            return
        self._held.append((trace, leaks))
        characters = self._collector.totals.characters
        if characters - self._characters > _HELD_CHARACTERS:
            self.measure()
            self._characters = characters

    def measure(self) -> None:
        """Measure what is suggested by now on the traces that are held, and let them go.

        Suggestions that have changed since other traces were measured, or that are new for those, are left open.
        """
        pack = self._settings.pack
        wanted = {each.tool: each for each in candidates(self._collector.rows, self.proposals, pack)[:_MAX_MEASURED]}
        for tool in self.tools:
            known, new = self.measured.get(tool), wanted.get(tool)
            if (known and known.says) != (new and new.says):
                self._unsettled.add(tool)
        for tool in self._unsettled:
            wanted.pop(tool, None)
            self.measured.pop(tool, None)
        effects: dict[str, Effect] = {}
        packs = applied_packs(pack, wanted.values())
        for trace, leaks in self._held:
            self.tools |= tools_of(trace)
            _add_effects(effects, measure(trace, pack, packs, self._settings.detectors, leaks=leaks))
        self._held.clear()
        for tool, each in wanted.items():
            before = self.measured[tool].effect if tool in self.measured else NOTHING
            self.measured[tool] = Measured(each.says, effects.get(tool, NOTHING).plus(before))


def _add_effects(into: dict[str, Effect], more: Mapping[str, Effect]) -> None:
    for tool, effect in more.items():
        into[tool] = into.get(tool, NOTHING).plus(effect)


def measure_task(task: Task, settings: Settings, suggestions: Sequence[Suggestion]) -> dict[str, Effect]:
    """What suggestions do to the traces of some files, by tool."""
    effects: dict[str, Effect] = {}
    packs = applied_packs(settings.pack, suggestions)
    for piece in task:
        try:
            for _, trace in named_traces(piece, settings):
                _add_effects(effects, measure(trace, settings.pack, packs, settings.detectors))
        except (UnreadableTrace, OSError):
            continue  # named by the scan
    return effects


def named_traces(piece: Piece, settings: Settings) -> Iterator[tuple[str, Trace]]:
    """The traces of a piece with their names: the path, with the record's number when there are several. Raises
    `UnreadableTrace` and `OSError`."""
    source: Path | BinaryIO
    if piece.end >= 0:
        with Path(piece.path).open("rb") as file:
            file.seek(piece.start)
            source = io.BytesIO(file.read(piece.end - piece.start))
    else:
        source = settings.opener(piece.path) if settings.opener else Path(piece.path)
    many = piece.end >= 0
    number = piece.first
    waiting: Trace | None = None
    for trace in formats.iter_traces(source, name=piece.path, format=settings.format or None):
        if waiting is not None:
            yield f"{piece.path}#{number}", waiting
            number, many = number + 1, True
        waiting = trace
    if waiting is not None:
        yield (f"{piece.path}#{number}" if many else piece.path), waiting


def _reason(error: Exception) -> str:
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)


# --- running


class Runner(Protocol):
    """Runs the same function on many tasks, here or elsewhere: each task comes back with its result, in any order.
    Closing the iterator stops the work."""

    def __call__(
        self, work: Callable[[Task, _Given], _Result], tasks: Iterable[Task], given: _Given, /
    ) -> Iterator[tuple[Task, _Result]]:
        """Yield every task with what `work(task, given)` gives."""
        ...


# Told after every task: the step (`scan`, then `measure`), and the bytes of the task. May raise to stop.
Progress = Callable[[str, int], None]


def locally(processes: int) -> Runner:
    """A runner on this machine. One process works in the caller's; several hold two tasks each, no more, so that
    memory stays bounded."""
    return _here if processes <= 1 else partial(_in_processes, processes)


def _here(
    work: Callable[[Task, _Given], _Result], tasks: Iterable[Task], given: _Given, /
) -> Iterator[tuple[Task, _Result]]:
    for task in tasks:
        yield task, work(task, given)


def _in_processes(
    processes: int, work: Callable[[Task, _Given], _Result], tasks: Iterable[Task], given: _Given, /
) -> Iterator[tuple[Task, _Result]]:
    # Spawned workers: a forked one would inherit the threads and locks of whoever called.
    executor = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        yield from bounded(executor, work, tasks, given, 2 * processes)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def bounded(
    executor: Executor, work: Callable[[Task, _Given], _Result], tasks: Iterable[Task], given: _Given, most: int
) -> Iterator[tuple[Task, _Result]]:
    """Run tasks with at most so many of them under way."""
    coming = iter(tasks)
    running: dict[Future[_Result], Task] = {}
    while True:
        while len(running) < most and (task := next(coming, None)) is not None:
            running[executor.submit(work, task, given)] = task
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield running.pop(future), future.result()


def scan_files(
    tasks: Iterable[Task], settings: Settings, run: Runner, progress: Progress = lambda _step, _size: None
) -> ScanResult:
    """The report of all tasks, with measured suggestions unless the settings say otherwise. The same result whatever
    runs the tasks, and in whatever order they end."""
    collector = Collector()
    proposals: dict[ProposalKey, Proposal] = {}
    seen: list[tuple[Task, Mapping[str, Measured], frozenset[str]]] = []
    for task, result in run(scan_task, tasks, settings):
        collector.add(result.report)
        gather(proposals, result.proposals)
        seen.append((task, result.measured, result.tools))
        progress("scan", sum(piece.size for piece in task))
    report = collector.report()
    if not settings.suggest:
        return ScanResult(report=report)
    wanted = candidates(report.rows, proposals, settings.pack)[:_MAX_MEASURED]
    effects: dict[str, Effect] = {}
    open_tools: dict[Task, set[str]] = {}
    for task, measured, tools in seen:
        for each in wanted:
            known = measured.get(each.tool)
            if known is not None and known.says == each.says:
                _add_effects(effects, {each.tool: known.effect})
            elif each.tool in tools:
                open_tools.setdefault(task, set()).add(each.tool)
    again = tuple(each for each in wanted if any(each.tool in tools for tools in open_tools.values()))
    for task, found in run(_measured, open_tools, (settings, again)):
        _add_effects(effects, {tool: effect for tool, effect in found.items() if tool in open_tools[task]})
        progress("measure", sum(piece.size for piece in task))
    return ScanResult(report=report, proposals=proposals, suggestions=with_effects(wanted, effects))


def _measured(task: Task, given: tuple[Settings, Sequence[Suggestion]]) -> dict[str, Effect]:
    return measure_task(task, *given)
