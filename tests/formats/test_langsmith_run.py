"""LangSmith runs."""

from __future__ import annotations

import pytest

from tests.formats.traces import calls, kinds, messages_of, results, roles, trace_of


def test_start_and_end_of_a_run_are_one() -> None:
    """`post` has the input, `patch` the output: one call."""
    trace = trace_of("langsmith_run", "batch.json")

    assert roles(trace) == ["system", "user", "assistant"]
    assert calls(trace) == [("call_1", "check_boat"), ("call_2", "list_crew")]
    assert "merged" in kinds(trace)


@pytest.mark.parametrize("name", ["tree.json", "runs.jsonl"])
def test_trees_and_lines_of_runs(name: str) -> None:
    """LangChain messages in `generations`; the tool's run repeats a result; a failed run is an error."""
    trace = trace_of("langsmith_run", name)

    assert roles(trace) == ["user", "assistant", "tool", "assistant"]
    assert results(trace)[0][:2] == ("call_1", "check_boat")
    assert messages_of(trace)[3].parts[0].text == "the model is overloaded"
    assert trace.conversations[0].origins[3].is_error
