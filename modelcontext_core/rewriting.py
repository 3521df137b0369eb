"""One text on its way through the steps of encoding, and the record of what was replaced where.

Each step rewrites the text of the step before. The places of every step are kept as layers; only when a report asks
are they laid over each other, so that plain encoding pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from modelcontext_core import jsontext
from modelcontext_core.handles import Place


class Replacement(NamedTuple):
    """`[start, end)` of the first text became `[out_start, out_end)` of the last: `handle`."""

    start: int
    end: int
    out_start: int
    out_end: int
    handle: str


class Rewriting:
    """A text and the layers of places that were replaced in it, each in the coordinates of the text before it."""

    __slots__ = ("layers", "path", "source", "text")

    def __init__(self, text: str, path: str) -> None:
        self.source = text
        self.text = text
        self.path = path
        self.layers: list[Sequence[Place]] = []

    def apply(self, result: tuple[str, Sequence[Place]]) -> None:
        """Takes what a step made of the text."""
        text, places = result
        if places:
            self.text = text
            self.layers.append(places)

    def replacements(self) -> list[Replacement]:
        """What was replaced in all, in order, from the source to the final text."""
        spans: list[Replacement] = []
        for places in self.layers:
            spans = _laid_over(spans, places)
        return spans


def _laid_over(spans: Sequence[Replacement], places: Sequence[Place]) -> list[Replacement]:
    """`spans` up to one text, followed by `places` in that text: spans that a place covers become part of it."""
    result: list[Replacement] = []
    queue = list(reversed(spans))
    back = 0  # source offset minus middle offset, behind the last old span passed
    shift = 0  # final offset minus middle offset, behind the last place passed

    def keep(span: Replacement) -> None:
        result.append(span._replace(out_start=span.out_start + shift, out_end=span.out_end + shift))

    for place in places:
        while queue and queue[-1].out_end <= place.start:
            span = queue.pop()
            keep(span)
            back = span.end - span.out_end
        start = place.start + back
        if queue and queue[-1].out_start < place.start:
            start = queue[-1].start
        while queue and queue[-1].out_start < place.end:
            span = queue.pop()
            back = span.end - span.out_end
            inside = span.out_end > place.end
            end = span.end if inside else place.end + back
        else:
            end = place.end + back
        out_start = place.start + shift
        shift += len(place.handle) - (place.end - place.start)
        result.append(Replacement(start, end, out_start, out_start + len(place.handle), place.handle))
    while queue:
        keep(queue.pop())
    return result


class StringRewriting(Rewriting):
    """A string value inside JSON arguments: the text is the decoded value, `literal` where it stands with quotes."""

    __slots__ = ("literal", "string")

    def __init__(self, arguments: str, string: jsontext.JsonString, path: str) -> None:
        literal = arguments[string.start : string.end]
        super().__init__(jsontext.unquote(literal) if "\\" in literal else literal[1:-1], path)
        self.string = string
        self.literal = literal


def arguments_text(arguments: str, strings: Sequence[StringRewriting]) -> str:
    """`arguments` with the rewritten strings written back; the same object when nothing changed."""
    changed = [(item.string.start, item.string.end, item.text) for item in strings if item.layers]
    return jsontext.replace_strings(arguments, changed) if changed else arguments


def arguments_replacements(strings: Sequence[StringRewriting]) -> list[Replacement]:
    """What was replaced in the raw JSON text of arguments, in order."""
    result: list[Replacement] = []
    shift = 0
    for item in strings:
        if not item.layers:
            continue
        raw = _raw_offsets(item.literal) if "\\" in item.literal else None
        begin = item.string.start
        done, out_end = 0, begin + shift + 1  # a prefix of the new value, and where it ends in the new text
        for span in item.replacements():
            start = raw[span.start] if raw is not None else span.start + 1
            end = raw[span.end] if raw is not None else span.end + 1
            out_start = out_end + _quoted_length(item.text[done : span.out_start])
            out_end = out_start + _quoted_length(item.text[span.out_start : span.out_end])
            done = span.out_end
            result.append(Replacement(begin + start, begin + end, out_start, out_end, span.handle))
        shift += _quoted_length(item.text) + 2 - len(item.literal)
    return result


def _quoted_length(text: str) -> int:
    return len(jsontext.quote(text)) - 2


def _raw_offsets(literal: str) -> list[int]:
    """For each offset into the decoded value, the offset into its literal (opening quote included)."""
    offsets = []
    at, last = 1, len(literal) - 1
    while at < last:
        offsets.append(at)
        if literal[at] != "\\":
            at += 1
        elif literal[at + 1] != "u":
            at += 2
        elif literal[at + 2] in "dD" and literal[at + 3] in "89abAB" and _low_surrogate(literal, at + 6):
            at += 12
        else:
            at += 6
    offsets.append(last)
    return offsets


def _low_surrogate(literal: str, at: int) -> bool:
    return literal.startswith("\\u", at) and literal[at + 2] in "dD" and literal[at + 3] in "cdefCDEF"
