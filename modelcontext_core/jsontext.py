"""JSON as text: find and change strings inside it and leave every other byte alone.

Parsing and writing again would change numbers (`1.0`, integers beyond 64 bits), escapes, spacing and duplicate keys,
so nothing here builds values: text goes in, places in the text come out. Nothing recurses, everything is linear in
the text, and a lone surrogate, `1e400` or a depth of 100,000 is as good as any other JSON (RFC 8259).

Every function but `is_valid`, `unwrap_object`, `unwrap_array`, `quote` and `same_value` expects *valid* JSON, or a
piece of it: ask `is_valid` first. Validity is what makes the rest simple: outside strings there is no backslash,
inside strings no bare quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from modelcontext_core.jsonvalue import (
    BODY,
    SPACE,
    escape_surrogates,
    is_valid,
    quote,
    same_value,
    unquote,
    unwrap_array,
    unwrap_object,
)

__all__ = [
    "Container",
    "JsonString",
    "KeyValue",
    "escape_surrogates",
    "is_valid",
    "key_values",
    "keyed_strings",
    "leaves_string",
    "path_of",
    "paths_of",
    "place_of",
    "quote",
    "replace_strings",
    "same_value",
    "splice",
    "strings",
    "unquote",
    "unwrap_array",
    "unwrap_object",
]


# --- all strings ------------------------------------------------------------------------------------------------------


class Container(NamedTuple):
    """An object or array around a string. `key` is the nearest key that it stands under, None at the top."""

    kind: str  # "{" or "["
    key: str | None
    parent: Container | None
    depth: int  # 1 for the outermost


class JsonString(NamedTuple):
    """A string literal of a JSON text. A named tuple, since large texts have a million of them.

    `start` and `end` include the quotes. `key` is the decoded key that the string belongs to: of a key its own text,
    of a value the key right before it or, in arrays (however nested, but not through objects), the key of the
    outermost array; None where there is none. `depth` counts the containers around it: a member of the top-level
    object has 1. `container` is the innermost of them.
    """

    start: int
    end: int
    is_key: bool
    key: str | None
    depth: int
    container: Container | None


_new = tuple.__new__  # what the constructor of a named tuple does, without its call in between
_TOKEN: Final = re.compile(rf'"{BODY}({SPACE}:)?+|[\[{{\]}}]', re.DOTALL)


def strings(text: str) -> Iterator[JsonString]:
    """Every string literal of valid JSON, keys too, in the order of the text."""
    return _scan(text, 0, None, unquote_keys=True)


def _scan(text: str, start: int, key: str | None, *, unquote_keys: bool) -> Iterator[JsonString]:
    """The strings of the value that begins at `start` and stands under `key`; raw keys come as they are written."""
    container: Container | None = None
    depth = 0
    for token in _TOKEN.finditer(text, start):
        begin, end = token.span()
        char = text[begin]
        if char == '"':
            if token.lastindex is None:
                yield _new(JsonString, (begin, end, False, key, depth, container))
            else:
                end = token.start(1)
                key = text[begin + 1 : end - 1]
                if unquote_keys and "\\" in key:
                    key = unquote(text[begin:end])
                yield _new(JsonString, (begin, end, True, key, depth, container))
        elif char == "{" or char == "[":
            depth += 1
            container = _new(Container, (char, key, container, depth))
            if char == "{":
                key = None
        elif container is not None:
            _, key, container, _ = container
            depth -= 1
            if depth == 0:
                return


_MEMBER: Final = re.compile(rf'"({BODY})(?:{SPACE}:()(?:{SPACE}"({BODY}))?+)?+|[\[{{\]}}]', re.DOTALL)


def keyed_strings(text: str) -> Iterator[tuple[str | None, str | None, str | None]]:
    """The strings of `strings` without their places, at half of the cost: `(key, raw key, raw value)`.

    Each key comes once, as it is read and as it is written, with the value behind it: None when that is no string. A
    string without a key of its own (in an array, or alone) has no raw key.
    """
    key: str | None = None
    around: list[str | None] = []
    for token in _MEMBER.finditer(text):
        string, colon, value = token.groups()
        if string is None:
            char = text[token.start()]
            if char == "{" or char == "[":
                around.append(key)
                if char == "{":
                    key = None
            else:
                key = around.pop()
        elif colon is None:
            yield key, None, string[:-1]
        else:
            raw_key = string[:-1]
            key = unquote(f'"{raw_key}"') if "\\" in raw_key else raw_key
            yield key, raw_key, None if value is None else value[:-1]


# --- the values of some keys ------------------------------------------------------------------------------------------


class KeyValue(NamedTuple):
    """A string value of a wanted key: the key in lower case, and the span of the literal with its quotes."""

    key: str
    start: int
    end: int


_FLAT_ARRAY: Final = re.compile(rf'\[[^"\[\]{{}}]*+(?:"{BODY}[^"\[\]{{}}]*+)*+\]', re.DOTALL)
_STRING: Final = re.compile(rf'"{BODY}', re.DOTALL)
_SIMPLE_KEY: Final = re.compile(r"[A-Za-z0-9_.$@/-]++\Z")


@lru_cache(maxsize=256)
def _key_ends(keys: frozenset[str]) -> re.Pattern[str] | None:
    """A pattern for the closing quote of such a key, up to a value that is a string or an array; None when a key
    needs the full scan.

    It begins with a literal and is anchored at the *end* of the key, where the colon tells keys from values: `re`
    skips to the quotes, and looking one character back settles most of them.
    """
    if not keys or not all(map(_SIMPLE_KEY.match, keys)):
        return None
    last = {key[-1] for key in keys}
    # The Kelvin sign is the one character beyond ASCII whose lower case is ASCII.
    chars = "".join(sorted(last | {char.upper() for char in last} | ({"\u212a"} if "k" in last else set())))
    return re.compile(rf'"(?<=[{re.escape(chars)}]"){SPACE}:{SPACE}(?=["\[])')


def key_values(text: str, keys: frozenset[str]) -> list[KeyValue]:
    """The string values of some keys (given in lower case) at any depth of valid JSON, in the order of the text.

    A value is the string of the key or a string of its arrays, not through objects. A key spelt with escapes is none.
    The result is that of filtering `strings`, at a fraction of the cost where such keys are few.

    Why no candidate can lie inside a string: a quote inside a string follows a backslash, and an opening quote follows
    a bracket, a comma, a colon, white space or nothing. A wanted key ends in none of these, so a quote after its last
    character closes a string; the colon makes that string a key; and it begins at the quote before, unless that one
    is escaped, in which case the key is a longer one.
    """
    ends = _key_ends(keys)
    found: list[KeyValue] = []
    if ends is None:
        _add_scanned(found, text, keys, 0, None)
        return found
    find, rfind = text.find, text.rfind
    done = 0
    for match in ends.finditer(text):
        close, start = match.span()
        opening = rfind('"', 0, close)
        key = text[opening + 1 : close].lower()
        if key not in keys or text[opening - 1] == "\\" or close < done:
            continue
        if text[start] == "[":
            done = _add_array(found, text, keys, start, key)
            continue
        end = find('"', start + 1) + 1
        if text[end - 2] == "\\" and (string := _STRING.match(text, start)):  # that quote may be an escaped one
            end = string.end()
        found.append(_new(KeyValue, (key, start, end)))
    return found


def _add_array(found: list[KeyValue], text: str, keys: frozenset[str], start: int, key: str) -> int:
    """Add the strings of the array at `start` and return where it ends."""
    flat = _FLAT_ARRAY.match(text, start)
    if flat is None:
        return _add_scanned(found, text, keys, start, key)
    found += [KeyValue(key, *string.span()) for string in _STRING.finditer(text, start, flat.end())]
    return flat.end()


def _add_scanned(found: list[KeyValue], text: str, keys: frozenset[str], start: int, key: str | None) -> int:
    """The plain way: read every string of the value at `start`. Returns where the last of them ends."""
    end = start
    for string in _scan(text, start, key, unquote_keys=False):
        end = string.end
        if not string.is_key and string.key is not None and "\\" not in string.key:
            name = string.key.lower()
            if name in keys:
                found.append(KeyValue(name, string.start, end))
    return end


# --- places in words --------------------------------------------------------------------------------------------------

_PLAIN_KEY: Final = re.compile(r"[^\W\d]\w*+\Z")
# A string goes with the comma before it, and a key with the string behind it: most members are one token.
_PATH_TOKEN: Final = re.compile(rf'(?:,{SPACE})?+("{BODY})(?:{SPACE}:()(?:{SPACE}"{BODY})?+)?+|[\[{{\]}},]', re.DOTALL)


def _step(key: str) -> str:
    return f".{key}" if _PLAIN_KEY.match(key) else f"[{quote(key)}]"


@lru_cache(maxsize=1024)
def _short_step_of(literal: str) -> str:
    return _step(unquote(literal))


def _step_of(literal: str) -> str:
    """The step of a key as it is written. Only short ones are remembered, since a key may be as long as its text."""
    return _short_step_of(literal) if len(literal) < 64 else _step(unquote(literal))


def place_of(string: JsonString) -> str:
    """The path of a string without positions in arrays (`$.issues[].id`), to compare with a few allowed places.

    A key has the place of its member. Costs as much as the string is deep: look at `depth` first.
    """
    steps: list[str] = []
    key = string.key
    container = string.container
    while container is not None:
        if container.kind == "[":
            steps.append("[]")
        elif key is not None:
            steps.append(_step(key))
        key = container.key
        container = container.parent
    return "$" + "".join(reversed(steps))


def path_of(text: str, position: int) -> str:
    """The path of the value (or the member of the key) at a position of valid JSON: `$.results[3].id`, and
    `$.a["odd key"]` where a key is no plain word."""
    return paths_of(text, [position])[0]


def paths_of(text: str, positions: Sequence[int]) -> list[str]:
    """The paths at several positions, in their order, in one walk."""
    order = sorted(range(len(positions)), key=positions.__getitem__, reverse=True)
    paths = ["$"] * len(positions)
    steps: list[str | int] = []  # one per open container: the last key, or the position in the array

    def next_after_naming(end: int) -> int:
        """Names all wanted positions before `end`, and gives the next one: none is behind the text."""
        path = "$" + "".join([f"[{step}]" if isinstance(step, int) else step for step in steps])
        while order and positions[order[-1]] < end:
            paths[order.pop()] = path
        return positions[order[-1]] if order else len(text)

    wanted = positions[order[-1]] if order else len(text)
    for token in _PATH_TOKEN.finditer(text):
        begin, end = token.span()
        char = text[begin]
        if char == ",":
            if wanted <= begin:
                wanted = next_after_naming(end=begin + 1)
            last = steps[-1]
            steps[-1] = last + 1 if isinstance(last, int) else ""
        if token.lastindex == 2:
            steps[-1] = _step_of(token[1])
        if wanted < end:
            wanted = next_after_naming(end)
            if not order:
                break
        if char == "[":
            steps.append(0)
        elif char == "{":
            steps.append("")
        elif char == "]" or char == "}":
            steps.pop()
    return paths


_CLOSING_QUOTE: Final = re.compile(r'(?<!\\)(?:\\\\)*"')


def leaves_string(piece: str) -> bool:
    """Whether a piece of JSON text that begins inside of a string goes on behind the string's end."""
    return '"' in piece and _CLOSING_QUOTE.search(piece) is not None


# --- changes ----------------------------------------------------------------------------------------------------------


def splice(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Put other text in place of some spans (which must not overlap); the same object when nothing changes."""
    pieces: list[str] = []
    done = 0
    for start, end, new in sorted(edits):
        if start < done:
            raise ValueError(f"the edits overlap at {start}")
        if text[start:end] != new:
            pieces += (text[done:start], new)
            done = end
    if not pieces:
        return text
    pieces.append(text[done:])
    return "".join(pieces)


def replace_strings(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Give the string literals at some spans new values and keep everything else byte for byte.

    A literal that has its new value already keeps its spelling; the same object comes back when nothing changes.
    """
    return splice(text, ((start, end, quote(new)) for start, end, new in edits if unquote(text[start:end]) != new))
