"""The rules of the contract, once for all stores.

A store gives transactions over `Rows`; what is looked up, decided and written within them stands here and in the
modules that this one uses: `steps`, `exporting`, `importing` and `verify`.
"""

# ruff: noqa: D102 (the public methods are documented in `ContextStore`)
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from modelcontext_core.contextstate import validation
from modelcontext_core.contextstate.errors import (
    CheckpointConflictError,
    ContextStateError,
    DamagedStoreError,
    InvalidRecordError,
    OverLimitError,
    PayloadNotFoundError,
    PayloadRevokedError,
    StaleBindingError,
    StaleRevisionError,
    StoreError,
)
from modelcontext_core.contextstate.listings import (
    Attempt,
    HistoryEntry,
    ImportReport,
    Outcome,
    PayloadRow,
    PayloadTotals,
    SessionHead,
    StoreInfo,
    VerifyReport,
)
from modelcontext_core.contextstate.records import (
    RETENTION_SESSION,
    Checkpoint,
    CommitRequest,
    ContentRef,
    Limits,
    PayloadRecord,
    Session,
    SourceEvent,
)
from modelcontext_core.contextstate.refs import digest, is_ref
from modelcontext_core.contextstate.stores import steps
from modelcontext_core.contextstate.stores.base import DEFAULT_PAGE
from modelcontext_core.contextstate.stores.exporting import export
from modelcontext_core.contextstate.stores.importing import import_session
from modelcontext_core.contextstate.stores.rows import (
    CommitRow,
    PayloadState,
    Rows,
    SessionRow,
    to_checkpoint,
)
from modelcontext_core.contextstate.stores.verify import verify

__all__ = ["MAX_ATTEMPTS", "Clock", "StoreEngine", "utc_now"]

# How many attempts are kept a session.
MAX_ATTEMPTS: Final = 1000
# How many holders are handled at once when a session is deleted.
_BATCH: Final = 500

Clock = Callable[[], datetime]

_OUTCOMES: Final[tuple[tuple[type[ContextStateError], Outcome], ...]] = (
    (CheckpointConflictError, Outcome.CONFLICT),
    (InvalidRecordError, Outcome.INVALID),
    (OverLimitError, Outcome.OVER_LIMIT),
    (StaleRevisionError, Outcome.STALE_REVISION),
    (StaleBindingError, Outcome.STALE_BINDING),
)


def utc_now() -> datetime:
    """The clock of a store that was given none."""
    return datetime.now(UTC)


class StoreEngine(ABC):
    """`ContextStore` over transactions that a subclass opens. Its docstrings stand in the Protocol."""

    def __init__(self, location: str, limits: Limits | None, clock: Clock | None) -> None:
        self._location = location
        self._limits = limits or Limits()
        self._limits.validate()
        self._clock = clock or utc_now

    def _now(self) -> datetime:
        return self._clock().astimezone(UTC)

    # ---- what a store provides

    @abstractmethod
    def _read(self) -> AbstractContextManager[Rows]:
        """A transaction that reads one state of the store."""

    @abstractmethod
    def _write(self, *locks: str) -> AbstractContextManager[Rows]:
        """A transaction that is durable when it ends, or leaves nothing when it raises.

        `locks` name what it touches, in an order in which all writers ask for them; without any it has the store for
        itself. A store that lets one writer in at a time need not look at them.
        """

    @abstractmethod
    def _scrub(self) -> None:
        """Remove what removed bytes may have left behind in the store's files."""

    def _check(self) -> Sequence[str]:
        """What the store itself finds wrong with its tables, in words that quote nothing stored."""
        return ()

    @abstractmethod
    def info(self) -> StoreInfo: ...

    # ---- payloads

    def put(self, record: PayloadRecord) -> None:
        record.validate()
        with self._write(steps.payload_lock(record.ref.sha256)) as rows:
            revoked = steps.put_payload(rows, record)
        if revoked:
            self._scrub()

    def get(self, ref: ContentRef) -> PayloadRecord:
        with self._read() as rows:
            state = self._payload(rows, ref)
            if state.revoked:
                raise PayloadRevokedError(ref.ref)
            record = self._record(rows, state, ref)
            data = rows.payload_bytes(state.number) if state.stored else b""
        if data is None or (data and digest(data) != record.ref.sha256):
            raise DamagedStoreError(self._location, f"payload {record.ref.ref}", "its bytes do not have its digest")
        return replace(record, data=data)

    def status(self, ref: ContentRef) -> PayloadRecord:
        with self._read() as rows:
            return self._record(rows, self._payload(rows, ref), ref)

    def revoke(self, ref: ContentRef) -> None:
        with self._write(steps.payload_lock(_digest_of(ref))) as rows:
            state = self._payload(rows, ref)
            if not state.revoked:
                rows.revoke_payload(state.number)
        # Also of a revoked payload: a crash may have come between the two steps.
        self._scrub()

    def _payload(self, rows: Rows, ref: ContentRef) -> PayloadState:
        state = rows.find_payload(_digest_of(ref))
        if state is None:
            raise PayloadNotFoundError(ref.ref)
        return state

    def _record(self, rows: Rows, state: PayloadState, ref: ContentRef) -> PayloadRecord:
        """The record that `ref`'s owner is answered with, without data."""
        owner = (ref.namespace, ref.workspace_id, ref.session_id, ref.subject_id)
        holder = rows.find_holder(state, ref) if all(map(validation.is_identifier, owner)) else None
        holder = holder or rows.last_holder(state)
        if holder is not None:
            if not holder.sound:
                raise DamagedStoreError(self._location, f"payload {ref.ref}", "what is stored of its holder is damaged")
            return holder.record()
        if not state.revoked:
            raise PayloadNotFoundError(ref.ref)
        # A revocation outlives its holders: who they were is forgotten, so the question's own fields stand.
        size = ref.size if state.size is None else state.size
        return PayloadRecord(ref=replace(ref, size=size), retention=state.retention, revoked=True)

    # ---- commits

    def checkpoint(self, request: CommitRequest) -> None:
        try:
            replayed = self._checkpoint(request)
        except ContextStateError as error:
            for kind, outcome in _OUTCOMES:
                if isinstance(error, kind):
                    self._log(request, outcome)
            raise
        if replayed:
            self._log(request, Outcome.REPLAYED)

    def _checkpoint(self, request: CommitRequest) -> bool:
        """Commit; True when the key had been used for this very request."""
        # Asked twice: here, so that the long work on a new request is done while nobody waits for it, and under the
        # lock, where the answer holds.
        with self._read() as rows:
            if steps.is_replay(rows, request):
                return True
        prepared = steps.prepare(request, self._limits)
        with self._write(*prepared.locks) as rows:
            if steps.is_replay(rows, request):
                return True
            revoked = steps.commit(rows, prepared, self._now())
        if revoked:
            self._scrub()
        return False

    def _log(self, request: CommitRequest, outcome: Outcome) -> None:
        """Note an attempt, if its session exists. The answer is given already: nothing here may change it."""
        if not (validation.is_identifier(request.operation_id) and validation.is_identifier(request.session_id)):
            return
        with suppress(StoreError), self._write(steps.session_lock(request.session_id)) as rows:
            session = rows.find_session(request.session_id)
            if session is not None:
                attempt = Attempt(
                    operation_id=request.operation_id,
                    outcome=outcome,
                    at=self._now(),
                    revision=session.revision.session,
                )
                rows.add_attempt(session.number, attempt, MAX_ATTEMPTS)

    def session(self, session_id: str) -> Session:
        with self._read() as rows:
            session = steps.find_session(rows, session_id)
            row = self._active(rows, session)
            source = rows.events(session, 0, session.revision.source)
            active = to_checkpoint(row, self._context(rows, session, row))
        if len(source) != session.revision.source:
            raise DamagedStoreError(self._location, "events", "some are missing")
        return Session(revision=session.revision, binding=session.binding, active=active, source=source)

    def _active(self, rows: Rows, session: SessionRow) -> CommitRow:
        return self._commit_at(rows, session, session.revision.session)

    def _commit_at(self, rows: Rows, session: SessionRow, revision: int) -> CommitRow:
        found = rows.commits(session, revision - 1, 1)
        if not found or found[0].revision.session != revision:
            raise DamagedStoreError(self._location, f"checkpoint {revision}", "it is missing")
        return found[0]

    def _context(self, rows: Rows, session: SessionRow, row: CommitRow) -> bytes:
        context = rows.context(session.number, row.context_sha256)
        if context is None or digest(context) != row.context_sha256:
            where = f"checkpoint {row.revision.session}"
            raise DamagedStoreError(self._location, where, "its active context does not have its digest")
        return context

    # ---- for a browser

    def head(self, session_id: str, *, contexts: bool = True) -> SessionHead:
        with self._read() as rows:
            return self._head(rows, steps.find_session(rows, session_id), contexts)

    def _head(self, rows: Rows, session: SessionRow, contexts: bool) -> SessionHead:
        row = self._active(rows, session)
        return SessionHead(
            session_id=session.session_id,
            revision=session.revision,
            binding=session.binding,
            active=to_checkpoint(row, self._context(rows, session, row) if contexts else b""),
            event_count=session.revision.source,
            payload_count=rows.count_holders(session.session_id),
            context_bytes=row.context_bytes,
            committed_at=row.committed_at,
        )

    def sessions(
        self, prefix: str = "", after: str = "", limit: int = DEFAULT_PAGE, *, contexts: bool = True
    ) -> tuple[SessionHead, ...]:
        if not _is_listed(prefix, after, limit):
            return ()
        with self._read() as rows:
            found = rows.list_sessions(prefix, after, limit)
            return tuple(self._listed(rows, session, contexts) for session in found)

    def _listed(self, rows: Rows, session: SessionRow, contexts: bool) -> SessionHead:
        try:
            return self._head(rows, session, contexts)
        except DamagedStoreError as error:
            # Among many, whose it is has to be said.
            raise DamagedStoreError(
                self._location, f"session {session.session_id!r}, {error.where}", error.text
            ) from error

    def session_ids(self, prefix: str = "", after: str = "", limit: int = DEFAULT_PAGE) -> tuple[str, ...]:
        if not _is_listed(prefix, after, limit):
            return ()
        with self._read() as rows:
            return tuple(rows.list_ids(prefix, after, limit))

    def history(
        self, session_id: str, after: int = 0, limit: int = DEFAULT_PAGE, *, contexts: bool = True
    ) -> tuple[HistoryEntry, ...]:
        _page(limit, after)
        with self._read() as rows:
            session = steps.find_session(rows, session_id)
            found = rows.commits(session, after, limit)
            if not found:
                return ()
            attempts = rows.attempts(session.number, found[0].revision.session, found[-1].revision.session)
            # Unchanged contexts are read, and kept by the caller, once.
            known = {}
            if contexts:
                for row in found:
                    if row.context_sha256 not in known:
                        known[row.context_sha256] = self._context(rows, session, row)
        return tuple(
            HistoryEntry(
                checkpoint=to_checkpoint(row, known.get(row.context_sha256, b"")),
                operation_id=row.operation_id,
                expected_binding=row.expected_binding,
                new_events=row.events,
                payloads=tuple(given.record for given in row.payloads),
                context_bytes=row.context_bytes,
                context_sha256=row.context_sha256,
                committed_at=row.committed_at,
                attempts=tuple(item for item in attempts if item.revision == row.revision.session),
            )
            for row in found
        )

    def checkpoint_at(self, session_id: str, revision: int) -> Checkpoint:
        validation.counter(revision, "revision", positive=True)
        with self._read() as rows:
            session = steps.find_session(rows, session_id)
            if revision > session.revision.session:
                raise InvalidRecordError("revision", f"must be at most {session.revision.session}")
            row = self._commit_at(rows, session, revision)
            return to_checkpoint(row, self._context(rows, session, row))

    def events(self, session_id: str, after: int = 0, limit: int = DEFAULT_PAGE) -> tuple[SourceEvent, ...]:
        _page(limit, after)
        with self._read() as rows:
            return rows.events(steps.find_session(rows, session_id), after, limit)

    def payloads(self, session_id: str, after: int = 0, limit: int = DEFAULT_PAGE) -> tuple[PayloadRow, ...]:
        _page(limit, after)
        with self._read() as rows:
            steps.find_owner(rows, session_id)
            return tuple(holder.listed() for holder in rows.holders(session_id, after, limit))

    def payload_totals(self, session_id: str) -> PayloadTotals:
        with self._read() as rows:
            steps.find_owner(rows, session_id)
            return rows.totals(session_id)

    def verify(self, session_id: str) -> VerifyReport:
        return verify(self._read, session_id, self._check)

    # ---- moving and deleting

    def export(self, session_id: str) -> Iterator[bytes]:
        return export(self._read, self._location, session_id)

    def import_(self, lines: Iterable[bytes] | bytes) -> ImportReport:
        with self._write() as rows:
            report, revoked = import_session(rows, lines, self._limits, self._now)
        if revoked:
            self._scrub()
        return report

    def delete_session(self, session_id: str) -> None:
        with self._write() as rows:
            session = steps.find_owner(rows, session_id)
            if session is not None:
                rows.drop_session(session.number)
            after = 0
            while holders := rows.holders(session_id, after, _BATCH):
                for holder in holders:
                    if holder.retention == RETENTION_SESSION:
                        steps.release(rows, holder)
                after = holders[-1].number


def _digest_of(ref: ContentRef) -> str:
    """The digest by which a payload is found; what is no reference was never put."""
    if not (isinstance(ref.ref, str) and is_ref(ref.ref)):
        raise PayloadNotFoundError(ref.ref)
    return ref.ref.removeprefix("sha256:")


def _is_listed(prefix: str, after: str, limit: int) -> bool:
    """Whether an id can begin with `prefix`; raises `InvalidRecordError` for a key or limit that cannot be one."""
    _page(limit)
    if after:
        validation.identifier(after, "after")
    return not prefix or validation.is_prefix(prefix)


def _page(limit: int, after: int = 0) -> None:
    validation.counter(limit, "limit", positive=True, maximum=validation.MAX_SIZE)
    validation.counter(after, "after", maximum=validation.MAX_SIZE)
