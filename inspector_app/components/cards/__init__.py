"""Cards: samples and suggestions to choose, an error in one sentence, small tables of notices and items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspector_app.components.assets import register

__all__ = ["actions", "choose_card", "error_card", "pairs", "table"]

_mount = register("cards")


def choose_card(
    cards: Sequence[Mapping[str, Any]], *, key: str, on_choose: Callable[[], None] | None = None
) -> str | None:
    """Draw a card each (`key`, `title`, `lines`) and return the key of the one that was clicked in this run.

    `on_choose` is called before the page is drawn: the state of `key` then holds the key of the card as `chosen`.
    """
    chosen = _mount(key=key, data={"form": "cards", "cards": cards}, on_chosen_change=on_choose or _nothing).chosen
    return None if chosen is None else str(chosen)


def actions(title: str, hint: str, rows: Sequence[Mapping[str, str]], *, empty: str, key: str) -> str | None:
    """Draw what can be done, a row each, and return the key of the one whose button was pressed in this run.

    A row is `key`, `title`, `line`, the counts `before` and `after` with the `tone` of the second, and the word on its
    `button`; without a button it says only why nothing can be done. `empty` stands there without rows.
    """
    data = {"form": "actions", "title": title, "hint": hint, "rows": rows, "empty": empty}
    chosen = _mount(key=key, data=data, on_chosen_change=_nothing).chosen
    return None if chosen is None else str(chosen)


def pairs(rows: Sequence[Sequence[Mapping[str, str]]], *, key: str) -> None:
    """Draw durable values and the handles that stand for them (`text`, `space`, `tag` each)."""
    _mount(key=key, data={"form": "pairs", "pairs": rows})


def error_card(title: str, text: str, *, key: str, excerpt: Sequence[Mapping[str, Any]] = ()) -> None:
    """Draw what went wrong, where, and the lines around it (`number`, `text`, `bad`). `text` may quote a trace."""
    _mount(key=key, data={"form": "stop", "title": title, "text": text, "excerpt": excerpt})


def table(
    title: str,
    hint: str,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[Mapping[str, str]]],
    *,
    key: str,
) -> None:
    """Draw a small table. A column is (name, width); a cell is `text` with `kind` mono or identity, `tone`, `space`,
    and `under` it, perhaps, a path."""
    _mount(key=key, data={"form": "table", "title": title, "hint": hint, "columns": columns, "rows": rows})


def _nothing() -> None:
    """The value is read from the result; a callback makes sure that it is there."""
