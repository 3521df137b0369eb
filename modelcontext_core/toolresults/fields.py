"""Reading the loosely typed rows of tool results.

Rows come from other programs: any key may be missing, and any value may have any type. Nothing here raises; a value of
an unexpected type counts as missing. Blank are: missing, null, text of white space, false, an empty list. Zero is a
value.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["first", "identity", "items", "mapping", "number", "pairs", "rows", "shown", "texts", "true"]

# Longer numbers are no counts; converting them costs time, and beyond 4,300 digits Python refuses to.
_MAX_DIGITS = 18


def shown(value: object) -> str:
    """The text for a scalar as the model sees it, or "" when it is blank or no scalar (`true`, `3`, `2.5`)."""
    if isinstance(value, str):
        return value if value.strip() else ""
    if isinstance(value, bool):
        return "true" if value else ""
    if isinstance(value, int):
        return str(value) if abs(value) < 10**_MAX_DIGITS else ""
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) < 10**_MAX_DIGITS else repr(value)
    return ""


def first(row: Mapping[str, Any], *keys: str) -> str:
    """The text of the first key whose value is not blank, or ""."""
    for key in keys:
        if text := shown(row.get(key)):
            return text
    return ""


def identity(row: Mapping[str, Any], *keys: str) -> str:
    """The first usable identity among these keys, trimmed, or "". Only text identifies: a number is a row number."""
    for key in keys:
        value = row.get(key)
        if isinstance(value, str) and (text := value.strip()):
            return text
    return ""


def number(value: object) -> int | None:
    """A whole number given as a number or as decimal text; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < 10**_MAX_DIGITS else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 10**_MAX_DIGITS else None
    if isinstance(value, str):
        text = value.strip()
        digits = text.removeprefix("-")
        return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS else None
    return None


def true(value: object) -> bool:
    """Whether a flag is set: true, 1, or the text `true`."""
    if isinstance(value, str):
        return value.strip().lower() == "true"
    return value is True or (isinstance(value, int) and value == 1)


def items(value: object) -> Sequence[Any]:
    """The members of a list, or nothing."""
    return value if isinstance(value, (list, tuple)) else ()


def mapping(value: object) -> Mapping[str, Any]:
    """The object itself, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def rows(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The objects of the list under `key`; other members are left out."""
    return [row for row in items(data.get(key)) if isinstance(row, Mapping)]


def texts(value: object) -> list[str]:
    """The texts of a list that are not blank. A single text stands for a list of one."""
    members = items(value) or (value,)
    return [text for text in map(shown, members) if text]


def pairs(metadata: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The entries of a metadata object, sorted by key; nested values as JSON text, empty ones left out.

    False is an answer here (`draft: false`), unlike in attributes.
    """
    found = [(str(key), _metadata_text(value)) for key, value in metadata.items() if isinstance(key, (str, int))]
    return sorted((key, text) for key, text in found if key.strip() and text)


def _metadata_text(value: object) -> str:
    if value is False:
        return "false"
    if not isinstance(value, (list, tuple, Mapping)):
        return shown(value)
    if not value:
        return ""
    members = [shown(member) for member in items(value)]
    if members and all(members):
        return ", ".join(members)
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        # A key that is no text, a loop, or nesting without end: nothing that a reader could use.
        return ""
