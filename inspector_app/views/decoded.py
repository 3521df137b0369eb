"""What becomes of a model's answer or of the arguments of its call: both forms, and what was not restored."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from inspector_app import words
from inspector_app.views.alignment import DROPPED, IDENTITY, KEPT, Mark, align, bases_after, narrowed
from inspector_app.views.analysis import Analysis
from inspector_app.views.hidden import displayable
from inspector_app.views.linked import identities, looks_structured
from inspector_app.views.spaces import family
from modelcontext_core.grammar import handle_tokens
from modelcontext_core.messages import ToolCall

if TYPE_CHECKING:
    from modelcontext_core.decode import DecodeItem, DecodeReport

__all__ = ["CallText", "answer_view", "call_view", "item_rows", "last_answer", "read_call", "resolution_rows"]

_RESTORED: Final = "restored"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallText:
    """A tool call as it was typed: name ("" when only arguments were given) and arguments."""

    name: str
    arguments: str


def last_answer(analysis: Analysis) -> str:
    """Return the last answer of the conversation as the model wrote it, for a field, which cannot hold halves of
    surrogate pairs; "" when there is none."""
    found = next((one.content for one in reversed(analysis.encoded) if one.role == "assistant" and one.content), "")
    return re.sub("[\ud800-\udfff]", "\ufffd", found)


def answer_view(analysis: Analysis, report: DecodeReport, text: str) -> dict[str, Any]:
    """Return an answer and what a reader sees as one block of the linked view."""
    marks = [mark for item in report.items for mark in _marks(analysis, item, text, report.text)]
    restored = sum(item.kind == _RESTORED for item in report.items)
    kinds = [mark.kind for mark in marks]
    notes = words.decoding.items_note(restored, kinds.count(KEPT), kinds.count(DROPPED))
    rows = align(text, report.text, marks)
    return _view(analysis, words.decoding.BLOCK_ANSWER, "", rows, notes, mono=looks_structured(text), marks=marks)


def call_view(analysis: Analysis, call: ToolCall, text: str) -> dict[str, Any]:
    """Return the arguments of a call before and after `decode_tool_calls` as one block of the linked view."""
    marks = _argument_marks(analysis, text, call.arguments)
    rows = align(text, call.arguments, marks)
    tone = "fault" if call.unresolved_handles else "good"
    notes = [[tone, words.decoding.resolution(call.argument_resolution)]]
    return _view(analysis, words.decoding.BLOCK_CALL, displayable(call.name), rows, notes, mono=True, marks=marks)


def item_rows(analysis: Analysis, report: DecodeReport, text: str) -> list[list[dict[str, str]]]:
    """Return a row for each item that was not restored: as written, what it is, nearest issued, what happened."""
    return [_item_row(analysis, item, text) for item in report.items if item.kind != _RESTORED]


def resolution_rows(call: ToolCall) -> list[list[dict[str, str]]]:
    """Return a row for each handle in a call's arguments that could not be restored."""
    return [
        [{"kind": "mono", "text": displayable(handle)}, {"tone": "fault", "text": words.decoding.UNRESOLVED_HANDLE}]
        for handle in call.unresolved_handles
    ]


def read_call(text: str, name: str) -> CallText:
    """Understand what was typed as a call: bare arguments, or an object with `name` and `arguments` (or `input`).

    `function` of an OpenAI call is looked into. A `name` given apart wins. Arguments that are an object are written
    out as they stand; text that is no JSON is passed on as it is, for the decoder to judge.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return CallText(name=name, arguments=text)
    holder = value.get("function", value) if isinstance(value, dict) else None
    if not isinstance(holder, dict) or not isinstance(holder.get("name"), str):
        return CallText(name=name, arguments=text)
    for key in ("arguments", "input", "args"):
        if key in holder:
            given = holder[key]
            arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            return CallText(name=name or holder["name"], arguments=arguments)
    return CallText(name=name, arguments=text)


def _view(
    analysis: Analysis,
    role: str,
    name: str,
    rows: Sequence[object],
    notes: list[list[str]],
    *,
    mono: bool,
    marks: Sequence[Mark],
) -> dict[str, Any]:
    section = {"path": "content", "kind": "content", "label": "", "name": "", "mono": mono, "rows": list(rows)}
    one = {"index": "", "role": role, "name": name, "id": "", "notes": notes, "sections": [section], "value": None}
    return {
        "part": 0,
        "parts": 1,
        "blocks": [{**one, "piece": ""}],
        "identities": identities(analysis, {mark.identity for mark in marks}),
    }


def _marks(analysis: Analysis, item: DecodeItem, text: str, decoded: str) -> list[Mark]:
    left = item.out_end > item.out_start
    restored = item.kind == _RESTORED
    mark = Mark(
        start=item.start,
        end=item.end,
        out_start=item.out_start,
        out_end=item.out_end,
        kind=IDENTITY if restored else KEPT if left else DROPPED,
        identity=analysis.identity_of.get(item.handle, -1) if restored else -1,
    )
    if not restored:
        return [mark]
    narrow = narrowed(mark, text, decoded, item.handle, item.durable)
    return [narrow, *bases_after(narrow, mark, text, decoded, analysis.bases)]


def _argument_marks(analysis: Analysis, before: str, after: str) -> list[Mark]:
    """Find the restored handles of arguments: what stands between two handles is the same in both texts.

    When that does not hold (a call was unwrapped, its string escapes written anew) nothing is marked but the whole.
    """
    marks: list[Mark] = []
    cursor = out = 0
    tokens = list(handle_tokens(before))
    for number, token in enumerate(tokens):
        shared = before[cursor : token.start]
        if not after.startswith(shared, out):
            return [Mark(start=0, end=len(before), out_start=0, out_end=len(after))]
        out += len(shared)
        following = before[token.end : tokens[number + 1].start] if number + 1 < len(tokens) else before[token.end :]
        end = after.find(following, out) if following else len(after)
        if end < 0:
            return [Mark(start=0, end=len(before), out_start=0, out_end=len(after))]
        handle = before[token.start : token.end]
        kept = after[out:end] == handle
        identity = -1 if kept else analysis.identity_of.get(handle.lower(), -1)
        kind = KEPT if kept else IDENTITY
        marks.append(Mark(start=token.start, end=token.end, out_start=out, out_end=end, kind=kind, identity=identity))
        cursor, out = token.end, end
    if before[cursor:] != after[out:]:
        return [Mark(start=0, end=len(before), out_start=0, out_end=len(after))]
    return marks


def _item_row(analysis: Analysis, item: DecodeItem, text: str) -> list[dict[str, str]]:
    near = next((row for row in analysis.handles if row.handle == item.nearest), None)
    of_space = [row.handle for row in analysis.handles if near is not None and row.space == near.space]
    first, last = (of_space[0], of_space[-1]) if of_space else ("", "")
    left = item.out_end > item.out_start
    return [
        {"kind": "mono", "text": displayable(item.written)},
        {
            "tone": "warning" if left else "fault",
            "text": words.decoding.item_meaning(item.reason, len(of_space), first, last),
        },
        {"kind": "identity", "text": item.nearest, "space": family(near.space) if near else ""},
        {"text": words.decoding.item_outcome(left, text[item.start : item.start + 1] == "<")},
    ]
