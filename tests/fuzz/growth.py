"""Every input that once was slow, doubled, must take about double the time.

Counted in processor time, the best of a few runs, so that a busy machine spoils little; the bound is generous, since
the faults that it is there for (square growth) show as a factor of four.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Final

from modelcontext_core import Message, Registry, ToolCall, check_round_trip
from tests.fuzz.worlds import UUID_A, registry

MOST: Final = 2.8
SIZE: Final = 60_000
SHORTEST: Final = 0.02  # seconds; what is quicker says nothing about growth
CHUNK: Final = 8

TEXTS: Final[Mapping[str, Callable[[int], str]]] = {
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
OPERATIONS: Final[Mapping[str, Callable[[str], object]]] = {
    "encode": _encode,
    "decode": _KNOWN.decode_output_text,
    "report": _KNOWN.decode_with_report,
    "stream": _stream,
    "calls": _calls,
    "compact": _KNOWN.compact_known_text,
}


def seconds(work: Callable[[str], object], text: str) -> float:
    """The best processor time of three runs."""
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        work(text)
        best = min(best, time.process_time() - began)
    return best


def run(number: int) -> None:
    """Measures one pair of input and operation; raises `AssertionError` when it grows too fast."""
    name, operation = _PAIRS[number % len(_PAIRS)]
    make, work = TEXTS[name], OPERATIONS[operation]
    for size in (SIZE, 2 * SIZE, 4 * SIZE):  # again, with more: noise does not repeat
        small, large = seconds(work, make(size)), seconds(work, make(2 * size))
        if large <= SHORTEST or large <= MOST * small:
            return
    raise AssertionError(f"{name}, {operation}: {small:.3f} s, doubled {large:.3f} s")


_PAIRS: Final = [(name, operation) for name in TEXTS for operation in OPERATIONS]
