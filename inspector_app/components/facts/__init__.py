"""Facts in a line: the source of a trace, what was proven about it, and its spaces as filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspector_app.components.assets import register

__all__ = ["chips", "proof_line", "source_line"]

_mount = register("facts")


def source_line(*, key: str, name: str, about: str, badge: str = "") -> None:
    """Draw the name of the trace, what it is, and a warning when it was not read whole. `name` may be trace text."""
    _mount(key=key, data={"line": "source", "name": name, "about": about, "badge": badge})


def proof_line(facts: Sequence[Mapping[str, str]], *, key: str, group: str, unfinished: bool = False) -> str | None:
    """Draw `facts` (of `views.facts`) and return the key of one that was clicked in this run.

    A fact with a `note` can be clicked: the linked view `group` then shows the note. While it is `unfinished`, the
    fragment that it stands in runs again every now and then.
    """
    data = {"line": "proof", "facts": facts, "group": group, "unfinished": unfinished}
    asked = _mount(key=key, data=data, on_asked_change=_nothing, on_again_change=_nothing).asked
    return None if asked is None else str(asked)


def chips(rows: Sequence[Mapping[str, Any]], *, key: str, group: str, base: str, filters: bool = True) -> None:
    """Draw a chip for each space; with `filters`, pressing one filters the messages of the linked view `group`."""
    data = {"line": "chips", "chips": rows, "group": group, "base": base, "filters": filters}
    _mount(key=key, data=data)


def _nothing() -> None:
    """The value is read from the result; a callback makes sure that it is there."""
