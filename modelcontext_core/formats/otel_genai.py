"""OpenTelemetry's GenAI convention: messages as JSON in attributes, or (older) as events in log
records; and any other spans."""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats.reader import Reader, Sample
from modelcontext_core.formats.tracing.otlp import attribute_names, pieces, read

__all__ = ["READER"]

_OWN: Final = ("gen_ai.", "span", "event")


def detect(sample: Sample) -> bool:
    """Any spans or message events that no other convention claims."""
    if sample.container == "text":
        return False
    names = attribute_names(sample.nodes)
    return any(name.startswith(_OWN) for name in names) and not any(name.startswith("mlflow.span") for name in names)


READER = Reader(
    name="otel_genai",
    title="OpenTelemetry GenAI spans and events",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"resourceSpans", "resourceLogs", "gen_ai.input.messages"}),
    pieces=pieces,
)
