"""Cut a stream of bytes into lines, or into JSON values one after another, holding one of them at a time.

Nothing larger than `MAX_RECORD_BYTES` is ever kept: it is read past and reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from modelcontext_core.formats.containers.jsonload import LEVEL
from modelcontext_core.limits import MAX_RECORD_BYTES

__all__ = ["Piece", "split_lines", "split_values"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A line or a value. `number` counts from 1. `data` is `None` for one above the limit; `cut` is true when the
    stream ended inside it."""

    number: int
    data: bytes | None
    cut: bool = False


def split_lines(chunks: Iterable[bytes]) -> Iterator[Piece]:
    r"""The lines of a stream, without their ends. Lines end at `\n` and `\r\n` only: U+2028 and the like are text."""
    parts: list[bytes] = []
    size = number = 0
    for chunk in chunks:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            size += end - start
            number += 1
            if size > MAX_RECORD_BYTES:
                yield Piece(number=number, data=None)
            else:
                parts.append(chunk[start:end])
                yield Piece(number=number, data=b"".join(parts).removesuffix(b"\r"))
            parts.clear()
            size = 0
            start = end + 1
        size += len(chunk) - start
        if size > MAX_RECORD_BYTES:
            parts.clear()
        elif start < len(chunk):
            parts.append(chunk[start:])
    if size > MAX_RECORD_BYTES:
        yield Piece(number=number + 1, data=None)
    elif size:
        yield Piece(number=number + 1, data=b"".join(parts).removesuffix(b"\r"), cut=True)


_OUTSIDE = re.compile(rb"[\"\[\]{}]")
_INSIDE = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_BETWEEN = re.compile(rb"[\s,\x00\x1e]*")
_SCALAR = re.compile(rb"[^\s,\]}\[{\"]+")


class _ValueSplitter:
    """A scanner that can stop anywhere and go on with the next bytes."""

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.position = 0  # scanned up to here
        self.start = -1  # of the value that is being read, -1 between values
        self.depth = 0
        self.in_string = False
        self.too_large = False

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """Take bytes; give each value that ends in them (`None` for one above the limit)."""
        self.buffer += chunk
        while self._advance():
            value = None if self.too_large else bytes(self.buffer[self.start : self.position])
            self.start, self.too_large = -1, False
            yield value
        keep = self.position if self.start < 0 or self.too_large else self.start
        del self.buffer[:keep]
        self.position -= keep
        if self.start >= 0:
            self.start = 0
            if len(self.buffer) > MAX_RECORD_BYTES:
                self.too_large = True
                del self.buffer[: self.position]
                self.position = 0

    def _advance(self) -> bool:
        """Scan on; true when a value has just ended at `position`."""
        if self.start < 0 and not self._begin():
            return False
        while True:
            if self.in_string:
                match = _INSIDE.match(self.buffer, self.position)
                self.position = match.end() if match else self.position
                if self.buffer[self.position : self.position + 1] != b'"':
                    return False
                self.position += 1
                self.in_string = False
            else:
                if self.depth:
                    level = LEVEL.match(self.buffer, self.position)
                    self.position = level.end() if level else self.position
                found = _OUTSIDE.search(self.buffer, self.position)
                if not found:
                    self.position = len(self.buffer)
                    return False
                self.position = found.end()
                letter = found.group()
                if letter == b'"':
                    self.in_string = True
                    continue
                self.depth += 1 if letter in b"[{" else -1
            if self.depth <= 0:
                self.depth = 0
                return True

    def _begin(self) -> bool:
        """Find where the next value begins. Scalars other than strings, and stray brackets, are passed over."""
        while True:
            match = _BETWEEN.match(self.buffer, self.position)
            self.position = match.end() if match else self.position
            first = self.buffer[self.position : self.position + 1]
            if not first:
                return False
            if first in b'[{"':
                self.start = self.position
                return True
            scalar = _SCALAR.match(self.buffer, self.position)
            self.position = scalar.end() if scalar else self.position + 1

    @property
    def rest(self) -> bytes | None:
        """The beginning of a value that the stream cut (`b""`: there is none, `None`: it is above the limit)."""
        if self.too_large:
            return None
        return bytes(self.buffer[self.start :]) if self.start >= 0 else b""


def split_values(chunks: Iterable[bytes], *, inside_array: bool = False) -> Iterator[Piece]:
    """The JSON objects, arrays and strings that stand one after another, or `inside_array` as its elements."""
    splitter = _ValueSplitter()
    number = 0
    opened = not inside_array
    for chunk in chunks:
        if not opened:
            chunk = chunk.lstrip(b" \t\r\n")
            if not chunk:
                continue
            chunk, opened = chunk[1:], True
        for value in splitter.feed(chunk):
            number += 1
            yield Piece(number=number, data=value)
    rest = splitter.rest
    if rest is None or rest:
        yield Piece(number=number + 1, data=rest, cut=True)
