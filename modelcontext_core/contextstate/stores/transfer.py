"""The file form of an exported session: JSON Lines in a chain.

Each line is `{"chain":"<sha256>","item":<item>}`: the chain is the digest of the previous line's chain and of this
item's bytes, so a line that was changed, moved, doubled or left out is refused where it stands. Items, in this order:

- `session`: format, version, session id.
- `bytes`: bytes that a line after it needs and no line before gave: an active context or a payload.
- `commit`: the request in its JSON form without any bytes; `context` is the digest of its active context; `given` says
  of each payload whether the original request had data and whether it was put as revoked.
- `payload`: a holder as it is now. A revoked payload has its reference and `revoked`, and its bytes nowhere.
- `end`: how many commits and payloads there were.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from modelcontext_core.contextstate.errors import InvalidRecordError
from modelcontext_core.contextstate.jsonio import read_json, read_object, write_json

__all__ = ["EXPORT_FORMAT", "EXPORT_VERSION", "ITEM_KEYS", "ChainWriter", "read_chain"]

EXPORT_FORMAT: Final = "contextstate-export"
EXPORT_VERSION: Final = 1

# The keys of each item beside `type`; all are required, no other is allowed.
ITEM_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "session": frozenset({"format", "version", "session_id"}),
    "bytes": frozenset({"sha256", "data"}),
    "commit": frozenset({"request", "context", "given"}),
    "payload": frozenset({"record", "stored"}),
    "end": frozenset({"commits", "payloads"}),
}

_HEAD: Final = b'{"chain":"'
_MIDDLE: Final = b'","item":'
_TAIL: Final = b"}"
_BODY_START: Final = len(_HEAD) + 64 + len(_MIDDLE)


def _link(previous: str, body: bytes) -> str:
    return hashlib.sha256(previous.encode("ascii") + body).hexdigest()


class ChainWriter:
    """Writes items as chained lines."""

    def __init__(self) -> None:
        self._chain = ""

    def line(self, kind: str, **members: Any) -> bytes:
        """The next line, newline included."""
        body = write_json({"type": kind, **members})
        self._chain = _link(self._chain, body)
        return _HEAD + self._chain.encode("ascii") + _MIDDLE + body + _TAIL + b"\n"


def read_chain(lines: Iterable[bytes] | bytes) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Line number, type and members of each item; raises `InvalidRecordError` at the first line that is none.

    A `bytes` value is taken as the whole file.
    """
    if isinstance(lines, bytes):
        lines = io.BytesIO(lines)
    chain = ""
    for number, line in enumerate(lines, start=1):
        try:
            chain, kind, members = _read_line(chain, line.rstrip(b"\r\n"))
        except InvalidRecordError as error:
            error.line = number
            raise
        yield number, kind, members


def _read_line(previous: str, line: bytes) -> tuple[str, str, dict[str, Any]]:
    body = line[_BODY_START : -len(_TAIL)]
    chain = _link(previous, body)
    # Compared as written: there is one form of a line only.
    if line != _HEAD + chain.encode("ascii") + _MIDDLE + body + _TAIL:
        raise InvalidRecordError("chain", "must continue the lines before: this line is damaged, moved or foreign")
    members = read_object(read_json(body), "item")
    kind = members.pop("type", None)
    if not isinstance(kind, str) or kind not in ITEM_KEYS:
        raise InvalidRecordError("item.type", "unknown")
    if members.keys() != ITEM_KEYS[kind]:
        raise InvalidRecordError("item", f"must have the keys of {kind}")
    return chain, kind, members
