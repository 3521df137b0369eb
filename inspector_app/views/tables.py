"""Rows of the tables: handles, notices, discovered rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inspector_app import words
from inspector_app.views.analysis import Analysis
from inspector_app.views.hidden import displayable
from inspector_app.views.spreadsheet import csv_file
from inspector_app.views.texts import all_texts
from modelcontext_core.errors import PolicyError
from modelcontext_core.formats.base import Conversation, Notice

if TYPE_CHECKING:
    from modelcontext_core.policies import Proposal

__all__ = ["conversation_rows", "fault_rows", "handle_rows", "handles_csv", "notice_rows", "parent_of", "rule_rows"]

_LONGEST_CELL = 160


def handle_rows(analysis: Analysis, query: str = "") -> list[dict[str, Any]]:
    """Return a row per handle, under the names of `words.common.HANDLE_COLUMNS`; `query` keeps those that hold it."""
    names = words.common.HANDLE_COLUMNS
    wanted = query.strip().lower()
    return [
        {
            names["handle"]: row.handle,
            names["durable"]: displayable(row.durable),
            names["space"]: words.common.space_name(row.space),
            names["citable"]: row.citable,
            names["first"]: first_message(analysis, number),
            names["path"]: span.path if (span := analysis.first_span.get(number)) else row.first_path,
            names["uses"]: row.uses,
        }
        for number, row in enumerate(analysis.handles)
        if not wanted or wanted in row.handle.lower() or wanted in row.durable.lower()
    ]


def first_message(analysis: Analysis, identity: int) -> int | None:
    """Return the first message in which an identity was replaced, or None."""
    span = analysis.first_span.get(identity)
    return span.message if span else None


def handles_csv(analysis: Analysis) -> bytes:
    """Return the handle table as CSV; cells that a spreadsheet would run as a formula get an apostrophe."""
    names = ("handle", "durable", "space", "citable", "first_message", "first_path", "uses")
    return csv_file(names, ([getattr(row, name) for name in names] for row in analysis.handles))


def notice_rows(notices: Sequence[Notice]) -> list[list[dict[str, str]]]:
    """Return the notices as rows of a card table: where, what, kind."""
    tones = {"damaged": "fault", "error": "fault", "limit": "fault", "merged": "good"}
    return [
        [
            {"kind": "mono", "text": displayable(notice.where)},
            {"tone": tones.get(notice.kind, "warning"), "text": displayable(notice.text)},
            {"text": words.opening.notice_kind(notice.kind)},
        ]
        for notice in notices
    ]


def parent_of(conversations: Sequence[Conversation], number: int) -> tuple[int, int] | None:
    """Return the number of the conversation that conversation `number` branches from, and after how many messages."""
    child = conversations[number - 1]
    found = (at for at, each in enumerate(conversations, 1) if child.parent and each.id == child.parent)
    parent = next(found, None)
    return None if parent is None else (parent, child.after)


def conversation_rows(conversations: Sequence[Conversation]) -> list[dict[str, Any]]:
    """Return a row per conversation, under the names of `words.sources.CONVERSATION_COLUMNS`; branches name theirs."""
    names = words.sources.CONVERSATION_COLUMNS
    numbers = {each.id: number for number, each in enumerate(conversations, 1) if each.id}
    return [
        {
            names["number"]: number,
            names["title"]: _short(each.title or each.id),
            names["messages"]: len(each.messages),
            names["branch"]: words.sources.branch(numbers[each.parent], each.after) if each.parent in numbers else "",
            names["first"]: _short(_first_words(each)),
        }
        for number, each in enumerate(conversations, 1)
    ]


def _first_words(conversation: Conversation) -> str:
    said = [(message.role, text) for message in conversation.messages[:6] for text in all_texts([message]) if text]
    return next((text for role, text in said if role == "user"), said[0][1] if said else "")


def _short(text: str) -> str:
    shown = displayable(text[:_LONGEST_CELL])
    return shown + "…" if len(text) > _LONGEST_CELL else shown


def fault_rows(faults: Sequence[PolicyError]) -> list[list[dict[str, str]]]:
    """Return what is wrong with a pack as rows of a card table: key or file, reason."""
    return [
        [
            {"kind": "mono", "text": displayable(fault.path or fault.source)},
            {"tone": "fault", "text": displayable(fault.reason)},
        ]
        for fault in faults
    ]


def rule_rows(proposals: Sequence[Proposal], off: frozenset[int]) -> list[dict[str, Any]]:
    """Return the discovered rules as rows of an editable table, the switch first."""
    return [
        {
            words.playground.RULE_ON: number not in off,
            words.playground.RULE_TOOL: displayable(proposal.tool),
            words.playground.RULE_WHERE: words.playground.rule_where(proposal.where, bool(proposal.key)),
            words.playground.RULE_KEY: displayable(proposal.key),
            words.playground.RULE_SPACE: words.common.space_name(proposal.space),
            words.playground.RULE_WHY: words.playground.rule_reason(
                proposal.kind, proposal.count, proposal.distinct, proposal.strings
            ),
            words.playground.RULE_EXAMPLE: displayable(proposal.examples[0] if proposal.examples else ""),
        }
        for number, proposal in enumerate(proposals)
    ]
