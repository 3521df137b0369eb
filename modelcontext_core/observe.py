"""What a tracing tool may record at the boundary to the model, as plain dictionaries.

An observer reports both sides as they are (the encoded messages that the model saw, the arguments as it wrote them
and as they ran) and never maps a handle itself: a second mapping would sooner or later disagree with the registry.

Of a tool that the policies mark `sensitive`, argument values and results are never reported, in whatever message they
stand: only the argument keys, and counts.

Explained in `docs/concepts/lifecycle.md`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from modelcontext_core import jsontext
from modelcontext_core.messages import ChatResponse, Message, ToolCall
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies
from modelcontext_core.wrong_types import check_type, checked

__all__ = ["generation_attributes", "observe_generation", "observe_tool_call", "tool_call_attributes"]

Attributes = dict[str, str | bool | int | Sequence[str]]


def observe_generation(
    encoded_messages: Iterable[Message], response: ChatResponse, policies: ToolPolicies = DEFAULT_POLICIES
) -> dict[str, Any]:
    """One call of the model: `input`, the messages as they were sent, and `output`, the answer as it came back.

    Give the response before it is decoded. Of a decoded one, the tool calls are still shown as the model wrote them;
    its texts are not. Empty fields are left out. Part data (pictures and the like) is left out too.
    """
    check_type("response", response, ChatResponse)
    check_type("policies", policies, ToolPolicies)
    output: dict[str, Any] = {
        "role": "assistant",
        "content": response.content,
        "reasoning": response.reasoning,
        "reasoning_signature": response.reasoning_signature,
        "tool_calls": [_written_call(call, policies) for call in response.tool_calls],
    }
    return {
        "input": [_message(message, policies) for message in checked("encoded_messages", encoded_messages, Message)],
        "output": {key: value for key, value in output.items() if value},
    }


def observe_tool_call(call: ToolCall, policies: ToolPolicies = DEFAULT_POLICIES) -> dict[str, Any]:
    """One tool call after decoding: `id`, `name`, `model_arguments` (with handles), `resolved_arguments` (what ran),
    `argument_resolution`, `unresolved_handles`.

    Of a call that was not decoded, nothing is resolved yet: `resolved_arguments` and `argument_resolution` are empty.
    Of a sensitive tool: `sensitive`, `argument_keys`, `argument_count`, `resolved_count` (string values that differ
    from what the model wrote), `unresolved_count` and `argument_resolution`.
    """
    check_type("call", call, ToolCall)
    check_type("policies", policies, ToolPolicies)
    decoded = bool(call.argument_resolution or call.model_arguments)
    written = call.model_arguments or call.arguments
    if _is_sensitive(call.name, policies):
        return {
            "id": call.id,
            "name": call.name,
            **_counts(written),
            "resolved_count": _changed_strings(written, call.arguments),
            "argument_resolution": call.argument_resolution,
            "unresolved_count": len(call.unresolved_handles),
        }
    return {
        "id": call.id,
        "name": call.name,
        "model_arguments": written,
        "resolved_arguments": call.arguments if decoded else "",
        "argument_resolution": call.argument_resolution,
        "unresolved_handles": list(call.unresolved_handles),
    }


def generation_attributes(observation: Mapping[str, Any]) -> Attributes:
    """An `observe_generation` dictionary as span attributes: OpenTelemetry's names for generative AI where it has
    one, and Langfuse's names for input and output (which read JSON text)."""
    return {
        "gen_ai.operation.name": "chat",
        "langfuse.observation.type": "generation",
        "langfuse.observation.input": _json(observation["input"]),
        "langfuse.observation.output": _json(observation["output"]),
    }


def tool_call_attributes(observation: Mapping[str, Any]) -> Attributes:
    """An `observe_tool_call` dictionary as span attributes. Everything but id and name is metadata to Langfuse, under
    the same keys; the arguments are its input as well, unless the tool is sensitive."""
    attributes: Attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": observation["name"],
        "gen_ai.tool.call.id": observation["id"],
        "langfuse.observation.type": "tool",
    }
    if "model_arguments" in observation:
        attributes["gen_ai.tool.call.arguments"] = observation["resolved_arguments"] or observation["model_arguments"]
        attributes["langfuse.observation.input"] = observation["model_arguments"]
    for key, value in observation.items():
        if key not in ("id", "name"):
            attributes[f"langfuse.observation.metadata.{key}"] = value
    return attributes


def _message(message: Message, policies: ToolPolicies) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "role": message.role,
        "name": message.name,
        "tool_call_id": message.tool_call_id,
        "content": message.content,
        "reasoning": message.reasoning,
        "reasoning_signature": message.reasoning_signature,
        "parts": [{"type": part.type, "text": part.text} for part in message.parts],
        "tool_calls": [_written_call(call, policies) for call in message.tool_calls],
    }
    if message.role == "tool" and _is_sensitive(message.name, policies):
        shown["characters"] = len(message.content) + sum(len(part.text) for part in message.parts)
        shown["sensitive"] = True
        shown["content"] = shown["reasoning"] = ""
        shown["parts"] = []
    return {key: value for key, value in shown.items() if value or key in ("role", "characters")}


def _written_call(call: ToolCall, policies: ToolPolicies) -> dict[str, Any]:
    """A call as the model wrote it, or as it was replayed to the model."""
    arguments = call.model_arguments or call.arguments
    shown: dict[str, Any] = {"id": call.id, "name": call.name}
    if _is_sensitive(call.name, policies):
        return shown | _counts(arguments)
    return shown | {"arguments": arguments}


def _is_sensitive(tool_name: str, policies: ToolPolicies) -> bool:
    policy = policies.get(tool_name)
    return policy is not None and policy.sensitive


def _counts(arguments: str) -> dict[str, Any]:
    """The keys of an argument object in their order. Arguments that are no JSON object have none that can be told."""
    keys: list[str] = []
    if jsontext.is_valid(arguments) and arguments.lstrip().startswith("{"):
        found = (item.key for item in jsontext.strings(arguments) if item.is_key and item.depth == 1)
        keys = list(dict.fromkeys(key for key in found if key is not None))
    return {"sensitive": True, "argument_keys": keys, "argument_count": len(keys)}


def _changed_strings(written: str, resolved: str) -> int:
    if written == resolved or not (jsontext.is_valid(written) and jsontext.is_valid(resolved)):
        return 0
    return (_values(resolved) - _values(written)).total()


def _values(arguments: str) -> Counter[str]:
    return Counter(
        jsontext.unquote(arguments[item.start : item.end]) for item in jsontext.strings(arguments) if not item.is_key
    )


def _json(value: object) -> str:
    # Lone surrogates cannot be encoded as UTF-8, so an exporter would fail on them: they stay escaped.
    return jsontext.escape_surrogates(json.dumps(value, ensure_ascii=False))
