"""Gemini CLI: calls with their results, messages that grow."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "gemini_cli"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_a_call_holds_its_result() -> None:
    """Both calls of a message come first, then their results; a failed one is an error."""
    conversation = _read("session.json").conversations[0]
    messages = conversation.messages

    assert [message.role for message in messages] == ["user", "assistant", "tool", "tool", "system"]
    assert messages[1].reasoning == "Listing\n\nA command lists files."
    assert [message.tool_call_id for message in messages[2:4]] == ["c1", "c2"]
    assert [origin.is_error for origin in conversation.origins] == [False, False, False, True, True]


def test_lines_of_a_message_that_grows_are_one() -> None:
    """The same id on the next line is the same message, grown: the last form counts, and a notice says so."""
    whole, lines = _read("session.json"), _read("session.jsonl")

    assert [message.content for message in lines.conversations[0].messages][:2] == [
        "Which files are here?",
        "I list them.",
    ]
    assert len(lines.conversations[0].messages) == len(whole.conversations[0].messages)
    assert sum(notice.kind == "merged" and "replaces" in notice.text for notice in lines.notices) == 1
