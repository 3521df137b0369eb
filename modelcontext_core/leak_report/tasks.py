"""What a scan reads, cut into tasks of about the same work: a few files, or a range of lines of a large one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from modelcontext_core import formats
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.limits import MIB

__all__ = ["Piece", "Task", "make_tasks", "pieces_of"]

_TASK_BYTES: Final = 4 * MIB
_TASK_FILES: Final = 100
_RANGE_BYTES: Final = 8 * MIB
_LINES_TRIED: Final = 20
_TRIED_BYTES: Final = 8 * MIB


class Piece(NamedTuple):
    """A file, or the lines of it that begin in `[start, end)`; `end` is -1 for all of it. `first` is the number of its
    first record, for the names of traces."""

    path: str
    size: int
    start: int = 0
    end: int = -1
    first: int = 0


Task = tuple[Piece, ...]


def make_tasks(pieces: Iterable[Piece]) -> Iterator[Task]:
    """The pieces in tasks of about the same work."""
    waiting: list[Piece] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += piece.size
        if size >= _TASK_BYTES or len(waiting) >= _TASK_FILES:
            yield tuple(waiting)
            waiting, size = [], 0
    if waiting:
        yield tuple(waiting)


def pieces_of(path: str | Path, format_name: str = "") -> Iterator[Piece]:
    """A local file as pieces: a large one whose lines are traces by themselves is cut between lines."""
    path = Path(path)
    size = path.stat().st_size
    if size < 2 * _RANGE_BYTES or not _lines_are_traces(path, format_name):
        yield Piece(str(path), size)
        return
    start = first = 0
    with path.open("rb") as file:
        while start < size:
            file.seek(start)
            block = file.read(_RANGE_BYTES)
            rest = file.readline() if start + len(block) < size else b""
            end = start + len(block) + len(rest)
            yield Piece(str(path), end - start, start, end, first)
            first += block.count(b"\n") + rest.count(b"\n")
            start = end


def _lines_are_traces(path: Path, format_name: str) -> bool:
    """Whether each line of a file is one JSON document and one trace: only then may it be cut anywhere."""
    with path.open("rb") as file:
        lines = file.read(_TRIED_BYTES).splitlines(keepends=True)
    # Whether a format joins the lines of a source may depend on what stands in them: it is tried on the first ones.
    whole = [line for line in lines if line.endswith(b"\n")][:_LINES_TRIED]
    if not all(line.startswith(b"{") and line.rstrip().endswith(b"}") for line in whole):
        return False
    try:
        name = format_name or formats.detect(path)
        found = sum(1 for _ in formats.iter_traces(b"".join(whole), format=name))
    except UnreadableTrace:
        return False
    return found == len(whole) > 1
