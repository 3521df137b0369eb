"""What all captured streams share."""

from __future__ import annotations

import json

import pytest

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.building.streaming import StreamedTurn, StreamLog, raw_text, seconds_of
from modelcontext_core.formats.nodes import Document, Node


def node(value: object) -> Node:
    """The root of a document."""
    data = json.dumps(value).encode()
    return Document(data, json.loads(data)).root


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ({"created_at": "1970-01-01T00:00:02.5Z"}, 2.5),
        ({"created_at": "1970-01-01T00:00:02.123456789Z"}, 2.123456),
        ({"timestamp": "1970-01-01T01:00:02+01:00"}, 2.0),
        ({"timestamp": "1970-01-01T00:00:02"}, 2.0),
        ({"time": 1790000000}, 1790000000.0),
        ({"time": 1790000000123}, 1790000000.123),
        ({"time": 0.25}, 0.25),
        ({"time": True}, None),
        ({"time": "soon"}, None),
        ({"time": 10**400}, None),
        ({}, None),
        ([], None),
    ],
)
def test_times(value: object, seconds: float | None) -> None:
    """ISO times and numbers of seconds, milliseconds and finer; nothing else is a time."""
    assert seconds_of(node(value)) == (pytest.approx(seconds) if seconds is not None else None)


def test_the_time_of_a_wrapper() -> None:
    """The record around an event may say when it came."""
    assert seconds_of(node({"timestamp": 7, "data": {"choices": []}}).get("data")) == 7


def test_raw_text_is_the_source() -> None:
    """An object's source text, or the text that a string holds."""
    document = Document(b'{"a": {"x":  1.0}, "b": "{}"}', {"a": {"x": 1.0}, "b": "{}"}).root

    assert raw_text(document.get("a")) == '{"x":  1.0}'
    assert raw_text(document.get("b")) == "{}"
    assert raw_text(document.get("c")) == ""


def test_pieces_of_two_turns_never_share_an_index() -> None:
    """A second turn whose blocks are numbered from 0 again gets indices of its own."""
    builder = Builder("test")
    log = StreamLog(builder)
    first, second = StreamedTurn(log), StreamedTurn(log)
    for turn in (first, second):
        turn.add("text", "text", node({}), "a", 0)
        turn.add("call", "arguments", node({}), "{}", 1)
    log.tell()

    assert [chunk.index for chunk in builder.trace().stream] == [0, 1, 2, 3]
