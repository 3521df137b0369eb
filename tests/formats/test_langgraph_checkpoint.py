"""LangGraph's checkpoints, histories, streams and databases."""

from __future__ import annotations

import json

import pytest

from modelcontext_core.formats import read
from tests.formats.traces import FIXTURES, calls, kinds, messages_of, results, roles, trace_of

WHOLE = ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize(
    "name", ["tuple.json", "history.json", "modes.json", "saver.sqlite", "older_json.sqlite", "protocol.jsonl"]
)
def test_states_that_repeat_all_messages_are_told_once(name: str) -> None:
    """A tuple with a waiting write, states newest first, modes, databases, the protocol's events: four messages."""
    trace = trace_of("langgraph_checkpoint", name)

    assert roles(trace) == WHOLE
    assert calls(trace) == [("c1", "find_loan")]
    assert results(trace) == [("c1", "find_loan", "Lent until Friday.")]


def test_other_channels_stand_beside_the_messages() -> None:
    """Documents of the state, once."""
    beside = messages_of(trace_of("langgraph_checkpoint", "tuple.json"), 1)

    assert [(message.role, message.name) for message in beside] == [("state", "documents")]
    assert "The loan desk closes" in beside[0].content


@pytest.mark.parametrize(("name", "question"), [("history.json", "May I renew"), ("modes.json", "Renew the loan")])
def test_an_interrupt_is_reported(name: str, question: str) -> None:
    """The graph waits for a human: what it asks is shown, with a notice."""
    trace = trace_of("langgraph_checkpoint", name)

    assert any(question in message.content for message in messages_of(trace, 1) if message.role == "interrupt")
    assert "fallback" in kinds(trace)


def test_headers_are_left_out_and_prompts_are_kept() -> None:
    """The platform writes the request's headers into its events."""
    for name in ("history.json", "platform.sse", "tuple.json"):
        trace = trace_of("langgraph_checkpoint", name)
        assert "secret words" not in repr(trace)
    prompts = [
        message
        for message in messages_of(trace_of("langgraph_checkpoint", "platform.sse"), 2)
        if message.role == "config"
    ]

    assert [(message.name, message.content) for message in prompts] == [("plan_prompt", "Make a plan with two steps.")]


def test_the_stream_of_the_platform() -> None:
    """Growing messages are one; what only a node said stands apart; arguments are as the model wrote them."""
    trace = trace_of("langgraph_checkpoint", "platform.sse")

    assert roles(trace) == ["user", "assistant"]
    assert messages_of(trace)[1].content == "Yes, until Friday."
    assert [(call.name, call.arguments) for call in messages_of(trace, 1)[0].tool_calls] == [
        ("Plan", '{"steps": [1.0]}')
    ]
    assert [(piece.channel, piece.text) for piece in trace.stream] == [
        ("arguments", '{"steps": '),
        ("arguments", "[1.0]}"),
        ("text", "Yes, "),
        ("text", "until Friday."),
    ]
    assert "error" in kinds(trace)


def test_streamed_chunks_are_joined() -> None:
    """`[chunk, metadata]` events without any state are the conversation."""
    trace = trace_of("langgraph_checkpoint", "messages_tuple.sse")

    assert roles(trace) == ["assistant", "tool", "assistant"]
    assert messages_of(trace)[0].tool_calls[0].arguments == '{"book_id": "b"}'
    assert messages_of(trace)[2].content == "Yes, until Friday."


def test_a_database_tells_threads_apart_and_writes_too() -> None:
    """Each thread is a conversation; numbers and unknown classes in the blobs do no harm."""
    trace = trace_of("langgraph_checkpoint", "saver.sqlite")

    assert [message.content for message in messages_of(trace, 1)] == ["Another thread."]
    assert [message.content for message in messages_of(trace, 2)] == ["The reader asked for a longer loan."]
    assert trace.conversations[0].origins[0].record == "thread th-1, checkpoint 2"


def test_a_broken_blob_is_reported_and_the_rest_is_read() -> None:
    """One checkpoint that is cut does not hide the others."""
    trace = trace_of("langgraph_checkpoint", "damaged_blob.sqlite")

    assert roles(trace) == WHOLE
    assert "damaged" in kinds(trace)


def test_a_view_in_place_of_a_table_is_not_run() -> None:
    """A database whose `checkpoints` is no table is not asked for it."""
    data = (FIXTURES / "langgraph_checkpoint" / "saver.sqlite").read_bytes()
    trace = read(data.replace(b"CREATE TABLE checkpoints", b"CREATE VIEWS checkpoints"))

    assert "damaged" in kinds(trace) or "skipped" in kinds(trace)


def test_what_waits_or_fails_is_told_however_short_it_is() -> None:
    """The question of an interrupt and both texts of an error are shown, once though states repeat them."""
    pause = {"__interrupt__": [{"value": {"question": "ok?"}, "id": "i1"}]}
    states = json.dumps([["updates", {"plan": {"messages": []}}], ["updates", pause], ["updates", pause]])
    events = (
        'event: values\ndata: {"messages": [{"type": "human", "content": "Go", "id": "1"}]}\n\n'
        'event: error\ndata: {"error": "LimitError", "message": "too deep"}\n\n'
    )
    asked = read(states.encode()).conversations[-1].messages
    failed = read(events.encode()).conversations[-1].messages

    assert [message.content for message in asked] == ['{"question": "ok?"}']
    assert [part.text for part in failed[0].parts] == ["LimitError", "too deep"]
