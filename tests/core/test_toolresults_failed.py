"""Tests of failed calls, output files, and results without structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from modelcontext_core.messages import ToolResult
from modelcontext_core.registry import Registry


def show(tool_name: str = "", *, registry: Registry | None = None, **fields: Any) -> str:
    """What the model sees of a result with these fields."""
    return (registry or Registry()).model_tool_result(ToolResult(**fields), tool_name)


@pytest.mark.parametrize(
    ("output", "error", "expected"),
    [
        ("", "", "Error: tool call failed"),
        (" \n", "\t", "Error: tool call failed"),
        ("", " boom\n", "Error: boom"),
        (" out ", "", "out"),
        ("it went boom", "boom", "it went boom"),
        ("out\n", "boom", "out\n\nError: boom"),
    ],
)
def test_a_failed_call_shows_output_then_error(output: str, error: str, expected: str) -> None:
    """Both are trimmed, and an error that the output has is not repeated."""
    assert show(success=False, output=output, error=error) == expected


def test_an_id_that_the_error_labels_is_replaced_in_the_output_too() -> None:
    """Output and error are one text: what either names is known in both."""
    text = show(success=False, output="document-a is gone", error='no knowledge_id="document-a"')

    assert text == 'doc://1 is gone\n\nError: no knowledge_id="doc://1"'


def test_keys_of_a_failed_json_output_are_read() -> None:
    """The output may be JSON by itself even though the whole text is not."""
    text = show(success=False, output='{"chunk_id": "chunk-a1"}', error="half a result")

    assert text == '{"chunk_id": "chunk://1"}\n\nError: half a result'


def test_nothing_of_a_failed_call_may_be_cited() -> None:
    """A failed call registers names to go on with, never evidence."""
    registry = Registry()
    show("grep_chunks", registry=registry, success=False, output='<chunk chunk_id="chunk-a1">', error="x")

    assert registry.chunk_handle("chunk-a1") == "chunk://1"
    assert registry.decode_output_text('a<ref id="chunk://1"/>b') == "ab"


@pytest.mark.parametrize(
    ("output", "files", "expected"),
    [
        ("done", None, "done"),
        ("done", [], "done\nOutput files: none from this call."),
        ("done\n", ["a.txt", "b c.csv"], "done\nOutput files: `a.txt`, `b c.csv`"),
        ("", ["a.txt"], "Output files: `a.txt`"),
        ("done", ["", " "], "done\nOutput files: none from this call."),
    ],
)
def test_output_files_are_the_last_line(output: str, files: Sequence[str] | None, expected: str) -> None:
    """One line names the files of this call; without a file store there is no line."""
    assert show("shell_exec", success=True, output=output, output_files=files) == expected


def test_a_failed_call_may_have_written_files() -> None:
    """Files are named after the error as well."""
    assert show("shell_exec", success=False, error="boom", output_files=["a"]) == "Error: boom\nOutput files: `a`"


def test_stored_references_among_the_files_are_named_as_resources() -> None:
    """A file that is a stored resource is shown by its handle, so that the model can use it."""
    assert show("shell_exec", success=True, output="done", output_files=["local://a/b.png"]) == (
        "done\nOutput files: `res://0001`"
    )


def test_an_unknown_display_type_is_no_structure() -> None:
    """Data that no renderer knows is not shown; the output is."""
    assert show(success=True, output="odd", data={"display_type": "else", "results": [{"chunk_id": "c"}]}) == "odd"


def test_the_stored_result_stays_what_it_was() -> None:
    """Rendering changes nothing in the data that it reads."""
    data = {"display_type": "knowledge_chunks_list", "knowledge_id": "d-1", "chunks": [{"chunk_id": "c-1"}]}
    show(success=True, data=data)

    assert data == {"display_type": "knowledge_chunks_list", "knowledge_id": "d-1", "chunks": [{"chunk_id": "c-1"}]}
