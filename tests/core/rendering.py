"""Rendering one tool result in a test: the data that matters, everything else fixed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modelcontext_core.messages import ToolResult
from modelcontext_core.registry import Registry

RAW_OUTPUT = "raw output"


def render(
    display_type: str,
    data: Mapping[str, Any],
    *,
    registry: Registry | None = None,
    tool_name: str = "",
    success: bool = True,
    output: str = RAW_OUTPUT,
    error: str = "",
) -> str:
    """What the model sees of a result with this data."""
    result = ToolResult(success=success, output=output, error=error, data={"display_type": display_type, **data})
    return (registry or Registry()).model_tool_result(result, tool_name)


def element_names(text: str) -> list[str]:
    """The names of the elements that open, in their order."""
    return [
        line.strip()[1:].split(" ")[0].split(">")[0] for line in text.split("\n") if line.strip()[:2] not in ("</", "")
    ]
