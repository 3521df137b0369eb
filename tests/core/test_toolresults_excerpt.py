"""Tests of cutting a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core import grammar, jsontext
from modelcontext_core.handles import Place
from modelcontext_core.rewriting import Rewriting
from modelcontext_core.toolresults.excerpt import excerpt

PIECES = [
    "doc://1",
    "chunk://12",
    "res://0001",
    "doc://12x",
    "://",
    "a",
    " ",
    "1",
    "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
    "https://example.com/a?b=c",
    "的",
]


def rewritten(source: str, *places: Place) -> Rewriting:
    """A text in which these places were replaced."""
    rewriting = Rewriting(source, "")
    rewriting.apply((jsontext.splice(source, places), places))
    return rewriting


def cut(text: str, limit: int) -> str:
    """What is shown of a text in which nothing was replaced."""
    return excerpt(rewritten(text), limit).text


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("abc", 3, "abc"),
        ("abc", 2, "ab"),
        ("abc", 0, ""),
        ("abc", -5, ""),
        ("see doc://12 now", 11, "see "),
        ("see doc://12 now", 12, "see doc://12"),
        ("doc://12x", 8, ""),
        ("see https://example.com/page now", 20, "see "),
    ],
)
def test_a_cut_stands_before_an_identity(text: str, limit: int, expected: str) -> None:
    """Never inside a handle or a link, and never so that prose turns into a handle."""
    assert cut(text, limit) == expected


def test_a_link_without_end_may_be_cut() -> None:
    """What is longer than any identity is cut like prose."""
    assert len(cut("https://example.com/" + "a" * 5000, 1500)) == 1500


def test_places_in_the_source_count_what_was_replaced() -> None:
    """The source end is where the shown part ends in the text before replacement."""
    shorter = rewritten("ab DURABLE-ID cd DURABLE-ID ef", Place(3, 13, "doc://1"), Place(17, 27, "doc://2"))
    longer = rewritten("ab ID cd", Place(3, 5, "doc://1"))

    assert shorter.text == "ab doc://1 cd doc://2 ef"
    assert [excerpt(shorter, limit).source_end for limit in (2, 9, 10, 15, 21, 22, 99)] == [2, 3, 13, 17, 27, 28, 30]
    assert [excerpt(longer, limit).source_end for limit in (3, 5, 10, 11, 99)] == [3, 3, 5, 6, 8]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.integers(0, 60))
def test_no_cut_makes_or_breaks_a_handle(text: str, limit: int) -> None:
    """The handles of an excerpt are the first handles of the whole text."""
    shown = cut(text, limit)

    assert len(shown) <= limit
    assert text.startswith(shown)
    whole = grammar.handle_spans(text)
    assert grammar.handle_spans(shown) == whole[: len(grammar.handle_spans(shown))]
