"""One tool result as a text for the model: which renderer, then the line about output files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from modelcontext_core.messages import ToolResult
from modelcontext_core.toolresults import fields
from modelcontext_core.toolresults.context import RenderContext
from modelcontext_core.toolresults.database import render_database
from modelcontext_core.toolresults.documents import render_document_info
from modelcontext_core.toolresults.failed import render_failure
from modelcontext_core.toolresults.retrieval import render_chunk_list, render_graph, render_grep, render_search
from modelcontext_core.toolresults.web import render_web_fetch, render_web_search

__all__ = ["RENDERERS", "render_tool_result"]

WEB_FETCH: Final = "web_fetch_results"

# A renderer gives None when the data has no usable row; then the output of the tool is shown.
RENDERERS: Final[Mapping[str, Callable[[ToolResult, RenderContext], str | None]]] = {
    "search_results": render_search,
    "grep_results": render_grep,
    "graph_query_results": render_graph,
    "knowledge_chunks_list": render_chunk_list,
    "document_info": render_document_info,
    "web_search_results": render_web_search,
    WEB_FETCH: render_web_fetch,
    "database_query": render_database,
}


def render_tool_result(result: ToolResult, tool_name: str, context: RenderContext) -> str:
    """What the model is shown of a result. The result itself is never changed, and no shape of `data` raises.

    The display type of the data decides, for a failed call only that of fetched pages (they say which page failed).
    Results of external tools stay as they are: their data is not the application's.
    """
    text = _structured(result, tool_name, context)
    if text is None and result.success:
        text = context.encode_output(_text(result.output), tool_name, True)
    elif text is None:
        text = render_failure(_text(result.output), _text(result.error), tool_name, context)
    files = _output_files(result, tool_name, context)
    if not files:
        return text
    text = text.rstrip("\r\n")
    return f"{text}\n{files}" if text else files


def _text(value: object) -> str:
    # Results are often built from somebody's JSON: `null` is no output.
    return value if isinstance(value, str) else ""


def _structured(result: ToolResult, tool_name: str, context: RenderContext) -> str | None:
    display_type = fields.mapping(result.data).get("display_type")
    if not isinstance(display_type, str) or context.is_external(tool_name):
        return None
    if not result.success and display_type != WEB_FETCH:
        return None
    renderer = RENDERERS.get(display_type)
    return renderer(result, context) if renderer else None


def _output_files(result: ToolResult, tool_name: str, context: RenderContext) -> str:
    if result.output_files is None:
        return ""
    names = [fields.shown(name) for name in fields.items(result.output_files)]
    if not context.is_external(tool_name):
        names = [context.compact(name) for name in names]
    quoted = ", ".join(f"`{name}`" for name in names if name)
    return f"Output files: {quoted}" if quoted else "Output files: none from this call."
