"""Conversations exported from claude.ai: `chat_messages` with a flat text, typed blocks, and extracted attachments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.anthropic_messages import tell_block
from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.trees import tell_tree
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_READ_KEYS: Final = frozenset({"uuid", "name", "chat_messages", "summary", "current_leaf_message_uuid"})
_MESSAGE_KEYS: Final = frozenset(
    {
        "uuid",
        "sender",
        "text",
        "content",
        "attachments",
        "files",
        "files_v2",
        "sync_sources",
        "created_at",
        "updated_at",
        "index",
        "parent_message_uuid",
        "truncated",
        "stop_reason",
    }
)
_BLOCKS: Final = frozenset({"text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document"})
# What the flat text has in place of a block that it cannot show.
_PLACEHOLDER: Final = "This block is not supported on your current device yet."
_ROLES: Final = {"human": "user"}


def detect(sample: Sample) -> bool:
    """A conversation with `chat_messages`."""
    return sample.container != "text" and any(_is_conversation(node) for node in sample.nodes[:3])


def _is_conversation(node: Node) -> bool:
    messages = node.get("chat_messages")
    return messages.is_list and (messages.at(0).has("sender") or (not messages and node.has("uuid")))


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """A conversation and its branches; without parents the messages are in order."""
    for node in nodes:
        found: dict[str, Node] = {}
        parents: dict[str, str] = {}
        previous = ""
        linear = not any(message.has("parent_message_uuid") for message in node.get("chat_messages"))
        for message in node.get("chat_messages"):
            key = message.get("uuid").label
            if not key or key in found:
                key = message.path
            found[key] = message
            parents[key] = previous if linear else message.get("parent_message_uuid").label
            previous = key

        def tell(conversation: ConversationBuilder, key: str, found: dict[str, Node] = found) -> None:
            _tell(conversation, found[key])

        leaf = previous if linear else node.get("current_leaf_message_uuid").label
        identity, title = node.get("uuid").label, node.get("name").text
        conversation = tell_tree(builder, parents, tell, leaf=leaf, id=identity, title=title)
        summary = node.get("summary")
        if summary.text:
            conversation.turn("system", summary).aside(summary, "summary", summary.text)
        builder.rest(node, _READ_KEYS)


def _tell(conversation: ConversationBuilder, message: Node) -> None:
    sender = message.get("sender").text
    time = message.get("created_at").label
    turn = conversation.turn(_ROLES.get(sender, sender), message, time=time)
    told = []
    for block in message.get("content"):
        kind = block.get("type").text
        if kind in _BLOCKS:
            _tell_block(turn, block)
            told.append(block.get("text").text)
        elif block:
            turn.unknown(block, "a block of an unknown type")
    text = message.get("text")
    if _plain(text.text) != _plain("".join(told)):
        turn.text(text)
    for attachment in message.get("attachments"):
        name, media_type = attachment.get("file_name").text, attachment.get("file_type").text
        turn.media(attachment, "document", name=name, media_type=media_type)
        turn.text(attachment.get("extracted_content"))
    for file in [*message.get("files_v2", "files"), *message.get("sync_sources")]:
        turn.media(file, "file", name=file.get("file_name", "name").text, file_id=file.get("file_uuid").label)
    conversation.builder.unread(message, _MESSAGE_KEYS)


def _plain(text: str) -> str:
    """A text without what the flat form adds to the blocks."""
    return "".join(text.replace(_PLACEHOLDER, "").replace("```", "").split())


def _tell_block(turn: Turn, block: Node) -> None:
    tell_block(turn, block)
    if block.get("type").text == "text":
        return
    for summary in block.get("summaries"):
        turn.aside(summary, "summary", summary.get("summary").text)
    if block.get("message").text and block.get("type").text == "tool_use":
        turn.aside(block.get("message"), "status", block.get("message").text)


READER = Reader(
    name="claude_ai_export",
    title="claude.ai export",
    detect=detect,
    read=read,
    keys=frozenset({"chat_messages", "extracted_content"}),
)
