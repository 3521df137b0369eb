"""Langfuse exports."""

from __future__ import annotations

import json

import pytest

from modelcontext_core.formats import read
from tests.formats.traces import calls, kinds, messages_of, results, roles, trace_of


def test_a_trace_is_ordered_by_time_and_told_once() -> None:
    """Generations in any order of the file, the tool's span and the trace's own input and output: six messages."""
    trace = trace_of("langfuse_export", "agent.trace.json")

    assert roles(trace) == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert calls(trace) == [("call_1", "check_boat"), ("call_2", "list_crew")]
    assert trace.meta["trace.sessionId"] == "s-1"


def test_content_that_is_only_in_metadata() -> None:
    """A generation without input and output has its messages in attributes; notes and scores stand apart."""
    trace = trace_of("langfuse_export", "agent.trace.json")

    assert [message.content for message in messages_of(trace, 1)] == ["Name the boat in one word.", "Heron"]
    assert {message.content for message in messages_of(trace, 2)} == {
        "The skipper asked for this trip twice.",
        "The answer is friendly and short enough.",
    }


def test_what_tracers_do_to_messages() -> None:
    """Definitions among the messages, a tool's name as the role of its result, an input that was lost."""
    trace = trace_of("langfuse_export", "observations.json")

    assert roles(trace) == ["user", "assistant", "tool", "assistant", "assistant"]
    assert results(trace) == [("w1", "wind", "31 knots")]
    assert [tool.name for tool in trace.conversations[0].tools] == ["wind"]
    assert {"damaged", "fallback"} <= kinds(trace)


def test_the_normaliser_output_is_read_too() -> None:
    """By observation: messages, or the reason why there are none."""
    trace = trace_of("langfuse_export", "normalised.json")

    assert roles(trace) == ["user", "assistant", "assistant"]
    assert "expected a list, received an object" in messages_of(trace, 1)[0].content


@pytest.mark.parametrize("time", ["9" * 400, "1" * 40 + ".5", "\u00b2", "-1", "1e999", 10**400])
def test_a_time_that_is_none_is_no_reason_to_wait(time: object) -> None:
    """A number beyond all times, or what only looks like digits, stands for no time at all."""
    observations = [
        {
            "id": str(number),
            "type": "GENERATION",
            "startTime": time,
            "input": [{"role": "user", "content": f"q{number}"}],
        }
        for number in range(2)
    ]

    trace = read(json.dumps({"id": "t", "observations": observations}).encode(), format="langfuse_export")

    assert ["q0", "q1"] == [message.content for each in trace.conversations for message in each.messages]


def test_null_as_a_text_is_nothing() -> None:
    """A field whose JSON text is `null` was not recorded: it makes no message."""
    call = {"id": "1", "type": "GENERATION", "startTime": "2030-01-01T00:00:00Z", "input": "Hello", "output": "Hi"}
    trace = read(json.dumps({"trace": {"id": "t", "input": "null", "output": "null"}, "observations": [call]}).encode())

    assert [message.content for c in trace.conversations for message in c.messages] == ["Hello", "Hi"]
