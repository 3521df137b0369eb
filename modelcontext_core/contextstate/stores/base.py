"""The contract of a store. One conformance suite holds all stores to it; `docs/sessions.md` explains it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from modelcontext_core.contextstate.listings import (
    HistoryEntry,
    ImportReport,
    PayloadRow,
    PayloadTotals,
    SessionHead,
    StoreInfo,
    VerifyReport,
)
from modelcontext_core.contextstate.records import (
    Checkpoint,
    CommitRequest,
    ContentRef,
    PayloadRecord,
    Session,
    SourceEvent,
)

__all__ = ["DEFAULT_PAGE", "ContextStore"]

DEFAULT_PAGE = 100


class ContextStore(Protocol):
    """Sessions by id, payloads by content address, committed operations by key.

    Safe for concurrent use by threads and, where the store outlives a process, by processes. Everything returned is
    the caller's own. What a method raises beyond the errors it names is `StoreError`: the store could not do it, and
    whether a write took place is then unknown; repeating it is safe.

    Listings are paged: `after` is the key of the last row seen (the default begins at the start), at most `limit`
    rows come, and fewer than `limit` only at the end. A key or limit that cannot be one raises `InvalidRecordError`.
    """

    # ---- payloads

    def put(self, record: PayloadRecord) -> None:
        """Validate and keep a payload; its bytes are kept once per digest, its holder is recorded.

        The last put of a holder (namespace, workspace, session, subject) counts. Under a revoked digest nothing
        changes. A record put as revoked revokes its digest and is kept without data. A record without data drops no
        bytes. Raises `InvalidRecordError`.
        """
        ...

    def get(self, ref: ContentRef) -> PayloadRecord:
        """The payload with its data, under the caller's own holder fields when it is a holder, else the last put's.

        Raises `PayloadNotFoundError`, `PayloadRevokedError`, or `DamagedStoreError` for bytes that are not the ref's.
        """
        ...

    def status(self, ref: ContentRef) -> PayloadRecord:
        """As `get`, always without data, and also of a revoked payload. Raises `PayloadNotFoundError`."""
        ...

    def revoke(self, ref: ContentRef) -> None:
        """Deny the payload to all holders for good and remove its bytes from the store.

        Of a revoked payload a no-op (that finishes an interrupted removal). Raises `PayloadNotFoundError`.
        """
        ...

    # ---- commits

    def checkpoint(self, request: CommitRequest) -> None:
        """Apply one commit atomically; durable on return.

        A used operation key is a no-op for an equal request and raises `CheckpointConflictError` for another, before
        anything else. Then, in this order: `InvalidRecordError`, `OverLimitError`, `StaleRevisionError` (for an unknown
        session too, unless `expected` is zero), `StaleBindingError`. A rejected commit stores nothing.
        """
        ...

    def session(self, session_id: str) -> Session:
        """Revision, binding, active checkpoint and every event. Raises `SessionNotFoundError`."""
        ...

    # ---- for a browser

    def head(self, session_id: str, *, contexts: bool = True) -> SessionHead:
        """Where the session is, without its events. Raises `SessionNotFoundError`."""
        ...

    def sessions(
        self, prefix: str = "", after: str = "", limit: int = DEFAULT_PAGE, *, contexts: bool = True
    ) -> tuple[SessionHead, ...]:
        """Heads of the sessions whose id starts with `prefix`, by id in code point order; the key is the id."""
        ...

    def session_ids(self, prefix: str = "", after: str = "", limit: int = DEFAULT_PAGE) -> tuple[str, ...]:
        """The ids of `sessions` alone, which one session whose head is damaged does not hide."""
        ...

    def history(
        self, session_id: str, after: int = 0, limit: int = DEFAULT_PAGE, *, contexts: bool = True
    ) -> tuple[HistoryEntry, ...]:
        """Every committed checkpoint, oldest first; the key is the session counter. Raises `SessionNotFoundError`."""
        ...

    def checkpoint_at(self, session_id: str, revision: int) -> Checkpoint:
        """The checkpoint at one session counter; raises `SessionNotFoundError` or `InvalidRecordError`."""
        ...

    def events(self, session_id: str, after: int = 0, limit: int = DEFAULT_PAGE) -> tuple[SourceEvent, ...]:
        """The source log in order; the key is the sequence number. Raises `SessionNotFoundError`."""
        ...

    def payloads(self, session_id: str, after: int = 0, limit: int = DEFAULT_PAGE) -> tuple[PayloadRow, ...]:
        """What the session holds, by first put; the key is the row's `number`.

        Answers for a session that holds payloads without a commit, too. Raises `SessionNotFoundError` for neither.
        """
        ...

    def payload_totals(self, session_id: str) -> PayloadTotals:
        """The session's payloads summed up; errors as `payloads`."""
        ...

    def verify(self, session_id: str) -> VerifyReport:
        """Read everything of the session again and report each break. Raises `SessionNotFoundError`."""
        ...

    def info(self) -> StoreInfo:
        """Kind, place and size of the store."""
        ...

    # ---- moving and deleting

    def export(self, session_id: str) -> Iterator[bytes]:
        """The session as JSON Lines, one line at a time. Raises `SessionNotFoundError`."""
        ...

    def import_(self, lines: Iterable[bytes] | bytes) -> ImportReport:
        """Replay an export through the same checks as commits, all of it or nothing.

        An identical session is left alone, a differing one raises `CheckpointConflictError`. Errors carry the `line`.
        """
        ...

    def delete_session(self, session_id: str) -> None:
        """Forget the session: commits, events, operation keys, and its payloads of class `session` nobody else holds.

        Payloads of other classes and revocations stay. Raises `SessionNotFoundError` for an id that has nothing here.
        """
        ...

    def close(self) -> None:
        """Release what the store holds open. A closed store raises `StoreError`."""
        ...
