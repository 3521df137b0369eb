"""Rows and facts of the Sessions page."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from inspector_app import words
from inspector_app.session_list import ListedSession
from inspector_app.views.hidden import displayable
from modelcontext_core.contextstate import (
    Checkpoint,
    HistoryEntry,
    PayloadRow,
    PayloadTotals,
    SessionHead,
    SourceEvent,
    VerifyReport,
)

__all__ = [
    "CONTEXT_SHOWN",
    "break_rows",
    "checkpoint_text",
    "context_text",
    "event_rows",
    "laid_out",
    "operation_rows",
    "payload_rows",
    "session_facts",
    "session_rows",
]

# How many bytes of an active context are shown: more would only keep the browser busy.
CONTEXT_SHOWN: Final = 1024 * 1024
_LONGEST_NAME: Final = 40
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def session_rows(listed: Sequence[ListedSession]) -> list[dict[str, Any]]:
    """Return a row per session of the list. Where the head of one is damaged the revisions are text: a cell without a
    number would be called "None"."""
    damaged = any(each.head is None for each in listed)

    def revision(head: SessionHead | None) -> int | str:
        if head is None:
            return words.sessions.DAMAGED_HEAD
        return str(head.revision.session) if damaged else head.revision.session

    return [
        {
            words.sessions.COLUMN_SESSION: displayable(each.session_id),
            words.sessions.COLUMN_REVISION: revision(each.head),
        }
        for each in listed
    ]


def session_facts(
    head: SessionHead, totals: PayloadTotals, report: VerifyReport | None, *, verifiable: bool
) -> list[dict[str, str]]:
    """Return the facts of one session; "✓" stands there only after everything was read again."""
    binding = head.binding
    facts = [
        {"key": "session", "label": words.sessions.FACT_SESSION, "value": _short(displayable(head.session_id))},
        {
            "key": "revision",
            "label": words.sessions.FACT_REVISION,
            "value": f"{head.revision.session:,}",
            "sub": words.sessions.fact_counters(head.revision.durable, head.revision.source),
        },
        {
            "key": "binding",
            "label": words.sessions.FACT_BINDING,
            "value": f"{_short(displayable(binding.model))} · gen. {binding.generation}",
        },
        {
            "key": "payloads",
            "label": words.sessions.FACT_PAYLOADS,
            "value": f"{totals.rows:,}",
            "sub": words.sessions.fact_payloads(totals.revoked, totals.shared),
        },
        {
            "key": "saved",
            "label": words.sessions.FACT_SAVED,
            "value": words.common.bytes_text(totals.saved_bytes),
        },
    ]
    if verifiable:
        facts.append(_verified(report))
    return facts


def _short(text: str) -> str:
    """A name that fits its fact; the list and the checkpoint show it whole."""
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"


def _verified(report: VerifyReport | None) -> dict[str, str]:
    fact = {"key": "verify", "label": words.sessions.FACT_VERIFY, "note": words.sessions.NOTE_VERIFY}
    if report is None:
        return {**fact, "value": words.sessions.NOT_CHECKED, "tone": "muted"}
    if report.ok:
        return {**fact, "value": words.sessions.fact_verified(report.events, report.payloads), "tone": "good"}
    return {**fact, "value": words.sessions.breaks(len(report.breaks)), "tone": "fault"}


def break_rows(report: VerifyReport) -> list[list[dict[str, str]]]:
    """Return what is broken as rows of a card table: where, what, kind."""
    return [
        [
            {"kind": "mono", "text": displayable(each.where)},
            {"tone": "fault", "text": displayable(each.text)},
            {"text": each.kind.value},
        ]
        for each in report.breaks
    ]


def event_rows(events: Sequence[SourceEvent]) -> list[dict[str, Any]]:
    """Return a row per event."""
    names = words.sessions.EVENT_COLUMNS
    return [
        {
            names["sequence"]: event.id.sequence,
            names["kind"]: displayable(event.kind),
            names["role"]: displayable(event.role),
            names["size"]: event.size,
            names["tool_call_id"]: displayable(event.tool_call_id),
            names["payload_ref"]: displayable(event.payload_ref),
            names["provenance"]: displayable(event.provenance),
            names["redaction_status"]: displayable(event.redaction_status),
        }
        for event in events
    ]


def payload_rows(rows: Sequence[PayloadRow]) -> list[dict[str, Any]]:
    """Return a row per payload that the session holds."""
    names = words.sessions.PAYLOAD_COLUMNS
    return [
        {
            names["ref"]: row.record.ref.ref,
            names["state"]: words.sessions.payload_state(_state(row)),
            names["size"]: row.record.ref.size,
            names["retention"]: displayable(row.record.retention),
            names["uses"]: row.uses,
            names["sessions"]: row.sessions,
            names["saved"]: row.record.ref.size * (row.uses - 1) if row.stored else 0,
            names["namespace"]: displayable(row.record.ref.namespace),
            names["workspace"]: displayable(row.record.ref.workspace_id),
            names["subject"]: displayable(row.record.ref.subject_id),
        }
        for row in rows
    ]


def _state(row: PayloadRow) -> str:
    if row.record.revoked:
        return "revoked"
    if not row.stored:
        return "absent"
    return "shared" if row.holders > 1 else "stored"


def operation_rows(entries: Sequence[HistoryEntry]) -> list[dict[str, Any]]:
    """Return a row per commit, and per attempt that stored nothing, in the order of the timeline."""
    names = words.sessions.OPERATION_COLUMNS
    rows: list[dict[str, Any]] = []
    for entry in entries:
        checkpoint = entry.checkpoint
        rows.append(
            {
                names["revision"]: checkpoint.revision.session,
                names["time"]: _time(entry.committed_at),
                names["operation"]: displayable(entry.operation_id),
                names["outcome"]: words.sessions.outcome("committed"),
                names["events"]: entry.new_events,
                names["payloads"]: len(entry.payloads),
                names["binding"]: displayable(f"{checkpoint.binding.provider}/{checkpoint.binding.model}"),
                names["generation"]: checkpoint.binding.generation,
                names["context"]: entry.context_bytes,
            }
        )
        rows.extend(
            {
                names["revision"]: None,
                names["time"]: _time(attempt.at),
                names["operation"]: displayable(attempt.operation_id),
                names["outcome"]: words.sessions.outcome(attempt.outcome.value),
            }
            for attempt in entry.attempts
        )
    return rows


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S")


# --- texts


def checkpoint_text(checkpoint: Checkpoint) -> str:
    """Return what a checkpoint says of itself, a line each, as JSON."""
    where, binding, revision = checkpoint.id.source_range, checkpoint.binding, checkpoint.revision
    value = {
        "algorithm": checkpoint.id.algorithm,
        "schema_version": checkpoint.id.schema_version,
        "binding": {"provider": binding.provider, "model": binding.model, "generation": binding.generation},
        "revision": {"session": revision.session, "durable": revision.durable, "source": revision.source},
        "events": [where.start.sequence, where.end.sequence],
        "turn": checkpoint.turn_id,
        "operation": checkpoint.id.idempotency_key,
    }
    lines = [f" {json.dumps(name)}: {json.dumps(each, ensure_ascii=False)}" for name, each in value.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def context_text(context: bytes, most: int = CONTEXT_SHOWN) -> str:
    """Return an active context as text: JSON with a line for each value, other text as it is, bytes as hexadecimal."""
    cut = context[:most]
    try:
        text = cut.decode("utf-8") if len(cut) == len(context) else cut.decode("utf-8", errors="ignore")
    except UnicodeDecodeError:
        return "\n".join(cut[at : at + 32].hex(" ") for at in range(0, min(len(cut), 64 * 1024), 32))
    if len(cut) == len(context) and text[:1] in ("{", "["):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return text
        return laid_out(text)
    return text


def laid_out(text: str) -> str:
    """Return JSON with one value a line. Only white space between values changes: none is read and rewritten."""
    lines: list[str] = []
    line, depth, empty = "", 0, False
    for piece in _TOKEN.findall(text):
        if piece in ("}", "]"):
            depth -= 1
            if empty:
                line += piece
            else:
                lines.append(line)
                line = " " * depth + piece
            empty = False
        elif piece == ",":
            lines.append(line + piece)
            line = " " * depth
        elif piece == ":":
            line += ": "
        else:
            if empty:
                lines.append(line)
                line = " " * depth
            line += piece
            empty = piece in ("{", "[")
            depth += empty
    return "\n".join([*lines, line])
