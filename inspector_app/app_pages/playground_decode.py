"""The Decode panel: what a model wrote, restored with the handles of the open trace."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final, cast

import streamlit as st

from inspector_app import words
from inspector_app.components.cards import table
from inspector_app.components.linked_view import linked_view
from inspector_app.views import decoded
from inspector_app.views.analysis import Analysis
from modelcontext_core.messages import ToolCall

__all__ = ["decode_panel"]

_KEY: Final = "playground_decoded"


def decode_panel(analysis: Analysis, version: str) -> None:
    """Draw the field, both forms of what stands in it, and what was not restored."""
    kind = st.segmented_control(
        words.decoding.DECODE_KIND,
        list(words.decoding.DECODE_KINDS),
        format_func=lambda choice: words.decoding.DECODE_KINDS[choice],
        default="answer",
        required=True,
        label_visibility="collapsed",
        key="decode_kind",
    )
    if kind == "call":
        _call(analysis, version)
    else:
        _answer(analysis, version)


def _answer(analysis: Analysis, version: str) -> None:
    text = st.text_area(
        words.decoding.DECODE_ANSWER,
        value=decoded.last_answer(analysis),
        key=f"decode_answer:{version}",
        height=86,
        placeholder=words.decoding.DECODE_ANSWER_HINT,
        label_visibility="collapsed",
    )
    if not text:
        st.caption(words.decoding.DECODE_EMPTY)
        return
    report = analysis.registry.decode_with_report(text)
    _both(decoded.answer_view(analysis, report, text), version, text, words.decoding.TITLES_DECODE)
    rows = decoded.item_rows(analysis, report, text)
    _table(words.decoding.NOT_RESTORED, words.decoding.NOT_RESTORED_HINT, words.decoding.ITEM_COLUMNS, rows)


def _call(analysis: Analysis, version: str) -> None:
    left, right = st.columns([1, 3], gap="small")
    name = left.text_input(
        words.decoding.DECODE_TOOL,
        key="decode_tool",
        placeholder=words.decoding.DECODE_TOOL_HINT,
        label_visibility="collapsed",
    )
    text = right.text_area(
        words.decoding.DECODE_CALL,
        key=f"decode_call:{version}",
        height=86,
        placeholder=words.decoding.DECODE_CALL_HINT,
        label_visibility="collapsed",
    )
    if not text:
        st.caption(words.decoding.DECODE_EMPTY_CALL)
        return
    typed = decoded.read_call(text, (name or "").strip())
    [call] = analysis.registry.decode_tool_calls([ToolCall(id="call", name=typed.name, arguments=typed.arguments)])
    _both(decoded.call_view(analysis, call, typed.arguments), version, f"{typed}", words.decoding.TITLES_CALL)
    _table(
        words.decoding.RESOLUTION,
        words.decoding.resolution(call.argument_resolution),
        words.decoding.RESOLUTION_COLUMNS,
        decoded.resolution_rows(call),
    )


def _both(content: dict[str, Any], version: str, text: str, titles: tuple[str, str, str, str]) -> None:
    digest = hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()[:16]
    linked_view(
        content,
        key=_KEY,
        titles=titles,
        rev=f"{version}:{digest}",
        base=f"{version}:{digest}",
        detail=False,
        flow=True,
        alone=True,
        tags="right",
    )


def _table(title: str, hint: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[dict[str, str]]]) -> None:
    if rows:
        table(title, hint, columns, cast("Any", rows), key="not_restored")
    else:
        st.caption(words.decoding.ALL_RESTORED)
