"""OpenInference spans (Phoenix, Arize): messages under `llm.input_messages.N` and `llm.output_messages.N`."""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats.reader import Reader, Sample
from modelcontext_core.formats.tracing.otlp import attribute_names, pieces, read

__all__ = ["READER"]

_PREFIXES: Final = ("llm.input_messages", "llm.output_messages", "openinference.span.kind")


def detect(sample: Sample) -> bool:
    """Spans with attributes of this convention."""
    if sample.container == "text":
        return False
    return any(name.startswith(_PREFIXES) for name in attribute_names(sample.nodes))


READER = Reader(
    name="openinference",
    title="OpenInference spans",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"openinference.span.kind", "llm.model_name", "span_kind"}),
    pieces=pieces,
)
