"""What `sessions --json` says: sessions, checkpoints, payloads and reports, as JSON.

Where `timed` is false the store has no times of its own, and says so with null.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from modelcontext_core.contextstate import HistoryEntry, PayloadRow, SessionHead, VerifyReport, to_json

__all__ = ["entry_json", "head_json", "payload_json", "report_json"]


def head_json(head: SessionHead, *, timed: bool) -> dict[str, Any]:
    """What `list` says of a session."""
    return {
        "session_id": head.session_id,
        "revision": asdict(head.revision),
        "binding": asdict(head.binding),
        "turn_id": head.active.turn_id,
        "event_count": head.event_count,
        "payload_count": head.payload_count,
        "context_bytes": head.context_bytes,
        "committed_at": head.committed_at.isoformat() if timed else None,
    }


def entry_json(entry: HistoryEntry, *, timed: bool) -> dict[str, Any]:
    """What `show` says of a checkpoint."""
    checkpoint = json.loads(to_json(entry.checkpoint))
    del checkpoint["active_context"]
    return {
        "operation_id": entry.operation_id,
        "checkpoint": checkpoint,
        "expected_binding": asdict(entry.expected_binding),
        "new_events": entry.new_events,
        "payloads": [record.ref.ref for record in entry.payloads],
        "context_bytes": entry.context_bytes,
        "context_sha256": entry.context_sha256,
        "committed_at": entry.committed_at.isoformat() if timed else None,
        "attempts": [{**asdict(attempt), "at": attempt.at.isoformat()} for attempt in entry.attempts],
    }


def payload_json(row: PayloadRow) -> dict[str, Any]:
    """What `show` says of a payload."""
    shared = {"stored": row.stored, "uses": row.uses, "holders": row.holders, "sessions": row.sessions}
    return {**json.loads(to_json(row.record)), **shared}


def report_json(report: VerifyReport) -> dict[str, Any]:
    """What `verify` says of a session."""
    return {**asdict(report), "ok": report.ok}
