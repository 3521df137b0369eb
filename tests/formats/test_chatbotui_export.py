"""Chatbot UI: chats with a prompt."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "chatbotui_export"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_every_chat_is_a_conversation_with_its_prompt() -> None:
    """The prompt of a chat is its system message."""
    trees, empty = _read("export.json").conversations

    assert [message.content for message in trees.messages] == ["You are brief.", "Name a tree.", "An oak."]
    assert (trees.id, trees.title) == ("h1", "Trees")
    assert [message.role for message in empty.messages] == ["system"]


def test_the_first_version_is_a_list_of_chats() -> None:
    """Version 1 has no envelope; an empty prompt is no message."""
    (birds,) = _read("version_1.json").conversations

    assert [message.role for message in birds.messages] == ["user", "assistant"]


def test_templates_are_named() -> None:
    """Prompt templates are no conversation: a notice names them."""
    assert any("prompts" in notice.text for notice in _read("export.json").notices)
