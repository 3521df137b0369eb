"""Durable identifiers in text: UUIDs, stored references, and which values may be mined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from modelcontext_core.grammar.characters import CJK_PUNCTUATION, LETTERS_DIGITS, free_before
from modelcontext_core.grammar.handles import LEGACY_HANDLE, WORD_HANDLE, has_handle
from modelcontext_core.limits import MAX_MINED_CHARACTERS, MIN_FREE_TEXT_ID_CHARACTERS, MIN_MINED_CHARACTERS

# A UUID from its first dash on, where a search can skip whatever has none; eight hex digits stand before it.
UUID_TAIL: Final = re.compile(r"-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_UUID_HEAD: Final = re.compile(r"[0-9a-fA-F]{8}")
UUID_CHARACTERS: Final = 36
UUID: Final = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")


def is_uuid(value: str) -> bool:
    """Whether `value` is UUID-shaped, in any case and with its four hyphens."""
    return len(value) == 36 and value[8] == "-" and UUID.fullmatch(value) is not None


def find_uuids(text: str) -> Iterator[tuple[int, int]]:
    """Every UUID-shaped place with neither neighbour an ASCII letter or digit. Searched from the first dash."""
    head, length = _UUID_HEAD.match, len(text)
    for tail in UUID_TAIL.finditer(text):
        start, end = tail.span()
        start -= 8
        if start < 0 or head(text, start) is None or (end < length and text[end] in LETTERS_DIGITS):
            continue
        if start and text[start - 1] in LETTERS_DIGITS and not free_before(text, start, LETTERS_DIGITS):
            continue
        yield start, end


STORAGE_SCHEMES: Final = ("local", "minio", "cos", "tos", "s3", "oss", "ks3", "obs")
_STORAGE_CHARS: Final = rf"[^\s)\]><\"'\\`{CJK_PUNCTUATION}]"
RESOURCE_TAIL: Final = re.compile(r"[0-9A-Za-z_-]{22}(?![0-9A-Za-z_-])")
STORAGE_RUN: Final = re.compile(rf"{_STORAGE_CHARS}+")
STORAGE_PREFIX_TAIL: Final = re.compile(
    rf"(?:(?!/){_STORAGE_CHARS}){{1,{MAX_MINED_CHARACTERS}}}/(?:{'|'.join(STORAGE_SCHEMES)})://"
)


# White space and control characters. Others that do not print (joiners, private use) may well be part of an id.
_UNFIT: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")


def may_be_mined(value: str) -> bool:
    """Whether an identity may be taken from `value` when it is not known yet: no placeholder, no handle, no prose."""
    return is_uuid(value) or (  # most are, and then the rest is so
        MIN_MINED_CHARACTERS <= len(value) <= MAX_MINED_CHARACTERS
        and _UNFIT.search(value) is None
        and any(map(str.isalnum, value))
        and LEGACY_HANDLE.fullmatch(value) is None
        and WORD_HANDLE.fullmatch(value) is None
        and not has_handle(value)
    )


def is_free_text_id(value: str) -> bool:
    """Whether a known id is telling enough to be replaced outside labels and declared fields.

    One with a quotation mark, or a backslash at an end, is not: in JSON that may be the mark around a string, or half
    of an escape, and without it the text would be JSON no more.
    """
    if len(value) < MIN_FREE_TEXT_ID_CHARACTERS or '"' in value or value[0] == "\\" or value[-1] == "\\":
        return False
    return not (value.isascii() and value.isdigit())
