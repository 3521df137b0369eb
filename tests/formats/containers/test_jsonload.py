"""JSON in, without losing what matters."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core.formats.containers.jsonload import JSON_STEP, BadJson, loads, raw_slices, repair

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def test_integers_beyond_64_bits_stay_integers() -> None:
    """A fast parser makes floats of them; an id of twenty digits must survive."""
    assert loads(b'{"id": 18446744073709551616, "n": [123456789012345678901234567890]}') == {
        "id": 18446744073709551616,
        "n": [123456789012345678901234567890],
    }


def test_lone_surrogates_and_nan_are_read() -> None:
    """Python writes both, so traces hold both."""
    value = loads(b'["\\ud800 \xed\xa0\x80", NaN]')

    assert value[0] == "\ud800 \ud800"
    assert value[1] != value[1]


@pytest.mark.parametrize("depth", [1000, 1024])
def test_nesting_up_to_the_limit_is_read_even_where_python_would_recurse_too_deep(depth: int) -> None:
    """The limit is the same for the fast parser and for the one that reads what the fast one refuses."""
    value = loads(b"[" * depth + b'"\\ud800"' + b"]" * depth)

    for _ in range(depth):
        (value,) = value
    assert value == "\ud800"


@pytest.mark.parametrize("data", [b"[" * 1025 + b"]" * 1025, b'{"a":' * 50_000, b"[" * 50_000 + b"]" * 50_000])
def test_deeper_nesting_is_refused_by_the_name_of_the_limit(data: bytes) -> None:
    """50,000 brackets give one sentence, and no crash."""
    with pytest.raises(BadJson, match="MAX_JSON_DEPTH") as caught:
        loads(data)

    assert caught.value.depth_limit


@pytest.mark.parametrize(
    ("data", "offset"), [(b'{"a": }', 6), (b"[1 2]", 3), (b"nope", 0), (b'{"a": "\xff"}', 7), (b"[1] x", 4)]
)
def test_rubbish_says_where_it_breaks(data: bytes, offset: int) -> None:
    """The position counts bytes."""
    with pytest.raises(BadJson) as caught:
        loads(data)

    assert caught.value.offset == offset


@given(VALUES)
def test_every_json_value_is_read_as_python_reads_it(value: Any) -> None:
    """The fast way and its fall-backs agree with the standard library."""
    text = json.dumps(value)

    assert loads(text.encode()) == json.loads(text)


@given(VALUES, st.integers(0, 3))
def test_raw_slices_are_the_source_text(value: Any, indent: int) -> None:
    """The slice of a value parses to that value and stands in the source as it is, whatever stands around it."""
    text = json.dumps({"é": [0, {"x": value, "y": "}]\\"}], "z": value}, indent=indent or None)
    paths: list[Any] = [("é", 1, "x"), ("z",), ()]

    found = raw_slices(text.encode(), paths)

    assert json.loads(found[("z",)]) == value
    assert all(slice_ in text for slice_ in found.values())
    assert found[()] == text


def test_raw_slices_keep_what_parsing_loses() -> None:
    """`1.0`, big integers, duplicate keys, order, escapes and blanks are those of the source."""
    raw = '{"b": 1.0, "a" : 1E2,"a": 36893488147419103232, "s": "\\u00e9\\ud83d"}'

    assert raw_slices(f'[{{"input": {raw}}}]'.encode(), [(0, "input")]) == {(0, "input"): raw}


def test_raw_slices_reach_into_json_held_by_a_string() -> None:
    """A string that holds a document is read as that document, and its slices are those of the inner text."""
    inner = '{"call": {"n": 1.0,  "n": 2}}'
    data = json.dumps({"packed": inner}).encode()

    assert raw_slices(data, [("packed", JSON_STEP, "call")]) == {("packed", JSON_STEP, "call"): '{"n": 1.0,  "n": 2}'}


def test_of_a_duplicate_key_the_last_counts() -> None:
    """As in the parsed value."""
    assert raw_slices(b'{"a": [1], "a": [2]}', [("a", 0)]) == {("a", 0): "2"}


@pytest.mark.parametrize(
    ("data", "value", "offset"),
    [
        (b'{"a": [1, 2, {"b": "hel\\u00', {"a": [1, 2, {"b": "hel"}]}, 19),
        (b'{"a": [1, 2], "c', {"a": [1, 2]}, 14),
        (b'{"a": [1,,2], "b": 3}', {"a": [1]}, 9),
        (b'{"x": "y"', {"x": "y"}, 9),
        ('{"x": "日本'.encode()[:-1], {"x": "日"}, 6),
        (b'{"x": "a\\\\', {"x": "a\\"}, 6),
        (b'{"x": tru', None, 0),
        (b"nonsense", None, 0),
        (b'{"a', None, 0),
    ],
)
def test_repair_keeps_what_stands_before_the_break(data: bytes, value: Any, offset: int) -> None:
    """Containers are closed, a cut string stays as far as it goes, a key without a value goes."""
    assert repair(data) == (None if value is None else (value, offset))


@given(VALUES, st.data())
def test_repair_of_any_cut_gives_a_value_or_nothing(value: Any, data: st.DataObject) -> None:
    """No cut makes it raise, and what it gives is JSON."""
    text = json.dumps([value, "é"]).encode()
    cut = data.draw(st.integers(0, len(text)))

    part = repair(text[:cut])

    assert part is None or json.dumps(part[0]) is not None
