"""Every input that once was slow, doubled, must take about double the time.

Counted in processor time, the best of a few runs, so that a busy machine spoils little; the bound is generous, since
the faults that it is there for (square growth) show as a factor of four.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from modelcontext_core import Message, Registry, ToolCall, ToolPolicies, check_round_trip, jsontext, sqltext
from tests.fuzz.worlds import UUID_A, registry

MOST: Final = 2.8
SIZE: Final = 60_000
SHORTEST: Final = 0.02  # seconds; what is quicker says nothing about growth
CHUNK: Final = 8

Make = Callable[[int], str]
Work = Callable[[str], object]

TEXTS: Final[Mapping[str, Make]] = {
    "a<b": lambda size: "a<b " * (size // 4),
    "an unclosed ref": lambda size: "<ref " + "x" * size,
    "res:// and digits": lambda size: "res://" + "1" * size,
    "i and digits": lambda size: "i" + "1" * size,
    "http:// again and again": lambda size: "http://" * (size // 7),
    "a link and brackets": lambda size: "https://e.com/a" + ")" * size,
    "i1/": lambda size: "i1/" * (size // 3),
    "<k": lambda size: "<k" * (size // 2),
    "<": lambda size: "<" * size,
    "://": lambda size: "://" * (size // 3),
    "handles": lambda size: "doc://1 doc://99 " * (size // 17),
    "an attribute name": lambda size: f"<kb {'a' * size}>",
    "quotes in tags": lambda size: "<kb ' \"" * (size // 8),
    "elements of another name": lambda size: "_id>" * (size // 4),
    "labels": lambda size: "kb_id='x-" * (size // 9),
    "storage": lambda size: "storage://x" * (size // 11),
    "dashes": lambda size: "0d3f1c5e-7a2b-4c8d-9e10-" * (size // 24),
    "ids": lambda size: f"{UUID_A} " * (size // 37),
    "near misses": lambda size: "doc:/7 " * (size // 7),
    "dollar quotes": lambda size: "$a$ ' -- /* " * (size // 12),
    "literals": lambda size: f"'it''s {UUID_A}', " * (size // 48),
    "brackets": lambda size: "[{" * (size // 2),
}


def _encode(text: str) -> None:
    made = Registry()
    arguments = json.dumps({"sql": text, "knowledge_id": text, "q": text})
    messages = [
        Message(role="user", content=text),
        Message(role="assistant", content=text, tool_calls=(ToolCall(name="database_query", arguments=arguments),)),
        *(Message(role="tool", name=name, content=text) for name in ("grep_chunks", "wiki_read_issue", "read_file")),
        Message(role="tool", name="grep_chunks", content=json.dumps({"knowledge_id": text, "x": [text]})),
    ]
    report = made.encode_with_report(messages)
    made.leaked_identifiers(report.messages)
    check_round_trip(messages, report, made)


def _stream(text: str) -> None:
    decoder = _KNOWN.stream_decoder()
    for at in range(0, len(text), CHUNK):
        decoder.feed(text[at : at + CHUNK])
    decoder.flush()


def _calls(text: str) -> None:
    _KNOWN.decode_tool_calls([ToolCall(name="database_query", arguments=json.dumps({"sql": text, "q": text, text: 0}))])


_KNOWN: Final = registry(citations=True, issues=True)
OPERATIONS: Final[Mapping[str, Work]] = {
    "encode": _encode,
    "decode": _KNOWN.decode_output_text,
    "report": _KNOWN.decode_with_report,
    "stream": _stream,
    "calls": _calls,
    "compact": _KNOWN.compact_known_text,
}


def _json(text: str) -> None:
    jsontext.is_valid(text)
    list(jsontext.strings(text))
    jsontext.key_values(text, frozenset({"id", "url"}))
    jsontext.same_value(text, text + " ")
    jsontext.path_of(text, len(text) // 2)


def _discover(text: str) -> None:
    call = ToolCall(id="c", name="lookup", arguments=text)
    ToolPolicies.discover(
        [Message(role="assistant", tool_calls=(call,)), Message(role="tool", tool_call_id="c", content=text)]
    )


def _json_texts() -> Iterator[tuple[str, Make, Work]]:
    row = f'{{"order_id": "{UUID_A}", "link": "https://example.com/{UUID_A}"}}, '
    texts: Mapping[str, Make] = {
        "quotes": lambda size: '"' + '\\"' * (size // 2) + '"',
        "backslashes": lambda size: '"' + "\\\\" * (size // 4) + '"',
        "nested lists": lambda size: "[" * (size // 2) + '"\ud800"' + "]" * (size // 2),
        "nested ids": lambda size: '{"id":[' * (size // 9) + '"\ud800"' + "]}" * (size // 9),
        "nested objects": lambda size: '{"id":' * (size // 7) + '"\ud800"' + "}" * (size // 7),
        "names in a list": lambda size: '{"id":[{}' + ',"id"' * (size // 5) + "]}",
        "long names": lambda size: '[{"' + "d" * (size // 2) + '":"' + "d" * (size // 2) + '"}]',
        "quoted names": lambda size: '["' + '\\"id\\":' * (size // 7) + '"]',
        "blanks": lambda size: (
            '{"id"' + " " * (size // 4) + ":" + " " * (size // 4) + "[" + '"",' * (size // 6) + '""]}'
        ),
        "names and blanks": lambda size: "[" + '"id" ,' * (size // 9) + '"id"' + " " * (size // 3) + "]",
        "escapes in objects": lambda size: "[" + ",".join(['{"id":["\\\\\\"",[]]}'] * (size // 19)) + "]",
    }
    for name, make in texts.items():
        yield name, make, _json
    yield "rows", lambda size: "[" + row * (size // len(row)) + "0]", _discover


def _sql_texts() -> Iterator[tuple[str, Make, Work]]:
    for unit in ("'", "''", "'\\", "E'\\", '"', "`", "/*", "*/", "/**/", "-", "--\n", "$", "$a$ ", "[", "$a"):
        yield f"SQL {unit!r}", partial(_repeat, unit), sqltext.regions
    yield "open dollar tags", lambda size: " ".join(f"$a{number}$" for number in range(size // 8)), sqltext.regions


def _repeat(unit: str, size: int) -> str:
    return unit * (size // len(unit))


def seconds(work: Work, text: str) -> float:
    """The best processor time of three runs."""
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        work(text)
        best = min(best, time.process_time() - began)
    return best


def run(number: int) -> None:
    """Measures one pair of input and operation; raises `AssertionError` when it grows too fast."""
    name, make, work = _PAIRS[number % len(_PAIRS)]
    for size in (SIZE, 2 * SIZE, 4 * SIZE):  # again, with more: noise does not repeat
        small, large = seconds(work, make(size)), seconds(work, make(2 * size))
        if large <= SHORTEST or large <= MOST * small:
            return
    raise AssertionError(f"{name}: {small:.3f} s, doubled {large:.3f} s")


_PAIRS: Final = [
    *((f"{name}, {operation}", TEXTS[name], OPERATIONS[operation]) for name in TEXTS for operation in OPERATIONS),
    *_json_texts(),
    *_sql_texts(),
]
