"""The messages of a trace in the Playground: their list, and both forms of their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

import pandas as pd
import streamlit as st

from inspector_app import data, state, words
from inspector_app.components.linked_view import linked_view
from inspector_app.components.rail import rail
from inspector_app.page_state.playground import PlaygroundState
from inspector_app.views import linked, search
from inspector_app.views import rail as rail_view
from inspector_app.views.analysis import Analysis
from inspector_app.views.linked import Part

__all__ = ["GROUP", "messages_view"]

GROUP: Final = "playground_linked"


@st.fragment
def messages_view(held: data.Held, options: data.Options, version: str, query: str) -> None:
    """Draw the list of messages and both forms of their texts; it runs again without the rest of the page."""
    # Looking on counts as looking at it; where it is gone all the same, the page says so.
    if data.shelf().get(held.key) is None:
        st.rerun()
    current = state.load(PlaygroundState)
    analysis = data.analyse(held, options)
    found = search.find(analysis, query)
    with st.container(horizontal=True, key="work", gap=None):
        with st.container(key="rail_box", width=204):
            chosen = _rail(analysis, version, found, query, current.message)
        if chosen is not None and state.changed("chosen", version, chosen):
            current = state.save(replace(current, message=chosen))
            _show(version, data.parts(held, options), chosen, len(analysis.messages))
        with st.container(key="linked_box"):
            _linked(held, options, version, current, query)


def _show(version: str, parts: list[Part], message: int, messages: int) -> None:
    # The rail has told the linked view itself, without a round trip; the table cannot.
    if messages > rail_view.MOST_ROWS:
        part = linked.part_of(parts, message)
        state.pin("part", version, part)
        state.pin("goto", f"{version}:{part}", message)


def _rail(analysis: Analysis, version: str, found: Mapping[int, int], query: str, message: int) -> int | None:
    if len(analysis.messages) > rail_view.MOST_ROWS:
        return _rail_table(analysis, version, found)
    return rail(
        rail_view.rail_rows(analysis, found),
        key="rail",
        group=GROUP,
        base=version,
        rev=f"{version}:{query}",
        message=state.pinned("rail", version, message),
        query=query,
        visit=state.visit(),
    )


def _rail_table(analysis: Analysis, version: str, found: Mapping[int, int]) -> int | None:
    rows = rail_view.rail_table(analysis, found)
    numbers = [row[words.common.COLUMN_NUMBER] for row in rows]
    if not rows:
        st.caption(words.playground.NOTHING_FOUND)
        return None
    with st.container(key="rail_table"):
        event = st.dataframe(
            pd.DataFrame(rows),
            hide_index=True,
            height="stretch",
            row_height=28,
            on_select="rerun",
            selection_mode="single-cell",
            key=f"rail_table:{version}:{len(rows)}",
            column_config={
                words.common.COLUMN_NUMBER: st.column_config.NumberColumn(width=46),
                words.common.COLUMN_MESSAGE: st.column_config.TextColumn(width=150),
            },
        )
    picked = cast("dict[str, Any]", event)["selection"]["cells"]
    return int(numbers[picked[0][0]]) if picked and picked[0][0] < len(numbers) else None


def _linked(held: data.Held, options: data.Options, version: str, current: PlaygroundState, query: str) -> None:
    analysis, parts = data.analyse(held, options), data.parts(held, options)
    part = state.pinned("part", version, linked.part_of(parts, current.message))
    asked = linked_view(
        data.part(held, options, part),
        key=GROUP,
        titles=words.playground.TITLES_MESSAGES,
        rev=f"{version}:{part}",
        base=version,
        goto=state.pinned("goto", f"{version}:{part}", current.message),
        next_raw=analysis.raw_left > 0,
        query=query.strip(),
        visit=state.visit(),
    )
    message = asked.message
    if asked.raw_from is not None:
        message = linked.next_raw(analysis, asked.raw_from, back=asked.back)
    if message is not None and 0 <= message < len(analysis.messages):
        state.save(replace(current, message=message))
        wanted = linked.part_of(parts, message)
        state.pin("part", version, wanted)
        state.pin("goto", f"{version}:{wanted}", message)
        st.rerun(scope="fragment")
    if asked.part is not None and asked.part != part and 0 <= asked.part < len(parts):
        state.pin("part", version, asked.part)
        st.rerun(scope="fragment")
