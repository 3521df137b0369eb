"""claude.ai export: blocks before the flat text, attachments, branches."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "claude_ai_export"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_blocks_are_told_and_the_flat_text_is_not_repeated() -> None:
    """The flat text only repeats the blocks (with a note where it cannot show one)."""
    messages = _read("linear.json").conversations[0].messages

    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert [message.content for message in messages[1:4]] == ["I look.", "line 1", "Three months."]
    assert messages[1].reasoning == "The contract is attached."


def test_a_message_without_blocks_has_its_flat_text() -> None:
    """Old exports have no blocks."""
    assert _read("linear.json").conversations[0].messages[-1].content == "Thanks, that is all."


def test_the_text_of_an_attachment_is_text() -> None:
    """What was taken out of an attachment is what the model read."""
    parts = _read("linear.json").conversations[0].messages[0].parts

    assert [part.type for part in parts] == ["text", "document", "text"]
    assert parts[2].text == "The notice period is three months."


def test_parents_make_branches_and_unknown_blocks_stay() -> None:
    """The leaf that was on the screen ends the first branch; a block of an unknown type is kept as JSON text."""
    trace = _read("branches.json")
    main, other = trace.conversations

    assert main.messages[1].parts[0].text == "Heron"
    assert "a block of tomorrow" in main.messages[1].parts[1].text
    assert (other.parent, other.after, other.messages[0].content) == (main.id, 1, "Swan")
    assert any(notice.kind == "unknown" for notice in trace.notices)
