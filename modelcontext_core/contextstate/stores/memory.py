"""The store that forgets: dictionaries behind one lock. The model that the other stores are tested against."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace

from modelcontext_core.contextstate.errors import StoreError
from modelcontext_core.contextstate.listings import Attempt, PayloadTotals, StoreInfo
from modelcontext_core.contextstate.records import (
    BindingRevision,
    ContentRef,
    Limits,
    PayloadRecord,
    Revision,
    SourceEvent,
)
from modelcontext_core.contextstate.stores.engine import Clock, StoreEngine
from modelcontext_core.contextstate.stores.migrations import MIGRATIONS
from modelcontext_core.contextstate.stores.rows import (
    CommitRow,
    HolderRow,
    PayloadState,
    Rows,
    SessionRow,
    sum_totals,
)

__all__ = ["MemoryStore"]

# Namespace, workspace, session, subject.
_Owner = tuple[str, str, str, str]


@dataclass(slots=True)
class _Session:
    row: SessionRow
    commits: list[CommitRow] = field(default_factory=list)
    events: list[SourceEvent] = field(default_factory=list)
    contexts: dict[str, bytes] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)


@dataclass(slots=True)
class _Payload:
    state: PayloadState
    data: bytes | None = None
    holders: dict[_Owner, HolderRow] = field(default_factory=dict)


class MemoryStore(StoreEngine):
    """A `ContextStore` that lives as long as the object. Every value in it is immutable: what is returned is a copy."""

    def __init__(self, limits: Limits | None = None, *, clock: Clock | None = None) -> None:
        super().__init__("memory:", limits, clock)
        self._lock = threading.RLock()
        self._rows = _MemoryRows()
        self._closed = False

    @contextmanager
    def _read(self) -> Iterator[Rows]:
        with self._lock:
            if self._closed:
                raise StoreError(self._location, "it is closed")
            yield self._rows

    @contextmanager
    def _write(self, *locks: str) -> Iterator[Rows]:
        with self._read() as rows:
            # One commit checks everything before it writes; an import or a deletion is many steps to take back.
            before = None if locks else self._rows.snapshot()
            try:
                yield rows
            except BaseException:
                if before is not None:
                    self._rows = before
                raise

    def _scrub(self) -> None:
        """Nothing is left behind."""

    def info(self) -> StoreInfo:
        """Kind `memory`."""
        with self._read():
            sessions = len(self._rows.sessions)
        return StoreInfo(
            kind="memory",
            location=self._location,
            sessions=sessions,
            bytes=0,
            schema_version=len(MIGRATIONS),
            read_only=False,
        )

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._closed = True
            self._rows = _MemoryRows()


class _MemoryRows:
    """`Rows` over dictionaries."""

    def __init__(self) -> None:
        self.sessions: dict[str, _Session] = {}
        self._numbers: dict[int, _Session] = {}
        self._operations: dict[str, bytes] = {}
        self._payloads: dict[str, _Payload] = {}
        self._payload_numbers: dict[int, _Payload] = {}
        self._last_number = 0

    def snapshot(self) -> _MemoryRows:
        """A copy that later writes do not reach."""
        other = _MemoryRows()
        for session in self.sessions.values():
            kept = _Session(
                session.row, session.commits[:], session.events[:], dict(session.contexts), session.attempts[:]
            )
            other.sessions[kept.row.session_id] = other._numbers[kept.row.number] = kept
        for payload in self._payloads.values():
            held = copy(payload)
            held.holders = dict(payload.holders)
            other._payloads[held.state.sha256] = other._payload_numbers[held.state.number] = held
        other._operations = dict(self._operations)
        other._last_number = self._last_number
        return other

    def _next_number(self) -> int:
        self._last_number += 1
        return self._last_number

    # ---- sessions and commits

    def find_session(self, session_id: str) -> SessionRow | None:
        session = self.sessions.get(session_id)
        return None if session is None else session.row

    def list_ids(self, prefix: str, after: str, limit: int) -> Sequence[str]:
        return sorted(found for found in self.sessions if found > after and found.startswith(prefix))[:limit]

    def list_sessions(self, prefix: str, after: str, limit: int) -> Sequence[SessionRow]:
        return [self.sessions[found].row for found in self.list_ids(prefix, after, limit)]

    def find_operation(self, operation_id: str) -> bytes | None:
        return self._operations.get(operation_id)

    def add_session(self, session_id: str, binding: BindingRevision) -> int:
        row = SessionRow(number=self._next_number(), session_id=session_id, revision=Revision(), binding=binding)
        self.sessions[session_id] = self._numbers[row.number] = _Session(row)
        return row.number

    def add_commit(self, session: int, row: CommitRow, events: Sequence[SourceEvent], context: bytes) -> None:
        kept = self._numbers[session]
        kept.commits.append(row)
        kept.events.extend(events)
        kept.contexts.setdefault(row.context_sha256, context)
        kept.row = replace(kept.row, revision=row.revision, binding=row.binding)
        self._operations[row.operation_id] = row.fingerprint

    def commits(self, session: SessionRow, after: int, limit: int) -> Sequence[CommitRow]:
        # The session counter of the first commit is 1, and there is no gap.
        found = self._numbers.get(session.number)
        return found.commits[after : after + limit] if found else ()

    def commit_revisions(self, session: SessionRow, after: int, limit: int) -> Sequence[int]:
        return [row.revision.session for row in self.commits(session, after, limit)]

    def events(self, session: SessionRow, after: int, limit: int) -> tuple[SourceEvent, ...]:
        found = self._numbers.get(session.number)
        return tuple(found.events[after : after + limit]) if found else ()

    def context(self, session: int, sha256: str) -> bytes | None:
        found = self._numbers.get(session)
        return found.contexts.get(sha256) if found else None

    def drop_session(self, session: int) -> None:
        dropped = self._numbers.pop(session)
        del self.sessions[dropped.row.session_id]
        for row in dropped.commits:
            del self._operations[row.operation_id]

    # ---- payloads

    def find_payload(self, sha256: str) -> PayloadState | None:
        payload = self._payloads.get(sha256)
        return None if payload is None else payload.state

    def payload_bytes(self, payload: int) -> bytes | None:
        return self._payload_numbers[payload].data

    def add_payload(self, sha256: str, retention: str) -> int:
        state = PayloadState(
            number=self._next_number(), sha256=sha256, size=None, revoked=False, stored=False, retention=retention
        )
        self._payloads[sha256] = self._payload_numbers[state.number] = _Payload(state)
        return state.number

    def put_holder(self, payload: int, record: PayloadRecord, counted: bool) -> None:
        kept = self._payload_numbers[payload]
        owner = _owner(record.ref)
        before = kept.holders.get(owner)
        kept.holders[owner] = HolderRow(
            number=self._next_number() if before is None else before.number,
            payload=kept.state,
            ref=record.ref,
            retention=record.retention,
            uses=(0 if before is None else before.uses) + int(counted),
            put=1 + max((holder.put for holder in kept.holders.values()), default=0),
        )
        kept.state = replace(kept.state, retention=record.retention)

    def store_bytes(self, payload: int, data: bytes) -> None:
        kept = self._payload_numbers[payload]
        kept.data = data
        kept.state = replace(kept.state, size=len(data), stored=True)

    def revoke_payload(self, payload: int) -> None:
        kept = self._payload_numbers[payload]
        kept.data = None
        kept.state = replace(kept.state, revoked=True, stored=False)

    def find_holder(self, payload: PayloadState, ref: ContentRef) -> HolderRow | None:
        kept = self._payload_numbers[payload.number]
        holder = kept.holders.get(_owner(ref))
        return None if holder is None else replace(holder, payload=kept.state)

    def last_holder(self, payload: PayloadState) -> HolderRow | None:
        kept = self._payload_numbers[payload.number]
        holder = max(kept.holders.values(), key=lambda held: held.put, default=None)
        return None if holder is None else replace(holder, payload=kept.state)

    def _held_by(self, session_id: str) -> list[HolderRow]:
        return [
            replace(
                holder,
                payload=kept.state,
                holders=len(kept.holders),
                sessions=len({owner[2] for owner in kept.holders}),
            )
            for kept in self._payloads.values()
            for holder in kept.holders.values()
            if holder.ref.session_id == session_id
        ]

    def holders(self, session_id: str, after: int, limit: int) -> Sequence[HolderRow]:
        ordered = sorted(self._held_by(session_id), key=lambda holder: holder.number)
        first = bisect_right(ordered, after, key=lambda holder: holder.number)
        return ordered[first : first + limit]

    def count_holders(self, session_id: str) -> int:
        return len(self._held_by(session_id))

    def totals(self, session_id: str) -> PayloadTotals:
        digests: dict[int, list[HolderRow]] = {}
        for holder in self._held_by(session_id):
            digests.setdefault(holder.payload.number, []).append(holder)
        return sum_totals(
            (
                held[0].payload.revoked,
                held[0].payload.size or 0,
                len(held),
                sum(holder.uses for holder in held),
                held[0].payload.stored,
                held[0].sessions > 1,
            )
            for held in digests.values()
        )

    def drop_holder(self, holder: HolderRow) -> None:
        del self._payload_numbers[holder.payload.number].holders[_owner(holder.ref)]

    def is_held(self, payload: int) -> bool:
        return bool(self._payload_numbers[payload].holders)

    def drop_payload(self, payload: int) -> None:
        del self._payloads[self._payload_numbers.pop(payload).state.sha256]

    # ---- the store's own log

    def add_attempt(self, session: int, attempt: Attempt, keep: int) -> None:
        attempts = self._numbers[session].attempts
        attempts.append(attempt)
        del attempts[:-keep]

    def attempts(self, session: int, first: int, last: int) -> Sequence[Attempt]:
        return [item for item in self._numbers[session].attempts if first <= item.revision <= last]


def _owner(ref: ContentRef) -> _Owner:
    return (ref.namespace, ref.workspace_id, ref.session_id, ref.subject_id)
