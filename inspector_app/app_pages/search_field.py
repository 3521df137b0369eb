"""The field that sifts a list: the same on every page that has one."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from inspector_app import words

__all__ = ["search_field"]


def search_field(
    listed: Literal["findings", "tools", "sessions"], *, key: str, width: int | Literal["stretch"] = "stretch"
) -> str:
    """Draw the field above a list and return what is searched for, "" for everything."""
    query = st.text_input(
        words.search.FIELDS[listed],
        key=key,
        placeholder=words.search.FIELDS[listed],
        icon=":material/search:",
        label_visibility="collapsed",
        width=width,
    )
    return query or ""
