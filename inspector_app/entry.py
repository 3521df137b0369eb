"""The ASGI entry: the Streamlit app behind the security headers.

`launch.py` runs it; `streamlit run inspector_app/entry.py` works too, from the top of a checkout (the settings
are then found in the current folder).
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from inspector_app import launch
from inspector_app.security import SecurityMiddleware

__all__ = ["app"]

# The hashes of its inline scripts belong to the very version that is installed.
_INDEX_HTML = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")

app = st.App(
    Path(__file__).resolve().parent / "main.py",
    middleware=[Middleware(SecurityMiddleware, index_html=_INDEX_HTML, allowed_hosts=launch.allowed_hosts)],
)
