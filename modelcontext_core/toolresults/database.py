"""Rows of a database: `database_query`. The model reads the tool's own table; the rows say which values are ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modelcontext_core import grammar
from modelcontext_core.messages import ChunkReference, ToolResult
from modelcontext_core.policies import KeyKind
from modelcontext_core.toolresults import fields
from modelcontext_core.toolresults.context import RenderContext

__all__ = ["render_database"]


def render_database(result: ToolResult, context: RenderContext) -> str | None:
    """The output with the ids of its rows replaced. None without a usable row.

    The id columns (those of the policies' key table) are registered row by row, in the order of their columns, so
    that numbers follow the table as it is read. What may not be mined from a labelled text is no id here either:
    columns are whatever the query selected (`'no document' AS knowledge_id`).
    """
    rows = fields.rows(fields.mapping(result.data), "rows")
    if not rows:
        return None
    for row in rows:
        columns = [(column.lower(), value) for column, value in row.items() if isinstance(column, str)]
        by_name = dict(columns)
        for column, value in columns:
            kind = context.key_kinds.get(column)
            if kind is None:
                continue
            for member in fields.items(value) or (value,):
                if isinstance(member, str):
                    _register(kind, member.strip(), by_name, context, result.success)
    return context.compact(result.output)


def _register(kind: KeyKind, value: str, row: Mapping[str, Any], context: RenderContext, citable: bool) -> None:
    if kind == "document_ref":
        value = value.partition("|")[0].strip()
    if not grammar.may_be_mined(value):
        return
    if kind == "chunk":
        reference = ChunkReference(
            chunk_id=value,
            knowledge_id=_metadata(row, "knowledge_id"),
            knowledge_base_id=_metadata(row, "knowledge_base_id") or _metadata(row, "kb_id"),
            document_title=fields.first(row, "knowledge_title"),
        )
        context.register_chunk(reference, citable)
    elif kind in ("document", "document_ref"):
        context.register_document(value)
    elif kind == "knowledge_base":
        context.register_knowledge_base(value)
    elif kind == "web" and grammar.is_http_url(value):
        context.register_web(value, "", citable)


def _metadata(row: Mapping[str, Any], column: str) -> str:
    value = fields.identity(row, column)
    return value if grammar.may_be_mined(value) or grammar.whole_handle(value) is not None else ""
