"""Navigation, and nothing else: a page is one line here and one file in `app_pages`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from inspector_app import launch, state, words
from inspector_app.page_state.playground import PlaygroundState

_STATIC = Path(__file__).resolve().parent / "static"

# A local picture: a named icon would be fetched from another host.
st.set_page_config(page_title=words.common.APP_TITLE, page_icon=str(_STATIC / "icon.png"), layout="wide")
st.html(_STATIC / "frame.css")
st.logo(str(_STATIC / "icon.png"), size="small")

if not launch.is_guarded():
    st.error(words.common.NOT_GUARDED)
    st.stop()

PAGES = [
    st.Page("app_pages/playground.py", title=words.common.PAGE_PLAYGROUND, icon=":material/compare:", default=True),
    st.Page("app_pages/streams.py", title=words.streams.PAGE, icon=":material/bar_chart:"),
    st.Page("app_pages/leaks.py", title=words.leaks.PAGE, icon=":material/grid_on:"),
    st.Page("app_pages/sessions.py", title=words.sessions.PAGE, icon=":material/history:"),
    st.Page("app_pages/policies.py", title=words.policies.PAGE, icon=":material/rule:"),
]

page = st.navigation(PAGES, position="top")
# Five tabs of a browser, and its history, are told apart by their titles.
st.set_page_config(page_title=words.common.page_title(page.title))
state.shown(page.url_path or PlaygroundState.page)
page.run()
