"""What only captures have: channels that arrive at the same time, and bytes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from modelcontext_core.chunking import ChannelKey, ChunkLike
from modelcontext_core.registry import Registry
from modelcontext_core.responses import (
    ArgumentsDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
    ToolCallStart,
    decode_events,
)
from modelcontext_core.stream_check.report import CutFailure, Trial

__all__ = ["INTERLEAVINGS", "Split", "byte_places", "byte_trials", "interleavings"]

INTERLEAVINGS: Final = 12
_MOST_BYTE_CUTS: Final = 2000
_BYTE_WORK: Final = 40_000_000  # bytes that all cuts of a capture's bytes together may read again

Split = Callable[[Iterable[bytes]], Iterable[object]]


def interleavings(registry: Registry, chunks: Sequence[ChunkLike], seed: int) -> Iterator[Trial]:
    """A trial for each of `INTERLEAVINGS` orders in which the chunks may arrive as well."""
    whole = _outcome(registry, chunks)
    cost = sum(len(chunk.text) for chunk in chunks)
    for order in _orders(chunks, seed):
        found = _outcome(registry, order)
        wrong = next((key for key in whole if found.get(key) != whole[key]), None)
        if wrong is None:
            yield Trial(cost)
            continue
        failure = CutFailure(
            kind="interleaved", key=wrong, cuts=(), chunks=[chunk.text for chunk in order],
            streamed=found.get(wrong, ""), whole=whole[wrong],
        )  # fmt: skip
        yield Trial(cost, failure)


def _outcome(registry: Registry, chunks: Iterable[ChunkLike]) -> dict[ChannelKey, str]:
    """What each channel comes to when the chunks arrive in this order."""
    found: dict[ChannelKey, str] = {}
    for event in decode_events(registry, _events_of(chunks)):
        if isinstance(event, ToolCallReady):
            found["arguments", event.index] = event.call.arguments
        elif isinstance(event, TextDelta | ReasoningDelta):
            key: ChannelKey = ("text" if isinstance(event, TextDelta) else "reasoning", event.index)
            found[key] = found.get(key, "") + event.text
    return found


def _events_of(chunks: Iterable[ChunkLike]) -> Iterator[TextDelta | ReasoningDelta | ToolCallStart | ArgumentsDelta]:
    for chunk in chunks:
        if chunk.channel == "arguments":
            yield ToolCallStart(index=chunk.index, name=chunk.name)
            yield ArgumentsDelta(index=chunk.index, text=chunk.text)
        else:
            delta = TextDelta if chunk.channel == "text" else ReasoningDelta
            yield delta(text=chunk.text, index=chunk.index)


def _orders(chunks: Sequence[ChunkLike], seed: int) -> Iterator[Sequence[ChunkLike]]:
    """Orders in which the chunks may arrive as well: each channel's stay in order, the channels mix."""
    channels: dict[ChannelKey, list[ChunkLike]] = {}
    for chunk in chunks:
        channels.setdefault((chunk.channel, chunk.index), []).append(chunk)
    rows = list(channels.values())
    yield [chunk for row in rows for chunk in row]
    yield [chunk for row in reversed(rows) for chunk in row]
    longest = max(map(len, rows), default=0)
    yield [row[at] for at in range(longest) for row in rows if at < len(row)]
    rng = random.Random(seed)  # noqa: S311 - the same in every run, no secret
    for _ in range(INTERLEAVINGS - 3):
        turns = [number for number, row in enumerate(rows) for _ in row]
        rng.shuffle(turns)
        left = [iter(row) for row in rows]
        yield [next(left[turn]) for turn in turns]


def byte_trials(data: bytes, cuts: Sequence[tuple[int, ...]], split: Split) -> Iterator[Trial]:
    """A trial for each cut of the bytes: it must give the same events."""
    whole = list(split([data]))
    for places in cuts:
        borders = [0, *places, len(data)]
        pieces = [data[start:end] for start, end in pairwise(borders)]
        found = list(split(pieces))
        failure = None
        if found != whole:
            wrong = next((n for n, (a, b) in enumerate(zip(found, whole, strict=False)) if a != b), len(whole) - 1)
            failure = CutFailure(
                kind="bytes", key=("text", 0), cuts=places, chunks=[repr(piece) for piece in pieces],
                streamed=repr(found[wrong : wrong + 1]), whole=repr(whole[wrong : wrong + 1]),
            )  # fmt: skip
        yield Trial(len(data), failure)


def byte_places(data: bytes, seed: int) -> list[tuple[int, ...]]:
    """Where bytes are cut: inside of characters, around the ends of lines, evenly; and some cuts into many pieces."""
    most = min(_MOST_BYTE_CUTS, max(50, _BYTE_WORK // max(len(data), 1)))
    inside = [at for at in range(1, len(data)) if data[at] & 0xC0 == 0x80]
    ends = [at + k for at in range(len(data)) if data[at] == 10 for k in (-1, 0, 1, 2, 4) if 0 < at + k < len(data)]
    even = [1 + at * (len(data) - 1) // most for at in range(most)] if len(data) > 1 else []
    rng = random.Random(seed)  # noqa: S311 - the same in every run, no secret
    chosen: set[int] = set()
    for group in (inside, ends, even):
        chosen.update(rng.sample(group, min(len(group), most // 3)))
    many = [tuple(sorted({rng.randrange(1, len(data)) for _ in range(20)})) for _ in range(10)] if len(data) > 1 else []
    return [*((at,) for at in sorted(chosen)), *many]
