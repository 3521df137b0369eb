"""Records as JSON and back, exactly.

The keys are the contract's, bytes are standard base64, and `tool_call_id`, `payload_ref`, `payloads` and `data` are
left out when empty. `from_json(type(value), to_json(value)) == value` for every value whose fields have their types,
lone surrogates and numbers up to 2^64-1 included. Reading checks form only; `validate()` is a step of its own.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeVar, cast

from modelcontext_core.contextstate import records
from modelcontext_core.contextstate.errors import InvalidRecordError
from modelcontext_core.contextstate.validation import MAX_COUNTER, MAX_SCHEMA_VERSION, MAX_SIZE

__all__ = ["from_json", "from_tree", "read_bytes", "read_json", "read_object", "to_json", "to_tree", "write_json"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one field is written and read: both raise `InvalidRecordError` at the path they are given."""

    write: Callable[[Any, str], Any]
    read: Callable[[Any, str], Any]


class _Pairs(list[tuple[str, Any]]):
    """A JSON object before anybody looked for duplicate keys."""


# ---- the fields of each record, in the order of the contract


def _same(check: Callable[[Any, str], Any]) -> _Kind:
    return _Kind(check, check)


def _text(value: Any, path: str) -> Any:
    if not isinstance(value, str):
        raise InvalidRecordError(path, "must be text")
    return value


def _boolean(value: Any, path: str) -> Any:
    if not isinstance(value, bool):
        raise InvalidRecordError(path, "must be true or false")
    return value


def _integer(low: int, high: int) -> _Kind:
    def check(value: Any, path: str) -> Any:
        if not isinstance(value, int) or isinstance(value, bool):
            raise InvalidRecordError(path, "must be an integer")
        if not low <= value <= high:
            raise InvalidRecordError(path, f"must be between {low} and {high}")
        return value

    return _same(check)


def _write_bytes(value: Any, path: str) -> str:
    if not isinstance(value, bytes):
        raise InvalidRecordError(path, "must be bytes")
    return base64.b64encode(value).decode("ascii")


def read_bytes(value: Any, path: str) -> bytes:
    """The bytes of a standard base64 text; raises `InvalidRecordError` at `path`."""
    text = _text(value, path)
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRecordError(path, "must be standard base64") from error
    # Bits beyond the last byte would be lost: only the form that encoding gives is read.
    if base64.b64encode(data).decode("ascii") != text:
        raise InvalidRecordError(path, "must be standard base64")
    return data


def _record(kind: type) -> _Kind:
    return _Kind(lambda value, path: _write(kind, value, path), lambda value, path: _read(kind, value, path))


def _many(kind: type) -> _Kind:
    def write(value: Any, path: str) -> list[Any]:
        if not isinstance(value, (tuple, list)):
            raise InvalidRecordError(path, "must be a sequence of records")
        return [_write(kind, item, f"{path}[{index}]") for index, item in enumerate(value)]

    def read(value: Any, path: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or isinstance(value, _Pairs):
            raise InvalidRecordError(path, "must be an array")
        return tuple(_read(kind, item, f"{path}[{index}]") for index, item in enumerate(value))

    return _Kind(write, read)


_TEXT: Final = _same(_text)
_BOOLEAN: Final = _same(_boolean)
_BYTES: Final = _Kind(_write_bytes, read_bytes)
_COUNTER: Final = _integer(0, MAX_COUNTER)
_SIZE: Final = _integer(-MAX_SIZE - 1, MAX_SIZE)
_REVISION: Final = _record(records.Revision)
_BINDING: Final = _record(records.BindingRevision)

_FIELDS: Final[Mapping[type, Mapping[str, _Kind]]] = {
    records.ContentRef: {
        "ref": _TEXT,
        "namespace": _TEXT,
        "sha256": _TEXT,
        "workspace_id": _TEXT,
        "session_id": _TEXT,
        "subject_id": _TEXT,
        "size": _SIZE,
    },
    records.PayloadRecord: {
        "ref": _record(records.ContentRef),
        "retention": _TEXT,
        "revoked": _BOOLEAN,
        "data": _BYTES,
    },
    records.SourceID: {"session_id": _TEXT, "sequence": _COUNTER},
    records.SourceEvent: {
        "id": _record(records.SourceID),
        "kind": _TEXT,
        "role": _TEXT,
        "tool_call_id": _TEXT,
        "payload_ref": _TEXT,
        "provenance": _TEXT,
        "redaction_status": _TEXT,
        "size": _SIZE,
    },
    records.SourceRange: {"start": _record(records.SourceID), "end": _record(records.SourceID)},
    records.Revision: {"session": _COUNTER, "durable": _COUNTER, "source": _COUNTER},
    records.BindingRevision: {"provider": _TEXT, "model": _TEXT, "generation": _COUNTER},
    records.CheckpointID: {
        "session_id": _TEXT,
        "source_range": _record(records.SourceRange),
        "algorithm": _TEXT,
        "schema_version": _integer(0, MAX_SCHEMA_VERSION),
        "idempotency_key": _TEXT,
    },
    records.Checkpoint: {
        "id": _record(records.CheckpointID),
        "revision": _REVISION,
        "binding": _BINDING,
        "active_context": _BYTES,
        "turn_id": _COUNTER,
    },
    records.CommitRequest: {
        "operation_id": _TEXT,
        "session_id": _TEXT,
        "expected": _REVISION,
        "expected_binding": _BINDING,
        "new_source_events": _many(records.SourceEvent),
        "payloads": _many(records.PayloadRecord),
        "checkpoint": _record(records.Checkpoint),
        "new_session": _COUNTER,
        "new_durable": _COUNTER,
        "new_source_sequence": _COUNTER,
        "new_binding": _BINDING,
        "turn_id": _COUNTER,
    },
    records.Session: {
        "revision": _REVISION,
        "binding": _BINDING,
        "active": _record(records.Checkpoint),
        "source": _many(records.SourceEvent),
    },
}
# Left out when empty, and so not missed when reading.
_OPTIONAL: Final[Mapping[type, frozenset[str]]] = {
    records.SourceEvent: frozenset({"tool_call_id", "payload_ref"}),
    records.PayloadRecord: frozenset({"data"}),
    records.CommitRequest: frozenset({"payloads"}),
}


# ---- one value


def to_json(value: object) -> bytes:
    """The record as one line of ASCII JSON.

    Raises `InvalidRecordError` with the path of a field that is not of its type, since it could not be read back, and
    `TypeError` for a value that is no record.
    """
    return write_json(to_tree(value))


def from_json(kind: type[T], data: bytes) -> T:
    """The record of `kind` in `data`.

    Raises `InvalidRecordError` with the path of the culprit: malformed JSON, unknown, missing or duplicate keys, wrong
    types, numbers out of range, bad base64. The record is not validated.
    """
    return from_tree(kind, read_json(data))


def to_tree(value: object) -> dict[str, Any]:
    """The record as dictionaries, lists and scalars; errors as `to_json`."""
    if type(value) not in _FIELDS:
        raise TypeError(f"{type(value).__name__} is no record with a JSON form")
    return _write(type(value), value, "")


def from_tree(kind: type[T], tree: object, path: str = "") -> T:
    """The record of `kind` in a tree that `read_json` gave; errors as `from_json`, with paths that begin at `path`."""
    if kind not in _FIELDS:
        raise TypeError(f"{kind.__name__} is no record with a JSON form")
    return cast(T, _read(kind, tree, path))


def write_json(tree: object) -> bytes:
    """Compact ASCII JSON: every text has one form, lone surrogates included."""
    return json.dumps(tree, separators=(",", ":"), allow_nan=False).encode("ascii")


def read_json(data: bytes) -> Any:
    """The JSON value of `data`, with objects as lists of pairs so that duplicate keys are still there.

    Raises `InvalidRecordError` (field "") for what is no JSON in UTF-8.
    """
    try:
        text = data.decode("utf-8")
        return json.loads(
            text,
            object_pairs_hook=_Pairs,
            parse_int=_parse_integer,
            parse_constant=_reject_constant,
        )
    except UnicodeDecodeError as error:
        raise InvalidRecordError("", f"not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise InvalidRecordError("", f"not JSON at character {error.pos}") from error
    except RecursionError as error:
        raise InvalidRecordError("", "nested too deeply") from error


def _parse_integer(text: str) -> int:
    # Python refuses to convert thousands of digits; whatever is this long is out of every range.
    return int(text) if len(text) <= 30 else int(text[:30])


def _reject_constant(text: str) -> NoReturn:
    raise InvalidRecordError("", f"{text} is no JSON")


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _write(kind: type, value: Any, path: str) -> dict[str, Any]:
    if type(value) is not kind:
        raise InvalidRecordError(path, f"must be a {kind.__name__}")
    optional = _OPTIONAL.get(kind, frozenset())
    tree = {}
    for key, field in _FIELDS[kind].items():
        written = field.write(getattr(value, key), _join(path, key))
        if written or key not in optional:
            tree[key] = written
    return tree


def _read(kind: type, tree: Any, path: str) -> Any:
    members = read_object(tree, path)
    fields = _FIELDS[kind]
    for key in members:
        if key not in fields:
            raise InvalidRecordError(_join(path, key), "unknown key")
    optional = _OPTIONAL.get(kind, frozenset())
    values = {}
    for key, field in fields.items():
        if key in members:
            values[key] = field.read(members[key], _join(path, key))
        elif key not in optional:
            raise InvalidRecordError(_join(path, key), "missing")
    return kind(**values)


def read_object(tree: object, path: str = "") -> dict[str, Any]:
    """The members of an object that `read_json` gave; raises `InvalidRecordError` for another value or a key twice."""
    if not isinstance(tree, _Pairs):
        raise InvalidRecordError(path, "must be an object")
    members: dict[str, Any] = {}
    for key, value in tree:
        if key in members:
            raise InvalidRecordError(_join(path, key), "duplicate key")
        members[key] = value
    return members
