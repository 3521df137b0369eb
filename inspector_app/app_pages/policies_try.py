"""Trying a call against the pack: what the tool receives, or what the model reads of its result."""

from __future__ import annotations

import hashlib
from typing import Any, get_args

import streamlit as st

from inspector_app import pack_drafts, state, words
from inspector_app.components.linked_view import linked_view
from inspector_app.pack_drafts import Draft
from inspector_app.page_state.policies import PoliciesState, Way
from inspector_app.views import decoded
from inspector_app.views.linked import Part, view_part

__all__ = ["try_area"]


def try_area(current: PoliciesState, draft: Draft) -> None:
    """Draw the fields of a call and both its forms."""
    with st.container(horizontal=True, key="pack_try", gap="small", vertical_alignment="center"):
        st.markdown(words.policies.TRY)
        tool = st.text_input(
            words.policies.TRY_TOOL,
            words.policies.TRY_EXAMPLE_TOOL,
            key="try_tool",
            placeholder=words.policies.TRY_TOOL_HINT,
            label_visibility="collapsed",
            width=240,
        )
        st.segmented_control(
            words.policies.TRY,
            get_args(Way),
            format_func=lambda way: words.policies.TRY_WAYS[way],
            required=True,
            label_visibility="collapsed",
            **state.bind(PoliciesState, "way"),
        )
    is_call = current.way == "call"
    text = st.text_area(
        words.policies.TRY_TEXT,
        words.policies.TRY_EXAMPLES[current.way],
        key=f"try_text:{current.way}",
        height=68,
        placeholder=words.policies.TRY_CALL_HINT if is_call else words.policies.TRY_RESULT_HINT,
        label_visibility="collapsed",
    )
    if not text or not tool:
        st.caption(words.policies.TRY_FIRST)
        return
    if is_call:
        analysis, call = pack_drafts.try_call(draft.current, tool.strip(), text)
        content = decoded.call_view(analysis, call, text)
        titles = words.policies.TITLES_CALL
    else:
        content = view_part(pack_drafts.try_result(draft.current, tool.strip(), text), [Part(first=0, last=1)], 0)
        titles = words.policies.TITLES_RESULT
    _draw(content, titles, tags="right" if is_call else "left")


def _draw(content: dict[str, Any], titles: tuple[str, str, str, str], *, tags: str) -> None:
    digest = hashlib.sha256(repr(content).encode("utf-8", errors="surrogatepass")).hexdigest()[:16]
    linked_view(
        content, key="try_view", titles=titles, rev=digest, base=digest, detail=False, flow=True, alone=True, tags=tags
    )
