"""Every word that the app shows. Functions take numbers and names of our own, never text of a trace.

Streamlit renders Markdown in labels, options, tooltips and messages, and Markdown fetches pictures. So those take
literals and what stands in this package only; text of a trace goes to `st.text`, `st.code`, `st.json`, tables and our
own components. A test reads the code and holds it to that. One module a page, `common` for what they share.
"""

from __future__ import annotations

from inspector_app.words import (
    common,
    decoding,
    leaks,
    opening,
    playground,
    policies,
    sandbox,
    search,
    sessions,
    sources,
    streams,
)

__all__ = [
    "common",
    "decoding",
    "leaks",
    "opening",
    "playground",
    "policies",
    "sandbox",
    "search",
    "sessions",
    "sources",
    "streams",
]
