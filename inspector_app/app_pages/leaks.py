"""The Leaks page: where raw identifiers still reach the model, in one trace or in thousands, and what to do."""

from __future__ import annotations

import streamlit as st

from inspector_app import state
from inspector_app.app_pages import leaks_open, leaks_work
from inspector_app.page_state.leaks import LeaksState


def _page() -> None:
    current = state.save(state.load(LeaksState))
    scan = leaks_open.opened(current)
    state.keep("leaks_open", scan.key if scan else None)
    # Always the first: what is drawn below it stays as it was, dimmed, while it is counted anew.
    progress = st.container(key="leaks_progress")
    if scan is None:
        with st.container(key="opening"):
            leaks_open.empty_page(state.load(LeaksState))
    elif scan.result is None:
        with progress:
            leaks_open.scan_now(scan)
    else:
        leaks_work.work_area(state.load(LeaksState), scan)


_page()
