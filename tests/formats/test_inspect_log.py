"""Inspect logs."""

from __future__ import annotations

from tests.formats.traces import calls, kinds, messages_of, results, roles, trace_of


def test_a_sample_and_what_only_its_events_hold() -> None:
    """Final messages, the grader's conversation, and the score's text; model and tool events repeat the messages."""
    trace = trace_of("inspect_log", "log.json")

    assert roles(trace) == ["user", "assistant", "tool", "tool", "assistant"]
    assert [message.content for message in messages_of(trace, 1)] == [
        "Compare 42 with 42 and say who is right.",
        "Both say the same.",
    ]
    assert [message.content for message in messages_of(trace, 2)] == ["The submitted number equals the target number."]
    assert trace.conversations[0].title == "sample 1, epoch 1"
    assert [tool.name for tool in trace.conversations[0].tools] == ["multiply"]


def test_attachments_are_put_back() -> None:
    """A reference that is the whole text, and one inside a text."""
    told = messages_of(trace_of("inspect_log", "log.json"))

    assert told[0].content.startswith("What is 6 x 7? Use the tool, and write down")
    assert told[4].content == "It is 42. See six rows of seven for the steps."


def test_failed_calls_and_results() -> None:
    """A parse error stands beside its call, a tool's error beside its result."""
    trace = trace_of("inspect_log", "log.json")
    assistant, failed = messages_of(trace)[1], messages_of(trace)[3]

    assert calls(trace) == [("c1", "multiply"), ("c2", "note")]
    assert assistant.parts[-1].text == "the arguments are no JSON"
    assert [(part.type, part.text) for part in failed.parts] == [("error", "cannot read the arguments")]
    assert trace.conversations[0].origins[3].is_error
    assert [name for _, name, _ in results(trace)] == ["multiply", "note"]


def test_the_old_schema() -> None:
    """`transcript` instead of `events`, `tc://` instead of `attachment://`."""
    user = messages_of(trace_of("inspect_log", "old_schema.json"))[0]

    assert user.parts[1].data == {"media_type": "image/png", "length": 12}


def test_ranges_of_the_message_pool() -> None:
    """Newer logs name the messages of a call by ranges."""
    trace = trace_of("inspect_log", "pool_sample.json")

    assert [message.content for message in messages_of(trace)] == ["Say one.", "Two.", "No, one.", "One."]
    assert "error" in kinds(trace)


def test_the_members_of_an_eval_file() -> None:
    """Two samples; header and summaries add no messages, and say so."""
    trace = trace_of("inspect_log", "two_samples.eval")

    assert trace.format == "inspect_log"
    assert [conversation.title for conversation in trace.conversations][:1] == ["sample 1, epoch 1"]
    assert roles(trace) == ["user", "assistant", "tool", "tool", "assistant"]
    assert "skipped" in kinds(trace)
