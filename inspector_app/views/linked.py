"""What the linked view draws: blocks of rows, the identities in them, and the parts that a long trace is cut into."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from inspector_app import words
from inspector_app.views.alignment import LEFT, MISSED, RAW, Mark, Row, align, bases_after, fold, narrowed
from inspector_app.views.analysis import Analysis
from inspector_app.views.hidden import displayable, hidden_count, one_line
from inspector_app.views.spaces import family, tag
from inspector_app.views.texts import Text, message_value, texts
from modelcontext_core.grammar import find_uuids
from modelcontext_core.messages import Message
from modelcontext_core.registry import Span

__all__ = [
    "PART_CHARACTERS",
    "Part",
    "block",
    "identities",
    "looks_structured",
    "next_raw",
    "part_of",
    "plan",
    "view_part",
]

PART_CHARACTERS: Final = 256 * 1024
_MOST_MESSAGES_NAMED: Final = 5_000
_STRUCTURED: Final = re.compile(r"\s*[\[{<|]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is loaded at once: whole messages `first` to `last` (excluded), or piece `piece` of `pieces` of one."""

    first: int
    last: int
    piece: int = 0
    pieces: int = 1


def plan(messages: Sequence[Message], limit: int = PART_CHARACTERS) -> list[Part]:
    """Cut a conversation into parts of about `limit` characters; at least one part, even for an empty one."""
    parts: list[Part] = []
    first = size = 0
    for index, message in enumerate(messages):
        length = sum(len(item.text) for item in texts(message)) + 200
        if size and size + length > limit:
            parts.append(Part(first=first, last=index))
            first, size = index, 0
        if length > limit * 5 // 4:
            pieces = -(-length // limit)
            parts.extend(Part(first=index, last=index + 1, piece=piece, pieces=pieces) for piece in range(pieces))
            first, size = index + 1, 0
        else:
            size += length
    if first < len(messages) or not parts:
        parts.append(Part(first=first, last=len(messages)))
    return parts


def part_of(parts: Sequence[Part], message: int) -> int:
    """Return the number of the part that holds (the beginning of) `message`; 0 when there is none."""
    return next((number for number, part in enumerate(parts) if part.first <= message < part.last), 0)


def next_raw(analysis: Analysis, message: int, *, back: bool = False) -> int | None:
    """Return the next message with raw ids after `message` (with `back`: before), round the end; None without any."""
    found = sorted(analysis.leaks_by_message)
    ahead = [index for index in found if (index < message if back else index > message)]
    if not found:
        return None
    return (ahead or found)[-1 if back else 0]


def view_part(analysis: Analysis, parts: Sequence[Part], number: int) -> dict[str, Any]:
    """Return part `number` as the linked view takes it: its blocks and the identities that occur in them."""
    part = parts[number]
    seen: set[int] = set()
    blocks = [block(analysis, index, part, seen) for index in range(part.first, part.last)]
    return {
        "part": number,
        "parts": len(parts),
        "blocks": blocks,
        "identities": identities(analysis, seen),
    }


def block(analysis: Analysis, index: int, part: Part, seen: set[int]) -> dict[str, Any]:
    """Return one message as a block; the identities that occur in it are added to `seen`."""
    before, after = analysis.messages[index], analysis.encoded[index]
    encoded_texts = {item.path: item for item in texts(after)}
    leaks = analysis.leaks_by_message.get(index, {})
    of_user = before.role == "user"
    sections: list[dict[str, Any]] = []
    number, hidden = 1, 0
    for item in texts(before):
        spans = analysis.spans_by_text.get((index, item.path), ())
        right = encoded_texts[item.path].text if item.path in encoded_texts else item.text
        marks = [mark for span in spans for mark in _marks(analysis, span, item.text, right)]
        rows = align(
            item.text,
            right,
            marks,
            raw_ids=find_uuids if leaks or of_user else None,
            raw_kind=lambda value: _raw_kind(leaks, value, of_user),
            first_number=number,
        )
        seen.update(mark.identity for mark in marks)
        number += sum(1 for row in rows if row[0])
        hidden += hidden_count(item.text)
        sections.append(_section(item, before, rows))
    sections = _piece(sections, part)
    return {
        "index": index,
        "role": one_line(before.role),
        "name": one_line(before.name or (before.tool_calls[0].name if before.tool_calls else "")),
        "id": one_line(before.tool_call_id or (before.tool_calls[0].id if before.tool_calls else "")),
        "notes": _notes(analysis, index, hidden, _left_ids(sections) if of_user else 0),
        "sections": [{**section, "rows": fold(section["rows"])} for section in sections],
        # Without the texts, which stand in the rows already; a piece cannot be copied as a message.
        "value": _without_texts(before) if part.pieces == 1 else None,
        "piece": words.common.piece_of(part.piece + 1, part.pieces) if part.pieces > 1 else "",
    }


def identities(analysis: Analysis, wanted: set[int]) -> dict[int, dict[str, Any]]:
    """Return what the detail strip says about each wanted identity, by its number."""
    result: dict[int, dict[str, Any]] = {}
    for number in sorted(wanted - {-1}):
        row = analysis.handles[number]
        where = analysis.messages_of.get(number, ())
        message, path, line = _first(analysis, number)
        result[number] = {
            "handle": row.handle,
            "durable": row.durable,
            "shown": displayable(row.durable),
            "space": family(row.space),
            "spaceName": words.common.space_name(row.space),
            "tag": tag(row.handle, row.space),
            "citable": words.common.citable(row.citable, row.space),
            "first": words.common.first_seen(message, line),
            "path": f"messages[{message}].{path}" if message >= 0 else "",
            "used": words.common.used(row.uses, len(where)),
            "messages": where[:_MOST_MESSAGES_NAMED],
        }
    return result


def looks_structured(text: str) -> bool:
    """Return whether a text is JSON, markup or a table rather than prose, and is set in a fixed-width face."""
    return bool(_STRUCTURED.match(text))


def _marks(analysis: Analysis, span: Span, left: str, right: str) -> list[Mark]:
    identity = analysis.identity_of.get(span.handle, -1)
    mark = Mark(start=span.start, end=span.end, out_start=span.out_start, out_end=span.out_end, identity=identity)
    if identity < 0:
        return [mark]
    narrow = narrowed(mark, left, right, analysis.handles[identity].durable, span.handle)
    return [narrow, *bases_after(narrow, mark, left, right, analysis.bases)]


def _raw_kind(leaks: Mapping[str, bool], value: str, of_user: bool) -> str:
    known = leaks.get(value.lower())
    if known is None:
        return LEFT if of_user else ""
    return MISSED if known else RAW


def _left_ids(sections: Sequence[Mapping[str, Any]]) -> int:
    segments = (segment for section in sections for row in section["rows"] for segment in row[1])
    return len({segment[1].lower() for segment in segments if isinstance(segment, list) and segment[0] == LEFT})


def _section(item: Text, message: Message, rows: list[Row]) -> dict[str, Any]:
    several_calls = item.kind == "arguments" and len(message.tool_calls) > 1
    structured = item.kind == "arguments" or message.role == "tool" or looks_structured(item.text)
    return {
        "path": item.path,
        "kind": item.kind,
        "label": one_line(item.name) if item.kind == "aside" else words.common.section_label(item.kind),
        "name": one_line(f"{item.name}  {item.call_id}") if several_calls else "",
        "mono": structured,
        "rows": rows,
    }


def _notes(analysis: Analysis, index: int, hidden: int, left: int) -> list[list[str]]:
    replaced = len(analysis.spans_by_message.get(index, ()))
    raw = len(analysis.leaks_by_message.get(index, {}))
    notes = [["muted", words.common.replaced(replaced)]] if replaced else []
    if left:
        notes.append(["muted", words.common.left_on_purpose(left)])
    if hidden:
        notes.append(["warning", words.common.hidden_characters(hidden)])
    if raw:
        notes.append(["fault", words.common.raw_ids_left(raw)])
    return notes


def _first(analysis: Analysis, identity: int) -> tuple[int, str, int]:
    """Return message, path and line (as the rows count) of the first place where an identity was replaced.

    Where it was registered may be later in the text: citations are read before results are mined.
    """
    span = analysis.first_span.get(identity)
    if span is None:
        row = analysis.handles[identity]
        return row.first_message, row.first_path, 0
    number = 1
    for item in texts(analysis.messages[span.message]):
        if item.path == span.path:
            return span.message, span.path, number + item.text.count("\n", 0, span.start)
        number += item.text.count("\n") + 1
    return span.message, span.path, 0


def _piece(sections: list[dict[str, Any]], part: Part) -> list[dict[str, Any]]:
    """Keep the rows of one piece of a message that is too long to be loaded at once."""
    if part.pieces == 1:
        return sections
    rows = list(_numbered(sections))
    each = -(-len(rows) // part.pieces)
    wanted = rows[part.piece * each : (part.piece + 1) * each]
    kept: dict[int, list[Row]] = {}
    for number, row in wanted:
        kept.setdefault(number, []).append(row)
    return [{**sections[number], "rows": rows_of} for number, rows_of in kept.items()]


def _numbered(sections: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Row]]:
    for number, section in enumerate(sections):
        for row in section["rows"]:
            yield number, row


def _without_texts(message: Message) -> dict[str, Any]:
    value = message_value(message)
    value.pop("content", None)
    value.pop("reasoning", None)
    for part in value.get("parts", ()):
        part.pop("text", None)
        # Bodies of images and files are opaque, and may be large.
        if "data" in part:
            part["data"] = "…"
    for call in value.get("tool_calls", ()):
        call.pop("arguments", None)
    return value
