"""`HandleTable`: numbering, the gluing rule, one pass in both directions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core import HandleStreamDecoder, HandleTable
from modelcontext_core.handles import KnownValues, Place, link_regions, replace_places


def table(*values: str, prefix: str = "ref-") -> HandleTable:
    """A table that knows `values`."""
    made = HandleTable(prefix)
    for value in values:
        made.register(value)
    return made


def test_no_value_takes_half_a_handle() -> None:
    """A value that ends inside a scheme handle stays; beside the handle it is replaced."""
    assert "see doc://1 ref-1" == table("see doc").encode_known_text("see doc://1 see doc")
    assert "doc://1 ref-1" == table("doc").encode_known_text("doc://1 doc")


def test_numbers_follow_first_registration() -> None:
    """Same value, same handle; values are trimmed; a blank one has none."""
    made = HandleTable("c", width=3, start=0)

    assert ["c000", "c001", "c000"] == [made.register(value) for value in ("alpha", "beta", " alpha ")]
    assert made.register("  ") is None
    assert 2 == len(made)


def test_width_grows_when_it_must() -> None:
    """The width is a minimum."""
    made = HandleTable("c", width=1, start=9)

    assert ["c9", "c10"] == [made.register("a"), made.register("b")]


def test_handle_and_resolve_only_look_up() -> None:
    """Neither registers anything; handles are resolved exactly as they are written."""
    made = table("alpha")

    assert "ref-1" == made.handle(" alpha ")
    assert made.handle("beta") is None
    assert "alpha" == made.resolve("ref-1")
    assert made.resolve("REF-1") is None
    assert 1 == len(made)


def test_an_empty_table_is_false() -> None:
    """The truth value says whether anything is registered; an empty table changes no text."""
    assert not HandleTable("c")
    assert table("a")
    assert "c000 a" == HandleTable("c").encode_known_text("c000 a")
    assert "c000 a" == HandleTable("c").decode_known_text("c000 a")


@pytest.mark.parametrize("text", ["doc-12", "doc-1-final", "doc-1_x", "xdoc-1", "-doc-1", "_doc-1", "doc-1x", "Doc-1"])
def test_a_value_that_is_glued_to_more_is_not_replaced(text: str) -> None:
    """Neither neighbour is an ASCII letter, digit, `_` or `-`; letter case counts."""
    assert text == table("doc-1").encode_known_text(text)


@pytest.mark.parametrize(
    "text",
    ["doc-1", "(doc-1)", "doc-1.", "的doc-1的", "/doc-1/", "\\ndoc-1\\n", "\\u6587doc-1\\u003c", "é doc-1é", '"doc-1"'],
)
def test_a_value_that_stands_free_is_replaced(text: str) -> None:
    """Other scripts do not glue, and an escape counts as what it says."""
    assert text.replace("doc-1", "ref-1") == table("doc-1").encode_known_text(text)


def test_the_longest_value_at_the_leftmost_place_wins() -> None:
    """One pass from the left; of values that begin at one place the longest."""
    assert "ref-2, ref-1" == table("wiki", "wiki/page").encode_known_text("wiki/page, wiki")
    assert "ref-1 c" == table("a b", "b c").encode_known_text("a b c")


def test_the_output_is_never_touched_again() -> None:
    """A value that looks like a handle of the table is no handle: it is copied, and handles are not values."""
    made = table("alpha", "ref-1")

    assert "ref-1 ref-1" == made.encode_known_text("alpha ref-1")
    assert "alpha alpha" == made.decode_known_text("ref-1 ref-1")


def test_handles_in_the_text_are_copied_whole() -> None:
    """Known or not, nothing is matched inside a token of the table's shape."""
    assert "ref-99 99" == table("99x", prefix="ref-").encode_known_text("ref-99 99")
    assert "ref-7/x" == table("7/x").encode_known_text("ref-7/x")


def test_two_values_side_by_side_give_one_handle() -> None:
    """Behind a written handle nothing is replaced directly: the two would read as one."""
    made = table("文档", "编号")

    assert "ref-1编号" == made.encode_known_text("文档编号")
    assert "文档编号" == made.decode_known_text("ref-1编号")


@pytest.mark.parametrize(
    "value", ["$1", "\\1\\g<0>", "<ref", "a\nb", "{0}%s", "'", '"', "x y", "文档", "a|b", "[x]", "^$"]
)
def test_a_value_may_hold_any_character(value: str) -> None:
    """It is found and inserted literally."""
    made = table(value)

    assert "(ref-1)" == made.encode_known_text(f"({value})")
    assert f"({value})" == made.decode_known_text("(ref-1)")


def test_decoding_reads_whole_handles_only() -> None:
    """No ASCII letter, digit, `_` or `-` beside it; lower case as written; unknown ones stay."""
    made = table("alpha")

    assert "alpha alpha." == made.decode_known_text("ref-1 ref-1.")
    for text in ("ref-12", "xref-1", "ref-1-a", "-ref-1", "ref-1_", "Ref-1", "ref-2", "ref-01"):
        assert text == made.decode_known_text(text)


def test_nothing_is_read_inside_a_url() -> None:
    """Any `://` begins a URL, up to the character that ends a link."""
    made = table("alpha")

    assert "https://e.com/ref-1 alpha" == made.decode_known_text("https://e.com/ref-1 ref-1")
    assert "doc://ref-1" == made.decode_known_text("doc://ref-1")
    assert "https://e.com/alpha ref-1" == made.encode_known_text("https://e.com/alpha alpha")


@pytest.mark.parametrize("value", ["《手册》", "<b>", '"quoted"', "\\q"])
def test_a_value_that_ends_a_url_is_not_replaced_behind_it(value: str) -> None:
    """Its handle would go on with the URL, inside of which none is read."""
    made = table(value)

    for text, encoded in ((f"https://e.com/{value}", None), (f"https://e.com/ {value}", "https://e.com/ ref-1")):
        assert (encoded or text) == made.encode_known_text(text)
        assert text == made.decode_known_text(encoded or text)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"prefix": ""}, "names nothing"),
        ({"prefix": " "}, "names nothing"),
        ({"prefix": "10"}, "names nothing"),
        ({"prefix": "x://"}, "may begin or continue a URL"),
        ({"prefix": "/"}, "may begin or continue a URL"),
        ({"prefix": "c", "start": -1}, "cannot be negative"),
        ({"prefix": "c", "width": -1}, "cannot be negative"),
    ],
)
def test_a_table_whose_handles_could_not_be_read_is_refused(arguments: dict[str, Any], reason: str) -> None:
    """Numbers alone, handles inside URLs and negative numbers are no handles."""
    with pytest.raises(ValueError, match=reason):
        HandleTable(**arguments)


@pytest.mark.parametrize(
    "prefix", ["c", "ref-", "c1", "#", "[", "|", "-", "_", ":", "<r", "n", "引", "(?:x", "$1", "\\", "a/b/"]
)
def test_any_other_prefix_makes_handles_that_are_read_back(prefix: str) -> None:
    """In a whole text and however a stream is cut; nothing of it acts as a pattern."""
    made = table("alpha", "张三", "x y", prefix=prefix)
    text = "alpha, (张三) x y的: see https://e.com/alpha \\nalpha"

    encoded = made.encode_known_text(text)
    decoders = [HandleStreamDecoder(made) for _ in encoded]

    assert 4 == encoded.count(prefix + "1") + encoded.count(prefix + "2") + encoded.count(prefix + "3")
    assert text == made.decode_known_text(encoded)
    assert {text} == {
        each.feed(encoded[:cut]) + each.feed(encoded[cut:]) + each.flush() for cut, each in enumerate(decoders)
    }


def test_items_are_in_the_order_of_registration() -> None:
    """Handle and value, first registered first."""
    assert [("ref-1", "b"), ("ref-2", "a")] == list(table("b", "a").items())


def test_known_values_keep_the_first_handle() -> None:
    """Unless told to replace it."""
    known = KnownValues()
    known.add("alpha-1", "doc://1")
    known.add("alpha-1", "doc://2")
    assert [Place(0, 7, "doc://1")] == known.places("alpha-1")

    known.add("alpha-1", "chunk://1", replace=True)
    assert [Place(0, 7, "chunk://1")] == known.places("alpha-1")


def test_known_values_find_overlapping_places() -> None:
    """All candidates; which of them are written is decided later."""
    known = KnownValues()
    known.add("a/b", "1")
    known.add("b", "2")
    known.add("a", "3")

    assert [(0, 1), (0, 3), (2, 3)] == sorted((place.start, place.end) for place in known.places("a/b"))


def test_link_regions_may_leave_handles_out() -> None:
    """For short handles a scheme handle begins no URL. The character that ends a URL belongs to its region."""
    assert [(5, 14), (17, 22)] == link_regions("https://e.com doc://1 x")
    assert [(5, 14)] == link_regions("https://e.com doc://1 x", scheme_handles=True)


def test_replacing_respects_kept_spans_and_neighbours() -> None:
    """Nothing that begins in a kept span is written; behind a tag the next place may follow directly."""
    places = [Place(0, 1, "doc://1"), Place(1, 2, "doc://2"), Place(4, 5, "doc://3")]
    assert ("doc://1bcde", [places[0]]) == replace_places("abcde", places, [(3, 5)])

    tags = [Place(0, 1, "<x/>"), Place(1, 2, "<y/>")]
    assert ("<x/><y/>c", tags) == replace_places("abc", tags)
    assert ("abc", []) == replace_places("abc", [])


VALUES = ("ab", "ab-1", "ab/cd", "cd", "文", "文档", "a b", "\\", "ref-1x", "://", "n1", "b/", "<", "-x-")
LINK_CHARACTERS = re.compile(r"""[^\s<>"'\\|`。，；：！？、（）【】《》“”]*""")
GLUE = re.compile("[A-Za-z0-9_-]")
ESCAPE = re.compile(r"\\(?:[nrtbf]|u6587)\Z")
TOKEN = re.compile("ref-[0-9]+(?![A-Za-z0-9_-])")


def plainly(values: list[str], text: str) -> str:
    """The rule once more, one character after another."""
    handles = {value: f"ref-{number}" for number, value in enumerate(dict.fromkeys(values), 1)}
    longest_first = sorted(handles, key=len, reverse=True)
    out, at, link, behind = "", 0, 0, False
    while at < len(text):
        run = LINK_CHARACTERS.match(text, at)
        if text.startswith("://", at) and run:
            link = max(link, run.end() + 1)  # what replaces the character that ends it would go on with it
        glued = at > 0 and GLUE.match(text, at - 1) is not None and not ESCAPE.search(text[:at])
        token = TOKEN.match(text, at)
        fits = [
            value
            for value in longest_first
            if text.startswith(value, at)
            and not (glued or behind or at < link)
            and not GLUE.match(text, at + len(value))
        ]
        if token and not glued:
            out, at, behind = out + token[0], token.end(), False
        elif fits:
            out, at, behind = out + handles[fits[0]], at + len(fits[0]), True
        else:
            out, at, behind = out + text[at], at + 1, False
    return out


@given(
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=6),
    st.text(alphabet="abcdnr-1/文档 \\:<fe.", max_size=24)
    | st.lists(st.sampled_from([*VALUES, *" -_1.\\n/文", "\\u6587", "ref-", "ref-1"]), max_size=8).map("".join),
)
def test_known_text_is_what_the_plain_rule_gives(values: list[str], text: str) -> None:
    """The quick search finds what trying every value at every place finds."""
    assert plainly(values, text) == table(*values).encode_known_text(text)
