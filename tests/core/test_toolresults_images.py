"""Tests of the notes beside images."""

from __future__ import annotations

from modelcontext_core.messages import ChunkReference, ToolImage, ToolResult
from modelcontext_core.registry import Registry


def test_images_are_numbered_after_those_of_the_user() -> None:
    """Numbers go on from the offset; a chunk that the model does not know is unavailable."""
    registry = Registry()
    registry.register_chunk(ChunkReference(chunk_id="c-1"))

    note = registry.image_sources_note(["c-1", "c-9", ""], 2)

    assert note == "Image sources:\nimage 3: chunk://1\nimage 4: unavailable\nimage 5: unavailable"


def test_a_note_registers_nothing() -> None:
    """Naming a source for an image must not make it known."""
    registry = Registry()
    registry.image_sources_note(["c-9"])

    assert registry.chunk_handle("c-9") is None


def test_no_images_no_note() -> None:
    """A stored result has no images, and then claims none."""
    registry = Registry()

    assert registry.image_sources_note([]) == ""
    assert registry.tool_image_sources_note(ToolResult(success=True)) == ""


def test_a_tools_images_are_numbered_from_one() -> None:
    """Each image of a result has a line, also one without a chunk."""
    registry = Registry()
    registry.register_context_chunk(ChunkReference(chunk_id="c-1"))
    images = (ToolImage(chunk_id="c-1", data=b"x"), ToolImage(data=b"y"))

    note = registry.tool_image_sources_note(ToolResult(success=True, images=images))

    assert note == "Image sources:\nimage 1: chunk://1\nimage 2: unavailable"
