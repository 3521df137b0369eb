"""Words of the Sessions page."""

from __future__ import annotations

from typing import Final

from inspector_app.words.common import bytes_text, plural

__all__ = [
    "AGAIN",
    "BREAK_COLUMNS",
    "BREAK_TITLE",
    "CANCEL",
    "CANNOT_BE_READ",
    "CHANGES_ARE_OFF",
    "CHANGE_FAILED",
    "CLOSE",
    "COLUMN_REVISION",
    "COLUMN_SESSION",
    "CONTEXT_TITLE",
    "COPY_FAILED",
    "DAMAGED_HEAD",
    "DAMAGED_TITLE",
    "DELETE",
    "DELETE_ASKS",
    "DELETE_NOW",
    "DELETE_TITLE",
    "EARLIER",
    "EMPTY_STORE",
    "EMPTY_TEXT",
    "EMPTY_TITLE",
    "EVENTS_EMPTY",
    "EVENT_COLUMNS",
    "EXPIRED",
    "EXPORT",
    "EXPORT_FILE",
    "EXPORT_HELP",
    "FACT_BINDING",
    "FACT_PAYLOADS",
    "FACT_REVISION",
    "FACT_SAVED",
    "FACT_SESSION",
    "FACT_VERIFY",
    "FILES_ARE_OFF",
    "FROM",
    "IMPORT",
    "IMPORT_ASKS",
    "IMPORT_FILE",
    "IMPORT_NOW",
    "IMPORT_TITLE",
    "LATER",
    "LINK",
    "MIGRATE",
    "MIGRATE_ASKS",
    "MIGRATE_TITLE",
    "MORE",
    "NEWER",
    "NOTE_VERIFY",
    "NOT_A_STORE",
    "NOT_CHECKED",
    "NO_SESSION",
    "NUMBERS",
    "OLDER",
    "OPEN",
    "OPEN_SAMPLE",
    "OPERATION_COLUMNS",
    "PAGE",
    "PATH",
    "PATH_HINT",
    "PAYLOADS_EMPTY",
    "PAYLOAD_COLUMNS",
    "POSTGRES",
    "POSTGRES_HINT",
    "REVOKE",
    "REVOKE_CHOOSE",
    "REVOKE_NOW",
    "REVOKE_TITLE",
    "SAMPLE_NAME",
    "SESSION_MENU",
    "STOP",
    "TIMELINE",
    "TIMELINE_HEADS",
    "TO",
    "TYPE_ID",
    "UPLOAD",
    "VERIFY",
    "VERIFYING",
    "VIEW",
    "VIEWS",
    "about_store",
    "binding_change",
    "breaks",
    "cut_context",
    "diff_title",
    "events_covered",
    "fact_counters",
    "fact_payloads",
    "fact_verified",
    "imported",
    "outcome",
    "payload_state",
    "range_shown",
    "revision_title",
    "revoke_asks",
    "timeline_hover",
]
PAGE: Final = "Sessions"
OPEN: Final = "Open store…"
OPEN_SAMPLE: Final = "Open the sample store"
SAMPLE_NAME: Final = "sample store"
EMPTY_TITLE: Final = "See what a session became, checkpoint by checkpoint"
EMPTY_TEXT: Final = (
    "Open a store of sessions: every checkpoint with its counters, what was rejected, what is kept and what was "
    "revoked. A store is opened for reading; whatever would change it asks first."
)
PATH: Final = "Path"
PATH_HINT: Final = "SQLite store, LangGraph checkpoint file or export on this machine"
POSTGRES: Final = "PostgreSQL"
POSTGRES_HINT: Final = "postgresql://user:password@host/database"
UPLOAD: Final = "An exported session (.jsonl), opened as a copy in memory"
FILES_ARE_OFF: Final = "Paths and databases are off, because this server can be reached from other machines."
NOT_A_STORE: Final = "This store cannot be opened"
CANNOT_BE_READ: Final = "This store cannot be read now"
AGAIN: Final = "Try again"
EXPIRED: Final = (
    "The store that this link opened is no longer held: what was uploaded or connected to is kept for 15 minutes, "
    "while the inspector runs. "
    "Open it again."
)
CLOSE: Final = "Close store"
EMPTY_STORE: Final = "This store has no session yet. Import one with “Session”, or open another store."
NO_SESSION: Final = "No session id starts like this. Clear the field to see all."
COLUMN_SESSION: Final = "Session"
COLUMN_REVISION: Final = "Rev"
MIGRATE_TITLE: Final = "This store is of an older version"
MIGRATE_ASKS: Final = (
    "It is read after it was brought up to date. That writes to the file, keeps everything in it, and programs of the "
    "older version cannot open it afterwards. Make a copy first if you still need them."
)
MIGRATE: Final = "Bring it up to date"
OLDER: Final = "Older"
EARLIER: Final = "Previous"
LATER: Final = "Next"
NEWER: Final = "Newer"
_KINDS: Final = {
    "sample": "copy in memory, nothing is written",
    "export": "export, copy in memory",
    "sqlite": "SQLite, open for reading",
    "postgres": "PostgreSQL, open for reading",
    "langgraph": "LangGraph checkpoints, read-only",
}


def about_store(kind: str, sessions: int, size: int) -> str:
    """What is said of the open store beside its name."""
    text = f"{_KINDS.get(kind, kind)} · {sessions:,} {plural(sessions, 'session')}"
    return f"{text} · {bytes_text(size)}" if size else text


FACT_SESSION: Final = "Session"
FACT_REVISION: Final = "Revision"
FACT_BINDING: Final = "Binding"
FACT_PAYLOADS: Final = "Payloads"
FACT_SAVED: Final = "Saved by sharing"
FACT_VERIFY: Final = "Verify"
NOT_CHECKED: Final = "not checked"
NOTE_VERIFY: Final = "Reads everything of this session again: digests, counters, ranges, and the rules of each commit."
VERIFY: Final = "Verify"
VERIFYING: Final = "Reading everything again …"
STOP: Final = "Stop"


def fact_counters(durable: int, source: int) -> str:
    """The other two counters of a session."""
    return f"durable {durable:,} · source {source:,}"


def fact_payloads(revoked: int, shared: int) -> str:
    """What is special about the payloads."""
    return f"{revoked:,} revoked · {shared:,} shared"


def fact_verified(events: int, payloads: int) -> str:
    """What was found sound."""
    return f"✓ {events:,} {plural(events, 'event')}, {payloads:,} {plural(payloads, 'payload')}"


def breaks(number: int) -> str:
    """How many things are broken."""
    return f"✕ {number:,} {plural(number, 'break')}"


BREAK_TITLE: Final = "What verify found broken"
BREAK_COLUMNS: Final = (("Where", "34%"), ("What", "52%"), ("Kind", "14%"))
TIMELINE: Final = "Timeline of checkpoints. The table under “Operations” says the same."
TIMELINE_HEADS: Final = ("Rev.", "Time", "Turn", "event", "Active context", "Outcome")
_OUTCOMES: Final = {
    "committed": "✓ committed",
    "replayed": "↺ replay, nothing stored",
    "conflict": "✕ key of another request",
    "invalid": "✕ invalid record",
    "over_limit": "✕ over limit",
    "stale_revision": "✕ stale revision",
    "stale_binding": "✕ stale binding",
}


def outcome(name: str) -> str:
    """How a commit was answered."""
    return _OUTCOMES.get(name, name)


def binding_change(before: int, after: int) -> str:
    """A change of the binding between two checkpoints, by its generations."""
    return f"generation {before:,} → {after:,}" if before != after else "another model"


def timeline_hover(revision: int, first: int, last: int, size: int, turn: int) -> str:
    """What a checkpoint of the timeline says when it is pointed at."""
    return f"revision {revision:,} · {events_covered(first, last)} · {bytes_text(size)} · turn {turn:,}"


def events_covered(first: int, last: int) -> str:
    """The events that a checkpoint covers."""
    return f"events {first:,}–{last:,}" if first < last else f"event {last:,}"


def range_shown(first: int, last: int, total: int) -> str:
    """Which rows of many are shown."""
    return f"{first:,}–{last:,} of {total:,}" if total else "0"


VIEW: Final = "View"
VIEWS: Final = {
    "checkpoint": "Checkpoint",
    "diff": "Diff",
    "events": "Events",
    "payloads": "Payloads",
    "operations": "Operations",
}
FROM: Final = "from"
TO: Final = "to"
NUMBERS: Final = {"base": "Compared with revision", "revision": "Chosen revision", "first": "First row"}
CONTEXT_TITLE: Final = "Active context"


def revision_title(revision: int) -> str:
    """The title of one side of a diff."""
    return f"Revision {revision:,}"


def diff_title(size: int, shown: int, first: int, last: int, generation: int) -> str:
    """What is said beside the title of one side; a context that is too large is not shown whole."""
    context = cut_context(shown, size) if size > shown else bytes_text(size)
    return f"{context} · {events_covered(first, last)} · gen. {generation:,}"


def cut_context(shown: int, size: int) -> str:
    """What is said of a context that is too large to be shown whole."""
    return f"first {bytes_text(shown)} of {bytes_text(size)}"


EVENT_COLUMNS: Final = {
    "sequence": "#",
    "kind": "Kind",
    "role": "Role",
    "size": "Bytes",
    "tool_call_id": "Tool call",
    "payload_ref": "Payload",
    "provenance": "Provenance",
    "redaction_status": "Redaction",
}
PAYLOAD_COLUMNS: Final = {
    "ref": "Reference",
    "state": "State",
    "size": "Bytes",
    "retention": "Retention",
    "uses": "Uses",
    "sessions": "Sessions",
    "saved": "Bytes saved",
    "namespace": "Namespace",
    "workspace": "Workspace",
    "subject": "Subject",
}
OPERATION_COLUMNS: Final = {
    "revision": "Rev.",
    "time": "Time (UTC)",
    "operation": "Operation",
    "outcome": "Outcome",
    "events": "New events",
    "payloads": "Payloads",
    "binding": "Binding",
    "generation": "Gen.",
    "context": "Context bytes",
}
EVENTS_EMPTY: Final = "This session has no events."
PAYLOADS_EMPTY: Final = "This session holds no payloads: nothing was put for it, or a store of this kind keeps none."
_STATES: Final = {"revoked": "revoked", "stored": "stored", "shared": "stored, shared", "absent": "no data"}


def payload_state(name: str) -> str:
    """What became of a payload's bytes."""
    return _STATES.get(name, name)


SESSION_MENU: Final = "Session"
EXPORT: Final = "Export (JSON Lines)"
EXPORT_FILE: Final = "session.jsonl"
EXPORT_HELP: Final = "A session that is damaged is not exported: Verify says what is wrong with it"
IMPORT: Final = "Import a session…"
IMPORT_TITLE: Final = "Import into this store"
IMPORT_FILE: Final = "An exported session (.jsonl)"
IMPORT_NOW: Final = "Open for writing and import"
DELETE: Final = "Delete this session…"
DELETE_TITLE: Final = "Delete a session"
DELETE_NOW: Final = "Delete for good"
DELETE_ASKS: Final = (
    "Its checkpoints, events and operation keys are forgotten, and its payloads of class “session” that nobody else "
    "holds. Payloads of other classes and revocations stay. This cannot be undone; export it first if in doubt."
)
REVOKE: Final = "Revoke…"
REVOKE_CHOOSE: Final = "Tick a payload (keyboard: Shift+Space) to revoke it."
REVOKE_TITLE: Final = "Revoke a payload"
REVOKE_NOW: Final = "Revoke for good"
TYPE_ID: Final = "Type the session id to confirm"
CANCEL: Final = "Cancel"
LINK: Final = "Link to this view"
MORE: Final = "Show more sessions"
DAMAGED_HEAD: Final = "✕"
DAMAGED_TITLE: Final = "This session cannot be read whole"
CHANGE_FAILED: Final = "Nothing was changed"
COPY_FAILED: Final = "This session cannot be copied"
CHANGES_ARE_OFF: Final = "This kind of file can only be read here."
IMPORT_ASKS: Final = (
    "The store is opened for writing for this one act. The export is replayed through the same checks as commits: "
    "all of it is taken, or nothing."
)


def revoke_asks(holders: int, sessions: int) -> str:
    """What a revocation does."""
    all_of_them = f"all {holders:,} holders in {sessions:,} {plural(sessions, 'session')}"
    whose = "its only holder" if holders == 1 else all_of_them
    return f"Its bytes are removed for {whose}. It stays listed as revoked. This cannot be undone."


def imported(new: bool, checkpoints: int, events: int) -> str:
    """What an import did."""
    if not new:
        return "The identical session was there already: nothing was written."
    return f"Imported: {checkpoints:,} {plural(checkpoints, 'checkpoint')}, {events:,} {plural(events, 'event')}."
