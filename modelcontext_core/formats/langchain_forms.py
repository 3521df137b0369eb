"""One LangChain message in any of its three JSON forms, for all readers that meet one.

(a) `{lc: 1, type: "constructor", id: [..., "AIMessage"], kwargs}`, (b) `{type: "ai", data}`, (c) a flat dump.
The raw provider form in `additional_kwargs` repeats `tool_calls`, and so do call blocks in the content: told once.
"""

from __future__ import annotations

import json
from typing import Final

from modelcontext_core.formats.building.builder import ConversationBuilder
from modelcontext_core.formats.building.opaque import hide_opaque
from modelcontext_core.formats.building.streaming import is_json
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_calls
from modelcontext_core.formats.parts import tell_call, tell_content, tell_part

__all__ = ["CALL_BLOCKS", "fields_of", "is_chunk", "is_message", "kind_of", "message_id", "role_of", "tell_message"]

_KINDS: Final = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "developer": "developer",
    "tool": "tool",
    "function": "tool",
    "chat": "",
    "generic": "",
    "remove": "",
}
CALL_BLOCKS: Final = frozenset({"tool_use", "tool_call", "function_call", "input_json_delta", "tool_call_chunk"})
_FIELDS: Final = frozenset({"content", "additional_kwargs", "tool_call_id", "tool_calls", "response_metadata"})
_KNOWN: Final = frozenset(
    {"content", "type", "name", "id", "example", "tool_calls", "invalid_tool_calls", "tool_call_chunks", "artifact"}
    | {"usage_metadata", "response_metadata", "additional_kwargs", "tool_call_id", "status", "role", "lc_kwargs"}
    | {"chunk_position", "metadata", "lc_serializable", "lc_namespace"}
)


def kind_of(node: Node) -> str:
    """`human`, `ai`, `system`, `tool`…; `""` for what is no message."""
    if node.get("type").text == "constructor" and node.get("kwargs").is_object:
        name = node.get("id").at(-1).text
        if not name.endswith(("Message", "MessageChunk")):
            return ""
        return _kind(name)
    kind = _kind(node.get("type").text)
    fields = node.get("data") if node.get("data").is_object else node
    return kind if kind in _KINDS and fields.has("content") and not node.has("role", "parts") else ""


def _kind(name: str) -> str:
    kind = name.removesuffix("Chunk").removesuffix("Message")
    return kind.lower()


def is_message(node: Node) -> bool:
    """True for a message in one of the three forms."""
    kind = kind_of(node)
    return bool(kind) and kind in _KINDS


def is_chunk(node: Node) -> bool:
    """True for a piece of a streamed message."""
    name = node.get("id").at(-1).text if node.get("kwargs").is_object else node.get("type").text
    return name.endswith("Chunk")


def fields_of(node: Node) -> Node:
    """The object that holds `content` and the rest."""
    if node.get("kwargs").is_object:
        return node.get("kwargs")
    return node.get("data") if node.get("data").is_object else node


def message_id(node: Node) -> str:
    """The message's own id, or `""`."""
    return fields_of(node).get("id").text


def role_of(node: Node) -> str:
    """The role that the kind stands for."""
    kind = kind_of(node)
    return _KINDS.get(kind, "") or fields_of(node).get("role").text or kind


def tell_message(conversation: ConversationBuilder, node: Node) -> Turn:
    """Tell one message."""
    fields = fields_of(node)
    role, name = role_of(node), fields.get("name").label
    if role == "tool":
        failed = fields.get("status").text == "error"
        turn = conversation.result(node, call_id=fields.get("tool_call_id").label, name=name, is_error=failed)
    else:
        turn = conversation.turn(role, node, name=name)
    extra = fields.get("additional_kwargs")
    _tell_reasoning(turn, fields, extra)
    calls = fields.get("tool_calls")
    _tell_content(turn, fields.get("content"), has_calls=bool(calls))
    written = _written_arguments(fields.get("content"))
    for call in calls:
        name, call_id = call.get("name").label, call.get("id").label
        if call_id in written:
            turn.call(call, id=call_id, name=name, arguments=written[call_id])
        elif name or call_id:
            tell_call(turn, call)
    for call in fields.get("invalid_tool_calls"):
        if call.get("name").label or call.get("args").text:
            tell_call(turn, call)
            turn.aside(call.get("error"), "error", call.get("error").text)
    if not calls and not turn_has_calls(turn):
        tell_calls(turn, extra)
    turn.text(extra.get("refusal"))
    artifact = fields.get("artifact")
    if artifact:
        shown = artifact.text or hide_opaque(json.dumps(artifact.value, ensure_ascii=False, default=str))[0]
        turn.aside(artifact, "artifact", shown)
    conversation.builder.unread(fields, _KNOWN)
    return turn


def turn_has_calls(turn: Turn) -> bool:
    """Does the turn hold a call already?"""
    return any(mark[0] == "call" for mark in turn.marks())


def _written_arguments(content: Node) -> dict[str, Node]:
    """The arguments as the model wrote them, by call id, where a streamed block kept them whole."""
    blocks = [(block.get("id").text, block.get("partial_json")) for block in content]
    return {call_id: text for call_id, text in blocks if call_id and text.text and is_json(text.text)}


def _tell_content(turn: Turn, content: Node, *, has_calls: bool) -> None:
    if not content.is_list:
        tell_content(turn, content)
        return
    for block in content:
        if not (has_calls and block.get("type").text in CALL_BLOCKS):
            tell_part(turn, block)


def _tell_reasoning(turn: Turn, fields: Node, extra: Node) -> None:
    """Reasoning beside the content, unless the content holds it as blocks."""
    if any(block.get("type").text in ("reasoning", "thinking") for block in fields.get("content")):
        return
    turn.reasoning(extra.get("reasoning_content"))
    for summary in extra.get("reasoning").get("summary"):
        turn.reasoning(summary.get("text"))
