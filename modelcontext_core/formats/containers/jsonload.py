"""JSON in, without losing what matters: fast values, the raw bytes of a value on demand, damaged text up to its break.

orjson is fast but turns integers from 2^64 on into floats and refuses lone surrogates and `NaN`. Where that would
happen the standard library's parser reads the text instead, and where *that* would run out of stack (it recurses)
a small parser with a stack of its own does. Everything works on UTF-8 bytes: a `str` that holds one emoji takes four
bytes a character, which a record of 64 MB cannot afford.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

import orjson

from modelcontext_core.limits import MAX_JSON_DEPTH

__all__ = ["JSON_STEP", "LEVEL", "BadJson", "JsonPath", "loads", "raw_slices", "repair", "skip_value"]


class _JsonStep:
    """The step of a path from a string to the JSON document that the string holds."""

    def __repr__(self) -> str:
        return "JSON_STEP"


JSON_STEP: Final = _JsonStep()
# Keys, indices and steps into JSON text that a string holds, from the root of the document.
JsonPath = tuple[str | int | _JsonStep, ...]


class BadJson(ValueError):
    """Text that is not JSON. `offset` counts bytes from its start, `depth_limit` says that only the depth is wrong."""

    def __init__(self, reason: str, offset: int, *, depth_limit: bool = False) -> None:
        self.reason = reason
        self.offset = offset
        self.depth_limit = depth_limit
        super().__init__(f"{reason} (byte {offset})")


# An integer of 19 digits or more may be above 2^64; a few of these inside strings only cost time.
_LONG_INTEGER = re.compile(rb"[:\[,\s]-?\d{19,}[\s,\]}]")
# Nearly no text has so many digits in a row, and looking for a literal is much quicker than the pattern.
_ONLY_DIGITS: Final = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
_LONG_RUN: Final = b"0" * 19
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,\]}\"\[{:]+")
_STRING_OR_BRACKET = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[{]|[\]}]', re.DOTALL)
# All that leaves the depth as it is: scalars, whole strings, and containers that hold nothing but these.
LEVEL: Final = re.compile(
    rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"'
    rb'|[\[{](?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+[\]}])*+',
    re.DOTALL,
)
_BLANK = re.compile(rb"[ \t\r\n]*")
_OPENERS = b"[{"


def loads(data: bytes) -> Any:
    """The value of one JSON document (UTF-8; lone surrogates may stand as escapes or as their three bytes).

    Raises `BadJson`. `NaN`, `Infinity` and numbers out of range are accepted, as Python's own parser does.
    """
    if _LONG_RUN not in data.translate(_ONLY_DIGITS) or not _LONG_INTEGER.search(data):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError:
            pass  # the parsers below accept more, and give the position in bytes
    deepest, offset = _depth(data)
    if deepest > MAX_JSON_DEPTH:
        raise BadJson(f"nested deeper than {MAX_JSON_DEPTH:,} levels (MAX_JSON_DEPTH)", offset, depth_limit=True)
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise BadJson("not UTF-8 text", error.start) from None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadJson(_reason(error.msg), len(text[: error.pos].encode("utf-8", "surrogatepass"))) from None
    except RecursionError:
        return _loads_with_own_stack(data)
    except ValueError as error:  # an integer of more digits than Python converts
        raise BadJson(str(error).split(";")[0], 0) from None


def _reason(message: str) -> str:
    """The parser's message as the start of our sentence."""
    return message[:1].lower() + message[1:].removesuffix(" starting at")


def _depth(data: bytes) -> tuple[int, int]:
    """The deepest nesting, and the offset where it first passes the limit (0 when it does not)."""
    depth = deepest = 0
    for match in _STRING_OR_BRACKET.finditer(data):
        first = data[match.start()]
        if first in _OPENERS:
            depth += 1
            if depth > deepest:
                deepest = depth
                if deepest > MAX_JSON_DEPTH:
                    return deepest, match.start()
        elif first != 0x22:
            depth -= 1
    return deepest, 0


# --- raw bytes of values ---------------------------------------------------------------------------------------------


class _Wanted:
    """A tree of the paths to be found; `paths` end here."""

    __slots__ = ("children", "paths")

    def __init__(self) -> None:
        self.children: dict[Any, _Wanted] = {}
        self.paths: list[JsonPath] = []


def raw_slices(data: bytes, paths: Iterable[JsonPath]) -> dict[JsonPath, str]:
    """The source text of the values at `paths`, in one pass over `data`, which `loads` or `repair` has read.

    Only the containers on the way are walked; everything beside it is skipped by regular expressions. Of a key that
    stands twice in an object the last one counts, as it does in the parsed value.
    """
    root = _Wanted()
    for path in paths:
        node = root
        for step in path:
            node = node.children.setdefault(step, _Wanted())
        node.paths.append(path)
    found: dict[JsonPath, str] = {}
    _walk(data, _blank(data, 0), root, found)
    return found


def _walk(data: bytes, start: int, wanted: _Wanted, found: dict[JsonPath, str]) -> int:
    """Record what is wanted of the value at `start`; give the offset after it."""
    opener = data[start : start + 1]
    if not wanted.children:
        end = skip_value(data, start)
    elif opener == b"{":
        end = _walk_object(data, start, wanted, found)
    elif opener == b"[":
        end = _walk_array(data, start, wanted, found)
    else:
        end = skip_value(data, start)
        inner = wanted.children.get(JSON_STEP)
        if inner is not None and opener == b'"':
            text = _string(data[start:end]).encode("utf-8", "surrogatepass")
            _walk(text, _blank(text, 0), inner, found)
    for path in wanted.paths:
        found[path] = data[start:end].decode("utf-8", "surrogatepass")
    return end


def _walk_object(data: bytes, start: int, wanted: _Wanted, found: dict[JsonPath, str]) -> int:
    position = _blank(data, start + 1)
    while data[position : position + 1] == b'"':
        key_end = skip_value(data, position)
        key = _string(data[position:key_end])
        position = _blank(data, _blank(data, key_end) + 1)  # the colon
        child = wanted.children.get(key)
        position = skip_value(data, position) if child is None else _walk(data, position, child, found)
        position = _blank(data, position)
        if data[position : position + 1] == b",":
            position = _blank(data, position + 1)
    return position + 1


def _walk_array(data: bytes, start: int, wanted: _Wanted, found: dict[JsonPath, str]) -> int:
    position = _blank(data, start + 1)
    index = 0
    while position < len(data) and data[position : position + 1] != b"]":
        child = wanted.children.get(index)
        position = skip_value(data, position) if child is None else _walk(data, position, child, found)
        index += 1
        position = _blank(data, position)
        if data[position : position + 1] == b",":
            position = _blank(data, position + 1)
    return position + 1


def _string(literal: bytes) -> str:
    """The text of a string literal; of a broken one, its bytes as they stand."""
    if b"\\" in literal:
        try:
            return str(loads(literal))
        except BadJson:
            pass
    return literal[1:-1].decode("utf-8", "surrogatepass")


def _blank(data: bytes, position: int) -> int:
    match = _BLANK.match(data, position)
    return match.end() if match else position


def skip_value(data: bytes, start: int) -> int:
    """The offset after the JSON value that begins at `start`; `len(data)` when it does not end."""
    first = data[start : start + 1]
    if first == b'"':
        match = _STRING.match(data, start)
        return match.end() if match else len(data)
    if first not in (b"{", b"["):
        match = _SCALAR.match(data, start)
        return match.end() if match else start + 1
    depth, position = 1, start + 1
    while depth:
        level = LEVEL.match(data, position)
        position = level.end() if level else position
        letter = data[position : position + 1]
        if letter in (b"", b'"'):
            return len(data)  # the text, or a string in it, is cut
        depth += 1 if letter in _OPENERS else -1
        position += 1
    return position


# --- damaged and deep text -------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    rb'"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+"|[\[{\]},:]|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?'
    rb"|true|false|null|NaN|-?Infinity",
    re.DOTALL,
)
_PART_OF_ESCAPE = re.compile(rb"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$")
# What may come next. Only directly after an opening bracket may the container be closed without a value.
_VALUE, _FIRST_VALUE, _KEY, _FIRST_KEY, _COLON, _COMMA = range(6)


class _StackParser:
    """A strict parser with a stack of its own. Where the text breaks, `root` holds what came before the break."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.root: list[Any] = []
        self._stack: list[Any] = [self.root]
        self._key: str | None = None
        self._state = _VALUE

    def run(self) -> int:
        """Read one value; give the offset after it, or of the token that breaks it."""
        position = 0
        while True:
            position = _blank(self.data, position)
            match = _TOKEN.match(self.data, position)
            token = match.group() if match else b""
            if not match or not self._fits(token[:1]) or len(self._stack) > MAX_JSON_DEPTH + 1:
                return position
            position = match.end()
            self._take(token)
            if self.complete:
                return position

    @property
    def complete(self) -> bool:
        """True once the value has ended."""
        return len(self._stack) == 1 and bool(self.root)

    @property
    def expects_value(self) -> bool:
        """True where a value may stand."""
        return self._state in (_VALUE, _FIRST_VALUE)

    def _fits(self, first: bytes) -> bool:
        """May a token that begins with `first` stand here?"""
        state = self._state
        if first == b"}":
            return isinstance(self._stack[-1], dict) and state in (_FIRST_KEY, _COMMA)
        if first == b"]":
            return isinstance(self._stack[-1], list) and state in (_FIRST_VALUE, _COMMA) and len(self._stack) > 1
        if state == _COMMA:
            return first == b","
        if state == _COLON:
            return first == b":"
        if state in (_KEY, _FIRST_KEY):
            return first == b'"'
        return first not in (b",", b":")

    def _take(self, token: bytes) -> None:
        if token in (b"{", b"["):
            container: Any = {} if token == b"{" else []
            self.add(container)
            self._stack.append(container)
            self._state = _FIRST_KEY if token == b"{" else _FIRST_VALUE
        elif token == b",":
            self._state = _KEY if isinstance(self._stack[-1], dict) else _VALUE
        elif token == b":":
            self._state = _VALUE
        elif token in (b"}", b"]"):
            self._stack.pop()
            self._state = _COMMA
        elif self._state in (_KEY, _FIRST_KEY):
            self._key = json.loads(token.decode("utf-8", "surrogatepass"))
            self._state = _COLON
        else:
            self.add(json.loads(token.decode("utf-8", "surrogatepass")))

    def add(self, value: Any) -> None:
        """Put a value where the next one belongs."""
        container = self._stack[-1]
        if isinstance(container, dict):
            container[self._key] = value
        else:
            container.append(value)
        self._state = _COMMA


def _loads_with_own_stack(data: bytes) -> Any:
    """Parse text that is nested within the limit, but too deeply for a parser that recurses."""
    parser = _StackParser(data)
    try:
        end = parser.run()
    except ValueError as error:
        raise BadJson(_reason(str(error)), 0) from None
    if not parser.complete or _blank(data, end) < len(data):
        raise BadJson("extra data" if parser.complete else "expecting value", end)
    return parser.root[0]


def repair(data: bytes) -> tuple[Any, int] | None:
    """What can be read of JSON text that is cut or damaged: the value up to the break, and the offset of the break.

    Open containers are closed where the text breaks; a string value that the end of the text cuts is kept as far as
    it goes; a key without its value is dropped. `None` when nothing is left.
    """
    parser = _StackParser(data)
    try:
        position = parser.run()
        if data[position : position + 1] == b'"' and parser.expects_value and not _STRING.match(data, position):
            parser.add(loads(_closed_string(data[position:])))
    except ValueError:
        return None
    value = parser.root[0] if parser.root else None
    return (value, position) if value not in ({}, [], "", None) else None


def _closed_string(data: bytes) -> bytes:
    """The beginning of a string literal, closed; half an escape or half a character at its end is dropped."""
    text = re.split(rb"[\x00-\x1f]", data, maxsplit=1)[0]
    text = text.decode("utf-8", "ignore").encode()
    return _PART_OF_ESCAPE.sub(rb"\1", text) + b'"'
