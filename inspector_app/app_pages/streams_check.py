"""The verdict of the Streams page: what was checked, how far it is, and the smallest cut that fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import streamlit as st

from inspector_app import data, state, stream_runs, words
from inspector_app.components.cards import error_card
from inspector_app.components.facts import proof_line
from inspector_app.page_state.streams import StreamsState
from inspector_app.views import stream_steps
from inspector_app.views.streamed import Streamed
from modelcontext_core.stream_check import CutFailure, CutReport

__all__ = ["check_button", "failed", "failure", "verdict"]

_SECONDS_BETWEEN_LOOKS: Final = 0.4


def check_button(held: data.Held, options: data.Options, how: stream_runs.HowCut) -> None:
    """Draw the button that begins a check; while one runs, its progress and the button that stops it."""
    running = _running(held, options, how)
    with st.container(key="check_box", width=148):
        st.fragment(_button, run_every=_SECONDS_BETWEEN_LOOKS if running else None)(held, options, how, running)


def _button(held: data.Held, options: data.Options, how: stream_runs.HowCut, was_running: bool) -> None:
    checking = _checking(held, options, how)
    if checking is not None and checking.running:
        with st.container(horizontal=True, key="check_running", gap="small", vertical_alignment="center"):
            st.progress(checking.report.share_done, width=54)
            if st.button(words.streams.STOP, key="check_stop", icon=":material/stop:"):
                checking.stop()
                st.rerun()
        return
    if was_running:
        st.rerun()  # it has ended: nothing needs to look any more
    if st.button(words.streams.CHECK, key="check", type="primary", width="stretch", icon=":material/verified:"):
        stream_runs.start_check(held, options, how, decoder=state.load(StreamsState).decoder)
        st.rerun()


def verdict(held: data.Held, options: data.Options, how: stream_runs.HowCut, streamed: Streamed) -> None:
    """Draw the line of facts; as soon as there is a cut that fails, the page is drawn with it."""
    running = _running(held, options, how)
    drawn = failure(held, options, how)
    st.fragment(_facts, run_every=_SECONDS_BETWEEN_LOOKS if running else None)(held, options, how, streamed, drawn)


def _facts(
    held: data.Held,
    options: data.Options,
    how: stream_runs.HowCut,
    streamed: Streamed,
    failure_drawn: CutFailure | None,
) -> None:
    checking = _checking(held, options, how)
    report = checking.report if checking is not None else CutReport(tallies={})
    with st.container(key="proof_box"):
        proof_line(stream_steps.stream_facts(streamed, report), key="stream_facts", group="streams")
    if report.failure != failure_drawn:
        st.rerun()


def failure(held: data.Held, options: data.Options, how: stream_runs.HowCut) -> CutFailure | None:
    """Return the smallest cut that was found to fail."""
    checking = _checking(held, options, how)
    return checking.report.failure if checking is not None else None


def failed(failure: CutFailure) -> None:
    """Draw the smallest cut that fails, and the way to it."""
    lines = stream_steps.failure_lines(failure)
    can_be_shown = bool(failure.cuts) and failure.kind != "bytes"
    left, right = st.columns([79, 21] if can_be_shown else [99, 1], gap="small", vertical_alignment="bottom")
    with left:
        error_card(words.streams.FAILED_TITLE, words.streams.FAILED_HINT, key="cut_failure", excerpt=lines)
    if can_be_shown and right.button(words.streams.GO_TO_CUT, key="go_to_cut", type="primary", width="stretch"):
        current = state.load(StreamsState)
        channel = f"{failure.key[0]}{failure.key[1]}"
        places = tuple(failure.cuts[:200])
        state.save(replace(current, chunking="places", places=places, channel=channel, step=1))
        st.rerun()


def _checking(held: data.Held, options: data.Options, how: stream_runs.HowCut) -> stream_runs.Checking | None:
    return stream_runs.check_of(held, options, how, decoder=state.load(StreamsState).decoder)


def _running(held: data.Held, options: data.Options, how: stream_runs.HowCut) -> bool:
    checking = _checking(held, options, how)
    return checking is not None and checking.running
