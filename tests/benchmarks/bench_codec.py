"""The codec against one pass of the cheapest standard tool over the same text.

Each timed call is the first of its kind on a fresh registry, made outside the clock, and on texts that no other run
has seen. `make bench` prints one table at the end. Limits are those that the package promises.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence

import pytest

from modelcontext_core import Message, Registry, ToolCall
from tests.benchmarks.codec_inputs import IdKind, Known, answer, conversation, known_ids, registry_of
from tests.benchmarks.measuring import ATTEMPTS, Row, measure, took

UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
REFERENCE = re.compile(r"<ref\s[^>]*>|<(?:kb|web)\s[^>]*>|res://\d+", re.IGNORECASE)
HANDLE = re.compile(r"[a-z]+://[0-9]+")
FIND_UUIDS = "finditer for UUIDs over all text"
ENCODED = [
    ("encode, 10 UUIDs", 10, "uuid", 2.5),
    ("encode, 100 UUIDs", 100, "uuid", 2.5),
    ("encode, 1,000 UUIDs", 1_000, "uuid", 2.5),
    ("encode, 10,000 UUIDs", 10_000, "uuid", 3.0),
    ("encode, 10 ids like doc-00012-ab3f", 10, "word", 6.0),
    ("encode, 10,000 ids like doc-00012-ab3f", 10_000, "word", 6.0),
    ("encode, 10 ids of 24 hex digits", 10, "hex", 6.0),
    ("encode, 10,000 ids of 24 hex digits", 10_000, "hex", 6.0),
    ("encode, 10 ids like wiki/document-00012", 10, "path", 6.0),
    ("encode, 10,000 ids like wiki/document-00012", 10_000, "path", 6.0),
]


def find_uuids(messages: Sequence[Message]) -> int:
    """The floor of everything that looks at whole conversations."""
    texts = [message.content for message in messages]
    texts += [call.arguments for message in messages for call in message.tool_calls]
    return sum(1 for text in texts for _ in UUID.finditer(text))


def encoding(
    name: str, known: Known, limit: float, *, as_json: bool = False, resources: int = 0, issues: int = 0
) -> Row:
    """One row of encoding."""
    sample = conversation(known, "sample", as_json=as_json, resources=resources)

    def prepare(turn: int) -> tuple[Registry, list[Message]]:
        messages = conversation(known, f"run {turn}", as_json=as_json, resources=resources)
        return registry_of(known, issues=issues), messages

    floor = FIND_UUIDS, lambda: find_uuids(sample)
    return measure(name, floor, limit, prepare, lambda given: given[0].encode_messages(given[1]))


@pytest.mark.parametrize(("name", "count", "kind", "limit"), ENCODED)
def test_encoding_costs_about_one_look_at_the_text(
    name: str, count: int, kind: IdKind, limit: float, rows: list[Row]
) -> None:
    """Whatever the number of known ids, and whatever they look like."""
    rows.append(encoding(name, known_ids(count, kind), limit))

    assert rows[-1].ratio <= limit


def test_encoding_resources_issues_and_json(rows: list[Row]) -> None:
    """A thousand stored references, fifty issues; and results that are JSON."""
    known = known_ids(100)
    rows.append(encoding("encode, 1,000 resources and 50 issues", known, 3.0, resources=1_000, issues=50))
    rows.append(encoding("encode, all results JSON", known, 8.0, as_json=True))

    assert rows[-2].ratio <= 3.0
    assert rows[-1].ratio <= 8.0


@pytest.mark.parametrize("count", [10, 10_000])
def test_looking_for_leaks_costs_less(count: int, rows: list[Row]) -> None:
    """Encoded messages are looked through at a fraction of the floor."""
    known = known_ids(count)
    sample = conversation(known, "sample")

    def prepare(turn: int) -> tuple[Registry, list[Message]]:
        registry = registry_of(known)
        return registry, registry.encode_messages(conversation(known, f"run {turn}"))

    limit = 0.3 if count == 10 else 0.6
    floor = FIND_UUIDS, lambda: find_uuids(sample)
    name = f"leaked identifiers, {count:,} UUIDs"
    rows.append(measure(name, floor, limit, prepare, lambda given: given[0].leaked_identifiers(given[1])))

    assert rows[-1].ratio <= limit


@pytest.mark.parametrize(("kind", "limit"), [("uuid", 8.0), ("word", 11.4), ("hex", 11.4), ("path", 11.4)])
def test_registering_ten_thousand_ids(kind: IdKind, limit: float, rows: list[Row]) -> None:
    """A request that knows ten thousand ids begins with this."""
    known = known_ids(10_000, kind)
    sample = conversation(known_ids(10), "sample")
    floor = FIND_UUIDS, lambda: find_uuids(sample)
    rows.append(measure(f"register 10,000 ids ({kind})", floor, limit, lambda _: known, registry_of))

    assert rows[-1].ratio <= limit


class Echo:
    """The floor of a stream: a call and two looks for each chunk."""

    def feed(self, chunk: str) -> str:
        """The chunk itself."""
        if "<" in chunk or ":" in chunk:
            return chunk
        return chunk


def fed(decoder: object, chunks: Sequence[str]) -> int:
    """Feeds all chunks."""
    feed = decoder.feed  # type: ignore[attr-defined]
    return sum(len(feed(chunk)) for chunk in chunks)


def spoken(count: int, issues: int) -> tuple[Registry, Known, int]:
    """A registry that has encoded a conversation, as it is when the answer comes."""
    known, resources = known_ids(count), 1_000 if issues else 60
    registry = registry_of(known, issues=issues)
    registry.encode_messages(conversation(known, "sample", resources=resources))
    return registry, known, resources


WITH = [(10, 0, ""), (10_000, 0, ", 10,000 ids"), (100, 50, ", 50 issues")]


@pytest.mark.parametrize(("count", "issues", "what"), WITH)
def test_decoding_an_answer(count: int, issues: int, what: str, rows: list[Row]) -> None:
    """100 KB with 220 references cost about what replacing them with a pattern costs."""
    registry, known, resources = spoken(count, issues)
    sample = answer(known, "sample", resources=resources)
    floor = "sub with a callback", lambda: REFERENCE.sub(lambda _: '<kb doc="x" chunk_id="y" />', sample)

    def prepare(turn: int) -> str:
        return answer(known, f"run {turn}", resources=resources)

    rows.append(measure(f"decode 100 KB{what}", floor, 1.5, prepare, registry.decode_output_text))

    assert rows[-1].ratio <= 1.5


@pytest.mark.parametrize(("size", "limit", "most"), [(8, 16.0, 20.0), (64, 35.0, 45.0)])
@pytest.mark.parametrize(("count", "issues", "what"), WITH)
def test_streaming_an_answer(
    count: int, issues: int, what: str, size: int, limit: float, most: float, rows: list[Row]
) -> None:
    """The same answer in small chunks; short handles are looked for when there are issues."""
    registry, known, resources = spoken(count, issues)

    def cut(note: str) -> list[str]:
        text = answer(known, note, resources=resources)
        return [text[start : start + size] for start in range(0, len(text), size)]

    sample = cut("sample")
    floor = "a call and two `in` a chunk", lambda: fed(Echo(), sample)

    def work(chunks: list[str]) -> None:
        decoder = registry.stream_decoder()
        fed(decoder, chunks)
        decoder.flush()

    name = f"stream 100 KB, {size} characters a chunk{what}"
    rows.append(measure(name, floor, most if issues else limit, lambda turn: cut(f"run {turn}"), work))

    assert rows[-1].ratio <= rows[-1].limit


def test_decoding_a_call_of_a_megabyte(rows: list[Row]) -> None:
    """Arguments with three thousand handles are changed in place: no number, escape or space of them moves."""
    known = known_ids(100)
    registry = registry_of(known)
    source = random.Random(5)
    text = answer(known, "")[:1000]

    def prepare(turn: int) -> list[ToolCall]:
        notes = [f"{turn} {text} doc://{source.randint(1, 20)}" for _ in range(1_000)]
        arguments = json.dumps({"knowledge_id": "doc://1", "notes": notes}, ensure_ascii=False)
        return [ToolCall(id="c", name="list_knowledge_chunks", arguments=arguments)]

    sample = prepare(0)[0].arguments

    def floor() -> str:
        return json.dumps(json.loads(HANDLE.sub(lambda _: "weknora://doc/x", sample)))

    named = "json.loads, sub with a callback, json.dumps", floor
    rows.append(measure("decode a tool call, arguments of 1 MB", named, 3.0, prepare, registry.decode_tool_calls))

    assert rows[-1].ratio <= 3.0


@pytest.mark.parametrize("hard", ["a<b ", "<ref ", "res://1", "http://", "i1/", "<k", "https://e.com/a)"])
def test_hard_texts_grow_linearly(hard: str) -> None:
    """Twice a text made of false starts takes about twice as long, encoded and decoded."""
    registry = registry_of(known_ids(10))

    def decode(size: int) -> float:
        return min(took(lambda: registry.decode_output_text(hard * (size // len(hard)))) for _ in range(5))

    def encode(size: int) -> float:
        message = Message(role="user", content=hard * (size // len(hard)))
        return min(took(lambda: Registry().encode_messages([message])) for _ in range(5))

    for name, work in (("decode", decode), ("encode", encode)):
        # Measured up to three times: a processor that changes its speed in between does not do so again.
        growth = [work(200_000) / work(100_000)]
        while growth[-1] > 2.2 and len(growth) < ATTEMPTS:
            growth.append(work(200_000) / work(100_000))
        print(f"{name} {hard * 3!r:<40} doubled x {min(growth):.2f}")

        assert min(growth) <= 2.2
