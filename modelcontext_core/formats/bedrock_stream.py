"""The stream of Bedrock Converse: objects under the event's name, or (in binary frames) the payload of that event."""

from __future__ import annotations

from functools import partial
from typing import Final

from modelcontext_core.formats.building.builder import ConversationBuilder
from modelcontext_core.formats.building.streaming import StreamedTurn, StreamLog, raw_text
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node

__all__ = ["ConverseStream", "is_event"]

_EVENTS: Final = (
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
)
_SURE: Final = frozenset(_EVENTS) - {"metadata"}
# What the payload of an event has; other streams have events of the same names.
_PAYLOADS: Final = {
    "messageStart": frozenset({"role"}),
    "contentBlockStart": frozenset({"contentBlockIndex"}),
    "contentBlockDelta": frozenset({"contentBlockIndex"}),
    "contentBlockStop": frozenset({"contentBlockIndex"}),
    "messageStop": frozenset({"stopReason"}),
    "metadata": frozenset({"usage", "metrics"}),
}


def is_event(node: Node) -> bool:
    """True for an event (or an exception in its place): its name is the only key, or the type of its frame."""
    if node.parent is None and node.has_any(_PAYLOADS.get(node.document.event, frozenset())):
        return True
    if node.has_any(_SURE):
        return len(node.value) <= 2
    if node.is_object and len(node.value) == 1:
        name, body = next(node.members())
        if name.endswith("Exception") and name[:1].islower() and body.get("message").is_text:
            return True
    usage = node.get("metadata").get("usage")
    return usage.is_object and len(node.value) == 1


def _is_exception(name: str) -> bool:
    return name.endswith(("Exception", "Error"))


class ConverseStream:
    """Takes events in order, and tells each message when it ends."""

    def __init__(self, conversation: ConversationBuilder) -> None:
        self.conversation = conversation
        self.builder = conversation.builder
        self.log = StreamLog(self.builder)
        self.turn = StreamedTurn(self.log)
        self.start: Node | None = None
        self.role = ""
        self.stopped = False
        self.results: dict[int, list[Node]] = {}

    def take(self, node: Node) -> None:
        """One event."""
        frame = node.document.event
        if frame in _EVENTS and not node.get(frame).is_object:
            self._event(frame, node, node)
            return
        known = False
        for name, body in node.members():
            if name in _EVENTS or _is_exception(name):
                known = True
                self._event(name, body, node)
        if not known:
            if _is_exception(frame):
                self._event(frame, node, node)
            elif frame != "initial-response":
                self.builder.notice("unknown", node, "a record that is no event of the stream is skipped")

    def finish(self) -> None:
        """The stream has ended."""
        self._flush()
        self.log.tell()

    def _event(self, name: str, body: Node, node: Node) -> None:
        if name == "messageStart":
            self._flush()
            self.start, self.role = node, body.get("role").text
            return
        if name == "metadata":
            self.builder.rest(body, {"p"})
            return
        if name == "messageStop":
            self.stopped = True
            self.start = self.start or node
            self.builder.rest(body, {"p", "additionalModelResponseFields"})
            return
        if self.stopped:
            self._flush()
        self.start = self.start or node
        index = body.get("contentBlockIndex").value
        place = index if isinstance(index, int) else 0
        if name == "contentBlockStart":
            self._begin(body.get("start"), place)
        elif name == "contentBlockDelta":
            self._delta(body.get("delta"), node, place)
        elif name == "contentBlockStop":
            block = self.turn.get(place)
            if block is not None and block.channel == "arguments" and not block.pieces:
                self.turn.append(block, node, "{}")
        else:
            self._error(body)

    def _begin(self, start: Node, place: int) -> None:
        call, answer = start.get("toolUse"), start.get("toolResult")
        if call.is_object:
            block = self.turn.block(place, "arguments", call, place)
            block.id, block.name = call.get("toolUseId").label, call.get("name").label
        elif answer.is_object:
            parts = self.results[place] = []
            self.turn.whole(answer, partial(_tell_result, answer, parts))
        elif start:
            self.builder.notice("unknown", start, "the beginning of a block of an unknown kind is skipped")

    def _delta(self, delta: Node, node: Node, place: int) -> None:
        call, reasoning, citation = delta.get("toolUse"), delta.get("reasoningContent"), delta.get("citation")
        if delta.get("text").is_text:
            self.turn.add(place, "text", node, delta.get("text").text, place)
        elif call.is_object:
            self.turn.add(place, "arguments", node, raw_text(call.get("input")), place)
        elif reasoning.is_object:
            self.turn.add(place, "reasoning", node, reasoning.get("text").text, place)
            if reasoning.get("signature").text:
                block = self.turn.block(place, "reasoning", node, place)
                block.signature.append(reasoning.get("signature").text)
            if reasoning.get("redactedContent").text:
                hidden = reasoning.get("redactedContent")
                self.turn.whole(hidden, lambda turn: turn.opaque(hidden, "redacted_reasoning"))
        elif citation.is_object:
            text = citation.at("sourceContent", 0, "text")
            title = citation.get("title").text
            self.turn.whole(citation, lambda turn: turn.aside(text, "citation", text.text, title=title))
        elif delta.get("toolResult").is_list:
            self.results.setdefault(place, []).extend(delta.get("toolResult"))
        elif delta:
            self.builder.notice("unknown", delta, "a piece of an unknown kind is skipped")

    def _error(self, body: Node) -> None:
        message = body.get("message")
        self.builder.notice("error", body, "the stream reports an error")
        self.turn.whole(body, lambda turn: turn.aside(message, "error", message.text))

    def _flush(self) -> None:
        """Tell the message so far."""
        if self.start is not None and (self.turn or self.stopped):
            if not self.stopped:
                self.builder.notice("damaged", self.start, "the stream breaks off inside this message")
            turn = self.conversation.turn(self.role or "assistant", self.start)
            self.turn.tell(turn, cut=not self.stopped)
        self.turn, self.start, self.role, self.stopped = StreamedTurn(self.log), None, "", False
        self.results = {}


def _tell_result(answer: Node, parts: list[Node], turn: Turn) -> None:
    """Tell the result of a tool that the provider ran; its parts have come by now."""
    failed = answer.get("status").text == "error"
    result = turn.result(answer, call_id=answer.get("toolUseId").label, is_error=failed)
    for part in parts:
        result.json(part.get("text", "json"))
