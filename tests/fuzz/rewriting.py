"""JSON that is changed in place: only strings change, and a trace written back is the same trace with handles."""

from __future__ import annotations

import gzip
import json
import random
from functools import cache
from typing import Any

from inspector_app import data
from inspector_app.views.write_back import can_write_back, write_back
from modelcontext_core import formats, jsontext
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats import Trace
from modelcontext_core.messages import Message
from tests.fuzz import conversations, laws, mutations, readers

__all__ = ["run"]


@cache
def _sources() -> list[tuple[str, bytes]]:
    """The sources that may be written back: JSON that is not large."""
    return [(name, data) for name, data in readers.sources() if len(data) < 40_000 and data[:1] in (b"{", b"[")]


def run(number: int) -> None:
    """Runs one case; raises `AssertionError` when a law is broken."""
    rng = random.Random(f"rewriting {number}")
    if number % 4:
        _strings_law(rng)
    else:
        _write_back_law(rng)


def _strings_law(rng: random.Random) -> None:
    """A text is valid when the standard library says so; its strings are those of its value; splicing changes them
    alone."""
    text = mutations.spelt(rng, mutations.mutated(rng, json.loads(conversations.json_text(rng))))
    if rng.random() < 0.5:
        # Two halves of a pair that damage brought together are one character to whoever reads the bytes.
        text = mutations.damaged(rng, text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
    try:
        # Numbers of more digits than Python likes to turn into a number are JSON, too.
        value = json.loads(text, parse_constant=_refuse, parse_int=len, object_pairs_hook=list)
        valid = True
    except ValueError:
        value, valid = None, False
    assert jsontext.is_valid(text) == valid, f"{text!r}"
    if not valid:
        return
    found = list(jsontext.strings(text))
    values = [jsontext.unquote(text[each.start : each.end]) for each in found]
    assert values == list(_strings_of(value)), f"{text!r}"
    edits = [(each.start, each.end, rng.choice(mutations.HOSTILE)) for each in found if rng.random() < 0.5]
    written = jsontext.replace_strings(text, edits)
    new = {start: value for start, _, value in edits}
    assert jsontext.is_valid(written), f"{text!r} -> {written!r}"
    again = [jsontext.unquote(written[each.start : each.end]) for each in jsontext.strings(written)]
    assert again == [new.get(each.start, was) for each, was in zip(found, values, strict=True)], f"{text!r}"
    assert laws.skeleton(text, keys=False) == laws.skeleton(written, keys=False), f"{text!r} -> {written!r}"


def _refuse(word: str) -> None:
    raise ValueError(word)


def _strings_of(value: Any) -> list[str]:
    """The strings of a value in the order of the text; objects are lists of pairs here. A value may be nested as
    deeply as the parser can bear, which is deeper than a function can call itself."""
    found: list[str] = []
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            found.append(each)
        elif isinstance(each, list | tuple):
            waiting.extend(reversed(each))
    return found


def _write_back_law(rng: random.Random) -> None:
    """What is written back is read as the same format with as many messages, and differs in strings only."""
    name, content = rng.choice(_sources())
    if rng.random() < 0.9:
        content = mutations.rebuilt(
            rng, content, (conversations.prose(rng), conversations.prose(rng), *conversations.IDS)
        )
    try:
        trace = formats.read(content, name)
    except UnreadableTrace:
        return
    if not can_write_back(trace, content):
        return
    held = data.Held(trace=trace, data=content, name=name, key="", digest="")
    analysis = data.analyse(held, data.Options(pack=rng.choice(("auto", "builtin")), citations=rng.random() < 0.5))
    written = write_back(trace, content, analysis)
    for before, after in zip(_records(content), _records(written), strict=True):
        laws.json_law(before, after, keys=True)
    again = formats.read(written, name)
    assert again.format == trace.format, f"{trace.format} became {again.format}"
    if not any(_is_told_as_json(message) for each in trace.conversations for message in each.messages):
        assert _roles(trace) == _roles(again), written
    held = data.Held(trace=again, data=written, name=name, key="", digest="")
    assert not data.prove(held, data.Options(pack="builtin")).changed_twice


def _is_told_as_json(message: Message) -> bool:
    """Whether a reader wrote down what it did not know: what repeats such a text is written in another way."""
    return message.role != "tool" and message.content.lstrip()[:1] in ("{", "[")


def _roles(trace: Trace) -> list[list[str]]:
    """The roles of every conversation; a wrong one may hold anything, ids included."""
    return [[each.role if each.role.isalpha() else "wrong" for each in one.messages] for one in trace.conversations]


def _records(content: bytes) -> list[str]:
    text = (gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content).decode("utf-8", "surrogatepass")
    return [text] if jsontext.is_valid(text) else text.split("\n")
