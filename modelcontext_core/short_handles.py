"""Handles without a scheme (`i1`, `ms2`, `ref-3`): where they stand in a text, and which ending may become one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from modelcontext_core.grammar import GLUE, free_after, free_before


class ShortHandles(NamedTuple):
    """One family of handles without a scheme: its prefix, its values by handle, and the length of the longest handle,
    beyond which nothing needs to be held back."""

    prefix: str
    values: Mapping[str, str]
    longest: int


class CompiledShortHandles:
    """The short handles of one registry, compiled: where they stand in a text, and which ending may become one."""

    def __init__(self, families: Sequence[ShortHandles]) -> None:
        self._families = {family.prefix: family for family in families}
        prefixes = sorted(self._families, key=len, reverse=True)
        alternatives = "|".join(map(re.escape, prefixes))
        # One pattern a family: each begins with a literal, so that `re` skips what cannot be one.
        self._whole = [
            (re.compile(rf"{re.escape(family.prefix)}[0-9]+").finditer, family.values) for family in families
        ]
        self.begun_in = re.compile(rf"(?:{alternatives})[0-9]").search
        self._beginning = re.compile(rf"(?:({alternatives})[0-9]*|{_beginnings(prefixes)})\Z")
        self._longest = max(family.longest for family in families)
        self.last_letters = frozenset("".join(prefixes)) | frozenset("0123456789")

    def places(self, text: str, start: int) -> list[tuple[int, int, str]]:
        """`(start, end, value)` of every known short handle from `start` on, URLs not yet looked at."""
        found: list[tuple[int, int, str]] = []
        if not self.begun_in(text, start):
            return found
        for finditer, values in self._whole:
            for match in finditer(text, start):
                value = values.get(match[0])
                if value is not None and free_before(text, match.start(), GLUE) and free_after(text, match.end(), GLUE):
                    found.append((match.start(), match.end(), value))
        if len(self._whole) > 1:
            found.sort()
        return found

    def unfinished(self, text: str, start: int) -> int:
        """Where the ending of `text` begins that may still become a known short handle; its length when none."""
        if text[-1] not in self.last_letters:
            return len(text)
        for at in range(max(start, len(text) - self._longest), len(text)):
            match = self._beginning.match(text, at)
            if (
                match is not None
                and (match[1] is None or len(match[0]) <= self._families[match[1]].longest)
                and free_before(text, at, GLUE)
            ):
                return at
        return len(text)


def _beginnings(prefixes: Sequence[str]) -> str:
    cut = {prefix[:k] for prefix in prefixes for k in range(1, len(prefix) + 1)}
    return "|".join(map(re.escape, sorted(cut, key=len, reverse=True)))
