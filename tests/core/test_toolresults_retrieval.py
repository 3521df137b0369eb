"""Tests of the four knowledge retrievals."""

from __future__ import annotations

import pytest

from modelcontext_core.registry import Registry
from tests.core.rendering import RAW_OUTPUT, render

RETRIEVALS = [
    ("search_results", "results", "semantic"),
    ("grep_results", "chunk_results", "keyword"),
    ("graph_query_results", "results", "graph"),
    ("knowledge_chunks_list", "chunks", "deep_read"),
]


@pytest.mark.parametrize(("display_type", "key", "mode"), RETRIEVALS)
def test_each_retrieval_has_its_rows_and_mode(display_type: str, key: str, mode: str) -> None:
    """Every retrieval writes its rows below documents, under its own mode."""
    text = render(display_type, {key: [{"chunk_id": "c-1", "knowledge_id": "d-1", "content": "x"}]})

    assert text == (
        f'<retrieval type="knowledge" mode="{mode}">\n'
        '  <document id="doc://1">\n'
        '    <chunk id="chunk://1" index="0" view="full">\n'
        "      <content>x</content>\n"
        "    </chunk>\n"
        "  </document>\n"
        "</retrieval>"
    )


def test_documents_stand_in_first_seen_order_with_what_any_row_knew() -> None:
    """A document takes knowledge base, title and metadata from the first of its rows that has one."""
    rows = [
        {"chunk_id": "c-1", "knowledge_id": "d-1", "content": "a"},
        {"chunk_id": "c-2", "knowledge_id": "d-2", "content": "b", "title": "Two"},
        {"chunk_id": "c-3", "knowledge_id": "d-1", "content": "c", "knowledge_title": "One", "knowledge_base": "k-1"},
        {"chunk_id": "c-4", "knowledge_id": "d-1", "content": "d", "title": "Late", "knowledge_metadata": "kept"},
    ]

    lines = render("search_results", {"results": rows}).split("\n")

    assert [line for line in lines if "document" in line or "metadata" in line] == [
        '  <document id="doc://1" kb="kb://1" title="One">',
        "    <metadata>kept</metadata>",
        "  </document>",
        '  <document id="doc://2" title="Two">',
        "  </document>",
    ]
    assert [line.split('"')[1] for line in lines if "<chunk" in line] == [f"chunk://{n}" for n in (1, 3, 4, 2)]


def test_chunks_without_a_document_stand_alone() -> None:
    """Two chunks whose document is unknown are not put below one document."""
    rows = [{"chunk_id": "c-1", "content": "a"}, {"chunk_id": "c-2", "content": "b", "title": "T"}]

    text = render("search_results", {"results": rows})

    assert text.count("<document>") == 1
    assert text.count('<document title="T">') == 1


def test_all_rows_are_registered_before_any_text_is_written() -> None:
    """A text may name a document that only a later row brings."""
    rows = [
        {"chunk_id": "c-1", "knowledge_id": "document-a", "content": "see document-b"},
        {"chunk_id": "c-2", "knowledge_id": "document-b", "content": "see document-a"},
    ]

    text = render("search_results", {"results": rows})

    assert "<content>see doc://2</content>" in text
    assert "<content>see doc://1</content>" in text


def test_resources_are_numbered_in_the_order_written() -> None:
    """Stored resources get their numbers as the text runs: title, metadata, then the chunk, images last."""
    row = {
        "images": [{"url": "local://b/4.png", "caption": "local://b/5.png"}],
        "content": "local://b/3.png",
        "knowledge_metadata": {"cover": "local://b/2.png"},
        "title": "local://b/1.png",
        "knowledge_id": "d-1",
        "chunk_id": "c-1",
    }

    text = render("search_results", {"results": [row]})

    assert [text.index(f"res://000{n}") for n in range(1, 6)] == sorted(
        text.index(f"res://000{n}") for n in range(1, 6)
    )
    assert '<image url="res://0004" caption="res://0005" />' in text


def test_a_row_without_an_id_is_skipped_and_numbers_identify_nothing() -> None:
    """Rows without a textual id are left out, even when their other values are good."""
    rows = [{"content": "lost"}, {"chunk_id": 7, "content": "lost"}, {"id": "c-1", "content": "kept"}]

    text = render("search_results", {"results": rows})

    assert "lost" not in text
    assert "kept" in text


def test_a_chunk_is_a_faq_only_when_nothing_else_names_it() -> None:
    """`faq_id` alone makes the type faq; a chunk id or a type of its own wins."""
    rows = [
        {"faq_id": "f-1"},
        {"faq_id": "f-2", "chunk_id": "c-2"},
        {"faq_id": "f-3", "chunk_type": "text"},
    ]

    text = render("search_results", {"results": rows})

    assert '<chunk id="chunk://1" index="0" view="match" type="faq" />' in text
    assert '<chunk id="chunk://2" index="0" view="match" />' in text
    assert '<chunk id="chunk://3" index="0" view="match" type="text" />' in text


@pytest.mark.parametrize(
    ("match", "content", "shown"),
    [
        ("b", "a b c", False),
        ("... b …", "a b c", False),
        ("… ... b c", "a b c", False),
        ("B", "a b c", True),
        ("b", "", True),
        ("...", "a", False),
        ("end....", "the end.", False),
    ],
)
def test_a_match_that_the_content_shows_is_left_out(match: str, content: str, shown: bool) -> None:
    """A snippet is not repeated beside its content; outer cut marks and spaces do not make it another text."""
    row = {"chunk_id": "c-1", "match_snippet": match, "content": content}

    assert ("<match>" in render("search_results", {"results": [row]})) is shown
    assert "<match>" in render("knowledge_chunks_list", {"chunks": [row]})


def test_zero_is_a_value_and_blanks_are_left_out() -> None:
    """Null, blank, false and empty lists give no attribute or element; zero does."""
    data = {
        "results": [{"chunk_id": "c-1", "role": " ", "content": None, "faq_answers": [], "chunk_type": False}],
        "omitted_for_budget": 0,
        "partial_failures": ["", None, "one"],
        "mode": None,
        "requested_mode": "",
    }

    assert render("search_results", data) == (
        '<retrieval type="knowledge" mode="semantic">\n'
        "  <document>\n"
        '    <chunk id="chunk://1" index="0" view="match" />\n'
        "  </document>\n"
        '  <omitted count="0" reason="output_budget" />\n'
        "  <partial_failure>one</partial_failure>\n"
        "</retrieval>"
    )


def test_extras_belong_to_their_display_type() -> None:
    """Relations and errors are of graphs, fallbacks and omissions of searches."""
    data = {
        "results": [{"chunk_id": "c-1"}],
        "relations": [{"source": "A", "target": "B"}, {"type": ""}, "no relation"],
        "errors": ["E"],
        "omitted_for_budget": 2,
        "requested_mode": "hybrid",
        "mode_fallbacks": [{"mode": "keyword"}],
    }

    graph = render("graph_query_results", data)
    search = render("search_results", data)

    assert graph.endswith('  <relation source="A" target="B" />\n  <error>E</error>\n</retrieval>')
    assert search.endswith(
        '  <mode_fallback mode="keyword" />\n  <omitted count="2" reason="output_budget" />\n</retrieval>'
    )
    assert "requested_mode" not in graph


def test_metadata_is_sorted_and_compacted_piece_by_piece() -> None:
    """An object is written by sorted keys; empty values go, false and nested values stay readable."""
    registry = Registry()
    registry.register_document("document-z")
    metadata = {"z": "document-z", "b": False, "a": ["x", 2], "n": None, "e": [], "o": {"k": "<v>"}}

    text = render("grep_results", {"chunk_results": [{"id": "c-1", "knowledge_metadata": metadata}]}, registry=registry)

    assert '<metadata>a: x, 2; b: false; o: {"k": "&lt;v&gt;"}; z: doc://1</metadata>' in text


def test_chunk_list_rows_take_their_document_from_the_data() -> None:
    """Rows that do not name their document belong to that of the data; others keep their own."""
    data = {
        "knowledge_id": "d-1",
        "knowledge_title": "T",
        "chunks": [{"chunk_id": "c-1", "content": "a"}, {"chunk_id": "c-2", "knowledge_id": "d-2", "title": "U"}],
    }

    text = render("knowledge_chunks_list", data)

    assert '<document id="doc://1" title="T">' in text
    assert '<document id="doc://2" title="U">' in text


def test_a_document_without_rows_is_a_header_alone() -> None:
    """What is known of a document is shown even when no chunk was read."""
    data = {
        "knowledge_id": "d-1",
        "knowledge_title": "T",
        "query": "q",
        "match_count": 0,
        "chunks": [],
        "document": {"file_type": "pdf", "chunk_count": 0},
    }

    assert render("knowledge_chunks_list", data) == (
        '<retrieval type="knowledge" mode="deep_read">\n'
        '  <document id="doc://1" title="T">\n'
        '    <info file_type="pdf" chunk_count="0" />\n'
        "  </document>\n"
        '  <matches query="q" count="0" />\n'
        "</retrieval>"
    )


def test_a_document_of_its_own_stands_before_the_rows() -> None:
    """When the described document is none of the rows', it has an element of its own, and its id comes first."""
    data = {
        "chunks": [{"chunk_id": "c-1", "knowledge_id": "d-2"}],
        "document": {"knowledge_id": "d-1", "title": "T", "source": "upload"},
    }

    text = render("knowledge_chunks_list", data)

    assert text.index('<document id="doc://1" title="T">\n    <info source="upload" />') < text.index('id="doc://2"')


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ({"document": {}, "next_offset": 3, "total_chunks": 9, "fetched_chunks": 3}, 'next_offset="3" remaining="6"'),
        ({"document": {}, "total_chunks": 9, "fetched_chunks": 3}, 'remaining="6"'),
        ({"document": {}, "next_offset": 3}, 'next_offset="3"'),
        ({"document": {}, "total_chunks": 3, "fetched_chunks": 3}, None),
        ({"total_chunks": 9, "fetched_chunks": "2", "page": 1, "next_offset": 2}, 'remaining="7" page="1"'),
        ({"total_chunks": 2, "fetched_chunks": 2, "page": 1}, None),
    ],
)
def test_pagination_says_what_remains(extra: dict[str, object], expected: str | None) -> None:
    """With a document by offset, without one by page, and only while something remains."""
    text = render("knowledge_chunks_list", {"knowledge_id": "d-1", "chunks": [{"chunk_id": "c-1"}], **extra})

    assert ("<pagination" in text) is (expected is not None)
    assert expected is None or f"  <pagination {expected} />\n" in text


@pytest.mark.parametrize("display_type", [display_type for display_type, _, _ in RETRIEVALS])
def test_without_a_usable_row_the_output_is_shown(display_type: str) -> None:
    """Rows that are no objects, or none at all, leave the output as it is."""
    for rows in (None, [], ["x", 3, None, [[]]], {"chunk_id": "c-1"}, [{"chunk_id": ""}]):
        data = {"results": rows, "chunk_results": rows, "chunks": rows, "document": "none"}

        assert render(display_type, data) == RAW_OUTPUT


def test_a_failed_retrieval_shows_no_rows() -> None:
    """Rows of a failed call are no evidence: its output and error are shown."""
    data = {"results": [{"chunk_id": "c-1", "content": "x"}]}

    assert render("search_results", data, success=False, error="boom") == f"{RAW_OUTPUT}\n\nError: boom"


def test_what_a_successful_retrieval_shows_may_be_cited() -> None:
    """A chunk that was only known by name becomes citable when it is retrieved."""
    registry = Registry()
    row = {"chunk_id": "c-1", "knowledge_base_id": "k-1", "title": "A & B", "content": "x"}
    render("search_results", {"results": [row]}, registry=registry)

    assert registry.decode_output_text('<ref id="chunk://1"/>') == '<kb doc="A &amp; B" chunk_id="c-1" kb_id="k-1" />'


def test_rows_of_an_external_tool_are_not_the_applications() -> None:
    """An MCP server cannot have its data rendered as the application's evidence."""
    data = {"results": [{"chunk_id": "c-1", "content": "x"}]}

    assert render("search_results", data, tool_name="mcp_files_find") == RAW_OUTPUT
