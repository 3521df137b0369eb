"""Plain text: one user message. What else is pasted as text (dumps of frameworks) has readers of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_DATABASE: Final = b"SQLite format 3\0"


def detect(sample: Sample) -> bool:
    """Any text that no other reader takes."""
    return sample.container == "text" or sample.first.is_text


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """The whole text as the user's."""
    conversation = builder.conversation()
    for node in nodes:
        if node.document.data.startswith(_DATABASE):
            builder.notice("skipped", node, "this is a database, not text")
            continue
        conversation.turn("user", node).text(node, node.text if node.is_text else node.document.text)


READER = Reader(name="text", title="Plain text", detect=detect, read=read)
