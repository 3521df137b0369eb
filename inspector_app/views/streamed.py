"""A stream and its steps: the input of the views of the Streams page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from inspector_app.views.stream_bars import Bar, bars
from modelcontext_core.chunking import ChannelKey, ChunkLike
from modelcontext_core.registry import Registry
from modelcontext_core.simulate import Piece, Simulation, Step

__all__ = ["CAPTURE", "RegistryKind", "Streamed", "Subject"]

CAPTURE: Final = -1
"""The choice of the captured stream; any other is the number of a message."""

RegistryKind = Literal["trace", "made"]


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A stream and the registry that it is decoded with.

    `registry_kind` says whose handles these are: those of the trace, or made for this text. `known` counts them.
    `without_handles` marks a capture that holds no handles, and `made` one that was encoded as a model with handles
    would have streamed it.
    """

    choice: int
    chunks: Sequence[ChunkLike]
    registry: Registry
    registry_kind: RegistryKind
    known: int
    without_handles: bool = False
    made: bool = False

    @property
    def characters(self) -> int:
        """How long the stream is."""
        return sum(len(chunk.text) for chunk in self.chunks)

    @property
    def timed(self) -> bool:
        """Whether the capture recorded when its chunks came."""
        return any(chunk.time is not None for chunk in self.chunks)


@dataclass(frozen=True, kw_only=True)
class Streamed:
    """A stream, its steps, and which handle stands behind each restored piece."""

    subject: Subject
    simulation: Simulation
    assumed: bool

    @property
    def steps(self) -> Sequence[Step]:
        """The steps."""
        return self.simulation.steps

    @cached_property
    def bars(self) -> Sequence[Bar]:
        """The bars of the timeline."""
        return bars(self.steps)

    @cached_property
    def _chunks(self) -> Mapping[ChannelKey, list[Step]]:
        found: dict[ChannelKey, list[Step]] = {}
        for step in self.steps:
            if step.key is not None:
                found.setdefault(step.key, []).append(step)
        return found

    @cached_property
    def _pieces(self) -> Mapping[ChannelKey, list[tuple[int, Piece]]]:
        found: dict[ChannelKey, list[tuple[int, Piece]]] = {}
        for step in self.steps:
            for piece in step.pieces:
                found.setdefault(piece.key, []).append((step.number, piece))
        return found

    def chunks_of(self, key: ChannelKey) -> Sequence[Step]:
        """The steps whose chunk is one of this channel."""
        return self._chunks.get(key, ())

    def sent_of(self, key: ChannelKey) -> Sequence[tuple[int, Piece]]:
        """The pieces of this channel that went out, each with the number of its step."""
        return self._pieces.get(key, ())

    @cached_property
    def handles(self) -> Mapping[tuple[ChannelKey, int], tuple[str, str]]:
        """Handle and space of each restored piece, by its channel and where it begins in the input."""
        found: dict[tuple[ChannelKey, int], tuple[str, str]] = {}
        for key, text in self.simulation.inputs.items():
            if key[0] != "arguments":
                for item in self.subject.registry.decode_with_report(text).items:
                    if item.kind == "restored":
                        found[key, item.start] = (item.handle, item.space)
        return found

    @cached_property
    def names(self) -> Mapping[ChannelKey, str]:
        """The tool of each call."""
        return {(chunk.channel, chunk.index): chunk.name for chunk in reversed(self.simulation.chunks) if chunk.name}

    @cached_property
    def holding(self) -> Sequence[int]:
        """The steps in which a text begins to be held."""
        return [
            step.number
            for step in self.steps
            if any(held.since == step.number and held.stage != "arguments" for held in step.held)
        ]

    @cached_property
    def replacing(self) -> Sequence[int]:
        """The steps in which something is restored."""
        return [step.number for step in self.steps if any(piece.kind == "restored" for piece in step.pieces)]

    @cached_property
    def dropping(self) -> Sequence[int]:
        """The steps in which something is dropped, or a call turns out unresolved."""
        wanted = ("dropped", "unresolved")
        return [step.number for step in self.steps if any(piece.kind in wanted for piece in step.pieces)]

    @cached_property
    def longest_wait(self) -> int:
        """How many steps a text waited at most."""
        waits = (step.number + 1 - held.since for step in self.steps for held in step.held if held.stage != "arguments")
        return max(waits, default=0)
