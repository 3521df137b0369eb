"""Register a component of our own from its folder: colours, style, shared script, script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import streamlit as st

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

__all__ = ["register"]

_FOLDER: Final = Path(__file__).parent


def register(name: str) -> ComponentRenderer:
    """Return the mounting function of the component in folder `name`.

    A component is `name/name.css` and `name/name.js`; every one gets the same sheet of colours and the same helpers.
    Neither holds a value of a trace: those come as data, and the scripts write them through `textContent` only.
    """
    style = _text("tokens.css") + _text(f"{name}/{name}.css")
    script = _text("shared.js") + _text(f"{name}/{name}.js")
    return st.components.v2.component(f"inspector_{name}", css=style, js=script)


def _text(relative: str) -> str:
    return (_FOLDER / relative).read_text(encoding="utf-8") + "\n"
