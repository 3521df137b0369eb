"""Message histories of Pydantic AI: a list of requests and responses, each a list of typed parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_KINDS: Final = frozenset({"request", "response"})
_LISTS: Final = ("all_messages", "new_messages", "message_history", "messages")
_MESSAGE_KEYS: Final = frozenset(
    {
        "kind",
        "parts",
        "instructions",
        "timestamp",
        "run_id",
        "conversation_id",
        "model_name",
        "model_id",
        "usage",
        "provider_name",
        "provider_url",
        "provider_details",
        "provider_response_id",
        "vendor_id",
        "vendor_details",
        "finish_reason",
        "state",
    }
)
_PART_KEYS: Final = frozenset(
    {
        "part_kind",
        "content",
        "timestamp",
        "tool_name",
        "tool_call_id",
        "tool_kind",
        "args",
        "id",
        "signature",
        "provider_name",
        "provider_details",
        "dynamic_ref",
        "context_id",
        "scope",
        "outcome",
        "retry",
        "name",
        "citations",
    }
)
_URLS: Final = {"image-url": "image", "audio-url": "audio", "video-url": "video", "document-url": "document"}


def detect(sample: Sample) -> bool:
    """A list of `{kind: request | response, parts}`, bare or in an object, or lines of them."""
    return sample.container != "text" and any(_lists(node) or _is_message(node) for node in sample.nodes[:3])


def _is_message(node: Node) -> bool:
    first = node.get("parts").at(0)
    return node.get("kind").text in _KINDS and node.get("parts").is_list and (first.has("part_kind") or not first)


def _lists(node: Node) -> Node | None:
    """The list of messages: the node itself, or a member of it."""
    for candidate in (node, *(node.get(key).unpacked() for key in _LISTS)):
        if candidate.is_list and any(_is_message(message) for message in list(candidate)[:3]):
            return candidate
    return None


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """A conversation for each list of messages; messages that are a record each are one conversation."""
    shared: ConversationBuilder | None = None
    for node in nodes:
        found = _lists(node)
        if found is not None:
            conversation = builder.conversation()
            instructions = ""
            for message in found:
                instructions = _tell(conversation, message, instructions)
            builder.rest(node, {found.key} if found is not node else ())
        elif _is_message(node):
            shared = shared or builder.conversation()
            _tell(shared, node, "")
        else:
            builder.notice("unknown", node, "a record that is no message is skipped")


def _tell(conversation: ConversationBuilder, node: Node, known_instructions: str) -> str:
    """Tell one request or response; gives the instructions that hold after it."""
    builder = conversation.builder
    instructions = node.get("instructions")
    if instructions.text and instructions.text != known_instructions:
        conversation.turn("system", instructions).text(instructions)
    kind = node.get("kind").text
    if kind == "response" or (not kind and node.get("parts").at(0).get("part_kind").text in _RESPONSE_PARTS):
        turn = conversation.turn("assistant", node, time=node.get("timestamp").text)
        for part in node.get("parts"):
            _tell_response_part(turn, part)
            builder.unread(part, _PART_KEYS)
        for key in ("model_name", "finish_reason", "provider_name"):
            builder.meta(key, node.get(key))
    else:
        for part in node.get("parts"):
            _tell_request_part(conversation, part)
            builder.unread(part, _PART_KEYS)
    builder.unread(node, _MESSAGE_KEYS)
    return instructions.text or known_instructions


def _tell_request_part(conversation: ConversationBuilder, part: Node) -> None:
    """Tell a part of a request; each is a turn of its own, as the system prompt stands among the user's parts."""
    kind = part.get("part_kind").text
    time = part.get("timestamp").text
    content = part.get("content")
    if kind == "system-prompt":
        conversation.turn("system", part, time=time).json(content)
    elif kind == "user-prompt":
        _tell_content(conversation.turn("user", part, time=time), content)
    elif kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name").text):
        failed = kind == "retry-prompt" or part.get("outcome").text not in ("", "success")
        call_id, name = part.get("tool_call_id").label, part.get("tool_name").text
        turn = conversation.result(part, call_id=call_id, name=name, is_error=failed, time=time)
        if _is_multimodal(content):
            _tell_content(turn, content)
        else:
            turn.json(content)
    elif kind == "retry-prompt":
        conversation.turn("user", part, time=time).json(content)
    else:
        conversation.turn("user", part, time=time).unknown(part, "a part of an unknown kind")


def _is_multimodal(content: Node) -> bool:
    return content.is_list and any(item.get("kind").text in (*_URLS, "binary") for item in content)


def _tell_content(turn: Turn, content: Node) -> None:
    """Tell a prompt: a text, or a list of texts and media."""
    if not content.is_list:
        turn.json(content)
    for item in content:
        kind = item.get("kind").text
        if item.is_text:
            turn.text(item)
        elif kind in _URLS:
            turn.media(item, _URLS[kind], url=item.get("url").text, media_type=item.get("media_type").text)
        elif kind == "binary":
            _tell_binary(turn, item)
        elif kind == "text" or (kind == "text-content"):
            turn.text(item.get("content", "text"))
        elif kind == "uploaded-file":
            turn.media(item, "file", file_id=item.get("file_id", "file").label)
        elif item.is_object and kind != "cache-point":
            turn.json(item)


def _tell_binary(turn: Turn, item: Node) -> None:
    name = item.get("identifier").text
    turn.media(item, "file", data=item.get("data").text, media_type=item.get("media_type").text, name=name)


def _tell_text(turn: Turn, part: Node) -> None:
    turn.json(part.get("content"))
    for citation in part.get("citations"):
        about = {key: citation.get(key).label for key in ("url", "title", "type")}
        turn.aside(citation, "citation", citation.get("cited_text", "text").text, **about)


def _tell_thinking(turn: Turn, part: Node) -> None:
    turn.reasoning(part.get("content"), part.get("content").text, signature=part.get("signature").text)


def _tell_call(turn: Turn, part: Node) -> None:
    call_id, name = part.get("tool_call_id").label, part.get("tool_name").text
    turn.call(part, id=call_id, name=name, arguments=part.get("args"))


def _tell_builtin_result(turn: Turn, part: Node) -> None:
    result = turn.result(part, call_id=part.get("tool_call_id").label, name=part.get("tool_name").text)
    result.json(part.get("content"))


_RESPONSE_PARTS: Final[dict[str, Callable[[Turn, Node], None]]] = {
    "text": _tell_text,
    "thinking": _tell_thinking,
    "tool-call": _tell_call,
    "builtin-tool-call": _tell_call,
    "native-tool-call": _tell_call,
    "builtin-tool-return": _tell_builtin_result,
    "native-tool-return": _tell_builtin_result,
    "file": lambda turn, part: _tell_binary(turn, part.get("content")),
}


def _tell_response_part(turn: Turn, part: Node) -> None:
    tell = _RESPONSE_PARTS.get(part.get("part_kind").text)
    if tell is not None:
        tell(turn, part)
    elif part:
        turn.unknown(part, "a part of an unknown kind")


READER = Reader(
    name="pydantic_ai_messages",
    title="Pydantic AI messages",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"part_kind", "tool_call_id", "provider_details"}),
)
