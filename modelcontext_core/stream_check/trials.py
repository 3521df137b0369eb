"""Cuts of texts: in two at every place, into many pieces, into characters.

How all single cuts of a long text are affordable for our own decoder: it may be put into a state that it was in
before. Each cut begins at a place before it, in the state that a plain run had there, and ends as soon as the state
and everything written are again those of the plain run behind the cut: from there on nothing can differ. Decoders of
other people show no state; they decode the whole text for each cut, at the places where it is most likely to hurt.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Final

from modelcontext_core.chunking import ChannelKey, at_places, hurtful_spans
from modelcontext_core.scanner import ScannerState
from modelcontext_core.stream import StreamDecoder
from modelcontext_core.stream_check.report import CheckKind, CutFailure, MakeDecoder, Trial

__all__ = ["Subject", "many_cuts", "places", "singles", "streamed", "tried"]

NEAR_CHARACTERS: Final = 64
EVENLY_SPREAD: Final = 2000
_STATE_EVERY: Final = 32


class Subject:
    """The text of one channel and what decodes it.

    `decode` decodes a whole text; without it a new decoder is fed the text at once. `own` makes our own decoder, which
    shows its state, when it is that which is checked.
    """

    def __init__(
        self,
        key: ChannelKey,
        text: str,
        make: MakeDecoder,
        *,
        decode: Callable[[str], str] | None = None,
        own: Callable[[], StreamDecoder] | None = None,
    ) -> None:
        self.key = key
        self.text = text
        self.make = make
        self.own = own
        self._decode = decode

    @cached_property
    def whole(self) -> str:
        """What every cut must give. What the decoder raises goes through."""
        return self.decoded(self.text)

    def decoded(self, text: str) -> str:
        """Another text, decoded whole."""
        if self._decode is not None:
            return self._decode(text)
        decoder = self.make()
        return decoder.feed(text) + decoder.flush()


def places(text: Subject) -> Sequence[int]:
    """Where a text is cut in two: everywhere, or where it may hurt and 2,000 times evenly; those inside first."""
    size = len(text.text)
    if text.own is not None or size <= EVENLY_SPREAD:
        return range(1, size)
    spans = hurtful_spans(text.text)
    inside = {at for start, end in spans for at in range(start + 1, end + 1)}
    near = {at for a, b in spans for at in range(a - NEAR_CHARACTERS, b + NEAR_CHARACTERS + 1)}
    spread = {1 + at * (size - 1) // EVENLY_SPREAD for at in range(EVENLY_SPREAD)}
    return [at for at in [*sorted(inside), *sorted((near | spread) - inside)] if 0 < at < size]


def singles(text: Subject, cuts: Sequence[int]) -> Iterator[Trial]:
    """A trial for each cut in two at `cuts`."""
    if text.own is not None:
        yield from _Continued(text, text.own).trials()
        return
    for at in cuts:
        yield tried("single", text, (at,))


class _Continued:
    """All single cuts of one text for our own decoder, each continued from a state of a plain run before it."""

    def __init__(self, subject: Subject, make: Callable[[], StreamDecoder]) -> None:
        self._subject = subject
        self._make = make
        self._decoder = make()
        self._at: list[int] = []  # places, the state of the plain run there, and how much it had written
        self._states: list[ScannerState] = []
        self._written: list[int] = []
        self._plain = ""

    def trials(self) -> Iterator[Trial]:
        """One trial a cut, in order."""
        self._run_plainly()
        size, subject = len(self._subject.text), self._subject
        # The plain run is a way to cut, too. When it fails, nothing can be compared with it.
        plain_is_right = self._plain == subject.whole
        for at in range(1, size):
            behind = bisect_left(self._at, at)
            first, last = max(behind - 2, 0), min(behind + 1, len(self._at) - 1)
            if plain_is_right and self._agrees(at, first, last):
                yield Trial(self._at[last] - self._at[first])
            else:
                yield tried("single", subject, (at,))

    def _agrees(self, at: int, first: int, last: int) -> bool:
        text, decoder = self._subject.text, self._decoder
        start, end = self._at[first], self._at[last]
        decoder.state = self._states[first]
        out = decoder.feed(text[start:at]) + decoder.feed(text[at:end])
        if end == len(text):
            return out + decoder.flush() == self._plain[self._written[first] :]
        return decoder.state == self._states[last] and out == self._plain[self._written[first] : self._written[last]]

    def _run_plainly(self) -> None:
        """Feeds a few characters at a time and remembers the states between them."""
        text, decoder, out = self._subject.text, self._make(), [""]
        written = 0
        for at in range(0, len(text), _STATE_EVERY):
            self._remember(at, decoder.state, written)
            out.append(decoder.feed(text[at : at + _STATE_EVERY]))
            written += len(out[-1])
        self._remember(len(text), decoder.state, written)
        self._plain = "".join(out) + decoder.flush()

    def _remember(self, at: int, state: ScannerState, written: int) -> None:
        self._at.append(at)
        self._states.append(state)
        self._written.append(written)


def tried(kind: CheckKind, text: Subject, cuts: Sequence[int]) -> Trial:
    """One way to cut: what a new decoder gives, beside the whole."""
    chunks = tuple(at_places(cuts)(text.text))
    found = streamed(text.make, chunks)
    cost = len(text.text) + len(chunks)
    if found == text.whole:
        return Trial(cost)
    failure = CutFailure(kind=kind, key=text.key, cuts=tuple(cuts), chunks=chunks, streamed=found, whole=text.whole)
    return Trial(cost, failure)


def many_cuts(text: str, seed: int, number: int) -> Iterator[tuple[int, ...]]:
    """Seeded cuts into three to nine chunks, half of them where it may hurt."""
    rng = random.Random(seed)  # noqa: S311 - the same in every run, no secret
    inside = sorted({at for start, end in hurtful_spans(text) for at in range(start, end + 1) if 0 < at < len(text)})
    if len(text) < 2:
        return
    for _ in range(number):
        wanted = rng.randint(2, 8)
        cuts = {rng.randrange(1, len(text)) for _ in range(wanted)}
        if inside:
            cuts |= {rng.choice(inside) for _ in range(wanted // 2)}
        yield tuple(sorted(cuts))


def streamed(make: MakeDecoder, chunks: Sequence[str]) -> str:
    """What a new decoder gives; an error of it counts as what it gives."""
    try:
        decoder = make()
        return "".join([*map(decoder.feed, chunks), decoder.flush()])
    except Exception as error:
        return f"{type(error).__name__}: {error}"
