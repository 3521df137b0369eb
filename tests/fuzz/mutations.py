"""Damage: bytes, texts and JSON values that are nearly right, and texts that hurt whoever shows them."""

from __future__ import annotations

import gzip
import io
import json
import random
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, Final

__all__ = ["HOSTILE", "damaged", "documents", "mutated", "packed", "places", "rebuilt", "spelt"]

HOSTILE: Final = (
    "",
    "\0",
    "\ud800",
    "\udfff x",
    "\u202e\u2066abc\u2069",
    "\u200b\ufeff\u00ad",
    "\x1b[2J\x1b]0;x\x07",
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "{{7*7}}${7*7}<%= 7 %>",
    "__proto__",
    "e\u0301" + "\u0301" * 300,
    "W" * 3000,
    "\u2028\u2029\u0085\x0b\x0c",
    "::json",
    "$.messages[0]",
    "../../etc/passwd",
    "data:text/html,<b>",
    "NaN",
    "9" * 400,
    "line 7",
)
_ODD: Final[Sequence[Any]] = (
    *(None, True, False, 0, -1, -0.0, 1.5, 1e308, 2**53 + 1, 2**64, -(2**70), 10**30, "", "text", [], {}, [None]),
    *({"type": "text"}, {"type": "text", "text": None}, {"role": 7}, {"role": "user"}, [{"role": "tool"}], "{}", "[1]"),
    *('{"a": [1, {"b": "c"}]}', float("nan"), float("inf"), {"": {"": ""}}, "2026-01-01T00:00:00Z", 1767225600),
)  # fmt: skip
_PACKINGS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_MEMBERS: Final = (
    *("conversations.json", "conversations.json", "a/b.jsonl", "trace.json", "x.eval", "journal/summaries.json"),
    *("../../etc/passwd", "/x.json", "a\\b.json", "\u202ex.json", "__MACOSX/._x.json", "a/", "x" * 300, ".hidden.json"),
)
_TOKENS: Final = (
    *(b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"\n", b"\r", b"\r\n", b"\n\n", b"\0", b"\xff", b"\xc3", b" "),
    *(b"data: ", b"data:[DONE]\n\n", b"event: x\n", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"null"),
    *(b'"\\ud800"', b"\\u0000", b"1e999", b"NaN", b"-", b"0x1", b"//c\n", b"/*", b"\xe2\x80\xa8", b"'", b"\x1f\x8b"),
    *(b"PK\x03\x04", b"SQLite format 3\0", b"[" * 40, b'{"a":' * 40, b"9" * 5000, b"true", b'{"role":"user"}'),
)  # fmt: skip


def damaged(rng: random.Random, data: bytes) -> bytes:
    """The bytes with one to four things wrong: cut, flipped, doubled, moved, or with pieces of something else."""
    for _ in range(rng.randint(1, 4)):
        size = len(data)
        at, to = sorted((rng.randint(0, size), rng.randint(0, size)))
        if to - at > 2000 and rng.random() < 0.7:
            to = at + rng.randint(0, 40)
        kind = rng.randrange(9)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + data[to:]
        elif kind == 2:
            data = data[:to] + data[at:to] + data[to:]
        elif kind == 3 and size:
            wrong = bytearray(data)
            for _ in range(rng.randint(1, 5)):
                wrong[rng.randrange(size)] = rng.randrange(256)
            data = bytes(wrong)
        elif kind == 4:
            lines = data.splitlines(keepends=True)
            rng.shuffle(lines) if rng.random() < 0.3 else lines.reverse()
            data = b"".join(lines)
        elif kind == 5:
            data = data[at:]
        else:
            data = data[:at] + rng.choice(_TOKENS) + data[at:]
    return data


def packed(rng: random.Random, data: bytes) -> bytes:
    """The bytes as they are, or in one of the wrappings that a reader undoes."""
    kind = rng.randrange(20)
    if kind == 0:
        return gzip.compress(data, mtime=0)[: rng.choice((None, -1, 20, -9))]
    if kind == 1:
        return b"\xef\xbb\xbf" + data
    if kind == 2:
        return data + b"\0" * rng.choice((1, 7, 512))
    if kind == 3:
        return data.decode("utf-8", "replace").encode(rng.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32")))
    if kind == 4:
        return data.replace(b"\n", b"\r\n")
    return _zipped(rng, data) if kind == 5 else data


def _zipped(rng: random.Random, data: bytes) -> bytes:
    """An archive that holds the bytes, some of them or none, under names that are right or wrong, at times damaged."""
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", rng.choice(_PACKINGS)) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
            name = rng.choice(_MEMBERS)
            archive.writestr(zipfile.ZipInfo(name or "x", (2026, 1, 1, 0, 0, 0)), data if rng.random() < 0.8 else b"{}")
    packed = out.getvalue()
    return damaged(rng, packed) if rng.random() < 0.4 else packed


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a JSON value with each of its keys."""
    queue = [value]
    for container in queue:
        members = container.items() if isinstance(container, dict) else enumerate(container)
        for key, member in members:
            yield container, key
            if isinstance(member, dict | list):
                queue.append(member)


def mutated(rng: random.Random, value: Any, extra: Sequence[Any] = ()) -> Any:
    """A copy of a JSON value with one to four members gone, renamed, doubled, exchanged or of another type."""
    value = [deepcopy(value)]
    for _ in range(rng.randint(1, 4)):
        found = list(places(value))
        container, key = rng.choice(found[1:] if len(found) > 1 and rng.random() < 0.98 else found)
        kind = rng.random()
        if kind < 0.2 and isinstance(container, dict):
            del container[key]
        elif kind < 0.3 and isinstance(container, dict):
            container[rng.choice(HOSTILE)] = container.pop(key)
        elif kind < 0.4:
            other, place = rng.choice(found)
            try:
                container[key] = deepcopy(other[place])
            except (KeyError, IndexError):
                continue
        elif kind < 0.5 and isinstance(container, list) and container:
            container.insert(rng.randint(0, len(container)), deepcopy(rng.choice(container)))
        elif kind < 0.58:
            container[key] = json.dumps(container[key])
        elif kind < 0.75:
            container[key] = rng.choice(HOSTILE)
        elif kind < 0.8:
            container[key] = _nested(rng, container[key])
        elif kind < 0.9 and extra:
            container[key] = deepcopy(rng.choice(extra))
        else:
            container[key] = deepcopy(rng.choice(_ODD))
    return value[0]


def _nested(rng: random.Random, value: Any) -> Any:
    """A value deep inside lists or objects."""
    for _ in range(rng.choice((1, 2, 30, 90))):
        value = [value] if rng.random() < 0.5 else {"content": value}
    return value


def documents(data: bytes) -> list[Any]:
    """The JSON documents of a source: itself, its lines or its events."""
    text = data.decode("utf-8", "replace")
    try:
        return [json.loads(text)]
    except ValueError:
        pass
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line.removeprefix("data:")))
        except ValueError:
            continue
    return found


def spelt(rng: random.Random, value: Any) -> str:
    """A value as JSON text, with one of several spacings and spellings; now and then a key is there twice."""
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, None, None, 1)))
    if rng.random() < 0.05:
        text = text.replace("/", "\\/")
    if rng.random() < 0.05 and text.startswith("{") and len(text) > 2:
        text = '{"role": "user", "n": 12345678901234567890.0, ' + text[1:]
    return text


def rebuilt(rng: random.Random, data: bytes, extra: Sequence[Any] = ()) -> bytes:
    """A source made of JSON, written again with one of its documents mutated; other sources are damaged."""
    found = documents(data)
    if not found:
        return damaged(rng, data)
    at = rng.randrange(len(found))
    try:
        found[at] = mutated(rng, found[at], extra)
    except RecursionError:  # nested more deeply than a value can be copied
        return damaged(rng, data)
    frame = "data: {}\n\n" if b"\ndata:" in data or data.startswith(b"data:") else "{}\n"
    return "".join(frame.format(spelt(rng, each)) for each in found).encode("utf-8", "surrogatepass")
