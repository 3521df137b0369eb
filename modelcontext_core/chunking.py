"""Ways to cut a text into the chunks of a stream, and to cut a captured stream anew.

A chunking takes a text and gives its pieces. All here are pure: the same text gives the same pieces, `random_pieces`
for the same seed too. Where real tokenizers put their borders only a callable of the user can say; `about_a_token` is
a rule of thumb.

Listed in `docs/concepts/streaming.md`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Literal, Protocol

from modelcontext_core.grammar import WORD_HANDLE, handle_spans

__all__ = [
    "CHANNELS",
    "CHUNKINGS",
    "Channel",
    "ChannelKey",
    "Chunk",
    "ChunkLike",
    "Chunking",
    "about_a_token",
    "at_places",
    "by_size",
    "characters",
    "chunking_named",
    "cut",
    "hurtful_spans",
    "random_pieces",
    "recut",
    "words",
    "worst_case",
]

Channel = Literal["text", "reasoning", "arguments"]
CHANNELS: Final[tuple[Channel, ...]] = ("text", "reasoning", "arguments")
ChannelKey = tuple[Channel, int]
Chunking = Callable[[str], Iterable[str]]


class ChunkLike(Protocol):
    """What a piece of a stream says: `Chunk`, and the chunks that the readers of captures give."""

    @property
    def channel(self) -> Channel:
        """Which part of the response it belongs to."""
        ...

    @property
    def text(self) -> str:
        """The piece."""
        ...

    @property
    def index(self) -> int:
        """Tells texts or calls apart that arrive at the same time."""
        ...

    @property
    def time(self) -> float | None:
        """Seconds from the first chunk, where recorded."""
        ...

    @property
    def name(self) -> str:
        """The tool, for arguments."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One piece of a stream, see `ChunkLike`."""

    text: str
    channel: Channel = "text"
    index: int = 0
    time: float | None = None
    name: str = ""


# ------------------------------------------------------------------------------------------------------- the ways

_CJK: Final = r"\u2e80-\u2fdf\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_ABOUT_A_TOKEN: Final = re.compile(
    rf"[{_CJK}]| ?(?:(?![{_CJK}])[^\W\d_]){{1,4}}| ?[0-9]{{1,3}}| ?[^\w\s]{{1,3}}|\s+?(?=\s\S|\Z|\S)|.", re.DOTALL
)
_WORD: Final = re.compile(r"\s*\S+\s*\Z|\s*\S+|\s+")


def characters(text: str) -> Sequence[str]:
    """One character at a time."""
    return tuple(text)


def by_size(size: int) -> Chunking:
    """Pieces of `size` characters. Raises `ValueError` for a size below 1."""
    if size < 1:
        raise ValueError(f"a chunk has at least one character, not {size}")
    return lambda text: tuple(text[at : at + size] for at in range(0, len(text), size))


def about_a_token(text: str) -> Sequence[str]:
    """About what a model sends at once: a word's beginning with its space, runs of up to four letters, up to three
    digits or signs, single CJK characters. A rule of thumb; `cut` takes a callable for the borders of a real tokenizer.
    """
    return tuple(match[0] for match in _ABOUT_A_TOKEN.finditer(text))


def words(text: str) -> Sequence[str]:
    """Words with the space before them."""
    return tuple(match[0] for match in _WORD.finditer(text))


def random_pieces(seed: int = 0, low: int = 3, high: int = 11) -> Chunking:
    """Pieces of `low` to `high` characters, the same for the same seed and text."""
    if not 1 <= low <= high:
        raise ValueError(f"pieces of {low} to {high} characters cannot be made")

    def cut_randomly(text: str) -> Sequence[str]:
        rng, pieces, at = random.Random(seed), [], 0  # noqa: S311 - the same in every run, no secret
        while at < len(text):
            size = rng.randint(low, high)
            pieces.append(text[at : at + size])
            at += size
        return tuple(pieces)

    return cut_randomly


def at_places(places: Iterable[int]) -> Chunking:
    """Cuts before the characters at these places; those outside of the text are passed over."""
    wanted = sorted(set(places))

    def cut_there(text: str) -> Sequence[str]:
        borders = [0, *(place for place in wanted if 0 < place < len(text)), len(text)]
        return tuple(text[start:end] for start, end in pairwise(borders) if end > start)

    return cut_there


# Of a long tag only the beginning and the end are cut finely: what lies between them is all alike.
_FINE_HEAD: Final = 48
_FINE_TAIL: Final = 24


def worst_case(text: str) -> Sequence[str]:
    """Cuts at every place inside handles, tags, surrogate pairs and escapes, and at both of their ends."""
    places: set[int] = set()
    for start, end in hurtful_spans(text):
        places.update(range(start, min(end, start + _FINE_HEAD) + 1))
        places.update(range(max(start, end - _FINE_TAIL), end + 1))
    return tuple(at_places(places)(text))


# Anything in brackets is taken for a tag: other people's placeholders look like that.
_HURTFUL: Final = re.compile(
    r"</?[A-Za-z][^<>\n]{0,600}>?|\[[^\[\]\n]{1,64}\]|\{\{?[^{}\n\"]{1,64}\}\}?"
    r"|\\(?:u[0-9A-Fa-f]{0,4}|.)|%[0-9A-Fa-f]{2}|&#?\w{1,8};"
    r"|[\ud800-\udbff][\udc00-\udfff]|\b[a-z]{2,8}:/{0,2}\Z"
)

_SHORT_HANDLE: Final = re.compile(rf"(?<![A-Za-z]){WORD_HANDLE.pattern}", re.IGNORECASE | re.ASCII)


def hurtful_spans(text: str) -> list[tuple[int, int]]:
    """`(start, end)` of all that must not be torn: handles, tags and placeholders, surrogate pairs, escapes. They may
    overlap; they are in the order of their beginnings."""
    spans = handle_spans(text)
    spans += [match.span() for match in _SHORT_HANDLE.finditer(text)]
    spans += [match.span() for match in _HURTFUL.finditer(text)]
    return sorted(spans)


CHUNKINGS: Final = ("captured", "size", "characters", "token", "words", "random", "worst", "places")
"""Names of the ways: `captured` keeps a capture's own chunks and leaves any other text whole."""


def chunking_named(name: str, *, size: int = 8, seed: int = 0, places: Iterable[int] = ()) -> Chunking | None:
    """The chunking of this name (see `CHUNKINGS`); None for `captured`. Raises `ValueError` for another name."""
    match name:
        case "captured":
            return None
        case "size":
            return by_size(size)
        case "random":
            return random_pieces(seed)
        case "places":
            return at_places(places)
    simple: dict[str, Chunking] = {
        "characters": characters,
        "token": about_a_token,
        "words": words,
        "worst": worst_case,
    }
    if name not in simple:
        raise ValueError(f"unknown chunking {name!r}: one of {', '.join(CHUNKINGS)}")
    return simple[name]


# ---------------------------------------------------------------------------------------------------- applying one


def cut(text: str, chunking: Chunking) -> tuple[str, ...]:
    """The pieces of `text`, empty ones left out. Raises `ValueError` when they do not make the text again."""
    pieces = tuple(piece for piece in chunking(text) if piece)
    if "".join(pieces) != text:
        raise ValueError("the pieces of a chunking must make the text again, in order and whole")
    return pieces


def recut(chunks: Iterable[ChunkLike], chunking: Chunking) -> tuple[Chunk, ...]:
    """A captured stream cut anew: what stands together in one channel is joined and cut.

    A piece has the time at which its last character came: before that, nobody could have it.
    """
    return tuple(piece for run in _runs(chunks) for piece in _recut_run(run, chunking))


def _runs(chunks: Iterable[ChunkLike]) -> Iterator[list[ChunkLike]]:
    run: list[ChunkLike] = []
    for chunk in chunks:
        if run and (chunk.channel, chunk.index) != (run[0].channel, run[0].index):
            yield run
            run = []
        run.append(chunk)
    if run:
        yield run


def _recut_run(run: Sequence[ChunkLike], chunking: Chunking) -> Iterator[Chunk]:
    first = run[0]
    made = Chunk(text="", channel=first.channel, index=first.index, name=next((c.name for c in run if c.name), ""))
    ends, total = [], 0
    for chunk in run:
        total += len(chunk.text)
        ends.append(total)
    at = source = 0
    for piece in cut("".join(chunk.text for chunk in run), chunking):
        at += len(piece)
        while ends[source] < at:
            source += 1
        yield replace(made, text=piece, time=run[source].time)
