"""Tests of the ways to cut: nothing is lost, each way cuts where it says, captures keep channels and times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core.chunking import (
    CHUNKINGS,
    Chunk,
    about_a_token,
    at_places,
    by_size,
    characters,
    chunking_named,
    cut,
    hurtful_spans,
    random_pieces,
    recut,
    words,
    worst_case,
)

TEXTS = st.lists(
    st.sampled_from([*'abcz 的é\n\\<>/:"=1290&;%[]{}', "doc://1", "<ref ", "\ud83d", "\ude00", "\\u00e9", "\u200d"]),
    max_size=60,
).map("".join)


@given(text=TEXTS, name=st.sampled_from(CHUNKINGS), size=st.integers(1, 9), seed=st.integers(0, 99))
def test_no_way_to_cut_loses_or_adds_a_character(text: str, name: str, size: int, seed: int) -> None:
    """The pieces of every chunking make the text again, and none is empty."""
    chunking = chunking_named(name, size=size, seed=seed, places=(1, size, 2 * size))
    pieces = (text,) if chunking is None else cut(text, chunking)

    assert "".join(pieces) == text
    assert chunking is None or all(pieces)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (characters("a的"), ["a", "的"]),
        (by_size(3)("abcdefgh"), ["abc", "def", "gh"]),
        (words("  two\nwords "), ["  two", "\nwords "]),
        (at_places([5, 2, 2, 0, 99])("abcdefgh"), ["ab", "cde", "fgh"]),
    ],
)
def test_simple_ways_cut_where_they_say(pieces: list[str], expected: list[str]) -> None:
    """Characters, sizes, words with the space before them, given places."""
    assert expected == list(pieces)


def test_about_a_token_follows_its_rule() -> None:
    """A word's beginning with its space, up to four letters, up to three digits, single CJK characters."""
    pieces = about_a_token("An interesting day, 12345 退货ok")

    assert ["An", " inte", "rest", "ing", " day", ",", " 123", "45", " ", "退", "货", "ok"] == list(pieces)


def test_random_pieces_depend_on_their_seed_only() -> None:
    """The same seed cuts the same text alike, another seed does not, and sizes keep their limits."""
    text = "x" * 200

    assert random_pieces(7)(text) == random_pieces(7)(text) != random_pieces(8)(text)
    assert all(3 <= len(piece) <= 11 for piece in list(random_pieces(7)(text))[:-1])


TORN = ["doc://12", '<ref id="chunk://1"/>', "\ud83d\ude00", "\\u00e9", "\\n", "[name-1]", "&amp;", "%2F", "i12"]


@pytest.mark.parametrize("torn", TORN)
def test_the_worst_case_tears_what_must_not_be_torn(torn: str) -> None:
    """Handles, tags, surrogate pairs, escapes and placeholders are cut at every place, prose nowhere."""
    pieces = list(worst_case(f"before {torn} behind"))

    assert ["before ", *torn, " behind"] == pieces


def test_what_hurts_is_found_in_order() -> None:
    """Spans come in the order of their beginnings and cover the handle, the tag and the escape."""
    text = "a doc://1 <b> \\n"

    assert ["doc://1", "<b>", "\\n"] == [text[start:end] for start, end in hurtful_spans(text)]


def test_a_chunking_of_the_user_is_held_to_the_text() -> None:
    """Pieces that are not the text are refused; a tokenizer's borders are taken."""
    assert ("to", "ken") == cut("token", lambda text: ["to", "", "ken"])
    with pytest.raises(ValueError, match="whole"):
        cut("token", lambda text: ["to"])


WRONG = [lambda: by_size(0), lambda: random_pieces(low=4, high=3), lambda: chunking_named("x")]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_settings_are_refused(wrong) -> None:  # type: ignore[no-untyped-def]
    """Sizes below one and unknown names raise `ValueError`."""
    with pytest.raises(ValueError):
        wrong()


def test_a_capture_cut_anew_keeps_channels_and_gives_each_piece_the_time_of_its_last_character() -> None:
    """Chunks that follow each other in one channel are joined; the channels stay in order."""
    stream = [
        Chunk(text="ab", time=0.0),
        Chunk(text="cd", time=1.0),
        Chunk(text='{"a"', channel="arguments", index=2, time=2.0, name="find"),
        Chunk(text=":1}", channel="arguments", index=2, time=3.0),
        Chunk(text="e", time=4.0),
    ]

    assert [
        Chunk(text="abc", time=1.0),
        Chunk(text="d", time=1.0),
        Chunk(text='{"a', channel="arguments", index=2, time=2.0, name="find"),
        Chunk(text='":1', channel="arguments", index=2, time=3.0, name="find"),
        Chunk(text="}", channel="arguments", index=2, time=3.0, name="find"),
        Chunk(text="e", time=4.0),
    ] == list(recut(stream, by_size(3)))
