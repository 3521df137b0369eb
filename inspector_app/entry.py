"""The ASGI entry: the Streamlit app behind the security headers.

`launch.py` runs it. `streamlit run` of this file works too, with the same settings from whatever folder. An address and
the switch for local files are then given as
streamlit run inspector_app/entry.py --server.address ADDRESS -- --allow-local-files
"""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from inspector_app import places, started, tidying
from inspector_app.security import SecurityMiddleware, allowed_hosts
from modelcontext_core import tokens

__all__ = ["app"]

# The hashes of its inline scripts belong to the very version that is installed.
_INDEX_HTML = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")

# A trace is many small objects that all stay: to look for garbage among them every 700 new ones would take a third of
# the time that opening it takes.
gc.set_threshold(50_000, 20, 10)
tidying.keep_little()


def _warm_up() -> None:
    """Load what the first page and the first trace need, while nobody waits for it.

    What is loaded then stays: it is taken out of every later search for garbage.
    """
    import pandas  # noqa: F401

    tokens.count([""])
    gc.collect()
    gc.freeze()


threading.Thread(target=_warm_up, daemon=True).start()


def _names() -> frozenset[str] | None:
    # The address that the server was really given, flags included: a start by hand is held to the same rule.
    return allowed_hosts(started.address())


started.by_hand(places.file_settings())

app = st.App(
    Path(__file__).resolve().parent / "main.py",
    middleware=[Middleware(SecurityMiddleware, index_html=_INDEX_HTML, allowed_hosts=_names)],
)
