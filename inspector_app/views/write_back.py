"""Write a trace again in its own format, with handles where its ids stood.

The source stays as it is, byte for byte, but for the strings that hold texts of messages: each of those is found by
the place that the reader recorded (`Origin.texts`) and gets the encoded text, if the text stands there as it was read.
Every other string of the source (titles, metadata, a second copy of a message) has the ids replaced that the registry
knows. The result can be opened again.

Sources that are JSON or lines of JSON can be written back, unpacked where they were packed with gzip; streams, archives
and plain dumps cannot.
"""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from inspector_app.views.analysis import Analysis
from inspector_app.views.texts import texts
from modelcontext_core import jsontext
from modelcontext_core.formats.base import Origin, Trace
from modelcontext_core.messages import Tool

__all__ = ["can_write_back", "write_back"]

_LINE: Final = re.compile(r"\bline ([0-9]+)$")
_NESTED: Final = "::json"
_GZIP: Final = b"\x1f\x8b"
_OPENERS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')

# By place, for one record: the text that must stand there now, and its new form.
_Edits = Mapping[str, tuple[str, str]]


def can_write_back(trace: Trace, data: bytes) -> bool:
    """Return whether `write_back` can write this source: JSON or lines of JSON in UTF-8, one
    conversation, read without a break."""
    broken = any(notice.kind in ("damaged", "limit") for notice in trace.notices)
    if broken or trace.stream or len(trace.conversations) != 1:
        return False
    text = _text(data)
    if text is None or text.lstrip()[:1] not in ("{", "["):
        return False
    # Documents that stand in a row over several lines are neither.
    return jsontext.is_valid(text) or all(jsontext.is_valid(line) for line in text.split("\n") if line.strip())


def write_back(trace: Trace, data: bytes, analysis: Analysis) -> bytes:
    """Return `data` with the encoded texts of `analysis` in the places of the originals.

    Raises `ValueError` when `can_write_back` says no.
    """
    text = _text(data)
    if text is None or not can_write_back(trace, data):
        raise ValueError("this source cannot be written back")
    by_record = _edits(trace.conversations[0].origins, analysis)
    copies = _tool_texts(analysis) | _copies(by_record)
    if jsontext.is_valid(text):
        whole = {place: new for record in by_record.values() for place, new in record.items()}
        return _bytes(_rewrite(text, whole if len(by_record) == 1 else {}, copies, analysis))
    written = [
        _rewrite(line, by_record.get(number, {}), copies, analysis) if line.strip() else line
        for number, line in enumerate(text.split("\n"), 1)
    ]
    return _bytes("\n".join(written))


def _edits(origins: Sequence[Origin], analysis: Analysis) -> dict[int, dict[str, tuple[str, str]]]:
    """The new text of each place, by the number of its line (0: the whole source)."""
    result: dict[int, dict[str, tuple[str, str]]] = defaultdict(dict)
    for origin, before, after in zip(origins, analysis.messages, analysis.encoded, strict=False):
        named = _LINE.search(origin.record)
        number = int(named[1]) if named else 0
        new_texts = {item.path: item.text for item in texts(after)}
        for item in texts(before):
            places = [place for path, place in origin.texts if path == item.path]
            # A text that was joined of several pieces has no single place: its pieces are rewritten one by one below.
            if len(places) == 1 and item.path in new_texts:
                place = places[0] if places[0].startswith("$") else origin.path + places[0]
                result[number][place] = (item.text, new_texts[item.path])
    return result


def _copies(by_record: Mapping[int, _Edits]) -> dict[str, str]:
    """What each text became, where it became the same everywhere: a second copy of a message must remain one."""
    found: dict[str, str] = {}
    differing = set()
    for edits in by_record.values():
        for before, after in edits.values():
            if found.setdefault(before, after) != after:
                differing.add(before)
    return {before: after for before, after in found.items() if before and before not in differing}


def _tool_texts(analysis: Analysis) -> dict[str, str]:
    """What each description and each routing id of the tool definitions became: readers record no places of these."""
    found: dict[str, str] = {}
    for before, after in zip(analysis.tools, analysis.registry.encode_tools(analysis.tools), strict=True):
        found[before.description] = after.description
        found.update(zip(_enum_values(before), _enum_values(after), strict=True))
    return {before: after for before, after in found.items() if before != after}


def _enum_values(tool: Tool) -> list[str]:
    properties = tool.parameters.get("properties")
    schemas = properties.values() if isinstance(properties, dict) else ()
    listed = [schema["enum"] for schema in schemas if isinstance(schema, dict) and isinstance(schema.get("enum"), list)]
    return [value for values in listed for value in values if isinstance(value, str)]


def _rewrite(text: str, edits: _Edits, copies: Mapping[str, str], analysis: Analysis) -> str:
    """Return valid JSON with the edits made, in copies of their texts too, and known ids replaced in every string that
    no edit covers."""
    inner: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    direct: dict[str, tuple[str, str]] = {}
    for place, change in edits.items():
        outer, separator, rest = place.partition(_NESTED)
        if separator:
            inner[outer]["$" + rest] = change
        else:
            direct[place] = change
    found = [item for item in jsontext.strings(text) if not item.is_key]
    places = jsontext.paths_of(text, [item.start for item in found])
    named = [item.start for item, place in zip(found, places, strict=True) if place in direct or place in inner]
    changes = _object_changes(text, direct, copies, named)
    covered = [(start, end) for start, end, _ in changes]
    for item, place in zip(found, places, strict=True):
        if _within(covered, item.start):
            continue
        value = jsontext.unquote(text[item.start : item.end])
        if place in direct and direct[place][0] == value:
            new = direct[place][1]
        elif place in inner and jsontext.is_valid(value):
            new = _rewrite(value, inner[place], copies, analysis)
        elif value in copies:
            new = copies[value]
        elif value.lstrip()[:1] in ("{", "[", '"') and jsontext.is_valid(value):
            new = _rewrite(value, {}, copies, analysis)
        else:
            new = analysis.registry.compact_known_text(value)
        if new != value:
            changes.append((item.start, item.end, jsontext.quote(new)))
    return jsontext.splice(text, changes)


def _object_changes(
    text: str, direct: _Edits, copies: Mapping[str, str], named: Sequence[int]
) -> list[tuple[int, int, str]]:
    """Arguments that stand as an object in the source: its place, and the encoded JSON text as it is, in order.

    What holds an edit of its own, a string at one of the positions `named` included, is no copy.
    """
    lengths = {len(before) for before in copies}
    objects = _objects(text)
    alike = [(start, end) for start, end in objects if end - start in lengths and text[start:end] in copies]
    spans = objects if direct else []
    places = jsontext.paths_of(text, [start for start, _ in spans])
    own = [
        (start, end, direct[place][1])
        for (start, end), place in zip(spans, places, strict=True)
        if place in direct and direct[place][0] == text[start:end]
    ]
    edited = sorted([*named, *(start for start, _, _ in own)])
    copied = [
        (start, end, copies[text[start:end]])
        for start, end in alike
        if bisect_left(edited, start) == bisect_left(edited, end)
    ]
    changes: list[tuple[int, int, str]] = []
    for change in sorted([*own, *copied]):
        if not changes or changes[-1][1] <= change[0]:
            changes.append(change)
    return changes


def _objects(text: str) -> list[tuple[int, int]]:
    """The spans of all objects and arrays of valid JSON, in the order in which they begin."""
    opened: list[int] = []
    spans: list[tuple[int, int]] = []
    for match in _OPENERS.finditer(text):
        if match[0] in "{[":
            opened.append(match.start())
        elif match[0] in "}]":
            spans.append((opened.pop(), match.end()))
    return sorted(spans)


def _within(spans: Sequence[tuple[int, int]], position: int) -> bool:
    """Whether a position lies in one of the spans, which stand in order and do not overlap."""
    at = bisect_right(spans, (position, sys.maxsize)) - 1
    return at >= 0 and position < spans[at][1]


def _text(data: bytes) -> str | None:
    try:
        # The reader has unpacked it before, within its limits.
        return (gzip.decompress(data) if data.startswith(_GZIP) else data).decode("utf-8")
    except (UnicodeDecodeError, OSError, EOFError, zlib.error):
        return None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogatepass")
