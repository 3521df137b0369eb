"""Streaming decoders: what is held back, what is given at once, and when a decoder is new again."""

from __future__ import annotations

import pytest

from modelcontext_core import ChunkReference, HandleStreamDecoder, HandleTable, Registry


def registry(*, issues: bool = False) -> Registry:
    """One source in each space."""
    made = Registry()
    made.register_chunk(ChunkReference(chunk_id="c-1", document_title="T"))
    made.register_document("d-1")
    made.register_web("https://e.com/a", "W")
    if issues:
        made.register_issue("issue-000001")
    return made


def feeds(made: Registry, *chunks: str) -> list[str]:
    """What each chunk gives, and the flush last."""
    decoder = made.stream_decoder()
    return [*map(decoder.feed, chunks), decoder.flush()]


def test_prose_is_given_at_once() -> None:
    """Only what could still become a handle or a tag is held back."""
    assert ["Hello", ", world.", ""] == feeds(registry(), "Hello", ", world.")


def test_a_cut_handle_waits_for_its_end() -> None:
    """A scheme, its slashes and digits at the end may go on."""
    assert ["see ", "", "weknora://doc/d-1 x", ""] == feeds(registry(), "see do", "c://1", " x")


def test_a_beginning_that_becomes_a_word_is_released() -> None:
    """`d` might begin `doc://`; `do you` does not."""
    assert ["", "do y", "ou", ""] == feeds(registry(), "d", "o y", "ou")


def test_a_letter_before_a_scheme_says_at_once_that_it_is_none() -> None:
    """`sad` cannot end in the beginning of a handle: `d` is glued."""
    assert ["sad", ""] == feeds(registry(), "sad")


def test_a_tag_waits_for_its_bracket() -> None:
    """Up to 512 characters; then it is prose."""
    tag = '<kb doc="T" chunk_id="c-1" />'
    assert ["a ", "", tag, ""] == feeds(registry(), 'a <ref id="chu', 'nk://1"', "/>")

    long = "<ref " + "x" * 506
    assert ["", long + "y", ""] == feeds(registry(), long, "y")


def test_an_opener_before_what_may_vanish_waits_with_it() -> None:
    """One unfinished opener goes with what disappears, so it is held together with it."""
    made = registry()
    decoder = made.stream_decoder()

    assert "a" == decoder.feed("a<re<re")
    assert {"tag": "<re<re"} == decoder.pending
    assert "" == decoder.feed("f/>") + decoder.flush()


def test_pending_names_the_stage_that_waits() -> None:
    """`tag`, `handle`, `uri` or `word`."""
    made = registry(issues=True)

    for text, held in (
        ("a <ref ", {"tag": "<ref "}),
        ("a doc://1", {"handle": "doc://1"}),
        ("a doc://1..", {"uri": "doc://1.."}),
        ("a i1", {"word": "i1"}),
        ("a.", {}),
    ):
        decoder = made.stream_decoder()
        decoder.feed(text)
        assert held == decoder.pending


def test_a_uri_waits_for_what_may_be_read_on() -> None:
    """Up to eight dots and then one of `[A-Za-z0-9_~%-]` would be read as its continuation: then it is bracketed."""
    made = registry()

    assert ["", "<weknora://doc/d-1>..a", ""] == feeds(made, "doc://1..", "a")
    assert ["", "", "weknora://doc/d-1.."] == feeds(made, "doc://1.", ".")
    assert ["weknora://doc/d-1.........", ""] == feeds(made, "doc://1" + "." * 9)


def test_short_handles_are_held_only_where_there_are_some() -> None:
    """The beginning of `iN` waits only in a registry that has issues."""
    assert ["a i", " b", ""] == feeds(registry(), "a i", " b")
    assert ["a ", "i b", ""] == feeds(registry(issues=True), "a i", " b")


def test_a_short_handle_that_is_too_long_does_not_wait() -> None:
    """Beyond the longest known one nothing can come of it."""
    assert ["i12", ""] == feeds(registry(issues=True), "i12")


def test_after_a_flush_a_decoder_is_new() -> None:
    """Nothing of the text before is remembered: no half handle, no URL, no open tag."""
    made = registry(issues=True)
    decoder = made.stream_decoder()
    decoder.feed("x <ref")
    assert "<ref" == decoder.flush()
    assert ">" == decoder.feed(">")
    decoder.feed("https://e.com/")
    decoder.flush()
    assert "issue-000001 " == decoder.feed("i1 ")
    decoder.feed("a")
    decoder.flush()
    assert "weknora://doc/d-1 " == decoder.feed("doc://1 ")


def test_a_decoder_knows_what_is_known_when_its_text_begins() -> None:
    """Short handles that were given out after it was made, or after its last flush."""
    made = registry()
    decoder = made.stream_decoder()
    for number in (1, 2):
        made.register_issue(f"issue-{number}")
        assert f"issue-{number} " == decoder.feed(f"i{number} ") + decoder.flush()

    table = HandleTable("c")
    restorer = HandleStreamDecoder(table)
    table.register("alpha")
    assert "alpha " == restorer.feed("c1 ")


def test_an_empty_chunk_changes_nothing() -> None:
    """Neither does a flush without any text."""
    decoder = registry().stream_decoder()

    assert "" == decoder.feed("") + decoder.flush()


def test_a_cut_escape_still_counts_as_what_it_says() -> None:
    """The backslash came in the chunk before, the rest of it and the handle in this one."""
    assert ["\\", "nweknora://doc/d-1 ", ""] == feeds(registry(), "\\", "ndoc://1 ")
    assert ["\\", "nissue-000001 ", ""] == feeds(registry(issues=True), "\\", "ni1 ")
    assert ["\\u00", "3eweknora://doc/d-1 ", ""] == feeds(registry(), "\\u00", "3edoc://1 ")
    assert ["\\u00", "3eissue-000001 ", ""] == feeds(registry(issues=True), "\\u00", "3ei1 ")


def test_a_url_is_remembered_across_chunks() -> None:
    """Inside a URL no short handle is read, wherever it is cut; behind its end one is."""
    made = registry(issues=True)

    assert "https://e.com/i1/i1 issue-000001" == "".join(feeds(made, "https:/", "/e.com/", "i1", "/i1", " i", "1"))


def test_a_bracket_is_left_out_across_chunks() -> None:
    """A `>` that would complete a tag with what was written before is dropped, however the text is cut."""
    assert "<ref x" == "".join(feeds(registry(), "<<re", "</re", "f>", "ref", " x", ">"))


def test_the_hold_is_bounded() -> None:
    """Never more than 520 characters, even where openers and tags follow each other."""
    decoder = registry(issues=True).stream_decoder()
    for char in "</web<ref " + "x" * 600 + "</we<kb '" + "y" * 600:
        decoder.feed(char)
        assert sum(map(len, decoder.pending.values())) <= 520


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_table_has_the_same_law(size: int) -> None:
    """`HandleStreamDecoder(table)` gives what `decode_known_text` gives."""
    table = HandleTable("c", width=3, start=0)
    table.register("alpha")
    text = "c000 c0000 xc000 https://e.com/c000 \\nc000 c00"
    decoder = HandleStreamDecoder(table)

    got = "".join(decoder.feed(text[at : at + size]) for at in range(0, len(text), size)) + decoder.flush()

    assert table.decode_known_text(text) == got
    assert {} == decoder.pending
