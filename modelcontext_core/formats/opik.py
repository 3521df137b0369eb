"""Opik: traces and spans as the SDK sends them. The start and the end of one span can be two records with one id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Piece, Reader, Sample
from modelcontext_core.formats.tracing.spans import SpanKind, SpanRecord, SpanStory

__all__ = ["READER"]

_TYPES: Final = frozenset({"general", "llm", "tool", "guardrail"})
_KNOWN: Final = frozenset({"traces", "spans"})


def detect(sample: Sample) -> bool:
    """A batch with `traces` or `spans`, or bare spans of this tool."""
    return sample.container != "text" and any(_known(node) for node in sample.nodes[:2])


def _known(node: Node) -> bool:
    inside = (_is_span(node.get(key).at(index)) for key in ("spans", "traces") for index in range(3))
    return _is_span(node) or any(inside) or (node.is_list and _is_span(node.at(0)))


def _is_span(node: Node) -> bool:
    if not node.has("project_name", "id") and not node.has("trace_id", "last_updated_at"):
        return False
    return node.get("type").text in _TYPES or (node.has("name", "start_time") and node.has("input"))


def _records(node: Node) -> list[Node]:
    return [*node.get("traces"), *node.get("spans"), *node, *([node] if _is_record(node) else [])]


def _is_record(node: Node) -> bool:
    """A bare span, or a record of a batch by itself, which may be no more than the end of one."""
    return _is_span(node) or (node.is_object and node.parent is not None and node.parent.key in _KNOWN)


def pieces(node: Node) -> Iterator[Piece]:
    """The spans and traces of a batch."""
    for record in _records(node):
        trace = record.get("trace_id").label or record.get("id").label
        yield Piece(node=record, trace=trace, session=record.get("thread_id").label)


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a trace or thread and agent, built of its model calls."""
    records: dict[str, list[Node]] = {}
    threads: dict[str, str] = {}
    for node in nodes:
        for record in _records(node):
            if not record.is_object:
                builder.notice("unknown", record, "a record that is neither trace nor span is skipped")
                continue
            key = record.get("id").label or record.where
            records.setdefault(key, []).append(record)
            if record.get("thread_id").label:
                threads[key] = record.get("thread_id").label
        builder.rest(node, {*_KNOWN, *(node.value if _is_record(node) else ())})
    if any(len(parts) > 1 for parts in records.values()):
        builder.notice("merged", "$", "records with one id (the start and the end of a span) are read as one")
    SpanStory(builder).tell([_span(key, parts, threads) for key, parts in records.items()])


def _span(key: str, parts: list[Node], threads: dict[str, str]) -> SpanRecord:
    """One span of its records; what a later one says counts."""

    def last(name: str) -> Node:
        return next((part.get(name) for part in reversed(parts) if part.get(name)), parts[-1].get(name))

    types = {part.get("type").text for part in parts}
    kind: SpanKind = "model" if "llm" in types else "tool" if "tool" in types else "other"
    trace = last("trace_id").label or key
    return SpanRecord(
        node=parts[-1],
        kind=kind,
        group=threads.get(trace, trace),
        id=key,
        parent=last("parent_span_id").label,
        name=last("name").text,
        start=last("start_time").label,
        input=last("input"),
        output=last("output"),
        error=last("error_info"),
        extras=tuple(last(name) for name in ("metadata",)),
    )


READER = Reader(
    name="opik",
    title="Opik traces and spans",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"project_name", "error_info", "last_updated_at", "parent_span_id", "feedback_scores"}),
    pieces=pieces,
)
