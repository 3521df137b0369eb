"""What is done within one transaction, by a commit as by an import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from modelcontext_core.contextstate import validation
from modelcontext_core.contextstate.errors import CheckpointConflictError, SessionNotFoundError
from modelcontext_core.contextstate.fingerprint import is_same_request, request_fingerprint
from modelcontext_core.contextstate.records import CommitRequest, Limits, PayloadRecord
from modelcontext_core.contextstate.stores.rows import HolderRow, Rows, SessionRow, commit_row

__all__ = [
    "PreparedCommit",
    "commit",
    "find_owner",
    "find_session",
    "is_replay",
    "payload_lock",
    "prepare",
    "put_payload",
    "release",
    "session_lock",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCommit:
    """A request that needs nothing but the state of its session to be decided.

    `puts` are its payloads as they are to be put: an import may know of them what the request did not.
    """

    request: CommitRequest
    fingerprint: bytes
    had_data: tuple[bool, ...]
    puts: tuple[PayloadRecord, ...]

    @property
    def locks(self) -> tuple[str, ...]:
        """What the commit touches, in the order in which all writers ask for it: operation, session, payloads."""
        digests = sorted({record.ref.sha256 for record in self.puts})
        return (
            f"operation {self.request.operation_id}",
            session_lock(self.request.session_id),
            *(payload_lock(sha256) for sha256 in digests),
        )


def session_lock(session_id: str) -> str:
    """The name of the lock on a session."""
    return f"session {session_id}"


def payload_lock(sha256: str) -> str:
    """The name of the lock on a digest."""
    return f"payload {sha256}"


def find_session(rows: Rows, session_id: str) -> SessionRow:
    """The session of this id; raises `SessionNotFoundError`."""
    session = rows.find_session(session_id) if validation.is_identifier(session_id) else None
    if session is None:
        raise SessionNotFoundError(session_id)
    return session


def find_owner(rows: Rows, session_id: str) -> SessionRow | None:
    """The session of this id, or None for one that only holds payloads; raises `SessionNotFoundError` for neither."""
    known = validation.is_identifier(session_id)
    session = rows.find_session(session_id) if known else None
    if session is None and not (known and rows.count_holders(session_id)):
        raise SessionNotFoundError(session_id)
    return session


def is_replay(rows: Rows, request: CommitRequest) -> bool:
    """Whether the operation key was used for this request; raises `CheckpointConflictError` for another one."""
    # What is no identifier was never stored as a key: validation will name it.
    known = rows.find_operation(request.operation_id) if validation.is_identifier(request.operation_id) else None
    if known is None:
        return False
    if not is_same_request(request, known):
        raise CheckpointConflictError(request.operation_id)
    return True


def prepare(request: CommitRequest, limits: Limits) -> PreparedCommit:
    """Check what can be checked of a request alone; raises `InvalidRecordError`, then `OverLimitError`."""
    request.validate()
    validation.within_limits(request, limits)
    return PreparedCommit(
        request=request,
        # Validation has just compared the data with these digests.
        fingerprint=request_fingerprint(request, [item.ref.sha256 if item.data else "" for item in request.payloads]),
        had_data=tuple(bool(record.data) for record in request.payloads),
        puts=tuple(request.payloads),
    )


def commit(rows: Rows, prepared: PreparedCommit, at: datetime) -> bool:
    """Apply the commit, or raise `StaleRevisionError` or `StaleBindingError` before anything is written.

    True when it revoked a payload.
    """
    request = prepared.request
    session = rows.find_session(request.session_id)
    if session is None:
        validation.opens_session(request)
        number = rows.add_session(request.session_id, request.new_binding)
    else:
        validation.continues_session(request, session.revision, session.binding)
        number = session.number
    row = commit_row(request, prepared.fingerprint, prepared.had_data, at)
    rows.add_commit(number, row, request.new_source_events, request.checkpoint.active_context)
    return put_payloads(rows, prepared.puts)


def put_payloads(rows: Rows, records: Sequence[PayloadRecord]) -> bool:
    """`put_payload` for each, in order; True when one of them revoked a payload."""
    revoked = [put_payload(rows, record) for record in records]
    return any(revoked)


def put_payload(rows: Rows, record: PayloadRecord, *, counted: bool = True) -> bool:
    """Put one valid record; True when it revoked the payload. Under a revoked digest nothing changes."""
    state = rows.find_payload(record.ref.sha256)
    if state is not None and state.revoked:
        return False
    number = rows.add_payload(record.ref.sha256, record.retention) if state is None else state.number
    rows.put_holder(number, record, counted)
    if record.revoked:
        rows.revoke_payload(number)
    elif record.data and not (state and state.stored):
        rows.store_bytes(number, record.data)
    return record.revoked


def release(rows: Rows, holder: HolderRow) -> None:
    """Remove a holder, and its payload with the last one. What was revoked is remembered, so that it stays so."""
    rows.drop_holder(holder)
    if not holder.payload.revoked and not rows.is_held(holder.payload.number):
        rows.drop_payload(holder.payload.number)
