"""Opening a trace in the Playground: paste, upload, path, sample; and what is said when that fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import streamlit as st

from inspector_app import data, launch, samples, state, words
from inspector_app.components.cards import choose_card, error_card, pairs, table
from inspector_app.page_state.playground import PlaygroundState
from inspector_app.state import Problem
from inspector_app.views import tables
from inspector_app.views.excerpt import excerpt, line_of, sentence
from inspector_app.views.hidden import displayable
from modelcontext_core import formats
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.limits import MAX_UPLOAD_BYTES

__all__ = ["draw_problem", "empty_page", "inputs", "opened", "preloaded", "sample_cards"]

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
_FIELDS: Final = ("open_paste", "open_path", "open_file")


def preloaded(current: PlaygroundState) -> PlaygroundState:
    """Return the state with the file that was named on the command line, the first time and when nothing is open."""
    path = launch.preload_path()
    if path is None or not state.first_time("preload") or current.is_open:
        return current
    return current.opened(path=str(path))


def opened(current: PlaygroundState) -> data.Held | None:
    """Return the trace that the state names, opening a sample or path if need be; None when there is none."""
    if current.key:
        held = data.shelf().get(current.key)
        if held is None:
            state.save(replace(current.closed(), problem=words.opening.EXPIRED))
        return held
    source = f"{current.sample}\n{current.path}\n{current.format}"
    held = data.shelf().get(state.held_key(source)) if current.is_open else None
    if held is None and current.is_open:
        held = _open_named(current)
        if held is None:
            state.save(current.closed())
        else:
            state.set_held_key(source, held.key)
    return held


def _open_named(current: PlaygroundState) -> data.Held | None:
    if current.sample:
        sample = samples.find(current.sample)
        if sample is None:
            _fail(words.opening.UNKNOWN_SAMPLE)
            return None
        return _attempt(lambda: data.open_path(sample.file, current.format), current)
    if not launch.local_files_allowed():
        _fail(words.opening.PATHS_ARE_OFF)
        return None
    return _attempt(lambda: data.open_path(Path(current.path).expanduser(), current.format), current)


def _attempt(opener: Callable[[], data.Held], wanted: PlaygroundState, source: bytes = b"") -> data.Held | None:
    """Open something; a failure becomes the problem that the page shows, and what is open stays open.

    A damaged source is a failure too, until the reader asks for what could be read of it (`wanted.partial`).
    """
    try:
        held = opener()
    except IsADirectoryError:
        _fail(words.opening.NOT_A_FILE)
    except OSError:
        _fail(words.opening.NO_SUCH_FILE)
    except UnreadableTrace as error:
        _fail(displayable(sentence(str(error))), excerpt=excerpt(source, error.position))
    else:
        return _accepted(held, wanted)
    return None


def _accepted(held: data.Held, wanted: PlaygroundState) -> data.Held | None:
    damage = next((notice for notice in held.trace.notices if notice.kind == "damaged"), None)
    messages = sum(len(one.messages) for one in held.trace.conversations)
    if not messages:
        data.shelf().forget(held.key)
        said = " ".join(notice.text for notice in held.trace.notices[:1])
        _fail(displayable(f"{words.opening.NO_MESSAGES} {said}".strip()))
        return None
    if damage is not None and not wanted.partial:
        named = wanted if wanted.is_open else wanted.opened(key=held.key)
        state.set_problem(
            Problem(
                title=words.opening.damaged_title(line_of(damage.where)),
                text=displayable(sentence(damage.text)),
                excerpt=excerpt(held.data, damage.where),
                rest=replace(named, partial=True),
                messages=messages,
                notices=tuple(held.trace.notices),
            )
        )
        return None
    state.set_problem(None)
    return held


def _fail(text: str, **more: Any) -> None:
    state.set_problem(Problem(title=words.opening.UNREADABLE_TITLE, text=text, **more))


def _take(content: bytes, name: str) -> None:
    wanted = state.load(PlaygroundState).opened(format=state.load(PlaygroundState).format)
    held = _attempt(lambda: data.open_bytes(content, name, wanted.format), wanted, content)
    if held is not None:
        state.save(replace(wanted, key=held.key))
        state.forget(*_FIELDS)


# --- callbacks: they run before the page, so that one run shows the result


def _read() -> None:
    """Read what was pasted, else the file, else the path: the first that is there."""
    pasted = st.session_state.get("open_paste") or ""
    uploaded = st.session_state.get("open_file")
    path = (st.session_state.get("open_path") or "").strip()
    if pasted.strip():
        _take(pasted.encode("utf-8", errors="surrogatepass"), words.opening.PASTED_NAME)
    elif uploaded is not None:
        _upload()
    elif path:
        _path()
    else:
        _fail(words.opening.NOTHING_TO_READ)


def _upload() -> None:
    uploaded = st.session_state.get("open_file")
    if uploaded is None:
        return
    content = uploaded.getvalue()
    if len(content) > MAX_UPLOAD_BYTES:
        _fail(words.opening.too_large(MAX_UPLOAD_BYTES // (1024 * 1024)))
    elif not content:
        _fail(words.opening.EMPTY_FILE)
    else:
        _take(content, uploaded.name)


def _path() -> None:
    path = (st.session_state.get("open_path") or "").strip()
    if not path:
        return
    wanted = state.load(PlaygroundState).opened(path=path, format=state.load(PlaygroundState).format)
    held = _open_named(wanted)
    if held is not None:
        state.set_held_key(f"\n{path}\n{wanted.format}", held.key)
        state.save(wanted)
        state.forget(*_FIELDS)


# --- drawing


def empty_page(current: PlaygroundState) -> None:
    """Draw the page without a trace: what it is for, the inputs, the samples."""
    draw_problem(current)
    if state.problem() is None:
        st.title(words.opening.EMPTY_TITLE, anchor=False)
        with st.container(key="empty_text"):
            st.text(words.opening.EMPTY_TEXT)
        pairs(_EXPLAINED, key="explained")
    inputs()
    chosen = sample_cards("samples")
    if chosen:
        state.set_problem(None)
        state.save(current.opened(sample=chosen))
        st.rerun()


def draw_problem(current: PlaygroundState) -> None:
    """Draw why the last attempt to open something failed, if it did."""
    failed = state.problem()
    if failed is not None:
        error_card(failed.title, failed.text, key="problem", excerpt=failed.excerpt)
        _ways_on(failed)
    if current.problem:
        error_card(words.opening.LINK_TITLE, current.problem, key="link_problem")


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
            key="open_paste",
            height=126,
            placeholder=words.opening.PASTE_HINT,
            label_visibility="collapsed",
        )
        with st.container(horizontal=True, gap="small"):
            st.button(words.opening.READ, key="open_read", type="primary", icon=":material/play_arrow:", on_click=_read)
            names = ["", *formats.format_names()]
            st.selectbox(
                words.opening.FORMAT,
                names,
                format_func=lambda name: words.opening.format_choice(name, formats.format_names().get(name, "")),
                label_visibility="collapsed",
                width=250,
                **state.bind(PlaygroundState, "format"),
            )
    with right:
        st.file_uploader(words.opening.UPLOAD, key="open_file", on_change=_upload)
        if launch.local_files_allowed():
            st.text_input(
                words.opening.PATH,
                key="open_path",
                placeholder=words.opening.PATH_HINT,
                label_visibility="collapsed",
                icon=":material/folder:",
                on_change=_path,
            )


def sample_cards(key: str) -> str | None:
    """Draw a card for each sample and return the name of the one that was clicked."""
    st.markdown(words.opening.SAMPLES)
    cards = [
        {"key": sample.name, "title": sample.title, "lines": [sample.shows, sample.contents]}
        for sample in samples.samples()
    ]
    return choose_card(cards, key=key)
