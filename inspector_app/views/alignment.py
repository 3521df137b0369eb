"""Lay two forms of one text side by side, a row per source line.

The codec says which spans were replaced (`EncodeReport.spans`), so nothing is compared here: everything between two
spans is the same on both sides. A row is what stands on one source line; a replaced value that holds a line break stays
in one row, so that the sides can never slip.

Rows leave this module as plain lists, because they go to the browser by the thousand:

    [number, left, right, changed]      right is 0 where it equals left; number is 0 for the rest of a long line;
                                        changed is 2 where nothing is but a mark stands, so that it is not folded
    segment: "text" | [kind, text, identity, raw]

`kind` is one of the constants below, `text` what is drawn, `raw` the characters themselves where they differ from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from inspector_app.views.hidden import code_point, displayable, pieces

__all__ = [
    "DROPPED",
    "FOLD_LONGER_THAN",
    "IDENTITY",
    "KEPT",
    "LEFT",
    "MISSED",
    "RAW",
    "Mark",
    "Row",
    "Segment",
    "align",
    "fold",
    "narrowed",
]

IDENTITY: Final = "h"  # a durable value or its handle
RAW: Final = "x"  # a raw id that nobody declared
MISSED: Final = "m"  # an id that the registry knows and that stayed raw
LEFT: Final = "u"  # an id in text of the user, which stays on purpose
HIDDEN_CHARACTER: Final = "c"
KEPT: Final = "k"  # handle-shaped, not restored, left in the text
DROPPED: Final = "d"  # removed from the text

FOLD_LONGER_THAN: Final = 4
# A minified megabyte on one line would be one box for the browser: it is cut into rows of this many characters.
_ROW_CHARACTERS: Final = 4_000

# The attribute of a canonical citation that names the knowledge base.
_BASE: Final = re.compile(r'kb_id="([^"]+)"')

Segment = str | list[str | int]
Row = list[object]
# Yields the spans of what looks like an identifier.
Finder = Callable[[str], Iterable[tuple[int, int]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A place that differs or is worth showing: its characters on the left and on the right, and what it is."""

    start: int
    end: int
    out_start: int
    out_end: int
    kind: str = IDENTITY
    identity: int = -1


def align(
    left: str,
    right: str,
    marks: Sequence[Mark],
    *,
    raw_ids: Finder | None = None,
    raw_kind: Callable[[str], str] = lambda _: RAW,
    first_number: int = 1,
) -> list[Row]:
    """Return the rows of two aligned texts.

    `marks` stand in order and do not overlap. `raw_ids` finds raw identifiers in the text that both sides share, and
    `raw_kind` says for each whether it is `RAW`, `MISSED`, `LEFT` or "" (none). Numbering starts at `first_number`.
    """
    builder = _Rows(first_number)
    cursor = out_cursor = 0
    for mark in marks:
        _shared(builder, left[cursor : mark.start], right[out_cursor : mark.out_start], raw_ids, raw_kind)
        builder.add(
            _marked(mark, left[mark.start : mark.end]) if mark.end > mark.start else None,
            _marked(mark, right[mark.out_start : mark.out_end]) if mark.out_end > mark.out_start else None,
            changed=True,
        )
        cursor, out_cursor = mark.end, mark.out_end
    _shared(builder, left[cursor:], right[out_cursor:], raw_ids, raw_kind)
    return builder.finish()


def fold(rows: Sequence[Row]) -> list[object]:
    """Replace the middle of every unchanged run of more than four rows by `{"fold": [rows]}`.

    The first and the last row of a run stay, so that a reader sees what the fold stands between.
    """
    result: list[object] = []
    run: list[Row] = []

    def close() -> None:
        if len(run) > FOLD_LONGER_THAN:
            result.extend((run[0], {"fold": run[1:-1]}, run[-1]))
        else:
            result.extend(run)
        run.clear()

    for row in rows:
        if row[3]:
            close()
            result.append(row)
        else:
            run.append(row)
    close()
    return result


def narrowed(mark: Mark, left: str, right: str, left_value: str, right_value: str) -> Mark:
    """Return `mark` around the two values alone, where each stands once inside it; else the mark as it is.

    A whole citation tag or URI is replaced, but what one looks for in it is the id.
    """
    inside, out = left[mark.start : mark.end], right[mark.out_start : mark.out_end]
    if not left_value or not right_value or inside.count(left_value) != 1 or out.count(right_value) != 1:
        return mark
    start, out_start = mark.start + inside.index(left_value), mark.out_start + out.index(right_value)
    return replace(
        mark,
        start=start,
        end=start + len(left_value),
        out_start=out_start,
        out_end=out_start + len(right_value),
    )


def bases_after(mark: Mark, whole: Mark, left: str, right: str, known: Mapping[str, int]) -> list[Mark]:
    """Return marks for the knowledge bases in what `narrowed` left out behind `mark`, on the side where they stand.

    A citation tag names its base beside its chunk; the handle form of a citation names the chunk alone.
    """
    found: list[Mark] = []
    for match in _BASE.finditer(left, mark.end, whole.end):
        if match[1] in known:
            start, end = match.span(1)
            found.append(
                Mark(start=start, end=end, out_start=whole.out_end, out_end=whole.out_end, identity=known[match[1]])
            )
    for match in _BASE.finditer(right, mark.out_end, whole.out_end):
        if match[1] in known:
            start, end = match.span(1)
            found.append(Mark(start=whole.end, end=whole.end, out_start=start, out_end=end, identity=known[match[1]]))
    return found[:1]


class _Rows:
    """Collects segments and closes a row at each line feed of shared text."""

    def __init__(self, first_number: int) -> None:
        self._number = first_number
        self._rows: list[Row] = []
        self._left: list[Segment] = []
        self._right: list[Segment] = []
        self._changed = False
        self.marked = False
        self._continued = False
        self._length = 0

    def add(self, left: Segment | None, right: Segment | None, *, changed: bool = False, length: int = 0) -> None:
        if left is not None:
            self._left.append(left)
        if right is not None:
            self._right.append(right)
        self._changed = self._changed or changed
        self._length += length
        if self._length >= _ROW_CHARACTERS:
            self.close(continued=True)

    def close(self, *, continued: bool = False) -> None:
        same = self._left == self._right
        number = 0 if self._continued else self._number
        changed = 1 if self._changed else 2 if self.marked else 0
        self._rows.append([number, self._left, 0 if same else self._right, changed])
        self._number += 0 if continued else 1
        self._left, self._right, self._changed, self._length = [], [], False, 0
        self.marked = False
        self._continued = continued

    def finish(self) -> list[Row]:
        # After a line end there is one more row, be it empty; after the cut of a long line there need not be.
        if self._left or self._right or not self._continued:
            self.close()
        return self._rows


def _shared(builder: _Rows, left: str, right: str, raw_ids: Finder | None, raw_kind: Callable[[str], str]) -> None:
    if left != right:
        # What differs here is no part of a mark (the rest of a tag): shown as it is on each side.
        same = _common(left, right)
        after = _common(left[same:][::-1], right[same:][::-1])
        _lines(builder, left[:same], raw_ids, raw_kind)
        builder.add(
            displayable(left[same : len(left) - after]) or None,
            displayable(right[same : len(right) - after]) or None,
            changed=True,
        )
        left = left[len(left) - after :]
    _lines(builder, left, raw_ids, raw_kind)


def _common(left: str, right: str) -> int:
    """How many characters two texts have in common at their beginning."""
    return next(
        (at for at, (one, other) in enumerate(zip(left, right, strict=False)) if one != other),
        min(len(left), len(right)),
    )


def _lines(builder: _Rows, text: str, raw_ids: Finder | None, raw_kind: Callable[[str], str]) -> None:
    first, *rest = text.split("\n")
    _line(builder, first, raw_ids, raw_kind)
    for line in rest:
        builder.close()
        _line(builder, line, raw_ids, raw_kind)


def _line(builder: _Rows, line: str, raw_ids: Finder | None, raw_kind: Callable[[str], str]) -> None:
    cursor = 0
    for start, end in raw_ids(line) if raw_ids else ():
        kind = raw_kind(line[start:end])
        if kind:
            _plain(builder, line[cursor:start])
            segment: Segment = [kind, line[start:end]]
            builder.add(segment, segment, changed=kind != LEFT)
            builder.marked = True
            cursor = end
    _plain(builder, line[cursor:])


def _plain(builder: _Rows, text: str) -> None:
    for start in range(0, len(text), _ROW_CHARACTERS):
        for piece, is_hidden in pieces(text[start : start + _ROW_CHARACTERS]):
            segment: Segment = [HIDDEN_CHARACTER, code_point(piece), -1, piece] if is_hidden else piece
            builder.add(segment, segment, changed=is_hidden, length=len(piece))


def _marked(mark: Mark, text: str) -> Segment:
    shown = displayable(text.replace("\n", "⏎"))
    return [mark.kind, shown, mark.identity] if shown == text else [mark.kind, shown, mark.identity, text]
