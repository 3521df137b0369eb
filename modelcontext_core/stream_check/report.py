"""What a check says: tallies by kind, and the smallest cut that fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from modelcontext_core.chunking import ChannelKey

__all__ = ["CheckKind", "CutFailure", "CutReport", "Decoder", "MakeDecoder", "Tally", "Trial"]

CheckKind = Literal["single", "multi", "characters", "interleaved", "bytes"]


class Decoder(Protocol):
    """What a stream decoder must offer: ours, or one of your own."""

    def feed(self, chunk: str, /) -> str:
        """The text that this chunk settles."""
        ...

    def flush(self) -> str:
        """The rest. The decoder is new again afterwards."""
        ...


MakeDecoder = Callable[[], Decoder]


@dataclass(frozen=True, slots=True, kw_only=True)
class CutFailure:
    """A cut that breaks the law: `chunks` is the smallest that was found, `cuts` the places of the first in the text of
    its channel (in the bytes for kind `bytes`)."""

    kind: CheckKind
    key: ChannelKey
    cuts: Sequence[int]
    chunks: Sequence[str]
    streamed: str
    whole: str

    def as_text(self) -> str:
        """The cut as text that reproduces it."""
        fed = "\n".join(f"  feed({chunk!r})" for chunk in self.chunks)
        return f"{fed}\n  flush()\n  streamed  {self.streamed!r}\n  but whole {self.whole!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many ways of one kind were tried, were equal, and are to be tried; `possible` is how many there are, where
    not all are."""

    kind: CheckKind
    total: int
    done: int = 0
    equal: int = 0
    possible: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CutReport:
    """What is known so far; `complete` when the check has ended. `failure` is the first that was found, made small."""

    tallies: Mapping[CheckKind, Tally]
    failure: CutFailure | None = None
    complete: bool = False
    seed: int = 0

    @property
    def ok(self) -> bool:
        """Whether all that was tried so far gave the same."""
        return self.failure is None

    @property
    def share_done(self) -> float:
        """How much is done, from 0 to 1."""
        total = sum(tally.total for tally in self.tallies.values())
        return sum(tally.done for tally in self.tallies.values()) / total if total else 1.0


class Trial(NamedTuple):
    """One way that was tried: what it cost in characters, and what failed, if anything did."""

    cost: int
    failure: CutFailure | None = None
