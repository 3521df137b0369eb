"""LiteLLM's log."""

from __future__ import annotations

from tests.formats.traces import kinds, messages_of, roles, trace_of


def test_records_of_different_traces_go_on_with_each_other() -> None:
    """Three records that repeat one history are one conversation, though each has a trace of its own."""
    trace = trace_of("litellm_log", "calls.jsonl")

    assert roles(trace) == ["system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant"]
    assert [tool.name for tool in trace.conversations[0].tools] == ["check_boat"]


def test_a_failed_call_is_an_error() -> None:
    """What went wrong stands in parts of kind `error`, with the traceback."""
    trace = trace_of("litellm_log", "calls.jsonl")
    failed = messages_of(trace)[7]

    assert [(part.type, part.text) for part in failed.parts] == [
        ("error", "the server is down"),
        ("error", "File x, line 3, in book"),
    ]
    assert trace.conversations[0].origins[7].is_error
    assert "error" in kinds(trace)


def test_thinking_stands_once_with_its_signature() -> None:
    """`reasoning_content` repeats `thinking_blocks`."""
    answer = messages_of(trace_of("litellm_log", "calls.jsonl"), 1)[1]

    assert (answer.content, answer.reasoning, answer.reasoning_signature) == ("Reef now.", "Thirty knots.", "c2ln")


def test_a_redacted_record_is_text() -> None:
    """A string in place of the messages is shown as it is."""
    told = messages_of(trace_of("litellm_log", "calls.jsonl"), 2)

    assert {message.content for message in told} == {"redacted by the proxy"}
