"""Traces of every format, damaged: they are read in part or refused with a reason, and what was read can be used."""

from __future__ import annotations

import io
import random
from functools import cache
from pathlib import Path
from typing import Final
from unittest import mock

from modelcontext_core import Registry
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats import READERS, Trace, detect, iter_traces
from modelcontext_core.formats.containers import spool
from modelcontext_core.limits import MAX_RECORD_BYTES
from tests.formats.traces import FIXTURES, check
from tests.fuzz import databases, laws, mutations, worlds

__all__ = ["SAMPLES", "run", "source", "sources"]

SAMPLES: Final = Path(__file__).resolve().parents[2] / "sample_sessions"
_NAMES: Final = [reader.name for reader in READERS]
_MOST_ENCODED: Final = 40
_SQLITE: Final = b"SQLite format 3\0"
_EXTRA: Final = (worlds.UUID_A, "doc-000001", f"see {worlds.UUID_B}", "doc://1", '<ref id="chunk://1"/>')


@cache
def sources() -> list[tuple[str, bytes]]:
    """Every fixture and every sample: its name and its bytes."""
    files = [*FIXTURES.rglob("*"), *(path for path in SAMPLES.glob("*/*") if path.suffix not in (".toml", ".md"))]
    return [(path.name, path.read_bytes()) for path in sorted(files) if path.is_file()]


def source(rng: random.Random) -> tuple[str, bytes]:
    """One source with something wrong in it; the large ones are taken seldom."""
    name, data = rng.choice(sources())
    if len(data) > 40_000 and rng.random() < 0.9:
        name, data = rng.choice(sources())
    if data.startswith(_SQLITE):
        data = databases.rewritten(rng, data)
    elif rng.random() < 0.55:
        data = mutations.rebuilt(rng, data, _EXTRA)
    if rng.random() < 0.45:
        data = mutations.damaged(rng, data)
    if rng.random() < 0.03:
        data += rng.choice(sources())[1]
    return name, mutations.packed(rng, data)


def run(number: int) -> None:
    """Runs one case; raises `AssertionError`, or what a reader should not have raised."""
    rng = random.Random(f"readers {number}")
    name, data = source(rng)
    chosen = rng.choice(_NAMES) if rng.random() < 0.15 else None
    traces = _read(data, name, chosen)
    assert traces == _read(io.BytesIO(data), name, chosen), "a file is read otherwise than its bytes"
    if number % 8 == 0:
        _put_aside_law(rng, data, name, chosen, traces)
    try:
        assert detect(data, name) in _NAMES
    except UnreadableTrace as error:
        assert error.reason
    for trace in traces:
        for conversation in trace.conversations:
            if len(conversation.messages) <= _MOST_ENCODED:
                laws.encode_laws(list(conversation.messages), Registry)


def _put_aside_law(rng: random.Random, data: bytes, name: str, chosen: str | None, held: list[Trace]) -> None:
    """Spans that are read trace by trace from the disk, or in parts, say all that they say when they are held."""
    whole = rng.choice((900, MAX_RECORD_BYTES))
    with mock.patch.multiple(spool, MAX_HELD_SPAN_BYTES=100, MAX_RECORD_BYTES=whole):
        put_aside = _read(data, name, chosen)
    lost = _told(held) - _told(put_aside)
    assert not lost, f"not told when put aside: {lost}"


def _told(traces: list[Trace]) -> set[tuple[str, str]]:
    return {
        (each.content, each.reasoning)
        for trace in traces
        for conversation in trace.conversations
        for each in conversation.messages
    }


def _read(data: bytes | io.BytesIO, name: str, chosen: str | None) -> list[Trace]:
    """The traces of a source up to its end or to where it is refused."""
    traces = []
    try:
        for trace in iter_traces(data, name, chosen):
            check(trace)
            traces.append(trace)
    except UnreadableTrace as error:
        assert error.reason, "refused without a reason"
        assert error.position, "refused without a place"
    return traces
