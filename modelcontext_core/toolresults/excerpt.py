"""Cutting a text for the model, never inside an identity."""

from __future__ import annotations

from dataclasses import dataclass

from modelcontext_core import grammar
from modelcontext_core.limits import MAX_MINED_CHARACTERS
from modelcontext_core.rewriting import Rewriting

__all__ = ["Excerpt", "excerpt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """The beginning of a text: as shown, whether something was cut, and how many source characters it stands for."""

    text: str
    truncated: bool
    source_end: int


def excerpt(compacted: Rewriting, limit: int) -> Excerpt:
    """At most `limit` characters of a compacted text.

    The cut never falls inside a handle (half of `doc://12` would be another document), a UUID or a link of ordinary
    length (half of one is a false one). Nor may it leave something that only now looks like a handle (`doc://12` of
    `doc://12x`).
    """
    text = compacted.text
    if len(text) <= limit:
        return Excerpt(text=text, truncated=False, source_end=len(compacted.source))
    end = _cut_before_identity(text, max(limit, 0))
    return Excerpt(text=text[:end], truncated=True, source_end=_source_offset(compacted, end))


def _cut_before_identity(text: str, end: int) -> int:
    near = text[: end + MAX_MINED_CHARACTERS + 1]  # Whatever begins before the cut and matters ends in here.
    handles = grammar.handle_spans(near)
    links = (span for span in grammar.find_links(near) if span[1] - span[0] <= MAX_MINED_CHARACTERS)
    for start, stop in (*handles, *grammar.find_uuids(near), *links):
        if start < end < stop:
            end = start
    complete = set(handles)
    for start, stop in grammar.handle_spans(text[:end]):
        if stop == end and (start, stop) not in complete:
            return start
    return end


def _source_offset(compacted: Rewriting, end: int) -> int:
    """The place in the source that a place outside replaced text came from."""
    shift = 0
    for span in compacted.replacements():
        if span.out_end > end:
            break
        shift = span.end - span.out_end
    return end + shift
