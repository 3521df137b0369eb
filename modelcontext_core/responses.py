"""A whole response stream, decoded event by event, whatever vendor it came from.

Translate what the vendor sends into the events of this module; decoded events come back in the order in which they are
settled. Every text, every reasoning and every tool call has a channel of its own, told apart by `index`: a handle that
is cut in one channel is never completed by another. Text comes out as it settles. A tool call comes out once, whole and
through `Registry.decode_tool_calls`, when its arguments are complete.

    decoder = ResponseDecoder(registry)
    for chunk in stream:
        for event in decoder.feed(*events_of(chunk)):
            ...
    for event in decoder.flush():
        ...

Explained in `docs/concepts/streaming.md`, with translations of vendors' events in `docs/recipes.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from modelcontext_core.messages import ToolCall
from modelcontext_core.registry import Registry
from modelcontext_core.stream import StreamDecoder
from modelcontext_core.wrong_types import check_type, wrong_type

__all__ = [
    "ArgumentsDelta",
    "Channel",
    "ChannelEnd",
    "DecodedEvent",
    "Finish",
    "ReasoningDelta",
    "ReasoningSignature",
    "ResponseDecoder",
    "StreamEvent",
    "TextDelta",
    "ToolCallReady",
    "ToolCallStart",
    "decode_events",
]

Channel = Literal["text", "reasoning", "tool_call"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the answer. `index` tells texts apart that arrive at the same time (content blocks)."""

    text: str
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta:
    """A piece of reasoning."""

    text: str
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningSignature:
    """The provider's signature of the reasoning at `index`.

    It comes out behind the reasoning, and only when decoding changed nothing of it: a signature of another text would
    be refused by the provider.
    """

    signature: str
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStart:
    """A tool call begins, or more is known of one that has begun: what was empty is filled.

    Some vendors use one index for all calls; another `id` at the same index is another call, and ends the one before.
    """

    index: int
    id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentsDelta:
    """A piece of the JSON text of a call's arguments."""

    index: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelEnd:
    """One channel is complete, for vendors that say so. What it held comes out now instead of at the end."""

    channel: Channel
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The response is complete: all channels end."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallReady:
    """A whole call, decoded. It must not run when it has `unresolved_handles`."""

    index: int
    call: ToolCall


StreamEvent = TextDelta | ReasoningDelta | ReasoningSignature | ToolCallStart | ArgumentsDelta | ChannelEnd | Finish
DecodedEvent = TextDelta | ReasoningDelta | ReasoningSignature | ToolCallStart | ToolCallReady | Finish


class _Text:
    """A channel of text or reasoning."""

    __slots__ = ("_decoder", "_event", "_index", "_raw", "_signature", "_written")

    def __init__(self, event: type[TextDelta | ReasoningDelta], index: int, decoder: StreamDecoder) -> None:
        self._event = event
        self._index = index
        self._decoder = decoder
        self._signature = ""
        # Both sides are kept for reasoning only, to see whether its signature still holds.
        self._raw: list[str] = []
        self._written: list[str] = []

    @property
    def held(self) -> str:
        return "".join(self._decoder.pending.values())

    def feed(self, text: str) -> Iterator[DecodedEvent]:
        if self._event is ReasoningDelta:
            self._raw.append(text)
        yield from self._settled(self._decoder.feed(text))

    def sign(self, signature: str) -> None:
        self._signature += signature

    def end(self) -> Iterator[DecodedEvent]:
        yield from self._settled(self._decoder.flush())
        if self._signature and "".join(self._raw) == "".join(self._written):
            yield ReasoningSignature(signature=self._signature, index=self._index)

    def _settled(self, text: str) -> Iterator[DecodedEvent]:
        if text:
            if self._event is ReasoningDelta:
                self._written.append(text)
            yield self._event(text=text, index=self._index)


class _Call:
    """A channel of arguments."""

    __slots__ = ("_fragments", "_index", "_registry", "id", "name")

    def __init__(self, index: int, registry: Registry) -> None:
        self._index = index
        self._registry = registry
        self._fragments: list[str] = []
        self.id = ""
        self.name = ""

    @property
    def held(self) -> str:
        return "".join(self._fragments)

    def start(self, event: ToolCallStart) -> Iterator[DecodedEvent]:
        before = (self.id, self.name)
        self.id, self.name = self.id or event.id, self.name or event.name
        if before != (self.id, self.name):
            yield ToolCallStart(index=self._index, id=self.id, name=self.name)

    def feed(self, text: str) -> None:
        check_type("ArgumentsDelta.text", text, str)
        self._fragments.append(text)

    def end(self) -> Iterator[DecodedEvent]:
        written = ToolCall(id=self.id, name=self.name, arguments=self.held)
        yield ToolCallReady(index=self._index, call=self._registry.decode_tool_calls([written])[0])


class ResponseDecoder:
    """Decodes one response after the other of one registry. Several choices at once need a decoder each.

    For one text and one reasoning, what comes out is what `Registry.decode_response` makes of the whole response,
    however the stream is cut. As for every stream decoder, the registry should not change meanwhile.
    """

    __slots__ = ("_channels", "_registry")

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        # In the order in which the channels began: they end in this order.
        self._channels: dict[tuple[Channel, int], _Text | _Call] = {}

    def feed(self, *events: StreamEvent) -> list[DecodedEvent]:
        """What these events settle, in order. `Finish` ends every channel and comes out last; the decoder is then
        ready for the next response."""
        return [decoded for event in events for decoded in self._one(event)]

    def flush(self) -> list[DecodedEvent]:
        """The rest of a stream that ended without a `Finish`; nothing when there was one.

        A call that was cut off comes out too: its arguments are no valid JSON, and its handles are unresolved.
        """
        return [decoded for key in list(self._channels) for decoded in self._end(key)]

    @property
    def pending(self) -> dict[tuple[Channel, int], str]:
        """What is held back by channel: the ends of texts that may still become a handle, arguments so far."""
        return {key: channel.held for key, channel in self._channels.items() if channel.held}

    def _one(self, event: object) -> Iterator[DecodedEvent]:
        if isinstance(event, TextDelta):
            yield from self._text("text", event.index).feed(event.text)
        elif isinstance(event, ReasoningDelta):
            yield from self._text("reasoning", event.index).feed(event.text)
        elif isinstance(event, ReasoningSignature):
            self._text("reasoning", event.index).sign(event.signature)
        elif isinstance(event, ToolCallStart):
            call = self._call(event.index)
            if event.id and call.id and event.id != call.id:
                yield from self._end(("tool_call", event.index))
                call = self._call(event.index)
            yield from call.start(event)
        elif isinstance(event, ArgumentsDelta):
            self._call(event.index).feed(event.text)
        elif isinstance(event, ChannelEnd):
            yield from self._end((event.channel, event.index))
        elif isinstance(event, Finish):
            yield from self.flush()
            yield event
        else:
            raise wrong_type("event", event, "one of the StreamEvent records")

    def _text(self, channel: Literal["text", "reasoning"], index: int) -> _Text:
        found = self._channels.get((channel, index))
        if not isinstance(found, _Text):
            event = TextDelta if channel == "text" else ReasoningDelta
            found = self._channels[channel, index] = _Text(event, index, self._registry.stream_decoder())
        return found

    def _call(self, index: int) -> _Call:
        found = self._channels.get(("tool_call", index))
        if not isinstance(found, _Call):
            found = self._channels["tool_call", index] = _Call(index, self._registry)
        return found

    def _end(self, key: tuple[Channel, int]) -> Iterator[DecodedEvent]:
        channel = self._channels.pop(key, None)
        if channel is not None:
            yield from channel.end()


def decode_events(registry: Registry, events: Iterable[StreamEvent]) -> Iterator[DecodedEvent]:
    """A whole stream, captured or live: each event is decoded as it comes, a missing `Finish` is made up for."""
    decoder = ResponseDecoder(registry)
    for event in events:
        yield from decoder.feed(event)
    yield from decoder.flush()
