"""The sandbox: a session copied into memory, where a commit can be tried and the rule that answers is named.

The copy is made through the store's own export and import, and is the only thing that is ever written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Literal, get_args

from inspector_app.store_sample import request_at
from modelcontext_core.contextstate import (
    BindingRevision,
    Checkpoint,
    CheckpointConflictError,
    CheckpointID,
    CommitRequest,
    ContextStateError,
    ContextStore,
    InvalidRecordError,
    Limits,
    MemoryStore,
    OverLimitError,
    Revision,
    SessionHead,
    SourceEvent,
    SourceID,
    SourceRange,
    StaleBindingError,
    StaleRevisionError,
)

__all__ = [
    "MOST_EVENTS",
    "MOST_NEW_EVENTS",
    "PRESETS",
    "RULES",
    "Draft",
    "Preset",
    "Rule",
    "Sandbox",
    "Tried",
    "copy_session",
    "draft",
]

# A copy holds every event; a larger session is not copied into memory for a try.
MOST_EVENTS: Final = 100_000
MOST_NEW_EVENTS: Final = 1_000

Preset = Literal["next", "stale_revision", "stale_binding", "repeat", "conflict", "over_limit", "invalid"]
PRESETS: Final[tuple[Preset, ...]] = get_args(Preset)
Rule = Literal["key", "record", "limits", "revision", "binding"]
# The order in which a store asks.
RULES: Final[tuple[Rule, ...]] = get_args(Rule)
_ANSWERS: Final[tuple[tuple[type[ContextStateError], Rule], ...]] = (
    (CheckpointConflictError, "key"),
    (InvalidRecordError, "record"),
    (OverLimitError, "limits"),
    (StaleRevisionError, "revision"),
    (StaleBindingError, "binding"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a reader can set of a commit; everything else follows from it."""

    operation_id: str
    expected: Revision
    binding: BindingRevision
    events: int
    event_bytes: int
    context: str
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What happened: `rule` answered (None: committed), `text` is its sentence; `replay` for a repeated commit."""

    rule: Rule | None
    replay: bool
    text: str
    before: Revision
    after: Revision


class _Copy(MemoryStore):
    """A store whose limits can be set after it was filled."""

    def set_limits(self, limits: Limits) -> None:
        limits.validate()
        self._limits = limits


@dataclass(slots=True, kw_only=True)
class Sandbox:
    """A copy of one session, and what was tried in it."""

    session_id: str
    copied_revision: int
    store: _Copy
    tried: list[Tried] = field(default_factory=list)

    def head(self) -> SessionHead:
        """Where the copy is now."""
        return self.store.head(self.session_id)

    def attempt(self, given: Draft) -> Tried:
        """Commit what the draft says to the copy; the store's rules answer."""
        return self._commit(lambda: self._request(given), given.limits)

    def repeat(self) -> Tried:
        """Send the last commit of the copy once more, unchanged."""
        return self._commit(lambda: request_at(self.store, self.session_id, self.head().revision.session), Limits())

    def _commit(self, make: Callable[[], CommitRequest], limits: Limits) -> Tried:
        before = self.head().revision
        rule: Rule | None = None
        text = ""
        try:
            self.store.set_limits(limits)
            self.store.checkpoint(make())
        except ContextStateError as error:
            rule = next((name for kind, name in _ANSWERS if isinstance(error, kind)), "record")
            text = str(error)
        after = self.head().revision
        replay = rule is None and after == before
        done = Tried(rule="key" if replay else rule, replay=replay, text=text, before=before, after=after)
        self.tried.insert(0, done)
        return done

    def _request(self, given: Draft) -> CommitRequest:
        head, at = self.head(), given.expected
        revision = Revision(session=at.session + 1, durable=at.durable + 1, source=at.source + given.events)
        first = at.source + 1 if given.events else at.source
        turn = head.active.turn_id + 1

        def source(sequence: int) -> SourceID:
            return SourceID(session_id=self.session_id, sequence=sequence)

        return CommitRequest(
            operation_id=given.operation_id,
            session_id=self.session_id,
            expected=at,
            expected_binding=given.binding,
            new_source_events=tuple(
                SourceEvent(
                    id=source(at.source + 1 + index),
                    kind="message",
                    role="user",
                    provenance="sandbox",
                    redaction_status="none",
                    size=given.event_bytes,
                )
                for index in range(given.events)
            ),
            checkpoint=Checkpoint(
                id=CheckpointID(
                    session_id=self.session_id,
                    source_range=SourceRange(start=source(first), end=source(revision.source)),
                    algorithm=head.active.id.algorithm,
                    schema_version=head.active.id.schema_version,
                    idempotency_key=given.operation_id,
                ),
                revision=revision,
                binding=given.binding,
                active_context=given.context.encode("utf-8", errors="replace"),
                turn_id=turn,
            ),
            new_session=revision.session,
            new_durable=revision.durable,
            new_source_sequence=revision.source,
            new_binding=given.binding,
            turn_id=turn,
        )


def copy_session(store: ContextStore, session_id: str) -> Sandbox:
    """Copy a session into memory. Raises `ContextStateError`, also for one that is damaged or has too many events."""
    copy = _Copy()
    copy.import_(store.export(session_id))
    return Sandbox(session_id=session_id, copied_revision=copy.head(session_id).revision.session, store=copy)


def draft(sandbox: Sandbox, preset: Preset) -> Draft:
    """Return a commit that the named rule answers, from where the copy is now."""
    head = sandbox.head()
    number = head.revision.session + 1
    good = Draft(
        operation_id=f"try-{number}-{len(sandbox.tried) + 1}",
        expected=head.revision,
        binding=head.binding,
        events=2,
        event_bytes=120,
        context=f'{{"summary": "tried at revision {number}"}}',
    )
    if preset == "stale_revision":
        before = max(head.revision.session - 1, 0)
        return replace(good, expected=replace(head.revision, session=before, durable=max(head.revision.durable - 1, 0)))
    if preset == "stale_binding":
        older = replace(head.binding, generation=max(head.binding.generation - 1, 1), model=f"{head.binding.model}-old")
        return replace(good, binding=older)
    if preset == "conflict":
        return replace(good, operation_id=head.active.id.idempotency_key)
    if preset == "over_limit":
        return replace(good, limits=Limits(checkpoint_bytes=16))
    if preset == "invalid":
        return replace(good, context="")
    return good
