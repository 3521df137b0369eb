"""Every rule about the shape of a record, and the rules by which a store accepts a commit.

Shape rules take a record and raise `InvalidRecordError` with the JSON path of the first wrong field, in declaration
order. They trust no scalar: a record is built by keyword and may hold any value. The last three functions are what a
store asks of a request that is valid in shape; no store has commit rules of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from modelcontext_core.contextstate.errors import (
    InvalidRecordError,
    OverLimitError,
    StaleBindingError,
    StaleRevisionError,
)
from modelcontext_core.contextstate.refs import digest, is_ref

if TYPE_CHECKING:
    from modelcontext_core.contextstate import records

__all__ = [
    "MAX_ALGORITHM_BYTES",
    "MAX_COUNTER",
    "MAX_IDENTIFIER_BYTES",
    "MAX_PAYLOAD_REFERENCE_BYTES",
    "MAX_SCHEMA_VERSION",
    "MAX_SIZE",
    "MAX_SOURCE_RANGE_EVENTS",
    "is_identifier",
]

MAX_IDENTIFIER_BYTES: Final = 128
MAX_ALGORITHM_BYTES: Final = 64
MAX_EVENT_TEXT_BYTES: Final = 256
MAX_PAYLOAD_REFERENCE_BYTES: Final = 256
MAX_SOURCE_RANGE_EVENTS: Final = 100_000
# The integer types of the contract: counters are unsigned 64-bit, sizes signed 64-bit, schema versions unsigned 32-bit.
MAX_COUNTER: Final = 2**64 - 1
MAX_SIZE: Final = 2**63 - 1
MAX_SCHEMA_VERSION: Final = 2**32 - 1

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


# ---- single values


def _identifier_fault(text: object, max_bytes: int) -> str:
    """Why `text` is no identifier of at most `max_bytes`, or "" when it is one."""
    if not isinstance(text, str):
        return "must be text"
    if not text.strip():
        return "must not be blank"
    if _CONTROL.search(text):
        return "must not contain control characters"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return "must not contain lone surrogates"
    return f"must be at most {max_bytes} bytes of UTF-8" if size > max_bytes else ""


def is_identifier(text: object) -> bool:
    """Whether `text` can name a session, an operation or an owner: what no store needs to look up otherwise."""
    return not _identifier_fault(text, MAX_IDENTIFIER_BYTES)


def is_prefix(text: object) -> bool:
    """Whether an identifier can begin with `text`."""
    # Blank so far is no fault of a beginning; what the length bound leaves no room for is.
    return isinstance(text, str) and not _identifier_fault(
        text + "x" if not text.strip() else text, MAX_IDENTIFIER_BYTES
    )


def identifier(text: object, field: str, max_bytes: int = MAX_IDENTIFIER_BYTES) -> None:
    """Not blank, no control character, no lone surrogate, at most `max_bytes` of UTF-8."""
    if fault := _identifier_fault(text, max_bytes):
        raise InvalidRecordError(field, fault)


def counter(value: object, field: str, *, positive: bool = False, maximum: int = MAX_COUNTER) -> None:
    """An integer from 0 (or 1) to `maximum`. A bool or a float is none, whatever its value."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidRecordError(field, "must be an integer")
    if value < 0 or value > maximum:
        raise InvalidRecordError(field, f"must be between 0 and {maximum}")
    if positive and value == 0:
        raise InvalidRecordError(field, "must be positive")


def _size(value: object, field: str) -> None:
    if isinstance(value, int) and not isinstance(value, bool) and value < 0:
        raise InvalidRecordError(field, "must not be negative")
    counter(value, field, maximum=MAX_SIZE)


def _items(value: object, field: str) -> None:
    if not isinstance(value, (tuple, list)):
        raise InvalidRecordError(field, "must be a sequence of records")


# ---- records


def source_id(value: records.SourceID, prefix: str = "") -> None:
    """`SourceID`: an identifier and a counter."""
    identifier(value.session_id, f"{prefix}session_id")
    counter(value.sequence, f"{prefix}sequence")


def source_event(value: records.SourceEvent, prefix: str = "") -> None:
    """`SourceEvent`: valid id, required and optional texts in bounds, size not negative."""
    source_id(value.id, f"{prefix}id.")
    identifier(value.kind, f"{prefix}kind", MAX_EVENT_TEXT_BYTES)
    identifier(value.role, f"{prefix}role", MAX_EVENT_TEXT_BYTES)
    if value.tool_call_id != "":
        identifier(value.tool_call_id, f"{prefix}tool_call_id")
    if value.payload_ref != "":
        identifier(value.payload_ref, f"{prefix}payload_ref", MAX_PAYLOAD_REFERENCE_BYTES)
    identifier(value.provenance, f"{prefix}provenance", MAX_EVENT_TEXT_BYTES)
    identifier(value.redaction_status, f"{prefix}redaction_status", MAX_EVENT_TEXT_BYTES)
    _size(value.size, f"{prefix}size")


def source_range(value: records.SourceRange, prefix: str = "") -> None:
    """`SourceRange`: two valid ids of one session, in order, `end - start` below `MAX_SOURCE_RANGE_EVENTS`."""
    source_id(value.start, f"{prefix}start.")
    source_id(value.end, f"{prefix}end.")
    if value.end.session_id != value.start.session_id:
        raise InvalidRecordError(f"{prefix}end.session_id", "must be the session of the start")
    if value.end.sequence < value.start.sequence:
        raise InvalidRecordError(f"{prefix}end.sequence", "must not be before the start")
    if value.end.sequence - value.start.sequence >= MAX_SOURCE_RANGE_EVENTS:
        raise InvalidRecordError(f"{prefix}end.sequence", f"must span at most {MAX_SOURCE_RANGE_EVENTS} events")


def revision(value: records.Revision, prefix: str = "") -> None:
    """`Revision`: three counters."""
    counter(value.session, f"{prefix}session")
    counter(value.durable, f"{prefix}durable")
    counter(value.source, f"{prefix}source")


def binding_revision(value: records.BindingRevision, prefix: str = "") -> None:
    """`BindingRevision`: two identifiers and a positive generation."""
    identifier(value.provider, f"{prefix}provider")
    identifier(value.model, f"{prefix}model")
    counter(value.generation, f"{prefix}generation", positive=True)


def checkpoint_id(value: records.CheckpointID, prefix: str = "") -> None:
    """`CheckpointID`: identifiers, a valid range of the same session, a positive schema version."""
    identifier(value.session_id, f"{prefix}session_id")
    source_range(value.source_range, f"{prefix}source_range.")
    if value.source_range.start.session_id != value.session_id:
        raise InvalidRecordError(f"{prefix}source_range.start.session_id", "must be the session of the checkpoint")
    identifier(value.algorithm, f"{prefix}algorithm", MAX_ALGORITHM_BYTES)
    counter(value.schema_version, f"{prefix}schema_version", positive=True, maximum=MAX_SCHEMA_VERSION)
    identifier(value.idempotency_key, f"{prefix}idempotency_key")


def checkpoint(value: records.Checkpoint, prefix: str = "") -> None:
    """`Checkpoint`: valid id, counters and binding, an active context, a positive turn."""
    checkpoint_id(value.id, f"{prefix}id.")
    revision(value.revision, f"{prefix}revision.")
    binding_revision(value.binding, f"{prefix}binding.")
    if not isinstance(value.active_context, bytes):
        raise InvalidRecordError(f"{prefix}active_context", "must be bytes")
    if not value.active_context:
        raise InvalidRecordError(f"{prefix}active_context", "must not be empty")
    counter(value.turn_id, f"{prefix}turn_id", positive=True)


def content_ref(value: records.ContentRef, prefix: str = "") -> None:
    """`ContentRef`: canonical ref, the same digest, identifiers, size not negative."""
    if not isinstance(value.ref, str) or not is_ref(value.ref):
        raise InvalidRecordError(f"{prefix}ref", "must be sha256: and 64 lowercase hexadecimal digits")
    identifier(value.namespace, f"{prefix}namespace")
    if value.sha256 != value.ref.removeprefix("sha256:"):
        raise InvalidRecordError(f"{prefix}sha256", "must be the digest of the ref")
    identifier(value.workspace_id, f"{prefix}workspace_id")
    identifier(value.session_id, f"{prefix}session_id")
    identifier(value.subject_id, f"{prefix}subject_id")
    _size(value.size, f"{prefix}size")


def payload_bytes(value: records.PayloadRecord, prefix: str = "") -> None:
    """The data has the length and the digest of the ref. Unlike `payload_record`, of empty data too."""
    if len(value.data) != value.ref.size:
        raise InvalidRecordError(f"{prefix}data", "must have the length of the ref")
    if digest(value.data) != value.ref.sha256:
        raise InvalidRecordError(f"{prefix}data", "must have the digest of the ref")


def payload_record(value: records.PayloadRecord, prefix: str = "") -> None:
    """`PayloadRecord`: valid ref, some retention class, and data (when present) that is the ref's."""
    content_ref(value.ref, f"{prefix}ref.")
    if not isinstance(value.retention, str) or not value.retention:
        raise InvalidRecordError(f"{prefix}retention", "must name a retention class")
    if not isinstance(value.revoked, bool):
        raise InvalidRecordError(f"{prefix}revoked", "must be true or false")
    if not isinstance(value.data, bytes):
        raise InvalidRecordError(f"{prefix}data", "must be bytes")
    if value.data:
        payload_bytes(value, prefix)


def limits(value: records.Limits) -> None:
    """`Limits`: no field is negative."""
    for field in ("checkpoint_bytes", "commit_events", "commit_event_bytes"):
        _size(getattr(value, field), field)


# ---- a commit request


def commit_request(request: records.CommitRequest) -> None:
    """`CommitRequest`: identity, then revision, events, payloads, checkpoint."""
    _identity(request)
    _revisions(request)
    _events(request)
    _payloads(request)
    _checkpoint(request)


def _identity(request: records.CommitRequest) -> None:
    identifier(request.session_id, "session_id")
    identifier(request.operation_id, "operation_id")
    binding_revision(request.expected_binding, "expected_binding.")
    binding_revision(request.new_binding, "new_binding.")


def _revisions(request: records.CommitRequest) -> None:
    revision(request.expected, "expected.")
    # The events are checked later, but their number is part of the new revision.
    _items(request.new_source_events, "new_source_events")
    events = len(request.new_source_events)
    for field, expected in (
        ("new_session", request.expected.session + 1),
        ("new_durable", request.expected.durable + 1),
        ("new_source_sequence", request.expected.source + events),
    ):
        value = getattr(request, field)
        # Bounded first: a counter at its maximum has no successor, so nothing wraps around to 0.
        counter(value, field)
        if value != expected:
            raise InvalidRecordError(field, "must follow from the expected revision")


def _events(request: records.CommitRequest) -> None:
    for index, event in enumerate(request.new_source_events):
        path = f"new_source_events[{index}]."
        source_event(event, path)
        if event.id.session_id != request.session_id:
            raise InvalidRecordError(f"{path}id.session_id", "must be the session of the request")
        if event.id.sequence != request.expected.source + 1 + index:
            raise InvalidRecordError(f"{path}id.sequence", "must continue the source log without a gap")


def _payloads(request: records.CommitRequest) -> None:
    _items(request.payloads, "payloads")
    for index, record in enumerate(request.payloads):
        path = f"payloads[{index}]."
        payload_record(record, path)
        if record.ref.session_id != request.session_id:
            raise InvalidRecordError(f"{path}ref.session_id", "must be the session of the request")


def _checkpoint(request: records.CommitRequest) -> None:
    value = request.checkpoint
    checkpoint(value, "checkpoint.")
    if value.id.session_id != request.session_id:
        raise InvalidRecordError("checkpoint.id.session_id", "must be the session of the request")
    new = (request.new_session, request.new_durable, request.new_source_sequence)
    if (value.revision.session, value.revision.durable, value.revision.source) != new:
        raise InvalidRecordError("checkpoint.revision", "must be the new revision")
    if value.binding != request.new_binding:
        raise InvalidRecordError("checkpoint.binding", "must be the new binding")
    counter(request.turn_id, "turn_id", positive=True)
    if value.turn_id != request.turn_id:
        raise InvalidRecordError("checkpoint.turn_id", "must be the turn of the request")
    covered = value.id.source_range
    if covered.end.sequence != request.new_source_sequence:
        raise InvalidRecordError("checkpoint.id.source_range.end.sequence", "must be the last event")
    if request.new_source_events and covered.start.sequence > request.expected.source + 1:
        raise InvalidRecordError("checkpoint.id.source_range.start.sequence", "must cover the new events")


# ---- what a store asks of a valid request


def within_limits(request: records.CommitRequest, bounds: records.Limits) -> None:
    """Raise `OverLimitError` for the first bound that the commit is above; 0 bounds nothing."""
    for field, value in (
        ("checkpoint_bytes", len(request.checkpoint.active_context)),
        ("commit_events", len(request.new_source_events)),
        ("commit_event_bytes", sum(event.size for event in request.new_source_events)),
    ):
        bound = getattr(bounds, field)
        if bound and value > bound:
            raise OverLimitError(field, value, bound)


def opens_session(request: records.CommitRequest) -> None:
    """Raise `StaleRevisionError` unless the request may create a session: it must expect zero."""
    expected = request.expected
    if (expected.session, expected.durable, expected.source) != (0, 0, 0):
        raise StaleRevisionError(request.session_id, expected, None)


def continues_session(
    request: records.CommitRequest, revision: records.Revision, binding: records.BindingRevision
) -> None:
    """Raise `StaleRevisionError`, then `StaleBindingError`, unless the request expects what the session is at."""
    if request.expected != revision:
        raise StaleRevisionError(request.session_id, request.expected, revision)
    if request.expected_binding != binding:
        raise StaleBindingError(request.session_id, request.expected_binding, binding)
