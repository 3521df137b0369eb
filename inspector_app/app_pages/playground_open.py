"""Opening a trace in the Playground: the inputs, the samples, and what is said when something cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

import streamlit as st

from inspector_app import launch, opening, samples, state, words
from inspector_app.components.cards import choose_card, error_card, pairs, table
from inspector_app.components.paste import long_paste
from inspector_app.page_state.playground import PlaygroundState
from inspector_app.state import Problem
from inspector_app.views import tables
from inspector_app.words.common import OurName
from modelcontext_core import formats

__all__ = ["draw_problem", "empty_page", "inputs", "sample_cards"]

_SECONDS_BETWEEN_LOOKS: Final = 0.4
_EXPLAINED: Final = (
    (
        {"text": "7f3c2a10-94be-4a7d-8f21-0d6c5be19a44", "space": "chunk", "tag": "ck1"},
        {"text": "chunk://1", "space": "chunk"},
    ),
    (
        {"text": "https://docs.example.com/returns/eu-consumer-policy?lang=en", "space": "web", "tag": "wb1"},
        {"text": "url://1", "space": "web"},
    ),
)


def empty_page(current: PlaygroundState) -> None:
    """Draw the page without a trace: what it is for, the inputs, the samples."""
    draw_problem(current)
    if state.problem() is None:
        st.title(words.opening.EMPTY_TITLE, anchor=False)
        with st.container(key="empty_text"):
            st.text(words.opening.EMPTY_TEXT)
        pairs(_EXPLAINED, key="explained")
    inputs()
    sample_cards("samples", on_choose=opening.sample)


def draw_problem(current: PlaygroundState) -> None:
    """Draw what is being read, and why the last attempt to open something failed, if it did."""
    if opening.reading() is not None:
        _progress()
    failed = state.problem()
    if failed is not None:
        error_card(failed.title, failed.text, key="problem", excerpt=failed.excerpt)
        _ways_on(failed)
    if current.problem:
        error_card(words.opening.link_problem_title(current.problem), current.problem, key="link_problem")
        if st.button(words.opening.DISMISS, key="dismiss_link"):
            state.save(replace(state.load(PlaygroundState), problem=""))
            st.rerun()


@st.fragment(run_every=_SECONDS_BETWEEN_LOOKS)
def _progress() -> None:
    reading = opening.reading()
    if reading is None:
        return
    if not reading.running:
        st.rerun()
    with st.container(horizontal=True, gap="small", key="reading", vertical_alignment="center"):
        done = words.sources.reading(reading.done, len(reading.sources), reading.messages)
        st.progress(reading.share, text=words.sources.ENCODING if reading.encoding else done)
        at_once = reading.encoding or opening.stopping()
        if st.button(
            words.sources.GIVE_UP if at_once else words.sources.STOP, key="reading_stop", icon=":material/stop:"
        ):
            opening.stop()
            st.rerun()


def _ways_on(failed: Problem) -> None:
    with st.container(horizontal=True, gap="small"):
        if failed.rest is not None and st.button(
            words.opening.open_rest(failed.messages), key="open_rest", type="primary"
        ):
            state.set_problem(None)
            state.save(failed.rest)
            st.rerun()
        if st.button(words.opening.DISMISS, key="dismiss"):
            state.set_problem(None)
            st.rerun()
    if failed.notices:
        table(
            words.opening.NOTICES_TITLE,
            words.opening.notices_hint(len(failed.notices)),
            words.opening.NOTICE_COLUMNS,
            tables.notice_rows(failed.notices),
            key="problem_notices",
        )


def inputs() -> None:
    """Draw the inputs: paste and read, choice of format, upload, path."""
    left, right = st.columns([526, 374], gap="small")
    with left:
        st.text_area(
            words.opening.PASTE,
            key=opening.PASTE_FIELD,
            height=126,
            placeholder=words.opening.PASTE_HINT,
            label_visibility="collapsed",
        )
        with st.container(horizontal=True, gap="small"):
            st.button(
                words.opening.READ,
                key=opening.READ_BUTTON,
                type="primary",
                icon=":material/play_arrow:",
                on_click=opening.read,
            )
            titles = formats.format_names()
            st.selectbox(
                words.opening.FORMAT,
                ["", *titles],
                format_func=lambda name: words.opening.format_choice(OurName(name), OurName(titles.get(name, ""))),
                label_visibility="collapsed",
                width=250,
                key=opening.FORMAT_FIELD,
            )
            long_paste(
                key=opening.LONG_PASTE_FIELD,
                field=opening.PASTE_FIELD,
                read=opening.READ_BUTTON,
                pasted=len(opening.long_pasted()),
                on_paste=opening.paste,
            )
    with right:
        st.file_uploader(
            words.opening.UPLOAD, key=opening.file_field(), on_change=opening.upload, accept_multiple_files=True
        )
        if launch.local_files_allowed():
            st.text_input(
                words.opening.PATH,
                key=opening.path_field(),
                placeholder=words.opening.PATH_HINT,
                label_visibility="collapsed",
                icon=":material/folder:",
                on_change=opening.path,
            )


def sample_cards(key: str, *, on_choose: Callable[[str], None] | None = None) -> str | None:
    """Draw a card for each sample and return the name of the one that was clicked; `on_choose` is called with `key`."""
    st.markdown(words.opening.SAMPLES)
    cards = [
        {"key": sample.name, "title": sample.title, "lines": [sample.shows, sample.contents]}
        for sample in samples.samples()
    ]
    return choose_card(cards, key=key, on_choose=on_choose and partial(on_choose, key))
