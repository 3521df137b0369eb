"""Messages of the Vercel AI SDK: `UIMessage` (parts), the older form with `toolInvocations`, `ModelMessage`, and the
telemetry spans of the SDK (`ai.prompt.messages`).

In a `UIMessage` a call and its result are one part. The calls of one step are told together, their results after them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.opaque import hide_opaque
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.parts import tell_output, tell_part
from modelcontext_core.formats.reader import Piece, Reader, Sample
from modelcontext_core.formats.tracing import otlp
from modelcontext_core.formats.tracing.payloads import tell_any_message

__all__ = ["READER", "signature_of", "tell_source"]

_KINDS: Final = frozenset({"text", "reasoning", "step-start", "dynamic-tool", "file", "source-url", "source-document"})
_OWN_KEYS: Final = frozenset({"parts", "toolInvocations"})
_MODEL_PARTS: Final = frozenset({"tool-call", "tool-result", "tool-approval-request", "tool-approval-response"})
_KNOWN: Final = frozenset(
    {"id", "role", "parts", "content", "createdAt", "toolInvocations", "reasoning", "annotations"}
)
_TELEMETRY: Final = ("ai.prompt", "ai.response.", "ai.operationId", "ai.toolCall.")
_ANSWERED: Final = frozenset({"output-available", "output-error", "output-denied", "result"})


def detect(sample: Sample) -> bool:
    """Messages with typed parts of this SDK, alone, in lists, under `messages`; or its spans."""
    if sample.container == "text":
        return False
    if any(_known(node) for node in sample.nodes[:3]):
        return True
    return any(name.startswith(_TELEMETRY) for name in otlp.attribute_names(sample.nodes))


def _known(node: Node) -> bool:
    messages = node if node.is_list else node.get("messages")
    if messages.is_list:
        return any(map(_is_message, list(messages)[:10]))
    return _is_message(node)


def _is_message(node: Node) -> bool:
    if not node.has_text("role") or not (node.has_any(_OWN_KEYS) or node.has_list("content")):
        return False
    kinds = [part.get("type").text for part in node.get("parts")]
    own = all(kind in _KINDS or kind.startswith(("tool-", "data-")) for kind in kinds)
    if kinds and own:
        texts = [part for part in node.get("parts") if part.get("type").text == "text"]
        return len(texts) < len(kinds) or all(part.get("text").is_text for part in texts)
    if node.get("toolInvocations").at(0).has("toolCallId"):
        return True
    return any(part.get("type").text in _MODEL_PARTS and part.has("toolCallId") for part in node.get("content"))


def pieces(node: Node) -> Iterator[Piece]:
    """Spans by their trace; a list of messages by itself. Messages one a line belong together."""
    messages = node if node.is_list else node.get("messages")
    if messages.is_list and not any(True for _ in otlp.spans_in(node)):
        yield Piece(node=node, trace=node.where)
    elif not node.get("role").is_text:
        yield from otlp.pieces(node)


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a list; messages one a line are one conversation; spans as all spans."""
    shared: ConversationBuilder | None = None
    spans: list[Node] = []
    for node in nodes:
        messages = node if node.is_list else node.get("messages")
        if messages.is_list and not any(True for _ in otlp.spans_in(node)):
            conversation = builder.conversation(title=node.get("title").text)
            for message in messages:
                _tell(conversation, message)
            if node.is_object:
                builder.rest(node, {"messages", "title"})
        elif node.get("role").is_text:
            shared = shared or builder.conversation()
            _tell(shared, node)
        else:
            spans.append(node)
    if spans:
        otlp.read(spans, builder)


def _tell(conversation: ConversationBuilder, message: Node) -> None:
    role = message.get("role").text
    parts = message.get("parts")
    if not parts.is_list and not message.has("toolInvocations"):
        tell_any_message(conversation, message, role or "unknown")
        return
    turn = conversation.turn(role, message, time=message.get("createdAt").label)
    waiting: list[tuple[Node, str, str]] = []
    if parts.is_list and parts:
        for part in parts:
            if part.get("type").text == "step-start":
                _tell_results(turn, waiting)
            else:
                _tell_ui_part(turn, part, waiting)
    else:
        turn.reasoning(message.get("reasoning"))
        _tell_content(turn, message.get("content"))
        for invocation in message.get("toolInvocations"):
            _tell_tool(turn, invocation, invocation.get("toolName").text, waiting)
    _tell_results(turn, waiting)
    conversation.builder.unread(message, _KNOWN | {"metadata", "experimental_attachments"})


def _tell_content(turn: Turn, content: Node) -> None:
    """A plain content."""
    if content.is_list:
        for part in content:
            tell_part(turn, part)
    else:
        turn.json(content)


def _tell_ui_part(turn: Turn, part: Node, waiting: list[tuple[Node, str, str]]) -> None:
    kind = part.get("type").text
    if kind == "reasoning":
        text = part.get("text", "reasoning")
        turn.reasoning(text, signature=signature_of(part))
    elif kind == "dynamic-tool":
        _tell_tool(turn, part, part.get("toolName").text, waiting)
    elif kind == "tool-invocation":
        inner = part.get("toolInvocation")
        _tell_tool(turn, inner, inner.get("toolName").text, waiting)
    elif kind.startswith("tool-") and part.has("toolCallId"):
        _tell_tool(turn, part, kind.removeprefix("tool-"), waiting)
    elif kind in ("source-url", "source-document", "source") or kind.startswith("data-"):
        tell_source(turn, part)
    else:
        tell_part(turn, part)


def _tell_tool(turn: Turn, part: Node, name: str, waiting: list[tuple[Node, str, str]]) -> None:
    """The call; its result waits until the step is told."""
    call_id, state = part.get("toolCallId").label, part.get("state").text
    turn.call(part, id=call_id, name=name, arguments=part.get("input", "rawInput", "args"))
    if state in _ANSWERED or part.get("output", "result", "errorText").exists:
        waiting.append((part, call_id, name))


def _tell_results(turn: Turn, waiting: list[tuple[Node, str, str]]) -> None:
    for part, call_id, name in waiting:
        state = part.get("state").text
        output = part.get("output", "result")
        failed = state in ("output-error", "output-denied")
        result = turn.result(part, call_id=call_id, name=name, is_error=failed)
        if output.exists and output.value is not None:
            tell_output(result, output)
        result.text(part.get("errorText"))
        result.text(part.get("approval").get("reason"))
    waiting.clear()


def signature_of(part: Node) -> str:
    """The signature of a reasoning block, which each provider keeps under its own name."""
    for _, provider in [*part.get("providerMetadata").members(), *part.get("providerOptions").members()]:
        if provider.get("signature").text:
            return provider.get("signature").text
    return ""


def tell_source(turn: Turn, part: Node) -> None:
    """A source that the answer used, or data that the application added."""
    kind = part.get("type").text
    if kind.startswith("data-"):
        data = part.get("data")
        text = data.text or hide_opaque(json.dumps(data.value, ensure_ascii=False, default=str))[0] if data else ""
        turn.aside(part, kind, text)
        return
    inner = part.get("source") if part.get("source").is_object else part
    url, title = inner.get("url").text, inner.get("title").text
    turn.aside(part, "citation", title, url=url, filename=inner.get("filename").text)


READER = Reader(
    name="vercel_ui_messages",
    title="Vercel AI SDK messages and spans",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"toolCallId", "toolInvocations", "parts", "ai.prompt.messages", "providerMetadata"}),
    pieces=pieces,
)
