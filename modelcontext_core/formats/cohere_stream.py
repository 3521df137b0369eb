"""Cohere's streams: v2 events with hyphens (`content-delta`), v1 events with `event_type`.

The last event of v1 holds the whole response again: its history and citations are taken, its text is not told twice.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from modelcontext_core.formats.building.builder import ConversationBuilder
from modelcontext_core.formats.building.streaming import StreamedTurn, StreamLog, raw_text
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.cohere_v1 import tell_v1_about, tell_v1_history
from modelcontext_core.formats.nodes import Node

__all__ = ["CohereStream", "is_event"]

_EVENTS: Final = frozenset(
    {
        "message-start",
        "content-start",
        "content-delta",
        "content-end",
        "tool-plan-delta",
        "tool-call-start",
        "tool-call-delta",
        "tool-call-end",
        "citation-start",
        "citation-end",
        "message-end",
        "debug",
    }
)


def is_event(node: Node) -> bool:
    """True for an event of either version."""
    if node.get("event_type").is_text and isinstance(node.get("is_finished").value, bool):
        return True
    return node.get("type").text in _EVENTS - {"debug"}


class CohereStream:
    """Takes events in order, and tells the answer when it ends."""

    def __init__(self, conversation: ConversationBuilder) -> None:
        self.conversation = conversation
        self.builder = conversation.builder
        self.log = StreamLog(self.builder)
        self.turn = StreamedTurn(self.log)
        self.start: Node | None = None
        self.role = ""
        self.calls = 0

    def take(self, node: Node) -> None:
        """One event."""
        if node.get("event_type").is_text:
            self._take_v1(node)
            return
        kind, message = node.get("type").text, node.at("delta", "message")
        index = node.get("index").value
        place = index if isinstance(index, int) else 0
        if kind == "message-start":
            self.flush()
            self.start, self.role = node, message.get("role").text
            self.builder.meta("id", node.get("id"))
            return
        self.start = self.start or node
        if kind in ("content-start", "content-delta"):
            self._content(node, message.get("content"), place)
        elif kind == "tool-plan-delta":
            self.turn.add("plan", "reasoning", node, message.get("tool_plan").text)
        elif kind in ("tool-call-start", "tool-call-delta"):
            self._call(node, message.get("tool_calls"), place)
        elif kind == "tool-call-end":
            block = self.turn.get(("call", place))
            if block is not None and not block.pieces:
                self.turn.append(block, node, "{}")
        elif kind == "citation-start":
            citations = message.get("citations")
            for citation in citations if citations.is_list else [citations]:
                self.turn.whole(citation, partial(_tell_citation, citation))
        elif kind == "message-end":
            self._end(node)
        elif kind not in _EVENTS:
            self.builder.notice("unknown", node, "a record that is no event of the stream is skipped")

    def finish(self) -> None:
        """The stream has ended."""
        self.flush()
        self.log.tell()

    def flush(self, *, cut: bool = True) -> Turn | None:
        """Tell the answer so far."""
        told: Turn | None = None
        if self.start is not None and (self.turn or not cut):
            if cut:
                self.builder.notice("damaged", self.start, "the stream breaks off before this answer ends")
            told = self.conversation.turn(self.role or "assistant", self.start)
            self.turn.tell(told, cut=cut)
        self.turn, self.start, self.role, self.calls = StreamedTurn(self.log), None, "", 0
        return told

    def _content(self, node: Node, content: Node, place: int) -> None:
        for part in content if content.is_list else [content]:
            self.turn.add(("text", place), "text", node, part.get("text").text, place)
            self.turn.add(("thinking", place), "reasoning", node, part.get("thinking").text, place)

    def _call(self, node: Node, calls: Node, place: int) -> None:
        for call in calls if calls.is_list else [calls]:
            block = self.turn.block(("call", place), "arguments", call, place)
            block.id = block.id or call.get("id").label
            block.name = block.name or call.get("function").get("name").label
            text = raw_text(call.get("function").get("arguments"))
            if text:
                self.turn.append(block, node, text)

    def _end(self, node: Node) -> None:
        delta = node.get("delta")
        error = delta.get("error")
        if error:
            self.builder.notice("error", error, "the stream reports an error")
            self.turn.whole(error, lambda turn: turn.aside(error, "error", error.text))
        self.builder.rest(delta, {"error", "message"})
        self.flush(cut=False)

    # -- v1 ------------------------------------------------------------------------------------------------------

    def _take_v1(self, node: Node) -> None:
        kind = node.get("event_type").text
        if kind == "stream-start":
            self.flush()
            self.start = node
            self.builder.meta("generation_id", node.get("generation_id"))
            return
        self.start = self.start or node
        if kind == "text-generation":
            self.turn.add("text", "text", node, node.get("text").text)
        elif kind == "tool-calls-chunk":
            self._v1_call_piece(node, node.get("tool_call_delta"))
        elif kind == "tool-calls-generation":
            self._v1_calls(node, node.get("tool_calls"))
        elif kind == "stream-end":
            self._v1_end(node)
        elif kind not in ("citation-generation", "search-results", "search-queries-generation", "debug"):
            self.builder.notice("unknown", node, f"an event of the unknown type {kind[:60]!r} is skipped")

    def _v1_call_piece(self, node: Node, delta: Node) -> None:
        """A piece of a call, or of the plan that comes before the calls."""
        self.turn.add("text", "text", node, node.get("text").text)
        if not delta.is_object:
            return
        index = delta.get("index").value
        place = index if isinstance(index, int) else 0
        block = self.turn.block(("call", place), "arguments", delta, place)
        block.name = block.name or delta.get("name").label
        text = raw_text(delta.get("parameters"))
        if text:
            self.turn.append(block, node, text)

    def _v1_calls(self, node: Node, calls: Node) -> None:
        """All calls, complete: those that came in pieces are told already."""
        if not self.turn.get("text"):
            self.turn.add("text", "text", node, node.get("text").text)
        for place, call in enumerate(calls):
            block = self.turn.block(("call", place), "arguments", call, place)
            block.name = block.name or call.get("name").label
            if not block.pieces:
                self.turn.append(block, node, raw_text(call.get("parameters")) or "{}")

    def _v1_end(self, node: Node) -> None:
        response = node.get("response")
        if not self.conversation.turns:
            tell_v1_history(self.conversation, response.get("chat_history"), without_last=True)
        if not self.turn:
            self.turn.add("text", "text", node, response.get("text").text)
            self._v1_calls(node, response.get("tool_calls"))
        turn = self.flush(cut=False)
        if turn is not None:
            tell_v1_about(turn, response)
        self.builder.meta("finish_reason", node.get("finish_reason"))
        self.builder.rest(response.get("meta"), {"warnings"}, prefix="meta.")


def _tell_citation(citation: Node, turn: Turn) -> None:
    """Tell a citation; its sources repeat tool results and documents."""
    sources = ", ".join(source.get("id").label for source in citation.get("sources"))
    turn.aside(citation.get("text"), "citation", citation.get("text").text, sources=sources)
