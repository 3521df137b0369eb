"""The linked view: two forms of one text side by side, where pointing at one lights the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector_app import words
from inspector_app.components.assets import register

__all__ = ["Asked", "linked_view"]

_mount = register("linked_view")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the reader asked for: another part of the trace by its number, a message that is not loaded, or the next
    raw id after (with `back`: before) a message; each None when it was not asked for."""

    part: int | None
    message: int | None
    raw_from: int | None
    back: bool


def linked_view(
    content: Mapping[str, Any],
    *,
    key: str,
    titles: tuple[str, str, str, str],
    rev: str,
    base: str,
    goto: int | None = None,
    detail: bool = True,
    flow: bool = False,
    alone: bool = False,
    tags: str = "left",
    next_raw: bool = False,
    query: str = "",
    least: int = 320,
    visit: int = 0,
) -> Asked:
    """Draw `content` (blocks and identities, as `views.linked` makes them).

    `rev` changes with the content and nothing else: an unchanged one does no work in the browser. Parts that share
    `base` may be appended to each other. `goto` is the message to begin at, and to go to with another `visit`.
    `detail` adds the strip that explains an identity, `flow` lets the height follow the content, `alone` rounds all
    corners, `tags` says on which side the durable values stand, `next_raw` adds the button and the key, `query` is
    marked wherever it stands, `least` is the least height in pixels.
    """
    data = {
        **content,
        "group": key,
        "rev": rev,
        "base": base,
        "titles": titles,
        "detail": detail,
        "flow": flow,
        "alone": alone,
        "tags": tags,
        "keys": not flow,
        "query": query,
        "least": least,
        "visit": visit,
        "words": {**words.common.LINKED_VIEW, "nextRaw": words.common.NEXT_RAW if next_raw else ""},
    }
    if goto is not None:
        data["goto"] = goto
    result = _mount(key=key, data=data, on_part_change=_nothing, on_wanted_change=_nothing, on_raw_change=_nothing)
    raw = result.raw or (None, 0)
    return Asked(part=result.part, message=result.wanted, raw_from=raw[0], back=bool(raw[1]))


def _nothing() -> None:
    """The values are read from the result; a callback makes sure that they are there."""
