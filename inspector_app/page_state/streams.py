"""What the Streams page remembers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from inspector_app import words
from inspector_app.page_state.parameters import Parameters
from inspector_app.page_state.playground import PlaygroundState
from modelcontext_core.chunking import CHUNKINGS

__all__ = ["AUTOMATIC", "CAPTURE", "StreamsState"]

AUTOMATIC: Final = -2
CAPTURE: Final = -1
_MOST: Final = 10_000_000
_CHANNEL: Final = re.compile(r"(?:text|reasoning|arguments)[0-9]{1,6}")
# What both pages share: the source, and what decides which handles it gets.
_SHARED: Final = ("sample", "path", "key", "format", "conversation", "pack", "off", "citations", "partial", "as_result")


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsState:
    """What is streamed of the source that both pages share, how it is cut, and at which step one is.

    `answer` is the number of a message, `CAPTURE`, or `AUTOMATIC`; `made` shows a capture as a model with handles would
    have streamed it. `chunking` is "" for what fits the source. `places` and `channel` are those of a cut that failed.
    `assumed` are chunks per second for streams without times, 0 for none.
    """

    page: ClassVar[str] = "streams"

    source: PlaygroundState = field(default_factory=PlaygroundState)
    answer: int = AUTOMATIC
    made: bool = False
    chunking: str = ""
    size: int = 8
    seed: int = 7
    places: tuple[int, ...] = ()
    channel: str = ""
    step: int = 1
    assumed: float = 0.0
    speed: int = 5
    decoder: str = "own"
    wrong: bool = False

    def of(self, source: PlaygroundState) -> StreamsState:
        """Return the state for a source: another one begins at its first step, with what fits it."""
        if _identity(source) == _identity(self.source):
            return replace(self, source=source)
        return replace(self, source=source, answer=AUTOMATIC, made=False, chunking="", places=(), channel="", step=1)

    def shareable(self) -> StreamsState:
        """Return the state for a link to pass on: without the key of a trace that only this tab may open."""
        return replace(self, source=self.source.shareable())

    def to_query(self) -> dict[str, str]:
        """Return the query parameters of this state; what is as by default is left out."""
        shared = {name: value for name, value in self.source.to_query().items() if name in _SHARED}
        default = StreamsState()
        written = {
            "answer": str(self.answer),
            "made": str(int(self.made)),
            "chunking": self.chunking,
            "size": str(self.size),
            "seed": str(self.seed),
            "places": ".".join(map(str, self.places)),
            "channel": self.channel,
            "step": str(self.step),
            "assumed": f"{self.assumed:g}",
            "speed": str(self.speed),
            "decoder": self.decoder,
        }
        own = {name: value for name, value in written.items() if getattr(self, name) != getattr(default, name)}
        return {**shared, **own}

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> StreamsState:
        """Read a state from query parameters. A wrong value falls back to its default, and `wrong` says so."""
        given = Parameters(query)
        default = cls()
        state = cls(
            source=PlaygroundState.from_query({name: query[name] for name in _SHARED if name in query}),
            answer=int(given.number("answer", AUTOMATIC, _MOST, AUTOMATIC)),
            made=given.flag("made", False),
            chunking=given.choice("chunking", ("", *CHUNKINGS), ""),
            size=int(given.number("size", 1, _MOST, default.size)),
            seed=int(given.number("seed", 0, _MOST, default.seed)),
            places=given.numbers("places"),
            channel=given.text("channel", lambda value: bool(_CHANNEL.fullmatch(value))),
            step=int(given.number("step", 1, _MOST, 1)),
            assumed=given.number("assumed", 0, 1000, 0),
            speed=int(given.choice("speed", tuple(map(str, words.streams.SPEEDS)), str(default.speed))),
            decoder=given.choice("decoder", tuple(words.streams.DECODERS), default.decoder),
        )
        return replace(state, wrong=given.wrong)


def _identity(source: PlaygroundState) -> tuple[str, str, str, str, int]:
    return source.sample, source.path, source.key, source.format, source.conversation
