"""Strings inside JSON text: found, changed, and nothing else touched."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from modelcontext_core.jsontext import (
    KeyValue,
    is_valid,
    key_values,
    keyed_strings,
    path_of,
    paths_of,
    place_of,
    quote,
    replace_strings,
    same_value,
    splice,
    strings,
    unquote,
)
from tests.core.jsonwriter import KEYS, VALUES, Members, Writer, written

WANTED = frozenset({"id", "kd", "url", "urls"})


# --- all strings ------------------------------------------------------------------------------------------------------


@given(VALUES, st.integers(0, 2**32))
def test_every_string_is_found_with_its_key_and_depth(value: Any, seed: int) -> None:
    """Spans, keys and depths are those that the text was written with, in its order."""
    writer = written(value, seed)

    assert [string[:5] for string in strings(writer.text)] == writer.strings


def test_the_key_of_a_string_reaches_through_arrays_but_not_objects() -> None:
    """A string of nested arrays belongs to their key, one of an object to the object's own key."""
    text = '{"ids": ["a", [["b"]], {"x": "c"}, "d"], "e": "f"}'

    found = [(text[s.start : s.end], s.key, s.depth) for s in strings(text) if not s.is_key]

    assert found == [('"a"', "ids", 2), ('"b"', "ids", 4), ('"c"', "x", 3), ('"d"', "ids", 2), ('"f"', "e", 1)]


def test_a_string_knows_the_containers_around_it() -> None:
    """Places name keys and arrays without positions, so that a rule can list the few it allows."""
    text = '{"issues": [{"id": "a", "b c": ["d"]}], "id": "e"}'

    places = [place_of(string) for string in strings(text) if not string.is_key]

    assert places == ["$.issues[].id", '$.issues[]["b c"][]', "$.id"]
    assert [place_of(string) for string in strings('["a"]')] == ["$[]"]
    assert [place_of(string) for string in strings('"a"')] == ["$"]


@given(VALUES, st.integers(0, 2**32))
def test_paths_name_where_a_string_stands(value: Any, seed: int) -> None:
    """The path of each string, by its first or last character, alone or with all others, is that of the writer."""
    writer = written(value, seed)
    starts = [string[0] for string in writer.strings]

    assert paths_of(writer.text, starts[::-1]) == writer.paths[::-1]
    assert [path_of(writer.text, string[1] - 1) for string in writer.strings] == writer.paths


@given(VALUES, st.integers(0, 2**32))
def test_keyed_strings_are_those_of_the_full_scan(value: Any, seed: int) -> None:
    """Keys and values come in the order of the text, each with its key, as `strings` finds them."""
    text = written(value, seed).text

    found: list[tuple[bool, str | None, str]] = []
    for key, raw_key, raw_value in keyed_strings(text):
        found += [(True, key, raw_key)] if raw_key is not None else []
        found += [(False, key, raw_value)] if raw_value is not None else []

    assert found == [(each.is_key, each.key, text[each.start + 1 : each.end - 1]) for each in strings(text)]


def test_paths_of_every_character() -> None:
    """What stands between two members belongs to the one before up to the comma, then to the next key or element."""
    text = '{"a" : 1 , "b": ["x" , 2, "y"] }'

    runs = [(path, len(list(run))) for path, run in groupby(paths_of(text, range(len(text))))]

    assert runs == [
        ("$", 1),
        ("$.a", 9),
        ("$.b", 7),
        ("$.b[0]", 5),
        ("$.b[1]", 3),
        ("$.b[2]", 5),
        ("$.b", 2),
    ]


def test_paths_of_other_values() -> None:
    """Numbers and words have paths, too, and odd keys stand in brackets."""
    text = '{"results": [{}, [], {"id": 12}], "odd key": {"": null}}'

    assert path_of(text, text.index("12")) == "$.results[2].id"
    assert path_of(text, text.index("null")) == '$["odd key"][""]'
    assert path_of("7", 0) == "$"


# --- the values of some keys ------------------------------------------------------------------------------------------


def filtered(writer: Writer, wanted: frozenset[str]) -> list[KeyValue]:
    """What `key_values` must find, from what the writer wrote."""
    return [
        KeyValue(raw.lower(), start, end)
        for (start, end, is_key, _, _), raw in zip(writer.strings, writer.raw_keys, strict=True)
        if not is_key and raw is not None and "\\" not in raw and raw.lower() in wanted
    ]


@given(VALUES, st.integers(0, 2**32))
@example(Members([("a", '"id": "x"'), ("id", "b")]), 1)
@example(Members([("a", "\\"), ("id", "b"), ('x"id', "c")]), 1)
def test_key_values_are_those_of_the_full_scan(value: Any, seed: int) -> None:
    """Searching for the keys finds what reading every string finds, whatever the strings hold."""
    writer = written(value, seed)

    assert key_values(writer.text, WANTED) == filtered(writer, WANTED)


@given(VALUES, st.integers(0, 2**32), st.frozensets(KEYS.map(str.lower), max_size=4))
def test_keys_with_odd_signs_are_found_too(value: Any, seed: int, wanted: frozenset[str]) -> None:
    """Keys that the quick search cannot look for are found by the full scan."""
    writer = written(value, seed)

    assert key_values(writer.text, wanted) == filtered(writer, wanted)


def test_key_values_by_example() -> None:
    """Letter case does not matter, arrays count, objects and keys spelt with escapes do not."""
    text = '{"URL": "a", "urls" :["b", [" c"], {"x": "d", "id": "e"}, "f"], "i\\u0064": "g", "id": {"y": "h"}, "id": 1}'

    found = [(key, text[start:end]) for key, start, end in key_values(text, WANTED)]

    assert found == [("url", '"a"'), ("urls", '"b"'), ("urls", '" c"'), ("id", '"e"'), ("urls", '"f"')]


# --- changes ----------------------------------------------------------------------------------------------------------


@given(VALUES, st.integers(0, 2**32), st.data())
def test_only_the_replaced_strings_change(value: Any, seed: int, data: st.DataObject) -> None:
    """Around the new literals every character stays, and the new values read back."""
    text = written(value, seed).text
    found = list(strings(text))
    chosen = [string for string in found if data.draw(st.booleans())]
    edits = [(string.start, string.end, data.draw(st.sampled_from(["new", '"\\', "\ud800"]))) for string in chosen]

    changed = replace_strings(text, edits[::-1])

    again = list(strings(changed))
    new = {start: new_value for start, _, new_value in edits}
    assert is_valid(changed)
    assert between(changed) == between(text)
    for before, after in zip(found, again, strict=True):
        literal = text[before.start : before.end]
        value_now = new.get(before.start, unquote(literal))
        assert changed[after.start : after.end] == (literal if value_now == unquote(literal) else quote(value_now))


def between(text: str) -> list[str]:
    """What stands between the strings of a text."""
    edges = [0, *(edge for string in strings(text) for edge in (string.start, string.end)), len(text)]
    return [text[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2)]


def test_nothing_changed_is_the_same_object() -> None:
    """Without edits, or with edits that say what stands there already, the text itself comes back."""
    text = '{"a": "\\u0041\\/", "n": 1.0}'

    assert replace_strings(text, []) is text
    assert replace_strings(text, [(6, 16, "A/")]) is text
    assert splice(text, [(0, 1, "{")]) is text


def test_numbers_escapes_and_duplicate_keys_survive_a_change() -> None:
    """What a parser would rewrite elsewhere stays byte for byte."""
    text = '{ "n" : 1.0,"big":12345678901234567890, "e":"\\u003c\\/", "id":"x" ,"d":1,"d":2}'
    start = text.index('"x"')

    assert replace_strings(text, [(start, start + 3, "é")]) == text.replace('"x"', '"é"')


def test_overlapping_edits_are_refused() -> None:
    """Two changes of one place are a mistake of the caller."""
    with pytest.raises(ValueError, match="overlap"):
        splice("abc", [(0, 2, "x"), (1, 3, "y")])


# --- much of the same -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "make",
    [
        lambda n: '"' + '\\"' * n + '"',
        lambda n: '"' + "\\\\" * n + '"',
        lambda n: "[" * n + '"\ud800"' + "]" * n,
        lambda n: '{"id":[' * n + '"\ud800"' + "]}" * n,
        lambda n: '{"id":' * n + '"\ud800"' + "}" * n,
        lambda n: '{"id":[{}' + ',"id"' * n + "]}",
        lambda n: '[{"' + "d" * n + '":"' + "d" * n + '"}]',
        lambda n: '["' + '\\"id\\":' * n + '"]',
        lambda n: '{"id"' + " " * n + ":" + " " * n + "[" + '"",' * n + '""]}',
        lambda n: "[" + '"id" ,' * n + '"id"' + " " * n + "]",
        lambda n: "[" + ",".join(['{"id":["\\\\\\"",[]]}'] * (n // 4)) + "]",
    ],
    ids=range(11),
)
def test_many_quotes_brackets_and_backslashes_are_read_to_the_end(make: Callable[[int], str]) -> None:
    """However often a sign is repeated, the last string of the text is found where it stands."""
    text = make(2_000)

    assert is_valid(text)
    assert text.rindex('"') == list(strings(text))[-1].end - 1
    assert same_value(text, text + " ")
