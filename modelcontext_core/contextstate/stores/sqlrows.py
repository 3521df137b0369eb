"""`Rows` in SQL, for every store that speaks it: one set of statements, and values that both drivers keep exactly.

Statements mark parameters with `?`. Free texts (retention classes) and JSON are kept as bytes, since databases differ
in which texts they take; identifiers are validated and go in as text. Counters up to 2^64-1 stay inside the JSON.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any, Final, TypeVar

from modelcontext_core.contextstate.errors import DamagedStoreError, InvalidRecordError
from modelcontext_core.contextstate.jsonio import from_tree, read_json, read_object, to_tree, write_json
from modelcontext_core.contextstate.listings import Attempt, Outcome, PayloadTotals
from modelcontext_core.contextstate.records import (
    BindingRevision,
    ContentRef,
    PayloadRecord,
    Revision,
    SourceEvent,
    SourceID,
)
from modelcontext_core.contextstate.stores.rows import (
    CommitRow,
    GivenPayload,
    HolderRow,
    PayloadState,
    SessionRow,
    sum_totals,
)

__all__ = [
    "RowReader",
    "holder_seal",
    "pack_commit",
    "pack_event",
    "pack_json",
    "pack_text",
    "to_micros",
    "upper_bound",
]

T = TypeVar("T")

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# What reading a value that is not what was written can raise.
_FAULTS: Final = (InvalidRecordError, TypeError, ValueError, KeyError, AttributeError, OverflowError)


def pack_json(tree: object) -> bytes:
    """JSON as it is stored."""
    return write_json(tree)


def pack_text(text: str) -> bytes:
    """Any text as bytes, NUL and lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def to_micros(at: datetime) -> int:
    """Microseconds since 1970 in UTC, exactly."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def upper_bound(prefix: str) -> str | None:
    """The smallest text above everything that starts with `prefix`, in code point order; None when there is none."""
    for index in range(len(prefix) - 1, -1, -1):
        following = ord(prefix[index]) + 1
        if following == 0xD800:
            following = 0xE000
        if following <= 0x10FFFF:
            return prefix[:index] + chr(following)
    return None


def pack_event(event: SourceEvent) -> bytes:
    """An event less its id, which the row's key says."""
    tree = to_tree(event)
    del tree["id"]
    return pack_json(tree)


def pack_commit(row: CommitRow) -> bytes:
    """The `details` of a commit."""
    payloads = []
    for given in row.payloads:
        ref = given.record.ref
        payloads.append(
            [
                ref.sha256,
                ref.size,
                ref.namespace,
                ref.workspace_id,
                ref.subject_id,
                given.record.retention,
                given.record.revoked,
                given.had_data,
            ]
        )
    details: dict[str, Any] = {
        "binding": to_tree(row.binding),
        "turn_id": row.turn_id,
        "start": row.range_start,
        "algorithm": row.algorithm,
        "schema_version": row.schema_version,
    }
    # Mostly the same as the new binding, and as the operation key.
    if row.expected_binding != row.binding:
        details["expected_binding"] = to_tree(row.expected_binding)
    if row.idempotency_key != row.operation_id:
        details["idempotency_key"] = row.idempotency_key
    if payloads:
        details["payloads"] = payloads
    return pack_json(details)


def holder_seal(record: PayloadRecord) -> bytes:
    """A digest over a holder's fields: a commit has its fingerprint, a put has nothing else to be checked against."""
    ref = record.ref
    fields = [ref.sha256, ref.session_id, ref.namespace, ref.workspace_id, ref.subject_id, ref.size, record.retention]
    return hashlib.sha256(pack_json(fields)).digest()[:16]


class RowReader:
    """Makes records of database rows; raises `DamagedStoreError` with the place of one that is none."""

    def __init__(self, location: str) -> None:
        self._location = location

    def _guard(self, where: str, read: Callable[[], T]) -> T:
        try:
            return read()
        except _FAULTS as error:
            raise DamagedStoreError(self._location, where, "what is stored of it cannot be read") from error

    def blob(self, where: str, rows: Sequence[Sequence[Any]]) -> bytes | None:
        """The bytes in a single row of one column, None without a row."""
        return self._guard(where, lambda: _bytes(rows[0][0])) if rows else None

    def session(self, row: Sequence[Any]) -> SessionRow:
        """From no, id, session, durable, source, binding."""
        number, session_id, session, durable, source, binding = row
        return self._guard(
            "head",
            lambda: SessionRow(
                number=_int(number),
                session_id=_str(session_id),
                revision=Revision(session=_int(session), durable=_int(durable), source=_int(source)),
                binding=from_tree(BindingRevision, read_json(binding)),
            ),
        )

    def ids(self, rows: Sequence[Sequence[Any]]) -> list[str]:
        """From id."""
        return self._guard("head", lambda: [_str(value) for (value,) in rows])

    def revisions(self, rows: Sequence[Sequence[Any]]) -> list[int]:
        """From session, up to the first that is none."""
        found = list(takewhile(lambda value: isinstance(value, int), (value for (value,) in rows)))
        return self._guard("checkpoints", lambda: [_int(rows[0][0])]) if rows and not found else found

    def commit(self, session_id: str, row: Sequence[Any]) -> CommitRow:
        """From the columns of `cs_commit` after `session_no`."""
        return self._guard(_numbered("checkpoint", row[0]), lambda: _commit(session_id, row))

    def event(self, session_id: str, row: Sequence[Any]) -> SourceEvent:
        """From sequence, body."""
        sequence, body = row

        def read() -> SourceEvent:
            members = read_object(read_json(body))
            event_id = SourceID(session_id=session_id, sequence=_int(sequence))
            values = {"tool_call_id": "", "payload_ref": "", **members}
            event = SourceEvent(id=event_id, **values)
            to_tree(event)  # checks the types
            return event

        return self._guard(_numbered("event", sequence), read)

    def payload(self, row: Sequence[Any]) -> PayloadState:
        """From no, sha256, size, revoked, retention, and whether there are bytes."""
        return self._guard(_payload_name(row[1]), lambda: _payload(row))

    def holder(self, row: Sequence[Any], payload: PayloadState) -> HolderRow:
        """From no, session_id, namespace, workspace_id, subject_id, size, retention, uses, put, seal."""
        return self._guard(f"payload sha256:{payload.sha256}", lambda: _holder(row, payload))

    def held(self, row: Sequence[Any]) -> HolderRow:
        """From the columns of `holder`, those of `payload`, how many holders and how many sessions have the bytes."""

        def read() -> HolderRow:
            holder = _holder(row[:10], _payload(row[10:16]))
            return replace(holder, holders=_int(row[16]), sessions=_int(row[17]))

        return self._guard(_payload_name(row[11]), read)

    def totals(self, rows: Iterable[Sequence[Any]]) -> PayloadTotals:
        """From no, revoked, size, number of holders, uses, whether there are bytes, whether others hold them."""

        def read() -> PayloadTotals:
            return sum_totals(
                (bool(_int(revoked)), _int(size), _int(count), int(uses), bool(stored), bool(elsewhere))
                for _, revoked, size, count, uses, stored, elsewhere in rows
            )

        return self._guard("payloads", read)

    def attempts(self, rows: Iterable[Sequence[Any]]) -> list[Attempt]:
        """From session, operation_id, outcome, at. The log is no part of the contract: what is none is left out."""
        found = []
        for session, operation_id, outcome, at in rows:
            try:
                attempt = Attempt(
                    operation_id=_str(operation_id), outcome=Outcome(outcome), at=_time(at), revision=_int(session)
                )
            except _FAULTS:
                continue
            found.append(attempt)
        return found


def _int(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError("no integer")
    return value


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _bytes(value: Any) -> bytes:
    # Not `bytes(value)`, which makes zeros of a number.
    if not isinstance(value, bytes):
        raise TypeError("no bytes")
    return value


def _unpack_text(data: Any) -> str:
    return _bytes(data).decode("utf-8", "surrogatepass")


def _time(micros: Any) -> datetime:
    return _EPOCH + timedelta(microseconds=_int(micros))


def _numbered(name: str, number: Any) -> str:
    # What stands there instead of a number is quoted nowhere.
    return f"{name} {number}" if isinstance(number, int) else f"{name}s"


def _payload_name(sha256: Any) -> str:
    return f"payload sha256:{sha256.hex()}" if isinstance(sha256, bytes) else "payload"


def _payload(row: Sequence[Any]) -> PayloadState:
    number, sha256, size, revoked, retention, stored = row
    return PayloadState(
        number=_int(number),
        sha256=_bytes(sha256).hex(),
        size=None if size is None else _int(size),
        revoked=bool(_int(revoked)),
        stored=bool(stored),
        retention=_unpack_text(retention),
    )


def _holder(row: Sequence[Any], payload: PayloadState) -> HolderRow:
    number, session_id, namespace, workspace_id, subject_id, size, retention, uses, put, seal = row
    ref = ContentRef(
        ref=f"sha256:{payload.sha256}",
        namespace=_str(namespace),
        sha256=payload.sha256,
        workspace_id=_str(workspace_id),
        session_id=_str(session_id),
        subject_id=_str(subject_id),
        size=_int(size),
    )
    record = PayloadRecord(ref=ref, retention=_unpack_text(retention))
    return HolderRow(
        number=_int(number),
        payload=payload,
        ref=ref,
        retention=record.retention,
        uses=_int(uses),
        put=_int(put),
        sound=_bytes(seal) == holder_seal(record),
    )


def _commit(session_id: str, row: Sequence[Any]) -> CommitRow:
    session, durable, source, events, operation_id, fingerprint, details, context_sha256, context_bytes, at = row
    members = read_object(read_json(details))
    binding = from_tree(BindingRevision, members["binding"])
    expected = members.get("expected_binding")
    return CommitRow(
        session_id=session_id,
        revision=Revision(session=_int(session), durable=_int(durable), source=_int(source)),
        events=_int(events),
        operation_id=_str(operation_id),
        fingerprint=_bytes(fingerprint),
        expected_binding=binding if expected is None else from_tree(BindingRevision, expected),
        binding=binding,
        turn_id=_int(members["turn_id"]),
        range_start=_int(members["start"]),
        algorithm=_str(members["algorithm"]),
        schema_version=_int(members["schema_version"]),
        idempotency_key=_str(members.get("idempotency_key", operation_id)),
        payloads=tuple(_given(session_id, item) for item in members.get("payloads", ())),
        context_sha256=_bytes(context_sha256).hex(),
        context_bytes=_int(context_bytes),
        committed_at=_time(at),
    )


def _given(session_id: str, item: Sequence[Any]) -> GivenPayload:
    sha256, size, namespace, workspace_id, subject_id, retention, revoked, had_data = item
    ref = ContentRef(
        ref=f"sha256:{_str(sha256)}",
        namespace=_str(namespace),
        sha256=sha256,
        workspace_id=_str(workspace_id),
        session_id=session_id,
        subject_id=_str(subject_id),
        size=_int(size),
    )
    record = PayloadRecord(ref=ref, retention=_str(retention), revoked=bool(revoked))
    return GivenPayload(record=record, had_data=bool(had_data))
