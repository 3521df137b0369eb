"""What lies in a store, and the one interface through which the rules reach it.

`Rows` is a transaction: the rules of the contract are written against it once, and each store only says how its rows
are kept. Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from modelcontext_core.contextstate.listings import Attempt, PayloadRow, PayloadTotals
from modelcontext_core.contextstate.records import (
    BindingRevision,
    Checkpoint,
    CheckpointID,
    CommitRequest,
    ContentRef,
    PayloadRecord,
    Revision,
    SourceEvent,
    SourceID,
    SourceRange,
)
from modelcontext_core.contextstate.refs import digest

__all__ = [
    "CommitRow",
    "GivenPayload",
    "HolderRow",
    "PayloadState",
    "ReadRows",
    "Rows",
    "SessionRow",
    "commit_row",
    "sum_totals",
    "to_checkpoint",
    "to_request",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """Where a session is. `number` is the store's own and never used twice."""

    number: int
    session_id: str
    revision: Revision
    binding: BindingRevision


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPayload:
    """A payload as a commit gave it: the record without its data, and whether it had any."""

    record: PayloadRecord
    had_data: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRow:
    """A commit less its events, its bytes, and whatever the commit rules make equal to something else."""

    session_id: str
    revision: Revision
    events: int
    operation_id: str
    fingerprint: bytes
    expected_binding: BindingRevision
    binding: BindingRevision
    turn_id: int
    range_start: int
    algorithm: str
    schema_version: int
    idempotency_key: str
    payloads: tuple[GivenPayload, ...]
    context_sha256: str
    context_bytes: int
    committed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadState:
    """What is true of a digest for all holders. `size` is None until bytes were seen, `retention` the last put's."""

    number: int
    sha256: str
    size: int | None
    revoked: bool
    stored: bool
    retention: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HolderRow:
    """One holder of a payload: its own fields of the last put.

    `put` orders the puts of one digest; `sound` says whether the fields are those that were written.
    """

    number: int
    payload: PayloadState
    ref: ContentRef
    retention: str
    uses: int
    put: int
    holders: int = 0
    sessions: int = 0
    sound: bool = True

    def record(self) -> PayloadRecord:
        """The record without data. Once bytes were seen, the size is theirs, whatever a later put without data said."""
        size = self.ref.size if self.payload.size is None else self.payload.size
        return PayloadRecord(ref=replace(self.ref, size=size), retention=self.retention, revoked=self.payload.revoked)

    def listed(self) -> PayloadRow:
        """The row of a listing."""
        return PayloadRow(
            number=self.number,
            record=self.record(),
            stored=self.payload.stored,
            uses=self.uses,
            holders=self.holders,
            sessions=self.sessions,
        )


class Rows(Protocol):
    """One transaction of a store. Reading methods return None or an empty sequence for what is not there.

    Raises `DamagedStoreError` for a row that cannot be read as what it is.
    """

    # ---- sessions and commits

    def find_session(self, session_id: str) -> SessionRow | None:
        """The session of this id."""
        ...

    def list_sessions(self, prefix: str, after: str, limit: int) -> Sequence[SessionRow]:
        """Sessions whose id starts with `prefix`, after `after`, by id."""
        ...

    def list_ids(self, prefix: str, after: str, limit: int) -> Sequence[str]:
        """The ids of `list_sessions` alone."""
        ...

    def find_operation(self, operation_id: str) -> bytes | None:
        """The fingerprint of the commit that used this key."""
        ...

    def add_session(self, session_id: str, binding: BindingRevision) -> int:
        """Make room for a session; its number. The first commit sets the rest."""
        ...

    def add_commit(self, session: int, row: CommitRow, events: Sequence[SourceEvent], context: bytes) -> None:
        """Write a commit, its events and its context, and move the session to it."""
        ...

    def commits(self, session: SessionRow, after: int, limit: int) -> Sequence[CommitRow]:
        """Commits with a session counter above `after`, oldest first."""
        ...

    def commit_revisions(self, session: SessionRow, after: int, limit: int) -> Sequence[int]:
        """The session counters of `commits` alone, as they are found; fewer than `limit` may have more after them."""
        ...

    def events(self, session: SessionRow, after: int, limit: int) -> tuple[SourceEvent, ...]:
        """Events with a sequence above `after`, in order."""
        ...

    def context(self, session: int, sha256: str) -> bytes | None:
        """The bytes of an active context."""
        ...

    def drop_session(self, session: int) -> None:
        """Remove the session and all that only it has, less payloads."""
        ...

    # ---- payloads

    def find_payload(self, sha256: str) -> PayloadState | None:
        """What is known of a digest."""
        ...

    def payload_bytes(self, payload: int) -> bytes | None:
        """The bytes of a payload."""
        ...

    def add_payload(self, sha256: str, retention: str) -> int:
        """Make room for a digest; its number."""
        ...

    def put_holder(self, payload: int, record: PayloadRecord, counted: bool) -> None:
        """Record the holder of `record`, last put now; `counted` adds a use."""
        ...

    def store_bytes(self, payload: int, data: bytes) -> None:
        """Keep the bytes of a payload that has none."""
        ...

    def revoke_payload(self, payload: int) -> None:
        """Mark the payload revoked and remove its bytes."""
        ...

    def find_holder(self, payload: PayloadState, ref: ContentRef) -> HolderRow | None:
        """The holder that `ref` names."""
        ...

    def last_holder(self, payload: PayloadState) -> HolderRow | None:
        """The holder that put last."""
        ...

    def holders(self, session_id: str, after: int, limit: int) -> Sequence[HolderRow]:
        """Holders with this session id and a number above `after`, by number, with how many share each digest."""
        ...

    def count_holders(self, session_id: str) -> int:
        """How many rows `holders` has in all."""
        ...

    def totals(self, session_id: str) -> PayloadTotals:
        """The sums over `holders`."""
        ...

    def drop_holder(self, holder: HolderRow) -> None:
        """Remove one holder."""
        ...

    def is_held(self, payload: int) -> bool:
        """Whether the payload has a holder."""
        ...

    def drop_payload(self, payload: int) -> None:
        """Remove the payload and its bytes."""
        ...

    # ---- the store's own log

    def add_attempt(self, session: int, attempt: Attempt, keep: int) -> None:
        """Log an attempt and keep only the newest `keep` of the session."""
        ...

    def attempts(self, session: int, first: int, last: int) -> Sequence[Attempt]:
        """Attempts that met a session counter from `first` to `last`, oldest first."""
        ...


# Opens a reading transaction: one state of the store for as long as it is open.
ReadRows = Callable[[], AbstractContextManager[Rows]]


def commit_row(
    request: CommitRequest, fingerprint: bytes, had_data: Sequence[bool], committed_at: datetime
) -> CommitRow:
    """The row of a valid request."""
    checkpoint = request.checkpoint
    return CommitRow(
        session_id=request.session_id,
        revision=checkpoint.revision,
        events=len(request.new_source_events),
        operation_id=request.operation_id,
        fingerprint=fingerprint,
        expected_binding=request.expected_binding,
        binding=request.new_binding,
        turn_id=request.turn_id,
        range_start=checkpoint.id.source_range.start.sequence,
        algorithm=checkpoint.id.algorithm,
        schema_version=checkpoint.id.schema_version,
        idempotency_key=checkpoint.id.idempotency_key,
        payloads=tuple(
            GivenPayload(record=replace(record, data=b""), had_data=had)
            for record, had in zip(request.payloads, had_data, strict=True)
        ),
        context_sha256=digest(checkpoint.active_context),
        context_bytes=len(checkpoint.active_context),
        committed_at=committed_at,
    )


def to_checkpoint(row: CommitRow, context: bytes) -> Checkpoint:
    """The checkpoint that `row` was made from."""
    session_id = row.session_id
    return Checkpoint(
        id=CheckpointID(
            session_id=session_id,
            source_range=SourceRange(
                start=SourceID(session_id=session_id, sequence=row.range_start),
                end=SourceID(session_id=session_id, sequence=row.revision.source),
            ),
            algorithm=row.algorithm,
            schema_version=row.schema_version,
            idempotency_key=row.idempotency_key,
        ),
        revision=row.revision,
        binding=row.binding,
        active_context=context,
        turn_id=row.turn_id,
    )


def to_request(row: CommitRow, events: Sequence[SourceEvent], context: bytes) -> CommitRequest:
    """The request that `row` was made from, its payloads without data."""
    revision = row.revision
    return CommitRequest(
        operation_id=row.operation_id,
        session_id=row.session_id,
        expected=Revision(
            session=revision.session - 1, durable=revision.durable - 1, source=revision.source - row.events
        ),
        expected_binding=row.expected_binding,
        new_source_events=tuple(events),
        payloads=tuple(given.record for given in row.payloads),
        checkpoint=to_checkpoint(row, context),
        new_session=revision.session,
        new_durable=revision.durable,
        new_source_sequence=revision.source,
        new_binding=row.binding,
        turn_id=row.turn_id,
    )


def sum_totals(digests: Iterable[tuple[bool, int, int, int, bool, bool]]) -> PayloadTotals:
    """Sum up digests that one session holds: revoked, size, its rows, its uses, has bytes, held by others too."""
    rows = revoked_rows = shared_rows = stored_bytes = saved_bytes = 0
    for revoked, size, count, uses, stored, elsewhere in digests:
        rows += count
        revoked_rows += count if revoked else 0
        shared_rows += count if elsewhere else 0
        stored_bytes += size if stored else 0
        saved_bytes += size * (uses - 1) if stored else 0
    return PayloadTotals(
        rows=rows, revoked=revoked_rows, shared=shared_rows, stored_bytes=stored_bytes, saved_bytes=saved_bytes
    )
