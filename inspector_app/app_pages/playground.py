"""The Playground: one conversation, as the application stores it and as the model reads it."""

from __future__ import annotations

import streamlit as st

from inspector_app import opening, state
from inspector_app.app_pages import playground_open, playground_trace
from inspector_app.page_state.playground import PlaygroundState


def _page() -> None:
    current = state.save(opening.preloaded(state.load(PlaygroundState)))
    held = opening.opened(current)
    current = state.load(PlaygroundState)
    if held is None:
        with st.container(key="opening"):
            playground_open.empty_page(current)
    else:
        # In the place of the inputs, which otherwise stand there until all is drawn.
        st.empty()
        playground_trace.trace_page(current, held)


_page()
