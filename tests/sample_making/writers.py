"""A conversation in the request bodies of four vendors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from modelcontext_core.messages import Message

__all__ = ["Tools", "anthropic", "gemini", "openai_chat", "openai_message", "responses", "written"]

# Name and description.
Tools = Mapping[str, str]


class Raw(str):
    """JSON text that is to stand in a document as it is, on one line."""


def written(document: Any) -> bytes:
    """A document as indented JSON, `Raw` texts as they are."""
    raw: list[str] = []

    def marked(value: Any) -> Any:
        if isinstance(value, Raw):
            raw.append(value)
            return f"@raw{len(raw) - 1}@"
        if isinstance(value, dict):
            return {key: marked(member) for key, member in value.items()}
        return [marked(member) for member in value] if isinstance(value, list) else value

    text = json.dumps(marked(document), ensure_ascii=False, indent=2)
    for number, each in enumerate(raw):
        text = text.replace(f'"@raw{number}@"', each, 1)
    return (text + "\n").encode()


def _schema() -> dict[str, Any]:
    return {"type": "object", "properties": {}}


def openai_message(message: Message) -> dict[str, Any]:
    """One message as OpenAI's chat API has it."""
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.tool_calls
    ]
    found: dict[str, Any] = {"role": message.role, "content": message.content or None}
    return found | ({"tool_calls": calls} if calls else {})


def openai_chat(messages: Sequence[Message], tools: Tools, model: str) -> dict[str, Any]:
    """A request to OpenAI's chat API."""
    return {
        "model": model,
        "messages": [openai_message(message) for message in messages],
        "tools": [
            {"type": "function", "function": {"name": name, "description": text, "parameters": _schema()}}
            for name, text in tools.items()
        ],
    }


def anthropic(messages: Sequence[Message], tools: Tools, model: str) -> dict[str, Any]:
    """A request to Anthropic's messages API: the messages of one side in a row are one."""
    turns = [
        {"role": role, "content": [block for message in group for block in _blocks(message)]}
        for role, group in groupby(messages[1:], _side)
    ]
    return {
        "model": model,
        "max_tokens": 4096,
        "system": messages[0].content,
        "messages": turns,
        "tools": [{"name": name, "description": text, "input_schema": _schema()} for name, text in tools.items()],
    }


def _side(message: Message) -> str:
    return "assistant" if message.role == "assistant" else "user"


def _blocks(message: Message) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        text = {"type": "text", "text": message.content}
        yield {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": [text]}
        return
    if message.reasoning:
        yield {"type": "thinking", "thinking": message.reasoning, "signature": message.reasoning_signature}
    if message.content:
        yield {"type": "text", "text": message.content}
    for call in message.tool_calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": Raw(call.arguments)}


def responses(messages: Sequence[Message], tools: Tools, model: str) -> dict[str, Any]:
    """A request to OpenAI's Responses API."""
    return {
        "model": model,
        "instructions": messages[0].content,
        "input": [item for message in messages[1:] for item in _items(message)],
        "tools": [
            {"type": "function", "name": name, "description": text, "parameters": _schema()}
            for name, text in tools.items()
        ],
        "store": False,
    }


def _items(message: Message) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content}
        return
    if message.reasoning:
        yield {"type": "reasoning", "summary": [{"type": "summary_text", "text": message.reasoning}]}
    if message.content:
        kind = "output_text" if message.role == "assistant" else "input_text"
        content = [{"type": kind, "text": message.content}]
        yield {"type": "message", "role": message.role, "content": content}
    for call in message.tool_calls:
        yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}


def gemini(messages: Sequence[Message], tools: Tools) -> dict[str, Any]:
    """A request to Gemini: results of one step are the parts of one content, and no call has an id."""
    sides: Callable[[Message], str] = lambda message: {"assistant": "model"}.get(message.role, message.role)  # noqa: E731
    contents = [
        {"role": "user" if side == "tool" else side, "parts": [part for message in group for part in _parts(message)]}
        for side, group in groupby(messages[1:], sides)
    ]
    declared = [{"name": name, "description": text} for name, text in tools.items()]
    return {
        "systemInstruction": {"parts": [{"text": messages[0].content}]},
        "contents": contents,
        "tools": [{"functionDeclarations": declared}],
        "generationConfig": {"temperature": 0.2},
    }


def _parts(message: Message) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        yield {"functionResponse": {"name": message.name, "response": Raw(message.content)}}
        return
    if message.content:
        yield {"text": message.content}
    for call in message.tool_calls:
        yield {"functionCall": {"name": call.name, "args": Raw(call.arguments)}}
