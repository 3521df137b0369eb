"""Messages and spans of the Vercel AI SDK."""

from __future__ import annotations

from tests.formats.traces import calls, kinds, messages_of, results, roles, trace_of


def test_a_part_is_a_call_and_its_result() -> None:
    """The calls of one step are one message, their results follow, then the next step."""
    trace = trace_of("vercel_ui_messages", "ui_messages.json")

    assert roles(trace) == ["user", "assistant", "tool", "tool", "assistant"]
    assert calls(trace) == [("t1", "find_plant"), ("t2", "soil_probe"), ("t3", "water")]
    assert results(trace)[1] == ("t2", "soil_probe", "the probe does not answer")
    assert [origin.is_error for origin in trace.conversations[0].origins] == [False, False, False, True, False]
    assert messages_of(trace)[1].tool_calls[0].arguments.endswith('"radius": 1.0\n    }')
    assert "orphan" in kinds(trace)  # the call that waits for an approval


def test_what_stands_beside_the_text() -> None:
    """Files are measured, reasoning keeps its signature, sources and data are parts of their own kind."""
    user, first, *_, last = messages_of(trace_of("vercel_ui_messages", "ui_messages.json"))

    assert user.parts[1].data == {"media_type": "image/png", "length": 12}
    assert (first.reasoning, first.reasoning_signature) == ("Look the plant up.", "c2ln")
    assert [part.type for part in last.parts] == ["citation", "data-note", "text"]


def test_tool_invocations_of_version_4() -> None:
    """Content beside `toolInvocations`; the chat's title is kept."""
    trace = trace_of("vercel_ui_messages", "chat_version_4.json")

    assert (trace.conversations[0].title, calls(trace)) == ("Ferns", [("t1", "soil_probe")])
    assert results(trace) == [("t1", "soil_probe", "dry")]


def test_model_messages() -> None:
    """Several results in one tool message are several messages; `{type, value}` is taken off."""
    trace = trace_of("vercel_ui_messages", "model_messages.json")

    assert roles(trace) == ["system", "user", "assistant", "tool", "tool"]
    assert results(trace) == [("t1", "soil_probe", "very dry"), ("t2", "find_plant", "no such plant")]
    assert trace.conversations[0].origins[4].is_error


def test_spans_of_the_sdk_are_told_once() -> None:
    """The outer span, the calls inside it and the tool's span are one conversation."""
    trace = trace_of("vercel_ui_messages", "spans.otlp.json")

    assert roles(trace) == ["system", "user", "assistant", "tool", "assistant"]
    assert len(trace.conversations) == 1
    assert [tool.name for tool in trace.conversations[0].tools] == ["soil_probe"]
