"""Where SQL has literals, comments and quoted identifiers."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core.sqltext import quote_inner, region_at, regions, unquote_inner

SQL_SIGNS = st.text(alphabet="'\"`$-/*\\[]eEx a1\n\r é", max_size=24)
VALUES = st.text(alphabet="'\\a\n\x01é", max_size=12)


def split(sql: str) -> list[tuple[str, str]]:
    """The regions as kind and text."""
    return [(region.kind, sql[region.start : region.end]) for region in regions(sql)]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("", []),
        ("select 1", [("code", "select 1")]),
        ("a='x' b", [("code", "a="), ("literal", "'x'"), ("code", " b")]),
        ("''", [("literal", "''")]),
        ("'it''s'", [("literal", "'it''s'")]),
        ("''''", [("literal", "''''")]),
        ("'a' 'b'", [("literal", "'a'"), ("code", " "), ("literal", "'b'")]),
        ("'open", [("literal", "'open")]),
        ("'open''", [("literal", "'open''")]),
        ("-- don't\n'x'", [("comment", "-- don't"), ("code", "\n"), ("literal", "'x'")]),
        ("-- don't\r\n'x'", [("comment", "-- don't"), ("code", "\r\n"), ("literal", "'x'")]),
        ("-- don't", [("comment", "-- don't")]),
        ("/* it's */'x'", [("comment", "/* it's */"), ("literal", "'x'")]),
        ("/* it's", [("comment", "/* it's")]),
        ("/*/ 'x' */", [("comment", "/*/ 'x' */")]),
        ("'-- /* \"'", [("literal", "'-- /* \"'")]),
        ("a - 1 / 2 * 3", [("code", "a - 1 / 2 * 3")]),
        ("d->>'k'", [("code", "d->>"), ("literal", "'k'")]),
        ("d #>> '{a}'", [("code", "d #>> "), ("literal", "'{a}'")]),
        ("\"it's\" 'x'", [("identifier", '"it\'s"'), ("code", " "), ("literal", "'x'")]),
        ('"a""\'b"', [("identifier", '"a""\'b"')]),
        ("`it's``` 'x'", [("identifier", "`it's```"), ("code", " "), ("literal", "'x'")]),
        ("\"it's", [("identifier", "\"it's")]),
    ],
)
def test_every_kind_of_region(sql: str, expected: list[tuple[str, str]]) -> None:
    """Literals, comments and quoted identifiers hide each other's signs; what is not closed runs to the end."""
    assert split(sql) == expected


def test_block_comments_nest() -> None:
    """A comment in a comment needs its own end: the reading in which less text is a literal."""
    assert split("/* a /* b */ 'x' */'y'") == [("comment", "/* a /* b */ 'x' */"), ("literal", "'y'")]


def test_brackets_quote_nothing() -> None:
    """Array constructors and subscripts are more common than bracketed names."""
    assert split("ARRAY['a','b']") == [
        ("code", "ARRAY["),
        ("literal", "'a'"),
        ("code", ","),
        ("literal", "'b'"),
        ("code", "]"),
    ]


def test_a_backslash_escapes_in_escape_strings_only() -> None:
    """A standard literal ends at the apostrophe after a backslash, one that begins with a lone `E` goes on."""
    assert split("'a\\' b") == [("literal", "'a\\'"), ("code", " b")]
    assert split("E'a\\'b'' c\\\\' d") == [("code", "E"), ("literal", "'a\\'b'' c\\\\'"), ("code", " d")]
    assert split("x=e'\\") == [("code", "x=e"), ("literal", "'\\")]
    assert split("LIKE'a\\' b") == [("code", "LIKE"), ("literal", "'a\\'"), ("code", " b")]
    assert [region.backslash for region in regions("E'a' 'b' N'c'") if region.kind == "literal"] == [True, False, False]


def test_dollar_quotes_are_a_region_of_their_own() -> None:
    """Between equal tags nothing is special; a parameter or a dollar in a name opens nothing."""
    assert split("$$it's$$'x'") == [("dollar", "$$it's$$"), ("literal", "'x'")]
    assert split("$a$ $b$ ' $$ $a$ 'x'") == [("dollar", "$a$ $b$ ' $$ $a$"), ("code", " "), ("literal", "'x'")]
    assert split("$1='a' and n$x$='b'") == [
        ("code", "$1="),
        ("literal", "'a'"),
        ("code", " and n$x$="),
        ("literal", "'b'"),
    ]
    assert split("$a$ 'x'") == [("dollar", "$a$ 'x'")]


@given(SQL_SIGNS)
def test_regions_cover_the_text_without_a_gap(sql: str) -> None:
    """Every character is in exactly one region, and `region_at` finds it."""
    found = regions(sql)

    assert "".join(sql[region.start : region.end] for region in found) == sql
    assert all(region.start < region.end for region in found)
    assert [region_at(found, position) for position in range(len(sql))] == [
        region for region in found for _ in range(region.start, region.end)
    ]
    for position in (-1, len(sql)):
        with pytest.raises(IndexError, match="no region"):
            region_at(found, position)


@given(SQL_SIGNS, st.lists(VALUES, min_size=1, max_size=3))
def test_a_value_in_a_literal_leaves_all_other_regions(before: str, values: list[str]) -> None:
    """Whatever is put into a literal with its apostrophes doubled stays inside it."""
    sql = before + "'X'"
    region = regions(sql)[-1]
    if region.kind != "literal" or sql[region.start : region.end] != "'X'":
        return
    for value in values:
        changed = sql[: region.start + 1] + quote_inner(value, backslash=region.backslash) + "'"

        assert regions(changed)[:-1] == regions(sql)[:-1]
        assert regions(changed)[-1].start == region.start
        assert regions(changed)[-1].end == len(changed)
        assert regions(changed + " x")[-1].kind == "code"


@given(st.text(max_size=12) | VALUES, st.booleans())
def test_a_quoted_value_reads_back(value: str, backslash: bool) -> None:
    """Unquoting undoes quoting, with and without backslash escapes."""
    assert unquote_inner(quote_inner(value, backslash=backslash), backslash=backslash) == value


@given(VALUES)
def test_a_database_reads_the_quoted_value(value: str) -> None:
    """An SQL engine takes the literal for the value."""
    with sqlite3.connect(":memory:") as database:
        (read,) = database.execute(f"select '{quote_inner(value)}'").fetchone()
    database.close()

    assert read == value


@pytest.mark.parametrize(
    "unit", ["'", "''", "'\\", "E'\\", '"', "`", "/*", "*/", "/**/", "-", "--\n", "$", "$a$ ", "[", "$a"]
)
def test_many_quotes_and_comment_signs_are_read_to_the_end(unit: str) -> None:
    """However often a sign is repeated, the regions are the whole text, one after the other."""
    sql = unit * 5_000

    assert "".join(text for _, text in split(sql)) == sql
