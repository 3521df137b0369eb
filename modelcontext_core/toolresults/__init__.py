"""Tool results as the model sees them: a module for each group of display types.

`render` picks the renderer, `context` says what a renderer may do, `fields` reads rows, `markup` writes elements,
`excerpt` cuts texts.
"""

from __future__ import annotations

from modelcontext_core.toolresults.context import RenderContext
from modelcontext_core.toolresults.images import image_sources_note, tool_image_sources_note
from modelcontext_core.toolresults.render import render_tool_result

__all__ = ["RenderContext", "image_sources_note", "render_tool_result", "tool_image_sources_note"]
