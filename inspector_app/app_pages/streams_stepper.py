"""The stepper of the Streams page: buttons and keys, the timeline, and what happens at the step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import streamlit as st

from inspector_app import state, words
from inspector_app.components.stepper import stepper
from inspector_app.page_state.streams import StreamsState
from inspector_app.views import stream_search, stream_steps, stream_timeline
from inspector_app.views.streamed import Streamed

__all__ = ["stepper_area"]

_PLAYING: Final = "streams_playing"
_TIMELINE: Final = "stream_timeline"
# Each tool is a stop of the Tab key: what dragging and a double click do needs none.
_CHART_TOOLS: Final = {"modeBarButtonsToRemove": ["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "autoScale2d"]}
_MOST_TICKS: Final = 5  # a second: faster playing takes several steps at once


def stepper_area(
    current: StreamsState, streamed: Streamed, version: str, *, query: str = "", timeline: bool = True
) -> None:
    """Draw the stepper; while it plays it draws itself again and again. `version` changes with the stream only.

    A new `query` goes to the first step, from the one that is shown on, in which it is found.
    """
    found = stream_search.steps_with(streamed, query) if query.strip() else None
    if state.changed("stream_search", version, query) and found:
        number = _number(streamed)
        if number not in found:
            _go(stream_steps.next_in(found, number) or number)
    playing = _is_playing(version)
    per_second = min(current.speed, _MOST_TICKS)
    st.fragment(_area, run_every=1 / per_second if playing else None)(streamed, version, playing, found, timeline)


def _area(streamed: Streamed, version: str, playing: bool, found: Sequence[int] | None, timeline: bool) -> None:
    if _is_playing(version) != playing:
        st.rerun()  # begins or ends that this is drawn again and again
    if playing:
        _advance(streamed, version)
    number = _number(streamed)
    _controls(streamed, version, number, playing, found)
    if timeline:
        _chart(streamed, number)
    stepper(stream_steps.step_view(streamed, number), key="stepper", rev=f"{version}:{number}")


def _chart(streamed: Streamed, number: int) -> None:
    with st.container(key="stream_chart"):
        st.plotly_chart(
            stream_timeline.timeline(streamed.bars, number, st.context.theme.type or "light"),
            theme=None,
            key=_TIMELINE,
            on_select=_clicked,
            selection_mode="points",
            config=_CHART_TOOLS,
        )


def _controls(streamed: Streamed, version: str, number: int, playing: bool, found: Sequence[int] | None) -> None:
    last = len(streamed.steps)
    if state.load(StreamsState).step != number:
        state.save(replace(state.load(StreamsState), step=number))
    with st.container(horizontal=True, key="stream_controls", gap="small", vertical_alignment="center"):
        at_start, at_end = number == 1, number == last
        st.button(words.streams.HOME, **_to("first", 1, at_start), icon=":material/first_page:", shortcut="Home")
        st.button(
            words.streams.BACK, **_to("back", number - 1, at_start), icon=":material/arrow_back:", shortcut="Left"
        )
        st.button(
            words.streams.PAUSE if playing else words.streams.PLAY,
            key="play",
            icon=":material/pause:" if playing else ":material/play_arrow:",
            shortcut="Space",
            on_click=_play,
            args=(version, not playing, last),
        )
        st.button(words.streams.ON, **_to("on", number + 1, at_end), icon=":material/arrow_forward:", shortcut="Right")
        st.button(words.streams.END, **_to("last", last, at_end), icon=":material/last_page:", shortcut="End")
        st.number_input(
            words.streams.STEP,
            min_value=1,
            max_value=last,
            step=1,
            width=112,
            label_visibility="collapsed",
            **state.bind(StreamsState, "step"),
        )
        st.caption(words.streams.of_steps(last), width="content")
        if found is not None:
            st.caption(words.streams.found(len(found)), width="content")
        with st.container(horizontal=True, key="stream_jumps", gap="small", horizontal_alignment="right"):
            if found is not None:
                st.button(words.streams.NEXT_FOUND, **_next("found", found, number), shortcut="F")
            st.button(words.streams.NEXT_HELD, **_next("held", streamed.holding, number), shortcut="H")
            st.button(words.streams.NEXT_REPLACED, **_next("replaced", streamed.replacing, number), shortcut="N")
            st.button(words.streams.NEXT_DROPPED, **_next("dropped", streamed.dropping, number), shortcut="X")


def _to(name: str, goal: int, disabled: bool) -> dict[str, Any]:
    return {"key": f"step_{name}", "on_click": _go, "args": (goal,), "disabled": disabled}


def _next(name: str, numbers: Sequence[int], number: int) -> dict[str, Any]:
    goal = stream_steps.next_in(numbers, number)
    return _to(f"next_{name}", goal or number, goal is None)


def _number(streamed: Streamed) -> int:
    return max(1, min(state.load(StreamsState).step, len(streamed.steps)))


# --- callbacks


def _go(goal: int) -> None:
    state.save(replace(state.load(StreamsState), step=goal))


def _clicked() -> None:
    goal = stream_timeline.step_of_click(state.field(_TIMELINE))
    if goal is not None:
        _go(goal)


def _play(version: str, playing: bool, last: int) -> None:
    if playing and state.load(StreamsState).step >= last:
        _go(1)
    state.pin(_PLAYING, version, playing)


def _is_playing(version: str) -> bool:
    return bool(state.pinned(_PLAYING, version, False))


def _advance(streamed: Streamed, version: str) -> None:
    current = state.load(StreamsState)
    number = _number(streamed)
    if number == len(streamed.steps):
        state.pin(_PLAYING, version, False)
        st.rerun()
    # The address follows when it stops: a step of the browser's history for each would leave nothing else in it.
    goal = min(number + max(1, current.speed // _MOST_TICKS), len(streamed.steps))
    state.save(replace(current, step=goal), address=False)
