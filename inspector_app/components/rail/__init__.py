"""The rail: the list of messages beside the linked view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspector_app import words
from inspector_app.components.assets import register

__all__ = ["rail"]

_mount = register("rail")


def rail(
    rows: Sequence[Mapping[str, Any]],
    *,
    key: str,
    group: str,
    base: str,
    rev: str,
    message: int,
    query: str = "",
    visit: int = 0,
) -> int | None:
    """Draw `rows` (of `views.rail.rail_rows`) and return the message that was chosen, or None.

    `group` is the key of the linked view that it moves. `base` changes with the trace, `rev` with anything drawn;
    `message` is the one to begin with, and to go to with another `visit`; `query` is what was searched for.
    """
    data = {
        "rows": rows,
        "group": group,
        "base": base,
        "rev": rev,
        "message": message,
        "query": query,
        "visit": visit,
        "words": words.common.RAIL,
    }
    chosen = _mount(key=key, data=data, on_message_change=_nothing).message
    return None if chosen is None else int(chosen)


def _nothing() -> None:
    """The value is read from the result; a callback makes sure that it is there."""
