"""`leaks`: where raw identifiers still reach the model, in one trace or in thousands, and what to do about it."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from inspector_app import __version__
from inspector_app.commands.base import (
    EXIT_FOUND,
    EXIT_OK,
    EXIT_USAGE,
    Command,
    CommandError,
    count,
    expand,
    refuse_to_replace,
    warn,
)
from inspector_app.commands.output import print_json, print_text
from inspector_app.commands.traces import BUILTIN, DISCOVERED, add_format_argument
from inspector_app.views.hidden import one_line
from modelcontext_core.detectors import DETECTORS, Detectors, UserPattern
from modelcontext_core.errors import ModelContextError
from modelcontext_core.files import write_whole
from modelcontext_core.leak_report.baseline import Baseline, Judged, judge
from modelcontext_core.leak_report.batch import ScanResult, Settings, scan_files
from modelcontext_core.leak_report.report_json import SavedReport, dump_report, load_report, report_json
from modelcontext_core.leak_report.rows import LeakReport
from modelcontext_core.leak_report.runners import locally
from modelcontext_core.leak_report.sarif import sarif_log
from modelcontext_core.leak_report.suggestions import Suggestion, apply
from modelcontext_core.leak_report.tasks import Piece, make_tasks, pieces_of
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies

__all__ = ["COMMAND"]

_SHOWN_ROWS = 20
_PROGRESS_SECONDS = 0.2
_REASONS = {"opaque": "opaque text", "signed": "signed reasoning", "inside_url": "inside a URL"}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="*", metavar="FILE", help="files, folders, globs, or - for standard input")
    parser.add_argument("--from", dest="saved", type=Path, metavar="REPORT", help="read a saved report, scan nothing")
    parser.add_argument("--pack", default=BUILTIN, metavar="builtin|FILE", help="the declared rules (default: builtin)")
    add_format_argument(parser)
    parser.add_argument(
        "--detectors",
        default="uuid",
        metavar="NAMES",
        help=f"what to look for, with commas between: {', '.join(DETECTORS)}; or all (default: uuid)",
    )
    parser.add_argument(
        "--pattern",
        action="append",
        default=[],
        metavar="NAME=REGEX",
        help="also look for a pattern of your own (needs the extra `patterns`)",
    )
    parser.add_argument("--fail-on", choices=("unregistered", "any"), help="exit 1 when such leaks are left")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="leaks that this file accepts do not count")
    parser.add_argument("--accept", metavar="REASON", help="write everything found into --baseline, with this reason")
    parser.add_argument(
        "--report", type=Path, metavar="OUT", help="write the report; the Leaks page and --from open it"
    )
    parser.add_argument("--sarif", type=Path, metavar="OUT", help="write SARIF 2.1.0 for code scanning")
    parser.add_argument(
        "--apply", type=Path, metavar="OUT", help="write the pack with every suggestion applied to a new file"
    )
    parser.add_argument("--force", action="store_true", help="let --apply replace a file that is there")
    parser.add_argument("--values", action="store_true", help="whole identifiers instead of their beginnings")
    parser.add_argument("--no-suggestions", action="store_true", help="only find, propose nothing: faster")
    parser.add_argument("--processes", type=int, metavar="N", help="how many processes (default: one for each core)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="run on the Dask cluster of this scheduler: tcp://host:8786"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def _run(arguments: argparse.Namespace) -> int:
    if arguments.saved and arguments.inputs:
        raise CommandError("--from reads a saved report and scans nothing: leave the files out")
    if arguments.processes is not None and arguments.processes < 1:
        raise CommandError(f"--processes {arguments.processes}: at least 1 is wanted")
    if arguments.apply and not arguments.force:
        refuse_to_replace("--apply", arguments.apply)
    baseline = _baseline(arguments)
    pack = _pack(arguments.pack)
    saved = _load(arguments.saved) if arguments.saved else _scan(arguments, pack)
    report = saved.report
    today = datetime.now(UTC).date().isoformat()
    if arguments.accept is not None:
        baseline = _accept_all(arguments, report, baseline)
    judged = judge(report, baseline, today)
    if arguments.report:
        _write(arguments.report, dump_report(saved))
    if arguments.sarif:
        log = sarif_log(report, version=__version__, baseline=baseline if arguments.baseline else None, today=today)
        _write_json(arguments.sarif, log)
    if arguments.apply:
        _write(arguments.apply, _applied(pack, saved.suggestions).dumps())
    if arguments.json:
        print_json(report_json(saved) | {"new": judged.new_leaks, "new_unregistered": judged.new_unregistered})
    else:
        _print(saved, judged, compared=arguments.baseline is not None)
    _warn_unread(saved)
    return _exit_code(arguments, report, judged)


def _exit_code(arguments: argparse.Namespace, report: LeakReport, judged: Judged) -> int:
    """An unreadable input is worse than a leak: a check that did not look must not pass."""
    if report.totals.unreadable:
        return EXIT_USAGE
    counted = {"unregistered": judged.new_unregistered, "any": judged.new_leaks}.get(arguments.fail_on or "", 0)
    # Rows that did not fit into the report are leaks that nobody accepted.
    folded = report.more_rows.occurrences if arguments.fail_on else 0
    return EXIT_FOUND if counted or folded else EXIT_OK


# --- input


def _pack(name: str) -> ToolPolicies:
    if name == DISCOVERED and not Path(name).exists():
        raise CommandError(
            "--pack discovered: leaks count under declared rules only; `policy discover --out FILE` writes found ones"
        )
    try:
        return DEFAULT_POLICIES if name == BUILTIN else ToolPolicies.load(Path(name))
    except OSError as error:
        raise CommandError(f"--pack {name}: {error.strerror or error}") from error


def _baseline(arguments: argparse.Namespace) -> Baseline:
    path: Path | None = arguments.baseline
    if arguments.accept is not None and path is None:
        raise CommandError("--accept needs --baseline: the file to write")
    if path is None or (arguments.accept is not None and not path.exists()):
        return Baseline()
    try:
        return Baseline.loads(_text(path))
    except ModelContextError as error:
        raise CommandError(f"{path}: {error}") from error


def _load(path: Path) -> SavedReport:
    try:
        return load_report(_text(path))
    except ModelContextError as error:
        raise CommandError(f"{path}: {error}") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise CommandError(f"{path}: {reason}") from error


def _accept_all(arguments: argparse.Namespace, report: LeakReport, baseline: Baseline) -> Baseline:
    for key in report.rows:
        if key.counts and key.fingerprint not in baseline.accepted:
            baseline = baseline.accept(key, arguments.accept)
    _write(arguments.baseline, baseline.dumps())
    return baseline


def _detectors(arguments: argparse.Namespace) -> Detectors:
    kinds = tuple(DETECTORS) if arguments.detectors == "all" else tuple(filter(None, arguments.detectors.split(",")))
    patterns = []
    for given in arguments.pattern:
        name, equals, pattern = given.partition("=")
        if not equals:
            raise CommandError(f"--pattern {given}: NAME=REGEX is wanted")
        patterns.append(UserPattern(name=name, pattern=pattern))
    return Detectors(kinds=kinds, patterns=tuple(patterns))


# --- scanning


def _scan(arguments: argparse.Namespace, pack: ToolPolicies) -> SavedReport:
    if not arguments.inputs:
        raise CommandError("nothing to read: name files or folders, or a saved report with --from")
    settings = Settings(
        pack=pack,
        detectors=_detectors(arguments),
        format=arguments.format or "",
        values=arguments.values,
        suggest=not arguments.no_suggestions,
    )
    with TemporaryDirectory(prefix="leaks-") as spool:
        result = _on_cluster(arguments, settings) if arguments.scheduler else _here(arguments, settings, Path(spool))
    return SavedReport(report=result.report, suggestions=result.suggestions)


def _here(arguments: argparse.Namespace, settings: Settings, spool: Path) -> ScanResult:
    pieces = list(_pieces(arguments.inputs, settings.format, spool))
    tasks = list(make_tasks(pieces))
    # More processes than tasks would only start up.
    processes = min(arguments.processes or os.cpu_count() or 1, len(tasks))
    return scan_files(tasks, settings, locally(processes), _Progress(sum(piece.size for piece in pieces)))


def _pieces(inputs: Sequence[str], format_name: str, spool: Path) -> Iterator[Piece]:
    for source in expand(inputs):
        if source.path is not None:
            yield from pieces_of(source.path, format_name)
            continue
        # Suggestions read twice, and other processes cannot read our standard input.
        copy = spool / "standard input"
        with copy.open("wb") as file:
            while block := sys.stdin.buffer.read(1 << 20):
                file.write(block)
        yield from pieces_of(copy, format_name)


def _on_cluster(arguments: argparse.Namespace, settings: Settings) -> ScanResult:
    if ":" not in arguments.scheduler:
        raise CommandError(f"--scheduler {arguments.scheduler}: an address with its port is wanted: tcp://host:8786")
    try:
        # The extra `cluster` is not installed with the app.
        cluster = import_module("modelcontext_core.leak_report.cluster")
    except ImportError as error:
        raise CommandError("--scheduler needs the extra `cluster` (dask and fsspec)") from error
    try:
        pieces = [piece for name in arguments.inputs for piece in cluster.find_pieces(name)]
        with cluster.connected(arguments.scheduler) as client:
            return scan_files(
                make_tasks(pieces),
                replace(settings, opener=cluster.open_path),
                cluster.on_cluster(client),
                _Progress(sum(piece.size for piece in pieces)),
            )
    except (OSError, ValueError) as error:
        raise CommandError(f"--scheduler {arguments.scheduler}: {error}") from error


class _Progress:
    """One line on a terminal that is written over; nothing in a pipe."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._step = "scan"
        self._last = 0.0
        self._shown = sys.stderr.isatty()

    def __call__(self, step: str, size: int) -> None:
        """Count a task and, five times a second, say how far it is."""
        if step != self._step:
            self._step, self._done = step, 0
        self._done += size
        now = time.monotonic()
        if self._shown and now - self._last > _PROGRESS_SECONDS:
            self._last = now
            of = f" of {self._total / 1e6:.0f} MB" if step == "scan" else " MB"
            word = "scanned" if step == "scan" else "suggestions measured on"
            sys.stderr.write(f"\r{word} {self._done / 1e6:.0f}{of}\x1b[K")
            sys.stderr.flush()

    def __del__(self) -> None:
        if self._shown and self._last:
            sys.stderr.write("\r\x1b[K")


# --- output


def _applied(pack: ToolPolicies, suggestions: Sequence[Suggestion]) -> ToolPolicies:
    for each in suggestions:
        pack = apply(pack, each)
    # A pack needs a name of its own: the built-in one is taken.
    return replace(pack, name="suggested") if pack.name == DEFAULT_POLICIES.name else pack


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text.encode("utf-8"))
    except OSError as error:
        raise CommandError(f"{path} is not written: {error.strerror or error}") from error
    warn(f"{path}: written")


def _write_json(path: Path, value: dict[str, Any]) -> None:
    _write(path, json.dumps(value, indent=1) + "\n")


def _print(saved: SavedReport, judged: Judged, *, compared: bool) -> None:
    totals = saved.report.totals
    lines = [
        (
            f"{count(totals.leaks, 'raw id')} left in {totals.leaking_traces} of {count(totals.traces, 'trace')}"
            f" ({totals.unregistered} unregistered, {totals.registered} known but missed);"
            f" {totals.on_purpose} in user text, left on purpose"
        ),
        f"{count(totals.sources, 'file')}, {count(totals.messages, 'message')}, {totals.bytes / 1e6:.1f} MB"
        + (f"; {totals.unreadable} could not be read" if totals.unreadable else ""),
    ]
    if compared:
        lines.append(
            f"against the baseline: {judged.new_leaks} new, {count(len(judged.gone), 'entry', 'entries')} gone"
        )
        lines += [f"expired {each.until}: {each.what or each.fingerprint}" for each in judged.expired]
    rows = sorted(judged.new.items(), key=lambda row: (-row[1].occurrences, row[0]))
    for key, counts in rows[:_SHOWN_ROWS]:
        why = f" ({_REASONS[key.reason]})" if key.reason in _REASONS else ""
        known = "known, missed" if key.registered else "unregistered"
        place = key.place or "text"
        lines.append(f"{counts.occurrences:>8}  {key.producer}  {key.field}  {place}  {key.kind}, {known}{why}")
    if len(rows) > _SHOWN_ROWS:
        lines.append(f"{'':>8}  and {len(rows) - _SHOWN_ROWS} more places")
    lines += ["what to do:"] if saved.suggestions else []
    lines += [_suggestion(each) for each in saved.suggestions]
    print_text("".join(f"{one_line(line)}\n" for line in lines))


def _warn_unread(saved: SavedReport) -> None:
    for notice, row in saved.report.notices.items():
        if notice.kind == "unreadable":
            warn(f"{row.where}: {notice.text}" + (f" (and {row.times - 1} more)" if row.times > 1 else ""))


def _suggestion(each: Suggestion) -> str:
    rules = [f"{rule.key or f'mine {rule.kind}'} as {rule.space}" for rule in each.rules]
    what = {
        "declare": f"declare {', '.join(dict.fromkeys(rules))}",
        "mine": "mine the UUIDs of its results",
        "empty": "declare it without rules, so that known ids are replaced",
    }[each.action]
    return f"{each.effect.before:>8} -> {each.effect.after}  {each.tool}: {what} ({each.sure} confidence)"


COMMAND = Command(
    name="leaks",
    summary="find raw ids that still reach the model, and what to do about them",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "traces/",
        "'traces/**/*.jsonl' --pack my-app.toml --fail-on unregistered",
        "traces/ --baseline leaks-baseline.json --accept 'known before'",
        "traces/ --report leaks.json --sarif leaks.sarif --apply suggested.toml",
        "--from leaks.json --json",
    ),
    found="leaks are left that --fail-on names and --baseline does not accept",
)
