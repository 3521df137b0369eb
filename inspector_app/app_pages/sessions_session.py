"""One session: its facts, the timeline of its checkpoints, and the views below it."""

from __future__ import annotations

from typing import Final

import streamlit as st

from inspector_app import state, words
from inspector_app.app_pages import sessions_detail, sessions_sandbox
from inspector_app.components.cards import error_card, table
from inspector_app.components.facts import proof_line
from inspector_app.page_state.sessions import SessionsState
from inspector_app.stores import OpenStore, Verification
from inspector_app.views.hidden import displayable
from inspector_app.views.sessions import break_rows, session_facts
from inspector_app.views.sessions_timeline import chosen_revision, palette, timeline, timeline_head
from modelcontext_core.contextstate import ContextStateError, DamagedStoreError, SessionHead, VerifyReport

__all__ = ["session_area", "start_verify"]

# Checkpoints that the timeline shows at once.
_PAGE: Final = 100
_SHORT_WAIT: Final = 1.5
# Under which the report of a session is kept whose head cannot be read.
_NO_REVISION: Final = 0


def session_area(opened: OpenStore, session_id: str) -> None:
    """Draw a session; while it is verified the area draws itself again every second."""
    running = opened.verification is not None and opened.verification.running()
    st.fragment(_area, run_every=1.0 if running else None)(opened, session_id, running)


def start_verify(opened: OpenStore, session_id: str) -> None:
    """Begin to verify; what is done soon is there at once."""
    if opened.verification is not None and opened.verification.running():
        return
    try:
        revision = opened.store.head(session_id, contexts=False).revision.session
    except DamagedStoreError:
        revision = _NO_REVISION
    opened.verification = Verification(opened, session_id, revision)
    opened.verification.running(_SHORT_WAIT)


def _area(opened: OpenStore, session_id: str, was_running: bool) -> None:
    try:
        _session(opened, session_id, was_running)
    except ContextStateError as error:
        _not_whole(error)


def _session(opened: OpenStore, session_id: str, was_running: bool) -> None:
    running = opened.verification is not None and opened.verification.running()
    if was_running and not running:
        st.rerun()  # ends that this is drawn again and again
    try:
        head = opened.store.head(session_id, contexts=False)
    except DamagedStoreError as error:
        # Nothing else can be shown then; of a damaged checkpoint, the facts have said this already.
        _not_whole(error)
        _verified(opened, opened.reports.get((session_id, _NO_REVISION)), running)
        return
    _facts(opened, head, running)
    if state.load(SessionsState).view == "try" and opened.full is not None:
        sessions_sandbox.sandbox(opened, head)
        return
    _timeline(opened, head)
    sessions_detail.detail(opened, head)


def _not_whole(error: ContextStateError) -> None:
    error_card(words.sessions.DAMAGED_TITLE, displayable(str(error)), key="sessions_damaged")


def _facts(opened: OpenStore, head: SessionHead, running: bool) -> None:
    totals = opened.store.payload_totals(head.session_id)
    report = opened.reports.get((head.session_id, head.revision.session))
    verifiable = opened.full is not None
    asked = proof_line(
        session_facts(head, totals, report, verifiable=verifiable), key="sessions_facts", group="sessions"
    )
    if asked == "verify" and not running:
        start_verify(opened, head.session_id)
        st.rerun()
    _verified(opened, report, running)


def _verified(opened: OpenStore, report: VerifyReport | None, running: bool) -> None:
    """Draw that a session is being verified, why it could not be, and what was found broken."""
    if running and opened.verification is not None:
        with st.container(horizontal=True, key="sessions_running", gap="small"):
            st.caption(words.sessions.VERIFYING)
            st.button(words.sessions.STOP, key="sessions_stop", on_click=opened.verification.stop)
    elif opened.verification is not None and opened.verification.error:
        error_card(words.sessions.DAMAGED_TITLE, displayable(opened.verification.error), key="sessions_verify_failed")
    if report is not None and report.breaks:
        table(
            words.sessions.BREAK_TITLE,
            words.sessions.breaks(len(report.breaks)),
            words.sessions.BREAK_COLUMNS,
            break_rows(report),
            key="sessions_breaks",
        )


def _timeline(opened: OpenStore, head: SessionHead) -> None:
    current = state.load(SessionsState)
    total = head.revision.session
    revision, base = sessions_detail.places(current, total)
    first = (revision - 1) // _PAGE * _PAGE
    before = opened.store.history(head.session_id, first - 1, 1, contexts=False)[0] if first else None
    entries = opened.store.history(head.session_id, first, _PAGE, contexts=False)
    colours = palette(st.context.theme.type)
    version = f"{opened.key}:{opened.version}:{head.session_id}:{first}"
    # Drawn from the bottom up: the place begins at its end, where the newest checkpoints are.
    with st.container(key="sessions_timeline", height=300, gap=None):
        if total > _PAGE:
            _pages(first, total)
        key = f"sessions_chart:{version}"
        st.plotly_chart(
            timeline(entries, colours, before=before, total=head.revision.source, revision=revision, base=base),
            theme=None,
            key=key,
            on_select=lambda: _choose(state.field(key), total),
            selection_mode="points",
            config={"displayModeBar": False, "scrollZoom": False},
            alt=words.sessions.TIMELINE,
        )
        st.plotly_chart(
            timeline_head(colours, head.revision.source),
            theme=None,
            key="sessions_timeline_head",
            config={"staticPlot": True, "displayModeBar": False},
        )


def _choose(event: object, total: int) -> None:
    clicked = chosen_revision(event)
    if clicked is not None:
        sessions_detail.choose(clicked, total)


def _pages(first: int, total: int) -> None:
    with st.container(horizontal=True, gap="small", key="sessions_pages"):
        st.button(
            words.sessions.OLDER,
            key="sessions_older",
            disabled=first == 0,
            on_click=sessions_detail.choose,
            args=(first, total),
        )
        st.button(
            words.sessions.NEWER,
            key="sessions_newer",
            disabled=first + _PAGE >= total,
            on_click=sessions_detail.choose,
            args=(first + _PAGE + 1, total),
        )
        st.caption(words.sessions.range_shown(first + 1, min(first + _PAGE, total), total))
