"""OpenLLMetry (Traceloop) spans with indexed keys: `gen_ai.prompt.N.role`, `gen_ai.completion.N.content`."""

from __future__ import annotations

import re
from typing import Final

from modelcontext_core.formats.reader import Reader, Sample
from modelcontext_core.formats.tracing.otlp import attribute_names, pieces, read

__all__ = ["READER"]

_INDEXED: Final = re.compile(r"gen_ai\.(?:prompt|completion)\.\d+\.|traceloop\.|llm\.request\.functions\.")


def detect(sample: Sample) -> bool:
    """Spans with indexed prompts, or with names of this instrumentation."""
    if sample.container == "text":
        return False
    return any(_INDEXED.match(name) for name in attribute_names(sample.nodes))


READER = Reader(
    name="openllmetry",
    title="OpenLLMetry spans",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"traceloop.span.kind", "llm.request.type", "gen_ai.prompt.0.role"}),
    pieces=pieces,
)
