"""The values that go in and out of the codec: messages, tool calls, tools, results.

All of them are frozen dataclasses built by keyword. They carry no behaviour: what a message means to the codec is
decided by the modules that read it. Sequences are tuples so that a value can be shared without copying.

Each refuses a field of a wrong type with a `TypeError` that names it (`Message.content must be str, not list`), where
the record is made: further on, a list would pass for a text without handles. What holds the data of a tool is not
looked at, since any shape of it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from modelcontext_core.wrong_types import check_items, check_texts, check_type, wrong_type

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

    def __post_init__(self) -> None:
        if not (str is type(self.type) is type(self.text)):
            check_texts(self, "type", "text")


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

    def __post_init__(self) -> None:
        # The exact types, compared at once, are the common case; what is left (a text of a subclass) is looked at.
        if not (str is type(self.id) is type(self.name) is type(self.arguments) is type(self.model_arguments)):
            check_texts(self, "id", "name", "arguments", "model_arguments")


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

    def __post_init__(self) -> None:
        if not (
            str is type(self.role) is type(self.content) is type(self.name) is type(self.tool_call_id)
            is type(self.reasoning) is type(self.reasoning_signature)
        ):  # fmt: skip
            check_texts(self, "role", "content", "name", "tool_call_id", "reasoning", "reasoning_signature")
        if self.parts != ():
            check_items(self, "parts", Part)
        if self.tool_calls != ():
            check_items(self, "tool_calls", ToolCall)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool definition as it is sent to the model; `parameters` is its JSON schema as Python values."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_texts(self, "name", "description")
        check_type("Tool.parameters", self.parameters, Mapping)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatResponse:
    """A complete answer of a model."""

    content: str = ""
    reasoning: str = ""
    reasoning_signature: str = ""
    tool_calls: Sequence[ToolCall] = ()

    def __post_init__(self) -> None:
        check_texts(self, "content", "reasoning", "reasoning_signature")
        check_items(self, "tool_calls", ToolCall)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolImage:
    """An image that a tool returned, and the chunk it came from (if any)."""

    chunk_id: str = ""
    data: bytes = b""

    def __post_init__(self) -> None:
        check_texts(self, "chunk_id")


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

    def __post_init__(self) -> None:
        check_type("ToolResult.success", self.success, bool)
        # Results are often built from somebody's JSON: `null` is no output.
        check_texts(self, *(name for name in ("output", "error") if getattr(self, name) is not None))
        check_items(self, "images", ToolImage)
        if isinstance(self.output_files, str):  # one name would be read as none
            raise wrong_type("ToolResult.output_files", self.output_files, "a sequence of str")


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

    def __post_init__(self) -> None:
        check_texts(self, "id", "knowledge_id", "knowledge_base_id", "knowledge_title", "knowledge_filename")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkReference:
    """A chunk and what is known about where it stands; empty fields are unknown."""

    chunk_id: str
    knowledge_id: str = ""
    knowledge_base_id: str = ""
    document_title: str = ""
    chunk_index: int = 0
    chunk_type: str = ""

    def __post_init__(self) -> None:
        if not (
            str is type(self.chunk_id) is type(self.knowledge_id) is type(self.knowledge_base_id)
            is type(self.document_title)
        ):  # fmt: skip
            check_texts(self, "chunk_id", "knowledge_id", "knowledge_base_id", "document_title")
