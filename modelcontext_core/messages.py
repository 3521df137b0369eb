"""The values that go in and out of the codec: messages, tool calls, tools, results.

All of them are frozen dataclasses built by keyword. They carry no behaviour: what a message means to the codec is
decided by the modules that read it. Sequences are tuples so that a value can be shared without copying.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "ChatResponse",
    "ChunkReference",
    "Message",
    "Part",
    "SearchResult",
    "Tool",
    "ToolCall",
    "ToolImage",
    "ToolResult",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a multimodal message. Only parts whose `type` is `"text"` are rewritten; `data` is carried along."""

    type: str
    text: str = ""
    data: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that the model made.

    `arguments` is JSON text. After decoding, `model_arguments` keeps the text as the model wrote it,
    `argument_resolution` is `unchanged`, `resolved`, `partially_resolved` or `unresolved`, and
    `unresolved_handles` names what could not be restored (such a call must not run).
    """

    id: str = ""
    name: str = ""
    arguments: str = ""
    model_arguments: str = ""
    argument_resolution: str = ""
    unresolved_handles: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation. A tool message carries the name of its tool in `name`.

    `reasoning_signature` marks reasoning that a provider signed: it is never edited.
    """

    role: str
    content: str = ""
    name: str = ""
    tool_call_id: str = ""
    reasoning: str = ""
    reasoning_signature: str = ""
    parts: Sequence[Part] = ()
    tool_calls: Sequence[ToolCall] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool definition as it is sent to the model; `parameters` is its JSON schema as Python values."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatResponse:
    """A complete answer of a model."""

    content: str = ""
    reasoning: str = ""
    reasoning_signature: str = ""
    tool_calls: Sequence[ToolCall] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolImage:
    """An image that a tool returned, and the chunk it came from (if any)."""

    chunk_id: str = ""
    data: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool gave back. `data` is structured output (`display_type` names its shape); `output_files` is None
    when the tool has no files at all and an empty list when this call made none."""

    success: bool
    output: str = ""
    error: str = ""
    data: Mapping[str, Any] | None = None
    output_files: Sequence[str] | None = None
    images: Sequence[ToolImage] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """One hit of a retrieval, with the identities of its chunk, document and knowledge base."""

    id: str
    knowledge_id: str = ""
    knowledge_base_id: str = ""
    knowledge_title: str = ""
    knowledge_filename: str = ""
    chunk_index: int = 0
    chunk_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkReference:
    """A chunk and what is known about where it stands; empty fields are unknown."""

    chunk_id: str
    knowledge_id: str = ""
    knowledge_base_id: str = ""
    document_title: str = ""
    chunk_index: int = 0
    chunk_type: str = ""
