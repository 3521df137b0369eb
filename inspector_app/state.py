"""The one door to session state and query parameters.

What a page remembers is a frozen dataclass in `page_state`, with `to_query` and `from_query`; pages read and write it
through `load` and `save` and use no string keys of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Protocol, TypeVar, cast
from urllib.parse import urlencode

import streamlit as st

from inspector_app.page_state.playground import PlaygroundState
from modelcontext_core.formats.base import Notice

__all__ = [
    "PageState",
    "Problem",
    "bind",
    "changed",
    "clear",
    "close",
    "field",
    "first_time",
    "forget",
    "held_key",
    "keep",
    "kept",
    "link",
    "load",
    "pin",
    "pinned",
    "problem",
    "save",
    "set_held_key",
    "set_problem",
    "shown",
    "unpin",
    "visit",
]

_MARK: Final = "inspector:"
_SHOWN: Final = f"{_MARK}shown"
_SLASHES_OF_A_SERVER: Final = 2
_VISIT: Final = f"{_MARK}visit"
_SHARES_A_SOURCE: Final = {"streams": ("streams", "playground")}
# What the components of the Playground are told once about the place in a trace, and whether a stream plays.
_PLACES: Final = ("part", "goto", "rail", "streams_playing")
_Value = TypeVar("_Value")


class PageState(Protocol):
    """What the state of a page can do: name its page, and become query parameters and back."""

    page: ClassVar[str]

    def to_query(self) -> dict[str, str]:
        """Return the query parameters."""
        ...

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> PageState:
        """Read query parameters; wrong values fall back."""
        ...


_State = TypeVar("_State", bound=PageState)


def load(kind: type[_State]) -> _State:
    """Return the state of a page in this tab; the first run of a session reads it from the address."""
    slot = _MARK + kind.page
    if slot not in st.session_state:
        st.session_state[slot] = kind.from_query(st.query_params.to_dict())
    return cast("_State", st.session_state[slot])


def save(state: _State, *, address: bool = True) -> _State:
    """Keep the state of a page, and bring the `address` in step with it while that page is shown.

    Each address is a step of the browser's history: the state of another page has no part in it, nor what only passes.
    """
    st.session_state[_MARK + state.page] = state
    wanted = state.to_query()
    here = st.session_state.get(_SHOWN, state.page) == state.page
    if address and here and st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)
    return state


def shown(page: str) -> None:
    """Take note of which page is drawn now. After Back and Forward of the browser its address says what it shows."""
    st.session_state[_SHOWN] = page
    context = st.runtime.scriptrunner.get_script_run_ctx()
    if context is not None and context.is_history_navigation:
        for name in _SHARES_A_SOURCE.get(page, (page,)):
            st.session_state.pop(_MARK + name, None)
        unpin(*_PLACES)
        set_problem(None)
        st.session_state[_VISIT] = visit() + 1


def visit() -> int:
    """Return how often the browser went back or forward: then components go to the place that they are told."""
    return int(st.session_state.get(_VISIT, 0))


def link(state: PageState) -> str:
    """Return the address that opens a page in this state."""
    address, query = (st.context.url or "").rstrip("/"), urlencode(state.to_query())
    # The address of the first page is that of the server, which ends with a slash before a question mark.
    address += "/" if address.count("/") == _SLASHES_OF_A_SERVER else ""
    return f"{address}?{query}" if query else address


def bind(kind: type[PageState], field: str) -> dict[str, Any]:
    """Return `key` and `on_change` that tie a widget to a field of a page's state, both ways."""
    key = f"{_MARK}{kind.page}.{field}"
    st.session_state[key] = getattr(load(kind), field)
    return {"key": key, "on_change": _take, "args": (kind, field, key)}


def _take(kind: type[PlaygroundState], field: str, key: str) -> None:
    save(replace(load(kind), **{field: st.session_state[key]}))


# --- values that a component is told once


def pinned(name: str, version: str, value: _Value) -> _Value:
    """Return the value that was first given under `name` for this `version`.

    What a component is told once (where to begin) must not change with every click, or it would all be sent again.
    """
    slot = f"{_MARK}pinned:{name}"
    if slot not in st.session_state or st.session_state[slot][0] != version:
        st.session_state[slot] = (version, value)
    return cast("_Value", st.session_state[slot][1])


def pin(name: str, version: str, value: object) -> None:
    """Give a new value under `name` for this `version`."""
    st.session_state[f"{_MARK}pinned:{name}"] = (version, value)


def changed(name: str, version: str, value: object) -> bool:
    """Return whether `value` is another than the last time; what a widget keeps returning is an act only once."""
    slot = f"{_MARK}last:{name}"
    last = st.session_state.get(slot)
    st.session_state[slot] = (version, value)
    return last != (version, value)


def unpin(*names: str) -> None:
    """Let the next value given under each name count."""
    for name in names:
        st.session_state.pop(f"{_MARK}pinned:{name}", None)


# --- what a tab holds besides


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why something could not be opened: a title, a sentence (it may quote the source) and the lines around the place.

    Of a damaged source, `rest` is the state that opens what could be read of it, with so many `messages`.
    """

    title: str
    text: str
    excerpt: tuple[Mapping[str, Any], ...] = ()
    rest: PlaygroundState | None = None
    messages: int = 0
    notices: tuple[Notice, ...] = ()


def problem() -> Problem | None:
    """Return the problem of the last attempt to open something, until something else is opened."""
    return cast("Problem | None", st.session_state.get(f"{_MARK}problem"))


def set_problem(value: Problem | None) -> None:
    """Keep or clear the problem."""
    st.session_state[f"{_MARK}problem"] = value


def keep(name: str, value: object) -> None:
    """Keep a value for this tab under a name of ours."""
    st.session_state[f"{_MARK}kept:{name}"] = value


def kept(name: str) -> Any:
    """Return what was kept under a name, or None."""
    return st.session_state.get(f"{_MARK}kept:{name}")


def held_key(source: str) -> str:
    """Return the key under which this tab already holds a sample or path, or ""."""
    kept = st.session_state.get(f"{_MARK}held", ("", ""))
    return str(kept[1]) if kept[0] == source else ""


def set_held_key(source: str, key: str) -> str:
    """Remember under which key a sample or path is held; return the key of what no state of this tab finds any more."""
    before = st.session_state.get(f"{_MARK}held", ("", ""))[1]
    st.session_state[f"{_MARK}held"] = (source, key)
    return str(before) if before != key else ""


def first_time(name: str) -> bool:
    """Return True the first time that this is asked in a session."""
    slot = f"{_MARK}once:{name}"
    first = slot not in st.session_state
    st.session_state[slot] = True
    return first


def field(name: str) -> Any:
    """Return what stands in a widget, for its callback; None when it is not drawn."""
    return st.session_state.get(name)


def clear(*names: str) -> None:
    """Empty fields of text, in a callback. To forget one that is drawn again at once would cut it off from the page."""
    for name in names:
        st.session_state[name] = ""


def close(name: str) -> None:
    """Close a popover, in a callback: what it opened must not lie below it."""
    st.session_state[name] = False


def forget(*names: str) -> None:
    """Drop the values of widgets, so that they begin anew."""
    for name in names:
        st.session_state.pop(name, None)
