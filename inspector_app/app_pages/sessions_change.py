"""What changes a store: revoke, delete, import. Each asks first, and opens the store for writing for that act only."""

from __future__ import annotations

import streamlit as st

from inspector_app import state, stores, words
from inspector_app.components.cards import error_card
from inspector_app.page_state.sessions import SessionsState
from inspector_app.stores import OpenStore
from inspector_app.views.hidden import displayable
from modelcontext_core.contextstate import ContextStateError, PayloadRow

__all__ = ["delete_dialog", "import_dialog", "revoke_dialog"]


@st.dialog(words.sessions.REVOKE_TITLE)
def revoke_dialog(opened: OpenStore, session_id: str, row: PayloadRow) -> None:
    """Ask for the session id, then revoke the payload."""
    st.code(row.record.ref.ref, language=None, wrap_lines=True)
    st.caption(words.sessions.revoke_asks(row.holders, row.sessions))
    if not _confirmed(session_id, "revoke"):
        return
    try:
        with stores.writing(opened) as store:
            store.revoke(row.record.ref)
    except ContextStateError as error:
        _failed(error)
    else:
        st.rerun()


@st.dialog(words.sessions.DELETE_TITLE)
def delete_dialog(opened: OpenStore, session_id: str) -> None:
    """Ask for the session id, then delete the session."""
    st.caption(words.sessions.DELETE_ASKS)
    if not _confirmed(session_id, "delete"):
        return
    try:
        with stores.writing(opened) as store:
            store.delete_session(session_id)
    except ContextStateError as error:
        _failed(error)
    else:
        current = state.load(SessionsState)
        state.save(current.opened(sample=current.sample, path=current.path, key=current.key))
        st.rerun()


@st.dialog(words.sessions.IMPORT_TITLE)
def import_dialog(opened: OpenStore) -> None:
    """Ask for a file and the consent, then import the session."""
    st.caption(words.sessions.IMPORT_ASKS)
    uploaded = st.file_uploader(words.sessions.IMPORT_FILE, key="sessions_import_file")
    if not st.button(words.sessions.IMPORT_NOW, key="sessions_import_now", type="primary", disabled=uploaded is None):
        return
    try:
        with stores.writing(opened) as store:
            report = store.import_(uploaded.getvalue() if uploaded is not None else b"")
    except ContextStateError as error:
        _failed(error)
    else:
        st.success(words.sessions.imported(report.imported, report.checkpoints, report.events))
        state.save(state.load(SessionsState).at_session(report.session_id))
        st.rerun()


def _confirmed(session_id: str, act: str) -> bool:
    """Ask to type the session id; True when it was typed and the button pressed."""
    # Shown as code, where it can be read letter by letter.
    st.code(displayable(session_id), language=None)
    typed = st.text_input(words.sessions.TYPE_ID, key=f"sessions_{act}_typed")
    return st.button(
        words.sessions.REVOKE_NOW if act == "revoke" else words.sessions.DELETE_NOW,
        key=f"sessions_{act}_now",
        type="primary",
        # One with hidden characters is typed as it is shown.
        disabled=typed not in (session_id, displayable(session_id)),
    )


def _failed(error: ContextStateError) -> None:
    error_card(words.sessions.CHANGE_FAILED, displayable(str(error)), key="sessions_change_failed")
