"""The leak scan over many files: small tasks, pure functions, any number of processes.

`scan_task` reads the traces of a task and gives one report, the proposals of discovery, and the effect of the
suggestions that the task's own traces lead to. Most traces of a source lead to the same ones; where all traces together
lead to another rule, `measure_task` measures that again. Both only need what is in the task and the settings, so a
process pool and a cluster run the same code, and the results add up in any order.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from modelcontext_core import formats
from modelcontext_core.detectors import DEFAULT_DETECTORS, Detectors
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.base import Trace
from modelcontext_core.leak_report.measure import NOTHING, Effect, measure, tools_of
from modelcontext_core.leak_report.report import Collector
from modelcontext_core.leak_report.rows import LeakReport
from modelcontext_core.leak_report.runners import Runner
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
from modelcontext_core.leak_report.tasks import Piece, Task
from modelcontext_core.leak_report.trace_scan import Leaks
from modelcontext_core.limits import MIB
from modelcontext_core.policies import DEFAULT_POLICIES, Proposal, ToolPolicies

__all__ = [
    "Measured",
    "Progress",
    "ScanResult",
    "Settings",
    "measure_task",
    "named_traces",
    "scan_files",
    "scan_task",
]

_MAX_MEASURED: Final = 40
# How much text of traces is held until their suggestions are measured.
_HELD_CHARACTERS: Final = 8 * MIB

Opener = Callable[[str], BinaryIO]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to scan. `opener` opens a path for reading: the local one, or that of a cluster's file systems."""

    pack: ToolPolicies = DEFAULT_POLICIES
    detectors: Detectors = DEFAULT_DETECTORS
    format: str = ""
    values: bool = False
    suggest: bool = True
    opener: Opener | None = None


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


# --- a whole scan

# Told after every task: the step (`scan`, then `measure`), and the bytes of the task. May raise to stop.
Progress = Callable[[str, int], None]


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
