"""How the subcommands write messages, handles and reports as JSON.

Messages are written in the shape of OpenAI's chat API, which every reader of this project and most other tools
know, so that what `encode` prints can be opened again.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from inspector_app.views.hidden import json_escaped
from modelcontext_core.messages import Message, Part
from modelcontext_core.registry import HandleRow, Span

__all__ = ["handle_json", "message_json", "print_json", "print_text", "span_json"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def message_json(message: Message) -> dict[str, Any]:
    """One message as a JSON object; what is empty is left out, but for `role` and `content`."""
    found: dict[str, Any] = {"role": message.role, "content": _content(message)}
    if message.name:
        found["name"] = message.name
    if message.tool_call_id:
        found["tool_call_id"] = message.tool_call_id
    if message.reasoning:
        found["reasoning_content"] = message.reasoning
    if message.reasoning_signature:
        found["reasoning_signature"] = message.reasoning_signature
    if message.tool_calls:
        found["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return found


def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.parts:
        return message.content
    lead = [Part(type="text", text=message.content)] if message.content else []
    return [_part_json(part) for part in (*lead, *message.parts)]


def _part_json(part: Part) -> dict[str, Any]:
    if part.type == "text":
        return {"type": "text", "text": part.text}
    # What a reader kept of a picture or file is carried along under its own keys.
    carried = part.data if isinstance(part.data, Mapping) else {"data": part.data}
    return {**carried, "type": part.type} | ({"text": part.text} if part.text else {})


def handle_json(row: HandleRow) -> dict[str, Any]:
    """One row of the handle table."""
    return asdict(row)


def span_json(span: Span) -> dict[str, Any]:
    """One replacement: where it stood (characters of the text at that path) and what stands there now."""
    return asdict(span)


def print_json(value: object, *, indent: int | None = None) -> None:
    """Write one JSON document and a line end. What cannot be seen is escaped, so that nothing in it steers a terminal;
    a lone surrogate is legal in an escape only."""
    print_text(json_escaped(json.dumps(value, ensure_ascii=False, indent=indent, default=_unknown)) + "\n")


def print_text(text: str) -> None:
    """Write text as UTF-8 whatever the terminal's encoding, with lone surrogates as U+FFFD."""
    sys.stdout.flush()
    sys.stdout.buffer.write(_SURROGATE.sub("\ufffd", text).encode())
    sys.stdout.buffer.flush()


def _unknown(value: object) -> object:
    """What `json` cannot write: bytes are opaque here, any other sequence is a list."""
    if isinstance(value, bytes):
        return {"bytes": len(value)}
    if isinstance(value, Sequence | Iterable):
        return list(value)
    return str(value)
