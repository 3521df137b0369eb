"""Two positions of the coverage map that are no texts of their own: citations inside texts, and names of files.

Both are counted beside what the position of their text counts: a citation in an answer is also a part of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from modelcontext_core.detectors import DEFAULT_DETECTORS, Detectors, PatternTime, find_hits
from modelcontext_core.grammar import CITATION_TAG
from modelcontext_core.leak_report.encoded import EncodedConversation
from modelcontext_core.leak_report.rows import Coverage
from modelcontext_core.leak_report.trace_scan import Occurrence
from modelcontext_core.messages import Message, Part
from modelcontext_core.registry import Span

__all__ = ["cover_citations", "cover_file_names"]

_REFERENCE: Final = "<ref"
_MARKS: Final = (_REFERENCE, "<kb", "<web")
_NAMES: Final = ("name", "filename", "title")


def cover_citations(encoded: EncodedConversation, found: Iterable[Occurrence]) -> Coverage:
    """The citations of a conversation: tags that became references, tags that did not, and the identifiers of `found`
    (the occurrences of this conversation) in those. A provider's own citation parts are counted as skipped."""
    marked = {}
    skipped = 0
    for index, message in enumerate(encoded.messages[encoded.first :], encoded.first):
        if message.parts:
            skipped += sum(part.type == "citation" for part in message.parts)
        for path, text in _texts(message):
            if "<" in text and any(mark in text for mark in _MARKS):
                marked[index, path] = text
    spans: dict[tuple[int, str], list[Span]] = {place: [] for place in marked}
    inside: dict[tuple[int, str], list[Occurrence]] = {place: [] for place in marked}
    if marked:
        for span in encoded.spans:
            if (span.message, span.path) in spans:
                spans[span.message, span.path].append(span)
        for each in found:
            place = each.message + encoded.first, each.path
            if place in inside:
                inside[place].append(each)
    rows = (_in_text(text, spans[place], inside[place]) for place, text in marked.items())
    return sum(rows, Coverage(skipped=skipped))


def _in_text(text: str, spans: Sequence[Span], found: Sequence[Occurrence]) -> Coverage:
    replaced = [span.out_end - span.out_start for span in spans if text.startswith(_REFERENCE, span.out_start)]
    tags = [match.span() for match in CITATION_TAG.finditer(text)]
    inside = [each for each in found if any(start < each.start < end for start, end in tags)]
    counted = sum(each.row.counts for each in inside)
    return Coverage(
        texts=len(replaced) + len(tags),
        characters=sum(replaced) + sum(end - start for start, end in tags),
        replaced=len(replaced),
        left=counted,
        on_purpose=len(inside) - counted,
    )


def _texts(message: Message) -> Iterator[tuple[str, str]]:
    yield "content", message.content
    for number, part in enumerate(message.parts):
        if part.type == "text":
            yield f"parts[{number}].text", part.text
    for number, call in enumerate(message.tool_calls):
        yield f"tool_calls[{number}].arguments", call.arguments


def cover_file_names(encoded: EncodedConversation, detectors: Detectors = DEFAULT_DETECTORS) -> Coverage:
    """The files, pictures and sounds of a conversation: their names are looked at and left alone on purpose, whose
    identifiers are counted so; those without a name are skipped."""
    total = Coverage()
    for message in encoded.messages[encoded.first :]:
        for part in message.parts:
            if part.type not in ("text", "citation"):
                name = _name(part)
                hits = len(find_hits(name, detectors, encoded.pack.uri_scheme, PatternTime())) if name else 0
                total += Coverage(texts=bool(name), characters=len(name), on_purpose=hits, skipped=not name)
    return total


def _name(part: Part) -> str:
    about = part.data if isinstance(part.data, Mapping) else {}
    return next((value for key in _NAMES if isinstance(value := about.get(key), str) and value), "")
