"""Claude Agent SDK: split messages, subagents, results, recordings."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "claude_agent_sdk"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_lines_of_one_message_are_one_turn_and_the_result_repeats_it() -> None:
    """Lines with one message id are one message; the last result is not told again."""
    trace = _read("stream.jsonl")
    main, agent = trace.conversations

    assert [message.role for message in main.messages] == ["user", "assistant", "tool", "assistant"]
    assert main.messages[1].content == "I list them."
    assert main.messages[1].tool_calls[0].id == "t1"
    assert [tool.name for tool in main.tools] == ["Bash", "Task"]
    assert (agent.parent, agent.after, agent.messages[0].content) == (main.id, 2, "I am the helper.")
    assert any("repeats the last answer" in notice.text for notice in trace.notices)


def test_pieces_of_a_stream_are_chunks() -> None:
    """Stream events are chunks of the message that follows them, not messages."""
    assert [chunk.text for chunk in _read("stream.jsonl").stream] == ["I list"]


def test_a_recording_has_directions() -> None:
    """A recording has directions; what control messages describe is an aside; a result of its own is told."""
    conversation = _read("recording.json").conversations[0]

    assert [message.role for message in conversation.messages] == ["system", "user", "assistant"]
    assert conversation.messages[0].parts[0].text == "Turns debugging on."
    assert conversation.messages[2].parts[0].text == "The turns are used up."
    assert conversation.origins[2].is_error
