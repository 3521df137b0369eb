"""A registry made for one text: every handle in it stands for a made-up durable id.

For answers that were pasted without the conversation that they belong to. The ids are the same for the same handles.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterable
from typing import Final

from modelcontext_core.grammar import WORD_HANDLE, Space, handle_tokens, whole_word_handle
from modelcontext_core.messages import ChunkReference, Message, ToolCall
from modelcontext_core.registry import Registry

__all__ = ["MOST_NUMBERS", "handles_in", "registry_for"]

MOST_NUMBERS: Final = 2000
"""Handles with a higher number stay unknown: numbers begin at 1, so all below are made as well."""

_WORD: Final = re.compile(rf"(?<![A-Za-z0-9_-]){WORD_HANDLE.pattern}(?![A-Za-z0-9_-])", re.ASCII)
_NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_URL, "https://example.com/made-up")
_RESOURCE_CHARACTERS: Final = 22


def handles_in(texts: Iterable[str]) -> list[tuple[Space, int]]:
    """The handles in `texts`, in order: space and number, of those that may be issued."""
    found: list[tuple[Space, int]] = []
    for text in texts:
        found += [(token.space, token.number) for token in handle_tokens(text) if token.number is not None]
        for match in _WORD.finditer(text):
            word = whole_word_handle(match[0])
            if word is not None and not match[2].startswith("0"):
                found.append((word[0], int(match[2])))
    return found


def registry_for(texts: Iterable[str], *, citations: bool = True) -> Registry:
    """A registry that knows the handles in `texts` (up to `MOST_NUMBERS` a space), each with an id made up for it.
    Chunks and pages are citable."""
    registry = Registry(citations_enabled=citations)
    highest: dict[Space, int] = {}
    for space, number in handles_in(texts):
        if number <= MOST_NUMBERS:
            highest[space] = max(highest.get(space, 0), number)
    # Always in the order of spaces, whatever comes first in the text.
    for space in _REGISTER:
        for number in range(1, highest.get(space, 0) + 1):
            _REGISTER[space](registry, number)
    return registry


def _made_id(space: Space, number: int) -> str:
    return str(uuid.uuid5(_NAMESPACE, f"{space}/{number}"))


def _chunk(registry: Registry, number: int) -> None:
    chunk = ChunkReference(
        chunk_id=_made_id("chunk", number),
        knowledge_base_id=_made_id("knowledge_base", 1),
        document_title=f"Made-up document {number}",
        chunk_index=number,
    )
    registry.register_chunk(chunk)


def _resource(registry: Registry, number: int) -> None:
    tail = uuid.uuid5(_NAMESPACE, f"resource/{number}").hex[:_RESOURCE_CHARACTERS]
    registry.compact_known_text(f"resource://{tail}")


def _routing(tool: str, key: str, space: Space) -> Callable[[Registry, int], object]:
    # The routing ids of the MCP bridge have no other way in than a replayed call.
    def register(registry: Registry, number: int) -> None:
        call = ToolCall(name=tool, arguments=json.dumps({key: _made_id(space, number)}))
        registry.encode_messages([Message(role="assistant", tool_calls=(call,))])

    return register


_REGISTER: Final[dict[Space, Callable[[Registry, int], object]]] = {
    "knowledge_base": lambda registry, number: registry.register_knowledge_base(_made_id("knowledge_base", number)),
    "document": lambda registry, number: registry.register_document(_made_id("document", number)),
    "chunk": _chunk,
    "web": lambda registry, number: registry.register_web(
        f"https://example.com/made-up/{number}", f"Made-up page {number}"
    ),
    "resource": _resource,
    "issue": lambda registry, number: registry.register_issue(_made_id("issue", number)),
    "mcp_server": _routing("discover_mcp_tools", "server_id", "mcp_server"),
    "mcp_tool": _routing("call_mcp_tool", "tool_ref", "mcp_tool"),
}
