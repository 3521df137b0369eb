"""What a stream decoder does with every chunk: what came in, what is held back and why, what goes out, and when.

Pure: a text or a captured stream and a registry in, steps out. Offsets are characters of the text of a channel, so
that a step costs nothing to keep and long captures stay small.

Explained in `docs/concepts/streaming.md`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from modelcontext_core.chunking import ChannelKey, Chunk, Chunking, ChunkLike, cut, recut
from modelcontext_core.messages import Message, ToolCall
from modelcontext_core.registry import Registry
from modelcontext_core.scanner import LOOK_BACK, Event

__all__ = ["HELD_BECAUSE", "Held", "Piece", "Simulation", "Step", "as_chunks", "simulate", "with_handles"]

PieceKind = Literal["prose", "restored", "dropped", "unresolved"]
Stage = Literal["tag", "handle", "uri", "word", "arguments"]

HELD_BECAUSE: Final[Mapping[Stage, str]] = {
    "tag": "an opening < may become a citation tag; sent on as soon as it cannot",
    "handle": "this may be or become a handle: more letters, slashes or digits can follow",
    "uri": "what follows decides whether the restored address needs brackets",
    "word": "this may be or become a short handle: a digit or letter can follow",
    "arguments": "a call is restored when its arguments are complete",
}
"""Why each stage holds text back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some of what a step settled: `[start, end)` of its channel's input became `text`.

    `kind` is `prose` (copied), `restored`, `dropped` (then `text` is empty), or, for a call that must not run,
    `unresolved`. `rule` is that of the scan: `tag`, `handle`, `word`, `unknown`, `unclosed`, `bare_scheme`, `closer`,
    or `arguments`; "" for prose.
    """

    key: ChannelKey
    kind: PieceKind
    start: int
    end: int
    text: str
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Text that is held back after a step: `[start, end)` of its channel's input, by which stage, and since which
    step its first character waits."""

    key: ChannelKey
    stage: Stage
    start: int
    end: int
    since: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One chunk, or the end of the stream (`key` is None then): numbered from 1.

    `[start, end)` is the chunk's place in its channel. `delayed` counts characters that are settled in this step and
    came in an earlier one; `waited` says how many steps ago the first of them came.
    """

    number: int
    key: ChannelKey | None
    start: int
    end: int
    time: float | None
    pieces: Sequence[Piece]
    held: Sequence[Held]
    delayed: int
    waited: int

    @property
    def sent(self) -> int:
        """Characters that went out."""
        return sum(len(piece.text) for piece in self.pieces)

    @property
    def held_characters(self) -> int:
        """Characters of texts and reasoning that are held back after this step; arguments wait for their end anyway."""
        return sum(held.end - held.start for held in self.held if held.stage != "arguments")


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """All steps of a stream. `inputs` and `outputs` are the whole texts of its channels, `calls` the decoded calls.

    `longest_wait` is in seconds, None when the stream has no times; like `most_held` it leaves arguments out.
    """

    chunks: Sequence[ChunkLike]
    steps: Sequence[Step]
    inputs: Mapping[ChannelKey, str]
    outputs: Mapping[ChannelKey, str]
    calls: Mapping[ChannelKey, ToolCall]
    most_held: int
    longest_wait: float | None

    def source(self, part: Piece | Held) -> str:
        """The input text of a piece, or of what is held."""
        return self.inputs[part.key][part.start : part.end]

    def came_in(self, step: Step) -> str:
        """The text of a step's chunk; "" at the end of the stream."""
        return "" if step.key is None else self.inputs[step.key][step.start : step.end]


def as_chunks(source: str | Iterable[ChunkLike], chunking: Chunking | None = None) -> Sequence[ChunkLike]:
    """A text, or a captured stream, cut by `chunking`; without one a stream keeps its chunks and a text is one."""
    if isinstance(source, str):
        pieces = (source,) if chunking is None else cut(source, chunking)
        return tuple(Chunk(text=piece) for piece in pieces)
    return tuple(source) if chunking is None else recut(source, chunking)


def simulate(registry: Registry, source: str | Iterable[ChunkLike], chunking: Chunking | None = None) -> Simulation:
    """Every step of decoding `source` (a model's answer, or a captured stream) with the handles of `registry`.

    A capture keeps its own chunks, channels and times; with a `chunking` it is cut anew. Each text, each reasoning and
    the arguments of each call have a decoder of their own; calls are decoded at the end, when they are complete.
    Raises `ValueError` for a chunking whose pieces are not the text.
    """
    return _Run(registry, as_chunks(source, chunking)).run()


class _Channel:
    """One channel on the way: what came, what of it is settled, and when each character came."""

    def __init__(self, key: ChannelKey, registry: Registry) -> None:
        self.key = key
        self.name = ""
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.call: ToolCall | None = None
        self.total = 0
        self.settled = 0
        self._ends: list[int] = []
        self._steps: list[int] = []
        self._registry = registry
        self._events: list[Event] = []
        self._decoder = registry.stream_decoder(self._events) if key[0] != "arguments" else None

    def feed(self, text: str, step: int) -> list[Piece]:
        self.inputs.append(text)
        self.total += len(text)
        self._ends.append(self.total)
        self._steps.append(step)
        if self._decoder is None:
            return []
        out = self._decoder.feed(text)
        held = sum(map(len, self._decoder.pending.values()))
        return self._pieces(out, self.total - held)

    def end(self) -> list[Piece]:
        if self._decoder is not None:
            return self._pieces(self._decoder.flush(), self.total)
        return list(self._whole_call("".join(self.inputs)))

    def _whole_call(self, written: str) -> Iterator[Piece]:
        [call] = self._registry.decode_tool_calls([ToolCall(name=self.name, arguments=written)])
        self.call = call
        self.outputs.append(call.arguments)
        start, self.settled = self.settled, self.total
        kind: PieceKind = "unresolved" if call.unresolved_handles else "restored"
        if call.argument_resolution == "unchanged":
            kind = "prose"
        if written:
            yield Piece(key=self.key, kind=kind, start=start, end=self.total, text=call.arguments, rule="arguments")

    def came(self, at: int) -> int:
        """The step in which the character at `at` came."""
        return self._steps[bisect_right(self._ends, at)]

    def held(self) -> Held | None:
        if self.settled == self.total:
            return None
        stage = "arguments" if self._decoder is None else next(iter(self._decoder.pending))
        since = self.came(self.settled)
        return Held(key=self.key, stage=stage, start=self.settled, end=self.total, since=since)  # type: ignore[arg-type]

    def _pieces(self, out: str, settled: int) -> list[Piece]:
        """What the scan told about `out`, from places in what it looked at to places in the channel."""
        # The scan looked at the last characters before what was not settled, too.
        shift = self.settled - min(LOOK_BACK, self.settled)
        pieces, at, spoken = [], self.settled, 0
        for event in sorted(self._events):
            start, end = event.start + shift, event.end + shift
            if start > at:
                pieces.append(self._prose(at, start, out, spoken))
                spoken += start - at
            kind: PieceKind = "restored" if event.written else "dropped"
            piece = Piece(key=self.key, kind=kind, start=start, end=end, text=event.written, rule=event.rule)
            pieces.append(piece)
            spoken += len(event.written)
            at = end
        self._events.clear()
        if settled > at:
            pieces.append(self._prose(at, settled, out, spoken))
        self.outputs.append(out)
        self.settled = settled
        return pieces

    def _prose(self, start: int, end: int, out: str, spoken: int) -> Piece:
        return Piece(key=self.key, kind="prose", start=start, end=end, text=out[spoken : spoken + end - start])


class _Run:
    def __init__(self, registry: Registry, chunks: Sequence[ChunkLike]) -> None:
        self._registry = registry
        self._chunks = chunks
        self._channels: dict[ChannelKey, _Channel] = {}
        # What is held, by channel, in the order in which the channels began to hold something.
        self._held: dict[ChannelKey, Held] = {}
        self._steps: list[Step] = []
        self._longest: float | None = None

    def run(self) -> Simulation:
        for number, chunk in enumerate(self._chunks, 1):
            self._chunk(number, chunk)
        self._end()
        channels = self._channels
        return Simulation(
            chunks=self._chunks,
            steps=tuple(self._steps),
            inputs={key: "".join(channel.inputs) for key, channel in channels.items()},
            outputs={key: "".join(channel.outputs) for key, channel in channels.items()},
            calls={key: channel.call for key, channel in channels.items() if channel.call is not None},
            most_held=max((step.held_characters for step in self._steps), default=0),
            longest_wait=self._longest,
        )

    def _chunk(self, number: int, chunk: ChunkLike) -> None:
        key = (chunk.channel, chunk.index)
        channel = self._channels.get(key)
        if channel is None:
            channel = self._channels[key] = _Channel(key, self._registry)
        channel.name = channel.name or chunk.name
        start, before = channel.total, channel.settled
        pieces = channel.feed(chunk.text, number)
        self._step(number, key, (start, channel.total), chunk.time, pieces, {key: before})

    def _end(self) -> None:
        before = {key: channel.settled for key, channel in self._channels.items()}
        pieces = [piece for channel in self._channels.values() for piece in channel.end()]
        time = self._chunks[-1].time if self._chunks else None
        self._step(len(self._chunks) + 1, None, (0, 0), time, pieces, before)

    def _step(
        self,
        number: int,
        key: ChannelKey | None,
        span: tuple[int, int],
        time: float | None,
        pieces: Sequence[Piece],
        before: Mapping[ChannelKey, int],
    ) -> None:
        delayed = waited = 0
        for each, settled in before.items():
            channel = self._channels[each]
            late = min(channel.settled, span[0] if each == key else channel.total) - settled
            if late > 0:
                came = channel.came(settled)
                delayed, waited = delayed + late, max(waited, number - came)
                self._waited(each, came, time)
            held = channel.held()
            self._held.pop(each, None)
            if held is not None:
                self._held[each] = held
        self._steps.append(
            Step(
                number=number, key=key, start=span[0], end=span[1], time=time, pieces=tuple(pieces),
                held=tuple(self._held.values()), delayed=delayed, waited=waited,
            )
        )  # fmt: skip

    def _waited(self, key: ChannelKey, came: int, now: float | None) -> None:
        began = self._chunks[came - 1].time
        if key[0] != "arguments" and began is not None and now is not None:
            self._longest = max(self._longest or 0.0, now - began)


# ------------------------------------------------------------------------------------- captures that hold no handles


def with_handles(chunks: Iterable[ChunkLike], registry: Registry) -> tuple[Chunk, ...]:
    """A capture as a model that reads handles would have streamed it: its texts encoded, its borders moved with them.

    `registry` is that of the capture's conversation and learns what is new in the capture. A border inside of an
    identity comes to stand inside of its handle, at about the same part of it; a chunk of which nothing is left is
    left out. What comes out is made, and should be shown as made.
    """
    chunks = tuple(chunks)
    joined: dict[ChannelKey, list[str]] = {}
    names: dict[ChannelKey, str] = {}
    for chunk in chunks:
        key = (chunk.channel, chunk.index)
        joined.setdefault(key, []).append(chunk.text)
        names[key] = names.get(key) or chunk.name
    moved = {key: _Moved("".join(texts), key, names[key], registry) for key, texts in joined.items()}
    made = (moved[chunk.channel, chunk.index].next(chunk) for chunk in chunks)
    return tuple(chunk for chunk in made if chunk.text)


class _Moved:
    """One channel encoded: gives the pieces of the encoded text in step with those of the captured one."""

    def __init__(self, text: str, key: ChannelKey, name: str, registry: Registry) -> None:
        report = registry.encode_with_report([_as_message(text, key, name)])
        message = report.messages[0]
        self._text = {
            "text": message.content,
            "reasoning": message.reasoning,
            "arguments": message.tool_calls[0].arguments if message.tool_calls else "",
        }[key[0]]
        self._spans = report.spans
        self._ends = [span.end for span in report.spans]
        self._at = self._written = 0

    def next(self, chunk: ChunkLike) -> Chunk:
        self._at += len(chunk.text)
        start, self._written = self._written, max(self._written, self._border(self._at))
        text = self._text[start : self._written]
        return Chunk(text=text, channel=chunk.channel, index=chunk.index, time=chunk.time, name=chunk.name)

    def _border(self, at: int) -> int:
        number = bisect_right(self._ends, at)
        if number < len(self._spans) and self._spans[number].start < at:
            span = self._spans[number]
            part = (at - span.start) / (span.end - span.start)
            return span.out_start + round(part * (span.out_end - span.out_start))
        shift = self._spans[number - 1].out_end - self._spans[number - 1].end if number else 0
        return at + shift


def _as_message(text: str, key: ChannelKey, name: str) -> Message:
    message = Message(role="assistant")
    if key[0] == "arguments":
        return replace(message, tool_calls=(ToolCall(name=name, arguments=text),))
    return replace(message, reasoning=text) if key[0] == "reasoning" else replace(message, content=text)
