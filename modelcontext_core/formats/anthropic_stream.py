"""Streams of Anthropic messages: `message_start`, blocks by index, `message_stop`, as SSE or one event a line.

Results of server tools and redacted reasoning come whole in `content_block_start`. A second `message_start` begins
another message, whose indexes start again; the one before it is kept as far as it came.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from modelcontext_core.formats.anthropic_messages import tell_block, tell_request
from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.streaming import StreamedTurn, StreamLog, events_of, first_events, raw_text
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_EVENTS: Final = frozenset(
    {
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    }
)
_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_PIECES: Final = frozenset({"text", "thinking"})


def detect(sample: Sample) -> bool:
    """One of the first events has a type of this API with underscores."""
    return any(node.get("type").text in _EVENTS for node in first_events(sample))


def _joined(sample: Sample) -> bool:
    return any(node.get("type").text in _EVENTS for node in sample.nodes[:4])


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation with a turn for each message of the stream."""
    stream = _Stream(builder)
    for node in events_of(nodes):
        stream.take(node)
    stream.finish()


class _Stream:
    """The message that is being received."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.conversation: ConversationBuilder = builder.conversation()
        self.log = StreamLog(builder)
        self.turn: StreamedTurn | None = None
        self.start: Node | None = None
        self.stopped = False
        self.usage: Node | None = None
        self.citations = 0

    def take(self, node: Node) -> None:
        """One event."""
        kind = node.get("type").text
        if kind == "message_start":
            self._begin(node)
        elif kind == "content_block_start":
            self._block(node)
        elif kind == "content_block_delta":
            self._delta(node)
        elif kind == "content_block_stop":
            block = self._current(node).get(node.get("index").label)
            if block is not None:
                self._close(block.node, node.get("index").label)
        elif kind == "message_delta":
            self.builder.meta("stop_reason", node.at("delta", "stop_reason"))
            self.usage = node.get("usage") if node.get("usage") else self.usage
            self.stopped = True
        elif kind == "message_stop":
            self.stopped = True
            self.finish_message()
        elif kind == "error":
            self._error(node)
        elif node.get("messages").is_list:
            self.finish_message()
            tell_request(self.conversation, node)
        elif kind != "ping":
            self.builder.notice("unknown", node, f"an event of the unknown type {kind[:60]!r} is skipped")

    def finish(self) -> None:
        """The stream has ended."""
        self.finish_message()
        self.log.tell()
        if self.usage is not None:
            self.builder.rest(self.usage, (), prefix="usage.")

    def finish_message(self) -> None:
        """Tell the message so far, if there is one."""
        if self.turn is None:
            return
        start = self.start
        assert start is not None
        if not self.stopped:
            self.builder.notice("damaged", start, "the stream breaks off inside this message")
        if self.turn or self.stopped:
            turn = self.conversation.turn(start.at("message", "role").text or "assistant", start)
            self.turn.tell(turn, cut=not self.stopped)
        self.turn, self.start, self.stopped = None, None, False

    def _begin(self, node: Node) -> None:
        message = node.get("message")
        same = self.start is not None and message.get("id").label == self.start.at("message", "id").label
        if same and not self.turn:
            self.builder.notice("merged", node, "a message is begun twice: it is one message")
            return
        self.finish_message()
        self.turn, self.start = StreamedTurn(self.log), node
        self.builder.meta("response_id", message.get("id"))
        self.builder.meta("model", message.get("model"))
        self.usage = message.get("usage") if message.get("usage") else self.usage
        for block in message.get("content"):
            self.turn.whole(block, partial(_tell_whole, block))

    def _current(self, node: Node) -> StreamedTurn:
        """The message that an event belongs to; one without a beginning is begun here."""
        if self.turn is None:
            self.builder.notice("damaged", node, "the beginning of this message is missing")
            self.turn, self.start = StreamedTurn(self.log), node
        return self.turn

    def _block(self, node: Node) -> None:
        turn, block, key = self._current(node), node.get("content_block"), node.get("index").label
        kind, number = block.get("type").text, _number(node)
        if turn.get(key) is not None:
            self.builder.notice("fallback", node, "a block index is used twice: the pieces are joined")
        if kind in _CALLS:
            call = turn.block(key, "arguments", block, number)
            call.id, call.name = block.get("id").label, block.get("name").label
        elif kind in _PIECES:
            begun = turn.block(key, "text" if kind == "text" else "reasoning", block, number)
            if block.get(kind).text:
                turn.append(begun, node, block.get(kind).text)
            begun.signature.append(block.get("signature").text)
            for citation in block.get("citations"):
                self._citation(turn, citation)
        elif kind == "compaction":
            turn.block(key, "text", block, number)
            turn.add(key, "text", node, block.get("content").text, number)
        else:
            turn.whole(block, partial(_tell_whole, block))

    def _delta(self, node: Node) -> None:
        turn, delta, key, number = self._current(node), node.get("delta"), node.get("index").label, _number(node)
        kind = delta.get("type").text
        if kind == "text_delta":
            turn.add(key, "text", node, delta.get("text").text, number)
        elif kind == "thinking_delta":
            turn.add(key, "reasoning", node, delta.get("thinking").text, number)
        elif kind == "signature_delta":
            turn.block(key, "reasoning", node, number).signature.append(delta.get("signature").text)
        elif kind == "input_json_delta":
            turn.add(key, "arguments", node, delta.get("partial_json").text, number)
        elif kind == "citations_delta":
            self._citation(turn, delta.get("citation"))
        elif kind == "compaction_delta":
            turn.add(key, "text", node, delta.get("content").text, number)
        else:
            self.builder.notice("unknown", node, f"a delta of the unknown type {kind[:60]!r} is skipped")

    def _citation(self, turn: StreamedTurn, citation: Node) -> None:
        about = {
            key: citation.get(key).label for key in ("type", "url", "title", "document_title", "source", "file_id")
        }
        text = citation.get("cited_text")
        turn.whole(citation, lambda told: told.aside(text, "citation", text.text, **about))

    def _close(self, node: Node, key: str) -> None:
        """The end of a block: a call without pieces has the input that it began with, `{}` as a rule."""
        block = self.turn.get(key) if self.turn is not None else None
        if block is None or block.channel != "arguments":
            return
        if not block.pieces and self.turn is not None:
            given = node.get("input")
            self.turn.append(block, node, (raw_text(given) if given.exists else "") or "{}")

    def _error(self, node: Node) -> None:
        error = node.get("error")
        about = {"type": error.get("type").text}
        message = error.get("message")
        self.builder.notice("error", error, "the stream reports an error")
        if self.turn is None:
            turn = self.conversation.turn("assistant", error)
            turn.is_error = True
            turn.aside(message, "error", message.text, **about)
        else:
            self.turn.whole(error, lambda told: told.aside(message, "error", message.text, **about))


def _tell_whole(block: Node, turn: Turn) -> None:
    tell_block(turn, block)


def _number(node: Node) -> int:
    value = node.get("index").value
    return value if isinstance(value, int) else 0


READER = Reader(
    name="anthropic_stream",
    title="Anthropic messages, streamed",
    detect=detect,
    read=read,
    joined=_joined,
    keys=frozenset({"content_block", "partial_json"}),
)
