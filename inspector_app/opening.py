"""Opening a trace: what was pasted, uploaded or named becomes a trace in memory, or a problem that the page shows.

The functions that take no argument are callbacks of widgets: they run before the page, so that one run shows the
result. What is open stays open whatever fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from inspector_app import data, launch, own_pack, places, samples, state, words
from inspector_app.page_state.playground import PlaygroundState
from inspector_app.reading import Given, Reading, given_below, takes_long
from inspector_app.state import Problem
from inspector_app.views.excerpt import excerpt, line_of, sentence
from inspector_app.views.hidden import displayable
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.limits import MAX_UPLOAD_BYTES

__all__ = [
    "FILE_FIELD",
    "FORMAT_FIELD",
    "LONG_PASTE_FIELD",
    "PASTE_FIELD",
    "PATH_FIELD",
    "READ_AS_FIELD",
    "READ_BUTTON",
    "file_field",
    "long_pasted",
    "opened",
    "options_of",
    "paste",
    "path",
    "path_field",
    "preloaded",
    "read",
    "read_as",
    "reading",
    "sample",
    "stop",
    "stopping",
    "upload",
]

FORMAT_FIELD: Final = "open_format"
READ_AS_FIELD: Final = "read_as"
PASTE_FIELD: Final = "open_paste"
READ_BUTTON: Final = "open_read"
LONG_PASTE_FIELD: Final = "long_paste"
FILE_FIELD: Final = "open_file"
PATH_FIELD: Final = "open_path"
_UPLOADS: Final = "uploads"
_UPLOADED: Final = "uploaded"
_OPENINGS: Final = "openings"
_READING: Final = "reading"
_PASTED: Final = "pasted"
_STOPPING: Final = "stopping"
_SECONDS_WITHOUT_PROGRESS: Final = 0.8  # what ends sooner is opened at once


def preloaded(current: PlaygroundState) -> PlaygroundState:
    """Return the state with what was read meanwhile, or the first time with the file named on the command line."""
    current = _finished(current)
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
        held = None if reading() is not None else _open_named(current)
        if held is None and reading() is None:
            state.save(current.closed())
        elif held is not None:
            data.shelf().forget(state.set_held_key(source, held.key))
    return held


def options_of(current: PlaygroundState) -> data.Options:
    """Return what decides which handles a trace gets. Without an own pack the built-in one counts."""
    own = own_pack.loaded()
    return data.Options(
        citations=current.citations,
        pack=current.pack,
        off=frozenset(current.off),
        encoding=current.encoding,
        as_result=current.as_result,
        conversation=current.conversation,
        own=own.text if own is not None and current.pack == "own" else "",
    )


def file_field() -> str:
    """Return the key of the field for uploads, which is another after each upload."""
    uploads = state.kept(_UPLOADS)
    return f"{FILE_FIELD}:{uploads}" if uploads else FILE_FIELD


def path_field() -> str:
    """Return the key of the field for a path, which is another after each opening.

    The browser keeps what stood in a field that is not drawn at the moment, and hands it in with the next click: the
    path would be opened again, and the view that was chosen be lost.
    """
    openings = state.kept(_OPENINGS)
    return f"{PATH_FIELD}:{openings}" if openings else PATH_FIELD


def long_pasted() -> str:
    """Return the long text that was pasted and not read yet. Of two callbacks of one run, either may be the first."""
    just_now = (state.field(LONG_PASTE_FIELD) or {}).get("text")
    return str(state.kept(_PASTED) or "") if just_now is None else str(just_now)


# --- what takes long


def reading() -> Reading | None:
    """Return what is being read in this tab, until it is opened."""
    pending = state.kept(_READING)
    return pending[0] if pending is not None else None


def stopping() -> bool:
    """Whether what is being read was told to stop, and has not ended yet."""
    return reading() is not None and state.kept(_STOPPING) is reading()


def stop() -> None:
    """Stop reading: what was read so far is opened. When asked again, and while it is encoded, it is given up.

    A large document that is one JSON value is read at one go, and a conversation is encoded at one go: neither has a
    place to stop at, so its thread goes on, and what it makes is forgotten.
    """
    pending: tuple[Reading, PlaygroundState] | None = state.kept(_READING)
    if pending is None:
        return
    begun, wanted = pending
    if begun.encoding or stopping():
        _give_up()
        state.set_problem(Problem(title=words.opening.STOPPED_TITLE, text=words.opening.STOPPED))
        _close_if_it_is(wanted)
    else:
        state.keep(_STOPPING, begun)
        begun.stop()


def _begin(sources: Sequence[Given], name: str, wanted: PlaygroundState) -> data.Held | None:
    """Begin to read in a thread; what ends at once is returned, the rest is opened by `preloaded` when it has ended."""
    _give_up()
    begun = Reading(sources, name, wanted.format, options_of(wanted))
    if begun.wait(_SECONDS_WITHOUT_PROGRESS):
        state.keep(_READING, None)
        return _attempt(begun.held, wanted, ask=len(sources) == 1)
    state.keep(_READING, (begun, wanted))
    return None


def _give_up() -> None:
    """Forget what is being read: what was asked for last counts."""
    before = reading()
    if before is not None:
        before.stop()
    state.keep(_READING, None)


def _finished(current: PlaygroundState) -> PlaygroundState:
    pending: tuple[Reading, PlaygroundState] | None = state.kept(_READING)
    if pending is None or pending[0].running:
        return current
    state.keep(_READING, None)
    begun, wanted = pending
    held = _attempt(begun.held, wanted, ask=len(begun.sources) == 1)
    if held is None:
        return _close_if_it_is(wanted)
    return _now_open(held, wanted)


def _close_if_it_is(wanted: PlaygroundState) -> PlaygroundState:
    """A link that names what cannot be read opens nothing; what a callback tried changes nothing."""
    current = state.load(PlaygroundState)
    return state.save(current.closed()) if _source(current) == _source(wanted) and not current.key else current


def _now_open(held: data.Held, wanted: PlaygroundState) -> PlaygroundState:
    _give_up()
    state.clear(PASTE_FIELD, FORMAT_FIELD)
    state.keep(_OPENINGS, (state.kept(_OPENINGS) or 0) + 1)
    state.keep(_UPLOADED, None)
    state.keep(_PASTED, None)
    if wanted.sample or wanted.path:
        data.shelf().forget(state.set_held_key(_source(wanted), held.key))
        return state.save(wanted)
    return state.save(replace(wanted, key=held.key))


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
    return _open_path(places.typed_path(current.path), current)


def _open_path(file: Path, wanted: PlaygroundState) -> data.Held | None:
    try:
        if file.is_dir():
            sources = given_below(file)
            if not sources:
                _fail(words.opening.EMPTY_FOLDER)
                return None
            return _begin(sources, f"{file.name}/", wanted)
        if takes_long(Given(name=file.name, path=file)):
            return _begin([Given(name=file.name, path=file)], file.name, wanted)
    except OSError:
        _fail(words.opening.NO_SUCH_FILE)
        return None
    return _attempt(lambda: data.open_path(file, wanted.format), wanted)


def _attempt(
    opener: Callable[[], data.Held], wanted: PlaygroundState, source: bytes = b"", *, ask: bool = True
) -> data.Held | None:
    """Open something; a failure becomes the problem that the page shows, and what is open stays open.

    With `ask` a damaged source is a failure too, until one asks for what could be read of it (`wanted.partial`).
    """
    try:
        held = opener()
    except OSError:
        _fail(words.opening.NO_SUCH_FILE)
    except UnreadableTrace as error:
        _fail(displayable(sentence(str(error))), excerpt=excerpt(source, error.position))
    else:
        return _accepted(held, wanted, ask=ask)
    return None


def _accepted(held: data.Held, wanted: PlaygroundState, *, ask: bool) -> data.Held | None:
    damage = next((notice for notice in held.trace.notices if notice.kind == "damaged"), None)
    messages = sum(len(one.messages) for one in held.trace.conversations)
    if not messages:
        said = " ".join(notice.text for notice in held.trace.notices[:1])
        data.shelf().forget(held.key)
        _fail(displayable(f"{words.opening.NO_MESSAGES} {said}".strip()))
        return None
    if ask and damage is not None and not wanted.partial:
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


def _wanted(path: str = "") -> PlaygroundState:
    return state.load(PlaygroundState).opened(path=path, format=state.field(FORMAT_FIELD) or "")


def _take(sources: Sequence[Given], name: str) -> None:
    wanted = _wanted()
    if len(sources) > 1 or takes_long(sources[0]):
        held = _begin(sources, name, wanted)
    else:
        content = sources[0].content
        held = _attempt(lambda: data.open_bytes(content, name, wanted.format), wanted, content)
    if held is not None:
        _now_open(held, wanted)


# --- callbacks


def paste() -> None:
    """Keep a long text that was pasted, until it is read."""
    state.keep(_PASTED, long_pasted())


def read() -> None:
    """Read what was pasted, else the file, else the path: the first that is there."""
    pasted = state.field(PASTE_FIELD) or ""
    if not pasted.strip():
        pasted = long_pasted()
    uploaded = state.kept(_UPLOADED)
    named = (state.field(path_field()) or "").strip()
    if pasted.strip():
        name = words.opening.PASTED_NAME
        _take([Given(name=name, content=pasted.encode("utf-8", errors="surrogatepass"))], name)
    elif uploaded is not None:
        _take(*uploaded)
    elif named:
        path()
    else:
        _fail(words.opening.NOTHING_TO_READ)


def upload() -> None:
    """Open the files that were uploaded: several are one trace with a conversation or more each."""
    sources = [Given(name=each.name, content=each.getvalue()) for each in state.field(file_field()) or ()]
    if not sources:
        return
    # The field begins anew: what is uploaded next is not one more file of these.
    state.keep(_UPLOADS, (state.kept(_UPLOADS) or 0) + 1)
    if any(each.size > MAX_UPLOAD_BYTES for each in sources):
        _fail(words.opening.too_large(MAX_UPLOAD_BYTES // (1024 * 1024)))
    elif not any(each.size for each in sources):
        _fail(words.opening.EMPTY_FILE)
    else:
        name = sources[0].name if len(sources) == 1 else words.sources.files_name(len(sources))
        state.keep(_UPLOADED, (sources, name))  # to be read again, as another format, while it could not be
        _take(sources, name)


def sample(key: str) -> None:
    """Open the sample whose card was clicked; `key` is that of the cards. Of two quick clicks the last one counts."""
    chosen = (state.field(key) or {}).get("chosen")
    if chosen:
        _give_up()
        state.set_problem(None)
        state.save(state.load(PlaygroundState).opened(sample=str(chosen)))


def path() -> None:
    """Open the file that the path field names."""
    named = (state.field(path_field()) or "").strip()
    if not named:
        return
    wanted = _wanted(path=named)
    held = _open_named(wanted)
    if held is not None:
        _now_open(held, wanted)


def read_as() -> None:
    """Read what is open as another format; when that fails, it stays open as it is."""
    current = state.load(PlaygroundState)
    chosen = state.field(READ_AS_FIELD) or ""
    held = opened(current)
    state.forget(READ_AS_FIELD)
    if held is None or chosen == current.format:
        return
    wanted = current.opened(sample=current.sample, path=current.path, format=chosen)
    again = _open_named(wanted) if wanted.is_open else None
    if not wanted.is_open:
        content = held.data
        again = _attempt(lambda: data.open_bytes(content, held.name, chosen), wanted, content)
    if again is not None:
        _now_open(again, wanted)
