"""How many tokens a text costs, offline, always with the name of the encoding.

Two counters stand behind one small protocol: an exact one for the encodings that `toktok-rs` ships (extra `tokens`),
and an estimate without any dependency. A count says which of the two it is: an estimate must be labelled as one.
Any callable of the user's that takes texts and gives one number for each is a third.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, cast

__all__ = ["ENCODINGS", "TokenCount", "TokenCounter", "count", "counter", "estimate", "exact_available"]

# Encodings with an offline vocabulary. Vendors that publish none (Claude, Gemini) can only be estimated.
ENCODINGS: Final = ("o200k_base", "cl100k_base", "qwen3.5")
ESTIMATE: Final = "estimate"

# A word of letters, a short run of digits, a run of blanks before something, or one sign.
_PIECES: Final = re.compile(r"[A-Za-z]+|[0-9]{1,3}|\s+|[^A-Za-z0-9\s]")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LETTERS_PER_TOKEN: Final = 5
# Letters inside an identifier are no words: next to a digit, about two make a token (a UUID costs 27, not 15).
_HEX_RUN: Final = re.compile(r"(?<![A-Za-z0-9])(?=[0-9a-fA-F]*[0-9])[0-9a-fA-F]{4,}(?![A-Za-z0-9])")
_HEX_PER_TOKEN: Final = 1.6
_TEXTS_AT_ONCE: Final = 64


class TokenCounter(Protocol):
    """Counts many texts at once: one number a text, in order."""

    def __call__(self, texts: Sequence[str], /) -> Sequence[int]:
        """Return the number of tokens of each text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCount:
    """The tokens of a batch. `encoding` names the tokenizer, `estimated` says that it was only approximated."""

    tokens: int
    each: tuple[int, ...]
    encoding: str
    estimated: bool


def exact_available(encoding: str = ENCODINGS[0]) -> bool:
    """Return whether `encoding` can be counted exactly here, without a network."""
    return encoding in ENCODINGS and importlib.util.find_spec("toktok") is not None


def counter(encoding: str = ENCODINGS[0]) -> TokenCounter:
    """Return the best counter for `encoding`: exact where its vocabulary is installed, else the estimate.

    Raises `ValueError` for a name that is neither an encoding nor `estimate`: a misspelt name must not quietly
    become an estimate. An exact counter takes no lone surrogates; `count` replaces them.
    """
    if encoding not in (*ENCODINGS, ESTIMATE):
        raise ValueError(f"unknown encoding {encoding!r}; known: {', '.join((*ENCODINGS, ESTIMATE))}")
    return _exact(encoding) if exact_available(encoding) else estimate


def count(texts: Iterable[str], encoding: str = ENCODINGS[0], *, using: TokenCounter | None = None) -> TokenCount:
    """Count a batch of texts under `encoding`.

    `using` is a counter of the caller's; `encoding` is then only its name. Lone surrogates, which no tokenizer
    takes, are counted as the replacement character. Raises `ValueError` for an unknown encoding.
    """
    batch = tuple(_encodable(text) for text in texts)
    chosen = using or counter(encoding)
    each = tuple(int(number) for number in chosen(batch))
    return TokenCount(tokens=sum(each), each=each, encoding=encoding, estimated=using is None and chosen is estimate)


def estimate(texts: Sequence[str], /) -> list[int]:
    """Estimate the tokens of each text without a vocabulary; within about a quarter for prose, JSON and identifiers."""
    return [_estimate_one(text) for text in texts]


def _estimate_one(text: str) -> int:
    hex_characters = 0

    def blank(match: re.Match[str]) -> str:
        nonlocal hex_characters
        hex_characters += len(match[0])
        return "-"

    rest = _HEX_RUN.sub(blank, text)
    total = hex_characters / _HEX_PER_TOKEN
    for match in _PIECES.finditer(rest):
        piece = match[0]
        if piece[0].isspace():
            # One blank belongs to the word that follows it.
            total += 0 if piece == " " else 1
        elif piece.isascii() and piece.isalpha():
            total += -(-len(piece) // _LETTERS_PER_TOKEN) if len(piece) > _LETTERS_PER_TOKEN + 2 else 1
        else:
            total += 0.75
    return round(total) if text else 0


def _encodable(text: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", text)


def _exact(encoding: str) -> TokenCounter:
    # Optional and without type information: imported by name, so that the core loads without it.
    batch_count = cast("Callable[..., list[int]]", importlib.import_module("toktok").batch_count)

    def exact(texts: Sequence[str], /) -> Sequence[int]:
        counts: list[int] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            # Copies: a text that is not ASCII keeps its UTF-8 form for good once that was asked for.
            batch = [text.encode().decode() for text in texts[start : start + _TEXTS_AT_ONCE]]
            # One thread: the pool costs more than it saves for a conversation.
            counts += batch_count(batch, encoding, threads=1)
        return counts

    return exact
