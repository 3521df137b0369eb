"""The Streams page: step through a stream chunk by chunk, and prove every cut of it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from inspector_app import data, opening, state, stream_subjects, words
from inspector_app.app_pages import playground_open, streams_check, streams_source, streams_stepper
from inspector_app.page_state.playground import PlaygroundState
from inspector_app.page_state.streams import StreamsState


def _page() -> None:
    shared = opening.preloaded(state.load(PlaygroundState))
    held = opening.opened(shared)
    shared = state.load(PlaygroundState) if held is None else shared
    current = state.load(StreamsState).of(shared)
    if held is None:
        state.save(current)
        with st.container(key="opening"):
            _empty_page(shared)
        return
    options = streams_source.options_of(shared)
    best = stream_subjects.best_choice(held, options)
    if best is not None:
        # At once, so that the address is not changed twice: each is a step of the browser's history.
        how = streams_source.how_cut(current, held, best)
        current = replace(current, answer=how.answer, chunking=how.chunking)
    state.save(current)
    if best is None:
        streams_source.source_line(current, held)
        st.info(words.streams.NOTHING_TO_STREAM)
        return
    _stream(current, held, options, best)


def _empty_page(shared: PlaygroundState) -> None:
    playground_open.draw_problem(shared)
    if state.problem() is None:
        st.title(words.streams.EMPTY_TITLE, anchor=False)
        with st.container(key="empty_text"):
            st.text(words.streams.EMPTY)
    playground_open.inputs()
    playground_open.sample_cards("samples", on_choose=opening.sample)


def _stream(current: StreamsState, held: data.Held, options: data.Options, best: int) -> None:
    how = streams_source.how_cut(current, held, best)
    streamed = streams_source.simulated(held, options, how)
    playground_open.draw_problem(current.source)
    query = streams_source.source_line(current, held, how, streamed)
    streams_check.verdict(held, options, how, streamed)
    streams_source.offer_to_make(current, streamed)
    failure = streams_check.failure(held, options, how)
    shows_failure = failure is not None and how.chunking != "places"
    if failure is not None and shows_failure:
        streams_check.failed(failure)
    version = f"{held.key}:{hash((options, how)):x}"
    # The failure takes the place of the timeline, so that the stepper stays in sight.
    streams_stepper.stepper_area(current, streamed, version, query=query, timeline=not shows_failure)


_page()
