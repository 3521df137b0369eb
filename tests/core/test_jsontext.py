"""Strings inside JSON text: found, read, changed, and nothing else touched."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from modelcontext_core import jsontext
from modelcontext_core.jsontext import (
    KeyValue,
    is_valid,
    key_values,
    path_of,
    paths_of,
    place_of,
    quote,
    replace_strings,
    same_value,
    splice,
    strings,
    unquote,
    unwrap_array,
    unwrap_object,
)


class Members(list[tuple[str, Any]]):
    """The members of an object as pairs, so that keys may repeat."""


DEEP = 100_000
# Short texts of the signs that matter meet every rule sooner than long natural ones.
TRICKY_TEXT = st.text(alphabet='ab"\\:,[]{} \n\t/é漢😀\ud800\udc00\u212a\x7f', max_size=6)
KEYS = st.sampled_from(["id", "ID", "Id", "\u212ad", "kd", "url", "urls", "a", "", ":", ",", '"', "\\", "x id", '"id'])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TRICKY_TEXT | KEYS,
    lambda inner: st.lists(inner, max_size=4) | st.lists(st.tuples(KEYS | TRICKY_TEXT, inner), max_size=4).map(Members),
    max_leaves=12,
)
WANTED = frozenset({"id", "kd", "url", "urls"})


class Writer:
    """Writes a value as JSON with random spacing and escapes, and notes every string as a plain reader sees it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.text = ""
        self.strings: list[tuple[int, int, bool, str | None, int]] = []
        self.paths: list[str] = []
        self.raw_keys: list[str | None] = []

    def _space(self) -> None:
        self.text += self.random.choice(["", "", " ", "\n\t", "\r "])

    def _literal(self, value: str) -> str:
        if self.random.random() < 0.6:
            return quote(value)
        return json.dumps(value) if self.random.random() < 0.7 else "".join(['"', *map(self._escape, value), '"'])

    def _escape(self, char: str) -> str:
        return json.dumps(char)[1:-1] if self.random.random() < 0.5 or ord(char) > 0xFFFF else f"\\u{ord(char):04X}"

    def _string(self, value: str, is_key: bool, key: str | None, depth: int, path: str, raw: str | None) -> str:
        literal = self._literal(value)
        start = len(self.text)
        self.text += literal
        self.strings.append((start, len(self.text), is_key, key, depth))
        self.paths.append(path)
        self.raw_keys.append(literal[1:-1] if is_key else raw)
        return literal[1:-1]

    def _write(
        self, value: Any, key: str | None = None, depth: int = 0, path: str = "$", raw: str | None = None
    ) -> None:
        self._space()
        if isinstance(value, Members):
            self.text += "{"
            for index, (name, inner) in enumerate(value):
                self.text += "," if index else ""
                self._space()
                read = unquote(quote(name))  # two surrogates of a pair are one character to a reader
                inner_path = f"{path}.{read}" if read.isidentifier() else f"{path}[{quote(read)}]"
                spelt = self._string(name, True, read, depth + 1, inner_path, None)
                self._space()
                self.text += ":"
                self._write(inner, read, depth + 1, inner_path, spelt)
            self._space()
            self.text += "}"
        elif isinstance(value, list):
            self.text += "["
            for index, inner in enumerate(value):
                self.text += "," if index else ""
                self._write(inner, key, depth + 1, f"{path}[{index}]", raw)
            self._space()
            self.text += "]"
        elif isinstance(value, str):
            self._string(value, False, key, depth, path, raw)
        else:
            self.text += json.dumps(value)
        self._space()


def written(value: Any, seed: int) -> Writer:
    """A value as JSON text, spelt as the seed has it."""
    writer = Writer(seed)
    writer._write(value)
    return writer


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
    assert jsontext.is_valid("[1e400," + damaged + "]") == python_accepts("[1e400," + damaged + "]")


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


# --- cost -------------------------------------------------------------------------------------------------------------


def seconds(work: Callable[[], object]) -> float:
    """The better of two runs, in processor time."""
    best = float("inf")
    for _ in range(2):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


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
def test_cost_grows_with_the_text_and_no_faster(make: Callable[[int], str]) -> None:
    """Ten times the quotes, brackets or backslashes take about ten times as long (a hundred would be quadratic)."""

    def work(text: str) -> None:
        assert is_valid(text)
        assert all(string.end for string in strings(text))
        key_values(text, WANTED)
        same_value(text, text + " ")
        path_of(text, len(text) // 2)

    small, large = make(2_000), make(20_000)

    assert seconds(lambda: work(large)) < 30 * seconds(lambda: work(small)) + 0.05
