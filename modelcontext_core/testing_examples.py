"""Decoders that are wrong on purpose, to see what a check of streams finds. Use them for nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from modelcontext_core.grammar import scheme_beginning
from modelcontext_core.registry import Registry

__all__ = ["ForgetsWordBoundaries", "forgets_word_boundaries"]

_HANDLE: Final = re.compile(r"(?:chunk|doc|kb|url|res)://[0-9]+")
_OPEN_END: Final = re.compile(r"(?:chunk|doc|kb|url|res):/{0,2}\Z")


class ForgetsWordBoundaries:
    """Restores scheme handles, and holds back a scheme that is cut. But it takes a handle for whole as soon as it has
    a digit: of `doc://12`, cut behind the 1, it makes what `doc://1` stands for, and a 2."""

    def __init__(self, durable: Mapping[str, str]) -> None:
        self._durable = durable
        self._held = ""

    def feed(self, chunk: str) -> str:
        """The text that a chunk settles, or should."""
        text = self._held + chunk
        cut = _OPEN_END.search(text)
        begin = cut.start() if cut is not None else scheme_beginning(text)
        self._held = text[begin:] if begin >= 0 else ""
        return _HANDLE.sub(self._restore, text[: len(text) - len(self._held)])

    def flush(self) -> str:
        """The rest."""
        text, self._held = self._held, ""
        return text

    def _restore(self, match: re.Match[str]) -> str:
        return self._durable.get(match[0], "")


def forgets_word_boundaries(registry: Registry) -> ForgetsWordBoundaries:
    """The decoder above, with the handles of `registry`."""
    return ForgetsWordBoundaries({row.handle: row.durable for row in registry.handles()})
