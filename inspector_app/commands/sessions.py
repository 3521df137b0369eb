"""`sessions`: list, show, check, move and compare the sessions of a store."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from inspector_app.commands.base import (
    EXIT_FOUND,
    EXIT_OK,
    EXIT_USAGE,
    STDIN,
    Command,
    CommandError,
    add_action,
    count,
    warn,
)
from inspector_app.commands.output import print_json, print_text
from inspector_app.commands.session_diff import context_diff, context_lines, context_text, field_changes
from inspector_app.commands.session_json import entry_json, head_json, payload_json, report_json
from inspector_app.session_list import ListedSession, list_sessions
from inspector_app.views.hidden import one_line
from modelcontext_core.contextstate import (
    Checkpoint,
    ContextStateError,
    ContextStore,
    HistoryEntry,
    MemoryStore,
    PayloadRow,
    SessionHead,
    SessionNotFoundError,
    VerifyReport,
    open_store,
    to_json,
)

__all__ = ["COMMAND", "add_arguments", "add_parser", "run"]

_PAGE = 500
_STORE_HELP = "sqlite:///PATH, postgresql://…, a SQLite file, or an exported session (.jsonl)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `list`, `show`, `verify`, `export`, `import` and `diff`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|show|verify|export|import|diff")

    listing = add_action(actions, "list", "the sessions of a store, by id")
    listing.add_argument("store", metavar="STORE", help=_STORE_HELP)
    listing.add_argument("--prefix", default="", metavar="TEXT", help="only sessions whose id starts with this")

    show = add_action(actions, "show", "one session: checkpoints, attempts, payloads; or one active context")
    show.add_argument("store", metavar="STORE", help=_STORE_HELP)
    show.add_argument("session", metavar="SESSION", help="its id, see `sessions list`")
    show.add_argument("--revision", type=int, metavar="N", help="print the active context of this revision only")

    verify = add_action(actions, "verify", "read sessions again and name every break; exits 1 when there is one")
    verify.add_argument("store", metavar="STORE", help=_STORE_HELP)
    verify.add_argument("sessions", nargs="*", metavar="SESSION", help="default: all")

    export = add_action(actions, "export", "write one session as JSON Lines")
    export.add_argument("store", metavar="STORE", help=_STORE_HELP)
    export.add_argument("session", metavar="SESSION", help="its id")
    export.add_argument("--out", type=Path, metavar="FILE", help="a new file (default: standard output)")

    importing = add_action(actions, "import", "replay an exported session into a store, all of it or nothing")
    importing.add_argument("store", metavar="STORE", help="sqlite:///PATH, postgresql://…, or a SQLite file")
    importing.add_argument("file", metavar="FILE", help="an export, or - for standard input")
    importing.add_argument("--create", action="store_true", help="make the store if there is none")

    diff = add_action(actions, "diff", "compare two checkpoints; exits 1 when they differ")
    diff.add_argument("store", metavar="STORE", help=_STORE_HELP)
    diff.add_argument("session", metavar="SESSION", help="its id")
    diff.add_argument("before", type=int, metavar="FROM", help="a revision")
    diff.add_argument("after", type=int, metavar="TO", help="another revision")

    for action in (listing, show, verify, importing, diff):
        action.add_argument("--json", action="store_true", help="print one JSON document")


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the command to the subparsers of another program."""
    parser: argparse.ArgumentParser = subparsers.add_parser(COMMAND.name, help=COMMAND.summary)
    add_arguments(parser)
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit code; whatever the store refuses is a `CommandError`."""
    actions = {
        "list": _list,
        "show": _show,
        "verify": _verify,
        "export": _export,
        "import": _import,
        "diff": _diff,
    }
    try:
        return actions[arguments.action](arguments)
    except ContextStateError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        if error.filename is None:
            # The output, not a file that was named: the program deals with that.
            raise
        raise CommandError(f"{error.filename}: {error.strerror or error}") from error


# ---- opening


@contextmanager
def _opened(name: str) -> Iterator[ContextStore]:
    """The store, for reading only: nothing is made, migrated or changed."""
    store = _from_export(Path(name)) if _is_export(name) else open_store(_url(name), read_only=True)
    try:
        yield store
    finally:
        store.close()


def _url(name: str) -> str:
    """The address that the argument is, or that stands for the file it names."""
    if "://" in name or name == "memory:":
        return name
    if Path(name).is_dir():
        raise CommandError(f"{name}: this is a folder; name the file of the store")
    return f"sqlite:///{Path(name).absolute()}"


def _is_export(name: str) -> bool:
    path = Path(name)
    if "://" in name or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(1) == b"{"


def _from_export(path: Path) -> ContextStore:
    store = MemoryStore()
    with path.open("rb") as file:
        store.import_(file)
    return store


# ---- reading


def _all_sessions(store: ContextStore, prefix: str = "") -> Iterator[ListedSession]:
    after = ""
    while page := list_sessions(store, prefix, after, _PAGE):
        yield from page
        after = page[-1].session_id


def _all_history(store: ContextStore, session_id: str) -> Iterator[HistoryEntry]:
    after = 0
    while page := store.history(session_id, after, _PAGE, contexts=False):
        yield from page
        after = page[-1].checkpoint.revision.session


def _all_payloads(store: ContextStore, session_id: str) -> Iterator[PayloadRow]:
    after = 0
    while page := store.payloads(session_id, after, _PAGE):
        yield from page
        after = page[-1].number


def _list(arguments: argparse.Namespace) -> int:
    with _opened(arguments.store) as store:
        info, timed = store.info(), _has_times(store)
        found = list(_all_sessions(store, arguments.prefix))
    heads = [each.head for each in found if each.head is not None]
    damaged = [(each.session_id, each.damage) for each in found if each.damage is not None]
    if arguments.json:
        sessions = [head_json(head, timed=timed) for head in heads]
        unread = [{"session_id": name, "where": error.where, "text": error.text} for name, error in damaged]
        print_json({"store": asdict(info), "sessions": sessions, "damaged": unread}, indent=2)
    else:
        rows = [_head_cells(head, timed=timed) for head in heads]
        _print_table(("session", "revision", "events", "payloads", "binding", "last commit"), rows)
    for name, error in damaged:
        warn(f"session {name!r} cannot be listed: {error}")
    return EXIT_USAGE if damaged else EXIT_OK


def _has_times(store: ContextStore) -> bool:
    """An export has no times: what was replayed into memory only knows when it was read."""
    return store.info().kind != "memory"


def _head_cells(head: SessionHead, *, timed: bool) -> Sequence[str]:
    binding = f"{head.binding.provider}/{head.binding.model}"
    counts = (head.revision.session, head.event_count, head.payload_count)
    return head.session_id, *map(str, counts), binding, _time(head.committed_at, timed=timed)


def _show(arguments: argparse.Namespace) -> int:
    with _opened(arguments.store) as store:
        if arguments.revision is not None:
            return _show_context(store.checkpoint_at(arguments.session, arguments.revision), as_json=arguments.json)
        head = store.head(arguments.session, contexts=False)
        totals = store.payload_totals(arguments.session)
        history = list(_all_history(store, arguments.session))
        payloads = list(_all_payloads(store, arguments.session))
        timed = _has_times(store)
    if arguments.json:
        document = {
            **head_json(head, timed=timed),
            "payload_totals": asdict(totals),
            "history": [entry_json(entry, timed=timed) for entry in history],
            "payloads": [payload_json(row) for row in payloads],
        }
        print_json(document, indent=2)
        return EXIT_OK
    binding = head.binding
    _print_lines([f"session {head.session_id}: revision {head.revision.session}, {head.event_count} events"])
    _print_lines([f"binding {binding.provider}/{binding.model}, generation {binding.generation}"])
    states = f"{totals.revoked} revoked, {totals.shared} shared"
    _print_lines([f"payloads {totals.rows}: {states}, {totals.stored_bytes} bytes stored"])
    _print_lines([f"saved by sharing: {totals.saved_bytes} bytes", ""])
    _print_table(("revision", "time", "operation", "events", "context", "outcome"), _timeline(history, timed=timed))
    if payloads:
        _print_lines([""])
        _print_table(("payload", "bytes", "retention", "state", "held by"), [_payload_cells(row) for row in payloads])
    return EXIT_OK


def _show_context(checkpoint: Checkpoint, *, as_json: bool) -> int:
    if as_json:
        print_json({**json.loads(to_json(checkpoint)), "text": context_text(checkpoint.active_context)}, indent=2)
    else:
        _print_lines(context_lines(checkpoint.active_context))
    return EXIT_OK


def _timeline(history: Sequence[HistoryEntry], *, timed: bool) -> Iterator[Sequence[str]]:
    """A row a checkpoint, and below it those attempts that stored nothing while it was the newest."""
    for entry in history:
        last = entry.checkpoint.revision.source
        events = f"{last - entry.new_events + 1}-{last}" if entry.new_events else "none"
        number = str(entry.checkpoint.revision.session)
        time, size = _time(entry.committed_at, timed=timed), f"{entry.context_bytes} B"
        yield number, time, entry.operation_id, events, size, "committed"
        for attempt in entry.attempts:
            yield "", _time(attempt.at, timed=timed), attempt.operation_id, "", "", attempt.outcome.replace("_", " ")


def _payload_cells(row: PayloadRow) -> Sequence[str]:
    state = "revoked" if row.record.revoked else "stored" if row.stored else "no bytes"
    held = f"{count(row.holders, 'holder')}, {count(row.sessions, 'session')}"
    return row.record.ref.ref, str(row.record.ref.size), row.record.retention, state, held


# ---- checking, moving, comparing


def _verify(arguments: argparse.Namespace) -> int:
    with _opened(arguments.store) as store:
        reports = [store.verify(name) for name in arguments.sessions] or [*_all_reports(store)]
    if arguments.json:
        print_json({"ok": all(report.ok for report in reports), "sessions": list(map(report_json, reports))}, indent=2)
    else:
        for report in reports:
            counts = f"{report.checkpoints} checkpoints, {report.events} events, {report.payloads} payloads"
            _print_lines([f"{report.session_id}: {counts}, {count(len(report.breaks), 'break')}"])
            _print_lines(f"  {item.kind}: {item.where}: {item.text}" for item in report.breaks)
    return EXIT_OK if all(report.ok for report in reports) else EXIT_FOUND


def _all_reports(store: ContextStore) -> Iterator[VerifyReport]:
    """Of every session, also where a head is damaged; what is deleted meanwhile is left out."""
    after = ""
    while page := store.session_ids(after=after, limit=_PAGE):
        for name in page:
            with suppress(SessionNotFoundError):
                yield store.verify(name)
        after = page[-1]


def _export(arguments: argparse.Namespace) -> int:
    with _opened(arguments.store) as store:
        lines = store.export(arguments.session)
        if arguments.out is None:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(lines)
            sys.stdout.buffer.flush()
            return EXIT_OK
        _write_new(arguments.out, lines)
    warn(f"{arguments.out}: written")
    return EXIT_OK


def _write_new(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file that was not there; half an export is removed again."""
    with path.open("xb") as file:
        try:
            file.writelines(lines)
            file.flush()
        except BaseException:
            path.unlink()
            raise


def _import(arguments: argparse.Namespace) -> int:
    name = arguments.store
    if not arguments.create and "://" not in name and name != "memory:" and not Path(name).exists():
        raise CommandError(f"{name}: there is no such file; --create makes a new store")
    # The export first: a wrong name makes no store.
    with nullcontext(sys.stdin.buffer) if arguments.file == STDIN else Path(arguments.file).open("rb") as file:
        store = open_store(_url(arguments.store), create=arguments.create, migrate=False)
        try:
            report = store.import_(_binary_lines(file))
        finally:
            store.close()
    if arguments.json:
        print_json(asdict(report), indent=2)
    else:
        counts = f"{report.checkpoints} checkpoints, {report.events} events, {report.payloads} payloads"
        _print_lines([f"{report.session_id}: {counts} {'imported' if report.imported else 'were there already'}"])
    return EXIT_OK


def _binary_lines(stream: BinaryIO) -> Iterator[bytes]:
    yield from stream


def _diff(arguments: argparse.Namespace) -> int:
    with _opened(arguments.store) as store:
        before = store.checkpoint_at(arguments.session, arguments.before)
        after = store.checkpoint_at(arguments.session, arguments.after)
    fields = field_changes(before, after)
    lines = context_diff(before, after)
    if arguments.json:
        print_json({"fields": fields, "context": lines, "same": not (fields or lines)}, indent=2)
    else:
        _print_lines(f"{name}: {change['from']} -> {change['to']}" for name, change in fields.items())
        _print_lines(lines)
    return EXIT_FOUND if fields or lines else EXIT_OK


# ---- printing


def _time(at: Any, *, timed: bool) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}Z" if timed else "unknown"


def _print_lines(lines: Iterable[str]) -> None:
    # Stored text goes to a terminal: nothing in it may steer it.
    for line in lines:
        print_text(one_line(line) + "\n")


def _print_table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    cells = [list(map(one_line, row)) for row in (heading, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heading))]
    _print_lines(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )


COMMAND = Command(
    name="sessions",
    summary="list, show, verify, export, import or compare the sessions of a store",
    add_arguments=add_arguments,
    run=run,
    examples=(
        "list sessions.db",
        "show sessions.db support-7741 --revision 13",
        "verify sessions.db",
        "diff sessions.db support-7741 13 16",
        "export sessions.db support-7741 --out support-7741.jsonl",
        "import other.db support-7741.jsonl --create",
    ),
    found="`verify` found a break, or `diff` a difference",
)
