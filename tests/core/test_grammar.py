"""The shapes: handles, word handles, URIs, links, tags, and which values may be mined."""

from __future__ import annotations

import pytest

from modelcontext_core.grammar import (
    SCHEMES,
    find_links,
    find_uuids,
    format_handle,
    format_uri,
    handle_at,
    handle_tokens,
    has_handle,
    html_unescaped,
    is_free_text_id,
    is_uuid,
    may_be_mined,
    read_percent,
    trim_link,
    uri_at,
    whole_handle,
    whole_legacy_handle,
    whole_word_handle,
)
from tests.core.making import A


def handles(text: str) -> list[str]:
    """Every scheme handle of a text as it is written."""
    return [text[token.start : token.end] for token in handle_tokens(text)]


@pytest.mark.parametrize("text", ["chunk://1", "doc://12", "kb://3", "url://4", "res://0001", "DOC://1", "cHuNk://7"])
def test_a_scheme_handle_is_one_of_five_schemes_in_any_case_and_digits(text: str) -> None:
    """`chunk doc kb url res`, `://` and digits, in any letter case."""
    assert [text] == handles(f"see {text}.")


@pytest.mark.parametrize(
    "text",
    [
        "xdoc://1",
        "_doc://1",
        "9doc://1",
        "doc://1x",
        "doc://1_",
        "doc://",
        "doc:/1",
        "file://1",
        "doc://a1",
        "doc ://1",
    ],
)
def test_a_letter_digit_or_underscore_beside_it_makes_it_prose(text: str) -> None:
    """Neither neighbour of a scheme handle is an ASCII letter, digit or `_`."""
    assert [] == handles(text)


@pytest.mark.parametrize(
    "text", ["doc://1的", "的doc://1", "-doc://1-", ".doc://1.", "/doc://1/", "édoc://1é", "doc://1\u0660"]
)
def test_only_ascii_glues(text: str) -> None:
    """`doc://1的` is a handle followed by a Chinese character; other scripts' digits are no digits."""
    assert ["doc://1"] == handles(text)


def test_a_long_digit_run_is_prose() -> None:
    """One to eighteen digits; a longer run is no handle at all."""
    assert [f"doc://{'9' * 18}"] == handles(f"doc://{'9' * 18}")
    assert [] == handles(f"doc://{'9' * 19}")


@pytest.mark.parametrize("letter", "nrtbf")
def test_the_letter_of_an_escape_counts_as_a_space(letter: str) -> None:
    """In JSON text `\\ndoc://1` is a line break and a handle."""
    assert ["doc://1"] == handles(f"a\\{letter}doc://1")
    assert [] == handles(f"a{letter}doc://1")
    assert [] == handles("a\\xdoc://1")


@pytest.mark.parametrize(
    ("escape", "found"), [("6587", 1), ("003e", 1), ("003E", 1), ("0041", 0), ("005f", 0), ("00", 0)]
)
def test_an_escape_of_four_digits_counts_as_what_it_says(escape: str, found: int) -> None:
    """JSON that is to be ASCII, or part of a web page, writes `文` and `>` so: neither glues, as `A` and `_` do."""
    assert ["doc://1"] * found == handles(f"\\u{escape}doc://1")
    assert [] == handles(f"u{escape}doc://1")


@pytest.mark.parametrize("letter", ["\u212a", "\u017f"])
def test_letters_that_only_fold_to_ascii_are_none(letter: str) -> None:
    """The Kelvin sign is no k, the long s no s."""
    assert [] == handles(f"{letter}b://1 re{letter}://0001")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("doc://1", 1),
        ("doc://007", None),
        ("doc://0", None),
        ("res://0001", 1),
        ("res://0000", None),
        ("res://1", None),
        ("res://00001", None),
        ("res://12345", 12345),
    ],
)
def test_a_number_has_one_spelling(text: str, number: int | None) -> None:
    """No leading zeros; resources have four digits, more when needed. Other spellings are never known."""
    token = handle_at(text, text.index("://"))

    assert token is not None
    assert number == token.number


def test_handles_are_written_canonically() -> None:
    """Lower case, no leading zeros, four digits for resources."""
    assert ["chunk://1", "doc://1", "kb://1", "url://1", "res://0001"] == [format_handle(space, 1) for space in SCHEMES]
    assert "res://12345" == format_handle("resource", 12345)


def test_a_whole_handle_may_have_ascii_spaces_around_it() -> None:
    """Declared fields take one whole handle, trimmed of ASCII spaces only."""
    assert whole_handle(" \n Doc://1\t") is not None
    assert whole_handle("\u00a0doc://1") is None
    assert whole_handle("doc://1 doc://2") is None
    assert whole_handle("doc://1.") is None


def test_legacy_handles_are_read_as_a_whole_value_only() -> None:
    """`cN dN bN wN` in any case; with leading zeros they are shaped so and never known."""
    assert ("chunk", 1) == whole_legacy_handle(" C1 ")
    assert ("document", 12) == whole_legacy_handle("d12")
    assert ("knowledge_base", None) == whole_legacy_handle("b007")
    assert ("web", None) == whole_legacy_handle("w0")
    assert whole_legacy_handle("x1") is None
    assert whole_legacy_handle("c1 c2") is None


def test_word_handles_are_read_in_any_case_in_a_field() -> None:
    """`iN msN mtN` as a whole value."""
    assert ("issue", "i1") == whole_word_handle(" I1 ")
    assert ("mcp_server", "ms2") == whole_word_handle("MS2")
    assert ("mcp_tool", "mt3") == whole_word_handle("mt3")
    assert whole_word_handle("m1") is None


def test_a_uuid_has_four_hyphens_and_no_alphanumeric_neighbour() -> None:
    """Any case; `-` and `_` may touch it, letters and digits may not."""
    assert is_uuid(A)
    assert is_uuid(A.upper())
    assert not is_uuid(A.replace("-", ""))
    assert [(1, 37)] == list(find_uuids(f"_{A}-"))
    assert [] == list(find_uuids(f"x{A}"))
    assert [] == list(find_uuids(f"{A}0"))
    assert [(2, 38)] == list(find_uuids(f"\\n{A}"))


def test_a_uri_is_percent_encoded_with_upper_case_hex() -> None:
    """Everything outside `[A-Za-z0-9._~-]`, and every trailing dot."""
    assert "weknora://doc/a%20b%2Fc" == format_uri("weknora", "document", "a b/c")
    assert "weknora://kb/%E6%96%87" == format_uri("weknora", "knowledge_base", "文")
    assert "weknora://chunk/a.b%2E%2E" == format_uri("weknora", "chunk", "a.b..")


@pytest.mark.parametrize(
    ("text", "durable"),
    [
        ("weknora://doc/a-1", "a-1"),
        ("weknora://doc/a-1...", "a-1"),
        ("weknora://doc/a%2e", "a."),
        ("weknora://kb/a.b~c_d", "a.b~c_d"),
        ("weknora://doc/%zz", None),
        ("weknora://doc/%ff", None),
        ("weknora://doc/doc%3A%2F%2F1", None),
        ("weknora://doc/doc://1", None),
        ("weknora://doc/", None),
        ("weknora://doc/%20a", None),
    ],
)
def test_a_uri_is_read_or_stays_text(text: str, durable: str | None) -> None:
    """Malformed escapes, bytes that are no UTF-8, an id that holds a handle or a run that `://` follows: it stays."""
    uri = uri_at(text, text.index("://"), "weknora")

    assert uri is not None
    assert durable == uri.id


@pytest.mark.parametrize(
    "text", ["Weknora://doc/a", "xweknora://doc/a", "_weknora://doc/a", "weknora://page/a", "weknora://doc"]
)
def test_what_is_no_uri(text: str) -> None:
    """Lower case, three kinds, no ASCII letter, digit or `_` before."""
    assert uri_at(text, text.index("://"), "weknora") is None


def test_percent_escapes_are_read_strictly() -> None:
    """Two hex digits each, in any case, UTF-8 together."""
    assert "文/" == read_percent("%E6%96%87%2f")
    assert read_percent("%4") is None
    assert read_percent("%E6") is None
    assert read_percent("") is None


def links(text: str) -> list[str]:
    """The http(s) links of a text."""
    return [text[start:end] for start, end in find_links(text)]


@pytest.mark.parametrize("end", [" ", "\n", "<", ">", '"', "'", "\\", "|", "`", "。", "，", "）", "】", "”"])
def test_a_link_ends_at_space_quote_bracket_or_chinese_punctuation(end: str) -> None:
    """Whitespace, `< > " ' \\ |`, a backtick or CJK punctuation."""
    assert ["https://e.com/a"] == links(f"see https://e.com/a{end}b")


@pytest.mark.parametrize(
    ("link", "trimmed"),
    [
        ("https://e.com/a.", "https://e.com/a"),
        ("https://e.com/a?!;:,.", "https://e.com/a"),
        ("https://e.com/a)", "https://e.com/a"),
        ("https://e.com/a_(b)", "https://e.com/a_(b)"),
        ("https://e.com/a_(b)).", "https://e.com/a_(b)"),
        ("https://e.com/[a]]}", "https://e.com/[a]"),
        ("https://e.com/a/", "https://e.com/a/"),
    ],
)
def test_trailing_signs_and_unbalanced_brackets_are_no_part_of_a_link(link: str, trimmed: str) -> None:
    """`.,;:!?` and closing brackets that the link does not open."""
    assert trimmed == trim_link(link)


@pytest.mark.parametrize(
    "text",
    ["https://u:p@e.com/", "https://u@e.com", "http://", "http:///a", "http://:80/", "xhttp://e.com", "ftp://e.com"],
)
def test_links_with_user_info_or_without_host_are_skipped(text: str) -> None:
    """Nor is anything a link that is no http(s) URL."""
    assert [] == links(text)


@pytest.mark.parametrize(
    "value",
    [
        "ab",
        "x" * 513,
        "---",
        "a b-1",
        "a\tb-1",
        "a\u00a0b-1",
        "a\u2028b1",
        "a\0b-1",
        "a\x85b-1",
        "i1",
        "MS12",
        "mt3",
        "c1",
        "D007",
        "see/doc://1",
        "…。…",
    ],
)
def test_placeholders_handles_and_prose_are_not_mined(value: str) -> None:
    """Too short, too long, no letter or digit, whitespace, controls, handle-shaped."""
    assert not may_be_mined(value)


@pytest.mark.parametrize(
    "value", ["abc", "x" * 512, "文档号", "a|b", "12345", 'a"b\\c', "a\u200bb", "i1x", "c-1", A, "wiki/i1"]
)
def test_other_values_may_be_mined(value: str) -> None:
    """Any other characters are fine, joiners and quotes included."""
    assert may_be_mined(value)


def test_short_ids_and_numbers_are_not_looked_for_in_prose() -> None:
    """Fewer than six characters or only ASCII digits: under labels and in declared fields only."""
    assert is_free_text_id("doc-01")
    assert not is_free_text_id("doc-1")
    assert not is_free_text_id("1234567")
    assert is_free_text_id("１２３４５６")
    assert not any(map(is_free_text_id, ('"doc-01"', 'a","doc-01', "\\doc-01", "doc-01\\")))


def test_has_handle() -> None:
    """Whether any scheme handle stands in a text."""
    assert has_handle("a/doc://1")
    assert not has_handle("doc://x https://e.com")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a &amp; b &lt;c&gt; &#39;&#x27;&quot;", "a & b <c> ''\""),
        ("&amp;lt;", "&lt;"),
        ("https://e.com/?a=1&timestamp=2&copy=3&region", "https://e.com/?a=1&timestamp=2&copy=3&region"),
        ("&timesx; &; &#; &nosuch;", "&timesx; &; &#; &nosuch;"),
    ],
)
def test_a_character_reference_ends_with_a_semicolon(text: str, expected: str) -> None:
    """Read once; a parameter of a link whose name begins like a reference stays."""
    assert expected == html_unescaped(text)
