"""The Playground with a trace open: source line, proof line, view switch, and the messages or the handles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, cast, get_args

import pandas as pd
import streamlit as st

from inspector_app import data, opening, state, words
from inspector_app.app_pages import playground_decode, playground_open, playground_options
from inspector_app.app_pages.playground_messages import GROUP, messages_view
from inspector_app.app_pages.playground_source import conversations_view
from inspector_app.components.cards import table
from inspector_app.components.facts import chips, proof_line, source_line
from inspector_app.page_state.playground import PlaygroundState, View
from inspector_app.proving import proving
from inspector_app.views import facts, tables
from inspector_app.views.analysis import Analysis
from inspector_app.views.hidden import displayable
from modelcontext_core import formats

__all__ = ["trace_page"]

_SECONDS_TO_WAIT_FOR_PROOF: Final = 0.05  # what ends sooner is drawn once


def trace_page(current: PlaygroundState, held: data.Held) -> None:
    """Draw everything about one trace. The proof takes longest: its place is kept, and it comes when it is made."""
    options = opening.options_of(current)
    analysis = data.analyse(held, options)
    version = f"{held.key}:{hash(options):x}"
    playground_open.draw_problem(current)
    query = _source_line(current, held, analysis)
    if held.trace.format == "text" and not current.format:
        st.caption(words.playground.read_as_text(current.as_result))
    proof_box = st.container(key="proof_box")
    _switch(held, analysis, version)
    if current.view == "handles":
        _handles(analysis, query)
    elif current.view == "decode":
        playground_decode.decode_panel(analysis, version)
    elif current.view == "notices":
        _notices(held)
    elif current.view == "conversations":
        conversations_view(current, held)
    else:
        messages_view(held, options, version, query)
    with proof_box:
        _proof(held, options)


@st.fragment
def _proof(held: data.Held, options: data.Options) -> None:
    if data.shelf().get(held.key) is None:
        st.rerun()  # the page says that it is gone
    current = state.load(PlaygroundState)
    making = proving(held, options)
    proof = making.wait(_SECONDS_TO_WAIT_FOR_PROOF)
    known = facts.proof_facts(
        data.analyse(held, options), proof, price=current.price, currency=current.currency, share=making.share
    )
    asked = proof_line(known, key="proof", group=GROUP, unfinished=proof is None)
    if asked and current.view != "messages":
        state.save(replace(state.load(PlaygroundState), view="messages"))
        st.rerun()


def _source_line(current: PlaygroundState, held: data.Held, analysis: Analysis) -> str:
    with st.container(horizontal=True, key="source", gap="small"):
        with st.popover(words.opening.OPEN, icon=":material/folder_open:", key="open_popover"):
            playground_open.inputs()
            if st.button(words.playground.CLOSE, key="close", icon=":material/close:"):
                data.shelf().forget(held.key)
                state.save(current.closed())
                st.rerun()
            playground_open.sample_cards("samples", on_choose=opening.sample)
        with st.container(key="source_facts"):
            source_line(
                key="source_line",
                name=displayable(held.name),
                about=_about(current, held, len(analysis.messages)),
                badge=_badge(held),
            )
        with st.container(key="source_search", width=200):
            query = st.text_input(
                words.playground.SEARCH,
                key="search",
                placeholder=words.playground.SEARCH_HINT,
                icon=":material/search:",
                label_visibility="collapsed",
            )
        with st.popover(words.playground.OPTIONS, icon=":material/tune:", key="options_popover"):
            playground_options.options(held, analysis)
        with st.popover(words.playground.DOWNLOAD, icon=":material/download:", key="download_popover"):
            playground_options.downloads(current, held, opening.options_of(current))
    return query or ""


def _about(current: PlaygroundState, held: data.Held, messages: int) -> str:
    title = _format_title(held.trace.format)
    about = words.playground.about_source(title, messages, held.size or len(held.data))
    parent = tables.parent_of(held.trace.conversations, held.number(current.conversation))
    return about if parent is None else f"{about} · {words.sources.branch_line(*parent)}"


def _format_title(name: str) -> str:
    # The short form: what stands in brackets is for the choice of a format.
    return formats.format_names().get(name, name).partition(" (")[0]


def _badge(held: data.Held) -> str:
    kinds = [notice.kind for notice in held.trace.notices]
    damaged = sum(kind in ("damaged", "limit", "error") for kind in kinds)
    # Deltas that make one message, and a message that was repeated: nothing is missing.
    harmless = kinds.count("merged")
    return words.playground.notices_badge(damaged, len(kinds) - damaged - harmless, harmless)


def _switch(held: data.Held, analysis: Analysis, version: str) -> None:
    views = [view for view in get_args(View) if _is_offered(view, held) or state.load(PlaygroundState).view == view]
    with st.container(horizontal=True, key="switch", gap="small"):
        st.segmented_control(
            words.playground.VIEW,
            views,
            format_func=lambda view: words.playground.VIEWS[view],
            required=True,
            label_visibility="collapsed",
            **state.bind(PlaygroundState, "view"),
        )
        with st.container(key="chip_box"):
            filters = state.load(PlaygroundState).view == "messages"
            chips(facts.chip_rows(analysis), key="chips", group=GROUP, base=version, filters=filters)


def _is_offered(view: View, held: data.Held) -> bool:
    if view == "conversations":
        return len(held.trace.conversations) > 1
    return view != "notices" or bool(held.trace.notices)


def _handles(analysis: Analysis, query: str) -> None:
    rows = tables.handle_rows(analysis, query)
    if not rows:
        st.info(words.playground.NO_HANDLE_FOUND if analysis.handles else words.playground.HANDLES_EMPTY)
        return
    names = words.common.HANDLE_COLUMNS
    with st.container(key="handle_table"):
        event = st.dataframe(
            pd.DataFrame(rows),
            hide_index=True,
            row_height=30,
            on_select="rerun",
            selection_mode="single-row-required",
            key="handles",
            column_config={
                names["handle"]: st.column_config.TextColumn(width="small"),
                names["durable"]: st.column_config.TextColumn(width="large"),
            },
        )
    picked = cast("dict[str, Any]", event)["selection"]["rows"]
    if picked and rows[picked[0]][names["first"]] is not None:
        message = int(rows[picked[0]][names["first"]])
        if st.button(words.playground.go_to_message(message), key="go_to_message"):
            state.forget("handles")
            state.unpin("part", "rail")
            state.save(replace(state.load(PlaygroundState), view="messages", message=message))
            st.rerun()
    else:
        st.caption(words.playground.HANDLES_HINT)


def _notices(held: data.Held) -> None:
    notices = held.trace.notices
    if not notices:
        st.info(words.opening.NO_NOTICES)
        return
    table(
        words.opening.NOTICES_TITLE,
        words.opening.notices_hint(len(notices)),
        words.opening.NOTICE_COLUMNS,
        tables.notice_rows(notices),
        key="notices",
    )
