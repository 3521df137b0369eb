"""The codec's cases as data: `tests/vectors/*.json`, each run on a registry of its own, and every law with it.

A case is `{"name", "citations_enabled", "ops"}`. An op names a method and its arguments, and says what must come of it:
`expect` exactly (of a record, only the fields that are not empty), or pieces that a text must hold or must not hold.
Whatever is encoded is encoded twice, whatever is decoded is also streamed in every way.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import modelcontext_core as core
from modelcontext_core import HandleStreamDecoder, HandleTable, Registry, jsontext
from tests.fuzz.laws import Decoder, report_law, streamed

FOLDER = Path(__file__).parents[1] / "vectors"
FILES = {
    "registry": 25,
    "handle_tables": 8,
    "encode_messages": 47,
    "decode_tool_calls": 30,
    "decode_text": 41,
    "tools": 29,
    "leaks": 9,
}
CASES = [
    pytest.param(case, id=f"{name}: {case['name']}")
    for name in FILES
    for case in json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
]
MOST_CUTS = 4000
NESTED = {"tool_calls": core.ToolCall, "parts": core.Part, "images": core.ToolImage}


# ------------------------------------------------------------------------------------------------ records and JSON


def build(kind: Callable[..., Any], members: dict[str, Any]) -> Any:
    """The record that a JSON object stands for; bytes are base64."""
    values: dict[str, Any] = {}
    for key, value in members.items():
        if key in NESTED:
            values[key] = tuple(build(NESTED[key], item) for item in value)
        elif kind is core.ToolImage and key == "data":
            values[key] = base64.b64decode(value)
        else:
            values[key] = value
    return kind(**values)


def plain(value: Any) -> Any:
    """A record as JSON, without the fields that are empty."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {key: item for key, item in members.items() if item}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def same(expected: Any, got: Any) -> bool:
    """Whether what came is what was expected; JSON texts are compared byte for byte but for how strings are escaped,
    since a replaced string may be written in more than one way."""
    if isinstance(expected, dict) and isinstance(got, dict):
        kept = {key: value for key, value in expected.items() if value}
        return kept.keys() == got.keys() and all(same(value, got[key]) for key, value in kept.items())
    if isinstance(expected, list) and isinstance(got, list):
        return len(expected) == len(got) and all(map(same, expected, got))
    if isinstance(expected, str) and isinstance(got, str) and expected != got:
        return jsontext.is_valid(expected) and jsontext.is_valid(got) and unescaped(expected) == unescaped(got)
    return bool(expected == got)


def unescaped(text: str) -> list[str]:
    """JSON text cut into what stands outside strings and the strings' values."""
    pieces, at = [], 0
    for string in jsontext.strings(text):
        pieces += [text[at : string.start], jsontext.unquote(text[string.start : string.end])]
        at = string.end
    return [*pieces, text[at:]]


def completed(expected: Any, given: Any) -> Any:
    """What is expected, with the members that it leaves out taken from what was given: they must not change."""
    if isinstance(expected, dict) and isinstance(given, dict):
        return {**given, **{key: completed(value, given.get(key)) for key, value in expected.items()}}
    if isinstance(expected, list) and isinstance(given, list) and len(expected) == len(given):
        return [completed(*pair) for pair in zip(expected, given, strict=True)]
    return expected


def check(op: dict[str, Any], got: Any, given: Any = None) -> None:
    """What the op says of its result."""
    if "expect" in op:
        wanted = completed(op["expect"], given)
        assert same(wanted, got), f"expected {wanted!r}, got {got!r}"
    for piece in op.get("expect_contains", ()):
        assert piece in got
    for piece in op.get("expect_not_contains", ()):
        assert piece not in got
    if "expect_regex" in op:
        assert re.search(op["expect_regex"], got)


# ------------------------------------------------------------------------------------------------ streams


def cuts_of(text: str) -> Iterator[list[str]]:
    """Character by character, then cut in two at every place (of a very long text at 4,000, evenly spread)."""
    step = 1 if len(text) <= 4000 else 7
    yield [text[i : i + step] for i in range(0, len(text), step)]
    count = min(len(text), MOST_CUTS) or 1
    for at in sorted({round(k * len(text) / count) for k in range(count + 1)}):
        yield [text[:at], "", text[at:]]


def check_stream(new: Callable[[], Decoder], text: str, whole: str, op: dict[str, Any]) -> None:
    """The law of streams: the given chunks, every cut, one decoder used again, and what each feed must give."""
    decoder = new()
    chunks = op.get("args", {}).get("chunks")
    if chunks:
        feeds = [decoder.feed(chunk) for chunk in chunks]
        assert whole == "".join(feeds) + decoder.flush()
        assert op.get("feeds", feeds) == feeds
    for cut in cuts_of(text):
        assert whole == streamed(decoder, cut), cut


# ------------------------------------------------------------------------------------------------ operations


class Runner:
    """The operations of one case, on one registry. An op without a method here is called with its arguments as they
    are."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.registry = Registry(citations_enabled=case.get("citations_enabled", True))
        self.given: Any = None

    def run(self, op: dict[str, Any]) -> None:
        """Runs the op and checks what it gives."""
        self.given = None
        check(op, self.result(op), self.given)

    def result(self, op: dict[str, Any]) -> Any:
        """What the op gives, as JSON."""
        args = op.get("args", {})
        own = getattr(self, op["op"], None)
        return own(args, op) if own else plain(getattr(self.registry, op["op"])(*args.values()))

    def register_chunk(self, args: dict[str, Any], op: dict[str, Any]) -> Any:
        return getattr(self.registry, op["op"])(build(core.ChunkReference, args["ref"]))

    register_context_chunk = register_chunk

    def register_search_results(self, args: dict[str, Any], op: dict[str, Any]) -> Any:
        return self.registry.register_search_results([build(core.SearchResult, item) for item in args["results"]])

    def has_tool_policy(self, args: dict[str, Any], op: dict[str, Any]) -> Any:
        return core.has_tool_policy(args["name"])

    def encode_messages(self, args: dict[str, Any], op: dict[str, Any]) -> Any:
        messages = [build(core.Message, item) for item in args["messages"]]
        return self.encoded(messages, self.registry.encode_messages, args["messages"])

    def encode_tools(self, args: dict[str, Any], op: dict[str, Any]) -> Any:
        tools = [build(core.Tool, item) for item in args["tools"]]
        return self.encoded(tools, self.registry.encode_tools, args["tools"])

    def encoded(self, records: list[Any], encode: Callable[[list[Any]], list[Any]], given: Any) -> Any:
        """The encoded records; the input stays as it was, and encoding again changes nothing."""
        self.given = given
        got = encode(records)
        assert got == encode(got)
        assert same([plain(build(type(r), item)) for r, item in zip(records, given, strict=True)], plain(records))
        return plain(got)

    def decode_tool_calls(self, args: dict[str, Any], op: dict[str, Any]) -> Any:
        calls = [build(core.ToolCall, item) for item in args["calls"]]
        got = self.registry.decode_tool_calls(calls)
        assert got == self.registry.decode_tool_calls(got)
        for before, after in zip(calls, got, strict=True):
            assert (before.model_arguments or before.arguments) == after.model_arguments
            if after.argument_resolution in ("unchanged", "unresolved"):
                assert before.arguments == after.arguments
        self.given = args["calls"]
        return self.without_model_arguments(plain(got), op.get("expect", []))

    def without_model_arguments(self, calls: list[dict[str, Any]], expected: Sequence[dict[str, Any]]) -> Any:
        """Calls without the model's own text where the case does not mention it."""
        for call, wanted in zip(calls, expected, strict=True):
            if "model_arguments" not in wanted:
                call.pop("model_arguments", None)
        return calls

    def decode_response(self, args: dict[str, Any], op: dict[str, Any]) -> Any:
        got = plain(self.registry.decode_response(build(core.ChatResponse, args["response"])))
        if "tool_calls" in got:
            self.without_model_arguments(got["tool_calls"], op["expect"]["tool_calls"])
        return got

    def decode_output_text(self, args: dict[str, Any], op: dict[str, Any]) -> Any:
        text = args["text"] if "text" in args else "".join(args["chunks"])
        got = self.registry.decode_output_text(text)
        check_stream(self.registry.stream_decoder, text, got, op)
        report = self.registry.decode_with_report(text)
        assert got == report.text
        report_law(text, report)
        return got

    decode_stream = decode_output_text

    def model_tool_result(self, args: dict[str, Any], op: dict[str, Any]) -> Any:
        result = build(core.ToolResult, args["result"])
        before = json.dumps(result.data)
        got = self.registry.model_tool_result(result, args.get("tool_name", ""))
        assert before == json.dumps(result.data)
        return got

    def tool_image_sources_note(self, args: dict[str, Any], op: dict[str, Any]) -> Any:
        return self.registry.tool_image_sources_note(build(core.ToolResult, args["result"]))

    def leaked_identifiers(self, args: dict[str, Any], op: dict[str, Any]) -> Any:
        return plain(self.registry.leaked_identifiers([build(core.Message, item) for item in args["messages"]]))

    def summarize_leaks(self, args: dict[str, Any], op: dict[str, Any]) -> Any:
        return core.summarize_leaks([build(core.IdentifierLeak, item) for item in args["leaks"]])

    def handle_table(self, args: dict[str, Any], op: dict[str, Any]) -> Any:
        sizes = {key: args[key] for key in ("width", "start") if key in args}
        table = HandleTable(args["prefix"], **sizes)
        for inner in args["ops"]:
            check(inner, self.table_op(table, inner))

    def table_op(self, table: HandleTable, op: dict[str, Any]) -> Any:
        """One operation on a stand-alone table."""
        args = op.get("args", {})
        if op["op"] in ("len", "bool"):
            return len(table) if op["op"] == "len" else bool(table)
        if op["op"] != "decode_stream":
            return getattr(table, op["op"])(*args.values())
        text = "".join(args["chunks"])
        whole = table.decode_known_text(text)
        check_stream(lambda: HandleStreamDecoder(table), text, whole, op)
        return whole


@pytest.mark.parametrize("case", CASES)
def test_case(case: dict[str, Any]) -> None:
    """Each operation of the case gives exactly what the case says."""
    runner = Runner(case)
    for op in case["ops"]:
        runner.run(op)


def test_the_cases_are_all_there() -> None:
    """A damaged or shortened data file is no success."""
    found = {name: len(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))) for name in FILES}

    assert FILES == found
