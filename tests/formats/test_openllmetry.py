"""OpenLLMetry's indexed keys."""

from __future__ import annotations

from tests.formats.traces import calls, messages_of, results, roles, trace_of


def test_prompts_and_completions_are_one_conversation() -> None:
    """Indexed prompts of two spans and the workflow around them are told once."""
    trace = trace_of("openllmetry", "workflow.otlp.json")

    assert roles(trace) == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert len(trace.conversations) == 1
    assert [tool.name for tool in trace.conversations[0].tools] == ["check_boat"]


def test_blocks_in_json_text_and_a_thinking_completion() -> None:
    """Claude's history is JSON text of blocks; a completion of role `thinking` is the reasoning of the next one."""
    trace = trace_of("openllmetry", "console.txt")

    assert roles(trace) == ["user", "assistant", "tool", "assistant"]
    assert calls(trace) == [("tu_2", "wind")]
    assert results(trace) == [("tu_2", "wind", "31 knots")]
    assert messages_of(trace)[3].reasoning == "That is a lot of wind."
