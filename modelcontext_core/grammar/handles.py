"""The handles: scheme handles (`doc://1`), short ones (`i1`) and the legacy form (`d1`)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from modelcontext_core.grammar.characters import ASCII_SPACES, MAY_BE_FREE, WORD, free_after, free_before, spellings

Space = Literal["chunk", "document", "knowledge_base", "web", "resource", "issue", "mcp_server", "mcp_tool"]
WordSpace = Literal["issue", "mcp_server", "mcp_tool"]

SCHEMES: Final[dict[Space, str]] = {
    "chunk": "chunk",
    "document": "doc",
    "knowledge_base": "kb",
    "web": "url",
    "resource": "res",
}
WORD_PREFIXES: Final[dict[WordSpace, str]] = {"issue": "i", "mcp_server": "ms", "mcp_tool": "mt"}
LEGACY_PREFIXES: Final[dict[str, Space]] = {"c": "chunk", "d": "document", "b": "knowledge_base", "w": "web"}

MAX_HANDLE_DIGITS: Final = 18

# Keyed by every spelling, so that no Unicode letter that merely folds to an ASCII one (Kelvin sign, long s) gets in.
_SCHEME_SPACES: Final[dict[str, Space]] = {
    spelling: space for space, scheme in SCHEMES.items() for spelling in spellings(scheme)
}
_SCHEME_LENGTHS: Final[dict[str, int]] = {spelling[-1]: len(spelling) for spelling in _SCHEME_SPACES}
_DIGITS: Final = re.compile(rf"[0-9]{{1,{MAX_HANDLE_DIGITS + 1}}}")

# An ending that may still become a scheme handle: a scheme cut anywhere before its second slash.
_BEGINNINGS: Final = "|".join(
    sorted(
        {(scheme + ":/")[:k] for scheme in SCHEMES.values() for k in range(1, len(scheme) + 3)}, key=len, reverse=True
    )
)
_SCHEME_BEGINNING: Final = re.compile(rf"{MAY_BE_FREE}(?:{_BEGINNINGS})\Z", re.IGNORECASE | re.ASCII)
_LONGEST_BEGINNING: Final = max(map(len, SCHEMES.values())) + 2
SCHEME_BEGINNING_ENDS: Final = frozenset(
    letter for scheme in SCHEMES.values() for letter in scheme + scheme.upper() + ":/"
)
# Two letters that no such ending has, unless the first is an escape's: a word goes on, and not as a scheme does.
NO_SCHEME_BEGINNING: Final = frozenset(map("".join, itertools.product(WORD, SCHEME_BEGINNING_ENDS - {":", "/"}))) - {
    pair for scheme in SCHEMES.values() for k in range(len(scheme) - 1) for pair in spellings(scheme[k : k + 2])
}

_WHOLE_HANDLE: Final = re.compile(
    rf"[{ASCII_SPACES}]*({'|'.join(SCHEMES.values())})://([0-9]{{1,{MAX_HANDLE_DIGITS}}})[{ASCII_SPACES}]*",
    re.IGNORECASE | re.ASCII,
)
BEGINS_WITH_SCHEME: Final = re.compile(rf"(?:{'|'.join(SCHEMES.values())})://", re.IGNORECASE | re.ASCII)
LEGACY_HANDLE: Final = re.compile(rf"([cdbw])([0-9]{{1,{MAX_HANDLE_DIGITS}}})", re.IGNORECASE | re.ASCII)
WORD_HANDLE: Final = re.compile(rf"(i|ms|mt)([0-9]{{1,{MAX_HANDLE_DIGITS}}})", re.IGNORECASE | re.ASCII)
_WORD_SPACES: Final[dict[str, WordSpace]] = {prefix: space for space, prefix in WORD_PREFIXES.items()}


class HandleToken(NamedTuple):
    """A handle-shaped token in a text: `[start, end)`, its space, and its number (None: never a known one)."""

    start: int
    end: int
    space: Space
    number: int | None


def scheme_before(text: str, slashes: int) -> Space | None:
    """The space whose scheme stands whole before the `://` at `slashes`, or None."""
    length = _SCHEME_LENGTHS.get(text[slashes - 1]) if slashes else None
    if length is None or length > slashes:
        return None
    start = slashes - length
    space = _SCHEME_SPACES.get(text[start:slashes])
    return space if space is not None and free_before(text, start, WORD) else None


def scheme_beginning(text: str, start: int = 0) -> int:
    """Where the ending of `text` begins, from `start` on, that may still become a scheme handle; -1 without one."""
    match = _SCHEME_BEGINNING.search(text, max(start, len(text) - _LONGEST_BEGINNING))
    return match.start() if match is not None and free_before(text, match.start(), WORD) else -1


def handle_at(text: str, slashes: int) -> HandleToken | None:
    """The scheme handle whose `://` stands at `slashes`, or None when it is no handle."""
    space = scheme_before(text, slashes)
    if space is None:
        return None
    digits = _DIGITS.match(text, slashes + 3)
    if digits is None:
        return None
    end = digits.end()
    if end - slashes - 3 > MAX_HANDLE_DIGITS or not free_after(text, end, WORD):
        return None
    return HandleToken(slashes - len(SCHEMES[space]), end, space, canonical_number(space, digits[0]))


def canonical_number(space: Space, digits: str) -> int | None:
    """The number that `digits` spell, or None when no handle is ever written that way (`007`, `0`)."""
    if digits[0] != "0" and (space != "resource" or len(digits) >= 4):
        return int(digits)
    if space == "resource" and len(digits) == 4 and digits != "0000":
        return int(digits)
    return None


def format_handle(space: Space, number: int) -> str:
    """The handle of a scheme space, as it is written."""
    if space == "resource":
        return f"res://{number:04d}"
    return f"{SCHEMES[space]}://{number}"


def handle_tokens(text: str) -> Iterator[HandleToken]:
    """Every scheme handle of a text, in order, known or not."""
    at = text.find("://")
    while at >= 0:
        token = handle_at(text, at)
        if token is not None:
            yield token
        at = text.find("://", at + 3)


def handle_spans(text: str) -> list[tuple[int, int]]:
    """`(start, end)` of every scheme handle of a text: where it must not be cut."""
    return [(token.start, token.end) for token in handle_tokens(text)]


def has_handle(text: str) -> bool:
    """Whether a text holds any scheme handle."""
    return "://" in text and next(handle_tokens(text), None) is not None


def whole_handle(value: str) -> HandleToken | None:
    """`value` read as one whole scheme handle, ASCII spaces around it aside; the span is that of the handle."""
    match = _WHOLE_HANDLE.fullmatch(value)
    if match is None:
        return None
    space = _SCHEME_SPACES[match[1]]
    return HandleToken(match.start(1), match.end(2), space, canonical_number(space, match[2]))


def whole_legacy_handle(value: str) -> tuple[Space, int | None] | None:
    """`value` read as one whole handle of the legacy form (`c1`, `d2`), ASCII spaces around it aside; without a
    number when none is ever written that way (`c0`, `d007`)."""
    match = LEGACY_HANDLE.fullmatch(value.strip(ASCII_SPACES))
    if match is None:
        return None
    space = LEGACY_PREFIXES[match[1].lower()]
    return space, canonical_number(space, match[2])


def whole_word_handle(value: str) -> tuple[WordSpace, str] | None:
    """`value` read as one whole `iN`, `msN` or `mtN` in any case: its space and canonical spelling."""
    match = WORD_HANDLE.fullmatch(value.strip(ASCII_SPACES))
    return None if match is None else (_WORD_SPACES[match[1].lower()], match[0].lower())


def _any_width(scheme: str) -> str:
    return "".join(
        f"[{letter}{letter.upper()}{chr(ord(letter) + 0xFEE0)}{chr(ord(letter) + 0xFEC0)}]" for letter in scheme
    )


# What a model wrote in place of a handle, scheme handles themselves included: other slashes, full-width characters,
# escapes, a number that is too long. Only for reports: nothing is ever restored by it.
LOOK_ALIKE: Final = re.compile(
    rf"(?:{'|'.join(map(_any_width, SCHEMES.values()))})"
    r"(?:[:\uff1a][/\uff0f]{0,3}|[:]\\?/\\?/|%3[aA](?:%2[fF]|/){2}|:(?:%2[fF]){2}|[/\uff0f]{2})"
    r"[0-9\uff10-\uff19]+"
)
