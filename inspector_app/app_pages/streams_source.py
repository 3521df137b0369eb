"""The source line of the Streams page: what is streamed, how it is cut, options."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from inspector_app import data, opening, state, stream_runs, stream_subjects, words
from inspector_app.app_pages import playground_open, playground_options, streams_check
from inspector_app.components.facts import source_line as facts_line
from inspector_app.page_state.playground import PlaygroundState
from inspector_app.page_state.streams import CAPTURE, StreamsState
from inspector_app.views.hidden import displayable
from inspector_app.views.streamed import Streamed

__all__ = ["how_cut", "offer_to_make", "options_of", "simulated", "source_line"]


def options_of(shared: PlaygroundState) -> data.Options:
    """Return what decides which handles a trace gets: as in the Playground."""
    return opening.options_of(shared)


def how_cut(current: StreamsState, held: data.Held, best: int) -> stream_runs.HowCut:
    """Return what is streamed and how it is cut; what does not fit the trace gives way to what does."""
    known = stream_subjects.choices(held, options_of(current.source))
    answer = current.answer if current.answer in known else best
    chunking = current.chunking or ("captured" if answer == CAPTURE else "random")
    if chunking == "captured" and answer != CAPTURE:
        chunking = "random"
    return stream_runs.HowCut(
        answer=answer,
        made=current.made,
        chunking=chunking,
        size=current.size,
        seed=current.seed,
        places=current.places if chunking == "places" else (),
        channel=current.channel if chunking == "places" else "",
        assumed=current.assumed,
    )


def simulated(held: data.Held, options: data.Options, how: stream_runs.HowCut) -> Streamed:
    """Return the stream with its steps."""
    return stream_runs.streamed(held, options, how)


def source_line(
    current: StreamsState, held: data.Held, how: stream_runs.HowCut | None = None, streamed: Streamed | None = None
) -> str:
    """Draw what is open, the search, the choice of the chunking, the options and the check; what is searched for."""
    query = ""
    with st.container(horizontal=True, key="source", gap="small"):
        with st.popover(words.opening.OPEN, icon=":material/folder_open:", key="open_popover"):
            playground_open.inputs()
            if st.button(words.playground.CLOSE, key="close", icon=":material/close:"):
                stream_runs.stop_checks(held)
                data.shelf().forget(held.key)
                state.save(current.source.closed())
                st.rerun()
            playground_open.sample_cards("samples", on_choose=opening.sample)
        with st.container(key="source_facts"):
            facts_line(key="source_line", name=displayable(held.name), **_about(held, current, streamed))
        if streamed is not None:
            query = _search()
            _chunking(streamed)
        if streamed is not None or len(held.trace.conversations) > 1:
            with st.popover(words.streams.OPTIONS, icon=":material/tune:", key="options_popover"):
                _conversation(held, current)
                if streamed is not None:
                    _options(held, streamed)
        if how is not None:
            streams_check.check_button(held, options_of(current.source), how)
    return query


def _about(held: data.Held, current: StreamsState, streamed: Streamed | None) -> dict[str, str]:
    if streamed is None:
        return {"about": ""}
    subject = streamed.subject
    several = len(held.trace.conversations) > 1
    number = held.number(current.source.conversation) if several else 0
    about = words.streams.about(subject.choice, subject.characters, number)
    return {"about": about, "badge": words.streams.MADE_BADGE if subject.made else ""}


def _search() -> str:
    with st.container(key="source_search", width=116):
        query = st.text_input(
            words.streams.SEARCH,
            key="stream_search",
            placeholder=words.streams.SEARCH_HINT,
            icon=":material/search:",
            label_visibility="collapsed",
        )
    return query or ""


def _conversation(held: data.Held, current: StreamsState) -> None:
    """Draw the choice among several conversations. Their titles are text of the trace: the Playground lists them."""
    conversations = held.trace.conversations
    if len(conversations) < 2:
        return
    key = f"stream_conversation:{held.key}"
    st.selectbox(
        words.streams.CONVERSATION,
        range(1, len(conversations) + 1),
        index=held.number(current.source.conversation) - 1,
        format_func=lambda number: words.streams.conversation_choice(number, len(conversations[number - 1].messages)),
        key=key,
        on_change=_choose_conversation,
        args=(key,),
    )


def _choose_conversation(key: str) -> None:
    """Both pages show the same conversation; the rules found in one say nothing about another."""
    state.unpin("part", "rail")
    shared = state.load(PlaygroundState)
    state.save(replace(shared, conversation=state.field(key), message=0, off=()))


def _chunking(streamed: Streamed) -> None:
    current = state.load(StreamsState)
    shown = [
        name
        for name in words.streams.CHUNKINGS
        if (name != "captured" or streamed.subject.choice == CAPTURE) and (name != "places" or current.places)
    ]
    fitting = "captured" if streamed.subject.choice == CAPTURE else "random"
    if current.chunking not in shown:
        state.save(replace(current, chunking=fitting))
    st.selectbox(
        words.streams.CHUNKING,
        shown,
        format_func=lambda name: words.streams.CHUNKINGS[name],
        label_visibility="collapsed",
        width=204,
        **_bound("chunking"),
    )
    chunking = state.load(StreamsState).chunking
    # Instead of a label, for which there is no room: a picture that says which number it is.
    icon = ":material/straighten:" if chunking == "size" else ":material/casino:"
    unlabelled: dict[str, Any] = {"label_visibility": "collapsed", "width": 104, "icon": icon}
    if chunking == "size":
        st.number_input(words.streams.SIZE, min_value=1, max_value=100_000, **unlabelled, **_bound("size"))
    elif chunking == "random":
        st.number_input(words.streams.SEED, min_value=0, max_value=9_999_999, **unlabelled, **_bound("seed"))


def _options(held: data.Held, streamed: Streamed) -> None:
    known = stream_subjects.choices(held, options_of(state.load(StreamsState).source))
    if state.load(StreamsState).answer not in known:
        state.save(replace(state.load(StreamsState), answer=streamed.subject.choice))
    st.selectbox(
        words.streams.WHAT, known, format_func=lambda number: words.streams.answer_choice(number), **_bound("answer")
    )
    if streamed.subject.without_handles:
        st.toggle(words.streams.MAKE, **_bound("made"))
    st.selectbox(
        words.streams.SPEED,
        words.streams.SPEEDS,
        format_func=lambda number: words.streams.speed_choice(number),
        **state.bind(StreamsState, "speed"),
    )
    st.number_input(
        words.streams.ASSUMED,
        min_value=0.0,
        max_value=1000.0,
        step=1.0,
        help=words.streams.ASSUMED_HELP,
        disabled=streamed.subject.timed,
        **state.bind(StreamsState, "assumed"),
    )
    if state.load(StreamsState).chunking != "random":
        st.number_input(
            words.streams.SEED, min_value=0, max_value=9_999_999, help=words.streams.SEED_HELP, **_bound("seed")
        )
    st.selectbox(
        words.streams.CHECKED_DECODER,
        list(words.streams.DECODERS),
        format_func=lambda name: words.streams.DECODERS[name],
        help=words.streams.DECODER_HELP,
        **state.bind(StreamsState, "decoder"),
    )
    _link()


def _link() -> None:
    """Draw the link to this step, and the versions and settings for a bug report; neither holds text of a trace."""
    current = state.load(StreamsState)
    st.caption(words.playground.COPY_LINK_PRIVATE if current.source.key else words.playground.COPY_LINK)
    st.code(state.link(current.shareable()), language=None, wrap_lines=True)
    st.caption(words.playground.COPY_DIAGNOSTICS)
    settings = {name: value for name, value in current.to_query().items() if name not in ("key", "path")}
    lines = [playground_options.diagnostics(current.source), urlencode(settings)]
    st.code("\n".join(lines), language=None, wrap_lines=True)


def _bound(field: str) -> dict[str, Any]:
    """Tie a widget to a field that decides the steps: another value begins at the first step."""
    tied = state.bind(StreamsState, field)
    take, arguments = tied["on_change"], tied["args"]

    def changed() -> None:
        take(*arguments)
        state.save(replace(state.load(StreamsState), step=1))

    return {"key": tied["key"], "on_change": changed}


def offer_to_make(current: StreamsState, streamed: Streamed) -> None:
    """Offer a capture without handles as a model with handles would have streamed it."""
    if not streamed.subject.without_handles or streamed.subject.made or current.made or not streamed.subject.known:
        return
    with st.container(horizontal=True, key="switch", gap="small"):
        if st.button(words.streams.MAKE, key="make", icon=":material/swap_horiz:"):
            state.save(replace(state.load(StreamsState), made=True, step=1))
            st.rerun()
        st.caption(words.streams.MAKE_HINT)
