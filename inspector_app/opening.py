"""Opening a trace: what was pasted, uploaded or named becomes a trace in memory, or a problem that the page shows.

The functions that take no argument are callbacks of widgets: they run before the page, so that one run shows the
result. What is open stays open whatever fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from inspector_app import data, launch, samples, state, words
from inspector_app.page_state.playground import PlaygroundState
from inspector_app.state import Problem
from inspector_app.views.excerpt import excerpt, line_of, sentence
from inspector_app.views.hidden import displayable
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.limits import MAX_UPLOAD_BYTES

__all__ = ["FILE_FIELD", "PASTE_FIELD", "PATH_FIELD", "opened", "path", "preloaded", "read", "upload"]

PASTE_FIELD: Final = "open_paste"
FILE_FIELD: Final = "open_file"
PATH_FIELD: Final = "open_path"
_FIELDS: Final = (PASTE_FIELD, PATH_FIELD, FILE_FIELD)


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
    source = _source(current)
    held = data.shelf().get(state.held_key(source)) if current.is_open else None
    if held is None and current.is_open:
        held = _open_named(current)
        if held is None:
            state.save(current.closed())
        else:
            state.set_held_key(source, held.key)
    return held


def _source(current: PlaygroundState) -> str:
    return f"{current.sample}\n{current.path}\n{current.format}"


def _open_named(current: PlaygroundState) -> data.Held | None:
    if current.sample:
        sample = samples.find(current.sample)
        if sample is None:
            _fail(words.opening.UNKNOWN_SAMPLE)
            return None
        return _attempt(lambda: data.open_path(sample.file, current.format), current)
    # A file named on the command line was named by whoever runs the server.
    if not launch.local_files_allowed() and current.path != str(launch.preload_path()):
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


# --- callbacks


def read() -> None:
    """Read what was pasted, else the file, else the path: the first that is there."""
    pasted = state.field(PASTE_FIELD) or ""
    uploaded = state.field(FILE_FIELD)
    named = (state.field(PATH_FIELD) or "").strip()
    if pasted.strip():
        _take(pasted.encode("utf-8", errors="surrogatepass"), words.opening.PASTED_NAME)
    elif uploaded is not None:
        upload()
    elif named:
        path()
    else:
        _fail(words.opening.NOTHING_TO_READ)


def upload() -> None:
    """Open the file that was uploaded."""
    uploaded = state.field(FILE_FIELD)
    if uploaded is None:
        return
    content = uploaded.getvalue()
    if len(content) > MAX_UPLOAD_BYTES:
        _fail(words.opening.too_large(MAX_UPLOAD_BYTES // (1024 * 1024)))
    elif not content:
        _fail(words.opening.EMPTY_FILE)
    else:
        _take(content, uploaded.name)


def path() -> None:
    """Open the file that the path field names."""
    named = (state.field(PATH_FIELD) or "").strip()
    if not named:
        return
    wanted = state.load(PlaygroundState).opened(path=named, format=state.load(PlaygroundState).format)
    held = _open_named(wanted)
    if held is not None:
        state.set_held_key(_source(wanted), held.key)
        state.save(wanted)
        state.forget(*_FIELDS)
