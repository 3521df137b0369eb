"""Tables as CSV in which a spreadsheet runs nothing: a cell that would be a formula begins with an apostrophe."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Final

from inspector_app.views.hidden import displayable

__all__ = ["csv_file"]

# The full-width forms count as formulas where people write Japanese or Chinese.
_FORMULA_SIGNS: Final = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def csv_file(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return a table as UTF-8 CSV. What cannot be seen is written as its code point."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue().encode("utf-8")


def _cell(value: object) -> str:
    text = displayable(str(value))
    # Some programs leave out blanks, tabs and line ends at the beginning before they look for the sign.
    runs = text.startswith(("\t", "\n")) or text.lstrip().startswith(_FORMULA_SIGNS)
    return f"'{text}" if runs else text
