"""Content parts of all dialects, told by their keys: for frameworks that pass on what any provider wrote.

OpenAI, Anthropic, Gemini, Bedrock, LangChain, OpenTelemetry and the Vercel AI SDK write the same few things (text,
reasoning, a call, a result, media) under different keys, which do not contradict each other.
"""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats import anthropic_messages, openai_messages
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node

__all__ = ["tell_call", "tell_content", "tell_output", "tell_part", "tell_result"]

_CALLS: Final = frozenset(
    {"tool_call", "tool-call", "tool_use", "toolCall", "function_call", "functionCall", "server_tool_use", "toolUse"}
    | {"mcp_tool_use", "server_tool_call", "tool-approval-request"}
)
_RESULTS: Final = frozenset(
    {"tool_call_response", "tool-result", "tool_result", "toolResult", "function_call_output", "function_response"}
    | {"functionResponse", "function_result", "tool_response", "mcp_tool_result", "server_tool_result"}
)
_TEXTS: Final = frozenset({"text", "input_text", "output_text", "text-plain", "summary_text"})
_REASONING: Final = frozenset({"reasoning", "thinking", "reasoning_content", "thought", "reasoningContent"})
_KEYED_CALLS: Final = ("functionCall", "function_call", "toolUse", "toolCall")
_KEYED_RESULTS: Final = ("functionResponse", "function_response", "toolResult")
_MEDIA: Final = frozenset(
    {"image", "audio", "video", "file", "document", "blob", "uri", "image-data", "file-data", "media"}
)
_IDS: Final = ("tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "call_id", "id")
_NAMES: Final = ("name", "toolName", "tool_name")
_ANTHROPIC: Final = frozenset({"redacted_thinking", "search_result", "container_upload", "compaction"})


def tell_content(turn: Turn, content: Node) -> None:
    """A content: a text, a list of parts, one part, or any JSON value."""
    if content.is_list:
        for part in content:
            tell_part(turn, part)
    elif content.is_object and (content.get("type").is_text or content.get("text").is_text):
        tell_part(turn, content)
    else:
        turn.json(content)


def tell_part(turn: Turn, part: Node) -> None:
    """One part."""
    kind = part.get("type").text
    if part.is_text:
        turn.text(part)
    elif kind in _REASONING or part.get("thought").value is True or part.has("reasoningContent"):
        _tell_reasoning(turn, part)
    elif kind.endswith(".TextReasoningContent"):
        turn.reasoning(part.get("content").get("text"))
        if part.get("content").get("protectedData").text:
            turn.opaque(part.get("content").get("protectedData"), "protected_data")
    elif kind in _TEXTS or (not kind and part.get("text").is_text):
        turn.text(part.get("text", "content", "value"))
        for annotation in [*part.get("annotations"), *part.get("citations")]:
            openai_messages.tell_annotation(turn, annotation)
    elif kind in _CALLS or part.has_any(frozenset(_KEYED_CALLS)) or (not kind and part.has("toolCallId", "toolName")):
        tell_call(turn, part)
    elif kind in _RESULTS or kind.endswith("_tool_result") or part.has_any(frozenset(_KEYED_RESULTS)):
        tell_result(turn, part)
    elif kind in _ANTHROPIC:
        anthropic_messages.tell_block(turn, part)
    elif kind in _MEDIA or (
        not kind and part.has_any(frozenset({"inlineData", "inline_data", "fileData", "file_data"}))
    ):
        _tell_media(turn, part, kind)
    elif kind == "tool_reference":
        turn.aside(part.get("tool_name"), kind, part.get("tool_name").text)
    elif kind == "tool_call_chunk" or (not kind and not part):
        return
    else:
        openai_messages.tell_part(turn, part)


def _tell_reasoning(turn: Turn, part: Node) -> None:
    inner = part.get("reasoningContent") if part.get("reasoningContent").is_object else part
    inner = inner.get("reasoningText") if inner.get("reasoningText").is_object else inner
    text = inner.get("text", "thinking", "reasoning", "content", "reasoning_content", "summary")
    signature = inner.get("signature", "thoughtSignature", "thought_signature").text
    pieces = [piece if piece.is_text else piece.get("text") for piece in text] if text.is_list else [text]
    for piece in pieces or [text]:
        turn.reasoning(piece, signature=signature)
    for key in ("encrypted_content", "data", "redacted_data", "redactedContent"):
        if part.get(key).text:
            turn.opaque(part.get(key), key)


def tell_call(turn: Turn, part: Node) -> None:
    """A call, in any dialect."""
    keyed = part.get(*_KEYED_CALLS)
    inner = keyed if keyed.is_object else part
    name = inner.get(*_NAMES)
    arguments = inner.get("arguments", "args", "input", "parameters")
    turn.call(part, id=inner.get(*_IDS).label, name=name.label, arguments=arguments)


def tell_result(turn: Turn, part: Node) -> None:
    """A result inside a turn, in any dialect. A turn of role `tool` that says nothing else is that result itself."""
    keyed = part.get(*_KEYED_RESULTS)
    inner = keyed if keyed.is_object else part
    call_id, name = inner.get(*_IDS).label, inner.get(*_NAMES).label
    output = inner.get("response", "result", "output", "content", "outcome")
    failed = inner.get("is_error", "isError").value is True or inner.get("status").text == "error"
    failed = failed or output.get("type").text.startswith("error")
    if turn.role == "tool" and not turn.marks() and turn.call_id in ("", call_id):
        turn.call_id, turn.name, turn.is_error = call_id, turn.name or name, failed
        made = turn
    else:
        made = turn.result(part, call_id=call_id, name=name, is_error=failed)
    tell_output(made, output)


def tell_output(turn: Turn, output: Node) -> None:
    """What a tool gave: a text, parts, `{type, value}` of the Vercel AI SDK, or any JSON value."""
    kind = output.get("type").text
    if output.is_object and output.has("type", "value") and len(output.value) <= 3:
        output = output.get("value")
        kind = ""
    if output.is_list and output.value and all(_is_part(part) for part in output):
        for part in output:
            tell_part(turn, part)
    elif kind in _TEXTS and output.get("text").is_text:
        tell_part(turn, output)
    else:
        turn.json(output)


def _is_part(node: Node) -> bool:
    """True for a part that is no call: other objects with a `type` belong to what the tool gave."""
    kind = node.get("type").text
    if kind in _TEXTS:
        return node.get("text", "content").is_text and len(node.value) <= 4
    return kind in ("image", "image_url", "media", "image-data", "file-data") or (
        kind == "document" and node.has("source")
    )


def _tell_media(turn: Turn, part: Node, kind: str) -> None:
    """An image, a file or the like, inline or by address."""
    if part.get("source").get("type").text in ("text", "content"):
        anthropic_messages.tell_block(turn, part)
        return
    inner = part.get("inlineData", "inline_data", "fileData", "source", "file")
    inner = inner if inner.is_object else part
    body = inner.get("data", "base64", "content", "bytes", "file_data", kind or "data")
    address = inner.get("url", "uri", "fileUri", "file_uri", "image_url")
    address = address if address.is_text else address.get("url")
    url = address.text
    if body.text and (body.text == url or (not url and body.text.startswith(("http://", "https://", "data:")))):
        url, body = body.text, part.get("")
    if body.is_object:
        body = body.get("data", "url")
    media_type = inner.get("media_type", "mediaType", "mimeType", "mime_type").text
    modality = part.get("modality").text
    if kind not in ("image", "audio", "video", "document"):
        kind = modality or "file"
    name = part.get("filename", "title", "name").text
    file_id = part.get("file_id").text or inner.get("file_id", "fileId").text
    turn.media(part, kind, url=url, data=body.text, media_type=media_type, name=name, file_id=file_id)
