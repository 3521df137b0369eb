"""Streams of Gemini: every event is a whole response whose parts are appended; Vertex streams arguments as values with
paths. Also the streams of the Interactions API, and recordings of responses (`{method, response}`)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.building.partial_args import PartialArguments
from modelcontext_core.formats.building.streaming import (
    Block,
    StreamedTurn,
    StreamLog,
    events_of,
    first_events,
    raw_text,
)
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.gemini import (
    CANDIDATE_KEYS,
    is_error,
    is_response,
    tell_blocked,
    tell_end,
    tell_error,
    tell_response,
)
from modelcontext_core.formats.gemini_interactions import InteractionStream, is_interaction_event
from modelcontext_core.formats.gemini_parts import role_of, tell_content, tell_grounding, tell_part
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_KEYS: Final = frozenset(
    {
        "candidates",
        "promptFeedback",
        "prompt_feedback",
        "usageMetadata",
        "usage_metadata",
        "error",
        "method",
        "response",
    }
)
_VALUES: Final = ("stringValue", "numberValue", "boolValue", "nullValue")
_SNAKE_VALUES: Final = ("string_value", "number_value", "bool_value", "null_value")


def _is_recording(node: Node) -> bool:
    response = node.get("response")
    return node.get("method").is_text and (is_response(response) or is_response(response.at(0)))


def detect(sample: Sample) -> bool:
    """Events of one response, an interaction's events, or a recording."""
    if sample.container in ("text", "sqlite"):
        return False
    if any(is_interaction_event(node) or _is_recording(node) for node in first_events(sample, 2)):
        return True
    if sample.container == "json":
        lists = [node for node in sample.nodes if node.is_list] if len(sample.nodes) > 1 else []
        return any(is_response(node.at(0)) for node in lists)
    events = [node for node in sample.nodes if is_response(node)]
    if not events or not any(is_response(node) for node in sample.nodes[:3]):
        return False
    if sample.container in ("sse", "eventstream"):
        return True
    ids = [node.get("responseId", "response_id").label for node in events]
    if len(events) > 1 and ids[0]:
        return ids[0] == ids[1]
    return any(not node.at("candidates", 0).get("finishReason", "finish_reason").label for node in events[:-1])


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation with a turn for each streamed (or recorded) response."""
    stream = _Stream(builder)
    for node in events_of(nodes):
        stream.take(node)
    stream.finish()


class _Candidate:
    """One candidate of the response that is being received."""

    def __init__(self, log: StreamLog, node: Node) -> None:
        self.turn = StreamedTurn(log)
        self.node = node
        self.parts = 0
        self.call: Block | None = None
        self.call_node: Node | None = None
        self.partial: PartialArguments | None = None
        self.finished = False
        self.last = ""
        self.grounding: dict[str, Node] = {}


class _Stream:
    """Takes events in order."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.conversation = builder.conversation()
        self.log = StreamLog(builder)
        self.interactions = InteractionStream(self.conversation, self.log)
        self.candidates: dict[int, _Candidate] = {}
        self.id = ""
        self.usage: Node | None = None
        self.seen: set[str] = set()

    def take(self, node: Node) -> None:
        """One event, recording, request or error."""
        if is_interaction_event(node) or (node.has("event_type") and node.has("error")):
            self.interactions.take(node)
        elif _is_recording(node):
            self._recording(node)
        elif is_response(node):
            self._event(node)
        elif is_error(node) or node.get("error").is_object:
            self._flush()
            tell_error(self.conversation, node)
        elif node.get("contents").is_list:
            self._flush()
            for content in node.get("contents"):
                tell_content(self.conversation, content)
        elif node.get("usageMetadata").is_object:
            self.usage = node.get("usageMetadata")
        elif node.value not in (None, {}):
            self.builder.notice("unknown", node, "a record that is no event of the stream is skipped")

    def finish(self) -> None:
        """The stream has ended."""
        self._flush()
        self.interactions.finish()
        self.log.tell()
        if self.usage is not None:
            self.builder.rest(self.usage, (), prefix="usageMetadata.")

    def _recording(self, node: Node) -> None:
        """One recorded call: what it gave is a response, or the events of one."""
        self._flush()
        response = node.get("response")
        if response.is_list:
            for event in response:
                self._event(event)
            self._flush()
        else:
            tell_response(self.conversation, response)

    def _event(self, node: Node) -> None:
        id_ = node.get("responseId", "response_id").label
        if self.candidates and id_ != self.id and id_ and self.id:
            self._flush()
        self.id = id_ or self.id
        for candidate in node.get("candidates"):
            number = candidate.get("index").value
            number = number if isinstance(number, int) else 0
            known = self.candidates.get(number)
            if known is None:
                known = self.candidates[number] = _Candidate(self.log, candidate)
            self._candidate(known, candidate, node)
        if node.get("promptFeedback", "prompt_feedback").get("blockReason", "block_reason").label:
            self._flush()
            tell_blocked(self.conversation, node)
        usage = node.get("usageMetadata", "usage_metadata")
        self.usage = usage if usage.is_object else self.usage
        new = node.value.keys() - _KEYS - self.seen if node.is_object else ()
        if new:
            self.builder.rest(node, _KEYS | self.seen)
            self.seen.update(new)

    def _candidate(self, known: _Candidate, candidate: Node, event: Node) -> None:
        for part in candidate.get("content").get("parts"):
            self._part(known, part, event)
        for key, member in candidate.members():
            if member and key not in ("content", "index"):
                known.grounding[key] = candidate
        if candidate.get("finishReason", "finish_reason").label:
            known.finished = True
            self.builder.meta("finishReason", candidate.get("finishReason", "finish_reason"))
        self.builder.unread(candidate, CANDIDATE_KEYS)

    def _part(self, known: _Candidate, part: Node, event: Node) -> None:
        """Texts and thoughts are appended to the one before them of their kind; what else comes, comes whole."""
        call = part.get("functionCall", "function_call")
        text = part.get("text")
        if call.is_object:
            self._call(known, part, call, event)
            known.last = "call"
            return
        signature = part.get("thoughtSignature", "thought_signature")
        if text.is_text:
            thought = part.get("thought").value is True
            kind = "thought" if thought else "text"
            if text.text:
                if known.last != kind:
                    known.parts += 1
                    known.last = kind
                known.turn.add(known.parts, "reasoning" if thought else "text", event, text.text, known.parts - 1)
            if signature.text and thought:
                known.turn.block(known.parts, "reasoning", event).signature.append(signature.text)
            elif signature.text:
                known.turn.whole(signature, partial(_tell_signature, signature))
        elif part:
            known.last = "whole"
            known.turn.whole(part, partial(_tell_part, part))

    def _call(self, known: _Candidate, part: Node, call: Node, event: Node) -> None:
        """A whole call, or a piece of one: the name stands in the first piece, values follow with their paths."""
        values = call.get("partialArgs", "partial_args")
        goes_on = call.get("willContinue", "will_continue").value is True
        name, arguments = call.get("name").label, call.get("args")
        if known.call is None and not (name or arguments.exists or values):
            return  # the end of a call that has ended
        if name or known.call is None:
            self._close_call(known)
            known.parts += 1
            known.call = known.turn.block(("call", known.parts), "arguments", call, known.parts - 1)
            known.call.id, known.call.name, known.call_node = call.get("id").label, name, call
            known.partial = PartialArguments() if goes_on or values.is_list else None
        signature = part.get("thoughtSignature", "thought_signature")
        if signature.text:
            known.turn.whole(signature, partial(_tell_signature, signature))
        block = known.call
        if arguments.exists and known.partial is None:
            known.turn.append(block, event, raw_text(arguments) or "{}")
        for value in values:
            self._value(known, block, value, event)
        if not goes_on:
            self._close_call(known, complete=True)

    def _value(self, known: _Candidate, block: Block, value: Node, event: Node) -> None:
        writer = known.partial = known.partial or PartialArguments()
        found = value.get(*_VALUES) if value.has_any(frozenset(_VALUES)) else value.get(*_SNAKE_VALUES)
        is_text = found.is_text and found.key in ("stringValue", "string_value")
        if found.key in ("nullValue", "null_value") or not found.exists:
            given = "null"
        else:
            given = found.text if is_text else raw_text(found)
        goes_on = value.get("willContinue", "will_continue").value is True
        was = writer.rewritten
        piece = writer.add(value.get("jsonPath", "json_path").text, given, text=is_text, goes_on=goes_on)
        if piece is None:
            self.builder.notice("unknown", value, "a value whose path is not understood is left out of the arguments")
        elif piece:
            known.turn.append(block, event, piece)
        if writer.rewritten and not was:
            text = "the paths of streamed arguments go back: the arguments are made anew from all values"
            self.builder.notice("fallback", value, text)

    def _close_call(self, known: _Candidate, *, complete: bool = False) -> None:
        block, writer = known.call, known.partial
        if block is not None and known.call_node is not None:
            if writer is not None:
                rest = writer.close()
                if rest:
                    known.turn.append(block, known.call_node, rest)
                if writer.rewritten:
                    block.pieces = [writer.text]
                if not complete:
                    text = "a streamed call was never closed: its arguments are closed where they end"
                    self.builder.notice("damaged", known.call_node, text)
            if not block.pieces:
                known.turn.append(block, known.call_node, "{}")
        known.call = known.partial = known.call_node = None

    def _flush(self) -> None:
        """Tell the response so far."""
        before = self.conversation.turns
        for place, (_, known) in enumerate(sorted(self.candidates.items())):
            told = self.conversation
            if place:
                parent = self.conversation.id or "1"
                self.conversation.id = parent
                told = self.builder.conversation(id=f"{parent}/candidate-{place + 1}", parent=parent, after=before)
            self._close_call(known)
            if not known.finished:
                self.builder.notice("damaged", known.node, "the stream breaks off: this answer has no finish reason")
            turn = told.turn(role_of(known.node.get("content"), "model"), known.node)
            known.turn.tell(turn, cut=not known.finished)
            for candidate in dict.fromkeys(known.grounding.values()):
                tell_grounding(turn, candidate)
                tell_end(turn, candidate)
        self.candidates.clear()
        self.id = ""


def _tell_part(part: Node, turn: Turn) -> None:
    tell_part(turn, part)


def _tell_signature(signature: Node, turn: Turn) -> None:
    turn.opaque(signature, "thought_signature")


READER = Reader(
    name="gemini_stream",
    title="Gemini, streamed",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"candidates", "partialArgs", "willContinue", "usageMetadata"}),
)
