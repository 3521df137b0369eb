"""The data stream of the Vercel AI SDK before its version 5: lines of a letter, a colon and JSON (`0:"text"`).

Each line becomes the chunk of the newer stream that says the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.containers.jsonload import BadJson, JsonPath, loads
from modelcontext_core.formats.nodes import Document, Node
from modelcontext_core.formats.reader import Reader, Sample
from modelcontext_core.formats.tracing.attributes import Tree
from modelcontext_core.formats.vercel_ui_stream import StreamedMessage

__all__ = ["READER"]

_LINE: Final = re.compile(rb"([02389abcdefghijk]):(?=[\"{\[])")
_LINES_LOOKED_AT: Final = 20
# The newer chunk, and its members by their older names.
_KINDS: Final = {
    "b": ("tool-input-start", {"toolCallId": "toolCallId", "toolName": "toolName"}),
    "c": ("tool-input-delta", {"toolCallId": "toolCallId", "inputTextDelta": "argsTextDelta"}),
    "9": ("tool-input-available", {"toolCallId": "toolCallId", "toolName": "toolName", "input": "args"}),
    "a": ("tool-output-available", {"toolCallId": "toolCallId", "output": "result"}),
    "h": ("source-url", {"url": "url", "title": "title"}),
    "k": ("file", {"mediaType": "mimeType", "data": "data"}),
    "f": ("start-step", {}),
    "e": ("finish-step", {}),
    "d": ("finish", {}),
}
_LISTS: Final = {"2": "data-stream", "8": "data-annotation"}


def detect(sample: Sample) -> bool:
    """Text whose first lines are all lines of this protocol."""
    if sample.container != "text":
        return False
    lines = [line for line in sample.head.split(b"\n")[:_LINES_LOOKED_AT] if line.strip()]
    if len(lines) > 1:
        lines = lines[:-1]  # the last one may be cut
    found = [_parsed(line) for line in lines]
    return bool(found) and all(node is not None for node in found)


def _parsed(line: bytes, where: str = "") -> tuple[str, Node] | None:
    match = _LINE.match(line)
    if match is None:
        return None
    data = line[match.end() :].rstrip(b"\r")
    try:
        return match.group(1).decode(), Document(data, loads(data), where=where).root
    except BadJson:
        return None


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation: the assistant's turns and the results of tools."""
    stream = _Stream(builder)
    for node in nodes:
        for letter, value in _lines(node, builder):
            stream.add(letter, value)
    stream.finish()


def _lines(node: Node, builder: Builder) -> Iterator[tuple[str, Node]]:
    for number, line in enumerate(node.document.data.split(b"\n"), 1):
        place = ", ".join(part for part in (node.document.where, f"line {number}") if part)
        found = _parsed(line, place)
        if found is not None:
            yield found
        elif line.strip(b"\r\0 "):
            builder.notice("damaged", place, "a line that is none of this stream is skipped")


class _Chunk(Tree):
    """A chunk of the newer stream, put together of what a line holds. It stands where the line stands."""

    __slots__ = ()

    def __init__(self, line: Node, kind: str, **members: Node) -> None:
        inside = {"type": Node(kind, line, "type", line.document), **members}
        super().__init__(inside, line, "")

    def steps_from(self, base: Node | None) -> JsonPath | None:
        """As `Node.steps_from`."""
        if base is self or self.parent is None:
            return ()
        return self.parent.steps_from(base)


class _Stream:
    """What was streamed so far. Texts that other things stand between are texts of their own."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.message = StreamedMessage(builder, builder.conversation())
        self.part = 0
        self.last = ""
        self.ended = False

    def add(self, letter: str, line: Node) -> None:
        """One line."""
        if letter != self.last and letter != "j":
            self.part += 1
        self.last = letter
        if letter == "i":
            self.message.step.whole(line, lambda turn: turn.opaque(line.get("data"), "redacted_reasoning"))
        elif letter == "j":
            block = self.message.step.get(("reasoning", str(self.part)))
            if block is not None:
                block.signature.append(line.get("signature").text)
            self.last = ""
        elif letter in _LISTS:
            for item in line:
                self.message.add(_Chunk(line, _LISTS[letter], data=item))
        else:
            self.message.add(self._chunk(letter, line))
        if letter == "d":
            self.ended = True
            self.builder.rest(line, ())

    def _chunk(self, letter: str, line: Node) -> _Chunk:
        """The chunk that says the same."""
        if letter in ("0", "g"):
            number = Node(str(self.part), line, "id", line.document)
            return _Chunk(line, "text-delta" if letter == "0" else "reasoning-delta", delta=line, id=number)
        if letter == "3":
            return _Chunk(line, "error", errorText=line)
        kind, names = _KINDS[letter]
        return _Chunk(line, kind, **{name: line.get(old) for name, old in names.items()})

    def finish(self) -> None:
        """Tell what is left."""
        self.message.flush(final=True, cut=not self.ended)
        self.message.log.tell()
        if not self.ended:
            self.builder.notice("damaged", "$", "the stream breaks off: it does not say that it is finished")


READER = Reader(
    name="vercel_data_stream",
    title="Vercel AI SDK data stream (before version 5)",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"argsTextDelta", "isContinued"}),
)
