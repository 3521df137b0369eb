"""The exceptions of durable session state, one tree.

    ContextStateError
    ├── InvalidRecordError       a record, or the JSON of one, breaks a rule: says field and reason
    ├── SessionNotFoundError     a read of an unknown session
    ├── StaleRevisionError       a commit against a revision that has moved
    ├── StaleBindingError        a commit against a binding that has moved
    ├── CheckpointConflictError  an operation key used again for a different request
    ├── PayloadNotFoundError     a read of an unknown payload
    ├── PayloadRevokedError      a read of the bytes of a revoked payload
    ├── OverLimitError           a commit above a volume limit
    └── StoreError               the store itself: cannot be opened, reached or written
        └── DamagedStoreError    something stored is not what was written

Whatever a store raises on purpose is one of these; driver exceptions stay inside as `__cause__`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modelcontext_core.contextstate.records import BindingRevision, Revision

__all__ = [
    "CheckpointConflictError",
    "ContextStateError",
    "DamagedStoreError",
    "InvalidRecordError",
    "OverLimitError",
    "PayloadNotFoundError",
    "PayloadRevokedError",
    "SessionNotFoundError",
    "StaleBindingError",
    "StaleRevisionError",
    "StoreError",
]


class ContextStateError(Exception):
    """Base of every exception of durable session state.

    `line` is the line of an import at which it happened, counted from 1; 0 outside an import.
    """

    line: int = 0

    def __str__(self) -> str:
        text = super().__str__()
        return f"line {self.line}: {text}" if self.line else text


class InvalidRecordError(ContextStateError):
    """A record that breaks a rule, or JSON that is no record.

    `field` is the JSON path from the record that was validated or read (`new_source_events[1].id.sequence`; empty for
    the value as a whole), `reason` a sentence part without any value of the record.
    """

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        self.reason = reason
        super().__init__(": ".join(filter(None, ("invalid context record", field, reason))))


class SessionNotFoundError(ContextStateError):
    """No session of this id was ever committed here, or it was deleted."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(f"session not found: {session_id!r}")


class StaleRevisionError(ContextStateError):
    """A commit expected a revision that the session is not at. `actual` is None for an unknown session."""

    def __init__(self, session_id: str, expected: Revision, actual: Revision | None) -> None:
        self.session_id = session_id
        self.expected = expected
        self.actual = actual
        found = "no such session" if actual is None else f"it is at {_counters(actual)}"
        super().__init__(f"stale revision of session {session_id!r}: expected {_counters(expected)}, {found}")


class StaleBindingError(ContextStateError):
    """A commit expected a binding (provider, model, generation) that the session no longer has."""

    def __init__(self, session_id: str, expected: BindingRevision, actual: BindingRevision) -> None:
        self.session_id = session_id
        self.expected = expected
        self.actual = actual
        super().__init__(
            f"stale binding of session {session_id!r}: expected {expected.provider}/{expected.model} generation "
            f"{expected.generation}, it is {actual.provider}/{actual.model} generation {actual.generation}"
        )


class CheckpointConflictError(ContextStateError):
    """An operation key was used again for a different request, or an import differs from the stored session."""

    def __init__(self, operation_id: str, reason: str = "the key was used for a different request") -> None:
        self.operation_id = operation_id
        self.reason = reason
        super().__init__(f"checkpoint conflict at operation {operation_id!r}: {reason}")


class PayloadNotFoundError(ContextStateError):
    """No payload is known under this reference."""

    def __init__(self, ref: str) -> None:
        self.ref = ref
        super().__init__(f"payload not found: {ref!r}")


class PayloadRevokedError(ContextStateError):
    """The payload was revoked: its bytes are denied, `status` still answers."""

    def __init__(self, ref: str) -> None:
        self.ref = ref
        super().__init__(f"payload revoked: {ref!r}")


class OverLimitError(ContextStateError):
    """A commit above a volume limit: `limit` is the field of `Limits`, `value` what the commit has, `bound` the cap."""

    def __init__(self, limit: str, value: int, bound: int) -> None:
        self.limit = limit
        self.value = value
        self.bound = bound
        super().__init__(f"commit over volume limit: {limit} is {value}, at most {bound} allowed")


class StoreError(ContextStateError):
    """The store cannot do it: not there, not a store, read-only, newer than this program, or its driver failed."""

    def __init__(self, location: str, reason: str) -> None:
        self.location = location
        self.reason = reason
        super().__init__(f"store {location}: {reason}")


class DamagedStoreError(StoreError):
    """Something stored cannot be read back as it was written.

    `where` names it (`checkpoint 7`, `event 93`), empty where only the store as a whole is known to be damaged; `text`
    says what is wrong with it.
    """

    def __init__(self, location: str, where: str, text: str) -> None:
        self.where = where
        self.text = text
        super().__init__(location, f"{where}: {text}" if where else text)


def _counters(revision: Revision) -> str:
    return f"{revision.session}/{revision.durable}/{revision.source}"
