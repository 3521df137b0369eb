"""Reading the rows of a knowledge retrieval: registering their identities and grouping them by document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from modelcontext_core.messages import ChunkReference
from modelcontext_core.toolresults import fields
from modelcontext_core.toolresults.context import RenderContext

__all__ = ["ChunkRow", "DocumentGroup", "group_by_document", "read_rows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow:
    """One retrieved chunk: its handles, and its texts as they came."""

    handle: str
    document: str
    knowledge_base: str
    title: str
    metadata: object
    index: int
    chunk_type: str
    role: str
    question: str
    match: str
    content: str
    answers: Sequence[str]
    images: Sequence[Mapping[str, Any]]


@dataclass(slots=True, kw_only=True)
class DocumentGroup:
    """The chunks of one document, in the order of their rows, under what the first row that knew it said of it."""

    handle: str = ""
    knowledge_base: str = ""
    title: str = ""
    metadata: object = None
    chunks: list[ChunkRow] = field(default_factory=list)

    def add(self, chunk: ChunkRow) -> None:
        """Append a chunk; its row fills what is still unknown of the document."""
        self.knowledge_base = self.knowledge_base or chunk.knowledge_base
        self.title = self.title or chunk.title
        self.metadata = self.metadata or chunk.metadata
        self.chunks.append(chunk)


def read_rows(
    rows: Iterable[Mapping[str, Any]],
    context: RenderContext,
    *,
    citable: bool,
    knowledge_id: str = "",
    knowledge_title: str = "",
) -> list[ChunkRow]:
    """Register every row (document, knowledge base, chunk) and read its texts.

    A row without an id that can have a handle is left out. `knowledge_id` and `knowledge_title` stand in for rows
    that do not name their document themselves.
    """
    chunks = []
    for row in rows:
        chunk = _read_row(row, context, citable, knowledge_id, knowledge_title)
        if chunk is not None:
            chunks.append(chunk)
    return chunks


def _read_row(
    row: Mapping[str, Any], context: RenderContext, citable: bool, knowledge_id: str, knowledge_title: str
) -> ChunkRow | None:
    chunk_id = fields.identity(row, "chunk_id", "faq_id", "id")
    if not chunk_id:
        return None
    document_id = fields.identity(row, "knowledge_id") or knowledge_id
    knowledge_base_id = fields.identity(row, "knowledge_base_id", "knowledge_base")
    title = fields.first(row, "knowledge_title", "title") or knowledge_title
    chunk_type = fields.first(row, "chunk_type")
    if not chunk_type and fields.identity(row, "faq_id") and not fields.identity(row, "chunk_id"):
        chunk_type = "faq"
    index = next((n for n in map(fields.number, (row.get("chunk_index"), row.get("index"))) if n is not None), 0)
    document = context.register_document(document_id) if document_id else None
    knowledge_base = context.register_knowledge_base(knowledge_base_id) if knowledge_base_id else None
    handle = context.register_chunk(
        ChunkReference(
            chunk_id=chunk_id,
            knowledge_id=document_id,
            knowledge_base_id=knowledge_base_id,
            document_title=title,
            chunk_index=index,
            chunk_type=chunk_type,
        ),
        citable,
    )
    if handle is None:
        return None
    metadata = row.get("knowledge_metadata")
    return ChunkRow(
        handle=handle,
        document=document or "",
        knowledge_base=knowledge_base or "",
        title=title,
        metadata=metadata if isinstance(metadata, Mapping) else fields.shown(metadata),
        index=index,
        chunk_type=chunk_type,
        role=fields.first(row, "role"),
        question=fields.first(row, "faq_question", "faq_standard_question"),
        match=fields.first(row, "match_snippet", "matched_content"),
        content=fields.first(row, "content"),
        answers=fields.texts(row.get("faq_answers")),
        images=fields.rows(row, "images"),
    )


def group_by_document(chunks: Iterable[ChunkRow], header: DocumentGroup | None = None) -> list[DocumentGroup]:
    """The documents in the order in which they are first seen, `header` first if given.

    A chunk without a document stands in a group of its own: two unknown documents are not one.
    """
    groups = [] if header is None else [header]
    by_handle = {group.handle: group for group in groups if group.handle}
    for chunk in chunks:
        group = by_handle.get(chunk.document)
        if group is None:
            group = DocumentGroup(handle=chunk.document)
            groups.append(group)
            if chunk.document:
                by_handle[chunk.document] = group
        group.add(chunk)
    return groups
