"""The rules of an answer, written down once more in the plainest way: one character after another, no speed, no stream.

It shares nothing with the scanner but the registry's listing. Where both agree on everything random, a slip would have
to be made twice.
"""

from __future__ import annotations

import re
import string
from html import escape
from typing import Final
from urllib.parse import quote

from modelcontext_core import ChunkReference, HandleRow, Registry

_FLAGS: Final = re.IGNORECASE | re.ASCII
_HANDLE: Final = re.compile(r"(chunk|doc|kb|url|res)://([0-9]{1,18})(?![A-Za-z0-9_])", _FLAGS)
_BARE: Final = re.compile(r"(?:chunk|doc|kb|url|res)://\Z", _FLAGS)
_WORD: Final = re.compile(r"(?:i|ms|mt)[0-9]+(?![A-Za-z0-9_-])", re.ASCII)
_NAME: Final = re.compile(r"<(/?)(ref|kb|web)(?=[ \t\n\r\f\v/>])", _FLAGS)
_CUT_NAME: Final = re.compile(r"<(/?)(ref|kb|web)(?=[ \t\r\f\v/])", _FLAGS)
_OPENERS: Final = ("</web", "</ref", "<web", "<ref", "</we", "</re", "</kb", "<we", "<re", "<kb", "</w", "</r", "</k",
                   "<w", "<r", "<k", "</", "<")  # fmt: skip
_COMPLETE: Final = re.compile(r"</?(?:ref|kb|web)(?:[ \t\r\f\v/][^<>\n]*)?\Z", _FLAGS)
_ID: Final = re.compile(r"""(?<![^\s"'<>/=])id\s*=\s*(?:"([^"]*)"|'([^']*)')""", _FLAGS)
_ANY: Final = re.compile(r"""[^\s"'<>/=]+\s*=\s*(?:"[^"]*"|'[^']*')""")
_LINK_END: Final = frozenset("<>\"'\\|`。，；：！？、（）【】《》“”")
_ESCAPE: Final = re.compile(r"\\(?:[nrtbf]|u([0-9A-Fa-f]{4}))\Z")
_KIND: Final = {"chunk": "chunk", "document": "doc", "knowledge_base": "kb"}
_LEGACY: Final = {"c": "chunk", "d": "doc", "b": "kb", "w": "url"}


class Reference:
    """Decodes answers for one registry. Chunks and titles are told, since no listing has them."""

    def __init__(self, registry: Registry, chunks: dict[str, ChunkReference], titles: dict[str, str]) -> None:
        self.rows: dict[str, HandleRow] = {row.handle: row for row in registry.handles()}
        self.scheme = registry.policies.uri_scheme
        self.citations = registry.citations_enabled
        self.chunks, self.titles = chunks, titles

    def decode(self, text: str) -> str:
        """The text as a reader may see it."""
        out, at, free = "", 0, 0  # what is written, where we are, where the prose began that is still prose
        while at < len(text):
            event = self.event(text, at)
            if event is None:
                if not (text[at] == ">" and self.completes(out)):
                    out += text[at]
                at += 1
                continue
            end, written = event
            if written is None:
                opener = next((o for o in _OPENERS if text[free:at].lower().endswith(o)), "")
                out = out[: len(out) - len(opener)]
                written = ""
            out += written
            at = free = end
        return out

    def completes(self, out: str) -> bool:
        """Whether a `>` would complete a tag at the end of what is written."""
        start = out.rfind("<")
        return start >= 0 and len(out) - start < 512 and _COMPLETE.match(out, start) is not None

    def event(self, text: str, at: int) -> tuple[int, str | None] | None:
        """What stands at a place, as its end and what is written (None: it disappears); None for prose."""
        if text[at] == "<":
            return self.tag(text, at)
        if self.glued(text, at, "_"):
            return None
        handle = _HANDLE.match(text, at)
        if handle:
            return handle.end(), self.handle(text, at, handle)
        if _BARE.match(text, at):
            return len(text), None
        word = _WORD.match(text, at)
        if word and not self.glued(text, at, "_-") and word[0] in self.rows and not self.in_link(text, at):
            return word.end(), self.rows[word[0]].durable
        return None

    def glued(self, text: str, at: int, signs: str) -> bool:
        """Whether an ASCII letter, digit or one of `signs` stands before, an escape taken for what it says."""
        escape = _ESCAPE.search(text, max(0, at - 6), at)
        before = (chr(int(escape[1], 16)) if escape[1] else " ") if escape else text[max(0, at - 1) : at]
        return before in (*signs, *string.ascii_letters, *string.digits)

    def in_link(self, text: str, at: int) -> bool:
        """Whether a place lies behind a `://` that is no handle's, with nothing between that ends a link."""
        start = at
        while start > 0 and text[start - 1] not in _LINK_END and not text[start - 1].isspace():
            start -= 1
        for colon in range(start, at - 2):
            if text.startswith("://", colon):
                schemes = [s for s in ("chunk", "doc", "kb", "url", "res") if text[:colon].lower().endswith(s)]
                begins = [colon - len(s) for s in schemes if not self.glued(text, colon - len(s), "_")]
                if not any(_HANDLE.match(text, begin) for begin in begins):
                    return True
        return False

    def tag(self, text: str, at: int) -> tuple[int, str | None] | None:
        name = _NAME.match(text, at)
        if name is None:
            return None
        end = name.end()
        while end < len(text) and text[end] not in "<>\n":
            end += 1
        if end == len(text):
            return (end, None) if end - at < 512 and _CUT_NAME.match(text, at) else None
        if text[end] != ">" or end + 1 - at > 512:
            return None
        citation = None
        if not name[1] and name[2].lower() == "ref":
            value = self.attribute(text[name.end() : end])
            citation = self.citation(self.canonical(value))
        return end + 1, citation

    def attribute(self, inner: str) -> str:
        """The value of the first `id` that is no part of another attribute's value."""
        for found in _ANY.finditer(inner):
            own = _ID.match(inner, found.start())
            if own:
                return (own[1] if own[1] is not None else own[2]).strip(" \t\n\r\f\v")
        return ""

    def canonical(self, value: str) -> str:
        """A whole scheme or legacy handle in its canonical spelling."""
        legacy = re.fullmatch(r"([cdbw])([0-9]+)", value, _FLAGS)
        return f"{_LEGACY[legacy[1].lower()]}://{legacy[2]}" if legacy else value.lower()

    def citation(self, handle: str) -> str | None:
        row = self.rows.get(handle)
        if row is None or not row.citable or not self.citations:
            return None
        if row.space == "web":
            return f'<web url="{escape(row.durable)}" title="{escape(self.titles.get(row.durable, ""))}" />'
        chunk = self.chunks[row.durable]
        base = f' kb_id="{escape(chunk.knowledge_base_id)}"' if chunk.knowledge_base_id else ""
        return f'<kb doc="{escape(chunk.document_title)}" chunk_id="{escape(row.durable)}"{base} />'

    def handle(self, text: str, at: int, found: re.Match[str]) -> str | None:
        row = self.rows.get(found[0].lower())
        if row is None:
            return None
        if row.space in ("web", "resource"):
            return row.durable
        if row.space == "chunk":
            citation = self.citation(row.handle)
            if citation is not None and not text[:at].endswith(("](", "](<", "<", '="', "='")):
                return citation
            chunk = self.chunks[row.durable]
            uri = self.uri("doc", chunk.knowledge_id) if chunk.knowledge_id else self.uri("chunk", row.durable)
        else:
            uri = self.uri(_KIND[row.space], row.durable)
        reads_on = re.match(r"[-~%]|\.{1,8}[A-Za-z0-9_~%-]", text[found.end() :])
        return f"<{uri}>" if reads_on else uri

    def uri(self, kind: str, durable: str) -> str:
        written = quote(durable, safe="")
        bare = written.rstrip(".")
        return f"{self.scheme}://{kind}/{bare}{'%2E' * (len(written) - len(bare))}"
