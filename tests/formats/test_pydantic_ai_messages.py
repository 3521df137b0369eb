"""Pydantic AI: parts of requests and responses."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "pydantic_ai_messages"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_the_system_prompt_stands_in_the_first_request() -> None:
    """Each part of a request is a message; a response is one message with reasoning, text and calls."""
    messages = _read("history.json").conversations[0].messages

    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert messages[2].content == "I look both up."
    assert messages[2].reasoning == "Two parcels have to be looked up."
    assert messages[2].reasoning_signature == "c2lnbmF0dXJl"


def test_arguments_are_an_object_or_a_text() -> None:
    """Arguments given as an object keep their source text, those given as a string are that string."""
    calls = _read("lines.jsonl").conversations[0].messages[2].tool_calls

    assert [call.arguments for call in calls] == ['{"no": 1.0}', '{"no": 2}']


def test_results_answer_by_id_and_a_retry_is_an_error() -> None:
    """Results stand in another order than their calls; a retry-prompt for a tool is its failed result."""
    conversation = _read("history.json").conversations[0]

    assert [message.tool_call_id for message in conversation.messages[3:5]] == ["call_b", "call_a"]
    assert [origin.is_error for origin in conversation.origins[3:5]] == [False, True]


def test_lines_make_one_conversation() -> None:
    """Messages that are a line each are one conversation, with the line of each."""
    trace = _read("lines.jsonl")

    assert len(trace.conversations) == 1
    assert [origin.record for origin in trace.conversations[0].origins] == [
        "line 1",
        "line 1",
        "line 2",
        "line 3",
        "line 3",
        "line 4",
    ]


def test_instructions_are_told_once_and_built_in_tools_answer_inside_the_response() -> None:
    """`instructions` becomes a system message; the result of a built-in tool splits its response."""
    messages = _read("builtin_tools.json").conversations[0].messages

    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert messages[0].content == "Search before you answer."
    assert messages[3].tool_call_id == "srv_1"


def test_a_retry_without_a_tool_is_what_the_user_says() -> None:
    """A retry-prompt without a tool's name asks the model again."""
    data = b'[{"kind": "request", "parts": [{"part_kind": "retry-prompt", "tool_name": null, "content": "Say more."}]}]'
    (message,) = read(data).conversations[0].messages

    assert (message.role, message.content) == ("user", "Say more.")
