"""Tests of database rows."""

from __future__ import annotations

from modelcontext_core.registry import Registry
from tests.core.rendering import render


def test_ids_of_the_rows_are_replaced_in_the_output() -> None:
    """The tool's own table is shown, with the values of its id columns as handles."""
    rows = [
        {"title": "chunk-one", "chunk_id": "chunk-one", "knowledge_id": "document-1", "kb_ids": ["kbase-1", "kbase-2"]},
        {"chunk_id": "chunk-two", "url": "https://example.com/a"},
    ]
    output = "chunk-one document-1 kbase-2 chunk-two https://example.com/a chunk-three"

    text = render("database_query", {"rows": rows}, output=output, tool_name="database_query")

    assert text == "chunk://1 doc://1 kb://2 chunk://2 url://1 chunk-three"


def test_numbers_follow_the_table_row_by_row() -> None:
    """Two columns of one space are numbered as a reader meets them."""
    rows = [
        {"KNOWLEDGE_ID": "document-c", "suspected_knowledge_ids": "document-a"},
        {"knowledge_id": "document-b"},
    ]

    text = render("database_query", {"rows": rows}, output="document-a document-b document-c")

    assert text == "doc://2 doc://3 doc://1"


def test_of_a_document_reference_only_the_id_is_an_identity() -> None:
    """`id|title` registers the id."""
    text = render("database_query", {"rows": [{"source_refs": "document-a|The title"}]}, output="document-a|The title")

    assert text == "doc://1|The title"


def test_words_in_id_columns_are_no_ids() -> None:
    """A query may select anything under the name of an id column; what could not be mined is not registered."""
    registry = Registry()
    rows = [{"knowledge_id": value} for value in ("no document", "c1", "doc://7", "-", None, 3, ["", {}])]

    assert render("database_query", {"rows": rows}, output="no document", registry=registry) == "no document"
    assert registry.register_document("document-a") == "doc://1"


def test_a_chunk_knows_its_document_from_its_row() -> None:
    """The other ids of a row fill what a citation shows."""
    registry = Registry()
    rows = [{"chunk_id": "chunk-one", "knowledge_id": "document-1", "knowledge_base_id": "kbase-1"}]
    render("database_query", {"rows": rows}, output="x", registry=registry)

    assert 'kb_id="kbase-1"' in registry.decode_output_text('<ref id="chunk://1"/>')


def test_words_are_no_document_of_a_chunk_either() -> None:
    """Columns count in any letter case; a value that could not be mined says nothing about the chunk."""
    registry = Registry()
    rows = [{"CHUNK_ID": "chunk-one", "KNOWLEDGE_ID": "no document", "KB_ID": "kbase-1"}]
    render("database_query", {"rows": rows}, output="x", registry=registry)

    assert registry.decode_output_text("](chunk://1)") == "](weknora://chunk/chunk-one)"
    assert 'kb_id="kbase-1"' in registry.decode_output_text('<ref id="chunk://1"/>')


def test_without_rows_the_output_is_read_like_any_other() -> None:
    """No rows: labels of the output are registered."""
    text = render("database_query", {"rows": []}, output='kb_id="kbase-1"', tool_name="database_query")

    assert text == 'kb_id="kb://1"'
