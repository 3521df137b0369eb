"""OpenTelemetry spans around the calls of the model and of tools. Needs the extra `otel`.

The spans carry what `modelcontext_core.observe` reports, and nothing else: they are no second place where handles are
read. Langfuse reads the same attributes.

    with generation_span(encoded) as observe:
        response = client.chat(encoded)
        observe(response)

    for call in registry.decode_tool_calls(response.tool_calls):
        with tool_call_span(call):
            run(call)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from modelcontext_core.messages import ChatResponse, Message, ToolCall
from modelcontext_core.observe import (
    generation_attributes,
    observe_generation,
    observe_tool_call,
    tool_call_attributes,
)
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies

__all__ = ["generation_span", "tool_call_span"]

_TRACER_NAME = "modelcontext_core"


@contextmanager
def generation_span(
    encoded_messages: Sequence[Message], *, policies: ToolPolicies = DEFAULT_POLICIES, tracer: Tracer | None = None
) -> Iterator[Callable[[ChatResponse], None]]:
    """A span named `chat`. Call what it gives with the response, before the response is decoded.

    Until then the span holds what was sent, so a call that fails is recorded too. An exception is recorded and goes
    through.
    """
    with (tracer or trace.get_tracer(_TRACER_NAME)).start_as_current_span("chat", kind=SpanKind.CLIENT) as span:

        def observe(response: ChatResponse) -> None:
            span.set_attributes(generation_attributes(observe_generation(encoded_messages, response, policies)))

        observe(ChatResponse())
        yield observe


@contextmanager
def tool_call_span(
    call: ToolCall, *, policies: ToolPolicies = DEFAULT_POLICIES, tracer: Tracer | None = None
) -> Iterator[Span]:
    """A span named `execute_tool NAME` around the execution of a decoded call.

    An exception goes through. It is recorded, but for a sensitive tool only by its type: its message may hold what
    the arguments held.
    """
    observation = observe_tool_call(call, policies)
    sensitive = bool(observation.get("sensitive"))
    with (tracer or trace.get_tracer(_TRACER_NAME)).start_as_current_span(
        f"execute_tool {call.name}",
        attributes=tool_call_attributes(observation),
        record_exception=not sensitive,
        set_status_on_exception=not sensitive,
    ) as span:
        try:
            yield span
        except Exception as error:
            if sensitive:
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise
