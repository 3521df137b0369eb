"""The sample store: its exports are replayed as they were committed, with the attempts in between.

An export leaves out when something was committed and what else was tried, since both are the store's own. The sample
keeps them in a file beside it, and here they happen again: each attempt is made, and the store's rules answer it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from modelcontext_core.contextstate import (
    CommitRequest,
    ContextStateError,
    ContextStore,
    HistoryEntry,
    MemoryStore,
    PayloadRecord,
    PayloadRevokedError,
    Revision,
)

__all__ = ["SAMPLE_FILES", "SAMPLE_LOG", "request_at", "sample_store"]

SAMPLE_FILES: Final = ("session_store.jsonl", "session_store_wiki.jsonl")
SAMPLE_LOG: Final = "session_store_log.json"


class _Clock:
    """Tells the time that it was last given."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def sample_store(folder: Path) -> MemoryStore:
    """Return a store with the sessions of the exports in `folder`."""
    imported = MemoryStore()
    for name in SAMPLE_FILES:
        imported.import_((folder / name).read_bytes())
    log = json.loads((folder / SAMPLE_LOG).read_bytes())
    clock = _Clock()
    store = MemoryStore(clock=clock)
    for head in imported.sessions(contexts=False):
        _replay(imported, store, clock, head.session_id, log[head.session_id])
    return store


def request_at(store: ContextStore, session_id: str, revision: int) -> CommitRequest:
    """Return the request of one checkpoint, put together from what is stored. Of a revoked payload the data is gone.

    Raises `ContextStateError`.
    """
    before = store.history(session_id, max(revision - 2, 0), 2)
    entry = next(each for each in before if each.checkpoint.revision.session == revision)
    expected = before[0].checkpoint.revision if revision > 1 else Revision()
    checkpoint = entry.checkpoint
    return CommitRequest(
        operation_id=entry.operation_id,
        session_id=session_id,
        expected=expected,
        expected_binding=entry.expected_binding,
        new_source_events=store.events(session_id, expected.source, entry.new_events) if entry.new_events else (),
        payloads=_payloads(store, entry),
        checkpoint=checkpoint,
        new_session=checkpoint.revision.session,
        new_durable=checkpoint.revision.durable,
        new_source_sequence=checkpoint.revision.source,
        new_binding=checkpoint.binding,
        turn_id=checkpoint.turn_id,
    )


def _payloads(store: ContextStore, entry: HistoryEntry) -> tuple[PayloadRecord, ...]:
    found = []
    for record in entry.payloads:
        try:
            found.append(replace(record, data=store.get(record.ref).data))
        except PayloadRevokedError:
            found.append(replace(record, revoked=True, data=b""))
    return tuple(found)


def _replay(
    source: ContextStore, target: MemoryStore, clock: _Clock, session_id: str, log: Mapping[str, Sequence[Any]]
) -> None:
    for revision, at in enumerate(log["committed"], start=1):
        clock.now = datetime.fromisoformat(at)
        target.checkpoint(request_at(source, session_id, revision))
        for attempt in log["attempts"]:
            if attempt["after"] == revision:
                clock.now = datetime.fromisoformat(attempt["at"])
                with suppress(ContextStateError):
                    target.checkpoint(_tried(request_at(source, session_id, attempt["of"]), attempt["kind"]))


def _tried(request: CommitRequest, kind: str) -> CommitRequest:
    """The request as it was tried: again, with another content, late, or under the binding of another model."""
    if kind == "replay":
        return request
    if kind == "conflict":
        changed = replace(request.checkpoint, active_context=request.checkpoint.active_context + b"\n")
        return replace(request, checkpoint=changed)
    key = f"{request.operation_id}-{'late' if kind == 'stale_revision' else 'b'}"
    identity = replace(request.checkpoint.id, idempotency_key=key)
    renamed = replace(request, operation_id=key, checkpoint=replace(request.checkpoint, id=identity))
    if kind == "stale_revision":
        return renamed
    generation = request.new_binding.generation
    stale = replace(request.expected_binding, generation=max(generation - 2, 1))
    return replace(renamed, expected_binding=stale)
