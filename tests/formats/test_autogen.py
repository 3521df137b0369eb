"""AutoGen: core messages, agentchat events, saved states."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "autogen"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_agents_are_names_and_results_are_messages() -> None:
    """The source of a message is its name; every result of an execution event is a message of its own."""
    messages = _read("task_result.json").conversations[0].messages

    roles = ["user", "assistant", "assistant", "tool", "tool", "assistant", "assistant"]
    assert [message.role for message in messages] == roles
    assert [message.name for message in messages] == ["user", "clerk", "clerk", "offer", "offer", "clerk", "boss"]
    assert [message.tool_call_id for message in messages[3:5]] == ["c2", "c1"]


def test_a_summary_that_repeats_results_is_told_once() -> None:
    """ToolCallSummaryMessage repeats the results: it is left out, with a notice."""
    trace = _read("task_result.json")

    texts = [message.content for message in trace.conversations[0].messages]
    assert sum("Offer 1: 300 euros" in text for text in texts) == 1
    assert any(notice.kind == "merged" for notice in trace.notices)


def test_a_summary_of_its_own_words_is_kept() -> None:
    """A summary that says something else than the results is a message."""
    data = b"""[{"type": "TextMessage", "source": "user", "content": "Go."},
        {"type": "ToolCallSummaryMessage", "source": "clerk", "content": "Both are fine."}]"""

    assert [message.content for message in read(data).conversations[0].messages] == ["Go.", "Both are fine."]


def test_thoughts_are_reasoning() -> None:
    """A ThoughtEvent and the `thought` of a core message are reasoning."""
    assert _read("task_result.json").conversations[0].messages[1].reasoning == "Both offers have to be read."
    assert _read("team_state.json").conversations[1].messages[2].reasoning == "One look-up is enough."


def test_streamed_pieces_are_chunks_and_told_once() -> None:
    """Pieces are chunks; the message that repeats them is the message, and without it they are joined."""
    trace = _read("events.jsonl")

    assert [chunk.text for chunk in trace.stream] == ["Both offers", " are fine.", "Then I take"]
    texts = [message.content for message in trace.conversations[0].messages]
    assert texts == ["Compare the two offers.", "", "Both offers are fine.", "Then I take"]


def test_a_state_has_a_conversation_for_each_agent() -> None:
    """In a team's state every agent's context is a conversation with the agent's name."""
    conversations = _read("team_state.json").conversations

    assert sorted(conversation.title for conversation in conversations) == ["clerk", "manager"]
