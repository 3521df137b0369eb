"""The notes that stand beside images and say which chunk each one came from."""

from __future__ import annotations

from collections.abc import Sequence

from modelcontext_core.messages import ToolResult
from modelcontext_core.toolresults.context import RenderContext

__all__ = ["image_sources_note", "tool_image_sources_note"]


def image_sources_note(chunk_ids: Sequence[str], context: RenderContext, offset: int = 0) -> str:
    """A line for each image, numbered from `offset` + 1, with the handle of its chunk.

    Only looks up: a chunk that the model does not know yet is `unavailable`, never made up. "" without images.
    """
    if not chunk_ids:
        return ""
    lines = [
        f"image {number}: {(isinstance(chunk_id, str) and context.chunk_handle(chunk_id)) or 'unavailable'}"
        for number, chunk_id in enumerate(chunk_ids, start=offset + 1)
    ]
    return "\n".join(["Image sources:", *lines])


def tool_image_sources_note(result: ToolResult, context: RenderContext) -> str:
    """The note for the images of a tool result; "" when it has none (a stored result has none)."""
    return image_sources_note([image.chunk_id for image in result.images], context)
