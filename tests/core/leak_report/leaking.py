"""Small traces with leaks, for the tests of the leak scan."""

from __future__ import annotations

import json
from collections.abc import Sequence

from modelcontext_core.formats.base import Conversation, Trace
from modelcontext_core.messages import Message, ToolCall

A = "3f2a9c1e-7b4d-4e6f-8a90-1b2c3d4e5f60"
B = "0c9fe8d7-6b5a-4433-a211-ffee98761234"
C = "b7d1c0de-3f42-4e19-9a6b-7c55e0f8a921"


def trace(*messages: Message, format: str = "openai_chat") -> Trace:  # noqa: A002
    """A trace of one conversation."""
    return Trace(format=format, conversations=(Conversation(id="one", messages=messages),))


def result(tool: str, value: object) -> Message:
    """What a tool gave back, as JSON unless it is text."""
    text = value if isinstance(value, str) else json.dumps(value)
    return Message(role="tool", name=tool, tool_call_id="call_1", content=text)


def call(tool: str, **arguments: object) -> Message:
    """A call of a tool."""
    made = ToolCall(id="call_1", name=tool, arguments=json.dumps(arguments))
    return Message(role="assistant", tool_calls=(made,))


def orders(ids: Sequence[str] = (A, B)) -> Trace:
    """A tool that no pack knows gives ids under a key; the model uses one of them."""
    return trace(
        Message(role="user", content="Where is my order?"),
        result("crm_lookup", {"orders": [{"order_id": each, "state": "sent"} for each in ids]}),
        call("crm_cancel", order_id=ids[0]),
        Message(role="assistant", content=f"Order {ids[0]} is on its way."),
    )


def openai_json(ids: Sequence[str] = (A, B)) -> str:
    """The same as a file in OpenAI's chat format, on one line."""
    lookup = {"id": "call_1", "type": "function", "function": {"name": "crm_lookup", "arguments": "{}"}}
    found = json.dumps({"orders": [{"order_id": each} for each in ids]})
    messages = [
        {"role": "user", "content": "Where is my order?"},
        {"role": "assistant", "content": None, "tool_calls": [lookup]},
        {"role": "tool", "tool_call_id": "call_1", "content": found},
        {"role": "assistant", "content": f"Order {ids[0]} is on its way."},
    ]
    return json.dumps({"model": "gpt-4o", "messages": messages})
