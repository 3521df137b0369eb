"""Opik batches."""

from __future__ import annotations

import json

import pytest

from modelcontext_core import formats
from tests.formats.traces import calls, results, roles, trace_of


@pytest.mark.parametrize("name", ["batch.json", "spans.jsonl"])
def test_records_with_one_id_are_merged_and_results_follow_their_calls(name: str) -> None:
    """The end of a span completes its start; results come from tool spans when no history has them."""
    trace = trace_of("opik", name)

    assert roles(trace) == ["system", "user", "assistant", "tool", "tool"]
    assert calls(trace) == [("call_1", "check_boat"), ("call_2", "list_crew")]
    assert [(call_id, tool) for call_id, tool, _ in results(trace)] == [
        ("call_1", "check_boat"),
        ("call_2", "list_crew"),
    ]


def test_an_error_is_a_failed_result() -> None:
    """`error_info` is told with its traceback, and the result is marked."""
    trace = trace_of("opik", "batch.json")

    assert "locked in line 9" in results(trace)[1][2]
    assert [origin.is_error for origin in trace.conversations[0].origins] == [False, False, False, False, True]


def test_what_is_no_span_in_a_batch_is_named() -> None:
    """A number among the spans is skipped with a notice; the spans beside it are read."""
    span = {"id": "s", "trace_id": "t", "project_name": "p", "name": "call", "type": "llm", "start_time": "2026-01-02"}
    messages = {"messages": [{"role": "user", "content": "Hi"}]}

    trace = formats.read(json.dumps({"spans": [span | {"input": messages}, 7]}).encode())

    assert roles(trace) == ["user"]
    assert [("unknown", "$.spans[1]", "a record that is neither trace nor span is skipped")] == [
        (notice.kind, notice.where, notice.text) for notice in trace.notices
    ]
