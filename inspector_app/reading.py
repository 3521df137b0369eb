"""Reading many files, or one that takes long, in a thread: how far it is can be seen, and it can be stopped.

Nothing here imports Streamlit. What was read when it is stopped can be opened, with a notice that says so. What was
read is encoded here too: then the page that opens it only has to draw.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, cast

from inspector_app import data
from inspector_app.folders import files_below
from modelcontext_core import formats
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.base import Conversation, Notice, Trace
from modelcontext_core.formats.building.merging import merged

__all__ = ["Given", "Reading", "given_below", "takes_long"]

_LONG_BYTES: Final = 4 * 1024 * 1024
_SECONDS_UNWATCHED: Final = 60.0
# The reader computes all the time: without a rest now and then the pages would hardly be drawn meanwhile.
_SECONDS_BETWEEN_RESTS: Final = 0.05
_SECONDS_OF_REST: Final = 0.01
_ZIP: Final = b"PK\x03\x04"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One source: its name, and its content or the file that holds it."""

    name: str
    content: bytes = b""
    path: Path | None = None

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.path.stat().st_size if self.path is not None else len(self.content)

    def opened(self) -> BinaryIO:
        """The source as a binary file."""
        return self.path.open("rb") if self.path is not None else io.BytesIO(self.content)


def takes_long(given: Given) -> bool:
    """Return whether a source is better read in a thread: a zip, or a large file. Raises `OSError`."""
    if given.size > _LONG_BYTES:
        return True
    with given.opened() as file:
        return file.read(4) == _ZIP


def given_below(folder: Path) -> list[Given]:
    """Return the files below a folder as sources, sorted; hidden ones are left out."""
    return [Given(name=each.relative_to(folder).as_posix(), path=each) for each in files_below(folder)]


class _Stoppable:
    """A file that seems to end when reading shall stop: what makes one trace may be the whole of it."""

    def __init__(self, file: BinaryIO, ended: Callable[[], bool]) -> None:
        self._file = file
        self._ended = ended

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        return b"" if self._ended() else self._file.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place, as zips need it."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Where it is."""
        return self._file.tell()

    def seekable(self) -> bool:
        """It is."""
        return True


class Reading:
    """Sources that are being read as one trace, and then encoded under `options`, where some are given.

    `done` and `messages` say how far reading is, `encoding` that it has ended.
    """

    def __init__(
        self, sources: Sequence[Given], name: str, format_name: str = "", options: data.Options | None = None
    ) -> None:
        self.sources = sources
        self.name = name
        self.done = 0
        self.messages = 0
        self.encoding = False
        self._options = options
        self._format = format_name or None
        self._file: BinaryIO | None = None
        self._bytes_done = 0
        self._total = 1
        self._result: data.Held | Exception | None = None
        self._looked = self._rested = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether there is more to come. Asking keeps it from ending as unwatched."""
        self._looked = time.monotonic()
        return self._thread.is_alive()

    @property
    def share(self) -> float:
        """How much of the bytes was read, from 0 to 1."""
        here = 0
        with suppress(ValueError, OSError, AttributeError):  # closed meanwhile
            here = self._file.tell() if self._file is not None else 0
        return min(1.0, (self._bytes_done + here) / self._total)

    def wait(self, seconds: float) -> bool:
        """Wait a while; return whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def stop(self) -> None:
        """End it: what was read so far can be opened."""
        self._stop.set()

    def held(self) -> data.Held:
        """Return what was read. Raises `UnreadableTrace` or `OSError` when nothing could be."""
        self._thread.join()
        if not isinstance(self._result, data.Held):
            raise self._result or UnreadableTrace("reading ended without a result")
        return self._result

    def _run(self) -> None:
        try:
            held = self._read()
            if self._options is not None:
                self.encoding = True
                data.part(held, self._options, 0)  # what the page shows first, and all that it is made of
            self._result = held
        except Exception as error:  # raised where somebody asks for the result
            self._result = error

    def _read(self) -> data.Held:
        self._total = max(1, sum(each.size for each in self.sources))
        found = merged(self._traces())
        if not any(each.messages for each in found.conversations) and found.notices:
            raise UnreadableTrace(found.notices[0].text, position=found.notices[0].where)
        alone = self.sources[0] if len(self.sources) == 1 else None
        content = b""
        if alone is not None:
            content = alone.content or (alone.path.read_bytes() if alone.path is not None else b"")
        return data.hold(found, content, self.name, size=self._bytes_done or self._total)

    def _traces(self) -> Iterator[Trace]:
        for given in self.sources:
            try:
                yield from self._traces_of(given)
            except (UnreadableTrace, OSError) as error:
                if len(self.sources) == 1:
                    raise
                yield Trace(format="", notices=(_unread(given, error),))
            if self._ended:
                break
            self.done += 1
        if self._ended and self.done < len(self.sources):
            text = f"reading was stopped after {self.done:,} of {len(self.sources):,} files"
            yield Trace(format="", notices=(Notice(kind="limit", where="", text=text),))

    def _rest(self) -> None:
        if time.monotonic() - self._rested > _SECONDS_BETWEEN_RESTS:
            self._stop.wait(_SECONDS_OF_REST)
            self._rested = time.monotonic()

    @property
    def _ended(self) -> bool:
        return self._stop.is_set() or time.monotonic() - self._looked > _SECONDS_UNWATCHED

    def _stopping(self) -> bool:
        """Asked before each piece of a file."""
        self._rest()
        return self._ended

    def _traces_of(self, given: Given) -> Iterator[Trace]:
        several = len(self.sources) > 1
        with given.opened() as file:
            self._file = file
            watched = cast(BinaryIO, _Stoppable(file, self._stopping))
            for trace in formats.iter_traces(watched, name=given.name, format=self._format):
                self.messages += sum(len(each.messages) for each in trace.conversations)
                yield _named(trace, given.name) if several else trace
                self._rest()
                if self._ended:
                    break
            self._file = None
        self._bytes_done += given.size


def _unread(given: Given, error: UnreadableTrace | OSError) -> Notice:
    reason = str(error) if isinstance(error, UnreadableTrace) else error.strerror or str(error)
    return Notice(kind="skipped", where=given.name, text=f"the file is not read: {reason}")


def _named(trace: Trace, name: str) -> Trace:
    """A trace of one of several files: the file's name stands in its titles and notices."""

    def titled(conversation: Conversation) -> Conversation:
        title = f"{name} · {conversation.title}" if conversation.title else name
        return replace(conversation, title=title)

    return replace(
        trace,
        conversations=tuple(map(titled, trace.conversations)),
        notices=tuple(
            replace(notice, where=f"{name}: {notice.where}" if notice.where else name) for notice in trace.notices
        ),
    )
