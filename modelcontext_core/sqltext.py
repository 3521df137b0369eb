"""SQL as text: where its literals, comments and quoted identifiers are.

Handles in SQL become ids: inside a `'…'` literal any id can stand, with its apostrophes doubled; anywhere else only an
id that no dialect could read as more than a word. So the one question is what surely is a literal, and where dialects
differ the answer is the one that calls less text a literal, by the rules of PostgreSQL:

- `'…'` with `''` for an apostrophe. A backslash is an ordinary character (standard strings), except in `E'…'`, where
  it escapes the next one: see `Region.backslash`. `N'…'`, `B'…'`, `X'…'` end as plain ones do.
- `-- …` to the end of the line, `/* … */` nested. `#` is an operator, not a comment.
- `"…"` and `` `…` `` are quoted identifiers, the quote doubled inside. `[…]` is none: `ARRAY['…']` and `x[1]` are far
  more common than bracketed names.
- `$tag$ … $tag$` is a region of its own: a string in which nothing can be escaped, hence no place for any id.
- What is not closed runs to the end of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, Literal

__all__ = ["Region", "RegionKind", "quote_inner", "region_at", "regions", "unquote_inner"]

RegionKind = Literal["code", "literal", "comment", "identifier", "dollar"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A stretch of SQL of one kind, its quotes or comment signs included.

    `backslash` marks an `E'…'` literal (the region begins at the apostrophe, the `E` is code).
    """

    start: int
    end: int
    kind: RegionKind
    backslash: bool = False


# What may begin something other than code. A `$` or an `E` inside a word begins nothing.
_OPENER: Final = re.compile(r"""['"`$]|--|/\*""")
_DOLLAR_TAG: Final = re.compile(r"(?<![\w$])\$(?:[^\W\d]\w*+)?+\$")
_ESCAPE_PREFIX: Final = re.compile(r"(?<![\w$])[eE]'")
_STANDARD: Final = re.compile(r"'[^']*+(?:''[^']*+)*+'?+")
_ESCAPED: Final = re.compile(r"'[^'\\]*+(?:(?:''|\\.?+)[^'\\]*+)*+'?+", re.DOTALL)
_DOUBLE: Final = re.compile(r'"[^"]*+(?:""[^"]*+)*+"?+')
_BACKTICK: Final = re.compile(r"`[^`]*+(?:``[^`]*+)*+`?+")
_LINE: Final = re.compile(r"--[^\r\n]*+")
_BLOCK_SIGN: Final = re.compile(r"/\*|\*/")


def regions(sql: str) -> list[Region]:
    """Split SQL into regions that follow each other without a gap; text that is no SQL is split by the same rules."""
    found: list[Region] = []
    code = 0  # where the code before the next region begins
    position = 0
    while opener := _OPENER.search(sql, position):
        start = opener.start()
        region = _region_from(sql, start)
        if region is None:
            position = start + 1
            continue
        if code < start:
            found.append(Region(start=code, end=start, kind="code"))
        found.append(region)
        code = position = region.end
    if code < len(sql):
        found.append(Region(start=code, end=len(sql), kind="code"))
    return found


def _region_from(sql: str, start: int) -> Region | None:
    char = sql[start]
    if char == "'":
        backslash = start > 0 and _ESCAPE_PREFIX.match(sql, start - 1) is not None
        end = _end(_ESCAPED if backslash else _STANDARD, sql, start)
        return Region(start=start, end=end, kind="literal", backslash=backslash)
    if char == "-":
        return Region(start=start, end=_end(_LINE, sql, start), kind="comment")
    if char == "/":
        return Region(start=start, end=_block_end(sql, start), kind="comment")
    if char == "$":
        tag = _DOLLAR_TAG.match(sql, start)
        if tag is None:
            return None
        close = sql.find(tag[0], tag.end())
        return Region(start=start, end=len(sql) if close < 0 else close + len(tag[0]), kind="dollar")
    return Region(start=start, end=_end(_DOUBLE if char == '"' else _BACKTICK, sql, start), kind="identifier")


def _end(pattern: re.Pattern[str], sql: str, start: int) -> int:
    match = pattern.match(sql, start)
    return match.end() if match else start + 1


def _block_end(sql: str, start: int) -> int:
    depth = 0
    for sign in _BLOCK_SIGN.finditer(sql, start):
        depth += 1 if sign[0] == "/*" else -1
        if depth == 0:
            return sign.end()
    return len(sql)


_start_of = attrgetter("start")


def region_at(found: Sequence[Region], position: int) -> Region:
    """The region of `regions(sql)` that holds the character at a position, which must lie in the text."""
    index = bisect_right(found, position, key=_start_of) - 1
    if index < 0 or position >= found[index].end:
        raise IndexError(f"no region at {position}")
    return found[index]


_DOUBLED: Final = re.compile(r"(['\\])\1")


def quote_inner(value: str, *, backslash: bool = False) -> str:
    """A value as it stands between the apostrophes of a literal; `backslash` as in the literal's region."""
    if backslash:
        value = value.replace("\\", "\\\\")
    return value.replace("'", "''")


def unquote_inner(inner: str, *, backslash: bool = False) -> str:
    """Undo `quote_inner`. Other escapes of an `E'…'` literal (`\n`, `\x41`) stay as they are written."""
    return _DOUBLED.sub(r"\1", inner) if backslash else inner.replace("''", "'")
