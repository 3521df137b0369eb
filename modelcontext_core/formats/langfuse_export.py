"""Langfuse exports: `trace` and flat `observations`. Input, output and metadata are an object, JSON text (sometimes
inside JSON text) or plain text, in whatever shape the watched framework sent; one turn stands on parents and children.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.parts import tell_content
from modelcontext_core.formats.reader import Piece, Reader, Sample
from modelcontext_core.formats.tracing.attributes import Attributes, decoded
from modelcontext_core.formats.tracing.otel_dialects import tell_tools
from modelcontext_core.formats.tracing.otlp import tell_model_call
from modelcontext_core.formats.tracing.payloads import tell_payload
from modelcontext_core.formats.tracing.spans import SpanKind, SpanRecord, SpanStory

__all__ = ["READER"]

_KINDS: Final[dict[str, SpanKind]] = {"GENERATION": "model", "TOOL": "tool"}
_TYPES: Final = frozenset(
    {"GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "GUARDRAIL", "EMBEDDING"}
)
_LOST: Final = {"content": "role"}  # what a bug of a tracer left of a message
_BODIES: Final = frozenset({"input.value", "output.value", "gen_ai.system_instructions", "tool.parameters"})
_MESSAGES: Final = (
    "llm.input_messages",
    "llm.output_messages",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.tool.call",
)
_TRACE_META: Final = ("name", "timestamp", "userId", "sessionId", "environment", "release", "version", "latency")


def detect(sample: Sample) -> bool:
    """A trace with observations, a list of observations, or one by itself."""
    return sample.container != "text" and any(_known(node) for node in sample.nodes[:2])


def _known(node: Node) -> bool:
    if _is_normalised(node):
        return True
    return any(_is_observation(observation) for observation, _ in zip(_observations(node), range(3), strict=False))


def _is_observation(node: Node) -> bool:
    named = node.get("type").text in _TYPES and node.has("id")
    return named and node.has_any(frozenset({"startTime", "start_time", "traceId", "trace_id"}))


def _observations(node: Node) -> Iterator[Node]:
    trace = node.get("trace")
    found = node.get("observations", "data")
    if not found.is_list:
        found = trace.get("observations")
    if found.is_list:
        yield from found
    elif node.is_list:
        for element in node:
            if element.get("observations").is_list:
                yield from element.get("observations")
            else:
                yield element
    elif _is_observation(node):
        yield node


def pieces(node: Node) -> Iterator[Piece]:
    """A trace with its observations, or observations one by one."""
    if node.is_list or node.get("data").is_list:
        for element in node if node.is_list else node.get("data"):
            yield Piece(node=element, trace=_trace(element))
    else:
        yield Piece(node=node, trace=_trace(node))


def _trace(node: Node) -> str:
    if _is_observation(node):
        return node.get("traceId", "trace_id").label or node.get("sessionId").label
    first = next(_observations(node), node)
    return _trace(first) if _is_observation(first) else node.get("trace").get("id").label or node.get("id").label


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation an agent of a trace, built of its generations; what only other observations say stands apart."""
    records: list[SpanRecord] = []
    seen: set[str] = set()
    for node in nodes:
        if _is_normalised(node):
            records += _normalised(node)
            continue
        for observation in _observations(node):
            key = observation.get("id").label or observation.where
            if _is_observation(observation) and key not in seen:
                seen.add(key)
                records.append(_record(observation))
        trace = node.get("trace") if node.get("trace").is_object else node
        if not _is_observation(trace) and trace.is_object:
            for name in _TRACE_META:
                builder.meta(f"trace.{name}", trace.get(name))
            records.append(_record_of_trace(trace))
    SpanStory(builder).tell(records)


def _record(observation: Node) -> SpanRecord:
    metadata = observation.get("metadata").unpacked()
    attributes = Attributes(metadata.get("attributes") if metadata.get("attributes") else metadata)
    given, gave = observation.get("input"), observation.get("output")
    kind = _KINDS.get(observation.get("type").text, "other")
    scope = metadata.get("scope")
    empty = not given and not gave

    def tell(conversation: ConversationBuilder) -> None:
        if empty:
            tell_model_call(conversation, attributes)
            return
        system = attributes.get("gen_ai.system_instructions")
        if system:
            tell_content(conversation.turn("system", system), decoded(system))
        if given.unpacked().value == _LOST:
            conversation.builder.notice("damaged", given, "the tracer lost the input of this call")
        else:
            tell_payload(conversation, given, "user")
        tell_payload(conversation, gave, "assistant")

    def tools(conversation: ConversationBuilder) -> None:
        tell_tools(conversation, attributes)

    failed = observation.get("level").text == "ERROR"
    return SpanRecord(
        node=observation,
        kind=kind,
        group=_trace(observation),
        id=observation.get("id").label,
        parent=observation.get("parentObservationId", "parent_observation_id").label,
        name=attributes.get("gen_ai.tool.name", "ai.toolCall.name").text or observation.get("name").text,
        start=observation.get("startTime", "start_time").label,
        call_id=attributes.get("gen_ai.tool.call.id", "ai.toolCall.id").label,
        input=given,
        output=gave,
        error=observation.get("statusMessage") if failed else None,
        tell=tell if kind == "model" else None,
        tools=tools if kind == "model" else None,
        extras=tuple(_members(metadata, skip=scope.key)),
    )


def _members(metadata: Node, skip: str) -> Iterator[Node]:
    """What metadata holds beside the scope: attributes one by one."""
    for key, member in metadata.members():
        if key == "attributes":
            yield from (attribute for name, attribute in member.unpacked().members() if not _is_repeated(name))
        elif key not in (skip, "resourceAttributes", "tools"):
            yield member


def _is_repeated(name: str) -> bool:
    """True for attributes that hold the input, the output or the tools again."""
    return name in _BODIES or name.startswith(_MESSAGES) or "tool.definitions" in name or name.endswith(".tools")


def _record_of_trace(trace: Node) -> SpanRecord:
    return SpanRecord(
        node=trace,
        kind="other",
        group=trace.get("id").label,
        name=trace.get("name").text,
        start=trace.get("timestamp").label,
        input=trace.get("input"),
        output=trace.get("output"),
        extras=tuple(score.get("comment") for score in trace.get("scores")),
    )


def _normalised(node: Node) -> Iterator[SpanRecord]:
    """What Langfuse's own normaliser gives: by observation, its input and output as messages, or why it has none."""
    for key, member in node.members():
        errors = [member.get(half).get("error") for half in ("input", "output")]
        yield SpanRecord(
            node=member,
            kind="model",
            group="normalised",
            id=key,
            input=member.get("input").get("data"),
            output=member.get("output").get("data"),
            extras=tuple(error for error in errors if error),
        )


def _is_normalised(node: Node) -> bool:
    return (
        bool(node)
        and node.is_object
        and all(
            member.get("input").has("success") or member.get("output").has("success") for _, member in node.members()
        )
    )


READER = Reader(
    name="langfuse_export",
    title="Langfuse export",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"observations", "parentObservationId", "usageDetails", "completionStartTime", "projectId"}),
    pieces=pieces,
)
