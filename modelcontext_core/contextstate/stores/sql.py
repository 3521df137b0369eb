"""The statements, one transaction's worth of `Rows`."""

# ruff: noqa: D102 (the methods are documented in `Rows`)
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Final, Protocol

from modelcontext_core.contextstate.jsonio import to_tree
from modelcontext_core.contextstate.listings import Attempt, PayloadTotals
from modelcontext_core.contextstate.records import BindingRevision, ContentRef, PayloadRecord, SourceEvent
from modelcontext_core.contextstate.stores.rows import CommitRow, HolderRow, PayloadState, SessionRow
from modelcontext_core.contextstate.stores.sqlrows import (
    RowReader,
    holder_seal,
    pack_commit,
    pack_event,
    pack_json,
    pack_text,
    to_micros,
    upper_bound,
)

__all__ = ["Database", "SQLRows"]

# How many events are handed to the driver at once.
_BATCH: Final = 5000

_SESSION: Final = "SELECT no, id, session, durable, source, binding FROM cs_session"
_COMMIT: Final = (
    "SELECT session, durable, source, events, operation_id, fingerprint, details, context_sha256, context_bytes, "
    "committed_at FROM cs_commit"
)
_FIND_PAYLOAD: Final = (
    "SELECT p.no, p.sha256, p.size, p.revoked, p.retention, b.payload_no IS NOT NULL "
    "FROM cs_payload p LEFT JOIN cs_bytes b ON b.payload_no = p.no"
)
_FIND_HOLDER: Final = (
    "SELECT no, session_id, namespace, workspace_id, subject_id, size, retention, uses, put, seal "
    "FROM cs_holder WHERE payload_no = ?"
)
# The columns of _FIND_HOLDER, those of _FIND_PAYLOAD, and how many hold the same bytes.
_HOLDERS: Final = (
    "SELECT h.no, h.session_id, h.namespace, h.workspace_id, h.subject_id, h.size, h.retention, h.uses, h.put, h.seal, "
    "p.no, p.sha256, p.size, p.revoked, p.retention, b.payload_no IS NOT NULL, "
    "(SELECT COUNT(*) FROM cs_holder o WHERE o.payload_no = p.no), "
    "(SELECT COUNT(DISTINCT o.session_id) FROM cs_holder o WHERE o.payload_no = p.no) "
    "FROM cs_holder h JOIN cs_payload p ON p.no = h.payload_no LEFT JOIN cs_bytes b ON b.payload_no = p.no "
    "WHERE h.session_id = ? AND h.no > ? ORDER BY h.no LIMIT ?"
)


class Database(Protocol):
    """A connection with an open transaction. Its errors are `StoreError`s already."""

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Sequence[Sequence[Any]]:
        """Run one statement; its rows, if it has any."""
        ...

    def execute_many(self, statement: str, parameters: Iterable[Sequence[Any]]) -> None:
        """Run one statement once for each row of parameters."""
        ...


class SQLRows:
    """`Rows` over a `Database`."""

    def __init__(self, database: Database, location: str, padding: Callable[[int], int] | None = None) -> None:
        self._run = database.execute
        self._run_many = database.execute_many
        self._reader = RowReader(location)
        # How many bytes to keep before so many bytes of a payload.
        self._padding = padding

    # ---- sessions and commits

    def find_session(self, session_id: str) -> SessionRow | None:
        rows = self._run(f"{_SESSION} WHERE id = ?", (session_id,))
        return self._reader.session(rows[0]) if rows else None

    def list_ids(self, prefix: str, after: str, limit: int) -> Sequence[str]:
        return self._reader.ids(self._listed("SELECT id FROM cs_session", prefix, after, limit))

    def list_sessions(self, prefix: str, after: str, limit: int) -> Sequence[SessionRow]:
        return [self._reader.session(row) for row in self._listed(_SESSION, prefix, after, limit)]

    def _listed(self, select: str, prefix: str, after: str, limit: int) -> Sequence[Sequence[Any]]:
        condition, parameters = "id > ? AND id >= ?", [after, prefix]
        bound = upper_bound(prefix)
        if bound is not None:
            condition += " AND id < ?"
            parameters.append(bound)
        return self._run(f"{select} WHERE {condition} ORDER BY id LIMIT ?", (*parameters, limit))

    def find_operation(self, operation_id: str) -> bytes | None:
        rows = self._run("SELECT fingerprint FROM cs_commit WHERE operation_id = ?", (operation_id,))
        return self._reader.blob("operation", rows)

    def add_session(self, session_id: str, binding: BindingRevision) -> int:
        rows = self._run(
            "INSERT INTO cs_session (id, session, durable, source, binding) VALUES (?, 0, 0, 0, ?) RETURNING no",
            (session_id, pack_json(to_tree(binding))),
        )
        return int(rows[0][0])

    def add_commit(self, session: int, row: CommitRow, events: Sequence[SourceEvent], context: bytes) -> None:
        revision = row.revision
        counters = (revision.session, revision.durable, revision.source)
        sha256 = bytes.fromhex(row.context_sha256)
        self._run(
            "INSERT INTO cs_commit (session_no, session, durable, source, events, operation_id, fingerprint, details, "
            "context_sha256, context_bytes, committed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                session,
                *counters,
                row.events,
                row.operation_id,
                row.fingerprint,
                pack_commit(row),
                sha256,
                row.context_bytes,
                to_micros(row.committed_at),
            ),
        )
        if not self._run("SELECT 1 FROM cs_context WHERE session_no = ? AND sha256 = ?", (session, sha256)):
            self._run("INSERT INTO cs_context (session_no, sha256, data) VALUES (?, ?, ?)", (session, sha256, context))
        packed = ((session, event.id.sequence, pack_event(event)) for event in events)
        while batch := list(islice(packed, _BATCH)):
            self._run_many("INSERT INTO cs_event (session_no, sequence, body) VALUES (?, ?, ?)", batch)
        self._run(
            "UPDATE cs_session SET session = ?, durable = ?, source = ?, binding = ? WHERE no = ?",
            (*counters, pack_json(to_tree(row.binding)), session),
        )

    def commits(self, session: SessionRow, after: int, limit: int) -> Sequence[CommitRow]:
        rows = self._run(
            f"{_COMMIT} WHERE session_no = ? AND session > ? ORDER BY session LIMIT ?", (session.number, after, limit)
        )
        return [self._reader.commit(session.session_id, row) for row in rows]

    def commit_revisions(self, session: SessionRow, after: int, limit: int) -> Sequence[int]:
        return self._reader.revisions(
            self._run(
                "SELECT session FROM cs_commit WHERE session_no = ? AND session > ? ORDER BY session LIMIT ?",
                (session.number, after, limit),
            )
        )

    def events(self, session: SessionRow, after: int, limit: int) -> tuple[SourceEvent, ...]:
        rows = self._run(
            "SELECT sequence, body FROM cs_event WHERE session_no = ? AND sequence > ? ORDER BY sequence LIMIT ?",
            (session.number, after, limit),
        )
        return tuple(self._reader.event(session.session_id, row) for row in rows)

    def context(self, session: int, sha256: str) -> bytes | None:
        rows = self._run(
            "SELECT data FROM cs_context WHERE session_no = ? AND sha256 = ?", (session, bytes.fromhex(sha256))
        )
        return self._reader.blob("active context", rows)

    def drop_session(self, session: int) -> None:
        self._run("DELETE FROM cs_attempt WHERE session_no = ?", (session,))
        self._run("DELETE FROM cs_context WHERE session_no = ?", (session,))
        self._run("DELETE FROM cs_event WHERE session_no = ?", (session,))
        self._run("DELETE FROM cs_commit WHERE session_no = ?", (session,))
        self._run("DELETE FROM cs_session WHERE no = ?", (session,))

    # ---- payloads

    def find_payload(self, sha256: str) -> PayloadState | None:
        rows = self._run(f"{_FIND_PAYLOAD} WHERE p.sha256 = ?", (bytes.fromhex(sha256),))
        return self._reader.payload(rows[0]) if rows else None

    def payload_bytes(self, payload: int) -> bytes | None:
        rows = self._run("SELECT data FROM cs_bytes WHERE payload_no = ?", (payload,))
        return self._reader.blob("payload", rows)

    def add_payload(self, sha256: str, retention: str) -> int:
        rows = self._run(
            "INSERT INTO cs_payload (sha256, size, revoked, retention) VALUES (?, NULL, 0, ?) RETURNING no",
            (bytes.fromhex(sha256), pack_text(retention)),
        )
        return int(rows[0][0])

    def put_holder(self, payload: int, record: PayloadRecord, counted: bool) -> None:
        ref, retention = record.ref, pack_text(record.retention)
        self._run(
            "INSERT INTO cs_holder (payload_no, session_id, namespace, workspace_id, subject_id, size, retention, "
            "uses, seal, put) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, 1 + COALESCE(MAX(put), 0) FROM cs_holder "
            "WHERE payload_no = ? "
            "ON CONFLICT (payload_no, session_id, namespace, workspace_id, subject_id) DO UPDATE SET "
            "size = excluded.size, retention = excluded.retention, put = excluded.put, seal = excluded.seal, "
            "uses = cs_holder.uses + excluded.uses",
            (
                payload,
                ref.session_id,
                ref.namespace,
                ref.workspace_id,
                ref.subject_id,
                ref.size,
                retention,
                int(counted),
                holder_seal(record),
                payload,
            ),
        )
        self._run("UPDATE cs_payload SET retention = ? WHERE no = ?", (retention, payload))

    def store_bytes(self, payload: int, data: bytes) -> None:
        padding = bytes(self._padding(len(data))) if self._padding else b""
        self._run("INSERT INTO cs_bytes (payload_no, padding, data) VALUES (?, ?, ?)", (payload, padding, data))
        self._run("UPDATE cs_payload SET size = ? WHERE no = ?", (len(data), payload))

    def revoke_payload(self, payload: int) -> None:
        self._run("DELETE FROM cs_bytes WHERE payload_no = ?", (payload,))
        self._run("UPDATE cs_payload SET revoked = 1 WHERE no = ?", (payload,))

    def find_holder(self, payload: PayloadState, ref: ContentRef) -> HolderRow | None:
        rows = self._run(
            f"{_FIND_HOLDER} AND session_id = ? AND namespace = ? AND workspace_id = ? AND subject_id = ?",
            (payload.number, ref.session_id, ref.namespace, ref.workspace_id, ref.subject_id),
        )
        return self._reader.holder(rows[0], payload) if rows else None

    def last_holder(self, payload: PayloadState) -> HolderRow | None:
        rows = self._run(f"{_FIND_HOLDER} ORDER BY put DESC LIMIT 1", (payload.number,))
        return self._reader.holder(rows[0], payload) if rows else None

    def holders(self, session_id: str, after: int, limit: int) -> Sequence[HolderRow]:
        rows = self._run(_HOLDERS, (session_id, after, limit))
        return [self._reader.held(row) for row in rows]

    def count_holders(self, session_id: str) -> int:
        return int(self._run("SELECT COUNT(*) FROM cs_holder WHERE session_id = ?", (session_id,))[0][0])

    def totals(self, session_id: str) -> PayloadTotals:
        rows = self._run(
            "SELECT p.no, p.revoked, COALESCE(p.size, 0), COUNT(*), SUM(h.uses), b.payload_no IS NOT NULL, "
            "EXISTS (SELECT 1 FROM cs_holder o WHERE o.payload_no = p.no AND o.session_id <> h.session_id) "
            "FROM cs_holder h JOIN cs_payload p ON p.no = h.payload_no LEFT JOIN cs_bytes b ON b.payload_no = p.no "
            "WHERE h.session_id = ? GROUP BY p.no, p.revoked, p.size, b.payload_no, h.session_id",
            (session_id,),
        )
        return self._reader.totals(rows)

    def drop_holder(self, holder: HolderRow) -> None:
        self._run("DELETE FROM cs_holder WHERE no = ?", (holder.number,))

    def is_held(self, payload: int) -> bool:
        return bool(self._run("SELECT 1 FROM cs_holder WHERE payload_no = ? LIMIT 1", (payload,)))

    def drop_payload(self, payload: int) -> None:
        self._run("DELETE FROM cs_bytes WHERE payload_no = ?", (payload,))
        self._run("DELETE FROM cs_payload WHERE no = ?", (payload,))

    # ---- the store's own log

    def add_attempt(self, session: int, attempt: Attempt, keep: int) -> None:
        self._run(
            "INSERT INTO cs_attempt (session_no, session, operation_id, outcome, at) VALUES (?, ?, ?, ?, ?)",
            (session, attempt.revision, attempt.operation_id, attempt.outcome.value, to_micros(attempt.at)),
        )
        self._run(
            "DELETE FROM cs_attempt WHERE session_no = ? AND no <= "
            "(SELECT no FROM cs_attempt WHERE session_no = ? ORDER BY no DESC LIMIT 1 OFFSET ?)",
            (session, session, keep),
        )

    def attempts(self, session: int, first: int, last: int) -> Sequence[Attempt]:
        return self._reader.attempts(
            self._run(
                "SELECT session, operation_id, outcome, at FROM cs_attempt "
                "WHERE session_no = ? AND session BETWEEN ? AND ? ORDER BY no",
                (session, first, last),
            )
        )
