"""Citations: the tags of a reader (`<kb … />`, `<web … />`) and the references of the model (`<ref … />`).

Towards the model, canonical tags of history become references again. Towards the reader, a reference becomes its
canonical tag when the source is citable in this request, and disappears otherwise.

Explained in `docs/concepts/citations.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from modelcontext_core import jsontext
from modelcontext_core.grammar import (
    TAG,
    HandleToken,
    Space,
    attributes,
    html_unescaped,
    is_http_url,
    may_be_mined,
    whole_handle,
    whole_legacy_handle,
)
from modelcontext_core.handles import Place, replace_places
from modelcontext_core.messages import ChunkReference
from modelcontext_core.scanner import Restored
from modelcontext_core.sources import HandleSpaces


def compact_citations(
    text: str, tags: Iterable[re.Match[str]], spaces: HandleSpaces, *, in_json: bool, issues_compacted: bool = False
) -> tuple[str, list[Place]]:
    """`text` with canonical tags, as `CITATION_TAG` finds them, replaced by references (step 3 of `encode`); the
    sources become known, not citable.

    `in_json` says that the text is JSON, where the reference stands inside a string and its quotes are escaped;
    `issues_compacted` that ids of issues were replaced in it, so that an id with the handle of one is none any more.
    """
    places = []
    for tag in tags:
        if in_json and jsontext.leaves_string(tag[0]):
            continue  # it begins in one string and ends in another
        handle = _cited(text, tag, spaces, in_json, issues_compacted)
        if handle is not None:
            quote = '\\"' if in_json else '"'
            places.append(Place(tag.start(), tag.end(), f"<ref id={quote}{handle}{quote}/>"))
    return replace_places(text, places)


def _cited(text: str, tag: re.Match[str], spaces: HandleSpaces, in_json: bool, issues_compacted: bool) -> str | None:
    values: dict[str, str] = {}
    for name, start, end in attributes(text, tag.end(1), tag.end()):
        values.setdefault(name, text[start:end])
    space: Space = "chunk" if tag[1] == "kb" else "web"
    raw = values.get("chunk_id" if space == "chunk" else "url", "")
    if in_json and "\\" in raw:
        return None
    durable = html_unescaped(raw).strip()
    token = whole_handle(durable)
    known = spaces.handle_of(space, durable) if token is None or token.space != space else durable
    if known is None and (not may_be_mined(durable) or (issues_compacted and spaces.words["issue"].tokens(durable))):
        return None
    if space == "web":
        title = spaces.restored(html_unescaped(values.get("title", "")))
        return spaces.register_web(durable, title, citable=False) if known or is_http_url(durable) else None
    reference = ChunkReference(
        chunk_id=durable,
        knowledge_base_id=spaces.named_in_text("knowledge_base", html_unescaped(values.get("kb_id", "")).strip()),
        document_title=spaces.restored(html_unescaped(values.get("doc", ""))),
    )
    return spaces.register_chunk(reference, citable=False)


class Restorer:
    """What stands for tags and handles in an answer, for one registry."""

    def __init__(self, spaces: HandleSpaces, *, citations: bool) -> None:
        self._spaces = spaces
        self._citations = citations

    def tag(self, match: re.Match[str]) -> str | None:
        """The canonical tag of a reference, or None: what is not backed by current evidence disappears."""
        if match[1] or match[2].lower() != "ref" or not self._citations:
            return None
        text = match.string
        for name, start, end in attributes(text, match.end(2), match.end()):
            if name == "id" or name.lower() == "id":
                return self._reference(text[start:end])
        return None

    def _reference(self, value: str) -> str | None:
        token = whole_handle(value)
        if token is not None:
            return self.citation(token.space, token.number)
        legacy = whole_legacy_handle(value)
        return None if legacy is None else self.citation(*legacy)

    def citation(self, space: Space, number: int | None) -> str | None:
        """The canonical tag of a source, or None when it is not citable now."""
        if number is None or not self._citations or number not in self._spaces.citable[space]:
            return None
        if space == "web":
            page = self._spaces.pages[number]
            return f'<web url="{escape(page.url)}" title="{escape(page.title)}" />'
        chunk = self._spaces.chunks[number]
        base = f' kb_id="{escape(chunk.knowledge_base_id)}"' if chunk.knowledge_base_id else ""
        return f'<kb doc="{escape(chunk.document_title)}" chunk_id="{escape(chunk.chunk_id)}"{base} />'

    def handle(self, token: HandleToken) -> Restored | None:
        """What a bare handle in prose stands for, or None when this request never issued it."""
        space, number = token.space, token.number
        if space != "chunk":
            durable = self._spaces.durable_text(space, number)
            if durable is not None and space == "web" and "<" in durable:
                durable = TAG.sub(_percent_encoded, durable)
            return None if durable is None else Restored(durable, is_uri=space not in ("web", "resource"))
        address = self._chunk_address(number)
        if address is None:
            return None
        tag = self.citation(space, number)
        return Restored(address, is_uri=True) if tag is None else Restored(tag, address=address, is_tag=True)

    def _chunk_address(self, number: int | None) -> str | None:
        chunk = self._spaces.chunks.get(number) if number is not None else None
        if chunk is None:
            return None
        if chunk.knowledge_id:
            return self._spaces.uri("document", chunk.knowledge_id)
        return self._spaces.uri("chunk", chunk.chunk_id)


def _percent_encoded(tag: re.Match[str]) -> str:
    """A tag in the address of a page, as an address spells it: pages choose their addresses, and none may cite."""
    return tag[0].replace("<", "%3C").replace(">", "%3E")
