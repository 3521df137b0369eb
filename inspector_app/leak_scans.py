"""What the Leaks page has open: files or a saved report, the pack that counts, and what the scan found.

Like traces, scans are held in the server's memory for a while under a key that nobody can guess. Files named by a path
are read again when needed; uploaded ones are held.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

from inspector_app import __version__, data, tidying
from inspector_app.encoding import own_part
from inspector_app.folders import files_below
from inspector_app.shelf import Shelf, new_key
from inspector_app.views.analysis import Analysis
from modelcontext_core.detectors import DEFAULT_DETECTORS, Detectors
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.base import Trace
from modelcontext_core.leak_report.baseline import Baseline, Judged, judge
from modelcontext_core.leak_report.batch import Progress, ScanResult, Settings, named_traces, scan_files
from modelcontext_core.leak_report.encoded import encoded_conversations
from modelcontext_core.leak_report.report_json import SavedReport, dump_report, load_report
from modelcontext_core.leak_report.runners import locally
from modelcontext_core.leak_report.sarif import sarif_log
from modelcontext_core.leak_report.suggestions import Comparison, apply, compare
from modelcontext_core.leak_report.tasks import Piece, make_tasks, pieces_of
from modelcontext_core.leak_report.trace_scan import Occurrence, RowKey
from modelcontext_core.leaks import IdentifierLeak
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies

__all__ = ["Scan", "hold", "is_report", "of_trace", "open_files", "open_path", "scans", "today"]

_MOST_HELD: Final = 8
_MOST_HELD_BYTES: Final = 256 * 1024 * 1024  # of uploaded files, in all scans together
_REPORT_MARK: Final = b'{"schema":"modelcontext-leaks/'


@dataclass(slots=True, eq=False)
class Scan:
    """One source of the Leaks page. `result` is None until `run`; of a saved report there are no `pieces`."""

    name: str
    pieces: Sequence[Piece] = ()
    files: dict[str, bytes] = field(default_factory=dict)
    key: str = field(default_factory=new_key)
    base: ToolPolicies = DEFAULT_POLICIES
    pack: ToolPolicies = DEFAULT_POLICIES
    applied: int = 0
    detectors: Detectors = DEFAULT_DETECTORS
    baseline: Baseline | None = None
    result: ScanResult | None = None
    version: int = 0
    _before: tuple[ToolPolicies, ToolPolicies, int, Detectors, ScanResult] | None = None

    @property
    def is_saved(self) -> bool:
        """Whether only a report is there: nothing can be scanned again, no message be shown."""
        return not self.pieces

    @property
    def size(self) -> int:
        """How many bytes a scan reads."""
        return sum(piece.size for piece in self.pieces)

    @property
    def judged(self) -> Judged:
        """The leaks against the baseline, today."""
        return judge(self._done.report, self.baseline or Baseline(), today())

    @property
    def _done(self) -> ScanResult:
        assert self.result is not None
        return self.result

    def _settings(self) -> Settings:
        return Settings(pack=self.pack, detectors=self.detectors, opener=self._open if self.files else None)

    def _open(self, path: str) -> BinaryIO:
        return io.BytesIO(self.files[path])

    def run(self, progress: Progress) -> None:
        """Scan everything under the pack, and measure what suggestions do. `progress` may raise to stop."""
        # In this process: workers would begin by importing whatever serves the page.
        self.result = scan_files(make_tasks(self.pieces), self._settings(), locally(1), progress)
        self.version += 1

    def apply(self, number: int) -> None:
        """Put a suggestion into the pack. The next run counts under it."""
        changed = apply(self.pack, self._done.suggestions[number])
        self._count_anew()
        self.pack = replace(changed, name="suggested") if changed.name == DEFAULT_POLICIES.name else changed
        self.applied += 1

    def use(self, pack: ToolPolicies) -> None:
        """Count under another pack from the next run on."""
        self._count_anew()
        self.pack = self.base = pack
        self.applied = 0

    def reset(self) -> None:
        """Take every applied suggestion back."""
        self.use(self.base)

    def look_for(self, detectors: Detectors) -> None:
        """Use other detectors from the next run on."""
        if detectors != self.detectors:
            self._count_anew()
            self.detectors = detectors

    def _count_anew(self) -> None:
        if self.result is not None:
            self._before = (self.base, self.pack, self.applied, self.detectors, self.result)
        self.result = None

    def go_back(self) -> bool:
        """After a run that was stopped: count as before it. False when nothing was counted before."""
        if self._before is not None:
            self.base, self.pack, self.applied, self.detectors, self.result = self._before
        return self.result is not None

    def accept(self, key: RowKey, reason: str, until: str) -> None:
        """Accept a leak. Raises `BaselineError` without a reason."""
        self.baseline = (self.baseline or Baseline()).accept(key, reason, until)

    def compare(self, other: ToolPolicies, first: ToolPolicies | None = None) -> list[Comparison]:
        """The leaks of each producer under the pack that counts (or `first`) and under another."""
        return compare(first or self.pack, other, (trace for _, trace in self._traces()), self.detectors)

    def _traces(self) -> Iterator[tuple[str, Trace]]:
        for piece in self.pieces:
            try:
                yield from named_traces(piece, self._settings())
            except (UnreadableTrace, OSError):
                continue  # named by the scan

    def message_of(self, occurrence: Occurrence) -> Analysis | None:
        """The conversation of an occurrence under the pack; None when its source is not at hand."""
        path = occurrence.trace.partition("#")[0]
        for piece in (each for each in self.pieces if each.path in (path, occurrence.trace)):
            try:
                for name, trace in named_traces(piece, self._settings()):
                    if name == occurrence.trace:
                        return _analysis(trace, occurrence, self.pack)
            except (UnreadableTrace, OSError):
                return None
        return None

    def report_file(self) -> bytes:
        """The report with its suggestions, to be opened again."""
        return dump_report(SavedReport(report=self._done.report, suggestions=self._done.suggestions)).encode()

    def sarif_file(self) -> bytes:
        """The report as SARIF 2.1.0."""
        log = sarif_log(self._done.report, version=__version__, baseline=self.baseline, today=today())
        return json.dumps(log, indent=1).encode()


def _analysis(trace: Trace, occurrence: Occurrence, pack: ToolPolicies) -> Analysis | None:
    for encoded in encoded_conversations(trace, pack):
        if encoded.number != occurrence.conversation:
            continue
        conversation = trace.conversations[encoded.number]
        # Of a branch only its own messages are shown; what its parent's registered is known all the same.
        own = own_part(encoded)
        leaks: tuple[IdentifierLeak, ...] = tuple(own.registry.leaked_identifiers(own.report.messages))
        return Analysis(
            messages=conversation.messages,
            tools=conversation.tools,
            encoded=own.report.messages,
            spans=own.report.spans,
            handles=own.handles,
            leaks=leaks,
            user_ids=0,
            registry=own.registry,
            discovered=False,
            proposals=(),
            off=frozenset(),
        )
    return None


def today() -> str:
    """The date that end dates of a baseline are compared with."""
    return datetime.now(UTC).date().isoformat()


# --- opening


def is_report(content: bytes) -> bool:
    """Whether a file is a saved report."""
    return content[:200].lstrip().replace(b" ", b"").replace(b"\n", b"").startswith(_REPORT_MARK)


def open_path(path: Path) -> Scan:
    """A file, a folder or a saved report of this machine. Raises `OSError`, and `ReportError` for a damaged report."""
    if path.is_dir():
        return Scan(name=f"{path.name}/", pieces=[piece for each in files_below(path) for piece in pieces_of(each)])
    with path.open("rb") as file:
        head = file.read(200)
    if is_report(head):
        return _saved(path.name, path.read_bytes())
    return Scan(name=path.name, pieces=list(pieces_of(path)))


def open_files(name: str, files: Sequence[tuple[str, bytes]]) -> Scan:
    """Uploaded files: one saved report, or traces. Raises `ReportError` for a damaged report."""
    if len(files) == 1 and is_report(files[0][1]):
        return _saved(*files[0])
    pieces = [Piece(each, len(content)) for each, content in files]
    return Scan(name=name, pieces=pieces, files=dict(files))


def _saved(name: str, content: bytes) -> Scan:
    saved = load_report(content.decode("utf-8", errors="replace"))
    return Scan(name=name, result=ScanResult(report=saved.report, suggestions=saved.suggestions))


# --- holding


def _fit(held: list[Scan]) -> bool:
    files = sum(len(content) for scan in held for content in scan.files.values())
    return len(held) <= _MOST_HELD and files <= _MOST_HELD_BYTES


def _let_go(scan: Scan) -> None:
    scan.files.clear()
    tidying.soon()


_SCANS: Final[Shelf[Scan]] = Shelf(fits=_fit, close=_let_go)


def scans() -> Shelf[Scan]:
    """The scans of this server."""
    return _SCANS


def hold(scan: Scan) -> Scan:
    """Hold a scan under its key; the oldest goes when there are too many."""
    return _SCANS.put(scan.key, scan)


def of_trace(held: data.Held) -> Scan:
    """The trace that is open on the other pages."""
    return open_files(held.name, [(held.name, held.data)])
