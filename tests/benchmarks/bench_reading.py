"""Reading 10 MB of each container against parsing the same bytes, nothing kept.

`make bench` prints the rows in its table.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import orjson
import pytest

from modelcontext_core.formats import iter_traces
from tests.benchmarks.codec_inputs import WORDS
from tests.benchmarks.measuring import Row, measure

SIZE = 10_000_000


def prose(source: random.Random, words: int) -> str:
    """So many words."""
    return " ".join(source.choices(WORDS, k=words))


def chats(note: str) -> Iterator[dict[str, Any]]:
    """Chat requests of about 6 KB without end."""
    source = random.Random(13)
    while True:
        messages: list[dict[str, Any]] = [{"role": "system", "content": f"{note} {prose(source, 150)}"}]
        for number in range(3):
            messages.append({"role": "user", "content": prose(source, 60)})
            function = {"name": "knowledge_search", "arguments": json.dumps({"query": prose(source, 10)})}
            call = {"id": f"c{number}", "type": "function", "function": function}
            messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": prose(source, 150)})
            messages.append({"role": "assistant", "content": prose(source, 80)})
        yield {"model": "m", "messages": messages}


def pieces(note: str) -> Iterator[dict[str, Any]]:
    """Chunks of one streamed chat completion, a few words each."""
    source = random.Random(17)
    while True:
        choice = {"index": 0, "delta": {"content": f"{prose(source, 5)} "}, "finish_reason": None}
        yield {"id": note, "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def turns(note: str) -> Iterator[dict[str, Any]]:
    """Lines of streamed replies of Ollama, a few words each."""
    source = random.Random(19)
    while True:
        message = {"role": "assistant", "content": f"{prose(source, 5)} "}
        yield {"model": note, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": False}


def filled(records: Iterator[dict[str, Any]]) -> list[bytes]:
    """Records until they are 10 MB."""
    made: list[bytes] = []
    size = 0
    while size < SIZE:
        made.append(orjson.dumps(next(records)))
        size += len(made[-1])
    return made


def one_document(note: str) -> tuple[bytes, list[bytes]]:
    """One conversation."""
    messages: list[bytes] = []
    for record in filled(chats(note)):
        messages += map(orjson.dumps, orjson.loads(record)["messages"])
    whole = b'{"model": "m", "messages": [' + b",".join(messages) + b"]}"
    return whole, [whole]


def array(note: str) -> tuple[bytes, list[bytes]]:
    """An array of chat requests."""
    whole = b"[" + b",".join(filled(chats(note))) + b"]"
    return whole, [whole]


def lines(note: str) -> tuple[bytes, list[bytes]]:
    """A chat request a line."""
    made = filled(chats(note))
    return b"\n".join(made), made


def events(note: str) -> tuple[bytes, list[bytes]]:
    """Server-sent events."""
    made = filled(pieces(note))
    return b"".join(b"data: " + piece + b"\n\n" for piece in made) + b"data: [DONE]\n\n", made


def replies(note: str) -> tuple[bytes, list[bytes]]:
    """NDJSON of a local server, with an end."""
    made = filled(turns(note))
    end = orjson.loads(made[-1]) | {"done": True, "done_reason": "stop"}
    made.append(orjson.dumps(end))
    return b"\n".join(made), made


Made = tuple[bytes, Sequence[bytes]]


@pytest.mark.parametrize(
    ("name", "make", "limit"),
    [
        ("JSON", one_document, 30.0),
        ("JSON array", array, 30.0),
        ("JSON Lines", lines, 30.0),
        ("server-sent events", events, 60.0),  # fifty thousand small records, each with a place in the stream
        ("NDJSON", replies, 45.0),
    ],
)
def test_reading_ten_megabytes(name: str, make: Callable[[str], Made], limit: float, rows: list[Row]) -> None:
    """A container costs some times what parsing it costs: messages are made of the values, and checked."""
    values = make("sample")[1]

    def floor() -> None:
        for value in values:
            orjson.loads(value)

    def work(data: bytes) -> None:
        assert sum(1 for _ in iter_traces(data)) > 0

    def prepare(turn: int) -> bytes:
        return make(f"run {turn}")[0]

    rows.append(measure(f"read 10 MB of {name}", ("orjson.loads", floor), limit, prepare, work, rounds=3))

    assert rows[-1].ratio <= limit
