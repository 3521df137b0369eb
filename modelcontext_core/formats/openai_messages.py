"""The message list that OpenAI's chat API made common. Many formats hold it: they read it with these functions.

Understands what other vendors put beside it: `reasoning_content`, `reasoning`, `reasoning_details`, thinking parts,
annotations, custom tool calls, and the old `function_call`.
"""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats.building.builder import ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node

__all__ = [
    "ROLES",
    "looks_like_message",
    "tell_annotation",
    "tell_calls",
    "tell_content",
    "tell_message",
    "tell_messages",
    "tell_part",
    "tell_tools",
]

ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_READ_KEYS: Final = frozenset(
    {
        "role",
        "content",
        "name",
        "tool_calls",
        "tool_call_id",
        "function_call",
        "refusal",
        "reasoning_content",
        "reasoning",
        "reasoning_details",
        "thinking_blocks",
        "thinking",
        "audio",
        "annotations",
        "images",
        "id",
        "type",
        "object",
        "status",
        "index",
        "timestamp",
        "created",
        "created_at",
        "time",
        "prefix",
        "cache_control",
        "weight",
        "extra_content",
        "tool_name",
        "phase",
    }
)
_REASONING_KEYS: Final = frozenset(
    {"reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "thinking"}
)
_CALL_KEYS: Final = frozenset({"tool_calls", "function_call"})
_EXTRA_KEYS: Final = frozenset({"refusal", "audio", "images", "annotations", "extra_content"})
_ADDRESS_KEYS: Final = ("image_url", "video_url", "audio_url", "file_url", "input_image", "image")


def looks_like_message(node: Node) -> bool:
    """True for an object with one of the API's roles and a content, or what may stand in its place."""
    role = node.get("role")
    if not role.is_text or role.text not in ROLES:
        return False
    return any(key in node.value for key in ("content", "tool_calls", "function_call", "refusal", "reasoning_content"))


def tell_messages(conversation: ConversationBuilder, messages: Node) -> None:
    """Tell a list of messages."""
    for message in messages:
        tell_message(conversation, message)


def tell_message(conversation: ConversationBuilder, node: Node, *, role: str = "") -> Turn:
    """Tell one message; `role` is for messages that leave theirs out."""
    builder = conversation.builder
    if not node.is_object:
        turn = conversation.turn("", node)
        turn.json(node)
        return turn
    role = node.get("role").text or role
    name, time = node.get("name", "tool_name").label, node.get("timestamp", "created_at", "time").label
    call_id = node.get("tool_call_id").label
    if role in ("tool", "function"):
        is_error = node.get("status").text == "error" or node.get("is_error").value is True
        turn = conversation.result(node, call_id=call_id, name=name, is_error=is_error, time=time)
    else:
        turn = conversation.turn(role, node, name=name, time=time)
    if node.has_any(_REASONING_KEYS):
        _tell_reasoning(turn, node)
    tell_content(turn, node.get("content"))
    if node.has_any(_CALL_KEYS):
        tell_calls(turn, node)
    if node.has_any(_EXTRA_KEYS):
        _tell_extras(turn, node)
    builder.unread(node, _READ_KEYS)
    return turn


def _tell_extras(turn: Turn, node: Node) -> None:
    """Tell what stands beside the content: a refusal, what was spoken, images that were made, citations."""
    turn.text(node.get("refusal"))
    turn.text(node.at("audio", "transcript"))
    for image in node.get("images"):
        tell_part(turn, image)
    for annotation in node.get("annotations"):
        tell_annotation(turn, annotation)
    signature = node.at("extra_content", "google", "thought_signature")
    if signature.text:
        turn.opaque(signature, "thought_signature")


def tell_content(turn: Turn, content: Node) -> None:
    """Tell a content: a string, a list of parts, or (from careless writers) any JSON value."""
    if content.is_text:
        turn.text(content)
    elif content.is_list:
        for part in content:
            tell_part(turn, part)
    else:
        turn.json(content)


def tell_part(turn: Turn, part: Node) -> None:
    """Tell one part of a content list."""
    kind = part.get("type").text
    if part.is_text:
        turn.text(part)
    elif kind in ("text", "input_text", "output_text") or (not kind and part.get("text").is_text):
        turn.text(part.get("text"))
        for annotation in part.get("annotations"):
            tell_annotation(turn, annotation)
    elif kind == "refusal":
        turn.text(part.get("refusal"))
    elif kind in ("thinking", "reasoning"):
        inner = part.get("thinking", "reasoning", "text", "content")
        for text in inner if inner.is_list else [inner]:
            turn.reasoning(text if text.is_text else text.get("text", "thinking"))
    elif kind in _ADDRESS_KEYS:
        inner = part.get(kind, "image_url", "url")
        detail = inner.get("detail").text
        address = inner if inner.is_text else inner.get("url")
        turn.media(part, kind.removeprefix("input_").removesuffix("_url"), url=address.text, detail=detail)
    elif kind in ("input_audio", "audio"):
        inner = part.get(kind)
        media_type = f"audio/{inner.get('format').text}" if inner.get("format").text else ""
        turn.media(part, "audio", data=inner.get("data").text, media_type=media_type, id=inner.get("id").text)
    elif kind in ("file", "input_file"):
        inner = part.get("file") if part.get("file").is_object else part
        turn.media(
            part,
            "file",
            data=inner.get("file_data").text,
            url=inner.get("file_url", "url").text,
            name=inner.get("filename").text,
            file_id=inner.get("file_id").text,
        )
    elif part:
        turn.unknown(part, f"a part of the unknown type {kind[:60]!r}" if kind else "a part without a type")


def tell_calls(turn: Turn, node: Node) -> None:
    """Tell the calls of a message: `tool_calls` in their order, or the old `function_call`, which has no id."""
    for call in node.get("tool_calls"):
        function = call.get("function", "custom")
        if not function.is_object:
            # {id, name, arguments} without the inner object, or {id, function: "name", arguments}.
            name = function.text or call.get("name").label
            turn.call(call, id=call.get("id").label, name=name, arguments=call.get("arguments", "args", "input"))
            continue
        arguments = function.get("arguments", "input", "args")
        turn.call(call, id=call.get("id").label, name=function.get("name").label, arguments=arguments)
        signature = call.at("extra_content", "google", "thought_signature")
        if signature.text:
            turn.opaque(signature, "thought_signature")
    old = node.get("function_call")
    if old.is_object:
        turn.call(old, name=old.get("name").label, arguments=old.get("arguments"))


def _tell_reasoning(turn: Turn, node: Node) -> None:
    """Tell visible reasoning once, though vendors write it twice (`reasoning` and `reasoning_details`)."""
    visible = node.get("reasoning_content", "reasoning", "thinking")
    details = [*node.get("reasoning_details"), *node.get("thinking_blocks")]
    blocks = [(detail, detail.get("text", "summary", "thinking")) for detail in details]
    signed = any(detail.get("signature").text for detail in details)
    if visible.is_text and not signed:
        turn.reasoning(visible)
    for detail, text in blocks:
        signature = detail.get("signature").text
        if signed or not visible.text or text.text not in visible.text:
            turn.reasoning(text if text.is_text else detail, text.text, signature=signature)
        if detail.get("data").text:
            turn.opaque(detail.get("data"), "encrypted_reasoning")


def tell_annotation(turn: Turn, node: Node) -> None:
    """Tell a citation: of a page, or of a file whose text may be repeated in it."""
    kind = node.get("type").text
    inner = node.get(kind) if kind and node.get(kind).is_object else node
    about = {key: inner.get(key).text for key in ("url", "title", "filename", "file_id", "name", "hash")}
    texts = [part.get("text") for part in inner.get("content")] if inner.get("content").is_list else []
    texts = [text for text in [*texts, inner.get("content", "quote")] if text.text]
    for text in texts or [inner]:
        turn.aside(text, "citation", text.text, **about)


def tell_tools(conversation: ConversationBuilder, node: Node) -> None:
    """Keep the definitions in `tools` (nested or flat; a list, or JSON text of one) and in the old `functions`."""
    for tool in [*node.get("tools").unpacked(), *node.get("functions").unpacked()]:
        inner = tool.get("function", "custom") if tool.get("function", "custom").is_object else tool
        name = inner.get("name").label or tool.get("type").label
        if name:
            schema = inner.get("parameters", "input_schema", "inputSchema", "parameters_json_schema")
            conversation.tool(name, inner.get("description").text, schema)
