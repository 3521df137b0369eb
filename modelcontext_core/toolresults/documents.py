"""Lists of documents: `document_info`. Entries of a question-and-answer collection show their questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modelcontext_core.messages import ChunkReference, ToolResult
from modelcontext_core.toolresults import fields
from modelcontext_core.toolresults.context import RenderContext
from modelcontext_core.toolresults.markup import Element

__all__ = ["render_document_info"]

_DATE_CHARACTERS = len("2026-01-02")
_PLAIN_ATTRIBUTES = ("title", "type", "file_type", "chunk_count", "parse_status")


def render_document_info(result: ToolResult, context: RenderContext) -> str | None:
    """The documents of a knowledge base or of a request, one page of them. None without a usable row."""
    data = fields.mapping(result.data)
    knowledge_base_id = fields.identity(data, "knowledge_base_id")
    knowledge_base = context.register_knowledge_base(knowledge_base_id) if knowledge_base_id else None
    found = []
    for row in fields.rows(data, "documents"):
        document_id = fields.identity(row, "knowledge_id")
        document = context.register_document(document_id) if document_id else None
        chunk = _register_faq(row, document_id, knowledge_base_id, context, result.success)
        if document or chunk:
            found.append((document, chunk, row))
    if not found:
        return None
    root = Element("documents", context)
    root.literal("kb", knowledge_base)
    root.attribute("total", data.get("total_docs"))
    root.attribute("page", data.get("page"))
    root.attribute("next_page", data.get("next_page"))
    for document, chunk, row in found:
        element = root.child("document")
        element.literal("id", document)
        if fields.true(row.get("is_faq")):
            element.literal("type", "faq")
            _write_faq(element.child("chunk"), chunk, row)
        else:
            _write_document(element, row)
    return root.render()


def _register_faq(
    row: Mapping[str, Any], document_id: str, knowledge_base_id: str, context: RenderContext, citable: bool
) -> str | None:
    chunk_id = fields.identity(row, "faq_id", "chunk_id")
    if not chunk_id or not fields.true(row.get("is_faq")):
        return None
    reference = ChunkReference(
        chunk_id=chunk_id,
        knowledge_id=document_id,
        knowledge_base_id=fields.identity(row, "knowledge_base_id") or knowledge_base_id,
        document_title=fields.first(row, "knowledge_title", "title"),
        chunk_type="faq",
    )
    return context.register_chunk(reference, citable)


def _write_faq(element: Element, chunk: str | None, row: Mapping[str, Any]) -> None:
    element.literal("id", chunk)
    element.literal("type", "faq")
    element.line("question", fields.first(row, "faq_question", "title"))
    for answer in fields.texts(row.get("faq_answers")):
        element.line("answer", answer)


def _write_document(element: Element, row: Mapping[str, Any]) -> None:
    for name in _PLAIN_ATTRIBUTES:
        element.attribute(name, row.get(name))
    element.attribute("updated_at", fields.first(row, "updated_at").strip()[:_DATE_CHARACTERS])
    element.line("description", row.get("description"))
