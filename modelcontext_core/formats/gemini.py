"""Gemini: requests with contents, responses with candidates, both together, the Interactions API, errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.gemini_interactions import is_interaction, tell_interaction
from modelcontext_core.formats.gemini_parts import (
    looks_like_content,
    role_of,
    tell_content,
    tell_grounding,
    tell_part,
    tell_tools,
)
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = [
    "CANDIDATE_KEYS",
    "READER",
    "is_error",
    "is_response",
    "tell_blocked",
    "tell_end",
    "tell_error",
    "tell_response",
]

_REQUEST_KEYS: Final = frozenset(
    {
        "contents",
        "systemInstruction",
        "system_instruction",
        "tools",
        "candidates",
        "promptFeedback",
        "prompt_feedback",
        "response",
        "config",
        "generationConfig",
        "generation_config",
    }
)
_RESPONSE_KEYS: Final = frozenset(
    {
        "candidates",
        "promptFeedback",
        "prompt_feedback",
        "contents",
        "automaticFunctionCallingHistory",
        "automatic_function_calling_history",
        "usageMetadata",
        "usage_metadata",
        "systemInstruction",
        "system_instruction",
        "tools",
    }
)
CANDIDATE_KEYS: Final = frozenset(
    {
        "content",
        "finishReason",
        "finish_reason",
        "index",
        "safetyRatings",
        "safety_ratings",
        "groundingMetadata",
        "grounding_metadata",
        "citationMetadata",
        "citation_metadata",
        "urlContextMetadata",
        "url_context_metadata",
        "avgLogprobs",
        "avg_logprobs",
        "tokenCount",
        "finishMessage",
        "finish_message",
    }
)
_GOOD_ENDS: Final = frozenset({"", "STOP", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED"})


def is_response(node: Node) -> bool:
    """True for a response, or an event of a stream, which is one too."""
    candidates = node.get("candidates")
    if candidates.is_list:
        first = candidates.at(0)
        return not first or first.get("content").is_object or first.has_any(CANDIDATE_KEYS)
    return node.get("promptFeedback", "prompt_feedback").is_object


def is_error(node: Node) -> bool:
    """True for an error of Google's APIs: a number as code, a status in capitals."""
    error = node.get("error")
    status = error.get("status").text
    return isinstance(error.get("code").value, int) and bool(status) and status.isupper() and error.has("message")


def detect(sample: Sample) -> bool:
    """Contents, candidates, an interaction, an error, or a list of contents."""
    if sample.container in ("text", "sqlite"):
        return False
    return any(_known(node) for node in sample.nodes[:2])


def _known(node: Node) -> bool:
    if node.is_list:
        first = node.at(0)
        return looks_like_content(first) or is_error(first)
    contents = node.get("contents")
    if contents.is_list and (looks_like_content(contents.at(0)) or contents.at(0).get("parts").is_list):
        return True
    if looks_like_content(contents) or (contents.is_text and node.has("model") and not node.has("uri")):
        return True
    return is_response(node) or is_error(node) or is_interaction(node) or looks_like_content(node)


def _joined(sample: Sample) -> bool:
    """Contents one by one make one conversation."""
    return sample.container != "json" and looks_like_content(sample.nodes[0])


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation of a request and its response, of either alone, or of contents."""
    conversation = builder.conversation()
    for node in nodes:
        if node.is_list:
            for element in node:
                _tell(conversation, element)
        else:
            _tell(conversation, node)


def _tell(conversation: ConversationBuilder, node: Node) -> None:
    if is_interaction(node):
        tell_interaction(conversation, node)
    elif node.get("contents"):
        _tell_request(conversation, node)
        answer = node if is_response(node) else node.get("response").unpacked()
        if is_response(answer):
            tell_response(conversation, answer)
    elif is_response(node):
        tell_response(conversation, node)
    elif node.get("error").is_object:
        tell_error(conversation, node)
    elif node.get("parts").exists:
        tell_content(conversation, node)
    elif not conversation.bare_text(node):
        text = "a record that is neither request, response nor content is skipped"
        conversation.builder.notice("unknown", node, text)


def _tell_request(conversation: ConversationBuilder, node: Node) -> None:
    """Tell the body of a request. SDKs put system instruction and tools into `config`."""
    for holder in (node, node.get("config")):
        system = holder.get("systemInstruction", "system_instruction")
        if system:
            tell_content(conversation, system, role="system")
        tell_tools(conversation, holder.get("tools"))
    contents = node.get("contents")
    for content in contents if contents.is_list else [contents]:
        tell_content(conversation, content)
    settings = node.get("generationConfig", "generation_config")
    conversation.builder.rest(settings, (), prefix="generationConfig.")
    conversation.builder.rest(node, _REQUEST_KEYS)


def tell_response(conversation: ConversationBuilder, node: Node) -> None:
    """Tell the body of a response. The first candidate goes on with the conversation, each further one is a branch."""
    builder = conversation.builder
    history = node.get("automaticFunctionCallingHistory", "automatic_function_calling_history")
    if history and not conversation.turns:
        for content in history:
            tell_content(conversation, content)
    before = conversation.turns
    for number, candidate in enumerate(node.get("candidates")):
        told = conversation
        if number:
            parent = conversation.id or "1"
            conversation.id = parent
            told = builder.conversation(id=f"{parent}/candidate-{number + 1}", parent=parent, after=before)
        content = candidate.get("content")
        turn = told.turn(role_of(content, "model"), candidate)
        for part in content.get("parts"):
            tell_part(turn, part)
        tell_grounding(turn, candidate)
        tell_end(turn, candidate)
        builder.unread(candidate, CANDIDATE_KEYS)
        if not number:
            builder.meta("finishReason", candidate.get("finishReason", "finish_reason"))
    tell_blocked(conversation, node)
    usage = node.get("usageMetadata", "usage_metadata")
    builder.rest(usage, (), prefix="usageMetadata.")
    builder.rest(node, _RESPONSE_KEYS)


def tell_end(turn: Turn, candidate: Node) -> None:
    """Tell an end that is no good one (`SAFETY`, `MALFORMED_FUNCTION_CALL`), which may come without any content."""
    reason = candidate.get("finishReason", "finish_reason")
    message = candidate.get("finishMessage", "finish_message")
    if message.text or (reason.label not in _GOOD_ENDS and not candidate.get("content").get("parts")):
        turn.aside(message if message.text else reason, "error", message.text or reason.label, reason=reason.label)


def tell_blocked(conversation: ConversationBuilder, node: Node) -> None:
    """Tell that the prompt was blocked: then there is no candidate."""
    feedback = node.get("promptFeedback", "prompt_feedback")
    reason = feedback.get("blockReason", "block_reason")
    if reason.label:
        turn = conversation.turn("assistant", feedback)
        turn.is_error = True
        message = feedback.get("blockReasonMessage", "block_reason_message").text
        turn.aside(reason, "error", message or f"the prompt was blocked: {reason.label}", reason=reason.label)
        conversation.builder.notice("error", feedback, "the provider blocked the prompt")


def tell_error(conversation: ConversationBuilder, node: Node) -> None:
    """Tell an error body."""
    error = node.get("error")
    turn = conversation.turn("assistant", error)
    turn.is_error = True
    about = {"code": error.get("code").label, "status": error.get("status").text}
    turn.aside(error.get("message"), "error", error.get("message").text, **about)
    conversation.builder.notice("error", error, "the record is an error that the provider gave instead of an answer")
    conversation.builder.unread(error, {"code", "message", "status"})


READER = Reader(
    name="gemini",
    title="Gemini",
    detect=detect,
    read=read,
    joined=_joined,
    keys=frozenset({"contents", "candidates", "parts", "systemInstruction", "promptFeedback", "functionCall"}),
)
