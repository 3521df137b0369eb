"""Knowledge retrievals: `search_results`, `grep_results`, `graph_query_results`, `knowledge_chunks_list`.

All four give one `<retrieval type="knowledge">` with a `<document>` for each document and a `<chunk>` for each row;
they differ in the key of their rows, in `mode`, and in what follows the documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from modelcontext_core.messages import ToolResult
from modelcontext_core.toolresults import fields
from modelcontext_core.toolresults.context import RenderContext
from modelcontext_core.toolresults.markup import Element
from modelcontext_core.toolresults.retrieval_rows import ChunkRow, DocumentGroup, group_by_document, read_rows

__all__ = ["render_chunk_list", "render_graph", "render_grep", "render_search"]

DEEP_READ = "deep_read"
# Marks that a snippet was cut out of a longer text; they stand in no content.
_CUT_MARKS = ("...", "…")
_INFO_ATTRIBUTES = ("source", "file_name", "file_type", "file_size", "parse_status", "chunk_count")


def render_search(result: ToolResult, context: RenderContext) -> str | None:
    """Hits of a search, with the mode that was used and what is missing from them. None without a usable row."""
    data = fields.mapping(result.data)
    chunks = read_rows(fields.rows(data, "results"), context, citable=result.success)
    if not chunks:
        return None
    fallbacks = [
        (context.register_knowledge_base(fields.identity(row, "knowledge_base_id")), row)
        for row in fields.rows(data, "mode_fallbacks")
    ]
    mode = fields.first(data, "mode") or "semantic"
    root = _root(mode, context)
    root.attribute("requested_mode", data.get("requested_mode"))
    _write_documents(root, group_by_document(chunks), mode)
    for handle, row in fallbacks:
        fallback = root.child("mode_fallback")
        fallback.literal("kb", handle)
        fallback.attribute("mode", row.get("mode"))
        fallback.attribute("reason", row.get("reason"))
    if fields.shown(data.get("omitted_for_budget")):
        omitted = root.child("omitted")
        omitted.attribute("count", data.get("omitted_for_budget"))
        omitted.literal("reason", "output_budget")
    for text in fields.texts(data.get("partial_failures")):
        root.line("partial_failure", text)
    return root.render()


def render_grep(result: ToolResult, context: RenderContext) -> str | None:
    """Chunks that hold the words of a text search. None without a usable row."""
    data = fields.mapping(result.data)
    chunks = read_rows(fields.rows(data, "chunk_results"), context, citable=result.success)
    if not chunks:
        return None
    root = _root("keyword", context)
    _write_documents(root, group_by_document(chunks), "keyword")
    return root.render()


def render_graph(result: ToolResult, context: RenderContext) -> str | None:
    """Chunks found through a knowledge graph, then the relations and the errors. None without a usable row."""
    data = fields.mapping(result.data)
    chunks = read_rows(fields.rows(data, "results"), context, citable=result.success)
    if not chunks:
        return None
    root = _root("graph", context)
    _write_documents(root, group_by_document(chunks), "graph")
    for row in fields.rows(data, "relations"):
        relation = root.child("relation")
        for name in ("source", "type", "target"):
            relation.attribute(name, row.get(name))
    for text in fields.texts(data.get("errors")):
        root.line("error", text)
    return root.render()


def render_chunk_list(result: ToolResult, context: RenderContext) -> str | None:
    """The chunks of a document in reading order, with its header and where to read on.

    None when there is neither a usable row nor a `document` that can have a handle.
    """
    data = fields.mapping(result.data)
    knowledge_id, title = fields.identity(data, "knowledge_id"), fields.first(data, "knowledge_title")
    info = data.get("document")
    header = _header(info, knowledge_id, title, context) if isinstance(info, Mapping) else None
    chunks = read_rows(
        fields.rows(data, "chunks"),
        context,
        citable=result.success,
        knowledge_id=knowledge_id,
        knowledge_title=title,
    )
    if not chunks and not (header and header.handle):
        return None
    root = _root(DEEP_READ, context)
    _write_documents(root, group_by_document(chunks, header), DEEP_READ, info if header else None)
    _write_position(root, data, has_document=header is not None)
    return root.render()


def _header(info: Mapping[str, Any], knowledge_id: str, title: str, context: RenderContext) -> DocumentGroup:
    document_id = fields.identity(info, "knowledge_id") or knowledge_id
    handle = context.register_document(document_id) if document_id else None
    return DocumentGroup(handle=handle or "", title=fields.first(info, "title") or title)


def _root(mode: str, context: RenderContext) -> Element:
    root = Element("retrieval", context)
    root.literal("type", "knowledge")
    root.attribute("mode", mode)
    return root


def _write_documents(
    root: Element, groups: Iterable[DocumentGroup], mode: str, info: Mapping[str, Any] | None = None
) -> None:
    """Write the documents; `info`, if given, describes the first of them."""
    for position, group in enumerate(groups):
        document = root.child("document")
        document.literal("id", group.handle)
        document.literal("kb", group.knowledge_base)
        document.attribute("title", group.title)
        if info is not None and position == 0:
            _write_info(document.child("info"), info)
        document.metadata(group.metadata)
        for chunk in group.chunks:
            _write_chunk(document.child("chunk"), chunk, mode)


def _write_info(element: Element, info: Mapping[str, Any]) -> None:
    for name in _INFO_ATTRIBUTES:
        element.attribute(name, info.get(name))
    element.line("description", info.get("description"))
    element.metadata(info.get("metadata"))


def _write_chunk(element: Element, chunk: ChunkRow, mode: str) -> None:
    element.literal("id", chunk.handle)
    element.literal("index", str(chunk.index))
    element.literal("view", "full" if chunk.content or mode == DEEP_READ else "match")
    element.attribute("type", chunk.chunk_type)
    element.attribute("role", chunk.role)
    element.line("question", chunk.question)
    # In a deep read the snippet says where in a long chunk the words stand, so it is kept.
    if mode == DEEP_READ or not _repeats(chunk.match, chunk.content):
        element.line("match", chunk.match)
    element.line("content", chunk.content)
    for answer in chunk.answers:
        element.line("answer", answer)
    for row in chunk.images:
        image = element.child("image")
        image.attribute("url", row.get("url"))
        image.attribute("caption", row.get("caption"))


def _write_position(root: Element, data: Mapping[str, Any], *, has_document: bool) -> None:
    """Say how many matches there are, or what remains to be read."""
    if fields.first(data, "query"):
        matches = root.child("matches")
        matches.attribute("query", data.get("query"))
        matches.attribute("count", data.get("match_count"))
        matches.attribute("truncated", data.get("truncated"))
        matches.attribute("next_offset", data.get("next_offset"))
        return
    total, fetched = fields.number(data.get("total_chunks")), fields.number(data.get("fetched_chunks"))
    remaining = None if total is None else total - (fetched or 0)
    more = remaining is not None and remaining > 0
    if has_document and (more or fields.shown(data.get("next_offset"))):
        pagination = root.child("pagination")
        pagination.attribute("next_offset", data.get("next_offset"))
        pagination.attribute("remaining", remaining)
    elif not has_document and more:
        pagination = root.child("pagination")
        pagination.attribute("remaining", remaining)
        pagination.attribute("page", data.get("page"))
        pagination.attribute("page_size", data.get("page_size"))


def _repeats(match: str, content: str) -> bool:
    """Whether the content already shows the snippet (its outer cut marks and spaces aside)."""
    return bool(content) and _without_cut_marks(match) in content


def _without_cut_marks(text: str) -> str:
    """The text without outer white space and cut marks. By offsets, so that long runs cost linear time."""
    start, end = 0, len(text)
    while start < end:
        mark = next((mark for mark in _CUT_MARKS if text.startswith(mark, start)), "")
        if not mark and not text[start].isspace():
            break
        start += len(mark) or 1
    while end > start:
        mark = next((mark for mark in _CUT_MARKS if text.endswith(mark, start, end)), "")
        if not mark and not text[end - 1].isspace():
            break
        end -= len(mark) or 1
    return text[start:end]
