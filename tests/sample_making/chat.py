"""Writing a made-up conversation down, and ids for it that are the same each time."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any, Final

from modelcontext_core.messages import Message, ToolCall

__all__ = ["Chat", "hidden", "resource", "uid"]

_LETTERS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"


def uid(name: str) -> str:
    """A UUID that always belongs to this name."""
    return str(uuid.UUID(bytes=_digest(name)[:16], version=4))


def resource(name: str) -> str:
    """A stored reference as an application writes it into texts."""
    return "resource://" + "".join(_LETTERS[byte % 64] for byte in _digest(name)[:22])


def hidden(name: str, length: int = 120) -> str:
    """Letters that look like a signature."""
    return ("Eq" + "".join(_LETTERS[byte % 62] for _ in range(8) for byte in _digest(f"{name}{_}")))[:length]


def _digest(name: str) -> bytes:
    return hashlib.sha256(f"made up: {name}".encode()).digest()


class Chat:
    """A conversation, message by message; `prefix` begins the ids of its calls."""

    def __init__(self, system: str, prefix: str = "call_") -> None:
        self.messages: list[Message] = [Message(role="system", content=system)]
        self._prefix = prefix
        self._calls = 0

    def user(self, text: str) -> None:
        """The user says something."""
        self.messages.append(Message(role="user", content=text))

    def says(self, text: str) -> None:
        """The model answers."""
        self.messages.append(Message(role="assistant", content=text))

    def step(
        self, *called: tuple[str, dict[str, Any], object], says: str = "", thinks: str = "", signature: str = ""
    ) -> None:
        """The model thinks, says something and calls tools, each given as name, arguments and result, in this order."""
        calls, results = [], []
        for name, arguments, result in called:
            self._calls += 1
            call_id = f"{self._prefix}{self._calls:02d}"
            calls.append(ToolCall(id=call_id, name=name, arguments=json.dumps(arguments, ensure_ascii=False)))
            text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, indent=2)
            results.append(Message(role="tool", name=name, tool_call_id=call_id, content=text))
        self.messages += [
            Message(
                role="assistant",
                content=says,
                reasoning=thinks,
                reasoning_signature=signature,
                tool_calls=tuple(calls),
            ),
            *results,
        ]
