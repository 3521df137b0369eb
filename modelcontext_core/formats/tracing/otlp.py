"""Spans and log records of OpenTelemetry, in whatever file they come: OTLP/JSON (camelCase or snake_case), dumps of
consoles, flat records of tracing tools. What they say is told by the dialects; what they repeat is told once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Piece
from modelcontext_core.formats.tracing.attributes import Attributes
from modelcontext_core.formats.tracing.mlflow_spans import span_of as mlflow_span
from modelcontext_core.formats.tracing.otel_dialects import (
    tell_genai,
    tell_indexed,
    tell_openinference,
    tell_tools,
    tell_vercel,
)
from modelcontext_core.formats.tracing.otel_events import EventStory, is_event_record
from modelcontext_core.formats.tracing.spans import SpanKind, SpanRecord, SpanStory

__all__ = ["attribute_names", "pieces", "read", "span_record", "spans_in"]

_CONTAINERS: Final = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")
_SCOPES: Final = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "scopeLogs", "scope_logs")
_ITEMS: Final = ("spans", "logRecords", "log_records")
_INNER: Final = frozenset({*_CONTAINERS, *_SCOPES, *_ITEMS})
_CALL_ATTRIBUTES: Final = ("gen_ai.", "openinference.", "llm.input_messages", "ai.prompt", "traceloop.")
_LOOKED_AT: Final = 200
_META_SPANS: Final = 20
_META_LENGTH: Final = 100
_PROSE_LENGTH: Final = 20
_CONTENT: Final = (
    "prompt",
    "completion",
    "message",
    "content",
    "input.value",
    "output.value",
    "entity.",
    "tool",
    "functions",
    "headers",
    "metadata",
    "settings",
)
_PROVIDERS: Final = ("gen_ai.system", "gen_ai.provider.name", "llm.system", "llm.provider", "ai.model.provider")
_MODEL_NAMES: Final = (
    "llm.input_messages",
    "llm.output_messages",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "ai.prompt",
    "ai.response.",
)
_MODEL_OPERATIONS: Final = frozenset({"chat", "text_completion", "generate_content", "llm_call", "completion"})


def spans_in(node: Node, *, at_most: int = 0) -> Iterator[Node]:
    """The spans and log records of a document, in order; with `at_most` only so many values are looked at."""
    stack = [node]
    looked = 0
    while stack and (not at_most or looked < at_most):
        current = stack.pop()
        looked += 1
        inner: list[Node] = []
        if current.is_list:
            inner = list(islice(current, at_most) if at_most else current)
        elif current.has_any(_INNER):
            for key in (*_CONTAINERS, *_SCOPES, *_ITEMS):
                inner += list(current.get(key))
        if inner:
            stack += inner[::-1]
        elif is_span(current) or is_event_record(current):
            yield current


def is_span(node: Node) -> bool:
    """True for one span, in OTLP or as a tool writes it."""
    if not (node.get("attributes").is_object or node.get("attributes").is_list):
        return node.has("traceId", "spanId") or (node.has("trace_id", "span_id") and node.has("name"))
    if node.has_any(frozenset({"spanId", "span_id", "context", "spanName", "traceId", "trace_id", "span_kind"})):
        return True
    # A span whose ids were cut off is known by its attributes.
    return any(key.startswith(_CALL_ATTRIBUTES) for key, _ in node.get("attributes").members())


def attribute_names(nodes: Iterable[Node]) -> set[str]:
    """The names of the attributes of the first spans: what detection looks at. Empty for what holds no span."""
    names: set[str] = set()
    looked = 0
    for node in nodes:
        for span in spans_in(node.unpacked(), at_most=_LOOKED_AT):
            names.add("span" if is_span(span) else "event")
            names.update(Attributes(span.get("attributes")).flat)
            looked += 1
            if looked >= _LOOKED_AT:
                return names
    return names


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation an agent of a trace; log records with messages are joined to them by their span."""
    records: list[SpanRecord] = []
    events = EventStory(builder)
    count = 0
    for node in nodes:
        for span in spans_in(node.unpacked()):
            count += 1
            if is_event_record(span):
                events.add(span)
            else:
                records.append(span_record(span))
                if len(records) <= _META_SPANS:
                    _tell_meta(builder, span)
                events.add_of_span(span)
    story = SpanStory(builder)
    events.tell(story)
    story.tell(records)
    if not count:
        builder.notice("unknown", "$", "the document holds no span and no log record")
    elif not story.histories.threads and not story.told_aside:
        text = "the spans hold no messages: their content was not recorded, or is in log records of another file"
        builder.notice("skipped", "$", text)


def pieces(node: Node) -> Iterator[Piece]:
    """The spans and log records of a document, each with its trace."""
    for span in spans_in(node.unpacked()):
        yield Piece(node=span, trace=_group(span))


def _group(span: Node, attributes: Attributes | None = None) -> str:
    """The trace, or the session of a span that names none."""
    trace = span.get("traceId", "trace_id").label or span.get("context").get("trace_id").label
    if trace:
        return trace
    attributes = attributes or Attributes(span.get("attributes"))
    return attributes.get("session.id", "gen_ai.conversation.id", "thread.id").label


def _tell_meta(builder: Builder, span: Node) -> None:
    """Models, settings and counts of the first spans; of a name the first value counts."""
    for name, node in Attributes(span.get("attributes")).flat.items():
        if len(node.label) <= _META_LENGTH and not _is_content(name) and not _is_prose(name, node):
            builder.meta(name, node)


def span_record(span: Node) -> SpanRecord:
    """One span as the story takes it."""
    attributes = Attributes(span.get("attributes"))
    context = span.get("context")
    group = _group(span, attributes)
    if attributes.has_prefix("mlflow.span"):
        return mlflow_span(span, group)
    kind = _kind(span, attributes)
    given, gave = _bodies(attributes, kind)

    def tell(conversation: ConversationBuilder) -> None:
        tell_model_call(conversation, attributes)

    def tools(conversation: ConversationBuilder) -> None:
        tell_tools(conversation, attributes)

    tool_name = attributes.get("tool.name", "gen_ai.tool.name", "ai.toolCall.name", "traceloop.entity.name")
    return SpanRecord(
        node=span,
        kind=kind,
        group=group,
        agent=attributes.get(*_PROVIDERS).text.lower(),
        id=span.get("spanId", "span_id").label or context.get("span_id").label,
        parent=span.get("parentSpanId", "parent_span_id", "parent_id", "parentId").label,
        name=(tool_name.text if kind == "tool" else "") or span.get("name", "spanName").text,
        start=span.get("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime").label,
        call_id=attributes.get("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool.id").label,
        input=given,
        output=gave,
        error=_error(span),
        tell=tell if kind == "model" else None,
        tools=tools if kind == "model" else None,
        extras=tuple(node for name, node in attributes.flat.items() if _is_document(name) or _is_prose(name, node)),
    )


def tell_model_call(conversation: ConversationBuilder, attributes: Attributes) -> None:
    """The messages of a model call, in the dialect that its attributes are written in."""
    if attributes.has_prefix("llm.input_messages", "llm.output_messages"):
        tell_openinference(conversation, attributes)
    elif attributes.has_prefix("gen_ai.input.messages", "gen_ai.output.messages"):
        tell_genai(conversation, attributes)
    elif attributes.has_prefix("ai.prompt", "ai.response."):
        tell_vercel(conversation, attributes)
    elif attributes.has_prefix("gen_ai.prompt", "gen_ai.completion"):
        tell_indexed(conversation, attributes)
    else:
        tell_openinference(conversation, attributes)


def _kind(span: Node, attributes: Attributes) -> SpanKind:
    """Is the span a model call, a tool's run, or something around them?"""
    named = attributes.get("openinference.span.kind", "traceloop.span.kind").text.lower()
    named = named or span.get("span_kind").text.lower()
    operation = attributes.get("gen_ai.operation.name").text
    if named == "tool" or operation == "execute_tool" or attributes.get("ai.toolCall.name"):
        return "tool"
    if named in ("agent", "chain", "workflow", "task", "retriever", "embedding", "reranker", "guardrail", "evaluator"):
        return "other"
    if named == "llm" or operation in _MODEL_OPERATIONS or attributes.has_prefix(*_MODEL_NAMES):
        return "model" if operation not in ("invoke_agent", "create_agent") else "other"
    return "other"


def _bodies(attributes: Attributes, kind: SpanKind) -> tuple[Node, Node]:
    """What a tool or another span was given and gave."""
    if kind == "tool":
        given = attributes.get(
            "gen_ai.tool.call.arguments", "ai.toolCall.args", "tool.parameters", "input.value", "traceloop.entity.input"
        )
        gave = attributes.get(
            "gen_ai.tool.call.result", "ai.toolCall.result", "output.value", "traceloop.entity.output"
        )
        return given, gave
    given = attributes.get("gen_ai.input.messages", "input.value", "traceloop.entity.input", "ai.prompt")
    gave = attributes.get("gen_ai.output.messages", "output.value", "traceloop.entity.output", "ai.response.text")
    return given, gave


def _is_content(name: str) -> bool:
    """True for names of what is told as messages, tools or bodies."""
    return any(word in name for word in _CONTENT)


def _is_prose(name: str, node: Node) -> bool:
    """True for a text of several words that is no message."""
    return len(node.text) > _PROSE_LENGTH and " " in node.text and node.text[:1] not in "{[" and not _is_content(name)


def _is_document(name: str) -> bool:
    return name.startswith("retrieval.documents") and name.endswith("document.content")


def _error(span: Node) -> Node | None:
    """The exception that the span recorded, or the message of a failed status."""
    for event in span.get("events"):
        if event.get("name").text == "exception":
            attributes = Attributes(event.get("attributes"))
            found = attributes.get("exception.stacktrace", "exception.message")
            if found:
                return found
    status = span.get("status")
    failed = status.get("code", "status_code").label in ("2", "ERROR", "STATUS_CODE_ERROR", "StatusCode.ERROR")
    message = status.get("message", "description") if status.is_object else span.get("status_message")
    return message if failed and message.text else None
