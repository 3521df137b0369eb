"""One span of MLflow, whose attributes are JSON text (strings too)."""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats.building.builder import ConversationBuilder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.tracing.attributes import decoded
from modelcontext_core.formats.tracing.spans import SpanKind, SpanRecord

__all__ = ["span_of"]

_KINDS: Final[dict[str, SpanKind]] = {"LLM": "model", "CHAT_MODEL": "model", "TOOL": "tool"}


def span_of(span: Node, group: str) -> SpanRecord:
    """One span; its attributes are JSON text."""
    attributes = span.get("attributes")
    kind = decoded(attributes.get("mlflow.spanType")).text or span.get("span_type").text
    tools = attributes.get("mlflow.chat.tools")
    given = decoded(attributes.get("mlflow.spanInputs"))
    errors = [event for event in span.get("events") if event.get("name").text == "exception"]
    error = None
    if errors:
        told = errors[0].get("attributes")
        error = told.get("exception.stacktrace", "exception.message") if told.is_object else errors[0]

    def tell_tools(conversation: ConversationBuilder) -> None:
        for tool in decoded(tools):
            function = tool.get("function")
            conversation.tool(function.get("name").text, function.get("description").text, function.get("parameters"))

    return SpanRecord(
        node=span,
        kind=_KINDS.get(kind, "other"),
        group=group or span.get("trace_id").label,
        id=span.get("span_id").label or span.get("context").get("span_id").label,
        parent=span.get("parent_span_id", "parent_id").label,
        name=span.get("name").text,
        start=span.get("start_time_unix_nano", "start_time", "start_time_ns").label,
        input=given if given.exists else span.get("inputs"),
        output=_first(decoded(attributes.get("mlflow.spanOutputs")), span.get("outputs")),
        error=error,
        tools=tell_tools if tools and not given.get("tools") else None,
    )


def _first(node: Node, other: Node) -> Node:
    return node if node.exists else other
