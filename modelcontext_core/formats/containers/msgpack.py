"""Reads MessagePack as LangGraph's checkpoints use it: plain values, and its extensions for Python objects.

Only data comes out: no class is looked up and nothing is called. Depth and number of values are bounded.
"""

from __future__ import annotations

import struct
from typing import Any, Final

__all__ = ["BadMsgpack", "unpack"]

_DEPTH: Final = 200
_VALUES: Final = 2_000_000
_NUMBERS: Final = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_SIZES: Final = {1: ">B", 2: ">H", 4: ">I"}
_BINARY: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_STRINGS: Final = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_FIXED_EXTENSIONS: Final = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
_EXTENSIONS: Final = {0xC7: 1, 0xC8: 2, 0xC9: 4}
# What LangGraph writes in an extension: [module, class, argument(s), …].
_ONE_ARGUMENT: Final = (0, 3)
_ARGUMENTS: Final = 1
_KEYWORDS: Final = (2, 4, 5)


class BadMsgpack(ValueError):
    """Bytes that are not MessagePack, or beyond the bounds."""


def unpack(data: bytes) -> Any:
    """The value in `data`: dicts with text keys, lists, texts, numbers. An object is a dict with its fields and, where
    these have no `type`, the name of its class as `type`; bytes are a note of their length. Raises `BadMsgpack`."""
    reader = _Reader(data)
    try:
        return reader.value(0)
    except (struct.error, UnicodeDecodeError, RecursionError) as error:
        raise BadMsgpack(f"broken MessagePack: {error}") from None


class _Reader:
    def __init__(self, data: bytes, budget: list[int] | None = None) -> None:
        self.data = data
        self.position = 0
        self.budget = budget if budget is not None else [_VALUES]

    def _take(self, size: int) -> bytes:
        end = self.position + size
        if end > len(self.data):
            raise BadMsgpack("MessagePack that is cut")
        piece = self.data[self.position : end]
        self.position = end
        return piece

    def _number(self, layout: str) -> Any:
        return struct.unpack(layout, self._take(struct.calcsize(layout)))[0]

    def _size(self, width: int) -> int:
        return int(self._number(_SIZES[width]))

    def value(self, depth: int) -> Any:
        """The next value."""
        self.budget[0] -= 1
        if depth > _DEPTH or self.budget[0] < 0:
            raise BadMsgpack("MessagePack that is nested too deep or too large")
        code = self._take(1)[0]
        if code < 0x80:
            return code
        if code < 0x90:
            return self._mapping(code & 0x0F, depth)
        if code < 0xA0:
            return self._array(code & 0x0F, depth)
        if code < 0xC0:
            return self._take(code & 0x1F).decode("utf-8", "surrogatepass")
        if code >= 0xE0:
            return code - 256
        return self._long(code, depth)

    def _long(self, code: int, depth: int) -> Any:
        if code in _NUMBERS:
            return self._number(_NUMBERS[code])
        if code in _STRINGS:
            return self._take(self._size(_STRINGS[code])).decode("utf-8", "surrogatepass")
        if code in _BINARY:
            return f"[{self._skip(self._size(_BINARY[code])):,} bytes]"
        if code in (0xDC, 0xDD):
            return self._array(self._size(2 if code == 0xDC else 4), depth)
        if code in (0xDE, 0xDF):
            return self._mapping(self._size(2 if code == 0xDE else 4), depth)
        if code in _FIXED_EXTENSIONS:
            return self._extension(_FIXED_EXTENSIONS[code], depth)
        if code in _EXTENSIONS:
            return self._extension(self._size(_EXTENSIONS[code]), depth)
        return {0xC0: None, 0xC2: False, 0xC3: True}.get(code)

    def _skip(self, size: int) -> int:
        self._take(size)
        return size

    def _array(self, size: int, depth: int) -> list[Any]:
        if size > len(self.data) - self.position:
            raise BadMsgpack("MessagePack that is cut")
        return [self.value(depth + 1) for _ in range(size)]

    def _mapping(self, size: int, depth: int) -> dict[str, Any]:
        if 2 * size > len(self.data) - self.position:
            raise BadMsgpack("MessagePack that is cut")
        made: dict[str, Any] = {}
        for _ in range(size):
            key = self.value(depth + 1)
            made[key if isinstance(key, str) else str(key)] = self.value(depth + 1)
        return made

    def _extension(self, size: int, depth: int) -> Any:
        kind = self._number(">b")
        inner = _Reader(self._take(size), self.budget)
        if not 0 <= kind <= 5:
            return f"[extension {kind}, {size:,} bytes]"
        made = inner.value(depth + 1)
        if not isinstance(made, list) or len(made) < 3:
            return made
        name, argument = made[1], made[2]
        if kind in _ONE_ARGUMENT:
            return argument
        if kind == _ARGUMENTS:
            return {"type": name, "args": argument}
        return {"type": name, **argument} if kind in _KEYWORDS and isinstance(argument, dict) else argument
