"""LangChain messages in their forms, streams, events and pasted text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from modelcontext_core.formats import Trace, read
from modelcontext_core.formats.langchain_text import ReprError, message_values
from modelcontext_core.messages import Message

FIXTURES = Path(__file__).parent / "fixtures" / "langchain_messages"


def messages_of(trace: Trace) -> list[Message]:
    """The messages of the only conversation."""
    (conversation,) = trace.conversations
    return list(conversation.messages)


def test_calls_that_stand_three_times_are_told_once() -> None:
    """`tool_calls`, call blocks in the content and the raw calls in `additional_kwargs` are the same calls."""
    system, user, assistant, first, second = messages_of(read(FIXTURES / "constructors.json"))

    assert [call.id for call in assistant.tool_calls] == ["c1", "c2"]
    assert assistant.content == "I look up both."
    assert assistant.tool_calls[1].arguments.replace("\n", "").replace(" ", "").endswith('"limit":2}')
    assert (system.role, user.parts[1].type) == ("system", "image")
    assert (first.name, second.name) == ("find_bike", "list_parts")
    assert "Brake ordered" in first.parts[1].text
    assert read(FIXTURES / "constructors.json").conversations[0].origins[4].is_error


def test_invalid_calls_keep_their_arguments_and_the_error() -> None:
    """A call whose arguments are no JSON is a call, beside why it failed."""
    _, assistant, other = messages_of(read(FIXTURES / "typed_data.json"))

    assert assistant.tool_calls[0].arguments == '{"wheel": '
    assert [(part.type, part.text) for part in assistant.parts] == [("error", "the arguments are no JSON")]
    assert assistant.reasoning == "Look for the wheel first."
    assert other.role == "mechanic"


def test_lines_of_messages_are_one_conversation() -> None:
    """Flat dumps, one a line; arguments keep their exact text."""
    user, assistant, result = messages_of(read(FIXTURES / "flat.jsonl"))

    assert (user.role, assistant.reasoning) == ("user", "The price list has it.")
    assert assistant.tool_calls[0].arguments == '{"part": "chain", "cents": 1.0}'
    assert (result.name, result.tool_call_id) == ("price", "c9")


def test_chunks_are_joined_by_their_id() -> None:
    """Pieces of text and arguments become one message each; a whole message between them stays where it stands."""
    trace = read(FIXTURES / "streamed_pairs.json")
    first, result, last = messages_of(trace)

    assert (first.content, first.tool_calls[0].arguments) == ("I look.", '{"bike_id": "b-7"}')
    assert (result.name, last.content) == ("find_bike", "It is ready.")
    assert [chunk.text for chunk in trace.stream] == ["I ", "look.", '{"bike_id":', ' "b-7"}', "It is ready."]


def test_events_repeat_the_history_and_are_told_once() -> None:
    """Model starts, model ends, tool ends and the chain's end tell the same four messages."""
    trace = read(FIXTURES / "events.jsonl")

    assert [message.role for message in messages_of(trace)] == ["user", "assistant", "tool", "assistant"]
    assert [(chunk.channel, chunk.name) for chunk in trace.stream] == [("arguments", "find_bike")]
    assert any(notice.kind == "merged" for notice in trace.notices)


def test_an_event_of_a_failed_tool_is_an_error_result() -> None:
    """`on_tool_error` gives a result that is marked as an error, and a notice."""
    lines = [
        {
            "event": "on_chat_model_start",
            "run_id": "1",
            "data": {"input": {"messages": [[{"type": "human", "content": "Go"}]]}},
        },
        {"event": "on_tool_error", "run_id": "1", "name": "lift", "data": {"error": "the lift is stuck"}},
    ]
    trace = read("\n".join(json.dumps(line) for line in lines).encode())

    result = messages_of(trace)[-1]
    assert (result.role, result.name, result.content) == ("tool", "lift", "the lift is stuck")
    assert trace.conversations[0].origins[-1].is_error
    assert "error" in [notice.kind for notice in trace.notices]


def test_pretty_printed_calls_become_json() -> None:
    """Printed arguments are put together as JSON, with a notice for the guess."""
    trace = read(FIXTURES / "pretty_print.txt")
    _, assistant, result, _ = messages_of(trace)

    assert assistant.content == "I look it up."
    assert json.loads(assistant.tool_calls[0].arguments) == {"bike_id": "b-7", "limit": 2, "exact": True}
    assert (result.name, result.tool_call_id) == ("find_bike", "c1")
    assert "fallback" in [notice.kind for notice in trace.notices]


def test_the_repr_of_messages_is_read_without_running_it() -> None:
    """Python's text of a message list: quotes, escapes, nested values."""
    user, assistant, result = messages_of(read(FIXTURES / "repr.txt"))

    assert user.content == "Is bike 'b-7' ready?"
    assert json.loads(assistant.tool_calls[0].arguments) == {"bike_id": "b-7", "limit": 2}
    assert (result.content, result.name) == ("Ready since noon ✓.", "find_bike")


@pytest.mark.parametrize("inner", ["[" * 500, "'unclosed", "f(1)", "{1 2}", "b'\\xff'", "<object at 0x1>"])
def test_a_strange_repr_never_raises(inner: str) -> None:
    """Nesting, open strings and things that are no literals end in text, or in what could be read."""
    text = f"[HumanMessage(content='hello'), AIMessage(content={inner})]"

    trace = read(text.encode())

    assert trace.format == "langchain_messages"
    assert "hello" in messages_of(trace)[0].content


def test_a_huge_repr_is_refused() -> None:
    """Text above the limit is not parsed."""
    with pytest.raises(ReprError):
        message_values("HumanMessage(content='" + "x" * 9_000_000)
