"""Web pages: `web_search_results` and `web_fetch_results`.

The text of a page is somebody else's: the root says `trust="untrusted"`, and every text has a limit, so that one page
cannot crowd out the rest. A page is named by its handle; its address is never shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from modelcontext_core import grammar
from modelcontext_core.messages import ToolResult
from modelcontext_core.toolresults import fields
from modelcontext_core.toolresults.context import RenderContext
from modelcontext_core.toolresults.excerpt import Excerpt, excerpt
from modelcontext_core.toolresults.markup import Element

__all__ = ["render_web_fetch", "render_web_search"]

# In characters as shown: after replacement, before escaping.
TOTAL_CHARACTERS: Final = 16_000
EVIDENCE_CHARACTERS: Final = 1_500
SUMMARY_CHARACTERS: Final = 4_000
CONTENT_CHARACTERS: Final = 8_000

ALL_FAILED: Final = (
    "\n\nNo page could be read. Answer from what you already have, say that the pages were not verified, "
    'and retry only pages marked retryable="true".'
)
SOME_FAILED: Final = (
    '\n\nSome pages could not be read; use the ones that were. Do not retry pages marked retryable="false".'
)

_SUCCESS = "success"
_FAILED = "failed"


def render_web_search(result: ToolResult, context: RenderContext) -> str | None:
    """The hits of a web search, with the pages that were read along with it. None without a usable row."""
    rows = fields.rows(fields.mapping(result.data), "results")
    pages = _register(rows, context, lambda _row: result.success)
    if not pages:
        return None
    texts_of_a_page = 3 if any(fields.true(row.get("page_verified")) for _, row in pages) else 2
    limit = min(EVIDENCE_CHARACTERS, TOTAL_CHARACTERS // (len(pages) * texts_of_a_page))
    root = _root("search", context)
    for handle, row in pages:
        page = root.child("page")
        page.literal("id", handle)
        page.attribute("title", row.get("title"))
        _write_hit(page, row, limit, context)
    return root.render()


def _write_hit(page: Element, row: Mapping[str, Any], limit: int, context: RenderContext) -> None:
    snippet, content = fields.first(row, "snippet"), fields.first(row, "content")
    page.line("domain", row.get("domain"))
    _write_evidence(page, "match", snippet, limit, context)
    if content.strip() != snippet.strip():
        _write_evidence(page, "content", content, limit, context)
    page.line("age", row.get("age"))
    page.line("published", row.get("published_at"))
    if fields.true(row.get("page_verified")):
        _write_evidence(page, "fetched_content", fields.first(row, "page_content"), limit, context)
    if fields.first(row, "page_status") == _FAILED:
        failure = page.child("page_fetch")
        failure.literal("status", _FAILED)
        failure.text(row.get("page_error"))


def render_web_fetch(result: ToolResult, context: RenderContext) -> str | None:
    """The pages that were fetched, and those that could not be. None without a usable row.

    A page that was not read may be named, never cited; nor may any page of a call that failed.
    """
    rows = fields.rows(fields.mapping(result.data), "results")
    pages = _register(rows, context, lambda row: result.success and _status(row) == _SUCCESS)
    if not pages:
        return None
    read = sum(_status(row) == _SUCCESS for _, row in pages)
    share = TOTAL_CHARACTERS // max(read, 1)
    root = _root("fetch", context)
    for handle, row in pages:
        page = root.child("page")
        page.literal("id", handle)
        page.attribute("status", _status(row))
        page.attribute("title", row.get("title"))
        if _status(row) == _SUCCESS:
            _write_read_page(page, row, share, context)
        else:
            page.literal("retryable", "true" if fields.true(row.get("retryable")) else "false")
            page.attribute("error_code", row.get("error_code"))
            page.line("error", row.get("error_message"))
    if read == len(pages):
        return root.render()
    return root.render() + (SOME_FAILED if read else ALL_FAILED)


def _write_read_page(page: Element, row: Mapping[str, Any], share: int, context: RenderContext) -> None:
    summary = _write_evidence(page, "summary", fields.first(row, "summary"), min(SUMMARY_CHARACTERS, share), context)
    if fields.first(row, "summary_error_code", "summary_error"):
        error = page.child("summary_error")
        error.attribute("code", row.get("summary_error_code"))
        error.text(row.get("summary_error"))
    raw = fields.first(row, "raw_content")
    content = _write_evidence(page, "content", raw, min(CONTENT_CHARACTERS, share - len(summary.text)), context)
    offset, length = fields.number(row.get("offset")), fields.number(row.get("content_length"))
    if not raw and offset is None and length is None:
        return  # Nothing is known about a content: there is no range to speak of.
    offset = offset or 0
    if length is None:
        length = offset + len(raw)
    reached = offset + content.source_end
    extent = page.child("range")
    extent.literal("offset", str(offset))
    extent.literal("returned", str(content.source_end))
    extent.literal("content_length", str(length))
    if reached < length:
        page.child("continue").literal("next_offset", str(reached))


def _root(mode: str, context: RenderContext) -> Element:
    root = Element("retrieval", context)
    root.literal("type", "web")
    root.literal("mode", mode)
    root.literal("trust", "untrusted")
    return root


def _status(row: Mapping[str, Any]) -> str:
    return fields.first(row, "status").strip() or _SUCCESS


def _register(
    rows: list[Mapping[str, Any]], context: RenderContext, citable: Callable[[Mapping[str, Any]], bool]
) -> list[tuple[str, Mapping[str, Any]]]:
    """The rows whose address is an http(s) URL (or already a handle), each with its handle."""
    pages = []
    for row in rows:
        url = fields.identity(row, "url")
        if not grammar.is_http_url(url) and grammar.whole_handle(url) is None:
            continue
        handle = context.register_web(url, fields.first(row, "title"), citable(row))
        if handle:
            pages.append((handle, row))
    return pages


def _write_evidence(page: Element, name: str, text: str, limit: int, context: RenderContext) -> Excerpt:
    """Write at most `limit` characters of a text and give what was shown."""
    if not text:
        return Excerpt(text="", truncated=False, source_end=0)
    shown = excerpt(context.compact_tracked(text), limit)
    element = page.child(name)
    element.literal("truncated", "true" if shown.truncated else "")
    element.raw_text(shown.text)
    return shown
