"""Exports of Chatbot UI (versions 1 to 4): a history of chats with a system prompt each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_messages
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_CHAT_KEYS: Final = frozenset({"messages", "prompt", "id", "name"})


def detect(sample: Sample) -> bool:
    """A history of chats, whose messages stand beside a model and a prompt."""
    return sample.container != "text" and any(_is_export(node) for node in sample.nodes[:2])


def _is_export(node: Node) -> bool:
    if node.is_list:
        return _is_chat(node.at(0))
    history = node.get("history")
    return history.is_list and (_is_chat(history.at(0)) or (not history and node.has("folders", "prompts")))


def _is_chat(node: Node) -> bool:
    return node.get("messages").is_list and node.has("name", "prompt") and node.has("model")


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a chat; the prompt is its system message."""
    for node in nodes:
        for chat in node if node.is_list else node.get("history"):
            conversation = builder.conversation(id=chat.get("id").label, title=chat.get("name").text)
            if chat.get("prompt").text:
                conversation.turn("system", chat.get("prompt")).text(chat.get("prompt"))
            tell_messages(conversation, chat.get("messages"))
            builder.meta("model", chat.at("model", "id"))
            builder.rest(chat, _CHAT_KEYS, prefix=f"chat.{chat.key}." if isinstance(chat.key, int) else "chat.")
        builder.rest(node, {"history"})


READER = Reader(
    name="chatbotui_export",
    title="Chatbot UI export",
    detect=detect,
    read=read,
    keys=frozenset({"folders", "prompts"}),
)
