"""Cohere: v1 (`message`, `chat_history`, roles in capitals) and v2 (like OpenAI, with a tool plan), also streamed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.cohere_stream import CohereStream, is_event
from modelcontext_core.formats.cohere_v1 import is_v1_request, is_v1_response, tell_v1_request, tell_v1_response
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_calls, tell_content, tell_tools
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_MODEL = re.compile(r"(?:command|c4ai-command|c4ai-aya)(?:-[\w.\-]+)?\Z", re.ASCII)
_MESSAGE_KEYS: Final = frozenset({"role", "content", "tool_plan", "tool_calls", "tool_call_id", "citations", "name"})
_REQUEST_KEYS: Final = frozenset({"messages", "tools", "documents", "message", "response"})
_RESPONSE_KEYS: Final = frozenset({"message", "messages", "tools", "documents", "logprobs"})
_ENDS: Final = frozenset(
    {
        "COMPLETE",
        "MAX_TOKENS",
        "STOP_SEQUENCE",
        "TOOL_CALL",
        "ERROR",
        "ERROR_TOXIC",
        "ERROR_LIMIT",
        "USER_CANCEL",
        "TIMEOUT",
    }
)


def _is_v2_response(node: Node) -> bool:
    message = node.get("message")
    return message.is_object and node.get("finish_reason").text.upper() in _ENDS and message.has("role")


def _is_v2_request(node: Node) -> bool:
    messages = node.get("messages")
    if not messages.is_list or node.has("choices"):
        return False
    if _MODEL.match(node.get("model").text):
        return messages.at(0).get("role").is_text
    return any(_is_own(message) for message in list(messages)[:20])


def _is_own(message: Node) -> bool:
    if message.has("tool_plan") and message.get("role").text == "assistant" and message.get("tool_plan").is_text:
        return True
    if not message.has_list("content"):
        return False
    part = message.at("content", 0)
    return part.get("type").text == "document" and part.get("document").has("data")


def detect(sample: Sample) -> bool:
    """A request or response of either version, or an event of a stream."""
    if sample.container in ("text", "sqlite"):
        return False
    return any(
        is_event(node) or is_v1_request(node) or is_v1_response(node) or _is_v2_response(node) or _is_v2_request(node)
        for node in sample.nodes[:2]
    )


def _joined(sample: Sample) -> bool:
    return sample.container != "json" and any(is_event(node) for node in sample.nodes[:2])


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation of a request and its response, of either alone, or of a stream."""
    conversation = builder.conversation()
    stream = CohereStream(conversation)
    for node in nodes:
        if is_event(node):
            stream.take(node)
        elif is_v1_request(node):
            tell_v1_request(conversation, node)
        elif is_v1_response(node):
            tell_v1_response(conversation, node)
        elif node.get("messages").is_list:
            _tell_request(conversation, node)
            answer = node.get("response").unpacked()
            if _is_v2_response(answer):
                _tell_response(conversation, answer)
        elif node.get("message").is_object:
            _tell_response(conversation, node)
        elif node.is_list:
            for element in node:
                stream.take(element)
        elif not conversation.bare_text(node):
            builder.notice("unknown", node, "a record that is neither request, response nor event is skipped")
    stream.finish()


def _tell_request(conversation: ConversationBuilder, node: Node) -> None:
    for message in node.get("messages"):
        _tell_message(conversation, message, answered=True)
    for document in node.get("documents"):
        turn = conversation.turn("user", document)
        turn.json(document.get("data") if document.get("data").exists else document)
    tell_tools(conversation, node)
    conversation.builder.rest(node, _REQUEST_KEYS)


def _tell_response(conversation: ConversationBuilder, node: Node) -> None:
    _tell_message(conversation, node.get("message"), answered=bool(conversation.turns))
    conversation.builder.rest(node, _RESPONSE_KEYS)


def _tell_message(conversation: ConversationBuilder, message: Node, *, answered: bool) -> None:
    """Tell one message. `answered`: what its citations point to stands in the conversation already."""
    role = message.get("role").text or "assistant"
    if role == "tool":
        turn = conversation.result(message, call_id=message.get("tool_call_id").label)
        _tell_documents(turn, message.get("content"))
    else:
        turn = conversation.turn(role, message)
        turn.reasoning(message.get("tool_plan"))
        tell_content(turn, message.get("content"))
        tell_calls(turn, message)
        tell_citations(turn, message.get("citations"), answered=answered)
    conversation.builder.unread(message, _MESSAGE_KEYS)


def _tell_documents(turn: Turn, content: Node) -> None:
    """Tell a result: a text, or documents with data."""
    if not content.is_list:
        turn.json(content)
    for part in content:
        document = part.get("document")
        if document.is_object:
            turn.json(document.get("data") if document.get("data").exists else document)
        else:
            turn.json(part.get("text") if part.get("text").is_text else part)


def tell_citations(turn: Turn, citations: Node, *, answered: bool) -> None:
    """Tell citations by the text that they stand at and the ids of their sources. The sources repeat tool results and
    documents: they are told, once each, only when these are not in the record."""
    told: set[str] = set()
    for citation in citations:
        sources = list(citation.get("sources"))
        ids = ", ".join(source.get("id").label for source in sources)
        turn.aside(citation.get("text"), "citation", citation.get("text").text, sources=ids)
        for source in sources:
            key = source.get("id").label
            if answered or key in told:
                continue
            told.add(key)
            body = source.get("tool_output", "document")
            for name, member in body.members():
                if member.is_text:
                    turn.aside(member, "source", member.text, source=key, name=name)


READER = Reader(
    name="cohere",
    title="Cohere",
    detect=detect,
    read=read,
    joined=_joined,
    keys=frozenset({"tool_plan", "generation_id", "chat_history", "preamble", "connectors"}),
)
