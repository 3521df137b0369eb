"""Streams of the Responses API. The final event holds the whole response: it is preferred to what the pieces make.

Without it, each item is taken from its `done` event, or from its `added` event and the pieces that came. Items are told
apart by `output_index`: item ids may change from event to event.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.base import Channel
from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.building.streaming import Block, StreamedTurn, StreamLog, events_of, first_events
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_responses import ResponsesTeller
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_ENDS: Final = frozenset({"response.completed", "response.failed", "response.incomplete", "response.cancelled"})
_BEGINS: Final = frozenset({"response.created", "response.queued", "response.in_progress"})
_PIECES: Final[dict[str, Channel]] = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.audio.transcript.delta": "text",
    "response.output_audio_transcript.delta": "text",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_summary.delta": "reasoning",
    "response.function_call_arguments.delta": "arguments",
    "response.mcp_call_arguments.delta": "arguments",
    "response.mcp_call.arguments_delta": "arguments",
    "response.mcp_call_arguments_delta": "arguments",
    "response.custom_tool_call_input.delta": "arguments",
    "response.code_interpreter_call_code.delta": "arguments",
    "response.code_interpreter_call.code.delta": "arguments",
    "response.apply_patch_call_operation_diff.delta": "arguments",
}
# The event that ends such a block repeats all of it, under one of these keys.
_WHOLES: Final = {kind.removesuffix("delta") + "done": kind for kind in _PIECES if kind.endswith("delta")}
_WHOLE_KEYS: Final = ("text", "arguments", "input", "code", "refusal", "transcript", "diff")


def _is_event(node: Node) -> bool:
    kind = node.get("type").text
    return kind.startswith("response.") and (node.has_any(_EVENT_KEYS) or kind in _ENDS)


_EVENT_KEYS: Final = frozenset({"response", "output_index", "item", "item_id", "sequence_number", "delta"})


def detect(sample: Sample) -> bool:
    """One of the first records is an event of this API."""
    return any(_is_event(node) for node in first_events(sample))


def _joined(sample: Sample) -> bool:
    return any(_is_event(node) for node in sample.nodes[:4])


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation with a turn for each streamed response."""
    stream = _Stream(builder)
    for node in events_of(nodes):
        stream.take(node)
    stream.finish()


class _Stream:
    """The response that is being received."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.teller = ResponsesTeller(builder)
        self.log = StreamLog(builder)
        self._reset()

    def _reset(self) -> None:
        self.start: Node | None = None
        self.added: dict[int, Node] = {}
        self.done: dict[int, Node] = {}
        self.pieces: dict[int, StreamedTurn] = {}
        self.first: dict[int, Node] = {}
        self.errors: list[Node] = []

    def take(self, node: Node) -> None:
        """One event."""
        kind, response = node.get("type").text, node.get("response")
        if kind in _ENDS:
            self.finish_response(response)
        elif kind in _BEGINS:
            if self.start is not None and response.get("id").label != self.start.get("id").label:
                self.finish_response(None)
            self.start = self.start or response
        elif kind == "response.output_item.added":
            self.added[self._index(node)] = node.get("item")
        elif kind == "response.output_item.done":
            self.done[self._index(node)] = node.get("item")
        elif kind in _PIECES:
            self._piece(node, kind)
        elif kind in _WHOLES:
            self._whole(node, _WHOLES[kind])
        elif kind == "error" or node.get("error"):
            self.errors.append(node.get("error") if node.get("error") else node)
        elif not kind.startswith("response."):
            self._other(node)

    def finish(self) -> None:
        """The stream has ended."""
        if self.start is not None or self.added or self.done or self.pieces or self.errors:
            self.finish_response(None)
        self.log.tell()

    def finish_response(self, final: Node | None) -> None:
        """Tell the response. `final` is its body in the last event; without one the stream broke off."""
        if final is None or not final.is_object:
            place = self.start or next(iter([*self.added.values(), *self.done.values(), *self.first.values()]), None)
            if place is not None and not self.errors:
                self.builder.notice("damaged", place, "the stream breaks off before the end of this response")
        body = final if final is not None and final.is_object else self.start
        known = {*self.added, *self.done, *self.pieces}
        if body is not None:
            complete = final is not None and len(list(final.get("output"))) >= len(known)
            if known and not complete and final is not None:
                self.builder.notice(
                    "fallback", body, "the final event does not hold all items: those of the stream are taken"
                )
            self.teller.response(body, None if complete else ())
        else:
            complete = False
        if not complete:
            for index in sorted(known):
                self._item(index)
        told = body.get("error").get("message").text if body is not None else ""
        for error in self.errors:
            if not told or error.get("message").text != told:
                self.teller.error(error)
        self.teller.items.close()
        self._reset()

    def _other(self, node: Node) -> None:
        """A request before its stream, or something unknown."""
        if node.get("input").exists:
            self.teller.tell(node)
        elif node.get("type").text not in ("keepalive", "ping"):
            self.builder.notice("unknown", node, "a record that is no event of the stream is skipped")

    def _index(self, node: Node) -> int:
        value = node.get("output_index").value
        return value if isinstance(value, int) else max([*self.added, *self.done], default=0)

    def _block(self, node: Node, kind: str) -> Block:
        """The block that an event belongs to; `kind` is that of its pieces."""
        index = self._index(node)
        turn = self.pieces.get(index)
        if turn is None:
            turn = self.pieces[index] = StreamedTurn(self.log)
            self.first[index] = node
        part = node.get("content_index", "summary_index").label
        block = turn.block((kind, part), _PIECES[kind], node, index)
        block.name = self.added[index].get("name").label if index in self.added else ""
        return block

    def _piece(self, node: Node, kind: str) -> None:
        block = self._block(node, kind)
        text = node.get("delta") if node.get("delta").is_text else node.get("delta").get("text", "arguments")
        if text.text:
            self.pieces[self._index(node)].append(block, node, text.text)

    def _whole(self, node: Node, kind: str) -> None:
        """The end of a block: its whole text, of which a capture that began late does not have all pieces."""
        text = node.get(*_WHOLE_KEYS).text
        if text:
            block = self._block(node, kind)
            block.pieces = [text]
            block.complete = True

    def _item(self, index: int) -> None:
        """Tell an item of a response without a final event."""
        if index in self.done:
            self.teller.items.tell(self.done[index])
            return
        added, pieces = self.added.get(index), self.pieces.get(index)
        if pieces is None:
            if added is not None:
                self.teller.items.tell(added)
            return
        turn = self.teller.items.turn(added or self.first[index])
        for block in pieces.blocks():
            if block.channel == "arguments" and added is not None:
                block.id, block.name = added.get("call_id", "id").label, added.get("name", "type").label
        pieces.tell(turn, cut=True)


READER = Reader(
    name="openai_responses_stream",
    title="OpenAI Responses API, streamed",
    detect=detect,
    read=read,
    joined=_joined,
    keys=frozenset({"output_index", "sequence_number", "item_id", "content_index"}),
)
