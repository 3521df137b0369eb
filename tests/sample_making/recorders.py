"""A conversation as tools for watching agents record it: one entry a model call and a tool call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from modelcontext_core.messages import Message
from tests.sample_making.chat import uid
from tests.sample_making.writers import Tools, openai_message

__all__ = ["langfuse", "otel"]

_START: Final = datetime(2026, 11, 24, 8, 15, 2, tzinfo=UTC)


def _model_calls(messages: Sequence[Message]) -> Iterator[int]:
    return (number for number, message in enumerate(messages) if message.role == "assistant")


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def otel(messages: Sequence[Message], tools: Tools, model: str) -> dict[str, Any]:
    """OTLP/JSON with the semantic conventions for generative AI: each model call repeats what was said before."""
    spans = [_span("invoke_agent reporter", 0, 300, {"gen_ai.operation.name": "invoke_agent"}, parent="")]
    for number in _model_calls(messages):
        spans.append(
            _span(
                f"chat {model}",
                number,
                2,
                {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.provider.name": "openai",
                    "gen_ai.request.model": model,
                    "gen_ai.system_instructions": _compact([{"type": "text", "content": messages[0].content}]),
                    "gen_ai.input.messages": _compact([_otel_message(one) for one in messages[1:number]]),
                    "gen_ai.output.messages": _compact([_otel_message(messages[number])]),
                    "gen_ai.tool.definitions": _compact(
                        [{"type": "function", "name": name, "description": text} for name, text in tools.items()]
                    ),
                },
            )
        )
        for later, call in enumerate(messages[number].tool_calls, start=1):
            spans.append(
                _span(
                    f"execute_tool {call.name}",
                    number + later,
                    1,
                    {
                        "gen_ai.operation.name": "execute_tool",
                        "gen_ai.tool.name": call.name,
                        "gen_ai.tool.call.id": call.id,
                        "gen_ai.tool.call.arguments": call.arguments,
                        "gen_ai.tool.call.result": messages[number + later].content,
                    },
                )
            )
    resource = {"attributes": _attributes({"service.name": "reporting-agent"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "made.up"}, "spans": spans}]}]}


def _span(name: str, step: int, seconds: int, attributes: dict[str, str], parent: str = "agent") -> dict[str, Any]:
    start = int((_START + timedelta(seconds=3 * step)).timestamp()) * 1_000_000_000
    return {
        "traceId": uid("otel trace").replace("-", ""),
        "spanId": uid(f"span {name} {step}").replace("-", "")[:16] if parent else uid("agent").replace("-", "")[:16],
        "parentSpanId": uid(parent).replace("-", "")[:16] if parent else "",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + seconds * 1_000_000_000),
        "attributes": _attributes(attributes),
        "status": {},
    }


def _attributes(values: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


def _otel_message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        part = {"type": "tool_call_response", "id": message.tool_call_id, "response": message.content}
        return {"role": "tool", "parts": [part]}
    parts: list[dict[str, Any]] = []
    if message.reasoning:
        parts.append({"type": "reasoning", "content": message.reasoning})
    if message.content:
        parts.append({"type": "text", "content": message.content})
    parts += [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": json.loads(call.arguments)}
        for call in message.tool_calls
    ]
    return {"role": message.role, "parts": parts}


def langfuse(messages: Sequence[Message], tools: Tools, model: str) -> dict[str, Any]:
    """An export of Langfuse: a trace and its observations, what was said as JSON text inside."""
    trace = "trace-0412"
    observations = []
    declared = [
        {"type": "function", "function": {"name": name, "description": text, "parameters": {"type": "object"}}}
        for name, text in tools.items()
    ]
    for number in _model_calls(messages):
        body = {"messages": [openai_message(one) for one in messages[:number]], "tools": declared}
        observations.append(
            _observation(
                trace, "GENERATION", "chat", number, _compact(body), _compact(openai_message(messages[number]))
            )
            | {"model": model}
        )
        for later, call in enumerate(messages[number].tool_calls, start=1):
            result = messages[number + later].content
            observations.append(_observation(trace, "TOOL", call.name, number + later, call.arguments, result))
    return {
        "trace": {"id": trace, "name": "parcel operations", "timestamp": _time(0), "environment": "example"},
        "observations": observations,
    }


def _observation(trace: str, kind: str, name: str, step: int, given: str, gave: str) -> dict[str, Any]:
    return {
        "id": f"obs-{step:03d}",
        "traceId": trace,
        "type": kind,
        "name": name,
        "startTime": _time(step),
        "endTime": _time(step + 1),
        "parentObservationId": None,
        "level": "DEFAULT",
        "input": given,
        "output": gave,
    }


def _time(step: int) -> str:
    return (_START + timedelta(seconds=3 * step)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
