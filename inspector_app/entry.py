"""The ASGI entry: the Streamlit app behind the security headers.

`launch.py` runs it; `streamlit run inspector_app/entry.py` works too, from the top of a checkout (the settings
are then found in the current folder).
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from streamlit import config

from inspector_app.security import SecurityMiddleware, allowed_hosts

__all__ = ["app"]

# The hashes of its inline scripts belong to the very version that is installed.
_INDEX_HTML = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")


def _names() -> frozenset[str] | None:
    # The address that the server was really given, flags included: a start by hand is held to the same rule.
    return allowed_hosts(str(config.get_option("server.address") or ""))


app = st.App(
    Path(__file__).resolve().parent / "main.py",
    middleware=[Middleware(SecurityMiddleware, index_html=_INDEX_HTML, allowed_hosts=_names)],
)
