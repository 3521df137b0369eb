"""Tests of OpenTelemetry spans, with the exporter that keeps them in memory."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Tracer

from modelcontext_core.messages import ChatResponse, Message, ToolCall
from modelcontext_core.observe_otel import generation_span, tool_call_span
from modelcontext_core.policies import ToolPolicies

SECRETIVE = ToolPolicies.loads('name = "secretive"\n[tools.pay]\nsensitive = true\n')


class Recorder:
    """A tracer, and the spans that it exported."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer: Tracer = provider.get_tracer("test")

    def only(self) -> Any:
        """The one span that was exported."""
        (span,) = self.exporter.get_finished_spans()
        return span


@pytest.fixture
def recorder() -> Recorder:
    """A fresh recorder."""
    return Recorder()


def test_a_generation_span_holds_what_was_sent_and_came_back(recorder: Recorder) -> None:
    """Input and output are the observed ones."""
    with generation_span([Message(role="user", content="see doc://1")], tracer=recorder.tracer) as observe:
        observe(ChatResponse(content="yes"))

    span = recorder.only()
    assert span.name == "chat"
    assert span.attributes["langfuse.observation.input"] == '[{"role": "user", "content": "see doc://1"}]'
    assert span.attributes["langfuse.observation.output"] == '{"role": "assistant", "content": "yes"}'


def test_a_generation_that_fails_still_says_what_was_sent(recorder: Recorder) -> None:
    """The input is set before the call."""
    with pytest.raises(TimeoutError), generation_span([Message(role="user", content="x")], tracer=recorder.tracer):
        raise TimeoutError("slow")

    span = recorder.only()
    assert "x" in span.attributes["langfuse.observation.input"]
    assert span.status.is_ok is False


def test_a_tool_span_wraps_the_execution(recorder: Recorder) -> None:
    """Both sides of the arguments, and whatever else the caller sets."""
    call = ToolCall(
        id="1", name="t", arguments='{"a": "d-1"}', model_arguments='{"a": "doc://1"}', argument_resolution="resolved"
    )
    with tool_call_span(call, tracer=recorder.tracer) as span:
        span.set_attribute("rows", 3)

    attributes = recorder.only().attributes
    assert recorder.only().name == "execute_tool t"
    assert attributes["gen_ai.tool.call.arguments"] == '{"a": "d-1"}'
    assert attributes["langfuse.observation.metadata.model_arguments"] == '{"a": "doc://1"}'
    assert attributes["rows"] == 3


def test_an_exception_of_a_sensitive_tool_keeps_its_message_to_itself(recorder: Recorder) -> None:
    """Only the type of the error is recorded."""
    call = ToolCall(name="pay", arguments='{"account": "secret"}')
    with pytest.raises(ValueError, match="secret"), tool_call_span(call, policies=SECRETIVE, tracer=recorder.tracer):
        raise ValueError("no such account: secret")

    span = recorder.only()
    assert "secret" not in span.to_json()
    assert span.status.description == "ValueError"


def test_an_exception_of_any_other_tool_is_recorded(recorder: Recorder) -> None:
    """The span carries the error that went through."""
    with pytest.raises(ValueError, match="bad"), tool_call_span(ToolCall(name="t"), tracer=recorder.tracer):
        raise ValueError("bad")

    assert recorder.only().events[0].attributes["exception.message"] == "bad"


def test_without_a_tracer_the_global_one_is_used(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """An application that set nothing up breaks nothing; what it sets up later is used."""
    with generation_span([]) as observe, tool_call_span(ToolCall(name="t")):
        observe(ChatResponse())
    assert recorder.exporter.get_finished_spans() == ()

    monkeypatch.setattr("opentelemetry.trace.get_tracer", lambda name: recorder.tracer)
    with generation_span([]), tool_call_span(ToolCall(name="t")):
        pass

    assert ["execute_tool t", "chat"] == [span.name for span in recorder.exporter.get_finished_spans()]
