"""From a source to traces: container, shape, reader, then one trace a record or one for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.asking import lone_object, may_take
from modelcontext_core.formats.base import Notice, NoticeKind, Trace
from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.building.notices import NoticeList
from modelcontext_core.formats.containers.framing import Layout, documents, look
from modelcontext_core.formats.containers.shapes import Shape, shapes_of
from modelcontext_core.formats.containers.sources import Source, open_members
from modelcontext_core.formats.containers.spool import by_trace
from modelcontext_core.formats.nodes import Document, Node
from modelcontext_core.formats.reader import Reader

__all__ = ["Recognised", "iterate", "recognise"]

_WALKED = 2000  # values looked at to name the nearest format


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """A reader and the shape in which it takes the source."""

    reader: Reader
    shape: Shape


def recognise(layout: Layout, name: str, readers: Sequence[Reader], wanted: Reader | None = None) -> Recognised | None:
    """The first reader that takes any shape of the source; with `wanted`, that reader with the shape that fits best."""
    shapes = shapes_of(layout, name)
    candidates = [wanted] if wanted else readers
    objects = [lone_object(shape.sample) for shape in shapes]
    for reader in candidates:
        for shape, members in zip(shapes, objects, strict=True):
            if may_take(reader.detect, members) and reader.detect(shape.sample):
                return Recognised(reader=reader, shape=shape)
    # Lines may begin with a header that nobody knows.
    for start in range(1, max(len(shape.sample.nodes) for shape in shapes)):
        for reader in candidates:
            for shape in shapes:
                later = shape.sample.nodes[start:]
                if shape.sample.container != "json" and later and reader.detect(replace(shape.sample, nodes=later)):
                    return Recognised(reader=reader, shape=shape)
    return Recognised(reader=wanted, shape=shapes[0]) if wanted else None


def iterate(
    source: bytes | str | Path | BinaryIO, name: str, readers: Sequence[Reader], wanted: Reader | None
) -> Iterator[Trace]:
    """The traces of a source, one record at a time. Raises `UnreadableTrace` when there is none."""
    left_out = NoticeList()
    given = 0
    several: list[UnreadableTrace] = []
    for member in open_members(source, name, left_out.add):
        prefix = member.name if member.in_archive else ""
        run = _Run(member, prefix, readers, wanted)
        try:
            for trace in run.traces():
                given += 1
                yield trace
        except UnreadableTrace as error:
            if not prefix:
                raise
            several.append(error)
            left_out.add("skipped", prefix, f"the file is not read: {error.reason}")
    if not given:
        if several:
            first = several[0]
            raise UnreadableTrace(f"no file of the zip can be read; the first: {first.reason}", position=first.position)
        notices = left_out.all()
        reason = notices[0].text if notices else "the zip holds no file"
        raise UnreadableTrace(reason, position=notices[0].where if notices else "byte 0")
    if left_out:
        yield Trace(format="", notices=left_out.all())


class _Run:
    """Reads one file."""

    def __init__(self, source: Source, prefix: str, readers: Sequence[Reader], wanted: Reader | None) -> None:
        self.source = source
        self.prefix = prefix
        self.readers = readers
        self.wanted = wanted
        self.notices = NoticeList()

    def report(self, kind: NoticeKind, where: str, text: str) -> None:
        """A notice from below the readers."""
        place = ": ".join(part for part in (self.prefix, where) if part)
        self.notices.add(kind, place, text)

    def traces(self) -> Iterator[Trace]:
        """The traces of the file."""
        layout = look(self.source, self.report)
        found = recognise(layout, self.source.name, self.readers, self.wanted)
        if found is None:
            raise _unreadable(layout, self.readers, self.notices)
        groups = self._groups(layout, found.shape)
        if found.reader.joins(found.shape.sample):
            nodes = (node for group in groups for node in group)
            pieces = found.reader.pieces
            for part in by_trace(nodes, pieces, self.report) if pieces else [nodes]:
                yield self._finish(self._read(found.reader, part))
            return
        given = False
        for group in groups:
            reader = self._reader_of(group, found)
            if reader is None:
                self.report("unknown", group[0].where, "a record that no reader knows is skipped")
                continue
            yield self._finish(self._read(reader, iter(group)))
            given = True
        self._note_source()
        if not given:
            raise _unreadable(layout, self.readers, self.notices)
        if self.notices:
            yield Trace(format=found.reader.name, notices=self._take_notices())

    def _groups(self, layout: Layout, shape: Shape) -> Iterator[list[Node]]:
        for document in self._documents(layout, shape):
            if self.prefix:
                document.where = f"{self.prefix}, {document.where}" if document.where else self.prefix
            yield from shape.groups(document.root)

    def _documents(self, layout: Layout, shape: Shape) -> Iterator[Document]:
        if layout.whole is not None:
            yield layout.whole
        elif layout.container == "array" and shape.sample.container == "json":
            # An array whose elements are not records: it is one record itself.
            yield from documents(self.source, "json", self.report)
        elif layout.container == "array":
            for document in documents(self.source, "array", self.report):
                yield Document(b"[" + document.data + b"]", [document.value], where=document.where)
        else:
            yield from documents(self.source, layout.container, self.report)

    def _reader_of(self, group: list[Node], found: Recognised) -> Reader | None:
        """The reader of one record: that of the file, unless it does not know this record and another one does."""
        sample = replace(found.shape.sample, nodes=group)
        if self.wanted or found.shape.sample.container in ("json", "text") or found.reader.detect(sample):
            return found.reader
        single = replace(sample, container="json")
        for reader in self.readers:
            if not reader.joins(sample) and (reader.detect(sample) or reader.detect(single)):
                return reader
        return None

    def _read(self, reader: Reader, nodes: Iterator[Node]) -> Trace:
        builder = Builder(reader.name)
        reader.read(builder.settling(nodes), builder)
        return builder.trace()

    def _finish(self, trace: Trace) -> Trace:
        """The trace with the notices from below."""
        self._note_source()
        return replace(trace, notices=(*trace.notices, *self._take_notices())) if self.notices else trace

    def _note_source(self) -> None:
        while self.source.notes:
            kind, text = self.source.notes.pop(0)
            self.report(kind, "", text)

    def _take_notices(self) -> tuple[Notice, ...]:
        notices, self.notices = self.notices.all(), NoticeList()
        return notices


def _unreadable(layout: Layout, readers: Sequence[Reader], notices: NoticeList) -> UnreadableTrace:
    """The error for JSON that holds no conversation, with the format that shares the most of its own keys with it."""
    if layout.container == "sqlite":
        return UnreadableTrace("this is a SQLite database of an unknown kind", position="byte 0")
    if layout.container == "eventstream":
        what = "of an unknown kind" if layout.sample[0].data else "of which none is whole"
        return UnreadableTrace(f"these are binary event frames {what}", position="byte 0")
    keys: set[str] = set()
    queue = [document.root for document in layout.sample]
    for node in queue:  # grows while it is walked
        if len(queue) < _WALKED:
            queue += [member for _, member in node.members()]
            queue += list(node)[:20]
        if node.is_object:
            keys.update(node.value)
    nearest = max(readers, key=lambda reader: len(reader.keys & keys))
    name = nearest.name if nearest.keys & keys else ""
    broken = next((notice for notice in notices.all() if notice.kind in ("damaged", "limit")), None)
    if broken is not None:
        return UnreadableTrace(f"no conversation was found: {broken.text}", position=broken.where, nearest=name)
    return UnreadableTrace("this is JSON, but no conversation was found in it", position="$", nearest=name)
