"""Streams of chat completions: `delta`s joined by choice, calls by their index, as SSE or one chunk a line.

All vendors that speak like OpenAI are read here; what they add (reasoning under several names, calls that come whole,
errors inside a good answer, citations repeated on every chunk) is understood.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.building.streaming import events_of, first_events
from modelcontext_core.formats.chat_chunks import ChatChunks
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER", "is_chunk", "read"]

_LOOKED_AT: Final = 6


def is_chunk(node: Node) -> bool:
    """True for a chunk of a streamed chat completion."""
    if not node.get("choices").is_list:
        return False
    return node.get("object").text == "chat.completion.chunk" or node.get("choices").at(0).get("delta").is_object


def detect(sample: Sample) -> bool:
    """One of the first records is a chunk."""
    return any(is_chunk(node) for node in first_events(sample, _LOOKED_AT))


def _joined(sample: Sample) -> bool:
    return any(is_chunk(node) for node in sample.nodes[:_LOOKED_AT])


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation with a turn for each streamed answer; further choices are branches."""
    chunks = ChatChunks(builder)
    for node in events_of(nodes):
        chunks.take(node)
    chunks.finish()


READER = Reader(
    name="openai_chat_stream",
    title="OpenAI chat completions (and compatible), streamed",
    detect=detect,
    read=read,
    joined=_joined,
    keys=frozenset({"delta", "choices"}),
)
