"""Hidden characters are drawn as their code points."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector_app.views.hidden import displayable, hidden_count, pieces


@pytest.mark.parametrize(
    ("character", "shown"),
    [
        ("\u200b", "[U+200B]"),
        ("\u202e", "[U+202E]"),
        ("\u2066", "[U+2066]"),
        ("\x00", "[U+0000]"),
        ("\x1b", "[U+001B]"),
        ("\ufeff", "[U+FEFF]"),
        ("\ud83d", "[\\uD83D]"),
        ("\U000e0041", "[U+E0041]"),
    ],
)
def test_a_hidden_character_is_shown_as_its_code_point(character: str, shown: str) -> None:
    """Zero-width, bidi, control and tag characters and halves of surrogate pairs become visible."""
    assert displayable(f"a{character}b") == f"a{shown}b"


@pytest.mark.parametrize("text", ["plain", "汉字 and Ärger", "a\tb\nc", "👍 e\u0301"])
def test_what_can_be_seen_stays(text: str) -> None:
    """Letters of any script, tabs, line breaks and emoji are left alone."""
    assert displayable(text) == text


@given(st.text(st.characters(), max_size=60))
def test_nothing_hidden_is_left(text: str) -> None:
    """What is shown holds no hidden character and can be encoded as UTF-8."""
    shown = displayable(text)

    assert hidden_count(shown) == 0
    assert shown.encode("utf-8").decode("utf-8") == shown


@given(st.text(st.characters(), max_size=60))
def test_pieces_join_to_the_text(text: str) -> None:
    """Splitting keeps every character."""
    assert "".join(piece for piece, _ in pieces(text)) == text


def test_a_pile_of_combining_marks_is_shown_as_its_number() -> None:
    """Marks that would cover the lines beside them are counted; what languages write stays."""
    assert displayable("Z" + "\u0301\u0300" * 50_000 + "!") == "Z[100,000 combining marks]!"
    assert hidden_count("Z" + "\u0301" * 9) == 9
    assert displayable("e\u0301\u0323 שָׁ֑ ที่") == "e\u0301\u0323 שָׁ֑ ที่"
