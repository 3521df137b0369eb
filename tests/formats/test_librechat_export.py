"""LibreChat export: flat and recursive trees, tool calls with their output."""

from __future__ import annotations

import json
from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "librechat_export"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_the_newest_message_is_on_the_first_branch() -> None:
    """The branch that was used last comes first; the other model's answer forks off."""
    main, other = _read("flat.json").conversations

    assert [message.role for message in main.messages] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert (other.parent, other.after, len(other.messages)) == (main.id, 2, 1)
    assert (main.messages[2].name, other.messages[0].name) == ("Model A", "Model B")


def test_one_part_holds_a_call_and_its_output() -> None:
    """A tool_call part is a call and its result, and what follows it is a message of its own."""
    messages = _read("flat.json").conversations[0].messages[2:]

    assert [message.role for message in messages] == ["assistant", "tool", "assistant", "user"]
    assert messages[0].reasoning == "It depends on the size."
    assert messages[0].tool_calls[0].arguments == '{"q": "bread"}'
    assert (messages[1].name, messages[1].tool_call_id) == ("recipes", "t1")
    assert messages[2].content == "Fifty minutes."


def test_children_are_walked() -> None:
    """A recursive export keeps answers inside what they answer."""
    main, other = _read("recursive.json").conversations

    assert [message.content for message in main.messages] == [
        "Green or black?",
        "Green at noon.",
        "Thank you for that.",
    ]
    assert (other.after, other.messages[0].content) == (1, "Black in the morning.")


def test_the_preset_of_a_conversation_may_have_a_title_too() -> None:
    """Both titles are shown when they differ."""
    message = {"messageId": "1", "sender": "User", "isCreatedByUser": True, "text": "Hello", "parentMessageId": "0"}
    export = {"conversationId": "c", "title": "Mine", "options": {"title": "Its"}, "messages": [message]}

    assert read(json.dumps(export).encode()).conversations[0].title == "Mine · Its"
