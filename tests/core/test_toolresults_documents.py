"""Tests of document lists."""

from __future__ import annotations

from modelcontext_core.registry import Registry
from tests.core.rendering import RAW_OUTPUT, render


def test_a_document_shows_what_is_known_of_it() -> None:
    """Attributes in their fixed order, the date without its time, the description as a child."""
    data = {
        "total_docs": 0,
        "documents": [
            {
                "description": "a < b",
                "updated_at": "2026-01-02T03:04:05Z",
                "parse_status": "completed",
                "chunk_count": 0,
                "file_type": "pdf",
                "type": "file",
                "title": 'The "T"',
                "knowledge_id": "d-1",
            },
            {"knowledge_id": "d-2"},
        ],
    }

    assert render("document_info", data) == (
        '<documents total="0">\n'
        '  <document id="doc://1" title="The &quot;T&quot;" type="file" file_type="pdf" chunk_count="0"'
        ' parse_status="completed" updated_at="2026-01-02">\n'
        "    <description>a &lt; b</description>\n"
        "  </document>\n"
        '  <document id="doc://2" />\n'
        "</documents>"
    )


def test_a_faq_shows_its_question_and_may_be_cited() -> None:
    """A question-and-answer entry is a chunk of its document; the title stands in for a missing question."""
    registry = Registry()
    rows = [{"is_faq": True, "knowledge_id": "d-1", "faq_id": "f-1", "title": "Why?", "faq_answers": ["Because", ""]}]

    text = render("document_info", {"documents": rows}, registry=registry)

    assert text == (
        "<documents>\n"
        '  <document id="doc://1" type="faq">\n'
        '    <chunk id="chunk://1" type="faq">\n'
        "      <question>Why?</question>\n"
        "      <answer>Because</answer>\n"
        "    </chunk>\n"
        "  </document>\n"
        "</documents>"
    )
    assert 'chunk_id="f-1"' in registry.decode_output_text('<ref id="chunk://1"/>')


def test_a_faq_needs_one_of_its_two_ids() -> None:
    """An entry with a document or a chunk id is shown; one with neither is skipped."""
    rows = [{"is_faq": True, "faq_id": "f-1"}, {"is_faq": True, "knowledge_id": "d-1"}, {"is_faq": True, "title": "x"}]

    lines = render("document_info", {"documents": rows}).split("\n")

    assert [line.strip() for line in lines if "document " in line] == [
        '<document type="faq">',
        '<document id="doc://1" type="faq">',
    ]


def test_a_chunk_id_of_an_ordinary_document_means_nothing() -> None:
    """Only entries that say `is_faq` register a chunk."""
    registry = Registry()
    render("document_info", {"documents": [{"knowledge_id": "d-1", "faq_id": "f-1"}]}, registry=registry)

    assert registry.chunk_handle("f-1") is None


def test_without_a_usable_document_the_output_is_shown() -> None:
    """Rows without an id leave the output as it is."""
    for documents in (None, [], [{"title": "T"}], [None, 3], [{"knowledge_id": 5}]):
        assert render("document_info", {"documents": documents}) == RAW_OUTPUT
