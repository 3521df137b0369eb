"""MLflow traces."""

from __future__ import annotations

from tests.formats.traces import calls, messages_of, results, roles, trace_of


def test_nested_wrappers_of_one_call_are_told_once() -> None:
    """A wrapper's span and the span inside it record the same call."""
    trace = trace_of("mlflow_trace", "agent.json")

    assert roles(trace) == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert len(calls(trace)) == 2
    assert [name for _, name, _ in results(trace)] == ["check_boat", "list_crew"]


def test_the_whole_exception_of_a_tool_stands_apart() -> None:
    """The history has the short error; what only the span says is not lost."""
    trace = trace_of("mlflow_trace", "agent.json")

    assert [message.content for message in messages_of(trace, 1)] == ["Traceback: the crew list is locked in line 3"]


def test_version_2_writes_inputs_beside_the_attributes() -> None:
    """`inputs`, `outputs` and `span_type` of the older schema."""
    trace = trace_of("mlflow_trace", "version_2.json")

    assert [message.content for message in messages_of(trace)] == [
        "Which knot holds best?",
        "The boat is free, but the crew list is locked.",
    ]
