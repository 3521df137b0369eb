"""The Sessions page with a store open: source line, list of sessions, and the chosen session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, cast

import pandas as pd
import streamlit as st

from inspector_app import state, stores, words
from inspector_app.app_pages import sessions_change, sessions_open, sessions_session
from inspector_app.app_pages.search_field import search_field
from inspector_app.components.cards import error_card
from inspector_app.components.facts import source_line
from inspector_app.page_state.sessions import SessionsState, session_mark
from inspector_app.session_list import ListedSession, list_sessions
from inspector_app.stores import OpenStore
from inspector_app.views.excerpt import sentence
from inspector_app.views.hidden import displayable
from inspector_app.views.sessions import session_rows
from modelcontext_core.contextstate import ContextStateError

__all__ = ["store_page"]

_PAGE: Final = 200
_CHOSEN: Final = "sessions_chosen"
_MENU: Final = "sessions_menu"


def store_page(current: SessionsState, opened: OpenStore) -> None:
    """Draw everything about one store."""
    try:
        _draw(current, opened)
    except ContextStateError as error:
        # A damaged store, or one that went away: said where it is, and what can be read is not hidden by it.
        error_card(words.sessions.CANNOT_BE_READ, displayable(sentence(str(error))), key="sessions_failed")
        with st.container(horizontal=True, gap="small"):
            st.button(words.sessions.AGAIN, key="sessions_again", icon=":material/refresh:")
            st.button(words.sessions.CLOSE, key="sessions_close_failed", on_click=_close, args=(opened,))


def _close(opened: OpenStore) -> None:
    stores.shelf().forget(opened.key)
    state.save(state.load(SessionsState).opened())


def _draw(current: SessionsState, opened: OpenStore) -> None:
    place = st.container(key="sessions_source")
    sessions_open.draw_problem(current)
    left, right = st.columns([276, 942], gap="small")
    with left:
        chosen = _list(current, opened)
    with place:
        _source_line(opened, chosen)
    if chosen is not None:
        with right:
            sessions_session.session_area(opened, chosen)


def _source_line(opened: OpenStore, chosen: str | None) -> None:
    info = opened.store.info()
    with st.container(horizontal=True, key="source", gap="small"):
        with st.popover(words.sessions.OPEN, icon=":material/database:", key="sessions_open_popover"):
            sessions_open.inputs()
            if st.button(words.sessions.CLOSE, key="sessions_close", icon=":material/close:"):
                _close(opened)
                st.rerun()
        with st.container(key="source_facts"):
            source_line(
                key="sessions_source_line",
                name=displayable(opened.name or words.sessions.SAMPLE_NAME),
                about=words.sessions.about_store(opened.kind, info.sessions, info.bytes),
            )
        if opened.full is not None and chosen is not None:
            st.button(
                words.sandbox.TRY_BACK if state.load(SessionsState).view == "try" else words.sandbox.TRY,
                key="sessions_try",
                icon=":material/science:",
                on_click=_toggle_try,
            )
        with st.popover(words.sessions.SESSION_MENU, icon=":material/more_horiz:", key=_MENU, on_change="rerun"):
            _menu(opened, chosen)


def _toggle_try() -> None:
    current = state.load(SessionsState)
    state.save(replace(current, view="diff" if current.view == "try" else "try"))


def _menu(opened: OpenStore, session_id: str | None) -> None:
    full = opened.full
    menu: dict[str, Any] = {"width": "stretch", "on_click": state.close, "args": (_MENU,)}
    if full is not None and session_id is not None:
        if st.button(words.sessions.VERIFY, key="sessions_verify", icon=":material/verified:", **menu):
            sessions_session.start_verify(opened, session_id)
        st.download_button(
            words.sessions.EXPORT,
            lambda: b"".join(full.export(session_id)),
            file_name=words.sessions.EXPORT_FILE,
            mime="application/jsonl",
            on_click="ignore",
            key="sessions_export",
            help=words.sessions.EXPORT_HELP,
            icon=":material/download:",
            width="stretch",
        )
        if st.button(words.sessions.DELETE, key="sessions_delete", icon=":material/delete:", **menu):
            sessions_change.delete_dialog(opened, session_id)
    if full is None:
        st.caption(words.sessions.CHANGES_ARE_OFF)
    elif st.button(words.sessions.IMPORT, key="sessions_import", icon=":material/upload:", **menu):
        sessions_change.import_dialog(opened)
    st.caption(words.sessions.LINK)
    st.code(state.link(state.load(SessionsState).shareable()), language=None, wrap_lines=True)


# --- the list


def _list(current: SessionsState, opened: OpenStore) -> str | None:
    """Draw the list and return the id of the chosen session."""
    prefix = search_field("sessions", key="sessions_prefix")
    version = f"{opened.key}:{opened.version}:{prefix}"
    limit = state.pinned("sessions_limit", version, _PAGE)
    listed = list_sessions(opened.store, prefix, limit=limit)
    if not listed:
        st.info(words.sessions.NO_SESSION if prefix else words.sessions.EMPTY_STORE)
        return None
    number = _number(current, opened, listed)
    whole = all(each.head is not None for each in listed)
    revision = st.column_config.NumberColumn if whole else st.column_config.TextColumn
    with st.container(key="sessions_list"):
        event = st.dataframe(
            pd.DataFrame(session_rows(listed)),
            hide_index=True,
            height="stretch",
            row_height=28,
            on_select="rerun",
            selection_mode="single-row-required",
            selection_default=cast("Any", {"selection": {"rows": [number]}}),
            key=f"sessions_list:{version}:{limit}",
            column_config={
                words.sessions.COLUMN_SESSION: st.column_config.TextColumn(width=180),
                words.sessions.COLUMN_REVISION: revision(width=48),
            },
        )
    if len(listed) == limit and st.button(words.sessions.MORE, key="sessions_more", width="stretch"):
        state.pin("sessions_limit", version, limit + _PAGE)
        st.rerun()
    picked = cast("dict[str, Any]", event)["selection"]["rows"]
    if picked and picked[0] < len(listed):
        number = picked[0]
    chosen = listed[number].session_id
    if session_mark(chosen) != current.session:
        state.save(current.at_session(chosen))
    return chosen


def _number(current: SessionsState, opened: OpenStore, listed: tuple[ListedSession, ...]) -> int:
    """The row that the address names, or the first."""
    marked = (number for number, each in enumerate(listed) if session_mark(each.session_id) == current.session)
    return state.pinned(_CHOSEN, f"{opened.key}:{opened.version}:{len(listed)}:{listed[0].session_id}", next(marked, 0))
