"""Opening a store: the inputs, the sample, and what is said when it cannot be opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import streamlit as st

from inspector_app import launch, places, state, stores, words
from inspector_app.components.cards import error_card
from inspector_app.page_state.sessions import SessionsState
from inspector_app.stores import OpenStore
from inspector_app.views.excerpt import sentence
from inspector_app.views.hidden import displayable
from modelcontext_core.contextstate import ContextStateError

__all__ = ["draw_problem", "empty_page", "inputs", "opened"]

_PATH: Final = "sessions_path"
_FILE: Final = "sessions_file"
_DATABASE: Final = "sessions_database"
_HELD: Final = "sessions_held"
_PROBLEM: Final = "sessions_problem"
_OLD: Final = "sessions_old"


def opened(current: SessionsState) -> OpenStore | None:
    """Return the store that the state names, opening it if need be; None when there is none."""
    if not current.is_open:
        return None
    source = f"{current.sample}:{current.path}:{current.key}"
    held = stores.shelf().get(current.key or state.pinned(_HELD, source, ""))
    if held is not None:
        return held
    if current.key:
        state.save(replace(current.opened(), problem=words.sessions.EXPIRED))
        return None
    if current.path and not launch.local_files_allowed():
        state.save(replace(current.opened(), problem=words.sessions.FILES_ARE_OFF))
        return None
    held = _attempt(stores.open_sample if current.sample else lambda: stores.open_file(places.typed_path(current.path)))
    if held is None:
        if stores.needs_migration(places.typed_path(current.path)):
            state.pin(_OLD, "", current.path)
        state.save(current.opened())
        return None
    state.pin(_HELD, source, held.key)
    return held


def empty_page(current: SessionsState) -> None:
    """Draw the page without a store: what it is for, and the inputs."""
    draw_problem(current)
    st.title(words.sessions.EMPTY_TITLE, anchor=False)
    with st.container(key="empty_text"):
        st.text(words.sessions.EMPTY_TEXT)
    inputs()


def draw_problem(current: SessionsState) -> None:
    """Draw why the last attempt failed, and the way on where there is one."""
    said = state.pinned(_PROBLEM, "", "")
    if current.problem:
        error_card(words.opening.LINK_TITLE, current.problem, key="sessions_link_problem")
    old = state.pinned(_OLD, "", "")
    if old:
        error_card(words.sessions.MIGRATE_TITLE, words.sessions.MIGRATE_ASKS, key="sessions_old_store")
        with st.container(horizontal=True, gap="small"):
            st.button(words.sessions.MIGRATE, key="sessions_migrate", on_click=_migrate, args=(old,))
            st.button(words.sessions.CANCEL, key="sessions_migrate_not", on_click=_forget)
    elif said:
        error_card(words.sessions.NOT_A_STORE, said, key="sessions_problem_card")
        st.button(words.opening.DISMISS, key="sessions_dismiss", on_click=_forget)


def inputs() -> None:
    """Draw the ways to a store: sample, export, path, database."""
    st.button(
        words.sessions.OPEN_SAMPLE, key="sessions_sample", type="primary", icon=":material/science:", on_click=_sample
    )
    st.file_uploader(words.sessions.UPLOAD, key=_FILE, on_change=_upload)
    if not launch.local_files_allowed():
        st.caption(words.sessions.FILES_ARE_OFF)
        return
    st.text_input(
        words.sessions.PATH,
        key=_PATH,
        placeholder=words.sessions.PATH_HINT,
        label_visibility="collapsed",
        icon=":material/folder:",
        on_change=_path,
    )
    st.text_input(
        words.sessions.POSTGRES,
        key=_DATABASE,
        type="password",
        placeholder=words.sessions.POSTGRES_HINT,
        label_visibility="collapsed",
        icon=":material/database:",
        on_change=_database,
    )


def _attempt(opener: Callable[[], OpenStore]) -> OpenStore | None:
    _forget()
    try:
        return opener()
    except IsADirectoryError:
        said = words.opening.NO_SUCH_FILE
    except OSError:
        said = words.opening.NO_SUCH_FILE
    except ContextStateError as error:
        said = displayable(sentence(str(error)))
    state.pin(_PROBLEM, "", said)
    return None


def _forget() -> None:
    state.unpin(_PROBLEM, _OLD)


# --- callbacks


def _sample() -> None:
    _forget()
    state.save(state.load(SessionsState).opened(sample=True))


def _upload() -> None:
    uploaded = state.field(_FILE)
    if uploaded is None:
        return
    held = _attempt(lambda: stores.open_export(uploaded.getvalue(), uploaded.name))
    if held is not None:
        state.save(state.load(SessionsState).opened(key=held.key))


def _path() -> None:
    named = (state.field(_PATH) or "").strip()
    if not named:
        return
    path = places.typed_path(named)
    held = _attempt(lambda: stores.open_file(path))
    if held is not None:
        wanted = state.load(SessionsState).opened(path=named)
        state.pin(_HELD, f"{wanted.sample}:{wanted.path}:{wanted.key}", held.key)
        state.save(wanted)
        state.forget(_PATH)
    elif stores.needs_migration(path):
        state.pin(_OLD, "", named)


def _database() -> None:
    url = (state.field(_DATABASE) or "").strip()
    if not url:
        return
    held = _attempt(lambda: stores.open_postgres(url))
    state.forget(_DATABASE)
    if held is not None:
        state.save(state.load(SessionsState).opened(key=held.key))


def _migrate(path: str) -> None:
    _forget()
    try:
        stores.migrate(places.typed_path(path))
    except ContextStateError as error:
        state.pin(_PROBLEM, "", displayable(sentence(str(error))))
    else:
        state.save(state.load(SessionsState).opened(path=path))
