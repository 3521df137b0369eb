"""Managed agents: events, calls of the client that hold them."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "managed_agent_events"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_what_was_sent_is_told_once() -> None:
    """A message that the client sent comes back with an id."""
    trace = _read("calls.jsonl")
    messages = trace.conversations[0].messages

    assert [message.role for message in messages][:3] == ["system", "user", "assistant"]
    assert sum(message.content == "How many stars?" for message in messages) == 1
    assert any(notice.kind == "merged" for notice in trace.notices)


def test_results_of_both_kinds_are_linked() -> None:
    """Results of tools and of MCP tools name the event that called."""
    conversation = _read("events.jsonl").conversations[0]
    pairs = zip(conversation.messages, conversation.origins, strict=True)
    results = [
        (message.name, message.tool_call_id, origin.is_error) for message, origin in pairs if message.role == "tool"
    ]

    assert results == [("bash", "v5", True), ("search", "v4", False)]


def test_an_error_of_the_session_is_shown() -> None:
    """An error is an aside, marked as one."""
    conversation = _read("events.jsonl").conversations[0]

    assert conversation.messages[-1].parts[0].text == "The model is busy."
    assert conversation.origins[-1].is_error
