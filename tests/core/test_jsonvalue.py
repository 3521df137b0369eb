"""Validity, meaning and equality of JSON texts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from modelcontext_core.jsonvalue import is_valid, quote, same_value, unquote, unwrap_array, unwrap_object
from tests.core.jsonwriter import TRICKY_TEXT, VALUES, written

DEEP = 100_000


def python_accepts(text: str) -> bool:
    """What the standard library accepts, less its NaN and Infinity, without its limit on digits."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse, parse_int=str)
    except ValueError:
        return False
    return True


# --- validity ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        " [ ] ",
        '"\\ud800"',
        '"\ud800"',
        '["\\udc00\\ud800", 1]',
        "1e400",
        "-1E+999999999999999999999999",
        "1" * 5000,
        '{"a":1,"a":2}',
        "[" * DEEP + "]" * DEEP,
        '{"a":' * DEEP + "[]" + "}" * DEEP,
        '[{"b":[' * DEEP + "1e400" + "]}]" * DEEP,
    ],
    ids=lambda text: text[:20].encode("ascii", "backslashreplace").decode(),
)
def test_valid_is_what_the_standard_allows_whatever_its_size(text: str) -> None:
    """Lone surrogates, numbers of any size, duplicate keys and any depth are valid."""
    assert is_valid(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "NaN", "Infinity", "-Infinity", "[NaN]", "\ufeff{}", "nul", "+1", "01", "1.", ".5", "1e", "'a'"),
        *("[1,]", '{"a":1,}', '{"a" 1}', "{1:2}", "[}", "{]", "[1 2]", '"\\x"', '"\\u12"', '"a\nb"', '"abc', "1 2"),
        *('["\\ud800",]', '["\ud800"', '{"\ud800"}', '["\\ud800" "a"]', '["\\ud800"]]', '["\\ud800\\u12"]', "[1e400"),
        *('{"a":1e400,}', '{"a":1e400 "b"}', '{"a":1e400,1}', '{"a":1e400,"b"}', '{"a":{"b":1e400]}', "\u00a01"),
        "[" * DEEP,
        "[" * DEEP + "]" * (DEEP - 1) + "}",
    ],
    ids=lambda text: text[:20].encode("ascii", "backslashreplace").decode(),
)
def test_invalid_is_everything_else(text: str) -> None:
    """NaN, a byte order mark and every slip of syntax are refused, also behind what only our validator reads."""
    assert not is_valid(text)


JSON_SIGNS = st.text(alphabet='{}[]",:\\u dD8019eE+-.tfnrl\ud800\x00\x7f\né', max_size=12)


@given(JSON_SIGNS)
@example('"\\ud800\\n"')
def test_short_texts_are_judged_as_by_the_standard_library(text: str) -> None:
    """Accepting and refusing agrees with the standard library but for its NaN."""
    assert is_valid(text) == python_accepts(text)


@given(VALUES, st.integers(0, 2**32), st.data())
def test_damaged_json_is_judged_as_by_the_standard_library(value: Any, seed: int, data: st.DataObject) -> None:
    """The same holds for valid JSON in which one place was changed."""
    text = written(value, seed).text
    assert is_valid(text)

    start = data.draw(st.integers(0, len(text)))
    damaged = text[:start] + data.draw(JSON_SIGNS) + text[data.draw(st.integers(start, min(len(text), start + 2))) :]
    assert is_valid(damaged) == python_accepts(damaged)
    # Our own validator must not lean on orjson having looked first.
    assert is_valid("[1e400," + damaged + "]") == python_accepts("[1e400," + damaged + "]")


# --- one string -------------------------------------------------------------------------------------------------------


@given(st.text(alphabet=st.characters(), max_size=20) | TRICKY_TEXT)
def test_a_quoted_value_reads_back(value: str) -> None:
    """Quoting then unquoting gives the value; two surrogates that make a pair come back as their character."""
    joined = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    assert unquote(quote(value)) == joined
    assert json.loads(quote(value)) == joined


def test_quote_escapes_only_what_it_must() -> None:
    """Quote, backslash, control characters and lone surrogates are escaped; all else is written as it is."""
    assert quote('a"b\\c/') == '"a\\"b\\\\c/"'
    assert quote("\n\r\t\b\f\x00\x1f\x7f") == '"\\n\\r\\t\\b\\f\\u0000\\u001f\x7f"'
    assert quote("é漢😀<\u2028") == '"é漢😀<\u2028"'
    assert quote("é\ud800x\udfff") == '"é\\ud800x\\udfff"'


def test_unquote_joins_pairs_and_keeps_lone_surrogates() -> None:
    """Escaped pairs become one character; half a pair stays."""
    assert unquote('"\\ud83d\\ude00 \\ud83d \\/"') == "\U0001f600 \ud83d /"


# --- comparing and unwrapping -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ('{"a":1,"b":[2]}', ' {"b" : [2.0], "a":1e0}'),
        ('{"a":1,"a":2}', '{"a":2}'),
        ('"\\u0041\\ud83d\\ude00"', '"A😀"'),
        ("1e400", "10E+399"),
        ("-0.0", "0"),
        ("1200", "1.2e3"),
        ("0.0012", "12e-4"),
        ("1e000000000000000000000002", "100"),
        ("1e99999999999999999999", "1E99999999999999999999"),
        ("[" * DEEP + "1" + "]" * DEEP, "[ " * DEEP + "1.0" + "]" * DEEP),
        ('{"a":' * DEEP + "1" + "}" * DEEP, '{"a": ' * DEEP + "1.0" + "}" * DEEP),
        ("not json", "not json"),
    ],
    ids=lambda text: text[:20],
)
def test_the_same_value_however_written(left: str, right: str) -> None:
    """Spelling, spacing and the order of members do not matter."""
    assert same_value(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("[1,2]", "[2,1]"),
        ("1", '"1"'),
        ("1", "true"),
        ("0", "false"),
        ("null", '"null"'),
        ("[]", "{}"),
        ("[[]]", "[]"),
        ('{"a":1}', '{"b":1}'),
        ('{"a":1}', '{"a":1,"b":1}'),
        ('["a",1]', '{"a":1}'),
        ("12345678901234567890", "12345678901234567891"),
        ("1e400", "1e401"),
        ("1", "-1"),
        ('"\\ud800"', '"\\ud801"'),
        ("{", "{ "),
        ("[" * DEEP + "1" + "]" * DEEP, "[" * DEEP + "2" + "]" * DEEP),
    ],
    ids=lambda text: text[:20],
)
def test_different_values(left: str, right: str) -> None:
    """Types, order in arrays and the last digit do matter; text that is no JSON equals only itself."""
    assert not same_value(left, right)


@given(VALUES, VALUES, st.integers(0, 2**32))
def test_values_are_compared_as_values(left: Any, right: Any, seed: int) -> None:
    """Equal means that two spellings of one value are the same and others are as their typed values are."""
    first, second, other = written(left, seed).text, written(left, seed + 1).text, written(right, seed).text

    assert same_value(first, second)
    assert same_value(first, other) == (typed(json.loads(first)) == typed(json.loads(other)))


def typed(value: Any) -> Any:
    """A value in which True is not 1."""
    if isinstance(value, dict):
        return {key: typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [typed(inner) for inner in value]
    return (type(value).__name__, value)


def test_only_complete_objects_and_filled_arrays_are_unwrapped() -> None:
    """A string may hold an object (empty too) or an array that is not empty; anything else stays a string."""
    assert unwrap_object(' {"a": [1.0]}\n') == '{"a": [1.0]}'
    assert unwrap_object("{}") == "{}"
    assert unwrap_array("[ {} ]") == "[ {} ]"
    assert unwrap_object('{"a": "\ud800"}') == '{"a": "\\ud800"}'
    for value in ("null", "", "[1]", '{"a":}', '{"a":1} x', '"{}"', "{", "\ufeff{}"):
        assert unwrap_object(value) is None
    for value in ("[]", "[ \n]", "{}", "[1", "1", ""):
        assert unwrap_array(value) is None
    deep = '{"a":' * DEEP + "1" + "}" * DEEP
    assert unwrap_object(deep) == deep
