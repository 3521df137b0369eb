"""The Sessions page: what a store holds, session by session and checkpoint by checkpoint."""

from __future__ import annotations

import streamlit as st

from inspector_app import state
from inspector_app.app_pages import sessions_open, sessions_store
from inspector_app.page_state.sessions import SessionsState


def _page() -> None:
    current = state.save(state.load(SessionsState))
    opened = sessions_open.opened(current)
    current = state.load(SessionsState)
    if opened is None:
        with st.container(key="opening"):
            sessions_open.empty_page(current)
    else:
        sessions_store.store_page(current, opened)


_page()
