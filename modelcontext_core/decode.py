"""Decoding a whole answer, with or without a report of what happened to each handle.

The text always comes from the scanner. The report adds what the scanner left as prose although it was surely meant as
a handle: malformed and look-alike ones. They are named, with the nearest handle that was issued, and never guessed.

The rules: `docs/concepts/spaces.md` (what is a handle), `docs/concepts/citations.md` (tags).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from modelcontext_core.grammar import (
    LOOK_ALIKE,
    MAX_HANDLE_DIGITS,
    SCHEMES,
    TAG,
    Space,
    attributes,
    format_handle,
    handle_at,
    whole_handle,
    whole_legacy_handle,
)
from modelcontext_core.scanner import Event, Scanner
from modelcontext_core.sources import HandleSpaces
from modelcontext_core.stream import output_rules

ItemKind = Literal["restored", "dropped", "unknown", "malformed", "look_alike"]
ItemReason = Literal[
    "citation",
    "handle",
    "never_issued",
    "never_written_so",
    "not_citable",
    "not_a_source",
    "citations_off",
    "no_handle",
    "output_only",
    "closing_tag",
    "unclosed",
    "bare_scheme",
    "would_forge_a_tag",
    "wrong_slashes",
    "escaped",
    "percent_encoded",
    "full_width",
    "too_long",
    "glued",
]
_SPACE_OF: Final[dict[str, Space]] = {scheme: space for space, scheme in SCHEMES.items()}
_LETTERS: Final = re.compile(r"[a-z]+")
_NUMBER: Final = re.compile(r"[0-9]+\Z")
_TELLING_DIGITS: Final = MAX_HANDLE_DIGITS + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeItem:
    """What became of one handle or tag: `[start, end)` of the answer is `[out_start, out_end)` of the decoded text.

    `handle` is its canonical spelling when it is one, `nearest` the issued handle that it resembles most ("" when none
    was issued in its space): a hint, nothing is replaced by it.
    """

    kind: ItemKind
    reason: ItemReason
    start: int
    end: int
    out_start: int
    out_end: int
    written: str
    handle: str = ""
    space: str = ""
    durable: str = ""
    nearest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeReport:
    """A decoded answer and its items in the order of the text."""

    text: str
    items: Sequence[DecodeItem]


def decode_output_text(text: str, spaces: HandleSpaces, *, citations: bool) -> str:
    """`text` as a reader may see it."""
    return Scanner(output_rules(spaces, citations=citations)).decode(text)


def decode_with_report(text: str, spaces: HandleSpaces, *, citations: bool) -> DecodeReport:
    """`text` as a reader may see it, and what happened to every handle, tag and near miss."""
    events: list[Event] = []
    decoded = Scanner(output_rules(spaces, citations=citations), events=events).decode(text)
    reporter = _Reporter(text, spaces, citations)
    return DecodeReport(text=decoded, items=tuple(reporter.items(sorted(events))))


class _Reporter:
    def __init__(self, text: str, spaces: HandleSpaces, citations: bool) -> None:
        self._text = text
        self._spaces = spaces
        self._citations = citations
        self._items: list[DecodeItem] = []
        self._numbers: dict[Space, list[int]] = {}
        self._shift = 0

    def items(self, events: Sequence[Event]) -> list[DecodeItem]:
        pos = 0
        for event in events:
            self._near_misses(pos, event.start)
            self._event(event)
            self._shift += len(event.written) - (event.end - event.start)
            pos = event.end
        self._near_misses(pos, len(self._text))
        return self._items

    def _add(self, kind: ItemKind, reason: ItemReason, start: int, end: int, out: int, **more: str) -> None:
        begin = start + self._shift
        written = more.pop("written", self._text[start:end])
        self._items.append(
            DecodeItem(
                kind=kind, reason=reason, start=start, end=end, out_start=begin, out_end=begin + out, written=written,
                **more,
            )
        )  # fmt: skip

    def _event(self, event: Event) -> None:
        start, end, out, rule = event.start, event.end, len(event.written), event.rule
        if rule == "word":
            word = self._text[start:end]
            space, durable = next(
                (space, value) for space, table in self._spaces.words.items() if (value := table.resolve(word))
            )
            self._add("restored", "handle", start, end, out, handle=word, space=space, durable=durable)
        elif rule in ("handle", "unknown") or (rule == "tag" and self._text[end - 1] != ">"):
            self._handle(start, end, out)
        elif rule == "tag":
            self._tag(start, end, out)
        elif rule == "closer":
            self._add("dropped", "would_forge_a_tag", start, end, out)
        else:
            self._add("dropped", "unclosed" if rule == "unclosed" else "bare_scheme", start, end, out)

    def _handle(self, start: int, end: int, out: int) -> None:
        token = handle_at(self._text, self._text.index("://", start))
        assert token is not None
        durable = self._spaces.durable(token.space, token.number)
        if durable is not None and token.number is not None:
            handle = format_handle(token.space, token.number)
            self._add("restored", "handle", start, end, out, handle=handle, space=token.space, durable=durable)
            return
        reason: ItemReason = "never_issued" if token.number is not None else "never_written_so"
        written = self._text[token.start : token.end]
        nearest = self._nearest(token.space, written)
        self._add("unknown", reason, start, end, out, written=written, space=token.space, nearest=nearest)

    def _tag(self, start: int, end: int, out: int) -> None:
        tag = TAG.match(self._text, self._text.rindex("<", start, end))
        assert tag is not None
        if tag[2].lower() != "ref":
            self._add("dropped", "closing_tag" if tag[1] else "output_only", start, end, out)
            return
        value = _id_of(tag)
        token = whole_handle(value)
        found = (token.space, token.number) if token is not None else whole_legacy_handle(value)
        if tag[1] or found is None:
            self._add("dropped", "closing_tag" if tag[1] else "no_handle", start, end, out)
            return
        space, number = found
        durable = self._spaces.durable(space, number)
        if durable is None or number is None:
            reason: ItemReason = "never_issued" if number is not None else "never_written_so"
            nearest = self._nearest(space, value)
            self._add("unknown", reason, start, end, out, written=value.strip(), space=space, nearest=nearest)
            return
        handle = format_handle(space, number)
        kind: ItemKind = "restored" if out else "dropped"
        why: ItemReason = "citation"
        if not out:
            why = "citations_off" if not self._citations else "not_citable"
            why = "not_a_source" if space not in ("chunk", "web") else why
        self._add(kind, why, start, end, out, handle=handle, space=space, durable=durable)

    def _near_misses(self, start: int, end: int) -> None:
        for match in LOOK_ALIKE.finditer(self._text, start, end):
            plain = unicodedata.normalize("NFKC", match[0]).lower().replace("%3a", ":").replace("%2f", "/")
            letters, number = _LETTERS.match(plain), _NUMBER.search(plain)
            if letters is None or number is None or letters[0] not in _SPACE_OF:
                continue
            space = _SPACE_OF[letters[0]]
            kind, reason = _why_not(match[0])
            nearest = self._nearest(space, plain)
            out = match.end() - match.start()
            self._add(kind, reason, match.start(), match.end(), out, space=space, nearest=nearest)

    def _nearest(self, space: Space, written: str) -> str:
        """The issued handle of `space` whose number is closest to the one that `written` ends with."""
        digits = _NUMBER.search(written.strip())
        if digits is None:
            return ""
        wanted = int(digits[0][:_TELLING_DIGITS])  # more digits say no more, and `int` has a limit
        numbers = self._numbers.get(space)
        if numbers is None:
            numbers = self._numbers[space] = list(self._spaces.tables[space])  # given out in rising order
        at = bisect_left(numbers, wanted)
        around = numbers[max(0, at - 1) : at + 1]
        return format_handle(space, min(around, key=lambda number: abs(number - wanted))) if around else ""


def _id_of(tag: re.Match[str]) -> str:
    text = tag[0]
    for name, start, end in attributes(text, tag.end(2) - tag.start(), len(text)):
        if name.lower() == "id":
            return text[start:end]
    return ""


def _why_not(written: str) -> tuple[ItemKind, ItemReason]:
    if not written.isascii():
        return "look_alike", "full_width"
    if "%" in written:
        return "look_alike", "percent_encoded"
    if "\\" in written:
        return "look_alike", "escaped"
    if "://" not in written:
        return "malformed", "wrong_slashes"
    digits = _NUMBER.search(written)
    return "malformed", "too_long" if digits is not None and len(digits[0]) > 18 else "glued"
