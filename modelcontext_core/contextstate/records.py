"""The durable records: what is committed, kept and read back.

Field names and their order are the contract's: they are the JSON keys, and `validate` checks in this order. Every
record is frozen and built by keyword; building one checks nothing, `validate()` raises `InvalidRecordError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from modelcontext_core.contextstate import validation
from modelcontext_core.contextstate.refs import HASH_PREFIX, digest

__all__ = [
    "RETENTION_COMPLIANCE",
    "RETENTION_SESSION",
    "BindingRevision",
    "Checkpoint",
    "CheckpointID",
    "CommitRequest",
    "ContentRef",
    "Limits",
    "PayloadRecord",
    "Revision",
    "Session",
    "SourceEvent",
    "SourceID",
    "SourceRange",
    "new_commit_request",
    "new_content_ref",
    "reassemble",
]

# Kept for the session's lifetime.
RETENTION_SESSION: Final = "session"
# Kept past the deletion of the session. Callers may use classes of their own; a store keeps those like this one.
RETENTION_COMPLIANCE: Final = "compliance"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentRef:
    """The durable address of one payload: `ref` is handed around, the rest says whose it is and how long."""

    ref: str
    namespace: str
    sha256: str
    workspace_id: str
    session_id: str
    subject_id: str
    size: int

    def validate(self) -> None:
        """Canonical `ref` that agrees with `sha256`, identifiers in bounds, size not negative."""
        validation.content_ref(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadRecord:
    """One payload under its content address. Empty `data` counts as absent."""

    ref: ContentRef
    retention: str
    revoked: bool = False
    data: bytes = b""

    def validate(self) -> None:
        """Valid ref, a retention class, and bytes (when present) of the ref's length and digest."""
        validation.payload_record(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceID:
    """Names one event: a session and a sequence number."""

    session_id: str
    sequence: int

    def validate(self) -> None:
        """An identifier and a counter."""
        validation.source_id(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEvent:
    """One event of a session's source log. `payload_ref` is any bounded text, so keys of the caller stay legal."""

    id: SourceID
    kind: str
    role: str
    tool_call_id: str = ""
    payload_ref: str = ""
    provenance: str
    redaction_status: str
    size: int

    def validate(self) -> None:
        """Four required texts of at most 256 bytes, two optional ones when set, size not negative."""
        validation.source_event(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRange:
    """Events of one session from `start` to `end`, both included."""

    start: SourceID
    end: SourceID

    def validate(self) -> None:
        """One session, in order, at most 100,000 events."""
        validation.source_range(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The three counters of a session. It has no rule of its own: the commit rules compare it as a whole."""

    session: int = 0
    durable: int = 0
    source: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingRevision:
    """The pair of provider and model that a session talks to, and its generation."""

    provider: str
    model: str
    generation: int

    def validate(self) -> None:
        """Two identifiers and a positive counter."""
        validation.binding_revision(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointID:
    """Identifies one checkpoint of a session."""

    session_id: str
    source_range: SourceRange
    algorithm: str
    schema_version: int
    idempotency_key: str

    def validate(self) -> None:
        """Identifiers in bounds (`algorithm` 64 bytes), a range of the same session, a positive schema version."""
        validation.checkpoint_id(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One committed state of a session."""

    id: CheckpointID
    revision: Revision
    binding: BindingRevision
    active_context: bytes
    turn_id: int

    def validate(self) -> None:
        """Valid id and binding, an active context that is not empty, a positive turn."""
        validation.checkpoint(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRequest:
    """One atomic advance of a session: events, payloads and the new checkpoint, under an operation key."""

    operation_id: str
    session_id: str
    expected: Revision
    expected_binding: BindingRevision
    new_source_events: tuple[SourceEvent, ...] = ()
    payloads: tuple[PayloadRecord, ...] = ()
    checkpoint: Checkpoint
    new_session: int
    new_durable: int
    new_source_sequence: int
    new_binding: BindingRevision
    turn_id: int

    def validate(self) -> None:
        """Shape only, in this order: identity, revision, events, payloads, checkpoint. Volume is the store's matter."""
        validation.commit_request(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The read model of one session: where it is, its active checkpoint, and every event."""

    revision: Revision
    binding: BindingRevision
    active: Checkpoint
    source: tuple[SourceEvent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The volume bounds of one store; 0 means uncapped. A commit is refused only above a bound."""

    checkpoint_bytes: int = 0
    commit_events: int = 0
    commit_event_bytes: int = 0

    def validate(self) -> None:
        """No field is negative; the first that is gets named."""
        validation.limits(self)


def new_content_ref(namespace: str, workspace_id: str, session_id: str, subject_id: str, *chunks: bytes) -> ContentRef:
    """The valid `ContentRef` of the concatenated chunks; raises `InvalidRecordError` for a bad name."""
    sha256 = digest(*chunks)
    ref = ContentRef(
        ref=HASH_PREFIX + sha256,
        namespace=namespace,
        sha256=sha256,
        workspace_id=workspace_id,
        session_id=session_id,
        subject_id=subject_id,
        size=sum(map(len, chunks)),
    )
    ref.validate()
    return ref


def reassemble(ref: ContentRef, retention: str, *chunks: bytes) -> PayloadRecord:
    """The record of the concatenated chunks, in order.

    Raises `InvalidRecordError` unless size and digest are the ref's. The digest of the whole is the contract: where the
    chunks were cut does not matter.
    """
    record = PayloadRecord(ref=ref, retention=retention, data=b"".join(chunks))
    record.validate()
    # Empty data counts as absent and passes `validate`; here it would be a payload that lost its bytes.
    validation.payload_bytes(record)
    return record


def new_commit_request(
    session_id: str,
    expected: Revision,
    expected_binding: BindingRevision,
    events: Sequence[SourceEvent],
    payloads: Sequence[PayloadRecord],
    checkpoint: Checkpoint,
    new_binding: BindingRevision,
    turn_id: int,
) -> CommitRequest:
    """A complete, valid request.

    The operation key is the checkpoint's idempotency key; the three new counters follow from `expected` and the
    number of events. Raises `InvalidRecordError`.
    """
    request = CommitRequest(
        operation_id=checkpoint.id.idempotency_key,
        session_id=session_id,
        expected=expected,
        expected_binding=expected_binding,
        new_source_events=tuple(events),
        payloads=tuple(payloads),
        checkpoint=checkpoint,
        new_session=_advanced(expected.session, 1),
        new_durable=_advanced(expected.durable, 1),
        new_source_sequence=_advanced(expected.source, len(events)),
        new_binding=new_binding,
        turn_id=turn_id,
    )
    request.validate()
    return request


def _advanced(counter: int, steps: int) -> int:
    """The counter after `steps`. What is no integer stays as it is, for `validate` to name in its turn."""
    return counter + steps if isinstance(counter, int) else counter
