"""Tests of web searches and fetched pages."""

from __future__ import annotations

import re
from typing import Any

import pytest

from modelcontext_core.registry import Registry
from tests.core.rendering import RAW_OUTPUT, render

DOCUMENT = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"


def search(*rows: dict[str, Any], registry: Registry | None = None) -> str:
    """A successful web search."""
    return render("web_search_results", {"results": list(rows)}, registry=registry, tool_name="web_search")


def fetch(*rows: dict[str, Any], registry: Registry | None = None, success: bool = True) -> str:
    """A fetch of some pages."""
    data = {"results": list(rows)}
    return render("web_fetch_results", data, registry=registry, tool_name="web_fetch", success=success)


def page(number: int, **row: Any) -> dict[str, Any]:
    """A row for one page of an example site."""
    return {"url": f"https://example.com/{number}", **row}


def body(name: str, text: str) -> str:
    """The text of the first element of that name."""
    found = re.search(rf"<{name}[^>]*>(.*?)</{name}>", text, re.DOTALL)
    return found[1] if found else ""


def test_a_page_is_named_by_its_handle_only() -> None:
    """The raw address is never shown, not even where the page's own texts repeat it."""
    text = search(page(1, title="https://example.com/1", snippet="read https://example.com/1 now"))

    assert "example.com" not in text
    assert '<page id="url://1" title="url://1">\n    <match>read url://1 now</match>' in text


def test_rows_without_a_web_address_are_skipped() -> None:
    """Only http(s) pages have handles; without any, the output is shown."""
    bad = ({"url": "ftp://example.com"}, {"url": ""}, {"url": 5}, {"title": "T"})

    assert search(*bad, page(1, snippet="x")).count("<page ") == 1
    assert search(*bad) == RAW_OUTPUT
    assert fetch(*bad) == RAW_OUTPUT


def test_a_content_that_repeats_the_snippet_is_left_out() -> None:
    """The content is shown when it says something else."""
    assert "<content>" not in search(page(1, snippet="same", content=" same "))
    assert "<content>other</content>" in search(page(1, snippet="same", content="other"))
    assert "<content>other</content>" in search(page(1, content="other"))


def test_only_a_verified_page_shows_its_content() -> None:
    """What was fetched along with a search is shown when it was verified; a failure is named."""
    text = search(
        page(1, page_content="shown", page_verified=True), page(2, page_content="hidden", page_status="failed")
    )

    assert "<fetched_content>shown</fetched_content>" in text
    assert "hidden" not in text
    assert '<page_fetch status="failed" />' in text


@pytest.mark.parametrize(
    ("pages", "verified", "limit"), [(1, False, 1500), (5, True, 1066), (8, False, 1000), (8, True, 666)]
)
def test_search_evidence_shares_its_room(pages: int, verified: bool, limit: int) -> None:
    """At most 1,500 characters a text, and 16,000 for all: two texts a page, three when any page is verified."""
    rows = [page(n, snippet="<" * 2000, page_verified=verified and n == 0) for n in range(pages)]

    text = search(*rows)

    assert text.count('<match truncated="true">') == pages
    assert body("match", text) == "&lt;" * limit


def test_a_cut_never_falls_inside_an_identity() -> None:
    """Limits count what is shown, and what would be cut in two is left out."""
    registry = Registry()
    registry.register_document(DOCUMENT)

    for before in range(1490, 1502):
        shown = body(
            "match", search(page(1, snippet="x" * (before - 1) + " " + DOCUMENT + " y" * 9), registry=registry)
        )

        assert shown.rstrip(" y") in ("x" * (before - 1), "x" * (before - 1) + " doc://1", "x" * 1500)
        assert len(shown) <= 1500


def test_replacement_makes_room_before_the_cut() -> None:
    """A text that fits once its ids are handles is not cut."""
    registry = Registry()
    registry.register_document(DOCUMENT)

    text = search(page(1, snippet=f"{DOCUMENT} " * 60), registry=registry)

    assert "truncated" not in text
    assert text.count("doc://1") == 60


def test_fetched_pages_default_to_success() -> None:
    """A row without a status was read; the range covers what is shown."""
    assert fetch(page(1, raw_content="abc")) == (
        '<retrieval type="web" mode="fetch" trust="untrusted">\n'
        '  <page id="url://1" status="success">\n'
        "    <content>abc</content>\n"
        '    <range offset="0" returned="3" content_length="3" />\n'
        "  </page>\n"
        "</retrieval>"
    )


def test_a_cut_page_says_where_to_go_on() -> None:
    """The next offset counts characters of the page, not of what the model sees."""
    registry = Registry()
    registry.register_document(DOCUMENT)
    raw = f"{DOCUMENT} " + "x" * 9000

    text = fetch(page(1, raw_content=raw, offset=100, content_length=50_000), registry=registry)

    shown = body("content", text)
    returned = len(DOCUMENT) + 8000 - len("doc://1")
    assert shown == "doc://1 " + "x" * 7992
    assert f'<range offset="100" returned="{returned}" content_length="50000" />' in text
    assert f'<continue next_offset="{100 + returned}" />' in text


@pytest.mark.parametrize(
    ("row", "goes_on"),
    [
        ({"raw_content": "x" * 8000}, False),
        ({"raw_content": "x" * 8001}, True),
        ({"raw_content": "x", "offset": 9, "content_length": 10}, False),
        ({"raw_content": "x", "offset": 9, "content_length": 11}, True),
        ({"summary": "s", "content_length": 4000}, True),
        ({"summary": "s"}, False),
    ],
)
def test_going_on_is_offered_while_the_page_has_more(row: dict[str, Any], goes_on: bool) -> None:
    """`continue` stands when the range ends before the page does."""
    assert ("<continue " in fetch(page(1, **row))) is goes_on


def test_pages_share_their_room_and_summaries_come_first() -> None:
    """Summary and content of a page have 16,000 divided by the pages that were read, 4,000 and 8,000 at most."""
    rows = [page(n, summary="s" * 5000, raw_content="r" * 9000) for n in range(4)]

    one, four = fetch(rows[0]), fetch(*rows, page(9, status="failed"))

    assert (len(body("summary", one)), len(body("content", one))) == (4000, 8000)
    assert (len(body("summary", four)), len(body("content", four))) == (4000, 0)
    assert '<content truncated="true" />\n    <range offset="0" returned="0" content_length="9000" />' in four


def test_an_error_of_a_summary_is_named() -> None:
    """A summary that could not be made leaves its code and message."""
    text = fetch(page(1, summary_error_code="quota", summary_error="no & no", raw_content="x"))

    assert '    <summary_error code="quota">no &amp; no</summary_error>\n    <content>' in text


def test_pages_that_failed_say_whether_to_try_again() -> None:
    """Failed pages always carry `retryable`, then what went wrong; the note counts them."""
    text = fetch(page(1, raw_content="x"), page(2, status="failed", title="T", error_message="gone"))

    assert '<page id="url://2" status="failed" title="T" retryable="false">\n    <error>gone</error>' in text
    assert text.endswith(
        '\n\nSome pages could not be read; use the ones that were. Do not retry pages marked retryable="false".'
    )
    assert fetch(page(1, status="failed", retryable=True)).endswith('retry only pages marked retryable="true".')


def test_only_pages_that_were_read_may_be_cited() -> None:
    """A failed page is known by name; so is every page of a call that failed as a whole."""
    registry = Registry()
    fetch(page(1, raw_content="x"), page(2, status="failed"), registry=registry)
    fetch(page(3, raw_content="x"), registry=registry, success=False)

    refs = [registry.decode_output_text(f'<ref id="url://{n}"/>') for n in (1, 2, 3)]
    assert refs == ['<web url="https://example.com/1" title="" />', "", ""]


def test_a_failed_fetch_without_pages_is_any_failed_call() -> None:
    """Without a usable row the error is shown."""
    data: dict[str, Any] = {"results": []}

    assert render("web_fetch_results", data, success=False, output="", error="no rows") == "Error: no rows"
