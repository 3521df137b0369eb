"""Stored references and durable URIs in a text: the first thing that encoding replaces, in every role.

They come first so that `summary/<document id>` becomes one resource and never `summary/doc://1`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from modelcontext_core.grammar import (
    RESOURCE_TAIL,
    STORAGE_PREFIX_TAIL,
    STORAGE_RUN,
    STORAGE_SCHEMES,
    TRAILING_SIGNS,
    UUID,
    WORD,
    HandleToken,
    UriToken,
    free_after,
    free_before,
    handle_at,
    uri_at,
)
from modelcontext_core.handles import Place, replace_places
from modelcontext_core.messages import ChunkReference
from modelcontext_core.sources import HandleSpaces

_SUMMARY: Final = "summary/"
# Schemes by their last two letters: one look-up settles most `://` of a text.
_BY_ENDING: Final[dict[str, tuple[str, ...]]] = {
    ending: tuple(scheme for scheme in ("resource", "storage", *STORAGE_SCHEMES) if scheme.endswith(ending))
    for ending in {scheme[-2:] for scheme in ("resource", "storage", *STORAGE_SCHEMES)}
}


@dataclass(frozen=True, slots=True)
class Found:
    """What stands in one text, in order: references as spans, URIs, and handles that are there already."""

    references: Sequence[tuple[int, int]]
    uris: Sequence[UriToken]
    handles: Sequence[HandleToken]

    def __bool__(self) -> bool:
        return bool(self.references or self.uris or self.handles)


def find(text: str, uri_scheme: str) -> Found | None:
    """The stored references, URIs and scheme handles of `text`; None when there is nothing of the kind."""
    if "://" not in text and _SUMMARY not in text:
        return None
    references = _summaries(text)
    uris: list[UriToken] = []
    handles: list[HandleToken] = []
    covered = 0
    at = text.find("://")
    while at >= 0:
        # Inside a reference only handles matter: looking for more references there would be quadratic.
        span = _reference_at(text, at) if at >= covered else None
        if span is not None:
            references.append(span)
            covered = span[1]
        elif (uri := uri_at(text, at, uri_scheme)) is not None:
            uris.append(uri)
        elif (token := handle_at(text, at)) is not None:
            handles.append(token)
        at = text.find("://", at + 3)
    return Found(sorted(references), uris, handles)


def references(text: str) -> Sequence[tuple[int, int]]:
    """The spans of the stored references of `text`."""
    found = find(text, "")
    return found.references if found is not None else ()


def _reference_at(text: str, at: int) -> tuple[int, int] | None:
    for scheme in _BY_ENDING.get(text[at - 2 : at], ()):
        start = at - len(scheme)
        if start < 0 or not text.startswith(scheme, start) or not free_before(text, start, WORD):
            continue
        if scheme == "resource":
            match = RESOURCE_TAIL.match(text, at + 3)
            return (start, match.end()) if match else None
        run = at + 3
        if scheme == "storage":
            prefix = STORAGE_PREFIX_TAIL.match(text, run)
            if prefix is None:
                return None
            run = prefix.end()
        match = STORAGE_RUN.match(text, run)
        end = run + len(match[0].rstrip(TRAILING_SIGNS)) if match else run
        return (start, end) if end > run else None
    return None


def _summaries(text: str) -> list[tuple[int, int]]:
    found = []
    at = text.find(_SUMMARY)
    while at >= 0:
        match = UUID.match(text, at + len(_SUMMARY))
        if match and free_before(text, at, WORD) and free_after(text, match.end(), WORD):
            found.append((at, match.end()))
        at = text.find(_SUMMARY, at + 1)
    return found


def replace_found(text: str, found: Found, spaces: HandleSpaces, *, uris: bool) -> tuple[str, list[Place]]:
    """Registers what was found, leftmost first, and writes the handles. URIs make navigable only; with `uris` off
    they stay (SQL takes bare ids)."""
    items: list[tuple[int, int, UriToken | None]] = [(start, end, None) for start, end in found.references]
    if uris and found.uris:
        items += [(uri.start, uri.end, uri) for uri in found.uris]
        items.sort(key=lambda item: (item[0], -item[1]))
    places: list[Place] = []
    pos = 0
    for start, end, uri in items:
        if start < pos:
            continue
        if uri is None:
            places.append(Place(start, end, spaces.register_resource(text[start:end])))
        else:
            handle = None if uri.id is None else _register_uri(uri.id, uri, spaces)
            if handle is not None:
                places.append(Place(start, end, handle))
        pos = end
    return replace_places(text, places)


def _register_uri(durable: str, uri: UriToken, spaces: HandleSpaces) -> str | None:
    if uri.space == "chunk":
        return spaces.register_chunk(ChunkReference(chunk_id=durable), citable=False)
    if uri.space == "document":
        return spaces.register_document(durable)
    return spaces.register_knowledge_base(durable)
