"""Failed calls: what a tool printed before it failed, then why."""

from __future__ import annotations

from modelcontext_core.toolresults.context import RenderContext

__all__ = ["render_failure"]


def render_failure(output: str, error: str, tool_name: str, context: RenderContext) -> str:
    """The output and the error of a failed call as one text; the error is not repeated when the output has it.

    Nothing in it becomes citable. Output and error are encoded each by itself first (either may be JSON, whose keys
    are read only when it is the whole text), then together, so that an id that one of them labels is replaced in both.
    """
    output, error = output.strip(), error.strip()
    if not output and not error:
        return "Error: tool call failed"
    shown_output = context.encode_output(output, tool_name, False) if output else ""
    if not error or error in output:
        return shown_output
    shown_error = f"Error: {context.encode_output(error, tool_name, False)}"
    if not output:
        return shown_error
    return context.encode_output(f"{shown_output}\n\n{shown_error}", tool_name, False)
