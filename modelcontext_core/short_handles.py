"""Handles without a scheme (`i1`, `ms2`, `ref-3`): where they stand in a text, and which ending may become one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from modelcontext_core.grammar import GLUE, free_after, free_before


class ShortHandles(NamedTuple):
    """One family of handles without a scheme: its prefix, and its values by handle, as they are at any time."""

    prefix: str
    values: dict[str, str]


class CompiledShortHandles:
    """The short handles of one registry, compiled: where they stand in a text, and which ending may become one."""

    def __init__(self, families: Sequence[ShortHandles]) -> None:
        prefixes = sorted((family.prefix for family in families), key=len, reverse=True)
        alternatives = "|".join(map(re.escape, prefixes))
        # One pattern a family: each begins with a literal, so that `re` skips what cannot be one.
        self._whole = [
            (re.compile(rf"{re.escape(family.prefix)}[0-9]+").finditer, family.values) for family in families
        ]
        self.begun_in = re.compile(rf"(?:{alternatives})[0-9]").search
        self._beginning = re.compile(rf"(?:({alternatives})[0-9]*|{_beginnings(prefixes)})\Z")
        # Beyond the longest handle, the last that was given out, nothing needs to be held back.
        self._lengths = {family.prefix: len(next(reversed(family.values))) for family in families}
        self._longest = max(self._lengths.values())
        self.last_letters = frozenset("".join(prefixes)) | frozenset("0123456789")

    @classmethod
    def of(cls, families: Sequence[ShortHandles]) -> CompiledShortHandles | None:
        """Those of the families that have any handle now; None when none has."""
        known = [family for family in families if family.values]
        return cls(known) if known else None

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
                and (match[1] is None or len(match[0]) <= self._lengths[match[1]])
                and free_before(text, at, GLUE)
            ):
                return at
        return len(text)


class _Unasked(CompiledShortHandles):
    """Stands for the short handles of a registry that was not asked yet: any text may hold one."""

    def __init__(self) -> None:
        self.begun_in = re.compile("").search


UNASKED: Final = _Unasked()


def _beginnings(prefixes: Sequence[str]) -> str:
    cut = {prefix[:k] for prefix in prefixes for k in range(1, len(prefix) + 1)}
    return "|".join(map(re.escape, sorted(cut, key=len, reverse=True)))
