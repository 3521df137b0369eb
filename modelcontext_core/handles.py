"""Tables of handles, and the one pass that finds known values in a text.

`HandleTable` numbers values and restores them. `KnownValues` finds the places where values stand *by the gluing rule*:
neither neighbour is an ASCII letter, digit, `_` or `-`, so that `doc-1` is never found in `doc-12` or `doc-1-final`.
That rule is also what makes the search cheap: every run of `[A-Za-z0-9_-]` inside a found value is a whole run of the
text, so looking up the text's runs in a dictionary finds all candidates, whatever the number of values and without a
build step.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from modelcontext_core.grammar import GLUE, LINK_RUN, LONGEST_ESCAPE, free_after, free_before, handle_at, handle_spans
from modelcontext_core.scanner import Rules, Scanner
from modelcontext_core.short_handles import ShortHandles
from modelcontext_core.wrong_types import check_type

_RUN: Final = re.compile(r"[A-Za-z0-9_-]+")
_NO_NAME: Final = " \t\n\r\f\v0123456789"


class Place(NamedTuple):
    """A stretch of text that stands for something: `[start, end)` and what is written instead."""

    start: int
    end: int
    handle: str


class KnownValues:
    """Known values of any shape, each with the handle that replaces it; the first handle given to a value stays."""

    __slots__ = ("_anchors", "_firsts", "_handles", "_shortest")

    def __init__(self) -> None:
        self._handles: dict[str, str] = {}
        # Of a value with several runs, the longest -> how far into such values it begins, and how long they are. A
        # value that is one run is found as it is.
        self._anchors: dict[str, tuple[tuple[int, int], ...]] = {}
        # The same for values without any run (all Chinese, say), by their first character.
        self._firsts: dict[str, tuple[tuple[int, int], ...]] = {}
        self._shortest = sys.maxsize  # of all runs to look for

    def __len__(self) -> int:
        return len(self._handles)

    def get(self, value: str) -> str | None:
        """The handle of `value`, or None."""
        return self._handles.get(value)

    def add(self, value: str, handle: str, *, replace: bool = False) -> None:
        """Makes `value` known; with `replace` a value that is known already gets the new handle."""
        if value in self._handles:
            if replace:
                self._handles[value] = handle
            return
        self._handles[value] = handle
        if _RUN.fullmatch(value):
            self._shortest = min(self._shortest, len(value))
            return
        anchor = max(_RUN.findall(value), key=len, default="")
        if anchor:
            self._shortest = min(self._shortest, len(anchor))
        table, key = (self._anchors, anchor) if anchor else (self._firsts, value[0])
        shape, shapes = (value.find(anchor), len(value)), table.get(key, ())
        if shape not in shapes:
            table[key] = (*shapes, shape)

    def places(self, text: str) -> list[Place]:
        """Every place of a known value by the gluing rule, overlapping ones included, in no particular order."""
        found: list[Place] = []
        if self._shortest < sys.maxsize:
            self._by_runs(text, found)
        if self._firsts:
            for match in re.finditer(f"[{re.escape(''.join(self._firsts))}]", text):
                self._try(text, match.start(), self._firsts[match[0]], found)
        return found

    def _by_runs(self, text: str, found: list[Place]) -> None:
        handles, anchors, escapes = self._handles, self._anchors, "\\" in text
        for match in re.finditer(rf"[A-Za-z0-9_-]{{{self._shortest},}}", text):
            run = match[0]
            if run in handles:
                found.append(Place(*match.span(), handles[run]))
            if run in anchors:
                self._try(text, match.start(), anchors[run], found)
            if escapes and match.start() and text[match.start() - 1] == "\\":
                # `\ndoc-1`, `\u6587doc-1`: what belongs to the escape is no part of the run that counts.
                start = match.start() + (LONGEST_ESCAPE - 1 if run[0] == "u" else 1)
                run = text[start : match.end()]
                if run in handles and free_before(text, start, GLUE):
                    found.append(Place(start, match.end(), handles[run]))
                self._try(text, start, anchors.get(run, ()), found)

    def _try(self, text: str, at: int, shapes: Iterable[tuple[int, int]], found: list[Place]) -> None:
        for offset, length in shapes:
            start = at - offset
            end = start + length
            if start < 0 or (end < len(text) and text[end] in GLUE):
                continue
            handle = self._handles.get(text[start:end])
            if handle is not None and free_before(text, start, GLUE):
                found.append(Place(start, end, handle))


def link_regions(text: str, *, scheme_handles: bool = False) -> list[tuple[int, int]]:
    """Where URLs stand: from every `://` to behind the character that ends the link, since what is written in place of
    that character would belong to the link. With `scheme_handles` the `://` of a scheme handle begins none."""
    regions = []
    at = text.find("://")
    while at >= 0:
        stop = at + 3
        if not scheme_handles or handle_at(text, at) is None:
            match = LINK_RUN.match(text, at)
            assert match is not None
            stop = match.end()
            regions.append((at, stop + 1))
        at = text.find("://", stop)
    return regions


def replace_places(
    text: str,
    places: Iterable[Place],
    keep: Iterable[tuple[int, int]] = (),
    closed: Iterable[tuple[int, int]] = (),
) -> tuple[str, list[Place]]:
    """Writes handles at the leftmost, then longest of `places`; nothing that begins or ends inside a `keep` span is
    touched, nor what begins in a `closed` one.

    A place directly behind a written handle is left alone, since the two would read as one; behind a written tag it
    is not.
    """
    kept, shut = sorted(keep, reverse=True), sorted(closed, reverse=True)
    pieces: list[str] = []
    written: list[Place] = []
    pos, blocked = 0, 0
    longest = {place[0]: place for place in sorted(places)}  # of those that begin together, the last is the longest
    for place in longest.values():
        start, end, handle = place
        while kept and kept[-1][0] <= start:
            blocked = max(blocked, kept.pop()[1])
        while shut and shut[-1][0] <= start:
            blocked = max(blocked, shut.pop()[1])
        if start < pos or start < blocked or (start == pos and written and written[-1].handle[-1] in GLUE):
            continue
        if kept and kept[-1][0] < end and _ends_inside(kept, end):
            continue
        pieces += (text[pos:start], handle)
        written.append(place)
        pos = end
    if not written:
        return text, written
    pieces.append(text[pos:])
    return "".join(pieces), written


def _ends_inside(kept: Sequence[tuple[int, int]], end: int) -> bool:
    """Whether a place would take the beginning of one of the spans, last first, and leave the rest of it."""
    for start, stop in reversed(kept):
        if start >= end:
            break
        if end < stop:
            return True
    return False


class HandleTable:
    """A stand-alone table: `HandleTable("c", width=3, start=0)` numbers `c000`, `c001`, …

    Values are trimmed. A table belongs to one call; its handles are never stored.
    """

    __slots__ = ("_handles", "_known", "_prefix", "_shape", "_start", "_values", "_width")

    def __init__(self, prefix: str, width: int = 0, start: int = 1) -> None:
        """The values get `prefix` and a number, from `start` on, with zeros in front up to `width` digits.

        Raises `ValueError` for a prefix that is blank or a number (each number of a text would be a handle), or with
        which a handle could stand inside a URL, where none is read, and for a negative `start` or `width`.
        """
        check_type("prefix", prefix, str)
        if not prefix.strip(_NO_NAME):
            raise ValueError(f"prefix {prefix!r} names nothing: each number of a text would be a handle")
        if "://" in prefix or prefix.startswith("/"):
            raise ValueError(f"prefix {prefix!r} may begin or continue a URL: no handle is read there")
        if start < 0 or width < 0:
            raise ValueError(f"start {start} and width {width} cannot be negative: a handle has digits only")
        self._prefix = prefix
        self._width = width
        self._start = start
        self._handles: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._known = KnownValues()
        self._shape = re.compile(rf"{re.escape(prefix)}[0-9]+")

    def __len__(self) -> int:
        return len(self._values)

    def __bool__(self) -> bool:
        return bool(self._values)

    def register(self, value: str) -> str | None:
        """The handle of `value`, a new one when it has none yet; None when it is blank."""
        check_type("value", value, str)
        value = value.strip()
        if not value:
            return None
        handle = self._handles.get(value)
        if handle is None:
            handle = f"{self._prefix}{self._start + len(self._values):0{self._width}d}"
            self._handles[value] = handle
            self._values[handle] = value
            self._known.add(value, handle)
        return handle

    def handle(self, value: str) -> str | None:
        """The handle of `value`, or None: nothing is registered."""
        check_type("value", value, str)
        return self._handles.get(value.strip())

    def resolve(self, handle: str) -> str | None:
        """The value behind `handle`, or None."""
        return self._values.get(handle)

    def items(self) -> Iterable[tuple[str, str]]:
        """`(handle, value)` in the order of registration."""
        return self._values.items()

    def encode_known_text(self, text: str) -> str:
        """`text` with every known value replaced where its handle can be read back: one pass, URLs left whole."""
        check_type("text", text, str)
        if not self._values:
            return text
        return replace_places(text, self.places(text), self.tokens(text) + handle_spans(text), link_regions(text))[0]

    def places(self, text: str) -> list[Place]:
        """Every place of a known value by the gluing rule, overlapping ones included, URLs not looked at."""
        return self._known.places(text)

    def tokens(self, text: str) -> list[tuple[int, int]]:
        """Where handles of this table's shape stand already, known or not: nothing is replaced inside them."""
        return [
            match.span()
            for match in self._shape.finditer(text)
            if free_before(text, match.start(), GLUE) and free_after(text, match.end(), GLUE)
        ]

    def short_handles(self) -> ShortHandles:
        """The table as the scanner wants it."""
        return ShortHandles(self._prefix, self._values)

    def decode_known_text(self, text: str) -> str:
        """`text` with every known handle restored; any `://` begins a URL, inside of which nothing is read."""
        return Scanner(Rules(words=(self.short_handles(),))).decode(text)
