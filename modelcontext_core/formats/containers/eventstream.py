"""AWS event streams: binary frames of headers and a payload, as `application/vnd.amazon.eventstream` defines them.

A frame is its total length and the length of its headers (4 bytes each), a CRC-32 of these, the headers, the payload,
and a CRC-32 of all that. A header is the length of its name, the name, a type, and a value that the type measures.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from modelcontext_core.formats.base import NoticeKind
from modelcontext_core.formats.containers.jsonload import BadJson, loads
from modelcontext_core.limits import MAX_RECORD_BYTES

__all__ = ["Frame", "looks_like_eventstream", "split_frames"]

Report = Callable[[NoticeKind, str, str], None]

_PRELUDE: Final = struct.Struct(">III")
_AROUND: Final = _PRELUDE.size + 4  # the prelude before the headers, and the CRC after the payload
# The length of a header's value by its type; -1: two bytes before the value say it.
_VALUE_LENGTHS: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 6: -1, 7: -1, 8: 8, 9: 16}
_STRING: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A frame: its number, its event (or exception) type, its payload without any wrapping."""

    number: int
    name: str
    payload: bytes

    @property
    def where(self) -> str:
        """The frame for a notice."""
        return f"frame {self.number}"


def looks_like_eventstream(head: bytes) -> bool:
    """True when the first bytes are the prelude of a frame that has a type."""
    return head[:1] == b"\0" and any(
        key in head[:200] for key in (b":event-type", b":message-type", b":exception-type")
    )


def split_frames(chunks: Iterable[bytes], report: Report) -> Iterator[Frame]:
    """The frames of a stream. A wrong checksum is reported and the frame still read; wrong lengths end the reading."""
    buffer = bytearray()
    number = 0
    for chunk in chunks:
        buffer += chunk
        while len(buffer) >= _PRELUDE.size:
            total, headers, checksum = _PRELUDE.unpack_from(buffer)
            if not _AROUND + headers <= total <= MAX_RECORD_BYTES:
                where = f"frame {number + 1}"
                report("damaged", where, "the lengths of a frame make no sense: what follows is not read")
                return
            if len(buffer) < total:
                break
            number += 1
            frame = bytes(buffer[:total])
            del buffer[:total]
            if zlib.crc32(frame[:8]) != checksum or zlib.crc32(frame[:-4]) != int.from_bytes(frame[-4:], "big"):
                report("damaged", f"frame {number}", "the checksum of a frame is wrong: it is read as it stands")
            start = _PRELUDE.size + headers
            fields = _headers(frame[_PRELUDE.size : start])
            name = fields.get(":event-type") or fields.get(":exception-type") or fields.get(":error-code", "")
            yield Frame(number=number, name=name, payload=_unwrapped(frame[start:-4]))
    if buffer:
        report("damaged", f"frame {number + 1}", "the stream ends inside a frame, which is not read")


def _headers(data: bytes) -> dict[str, str]:
    """The headers whose values are strings; what is broken ends them."""
    found: dict[str, str] = {}
    position = 0
    while position < len(data):
        name_end = position + 1 + data[position]
        name = data[position + 1 : name_end].decode("utf-8", "replace")
        kind = data[name_end] if name_end < len(data) else -1
        length = _VALUE_LENGTHS.get(kind)
        if length is None:
            break
        position = name_end + 1
        if length < 0:
            length = int.from_bytes(data[position : position + 2], "big")
            position += 2
        if kind == _STRING:
            found[name] = data[position : position + length].decode("utf-8", "replace")
        position += length
    return found


def _unwrapped(payload: bytes) -> bytes:
    """The vendor's own event in `{"bytes": "<base64>"}`, as model invocations send it, else the payload itself."""
    if not payload.startswith(b'{"bytes"'):
        return payload
    try:
        value = loads(payload)
        return base64.b64decode(value["bytes"], validate=True)
    except (BadJson, KeyError, TypeError, ValueError, binascii.Error):
        return payload
