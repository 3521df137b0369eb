"""The heat map: a table of buttons, tools and roles by field, with its numbers always in words as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspector_app import words
from inspector_app.components.assets import register

__all__ = ["heat_map"]

_mount = register("heat_map")


def heat_map(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, key: str, chosen: tuple[int, int]
) -> tuple[int, int] | None:
    """Draw `rows` (of `views.leaks.heat_rows`; names may be trace text) and return the cell that was clicked in this
    run as (row, column), or None. A column of -1 is the whole row."""
    data = {"rows": rows, "columns": columns, "chosen": chosen, "words": words.leaks.HEAT_MAP}
    cell = _mount(key=key, data=data, on_cell_change=_nothing).cell
    return None if cell is None else (int(cell[0]), int(cell[1]))


def _nothing() -> None:
    """The value is read from the result; a callback makes sure that it is there."""
