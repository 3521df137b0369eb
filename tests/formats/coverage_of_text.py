"""How much of the readable text of real trace files reaches the messages.

    python tests/formats/coverage_of_text.py FOLDER_OR_FILE… [-v]

For each file: the share of its distinct readable strings (longer than 20 characters; base64, signatures, encrypted
parts, ids and times aside) that stands in message texts, calls or results, in tool definitions, and only in notices or
meta. A string counts as told where it stands whole, give or take blanks and the escapes of JSON. Three kinds are
compared by what they repeat, because they are copies made for a screen, and telling them too would tell it twice:

- a text that ends in an ellipsis, longer than 100 characters: by what stands before the ellipsis;
- a transcript in one text: by each of its readable lines, without who speaks;
- HTML with `<details>`: by each of its readable texts, the captions of `<summary>` aside.

Tool definitions and titles of conversations are no messages: they are counted in a column of their own, outside of the
shares.
With `-v` the strings that are only in notices or meta, or nowhere, are listed.
Exit status 1 when a file has less than 95 % in messages or more than 3 % only in notices and meta.
"""

from __future__ import annotations

import html
import io
import json
import re
import sqlite3
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats import Trace, read
from modelcontext_core.formats.building.opaque import is_opaque
from modelcontext_core.formats.containers.msgpack import unpack

LEAST_IN_MESSAGES = 0.95
MOST_IN_META = 0.03
LONGER_THAN = 20
SHORTENED = 100
_WORD = re.compile(r"\w\s+\w|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]{4}")
_SPEAKER = re.compile(r"^\w{1,20}: ?")
_TIME = re.compile(r"(?:[A-Z][a-z]{2},? )*[\dT:.+\- ,]{5,30}(?:GMT|UTC)?[+\-\d:]* ?(?:\([\w ]+\))?\Z")
_SUMMARY = re.compile(r"<summary>.*?</summary>", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_OPAQUE_KEYS = re.compile(r"encrypted|signature|obfuscation|redacted|b64|base64", re.IGNORECASE)


@dataclass
class Coverage:
    """The distinct readable strings of one file, by where they ended up."""

    format: str = ""
    messages: set[str] = field(default_factory=set)
    tools: set[str] = field(default_factory=set)  # and titles of conversations
    meta: set[str] = field(default_factory=set)
    nowhere: set[str] = field(default_factory=set)

    @property
    def total(self) -> int:
        """All strings but those of tool definitions and titles, which are kept apart."""
        return len(self.messages) + len(self.meta) + len(self.nowhere)

    @property
    def share(self) -> float:
        """The share in messages."""
        return len(self.messages) / self.total if self.total else 1.0

    @property
    def share_in_meta(self) -> float:
        """The share only in notices and meta."""
        return len(self.meta) / self.total if self.total else 0.0


def readable(text: str) -> bool:
    """True for what a person could read: several words, or a run of CJK; no base64, no time."""
    return len(text) > LONGER_THAN and bool(_WORD.search(text[:2000])) and not is_opaque(text) and not _TIME.match(text)


def strings_of(value: Any, key: str = "") -> Iterator[str]:
    """All readable strings of a JSON value; a string that holds JSON is taken apart."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from strings_of(member, name)
    elif isinstance(value, list):
        for member in value:
            yield from strings_of(member, key)
    elif isinstance(value, str) and not _OPAQUE_KEYS.search(key):
        inner = _parsed(value)
        if inner is not None:
            yield from strings_of(inner, key)
        elif readable(value):
            yield value


def _parsed(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "[", '"') or len(text) < 2:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list | str) else None


def strings_of_file(data: bytes) -> set[str]:
    """The readable strings of a file: JSON, JSON Lines, SSE, documents in a row, zip; the lines of any other text."""
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {text for name in archive.namelist() for text in strings_of_file(archive.read(name))}
    if data.startswith(b"SQLite format 3"):
        return set(_strings_of_checkpoints(data))
    text = data.decode("utf-8-sig", "replace")
    found: set[str] = set()
    position = 0
    decoder = json.JSONDecoder()
    starts = re.compile(r"^(?:data: ?)?(?=[\[{])", re.MULTILINE)
    while match := starts.search(text, position):
        try:
            value, position = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            position = match.end() + 1
            continue
        found.update(strings_of(value))
    if not found and position == 0:
        found.update(line.strip() for line in text.splitlines() if readable(line))
    return found


def _strings_of_checkpoints(data: bytes) -> Iterator[str]:
    """The readable strings in the blobs of a LangGraph database."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(data[:18] + b"\1\1" + data[20:])
        for query in ("SELECT type, checkpoint FROM checkpoints", "SELECT type, value FROM writes"):
            for kind, blob in connection.execute(query):
                if kind == "msgpack":
                    yield from strings_of(unpack(blob))


class _Haystack:
    """Texts in which strings are looked for, also as they look inside JSON text."""

    def __init__(self, texts: list[str]) -> None:
        self.exact: set[str] = set()
        for text in texts:
            self.exact.add(text)
            inner = _parsed(text)
            if inner is not None:
                self.exact.update(strings_of(inner))
        self.joined = "\n".join(texts)
        self.words = " ".join(self.joined.split())

    def __contains__(self, text: str) -> bool:
        if text in self.exact or text in self.joined or text.strip() in self.joined:
            return True
        words = " ".join(text.split())  # a summary puts a text into one line, and may shorten it
        shortened = words.removesuffix("...").removesuffix("…").rstrip()
        if words in self.words or (len(shortened) > SHORTENED and shortened in self.words):
            return True
        escaped = json.dumps(text, ensure_ascii=False)[1:-1]
        if escaped in self.joined or json.dumps(text)[1:-1] in self.joined:
            return True
        if "<details" in text:
            pieces = [html.unescape(piece).lstrip("> ") for piece in _TAG.split(_SUMMARY.sub("", text))]
        else:
            pieces = [_SPEAKER.sub("", line) for line in text.splitlines()]
        pieces = [piece.strip() for piece in pieces if readable(piece)]
        return len(pieces) > 0 and pieces != [text] and all(piece in self.joined for piece in pieces)


def measure(data: bytes, trace: Trace) -> Coverage:
    """Where the readable strings of `data` stand in `trace`."""
    told: list[str] = []
    tools: list[str] = []
    for conversation in trace.conversations:
        for message in conversation.messages:
            told += [message.content, message.reasoning, message.name]
            told += [call.arguments for call in message.tool_calls]
            for part in message.parts:
                told.append(part.text)
                if part.data is not None:
                    told.append(json.dumps(part.data, ensure_ascii=False))
        tools += [
            f"{tool.description}\n{json.dumps(tool.parameters, ensure_ascii=False)}" for tool in conversation.tools
        ]
    meta = [str(value) for value in trace.meta.values()] + [notice.text for notice in trace.notices]
    tools += [conversation.title for conversation in trace.conversations]
    result = Coverage(format=trace.format)
    places = ((_Haystack(told), result.messages), (_Haystack(tools), result.tools), (_Haystack(meta), result.meta))
    for text in strings_of_file(data):
        for haystack, bucket in places:
            if text in haystack:
                bucket.add(text)
                break
        else:
            result.nowhere.add(text)
    return result


def main(arguments: list[str]) -> int:
    """Measure all files given; 1 when one of them misses the mark."""
    verbose = "-v" in arguments
    paths = [Path(argument) for argument in arguments if not argument.startswith("-")]
    files = [
        file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path]) if file.is_file()
    ]
    missed = 0
    print(f"{'messages':>9} {'meta':>6} {'nowhere':>8} {'strings':>8} {'tools':>6}  format, file")
    for file in files:
        data = file.read_bytes()
        try:
            trace = read(data, name=file.name)
        except UnreadableTrace as error:
            print(f"{'unreadable':>41}  {file}: {error}")
            missed += 1
            continue
        found = measure(data, trace)
        good = found.share >= LEAST_IN_MESSAGES and found.share_in_meta <= MOST_IN_META
        missed += not good
        nowhere = len(found.nowhere) / found.total if found.total else 0.0
        row = f"{found.share:9.1%} {found.share_in_meta:6.1%} {nowhere:8.1%} {found.total:8} {len(found.tools):6}"
        print(f"{row}  {found.format}, {file}{'' if good else '   <-- misses the mark'}")
        if verbose:
            for word, bucket in (("only in meta", found.meta), ("nowhere", found.nowhere)):
                for text in sorted(bucket)[:40]:
                    print(f"{'':12}{word}: {text[:150]!r}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
