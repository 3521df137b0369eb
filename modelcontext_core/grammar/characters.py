"""Character classes and what may stand beside a token."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

LETTERS_DIGITS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
WORD: Final = LETTERS_DIGITS | {"_"}
GLUE: Final = WORD | {"-"}
ASCII_SPACES: Final = " \t\n\r\f\v"
ESCAPE_LETTERS: Final = frozenset("nrtbf")
CJK_PUNCTUATION: Final = "。，；：！？、（）【】《》“”"
TRAILING_SIGNS: Final = ".,;:!?"


def free_before(text: str, at: int, glue: frozenset[str]) -> bool:
    """Whether nothing in `glue` stands directly before `at`; the letter of a backslash escape counts as a space."""
    if at <= 0:
        return True
    char = text[at - 1]
    return char not in glue or (char in ESCAPE_LETTERS and at > 1 and text[at - 2] == "\\")


def free_after(text: str, at: int, glue: frozenset[str]) -> bool:
    """Whether nothing in `glue` stands at `at`."""
    return at >= len(text) or text[at] not in glue


def spellings(word: str) -> Iterator[str]:
    """Every upper and lower case spelling of an ASCII word."""
    return map("".join, itertools.product(*((letter.lower(), letter.upper()) for letter in word)))
