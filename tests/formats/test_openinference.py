"""OpenInference spans."""

from __future__ import annotations

from tests.formats.traces import calls, kinds, messages_of, results, roles, trace_of

TOLD = ["system", "user", "assistant", "tool", "tool", "assistant"]


def test_histories_that_every_span_repeats_are_told_once() -> None:
    """Two model spans, a tool's span and the agent's span are one conversation, in any order of the file."""
    trace = trace_of("openinference", "agent.otlp.json")

    assert roles(trace) == TOLD
    assert len(trace.conversations) == 1
    assert calls(trace) == [("call_1", "check_boat"), ("call_2", "list_crew")]
    assert [(call_id, name) for call_id, name, _ in results(trace)] == [
        ("call_1", "check_boat"),
        ("call_2", "list_crew"),
    ]
    assert [tool.name for tool in trace.conversations[0].tools] == ["check_boat"]
    assert "merged" in kinds(trace)


def test_calls_under_contents_and_under_tool_calls_are_the_same() -> None:
    """Claude's calls stand twice in a span; reasoning keeps its signature."""
    trace = trace_of("openinference", "phoenix_flat.json")
    answer = messages_of(trace)[1]

    assert calls(trace) == [("tu_1", "wind")]
    assert (answer.content, answer.reasoning) == ("I check the wind.", "Look at the wind first.")
    assert answer.reasoning_signature == "c2ln"


def test_indices_are_numbers() -> None:
    """Message 10 comes after message 9, not after message 1."""
    told = messages_of(trace_of("openinference", "twelve_messages.json"))

    assert [message.content for message in told] == [f"line {number} of the log" for number in range(12)]


def test_places_lead_to_the_attribute() -> None:
    """The path of a text names the attribute's own place in the source."""
    trace = trace_of("openinference", "agent.otlp.json")
    origin = trace.conversations[0].origins[1]

    assert origin.source_of("content").endswith(".attributes[5].value.stringValue")
