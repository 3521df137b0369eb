"""Small valid records for the tests, each changed by keyword, and a clock that can be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from modelcontext_core.contextstate import (
    BindingRevision,
    Checkpoint,
    CheckpointID,
    CommitRequest,
    ContextStore,
    PayloadRecord,
    Revision,
    SourceEvent,
    SourceID,
    SourceRange,
    new_content_ref,
)

GPT = BindingRevision(provider="openai", model="gpt-4.1-mini", generation=1)
GPT_NEXT = BindingRevision(provider="openai", model="gpt-4.1", generation=2)


@dataclass(slots=True)
class Clock:
    """A clock that moves on by one second each time it is read."""

    now: datetime = datetime(2026, 3, 5, 10, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def event(sequence: int, session_id: str = "s", **changes: object) -> SourceEvent:
    """One event of a user."""
    made = SourceEvent(
        id=SourceID(session_id=session_id, sequence=sequence),
        kind="message",
        role="user",
        provenance="app",
        redaction_status="none",
        size=10,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def payload(
    data: bytes = b"hello",
    session_id: str = "s",
    *,
    retention: str = "session",
    namespace: str = "ns",
    subject: str = "u",
    revoked: bool = False,
) -> PayloadRecord:
    """A payload with its bytes."""
    ref = new_content_ref(namespace, "w", session_id, subject, data)
    return PayloadRecord(ref=ref, retention=retention, revoked=revoked, data=data)


def bare(record: PayloadRecord) -> PayloadRecord:
    """The record without its bytes."""
    return replace(record, data=b"")


def commit(
    operation_id: str = "op-1",
    session_id: str = "s",
    *,
    expected: Revision | None = None,
    events: int = 1,
    payloads: Sequence[PayloadRecord] = (),
    context: bytes = b"ctx",
    binding: BindingRevision = GPT,
    new_binding: BindingRevision | None = None,
    turn: int = 1,
    covers: int | None = None,
) -> CommitRequest:
    """A valid request that continues `expected` with so many events; its range begins at `covers`."""
    at = expected or Revision()
    after = new_binding or binding
    revision = Revision(session=at.session + 1, durable=at.durable + 1, source=at.source + events)
    start = covers if covers is not None else (at.source + 1 if events else at.source)
    return CommitRequest(
        operation_id=operation_id,
        session_id=session_id,
        expected=at,
        expected_binding=binding,
        new_source_events=tuple(event(at.source + 1 + index, session_id) for index in range(events)),
        payloads=tuple(payloads),
        checkpoint=Checkpoint(
            id=CheckpointID(
                session_id=session_id,
                source_range=SourceRange(
                    start=SourceID(session_id=session_id, sequence=start),
                    end=SourceID(session_id=session_id, sequence=revision.source),
                ),
                algorithm="rolling-summary",
                schema_version=1,
                idempotency_key=operation_id,
            ),
            revision=revision,
            binding=after,
            active_context=context,
            turn_id=turn,
        ),
        new_session=revision.session,
        new_durable=revision.durable,
        new_source_sequence=revision.source,
        new_binding=after,
        turn_id=turn,
    )


def grow(store: ContextStore, session_id: str = "s", *, commits: int = 3, events: int = 2) -> list[CommitRequest]:
    """Commit so many checkpoints to a new session; the requests."""
    made: list[CommitRequest] = []
    for number in range(1, commits + 1):
        expected = made[-1].checkpoint.revision if made else Revision()
        request = commit(
            f"{session_id}-op-{number}",
            session_id,
            expected=expected,
            events=events,
            context=f"context {number}".encode(),
            turn=number,
        )
        store.checkpoint(request)
        made.append(request)
    return made


def fill(store: ContextStore) -> None:
    """Commit a session `s` with everything in it: shared, revoked, absent and separately put payloads."""
    first = commit("op-1", events=2, payloads=[payload(b"a" * 100), payload(b"secret")], context=b"same")
    second = commit(
        "op-2",
        expected=first.checkpoint.revision,
        payloads=[payload(b"a" * 100), bare(payload(b"absent")), payload(b"shut", revoked=True), payload(b"")],
        context=b"same",
        new_binding=GPT_NEXT,
        turn=2**64 - 1,
        covers=1,
    )
    third = commit("op-3", expected=second.checkpoint.revision, binding=GPT_NEXT, events=0, context=b"other")
    for request in (first, second, third):
        store.checkpoint(replace(request, operation_id=f"key of {request.operation_id}"))
    store.put(payload(b"a" * 100, namespace="put later", retention="a\0\ud800"))
    store.put(payload(b"a" * 100, retention="compliance"))
    store.put(payload(b"put alone", retention="compliance"))
    store.revoke(payload(b"secret").ref)
