"""What a store answers beyond the contract's records: heads, history, attempts, payload rows, reports.

None of these is stored or exported as such. Times are the store's own and part of no comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from modelcontext_core.contextstate.records import BindingRevision, Checkpoint, PayloadRecord, Revision

__all__ = [
    "Attempt",
    "Break",
    "BreakKind",
    "HistoryEntry",
    "ImportReport",
    "Outcome",
    "PayloadRow",
    "PayloadTotals",
    "SessionHead",
    "StoreInfo",
    "VerifyReport",
]


class Outcome(StrEnum):
    """How a commit that stored nothing was answered."""

    REPLAYED = "replayed"
    CONFLICT = "conflict"
    INVALID = "invalid"
    OVER_LIMIT = "over_limit"
    STALE_REVISION = "stale_revision"
    STALE_BINDING = "stale_binding"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One commit that stored nothing, from the store's log. `revision` is the session counter that it met."""

    operation_id: str
    outcome: Outcome
    at: datetime
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHead:
    """Where a session is, without its events: what a list of sessions and the head of a page show.

    `payload_count` is the number of rows that `payloads` gives. Listed without contexts, `active.active_context` is
    empty; `context_bytes` is its length all the same.
    """

    session_id: str
    revision: Revision
    binding: BindingRevision
    active: Checkpoint
    event_count: int
    payload_count: int
    context_bytes: int
    committed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One committed checkpoint, with what the timeline shows beside it.

    `new_events` is the number of events of this commit, the last of them `checkpoint.revision.source`. `attempts` are
    those made while this checkpoint was the newest. Listed without contexts, `checkpoint.active_context` is empty and
    `context_bytes` and `context_sha256` still tell about it.
    """

    checkpoint: Checkpoint
    operation_id: str
    expected_binding: BindingRevision
    new_events: int
    payloads: tuple[PayloadRecord, ...]
    context_bytes: int
    context_sha256: str
    committed_at: datetime
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadRow:
    """One payload that a session holds, without its bytes.

    `number` is the row's key for paging, in order of first put. `stored` says whether the bytes are there, `uses` how
    often this holder put it, `holders` and `sessions` how many hold the same bytes in the whole store.
    """

    number: int
    record: PayloadRecord
    stored: bool
    uses: int
    holders: int
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadTotals:
    """The payloads of a session summed up.

    `stored_bytes` counts the bytes of each digest once; `saved_bytes` is what keeping every put of this session apart
    would have taken on top of that.
    """

    rows: int = 0
    revoked: int = 0
    shared: int = 0
    stored_bytes: int = 0
    saved_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInfo:
    """What store this is. `bytes` is its size on disk, 0 where there is none."""

    kind: str
    location: str
    sessions: int
    bytes: int
    schema_version: int
    read_only: bool


class BreakKind(StrEnum):
    """What `verify` found broken."""

    CHAIN = "chain"
    RECORD = "record"
    CONTEXT = "context"
    EVENTS = "events"
    PAYLOAD = "payload"
    OPERATION = "operation"
    HEAD = "head"
    STORE = "store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """One thing that `verify` found wrong.

    `where` is made by us (`checkpoint 7`, `events 93-116`, `payload sha256:…`, `store`), and so is `text`: neither
    quotes what is stored.
    """

    kind: BreakKind
    where: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """What was checked of a session, and every break found."""

    session_id: str
    checkpoints: int
    events: int
    payloads: int
    breaks: tuple[Break, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether nothing is broken."""
        return not self.breaks


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did. `imported` is False when the identical session was there already: nothing was written."""

    session_id: str
    checkpoints: int
    events: int
    payloads: int
    imported: bool
