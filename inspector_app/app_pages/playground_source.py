"""What the open trace consists of: its conversations to choose from, its format, and the reader's own pack."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pandas as pd
import streamlit as st

from inspector_app import data, launch, opening, own_pack, state, words
from inspector_app.components.cards import table
from inspector_app.page_state.playground import PlaygroundState
from inspector_app.views import tables
from inspector_app.words.common import OurName
from modelcontext_core import formats

__all__ = ["conversations_view", "own_pack_fields", "read_as"]


def conversations_view(current: PlaygroundState, held: data.Held) -> None:
    """Draw the conversations and branches of the trace; a chosen row is the conversation that is shown."""
    conversations = held.trace.conversations
    if len(conversations) < 2:
        st.info(words.sources.ONE_CONVERSATION)
        return
    st.caption(words.sources.conversations_hint(len(conversations)))
    shown = held.number(current.conversation)
    names = words.sources.CONVERSATION_COLUMNS
    with st.container(key="conversation_table"):
        event = st.dataframe(
            pd.DataFrame(tables.conversation_rows(conversations)),
            hide_index=True,
            row_height=30,
            on_select="rerun",
            selection_mode="single-row",
            selection_default={"selection": {"rows": [shown - 1]}},
            key=f"conversations:{held.key}:{current.conversation}",
            column_config={
                names["number"]: st.column_config.NumberColumn(width=50),
                names["title"]: st.column_config.TextColumn(width="medium"),
                names["messages"]: st.column_config.NumberColumn(width="small"),
                names["first"]: st.column_config.TextColumn(width="large"),
            },
        )
    picked = cast("dict[str, Any]", event)["selection"]["rows"]
    if picked and picked[0] < len(conversations) and picked[0] + 1 != shown:
        state.unpin("part", "rail")
        chosen = replace(current, conversation=picked[0] + 1, message=0, view="messages", off=())
        state.save(chosen)
        st.rerun()


def read_as(current: PlaygroundState, held: data.Held) -> None:
    """Draw the format that the trace was recognised as, to choose another."""
    titles = formats.format_names()
    found = titles.get(held.trace.format, held.trace.format)
    choices = ["", *titles]
    st.selectbox(
        words.sources.READ_AS,
        choices,
        index=choices.index(current.format) if current.format in choices else 0,
        format_func=lambda name: words.sources.read_as(OurName(name), OurName(titles.get(name, found))),
        help=words.sources.READ_AS_HELP,
        # Another trace has another list: what was recognised stands in it.
        key=opening.READ_AS_FIELD,
        on_change=opening.read_as,
    )


def own_pack_fields() -> None:
    """Draw the own pack that is in use, the ways to load one, and what is wrong with the one that was tried last."""
    pack = own_pack.loaded()
    if pack is None:
        st.caption(words.sources.OWN_NONE)
    else:
        with st.container(horizontal=True, gap="small", key="own_pack"):
            st.caption(words.sources.OWN_LOADED, width="content")
            st.text(pack.name, width="content")
        st.caption(words.sources.pack_tools(pack.tools, pack.own))
    found = own_pack.faults()
    if found:
        table(
            words.sources.FAULTS_TITLE,
            words.sources.faults_hint(len(found), pack is not None),
            words.sources.FAULT_COLUMNS,
            tables.fault_rows(found),
            key="pack_faults",
        )
    left, right = st.columns(2, gap="small")
    with left:
        st.file_uploader(words.sources.PACK_FILE, key=own_pack.FILE_FIELD, type=["toml"], on_change=own_pack.upload)
        if launch.local_files_allowed():
            st.text_input(
                words.sources.PACK_PATH,
                key=own_pack.PATH_FIELD,
                placeholder=words.sources.PACK_PATH_HINT,
                label_visibility="collapsed",
                icon=":material/folder:",
                on_change=own_pack.path,
            )
    with right:
        st.text_area(
            words.sources.PACK_PASTE,
            key=own_pack.PASTE_FIELD,
            height=110,
            placeholder=words.sources.PACK_PASTE_HINT,
        )
        st.button(words.sources.PACK_USE, key="pack_use", on_click=own_pack.paste)
