"""Tests of what observers report."""

from __future__ import annotations

import json

import pytest

from modelcontext_core.messages import ChatResponse, Message, Part, ToolCall
from modelcontext_core.observe import (
    generation_attributes,
    observe_generation,
    observe_tool_call,
    tool_call_attributes,
)
from modelcontext_core.policies import ToolPolicies

SECRETIVE = ToolPolicies.loads('name = "secretive"\nextends = "builtin"\n[tools.pay]\nsensitive = true\n')
DECODED = ToolCall(
    id="call-1",
    name="read_document",
    arguments='{"id": "document-1"}',
    model_arguments='{"id": "doc://1"}',
    argument_resolution="resolved",
)


def test_a_call_is_reported_on_both_sides() -> None:
    """What the model wrote, what ran, and how one became the other."""
    assert observe_tool_call(DECODED) == {
        "id": "call-1",
        "name": "read_document",
        "model_arguments": '{"id": "doc://1"}',
        "resolved_arguments": '{"id": "document-1"}',
        "argument_resolution": "resolved",
        "unresolved_handles": [],
    }


def test_a_call_that_was_not_decoded_has_nothing_resolved() -> None:
    """An observer does not resolve by itself."""
    observed = observe_tool_call(ToolCall(name="read_document", arguments='{"id": "doc://1"}'))

    assert observed["model_arguments"] == '{"id": "doc://1"}'
    assert observed["resolved_arguments"] == observed["argument_resolution"] == ""


def test_a_sensitive_call_is_reported_by_keys_and_counts() -> None:
    """No value of its arguments is in the report, nor a handle that it could not resolve."""
    call = ToolCall(
        id="call-1",
        name="pay",
        arguments='{"account": "secret-1", "note": "secret-2", "parts": [{"deep": "secret-3"}]}',
        model_arguments='{"account": "doc://1", "note": "secret-2", "parts": [{"deep": "secret-3"}]}',
        argument_resolution="partially_resolved",
        unresolved_handles=("doc://9",),
    )

    observed = observe_tool_call(call, SECRETIVE)

    assert observed == {
        "id": "call-1",
        "name": "pay",
        "sensitive": True,
        "argument_keys": ["account", "note", "parts"],
        "argument_count": 3,
        "resolved_count": 1,
        "argument_resolution": "partially_resolved",
        "unresolved_count": 1,
    }


@pytest.mark.parametrize("arguments", ["", "[1]", '"secret"', '{"secret": ', "[" * 5000 + "]" * 5000, '{"a": ' * 3000])
def test_arguments_that_are_no_object_have_no_keys(arguments: str) -> None:
    """Text that cannot be read is not shown in pieces either."""
    observed = observe_tool_call(ToolCall(name="pay", arguments=arguments), SECRETIVE)

    assert (observed["argument_keys"], observed["argument_count"]) == ([], 0)


def test_deep_arguments_are_counted() -> None:
    """Nesting of any depth is no obstacle."""
    arguments = '{"a": ' * 5000 + "1" + "}" * 5000

    assert observe_tool_call(ToolCall(name="pay", arguments=arguments), SECRETIVE)["argument_keys"] == ["a"]


def test_a_generation_is_reported_as_it_was_sent_and_came_back() -> None:
    """Messages and answer keep their handles; empty fields are left out."""
    messages = [
        Message(role="user", parts=(Part(type="text", text="see doc://1"), Part(type="image", data=b"x"))),
        Message(role="assistant", reasoning="hm", tool_calls=(DECODED,)),
        Message(role="tool", name="read_document", tool_call_id="call-1", content="chunk://1"),
    ]
    response = ChatResponse(content='<ref id="chunk://1"/>', tool_calls=(DECODED,))

    observed = observe_generation(messages, response)

    written = {"id": "call-1", "name": "read_document", "arguments": '{"id": "doc://1"}'}
    assert observed == {
        "input": [
            {"role": "user", "parts": [{"type": "text", "text": "see doc://1"}, {"type": "image", "text": ""}]},
            {"role": "assistant", "reasoning": "hm", "tool_calls": [written]},
            {"role": "tool", "name": "read_document", "tool_call_id": "call-1", "content": "chunk://1"},
        ],
        "output": {"role": "assistant", "content": '<ref id="chunk://1"/>', "tool_calls": [written]},
    }


def test_a_generation_hides_sensitive_calls_and_results() -> None:
    """A later generation replays them, so they are hidden there too."""
    call = ToolCall(id="1", name="pay", arguments='{"account": "secret"}')
    messages = [
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", name="pay", content="secret", parts=(Part(type="text", text="secret"),)),
    ]

    observed = observe_generation(messages, ChatResponse(tool_calls=(call,)), SECRETIVE)

    assert "secret" not in json.dumps(observed)
    assert observed["input"][1] == {"role": "tool", "name": "pay", "characters": 12, "sensitive": True}
    assert observed["output"]["tool_calls"][0]["argument_keys"] == ["account"]


def test_attributes_are_scalars_and_texts() -> None:
    """Spans take no nested values: input and output are JSON text, and a lone surrogate does not stop an exporter."""
    messages = [Message(role="user", content="\ud800")]

    attributes = generation_attributes(observe_generation(messages, ChatResponse(content="的")))

    assert json.loads(str(attributes["langfuse.observation.input"])) == [{"role": "user", "content": "\ud800"}]
    assert '"的"' in str(attributes["langfuse.observation.output"])
    assert str(attributes["langfuse.observation.input"]).encode("utf-8")


def test_attributes_of_a_call_say_both_sides() -> None:
    """The model's arguments are the input; what ran is the call's arguments."""
    attributes = tool_call_attributes(observe_tool_call(DECODED))

    assert attributes["gen_ai.tool.call.arguments"] == '{"id": "document-1"}'
    assert attributes["langfuse.observation.input"] == '{"id": "doc://1"}'
    assert attributes["langfuse.observation.metadata.argument_resolution"] == "resolved"


def test_attributes_of_a_sensitive_call_hold_no_arguments() -> None:
    """Only counts and keys are left to report."""
    call = ToolCall(name="pay", arguments='{"account": "secret"}')

    attributes = tool_call_attributes(observe_tool_call(call, SECRETIVE))

    assert "secret" not in repr(attributes)
    assert attributes["langfuse.observation.metadata.argument_keys"] == ["account"]
