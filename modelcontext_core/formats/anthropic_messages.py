"""Anthropic messages: requests, responses, both together, error bodies; content as a string or as blocks.

Results of client tools stand in the next user message, results of server tools in the same assistant message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER", "tell_block", "tell_content", "tell_message", "tell_request", "tell_response"]

_OWN_BLOCKS: Final = frozenset(
    {
        "tool_use",
        "tool_result",
        "redacted_thinking",
        "server_tool_use",
        "mcp_tool_use",
        "mcp_tool_result",
        "container_upload",
    }
)
# Vendors that write messages like OpenAI's have these too.
_SHARED_BLOCKS: Final = frozenset({"thinking", "search_result"})
_FOREIGN_KEYS: Final = frozenset({"tool_calls", "tool_call_id", "tool_plan"})
_REQUEST_KEYS: Final = frozenset({"messages", "system", "tools", "response"})
_RESPONSE_KEYS: Final = frozenset({"content", "role", "type", "id"})
_MESSAGE_KEYS: Final = frozenset({"role", "content", "id", "type", "model", "stop_reason", "stop_sequence", "usage"})
_BARE_KEYS: Final = _MESSAGE_KEYS | {"timestamp", "created_at"}
_ANSWER_KEYS: Final = frozenset({"stop_reason", "usage"})


def detect(sample: Sample) -> bool:
    """A response message, messages with blocks of this API, its error, or `system` beside `max_tokens`."""
    if sample.container == "text":
        return False
    return any(_known(node) for node in sample.nodes[:2]) or (_joined(sample) and _has_own_blocks(sample.nodes))


def _joined(sample: Sample) -> bool:
    """Lines (or documents in a row) that are one bare message each are one conversation; answers are a record each."""
    return sample.container in ("lines", "documents") and all(
        node.has("role", "content") and node.value.keys() <= _BARE_KEYS and not node.has_any(_ANSWER_KEYS)
        for node in sample.nodes
    )


def _known(node: Node) -> bool:
    if node.is_list:
        return _has_own_blocks(list(node))
    if node.get("type").text == "message" and node.get("content").is_list and node.has("role"):
        return node.get("content").at(0).get("type").text not in ("input_text", "output_text")
    if node.get("type").text == "error":
        return node.get("error").get("message").is_text
    if node.has("role") and not node.has("messages"):
        return any(block.get("type").text in _OWN_BLOCKS for block in node.get("content"))
    messages = node.get("messages")
    if not messages.is_list or node.has("choices"):
        return False
    if _has_own_blocks(list(messages)) or node.has("anthropic_version"):
        return True
    first_tool = node.get("tools").at(0)
    if first_tool.has("input_schema") and first_tool.has("name"):
        return True
    hints = node.has("max_tokens") and (bool(node.get("system")) or node.get("model").text.startswith("claude"))
    return hints and not _speaks_otherwise(list(messages))


def _has_own_blocks(messages: Sequence[Node]) -> bool:
    """True when one of the messages has a block that only this API writes."""
    kinds = set()
    for message in messages:
        if not message.has_list("content") or not message.has("role"):
            continue
        for block in message.get("content"):
            kind = block.get("type").text
            if kind in _OWN_BLOCKS:
                return True
            if kind in _SHARED_BLOCKS or (kind in ("image", "document") and block.get("source").has("type")):
                kinds.add(kind)
    return bool(kinds) and not _speaks_otherwise(messages)


def _speaks_otherwise(messages: Sequence[Node]) -> bool:
    """True when calls and results stand where this API never puts them."""
    return any(message.has_any(_FOREIGN_KEYS) or message.get("role").text == "tool" for message in messages)


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation of a request and its response, of either alone, or of bare messages."""
    conversation = builder.conversation()
    for node in nodes:
        if node.is_list:
            for message in node:
                tell_message(conversation, message)
        elif node.get("messages").is_list:
            tell_request(conversation, node)
            if node.get("response").unpacked().is_object:
                tell_response(conversation, node.get("response").unpacked())
        elif node.get("error").is_object:
            _tell_error(conversation, node)
        elif node.has("content") and (node.get("type").text == "message" or node.get("role").text == "assistant"):
            tell_response(conversation, node)
        elif node.has("content"):
            tell_message(conversation, node)
        elif not conversation.bare_text(node):
            builder.notice("unknown", node, "a record that is neither request, response nor message is skipped")


def tell_request(conversation: ConversationBuilder, node: Node) -> None:
    """Tell the body of a request: system, messages, tools; the settings go into the trace's meta."""
    system = node.get("system")
    if system:
        tell_content(conversation.turn("system", system), system)
    for message in node.get("messages"):
        tell_message(conversation, message)
    for tool in node.get("tools"):
        name = tool.get("name").label or tool.get("type").label
        conversation.tool(name, tool.get("description").text, tool.get("input_schema"))
    conversation.builder.rest(node, _REQUEST_KEYS)


def tell_message(conversation: ConversationBuilder, node: Node) -> Turn:
    """Tell one message."""
    turn = conversation.turn(node.get("role").text, node, time=node.get("timestamp", "created_at").label)
    tell_content(turn, node.get("content") if node.is_object else node)
    conversation.builder.unread(node, _BARE_KEYS)
    return turn


def tell_response(conversation: ConversationBuilder, node: Node) -> None:
    """Tell the body of a response."""
    builder = conversation.builder
    turn = conversation.turn(node.get("role").text or "assistant", node)
    tell_content(turn, node.get("content"))
    builder.meta("response_id", node.get("id"))
    builder.rest(node, _RESPONSE_KEYS)


def _tell_error(conversation: ConversationBuilder, node: Node) -> None:
    error = node.get("error")
    turn = conversation.turn("assistant", error)
    turn.is_error = True
    turn.aside(error.get("message"), "error", error.get("message").text, type=error.get("type").text)
    conversation.builder.notice("error", error, "the record is an error that the provider gave instead of an answer")
    conversation.builder.rest(node, {"error", "type"})


def tell_content(turn: Turn, content: Node) -> None:
    """Tell a content: a string, or blocks in order."""
    if content.is_list:
        for block in content:
            tell_block(turn, block)
    else:
        turn.json(content)


def tell_block(turn: Turn, block: Node) -> None:
    """Tell one block."""
    kind = block.get("type").text
    if block.is_text:
        turn.text(block)
    elif kind == "text" or (not kind and block.get("text").is_text):
        turn.text(block.get("text"))
        for citation in block.get("citations"):
            _tell_citation(turn, citation)
    elif kind == "thinking":
        turn.reasoning(block.get("thinking"), signature=block.get("signature").text)
    elif kind == "redacted_thinking":
        turn.opaque(block.get("data"), kind)
    elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        turn.call(block, id=block.get("id").label, name=block.get("name").label, arguments=block.get("input"))
    elif kind == "tool_result" or kind.endswith("_tool_result"):
        _tell_result(turn, block, kind)
    elif kind in ("image", "document", "search_result", "container_upload"):
        _tell_attachment(turn, block, kind)
    elif kind == "compaction":
        turn.json(block.get("content"))
    elif block:
        turn.unknown(block, f"a block of the unknown type {kind[:60]!r}" if kind else "a block without a type")


def _tell_result(turn: Turn, block: Node, kind: str) -> None:
    """Tell a tool's result: a list on success; server tools give an object, also for their errors."""
    content = block.get("content")
    failed = block.get("is_error").value is True or content.get("type").text.endswith("_error")
    name = "" if kind in ("tool_result", "mcp_tool_result") else kind.removesuffix("_tool_result")
    result = turn.result(block, call_id=block.get("tool_use_id").label, is_error=failed)
    # The call's own name is better: `bash_code_execution` results may answer a call of another name.
    result.fallback_name = name
    if not content.is_list:
        result.json(content)
        return
    for part in content:
        part_kind = part.get("type").text
        if part_kind in ("text", "image", "document", "search_result") or part.is_text:
            tell_block(result, part)
        elif part_kind == "tool_reference":
            result.aside(part.get("tool_name"), part_kind, part.get("tool_name").text)
        else:
            result.json(part)


def _tell_citation(turn: Turn, node: Node) -> None:
    about = {key: node.get(key).label for key in ("type", "url", "title", "document_title", "source", "file_id")}
    turn.aside(node.get("cited_text"), "citation", node.get("cited_text").text, **about)


def _tell_attachment(turn: Turn, block: Node, kind: str) -> None:
    """Tell an image, a document or a search result; a document's own text is text."""
    source = block.get("source")
    title = block.get("title").text
    if kind == "search_result":
        turn.aside(block, kind, title, source=source.label)
        tell_content(turn, block.get("content"))
        return
    source_kind = source.get("type").text
    if source_kind in ("text", "content"):
        turn.aside(block, kind, title)
        tell_content(turn, source.get("data", "content"))
    else:
        turn.media(
            block,
            "file" if kind == "container_upload" else kind,
            url=source.get("url").text,
            data=source.get("data").text,
            media_type=source.get("media_type").text,
            name=title,
            file_id=source.get("file_id").text or block.get("file_id").text,
        )
    turn.text(block.get("context"))


READER = Reader(
    name="anthropic_messages",
    title="Anthropic messages",
    detect=detect,
    read=read,
    joined=_joined,
    keys=frozenset({"stop_reason", "tool_use_id", "input_schema", "stop_sequence"}),
)
