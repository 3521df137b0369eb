"""MLflow traces: `info` and `data.spans`, where each attribute is JSON text (strings too). MLflow 2 and 3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Piece, Reader, Sample
from modelcontext_core.formats.tracing import otlp
from modelcontext_core.formats.tracing.mlflow_spans import span_of
from modelcontext_core.formats.tracing.spans import SpanRecord, SpanStory

__all__ = ["READER"]

_OWN: Final = ("mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.spanType", "mlflow.traceRequestId")


def detect(sample: Sample) -> bool:
    """`info` beside `data.spans`, or spans with MLflow's attributes."""
    if sample.container == "text":
        return False
    if any(_known(node) for node in sample.nodes[:2]):
        return True
    return any(name.startswith("mlflow.span") for name in otlp.attribute_names(sample.nodes))


def _known(node: Node) -> bool:
    spans = _spans(node)
    if not spans:
        return False
    attributes = spans[0].get("attributes")
    return node.get("info").has("request_id") or node.get("info").has("trace_id") or attributes.has_any(frozenset(_OWN))


def _spans(node: Node) -> list[Node]:
    spans = node.get("data").unpacked().get("spans")
    return [span.unpacked() for span in spans or node.get("spans")]


def _bare(sample: Sample) -> bool:
    """True for spans without the trace around them: those of all lines belong together."""
    return not any(_known(node) for node in sample.nodes[:2])


def pieces(node: Node) -> Iterator[Piece]:
    """Spans by their trace."""
    if not _known(node):
        yield from otlp.pieces(node)


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation an agent of a trace."""
    bare: list[Node] = []
    for node in nodes:
        if not _known(node):
            bare.append(node)
            continue
        info = node.get("info")
        group = info.get("trace_id", "request_id").label
        spans = [span_of(span, group) for span in _spans(node)]
        data = node.get("data")
        if not spans and data.get("request"):
            spans = [SpanRecord(node=data, kind="other", input=data.get("request"), output=data.get("response"))]
        SpanStory(builder).tell(spans)
        builder.rest(info, {"request_preview", "response_preview", "trace_metadata", "tags", "trace_location"})
        for name in ("trace_metadata", "request_metadata", "tags"):
            builder.rest(info.get(name), {"mlflow.traceInputs", "mlflow.traceOutputs", "mlflow.traceSpans"})
        builder.rest(node, {"info", "data", "spans"})
    if bare:
        otlp.read(bare, builder)


READER = Reader(
    name="mlflow_trace",
    title="MLflow trace",
    detect=detect,
    read=read,
    joined=_bare,
    keys=frozenset({"mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.spanType", "trace_metadata"}),
    pieces=pieces,
)
