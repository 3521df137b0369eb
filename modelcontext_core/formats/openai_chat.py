"""OpenAI chat completions, and all that speak like them: requests, responses, both together, error bodies.

Vendors cannot be told apart by their bytes (Groq, DeepSeek, xAI, OpenRouter, Ollama and others write the same), so all
of them are called "OpenAI chat". It is also the reader for any list of messages with the API's roles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import looks_like_message, tell_message, tell_messages, tell_tools
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER", "tell_error", "tell_request", "tell_response"]

_REQUEST_KEYS: Final = frozenset({"messages", "tools", "functions", "choices", "response", "error", "input", "system"})
_RESPONSE_KEYS: Final = frozenset({"choices", "messages", "tools", "error", "citations", "search_results"})
_RECORD_KEYS: Final = frozenset({"messages", "choices", "type"})
# Beside an error that is a bare text nothing else may stand: any log has such a key.
_ERROR_KEYS: Final = frozenset({"error", "error_type", "code", "status", "estimated_time", "warnings", "request_id"})
_TRANSCRIPT: Final = "messages_display"
_SPEAKER = re.compile(r"^(system|developer|user|assistant|tool|function): ?", re.MULTILINE)


def detect(sample: Sample) -> bool:
    """Requests with a message list, responses with choices, message lists, errors, and flattened transcripts."""
    return sample.container != "text" and any(_known(node) for node in sample.nodes[:2])


def _known(node: Node) -> bool:
    if node.is_list:
        messages = list(node)[:5]
        return bool(messages) and all(looks_like_message(message) for message in messages)
    if not node.is_object:
        return False
    choices = node.get("choices")
    if choices.is_list and (node.has("object") or any(_is_choice(choice) for choice in choices)):
        return True
    messages_node = node.get("messages")
    if messages_node.is_list and (looks_like_message(messages_node.at(0)) or looks_like_message(messages_node.at(1))):
        return True
    if node.get(_TRANSCRIPT).is_text:
        return True
    if looks_like_message(node) and not node.has("type"):
        return True
    if node.get("error").is_text and node.value.keys() <= _ERROR_KEYS:
        return True
    return node.get("error").get("message").is_text and node.get("type").text != "error"


def _joined(sample: Sample) -> bool:
    """Lines (or documents in a row) that are one bare message each are one conversation.

    Requests and responses are a record each.
    """
    return sample.container in ("lines", "documents") and all(
        looks_like_message(node) and not node.has_any(_RECORD_KEYS) for node in sample.nodes
    )


def _is_choice(node: Node) -> bool:
    return node.get("message").is_object or (node.get("text").is_text and node.has("finish_reason"))


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation of a request and its response, of either alone, or of bare messages."""
    conversation = builder.conversation()
    for node in nodes:
        if node.is_list:
            tell_messages(conversation, node)
        elif node.get(_TRANSCRIPT).is_text:
            _tell_transcript(conversation, node.get(_TRANSCRIPT))
            builder.rest(node, {_TRANSCRIPT})
        elif node.get("choices").is_list and not node.get("messages").is_list:
            tell_response(conversation, node)
        elif node.get("messages").is_list:
            tell_request(conversation, node)
            answer = node if node.get("choices").is_list else node.get("response").unpacked()
            if answer.is_object:
                tell_response(conversation, answer)
        elif node.get("error"):
            tell_error(conversation, node)
        elif looks_like_message(node):
            tell_message(conversation, node)
        elif not conversation.bare_text(node):
            builder.notice("unknown", node, "a record that is neither request, response nor message is skipped")


def tell_request(conversation: ConversationBuilder, node: Node) -> None:
    """Tell the body of a request: messages and tools; the settings go into the trace's meta."""
    system = node.get("system")
    if system:
        conversation.turn("system", system).json(system)
    tell_messages(conversation, node.get("messages"))
    tell_tools(conversation, node)
    conversation.builder.rest(node, _REQUEST_KEYS)


def tell_response(conversation: ConversationBuilder, node: Node) -> None:
    """Tell the body of a response. The first choice goes on with the conversation, each further one is a branch."""
    builder = conversation.builder
    before = conversation.turns
    for number, choice in enumerate(node.get("choices")):
        told = conversation
        if number:
            parent = conversation.id or "1"
            conversation.id = parent
            told = builder.conversation(id=f"{parent}/choice-{number + 1}", parent=parent, after=before)
        message = choice.get("message", "delta")
        if message.is_object:
            turn = tell_message(told, message, role="assistant")
        else:
            turn = told.turn("assistant", choice)
            turn.text(choice.get("text"))
        if number == 0:
            for citation in [*node.get("citations"), *node.get("search_results")]:
                url, title = citation.text or citation.get("url").text, citation.get("title").text
                turn.aside(citation, "citation", citation.get("snippet").text, url=url, title=title)
            builder.meta("finish_reason", choice.get("finish_reason"))
    if node.get("error"):
        tell_error(conversation, node)
    builder.rest(node, _RESPONSE_KEYS)


def tell_error(conversation: ConversationBuilder, node: Node) -> None:
    """Tell an error body `{error: {message, …}}`: what the provider answered instead of a message."""
    error = node.get("error")
    turn = conversation.turn("assistant", error)
    turn.is_error = True
    message = error if error.is_text else error.get("message")
    code = error.get("code", "status").label
    turn.aside(message, "error", message.label, type=error.get("type").text, code=code)
    raw = error.at("metadata", "raw")
    if raw:
        turn.aside(raw, "error", raw.text)
    conversation.builder.notice("error", error, "the record is an error that the provider gave instead of an answer")
    conversation.builder.unread(error, {"message", "type", "code", "status", "param", "metadata"})


def _tell_transcript(conversation: ConversationBuilder, node: Node) -> None:
    """Tell a transcript that was flattened into one text, each turn begun by its role."""
    builder = conversation.builder
    builder.notice("fallback", node, "a flattened transcript is cut into turns where a line begins with a role")
    pieces = _SPEAKER.split(node.text)
    if pieces[0].strip():
        conversation.turn("user", node).text(node, pieces[0])
    for role, text in zip(pieces[1::2], pieces[2::2], strict=True):
        words = text.removesuffix("\n")
        if role in ("tool", "function"):
            conversation.result(node).text(node, words)
            continue
        turn = conversation.turn(role, node)
        if role == "assistant" and words == "None":
            builder.notice("fallback", node, "a turn of the text 'None' had no content: its calls are not in the text")
        else:
            turn.text(node, words)


READER = Reader(
    name="openai_chat",
    title="OpenAI chat completions (and compatible)",
    detect=detect,
    read=read,
    joined=_joined,
    keys=frozenset({"choices", "tool_call_id", "finish_reason", "function_call"}),
)
