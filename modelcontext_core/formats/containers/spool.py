"""Spans of a source that is too large to hold: put aside on disk, given back trace by trace.

The spans of one trace may stand anywhere in a source, so a joined source of spans has to be held until its end. Up to
`MAX_HELD_SPAN_BYTES` it is, in memory. A larger one goes piece by piece into a temporary database without a name,
which is gone when it is closed; each trace is then read by itself, in the order in which the traces begin.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Any, Final

from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.base import NoticeKind
from modelcontext_core.formats.containers.jsonload import JSON_STEP, BadJson, JsonPath, loads, raw_slices, repair
from modelcontext_core.formats.nodes import MISSING, Document, Node, parsed
from modelcontext_core.formats.reader import Piece
from modelcontext_core.limits import MAX_HELD_SPAN_BYTES, MAX_RECORD_BYTES, MIB

__all__ = ["by_trace"]

Report = Callable[[NoticeKind, str, str], None]
Pieces = Callable[[Node], Iterator[Piece]]

_SPOOLED: Final = (
    f"there are more than {MAX_HELD_SPAN_BYTES // MIB} MB of spans (MAX_HELD_SPAN_BYTES): they are read trace by "
    "trace, in the order in which the traces begin"
)
_PARTS: Final = (
    f"a trace has more than {MAX_RECORD_BYTES // MIB} MB of spans (MAX_RECORD_BYTES): it is read in parts, and what "
    "these repeat is told again"
)
_TABLES: Final = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -4096;
PRAGMA temp_store = FILE;
CREATE TABLE pieces (number INTEGER PRIMARY KEY, trace BLOB, session BLOB, size INTEGER, place TEXT, data BLOB);
"""
_ORDER: Final = """
CREATE INDEX pieces_by_trace ON pieces (trace);
CREATE TABLE traces AS
    SELECT trace, coalesce(max(session), trace) AS owner, min(number) AS first FROM pieces GROUP BY trace;
CREATE INDEX traces_by_owner ON traces (owner);
CREATE TABLE owners AS SELECT owner, min(first) AS first FROM traces GROUP BY owner ORDER BY 2;
"""
_OF_OWNER: Final = """
SELECT number, size FROM traces JOIN pieces USING (trace) WHERE owner = ? ORDER BY number
"""


def by_trace(nodes: Iterator[Node], pieces: Pieces, report: Report) -> Iterator[Iterator[Node]]:
    """The records of a joined source: all at once, or, if they are too many to hold, those of one trace at a time.

    `pieces` cuts a record into what belongs to one trace each. Raises `UnreadableTrace` when the disk is full.
    """
    held: list[Node] = []
    size = 0
    for node in nodes:
        held.append(node)
        size += len(node.document.data)
        if size > MAX_HELD_SPAN_BYTES:
            break
    else:
        yield iter(held)
        return
    report("limit", "", _SPOOLED)
    try:
        with closing(_Spool()) as spool:
            held.reverse()
            spool.fill(chain(_popped(held), nodes), pieces)
            yield from spool.traces(report)
    except sqlite3.Error as error:
        raise UnreadableTrace(f"the spans cannot be put aside in a temporary file: {error}") from None


def _popped(held: list[Node]) -> Iterator[Node]:
    while held:
        yield held.pop()


class _Spool:
    """The pieces on disk."""

    def __init__(self) -> None:
        # Whoever drops the iterator may do so in another thread.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.executescript(_TABLES)

    def close(self) -> None:
        """Delete everything."""
        self._database.close()

    def fill(self, nodes: Iterable[Node], pieces: Pieces) -> None:
        """Put all records aside."""
        self._database.execute("BEGIN")
        last: Document | None = None
        for node in nodes:
            found = list(pieces(node)) or [Piece(node=node)]
            together = len({(piece.trace, piece.session) for piece in found}) == 1 and node.document is not last
            if together:
                found = [Piece(node=node, trace=found[0].trace, session=found[0].session)]
            self._database.executemany(
                "INSERT INTO pieces (trace, session, size, place, data) VALUES (?, ?, ?, ?, ?)",
                _rows(node.document, found, whole=together),
            )
            last = node.document
        self._database.execute("COMMIT")
        self._database.executescript(_ORDER)

    def traces(self, report: Report) -> Iterator[Iterator[Node]]:
        """The pieces of each trace, or of each part of one that is too large itself."""
        for (owner,) in self._database.execute("SELECT owner FROM owners ORDER BY rowid"):
            part: list[int] = []
            size = 0
            for number, length in self._database.execute(_OF_OWNER, (owner,)).fetchall():
                if part and size + length > MAX_RECORD_BYTES:
                    report("limit", "", _PARTS)
                    yield self._nodes(part)
                    part, size = [], 0
                part.append(number)
                size += length
            yield self._nodes(part)

    def _nodes(self, numbers: list[int]) -> Iterator[Node]:
        for number in numbers:
            query = "SELECT place, data FROM pieces WHERE number = ?"
            place, data = self._database.execute(query, (number,)).fetchone()
            yield _restored(data, _Place(**json.loads(place)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a piece stands. `whole`: the data is the document in which the steps are to be walked, else the piece."""

    where: str
    event: str
    steps: list[str | int | None]
    whole: bool


def _rows(document: Document, pieces: list[Piece], *, whole: bool) -> Iterator[tuple[Any, ...]]:
    paths = [piece.node.steps_from(None) or () for piece in pieces]
    texts = {} if whole else document.slices(paths)
    for piece, path in zip(pieces, paths, strict=True):
        data = document.data if whole else texts.get(path, "").encode("utf-8", "surrogatepass")
        if not data:  # a document that was put together has no text of its own
            data = json.dumps(piece.node.value, default=str).encode()
        steps = [None if step is JSON_STEP else step for step in path]
        place = json.dumps({"where": document.where, "event": document.event, "steps": steps, "whole": whole})
        yield _key(piece.trace), _key(piece.session) if piece.session else None, len(data), place, data


def _key(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _restored(data: bytes, place: _Place) -> Node:
    """The node of a piece, which stands where it stood."""
    path: JsonPath = tuple(JSON_STEP if step is None else step for step in place.steps)
    value = _value(data)
    if not place.whole:
        return _Part(data, value, place, path).root
    node = Document(data, value, where=place.where, event=place.event).root
    for step in path:
        node = node.at(step) if isinstance(step, str | int) else Node(parsed(node.value), node, step, node.document)
    return node


def _value(data: bytes) -> Any:
    try:
        return loads(data)
    except BadJson:  # what is wrong with it was reported when it was read first
        found = repair(data)
        return found[0] if found else MISSING


class _Part(Document):
    """A value cut out of a document, of which the rest is gone. Paths are those in the document."""

    __slots__ = ("_path",)

    def __init__(self, data: bytes, value: Any, place: _Place, path: JsonPath) -> None:
        super().__init__(data, value, where=place.where, event=place.event)
        self._path = path

    @property
    def root(self) -> Node:
        """The node of the value, below nodes that have nothing but their keys."""
        node = Node(self.value if not self._path else MISSING, None, None, self)
        for index, step in enumerate(self._path, 1):
            node = Node(self.value if index == len(self._path) else MISSING, node, step, self)
        return node

    def slices(self, paths: list[JsonPath]) -> dict[JsonPath, str]:
        """As `Document.slices`."""
        start = len(self._path)
        found = raw_slices(self.data, [path[start:] for path in paths])
        return {self._path + path: text for path, text in found.items()}
