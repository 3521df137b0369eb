"""OpenTelemetry's GenAI spans and events."""

from __future__ import annotations

import json

from modelcontext_core.formats import read
from tests.formats.traces import calls, kinds, messages_of, results, roles, trace_of


def test_messages_in_attributes() -> None:
    """System instructions, parts, definitions; a tool's span adds nothing to a result that the history has."""
    trace = trace_of("otel_genai", "agent.otlp.json")

    assert roles(trace)[:6] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert calls(trace)[:2] == [("call_1", "check_boat"), ("call_2", "list_crew")]
    assert messages_of(trace)[2].reasoning == "Ask the two tools."
    assert [tool.name for tool in trace.conversations[0].tools] == ["check_boat"]


def test_a_tool_span_without_a_call_is_a_call_and_a_failed_result() -> None:
    """The exception on the span is the result, marked as an error."""
    trace = trace_of("otel_genai", "agent.otlp.json")

    assert results(trace)[-1][1:] == ("log_trip", "the log is full")
    assert trace.conversations[0].origins[-1].is_error
    assert "fallback" in kinds(trace)


def test_message_events_in_log_records() -> None:
    """The older convention: one log record a message, repeated for every call."""
    trace = trace_of("otel_genai", "events.otlp_logs.json")

    assert roles(trace) == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert calls(trace) == [("call_1", "check_boat"), ("call_2", "list_crew")]


def test_spans_without_content_say_so() -> None:
    """Nothing is invented: a notice, and the facts in meta."""
    trace = trace_of("otel_genai", "no_content.json")

    assert not trace.conversations
    assert kinds(trace) == {"skipped"}
    assert trace.meta["gen_ai.request.model"] == "m-1"


def test_parts_of_gemini_in_the_attributes() -> None:
    """Parts without a type: `thought` is reasoning; instructions that are a JSON string are its text."""
    system, user, answer = messages_of(trace_of("otel_genai", "flat_gemini_parts.json"))

    assert (system.content, user.content) == ("Route the request.", "Sort my photos of boats.")
    assert (answer.content, answer.reasoning) == ("They are sorted.", "I think about folders.")


def test_log_records_are_told_in_the_order_of_their_times() -> None:
    """An exporter may write the answer of a call before its question."""
    records = [
        {"timeUnixNano": "20", "spanId": "s", "eventName": "gen_ai.choice", "body": {"stringValue": "Yes."}},
        {"timeUnixNano": "9", "spanId": "s", "eventName": "gen_ai.user.message", "body": {"stringValue": "Open?"}},
    ]
    trace = read(json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).encode())

    assert [message.content for message in trace.conversations[0].messages] == ["Open?", "Yes."]


def test_a_part_with_an_address_has_no_length() -> None:
    """`uri` parts name a file elsewhere: there is no body to measure."""
    parts = [{"type": "uri", "uri": "https://x.example/i.png", "modality": "image"}]
    messages = json.dumps([{"role": "user", "parts": parts}])
    trace = read(json.dumps({"name": "chat", "attributes": {"gen_ai.input.messages": messages}}).encode())

    (part,) = trace.conversations[0].messages[0].parts
    assert (part.type, part.data) == ("image", {"url": "https://x.example/i.png"})
