"""Character classes and what may stand beside a token."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

LETTERS_DIGITS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
WORD: Final = LETTERS_DIGITS | {"_"}
GLUE: Final = WORD | {"-"}
ASCII_SPACES: Final = " \t\n\r\f\v"
LONGEST_ESCAPE: Final = len("\\u6587")
# For patterns, where most that is glued should be passed over at once: `free_before` decides about the rest.
MAY_BE_FREE: Final = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4}))"
_ESCAPE_LETTERS: Final = frozenset("nrtbf")
_HEX_DIGITS: Final = frozenset("0123456789ABCDEFabcdef")
CJK_PUNCTUATION: Final = "。，；：！？、（）【】《》“”"
TRAILING_SIGNS: Final = ".,;:!?"


def free_before(text: str, at: int, glue: frozenset[str]) -> bool:
    """Whether nothing in `glue` stands directly before `at`, be it as an escape of JSON: `\\n`, `\\u6587`."""
    return at <= 0 or text[at - 1] not in glue or _is_free_escape(text, at, glue)


def _is_free_escape(text: str, at: int, glue: frozenset[str]) -> bool:
    if at > 1 and text[at - 2] == "\\":
        return text[at - 1] in _ESCAPE_LETTERS
    digits = text[at - 4 : at] if at >= LONGEST_ESCAPE and text.startswith("\\u", at - LONGEST_ESCAPE) else ""
    # Where JSON is to be ASCII, or part of a web page, `文` and `>` are written so: what they say counts.
    return len(digits) == 4 and _HEX_DIGITS.issuperset(digits) and chr(int(digits, 16)) not in glue


def free_after(text: str, at: int, glue: frozenset[str]) -> bool:
    """Whether nothing in `glue` stands at `at`."""
    return at >= len(text) or text[at] not in glue


def spellings(word: str) -> Iterator[str]:
    """Every upper and lower case spelling of an ASCII word."""
    return map("".join, itertools.product(*((letter.lower(), letter.upper()) for letter in word)))
