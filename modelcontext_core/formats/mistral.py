"""Mistral: OpenAI's chat format with contents that are lists while the model thinks, in responses and in streams.

Only the style of its ids and models tells it apart; what shows neither is called OpenAI chat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, islice
from typing import Final

from modelcontext_core.formats import openai_chat
from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.building.streaming import events_of, first_events
from modelcontext_core.formats.chat_chunks import ChatChunks
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_chat_stream import is_chunk
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_MODEL = re.compile(
    r"(?:open-)?(?:mistral|mixtral|magistral|ministral|codestral|devstral|pixtral|voxtral)-[\w.\-]+\Z", re.ASCII
)
_ID = re.compile(r"(?:cmpl-)?[0-9a-f]{32}\Z")
_CALL_ID = re.compile(r"[A-Za-z0-9]{9}\Z")
_REQUEST_KEYS: Final = frozenset({"safe_prompt", "random_seed", "prompt_mode"})


def _answers(node: Node) -> bool:
    """True for a response or a chunk in Mistral's style."""
    if not node.get("choices").is_list or not _MODEL.match(node.get("model").text):
        return False
    return bool(_ID.match(node.get("id").text)) and not node.has("system_fingerprint")


def _asks(node: Node) -> bool:
    """True for a request in Mistral's style."""
    messages = node.get("messages")
    if not messages.is_list or not _MODEL.match(node.get("model").text):
        return False
    return node.has_any(_REQUEST_KEYS) or any(_is_own(message) for message in list(messages)[:20])


def _is_own(message: Node) -> bool:
    if message.get("prefix").value is True or message.get("content").at(0).get("thinking").is_list:
        return True
    return bool(_CALL_ID.match(message.get("tool_calls").at(0).get("id").text))


def detect(sample: Sample) -> bool:
    """A response, a request or a chunk in Mistral's style."""
    if sample.container in ("text", "sqlite"):
        return False
    return any(_answers(node) or _asks(node) for node in (*sample.nodes[:3], *first_events(sample)))


def _joined(sample: Sample) -> bool:
    return sample.container != "json" and any(is_chunk(node) for node in sample.nodes[:3])


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation of a request and its response, of either alone, or of a stream."""
    records = iter(nodes)
    first = list(islice(records, 3))
    everything = chain(first, records)
    if any(is_chunk(node.at(0) if node.is_list else node) for node in first):
        chunks = ChatChunks(builder)
        for node in events_of(everything):
            chunks.take(node)
        chunks.finish()
    else:
        openai_chat.read(everything, builder)


READER = Reader(
    name="mistral",
    title="Mistral",
    detect=detect,
    read=read,
    joined=_joined,
    keys=frozenset({"safe_prompt", "random_seed"}),
)
