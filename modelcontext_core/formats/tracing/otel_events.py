"""The older GenAI convention: messages as events, in log records or on the span itself.

`gen_ai.system.message`, `gen_ai.user.message`, `gen_ai.assistant.message`, `gen_ai.tool.message` and `gen_ai.choice`
hold one message each; those of one span are one model call.
"""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_calls
from modelcontext_core.formats.parts import tell_content
from modelcontext_core.formats.tracing.attributes import Attributes, Tree, typed_value
from modelcontext_core.formats.tracing.otel_dialects import tell_genai
from modelcontext_core.formats.tracing.payloads import tell_payload
from modelcontext_core.formats.tracing.spans import SpanRecord, SpanStory, time_key

__all__ = ["EventStory", "event_name", "is_event_record"]

_ROLES: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.developer.message": "developer",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}
_TIMES: Final = ("timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "timestamp")
_DETAILS: Final = "gen_ai.client.inference.operation.details"
_CONTENT: Final = {"gen_ai.content.prompt": "gen_ai.prompt", "gen_ai.content.completion": "gen_ai.completion"}


def event_name(node: Node) -> str:
    """The name of a log record or of an event on a span."""
    named = node.get("eventName", "event_name").text
    if not named and node.has("body"):
        named = Attributes(node.get("attributes")).get("event.name").text
    return named or node.get("name").text


def is_event_record(node: Node) -> bool:
    """True for a log record that holds a message."""
    if not node.is_object or not (node.has("body") or node.has("eventName") or node.has("event_name")):
        return False
    return event_name(node).startswith("gen_ai.")


class EventStory:
    """Collects message events by the span they belong to."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._calls: dict[str, list[Node]] = {}

    def add(self, record: Node) -> None:
        """One log record."""
        span = record.get("spanId", "span_id").label or record.get("context").get("span_id").label
        trace = record.get("traceId", "trace_id").label or record.get("context").get("trace_id").label
        self._calls.setdefault(f"{trace}\0{span}", []).append(record)

    def add_of_span(self, span: Node) -> None:
        """The message events that stand on a span."""
        context = span.get("context")
        number = span.get("spanId", "span_id").label or context.get("span_id").label or span.where
        trace = span.get("traceId", "trace_id").label or context.get("trace_id").label
        for event in span.get("events"):
            name = event_name(event)
            if name in _ROLES or name in _CONTENT or name == _DETAILS:
                self._calls.setdefault(f"{trace}\0{number}", []).append(event)

    def tell(self, story: SpanStory) -> None:
        """Tell every call, in the order of its first event. Exporters may write the events of a call in any order."""
        records = []
        for key, events in self._calls.items():
            trace, _, span = key.partition("\0")
            records.append(_record(trace, span, _in_time(events)))
        story.tell(records)


def _record(trace: str, span: str, events: list[Node]) -> SpanRecord:
    def tell(conversation: ConversationBuilder) -> None:
        for event in events:
            _tell_event(conversation, event)

    start = events[0].get(*_TIMES).label
    return SpanRecord(node=events[0], kind="model", group=trace, id=f"events of {span}", start=start, tell=tell)


def _in_time(events: list[Node]) -> list[Node]:
    """The events of a call as they happened; as they stand where one has no time."""
    times = [event.get(*_TIMES).label for event in events]
    return sorted(events, key=lambda event: time_key(event.get(*_TIMES).label)) if all(times) else events


def _tell_event(conversation: ConversationBuilder, event: Node) -> None:
    name = event_name(event)
    attributes = Attributes(event.get("attributes"))
    if name == _DETAILS:
        tell_genai(conversation, attributes)
        return
    if name in _CONTENT:
        role = "user" if name.endswith("prompt") else "assistant"
        tell_payload(conversation, attributes.get(_CONTENT[name]), role)
        return
    body = typed_value(event.get("body")).unpacked()
    if not body.is_object:
        body = Tree({"content": body}, event, "body") if body else attributes.all()
    message = body.get("message").unpacked()
    message = message if message.is_object else body
    role = _ROLES.get(name) or message.get("role").text or "unknown"
    if role == "tool":
        turn = conversation.result(
            event, call_id=message.get("id", "tool_call_id").label, name=message.get("name").label
        )
    else:
        turn = conversation.turn(role, event)
    content = message.get("content")
    blocks = content.unpacked()
    parts = blocks.is_list and blocks.value and all(block.get("type").is_text for block in blocks)
    tell_content(turn, blocks if parts else content)
    tell_calls(turn, _with_unpacked_calls(message))


def _with_unpacked_calls(message: Node) -> Node:
    calls = message.get("tool_calls")
    return Tree({"tool_calls": calls.unpacked()}, message, "") if calls.is_text else message
