"""The texts of a message by their path, in reading order, and the JSON form of a message."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from inspector_app.views.hidden import json_escaped
from modelcontext_core.messages import Message, Part, ToolCall

__all__ = ["Text", "all_texts", "message_json", "message_value", "messages_json", "placeholder", "texts"]

_FIELDS: Final = ("role", "name", "tool_call_id", "content", "reasoning", "reasoning_signature")
_SIZE_UNITS: Final = ((1024 * 1024, "MB"), (1024, "KB"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text of a message: its path (as in `EncodeReport.spans`), the text, and for a call its name and id."""

    path: str
    text: str
    kind: str
    name: str = ""
    call_id: str = ""


def texts(message: Message) -> Iterator[Text]:
    """Yield the texts of `message`: reasoning, content, text parts, arguments of each call. Empty ones are left out,
    but for the arguments of a call, which show that the call is there."""
    if message.reasoning:
        yield Text(
            path="reasoning", text=message.reasoning, kind="signed" if message.reasoning_signature else "reasoning"
        )
    if message.content:
        yield Text(path="content", text=message.content, kind="content")
    for index, part in enumerate(message.parts):
        if part.type == "text" and part.text:
            yield Text(path=f"parts[{index}].text", text=part.text, kind="part")
        elif part.type != "text" and part.text:
            yield Text(path=f"parts[{index}]", text=part.text, kind="aside", name=part.type)
        elif part.type != "text":
            yield Text(path=f"parts[{index}]", text=placeholder(part), kind="placeholder")
    for index, call in enumerate(message.tool_calls):
        yield Text(
            path=f"tool_calls[{index}].arguments",
            text=call.arguments,
            kind="arguments",
            name=call.name,
            call_id=call.id,
        )


def all_texts(messages: Sequence[Message]) -> list[str]:
    """Return every text that a model reads in `messages`, for counting."""
    return [item.text for message in messages for item in texts(message) if item.kind not in ("aside", "placeholder")]


def placeholder(part: Part) -> str:
    """Return what stands for a part that is no text: media type or kind, name or address, size."""
    facts: dict[str, Any] = part.data if isinstance(part.data, dict) else {}
    length = facts.get("length")
    words = [str(facts.get("media_type") or part.type)]
    words += [str(facts[key]) for key in ("name", "url", "file_id") if facts.get(key)]
    if isinstance(length, int) and length > 0:
        words.append(_size(length))
    return " · ".join([*words, "not scanned"])


def message_value(message: Message) -> dict[str, Any]:
    """Return `message` as plain values, without its empty fields."""
    value: dict[str, Any] = {name: getattr(message, name) for name in _FIELDS if getattr(message, name)}
    if message.parts:
        value["parts"] = [_filled(type=part.type, text=part.text, data=part.data) for part in message.parts]
    if message.tool_calls:
        value["tool_calls"] = [_call_value(call) for call in message.tool_calls]
    return value


def _call_value(call: ToolCall) -> dict[str, Any]:
    return _filled(
        id=call.id,
        name=call.name,
        arguments=call.arguments,
        model_arguments=call.model_arguments,
        argument_resolution=call.argument_resolution,
        unresolved_handles=list(call.unresolved_handles),
    )


def _filled(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in ("", [], None)}


def message_json(message: Message) -> str:
    """Return `message` as indented JSON text; what cannot be seen is escaped, bytes become their length."""
    return _dumps(message_value(message))


def messages_json(messages: Sequence[Message]) -> bytes:
    """Return `messages` as one JSON array, ready to be saved."""
    return _dumps([message_value(message) for message in messages]).encode("utf-8")


def _dumps(value: object) -> str:
    return json_escaped(json.dumps(value, ensure_ascii=False, indent=2, default=_other))


def _other(value: object) -> str:
    return f"{len(value)} bytes" if isinstance(value, bytes | bytearray) else type(value).__name__


def _size(number: int) -> str:
    return next((f"{number / unit:.0f} {name}" for unit, name in _SIZE_UNITS if number >= unit), f"{number} bytes")
