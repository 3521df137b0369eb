"""Short ways to make messages for tests, and to encode one text."""

from __future__ import annotations

import json

from modelcontext_core import Message, Registry, ToolCall

A = "0d3f1c5e-7a2b-4c8d-9e10-1f2a3b4c5d6e"
B = "b7a9c1d2-3e4f-4a5b-8c6d-7e8f90a1b2c3"
C = "11111111-2222-4333-8444-555555555555"
STORED = "resource://AbCdEfGhIjKlMnOpQrSt-_"


def user(content: str) -> Message:
    """What the user typed."""
    return Message(role="user", content=content)


def assistant(content: str) -> Message:
    """What the model said before."""
    return Message(role="assistant", content=content)


def result(content: object, tool: str = "grep_chunks") -> Message:
    """A tool's result; a value that is no text is written as JSON."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return Message(role="tool", name=tool, tool_call_id="call_1", content=text)


def call(tool: str, arguments: object) -> Message:
    """An assistant message with one call; arguments that are no text are written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return Message(role="assistant", tool_calls=(ToolCall(id="call_1", name=tool, arguments=text),))


def contents(registry: Registry, *messages: Message) -> list[str]:
    """The encoded contents (of calls: the arguments), after a check that encoding again changes nothing."""
    encoded = registry.encode_messages(messages)
    assert encoded == registry.encode_messages(encoded)
    return [message.tool_calls[0].arguments if message.tool_calls else message.content for message in encoded]


def decoded(registry: Registry, tool: str, arguments: object) -> tuple[str, str, list[str]]:
    """Decoded arguments, their resolution, and what is unresolved."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    [done] = registry.decode_tool_calls([ToolCall(name=tool, arguments=text)])
    assert text == done.model_arguments
    return done.arguments, done.argument_resolution, list(done.unresolved_handles)
