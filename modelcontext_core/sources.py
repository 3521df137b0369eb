"""All handle spaces of one request: what is registered, under which number, and what each handle stands for.

Sources are chunks, documents, knowledge bases and web pages. Resources and the short handles (wiki issues, MCP
servers and tools) live beside them, because reservation, restoring and listing ask for all spaces alike.

Addressing and citing are two things: every registered source can be navigated to, only those with current evidence
are *citable*. A later retrieval promotes a handle; nothing demotes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from modelcontext_core.grammar import (
    BEGINS_WITH_SCHEME,
    GLUE,
    LEGACY_HANDLE,
    SCHEMES,
    UUID_CHARACTERS,
    UUID_TAIL,
    WORD,
    WORD_PREFIXES,
    HandleToken,
    Space,
    WordSpace,
    format_handle,
    format_uri,
    free_after,
    free_before,
    handle_at,
    handle_tokens,
    http_start,
    is_free_text_id,
    is_http_url,
    is_uuid,
    link_end,
    may_be_mined,
    trim_link,
    uri_at,
    whole_handle,
    whole_word_handle,
    without_fragment,
)
from modelcontext_core.handles import HandleTable, KnownValues, Place, replace_places
from modelcontext_core.messages import ChunkReference
from modelcontext_core.wrong_types import check_type, wrong_type

# An id known in several spaces stands in prose for the first of these.
_RANKS: Final[dict[Space, int]] = {"chunk": 0, "document": 1, "knowledge_base": 2, "web": 3}
_new = tuple.__new__  # what the constructor of a named tuple does, without its call in between


class SpaceTable:
    """The numbers of one scheme space, from 1, in the order of registration, each with its handle. A reserved number
    is never given out."""

    __slots__ = ("_entries", "_last", "_reserved", "_space", "_values")

    def __init__(self, space: Space) -> None:
        self._space: Space = space
        self._entries: dict[str, tuple[int, str]] = {}
        self._values: dict[int, str] = {}
        self._reserved: set[int] = set()
        self._last = 0

    def __len__(self) -> int:
        return len(self._values)

    def find(self, value: str) -> tuple[int, str] | None:
        """Number and handle of `value`, or None: nothing is registered."""
        return self._entries.get(value)

    def add(self, value: str) -> tuple[int, str]:
        """The next free number, and its handle, for a `value` that has none."""
        number = self._last + 1
        while number in self._reserved:
            number += 1
        self._last = number
        self._values[number] = value
        entry = self._entries[value] = number, format_handle(self._space, number)
        return entry

    def value(self, number: int | None) -> str | None:
        """The value behind `number`, or None."""
        return None if number is None else self._values.get(number)

    def reserve(self, number: int) -> None:
        """Keeps `number` from ever being given out, unless it is known already."""
        if number > self._last:
            self._reserved.add(number)

    def __iter__(self) -> Iterator[int]:
        """The numbers that were given out, in order."""
        return iter(self._values)


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page as it was first seen: its URL with the fragment, and the title that a citation shows."""

    url: str
    title: str = ""


class Origin(NamedTuple):
    """Where a handle was first needed: message index and path; `(-1, "")` outside of messages."""

    message: int = -1
    path: str = ""


class HandleSpaces:
    """Every table of one request. The codec's modules share it; applications use the `Registry`."""

    def __init__(self, uri_scheme: str) -> None:
        self.uri_scheme = uri_scheme
        self.tables: dict[Space, SpaceTable] = {space: SpaceTable(space) for space in SCHEMES}
        self.words: dict[WordSpace, HandleTable] = {
            space: HandleTable(prefix) for space, prefix in WORD_PREFIXES.items()
        }
        self.chunks: dict[int, ChunkReference] = {}
        self.pages: dict[int, WebPage] = {}
        self.citable: dict[Space, set[int]] = {space: set() for space in SCHEMES}
        self.origin = Origin()
        self.origins: dict[str, Origin] = {}
        self._uuids: dict[str, str] = {}
        self._folded_uuids: set[str] = set()  # what `_uuids` does not tell: other letter case, other spaces
        self._urls: dict[str, str] = {}
        self._known = KnownValues()

    # ------------------------------------------------------------------------------------------------ registering

    def register_chunk(self, reference: ChunkReference, *, citable: bool) -> str | None:
        """The chunk's handle. Metadata only fills what was empty; `citable` promotes. A handle as metadata stands for
        its id, and for nothing when it is unknown: no handle is ever written into a citation or a URI."""
        handle, value = self._echo("chunk", reference.chunk_id)
        if value:
            number, handle = self._entry("chunk", value)
            document, base = reference.knowledge_id.strip(), reference.knowledge_base_id.strip()
            if "://" in document or "://" in base:
                document, base = self._metadata("document", document), self._metadata("knowledge_base", base)
            if value != reference.chunk_id or document != reference.knowledge_id or base != reference.knowledge_base_id:
                reference = replace(reference, chunk_id=value, knowledge_id=document, knowledge_base_id=base)
            self._merge_chunk(number, reference)
            if citable:
                self.citable["chunk"].add(number)
        elif handle is not None and citable:
            self.citable["chunk"].add(int(handle[8:]))
        return handle

    def register_document(self, durable: str) -> str | None:
        """The document's handle, or None when `durable` may not be registered."""
        return self._register_id("document", durable)

    def register_knowledge_base(self, durable: str) -> str | None:
        """The knowledge base's handle, or None when `durable` may not be registered."""
        return self._register_id("knowledge_base", durable)

    def register_web(self, url: str, title: str = "", *, citable: bool) -> str | None:
        """The handle of an http(s) page, None for any other address: it would be written as a link one day.

        Pages are one identity per URL without its fragment; the first raw URL is restored.
        """
        handle, value = self._echo("web", url)
        if value and not is_http_url(value):
            return None
        if value:
            number, handle = self._entry("web", value)
            page = self.pages.get(number)
            if page is None or (title and not page.title):
                self.pages[number] = WebPage(value if page is None else page.url, title)
        if handle is not None and citable:
            self.citable["web"].add(int(handle[6:]))
        return handle

    def register_resource(self, reference: str) -> str:
        """The handle of a stored reference."""
        table = self.tables["resource"]
        entry = table.find(reference)
        if entry is None:
            entry = table.add(reference)
            self.origins[entry[1]] = self.origin
        return entry[1]

    def register_word(self, space: WordSpace, durable: str) -> str | None:
        """The short handle of a wiki issue, an MCP server or an MCP tool."""
        check_type("an id to register", durable, str)
        value = durable.strip()
        shaped = whole_word_handle(value)
        if shaped is not None and shaped[0] == space:
            return shaped[1] if self.words[space].resolve(shaped[1]) is not None else None
        if not value or BEGINS_WITH_SCHEME.match(value) or LEGACY_HANDLE.fullmatch(value):
            return None
        handle = self.words[space].register(value)
        if handle is not None:
            self.origins.setdefault(handle, self.origin)
            if is_uuid(value):
                self._folded_uuids.add(value.lower())
        return handle

    def reserve(self, token: HandleToken) -> None:
        """Keeps the number of a handle that stands in the input from ever meaning something else."""
        if token.number is not None:
            self.tables[token.space].reserve(token.number)

    def _echo(self, space: Space, value: str) -> tuple[str | None, str]:
        """`(handle, "")` when `value` is a known handle, `(None, "")` when it must not be registered,
        else `(None, trimmed value)`."""
        try:
            value = value.strip()
            begun = "://" in value and BEGINS_WITH_SCHEME.match(value)
        except (AttributeError, TypeError):
            # Asking beforehand would cost something for each of ten thousand ids.
            raise wrong_type("an id or URL to register", value, "str") from None
        if begun:
            token = whole_handle(value)
            if token is None or token.space != space or self.tables[space].value(token.number) is None:
                return None, ""
            assert token.number is not None
            return format_handle(space, token.number), ""
        if len(value) < 20 and LEGACY_HANDLE.fullmatch(value):
            return None, ""
        return None, value

    def _register_id(self, space: Space, durable: str) -> str | None:
        handle, value = self._echo(space, durable)
        if value:
            handle = self._entry(space, value)[1]
        return handle

    def _entry(self, space: Space, value: str) -> tuple[int, str]:
        """Number and handle of a source, new ones when it has none."""
        table, identity = self.tables[space], without_fragment(value) if space == "web" else value
        entry = table.find(identity)
        if entry is None:
            entry = table.add(identity)
            self.origins[entry[1]] = self.origin
            self._make_findable(space, value, entry[1])
        return entry

    def _metadata(self, space: Space, value: str) -> str:
        if not BEGINS_WITH_SCHEME.match(value):
            return value
        token = whole_handle(value)
        return (token and token.space == space and self.durable(space, token.number)) or ""

    def _merge_chunk(self, number: int, new: ChunkReference) -> None:
        old = self.chunks.get(number)
        if old is None or old == new:
            self.chunks[number] = new
            return
        self.chunks[number] = ChunkReference(
            chunk_id=old.chunk_id,
            knowledge_id=old.knowledge_id or new.knowledge_id,
            knowledge_base_id=old.knowledge_base_id or new.knowledge_base_id,
            document_title=old.document_title or new.document_title,
            chunk_index=old.chunk_index or new.chunk_index,
            chunk_type=old.chunk_type or new.chunk_type,
        )

    def _make_findable(self, space: Space, value: str, handle: str) -> None:
        """Makes a value findable in prose, under the handle of its first space by priority."""
        if is_uuid(value):
            folded = value.lower()
            if folded != value:
                self._folded_uuids.add(folded)
            known = self._uuids.get(value)
            if known is None or _RANKS[space] < _rank(known):
                self._uuids[value] = handle
        elif space == "web" and is_http_url(value):
            self._urls[value] = handle
        elif is_free_text_id(value):
            known = self._known.get(value)
            if known is None or _RANKS[space] < _rank(known):
                self._known.add(value, handle, replace=True)

    # --------------------------------------------------------------------------------------------------- looking up

    def find(self, space: Space, value: str) -> tuple[int, str] | None:
        """Number and handle of a (trimmed) value of one of the scheme spaces, as a label or a declared field names it;
        None when it is not registered."""
        return self.tables[space].find(without_fragment(value) if space == "web" else value)

    def handle_of(self, space: Space, value: str) -> str | None:
        """The handle of such a value, or None."""
        entry = self.find(space, value.strip())
        return None if entry is None else entry[1]

    def named_in_text(self, space: Space, value: str) -> str:
        """The id that a text names as metadata of a source: one that may be mined or is known, else ""."""
        if may_be_mined(value) or BEGINS_WITH_SCHEME.match(value) or self.find(space, value) is not None:
            return self._metadata(space, value)
        return ""

    def has_metadata(self, number: int) -> bool:
        """Whether everything that a tag can say about a chunk is known already."""
        chunk = self.chunks.get(number)
        return chunk is not None and bool(chunk.knowledge_id and chunk.knowledge_base_id and chunk.document_title)

    def durable(self, space: Space, number: int | None) -> str | None:
        """The bare durable value behind a number: id, URL or stored reference."""
        if space == "web":
            page = self.pages.get(number) if number is not None else None
            return None if page is None else page.url
        return self.tables[space].value(number)

    def durable_text(self, space: Space, number: int | None) -> str | None:
        """The durable text form behind a number: a URI for ids, the URL or the reference itself for the others."""
        durable = self.durable(space, number)
        if durable is None or space in ("web", "resource"):
            return durable
        return self.uri(space, durable)

    def restored(self, text: str) -> str:
        """A title as it was before its references and URIs became handles: a reader will see it."""
        if "://" not in text:
            return text
        pieces: list[str] = []
        pos = 0
        for token in handle_tokens(text):
            durable = self.durable_text(token.space, token.number)
            if durable is not None:
                pieces += (text[pos : token.start], durable)
                pos = token.end
        return "".join(pieces) + text[pos:]

    def uri(self, space: Space, durable: str) -> str:
        """The URI of an id, registered or not."""
        return format_uri(self.uri_scheme, space, durable)

    def knows_uuid(self, value: str) -> bool:
        """Whether a UUID-shaped value has a handle in any space, in whatever letter case."""
        folded = value.lower()
        return folded in self._uuids or folded in self._folded_uuids

    # ------------------------------------------------------------------------------------------------ known in text

    def known_places(self, text: str) -> tuple[list[Place], list[tuple[int, int]]]:
        """Where known ids of the four source spaces stand in `text`, and the spans in which nothing may be matched:
        handles, URIs, and URLs that are no known page."""
        places: list[Place] = []
        keep: list[tuple[int, int]] = []
        self._link_places(text, places, keep)
        if self._uuids:
            self._uuid_places(text, places)
        if self._known:
            places += self._known.places(text)
        return places, keep

    def _uuid_places(self, text: str, places: list[Place]) -> None:
        known, last = self._uuids, len(text)
        for tail in UUID_TAIL.finditer(text):
            end = tail.end()
            start = end - UUID_CHARACTERS
            handle = known.get(text[start:end])  # with too little before it, the slice is shorter than any key
            if handle is None or (end < last and text[end] in WORD):
                continue
            if text[start - 1] not in WORD or free_before(text, start, WORD):
                places.append(_new(Place, (start, end, handle)))

    def _link_places(self, text: str, places: list[Place], keep: list[tuple[int, int]]) -> None:
        at = text.find("://")
        while at >= 0:
            stop = at + 3
            begin = http_start(text, at)
            if begin is not None:
                stop = link_end(text, stop)
                place = self._page_place(text, begin, stop)
                if place is None:
                    keep.append((begin, stop))
                else:
                    places.append(place)
            elif (token := handle_at(text, at)) is not None:
                keep.append((token.start, token.end))
            elif (uri := uri_at(text, at, self.uri_scheme)) is not None:
                keep.append((uri.start, uri.end))
            at = text.find("://", stop)

    def _page_place(self, text: str, begin: int, stop: int) -> Place | None:
        link = text[begin:stop]
        handle = self._urls.get(link)
        if handle is None:
            link = trim_link(link)
            handle = self._urls.get(link)
        if handle is None or not free_before(text, begin, GLUE) or not free_after(text, begin + len(link), GLUE):
            return None
        return Place(begin, begin + len(link), handle)

    def compact(self, text: str) -> tuple[str, list[Place]]:
        """`text` with every known source id replaced by the gluing rule."""
        places, keep = self.known_places(text)
        return replace_places(text, places, keep) if places else (text, [])


def _rank(handle: str) -> int:
    token = whole_handle(handle)
    assert token is not None
    return _RANKS[token.space]
