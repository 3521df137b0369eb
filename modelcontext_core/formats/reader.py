"""What a reader is: how it recognises a source, and how it tells a builder what the source says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.nodes import Node

__all__ = ["Container", "Piece", "Reader", "Sample"]

# What kind of record a source is cut into. "json" is one document, "array" the elements of one.
Container = Literal["json", "array", "lines", "sse", "documents", "text", "sqlite", "eventstream"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The beginning of a source, for detection: up to a few dozen records, and the first bytes as they are.

    For one JSON document `nodes` is its root alone (container "json"). For the elements of an array, for lines, events
    and documents in a row it is the first of them. For text, SQLite and event streams `nodes` has one node without a
    value. `partial` says that a long array is shown by its first elements.
    """

    container: Container
    nodes: Sequence[Node]
    head: bytes = b""
    name: str = ""
    partial: bool = False

    @property
    def first(self) -> Node:
        """The first record."""
        return self.nodes[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A record, or what of it belongs to one trace: the trace's id, and that of the session that several traces may
    share."""

    node: Node
    trace: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One format: how to recognise it and how to read it.

    `detect(sample)` answers from keys and types, never from a file's name. `read(nodes, builder)` takes records and
    tells the builder what it finds; it must not raise for any input. With `joined` all lines, events or elements of a
    source make one trace (a session log, a stream); without it every record is a trace by itself; a function decides
    for formats that have both. `keys` are names that only this format uses: a source that no reader takes is compared
    with them to name the nearest format.

    A joined source of many traces need not be held as a whole: `pieces` cuts a record into what belongs to one trace
    each, and `read` gets the pieces of one trace at a time when the source is large.
    """

    name: str
    title: str
    detect: Callable[[Sample], bool]
    read: Callable[[Iterable[Node], Builder], None]
    joined: bool | Callable[[Sample], bool] = False
    keys: frozenset[str] = frozenset()
    pieces: Callable[[Node], Iterator[Piece]] | None = None

    def joins(self, sample: Sample) -> bool:
        """Do the records of a source like this make one trace?"""
        return self.joined(sample) if callable(self.joined) else self.joined
