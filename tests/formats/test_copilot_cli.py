"""Copilot CLI: requests of tools, executions, subagents."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "copilot_cli"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_messages_make_calls_and_executions_answer_them() -> None:
    """The start of an execution repeats its call; results come in another order, a failed one with its error."""
    conversation = _read("events.jsonl").conversations[0]
    messages = conversation.messages

    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "tool", "system"]
    assert [call.id for call in messages[2].tool_calls] == ["c1", "c2"]
    assert messages[2].tool_calls[1].arguments == '{"n": 1.0}'
    assert [(message.name, message.content) for message in messages[3:5]] == [
        ("task", "The helper gave up."),
        ("shell", "a.txt"),
    ]
    assert [origin.is_error for origin in conversation.origins[3:]] == [True, False, True]


def test_reasoning_is_told_once() -> None:
    """An event of reasoning repeats that of the message."""
    messages = _read("events.jsonl").conversations[0].messages

    assert [message.reasoning for message in messages if message.reasoning] == ["Two calls will do."]


def test_a_call_inside_a_call_is_a_subagent() -> None:
    """Messages with a parent call are a conversation that begins after that call."""
    main, agent = _read("events.jsonl").conversations

    assert (agent.parent, agent.after) == (main.id, 3)
    assert agent.messages[0].content == "The helper works."
