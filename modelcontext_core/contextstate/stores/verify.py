"""Reads a whole session again: every hash, every counter, every commit rule.

The commits are rebuilt one by one from what is stored, so memory is bounded by the largest of them, and no transaction
stays open from one to the next. What cannot be read is one break; the rest is still checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from modelcontext_core.contextstate.errors import (
    DamagedStoreError,
    InvalidRecordError,
    SessionNotFoundError,
    StaleBindingError,
    StaleRevisionError,
)
from modelcontext_core.contextstate.fingerprint import request_fingerprint
from modelcontext_core.contextstate.listings import Break, BreakKind, VerifyReport
from modelcontext_core.contextstate.records import ContentRef, SourceEvent
from modelcontext_core.contextstate.refs import digest
from modelcontext_core.contextstate.stores import steps
from modelcontext_core.contextstate.stores.rows import CommitRow, HolderRow, ReadRows, Rows, SessionRow, to_request
from modelcontext_core.contextstate.validation import continues_session, opens_session

__all__ = ["verify"]

_BATCH = 200
# Stands for a context whose own damage is reported apart.
_NO_CONTEXT = b"-"


def verify(read: ReadRows, session_id: str, check: Callable[[], Sequence[str]]) -> VerifyReport:
    """Check the session as it is when the check begins; raises `SessionNotFoundError`.

    `check` is what the store can check by itself of the tables in which a session could be lost from sight.
    """
    try:
        faults = check()
        with read() as rows:
            session = steps.find_session(rows, session_id)
    except DamagedStoreError as error:
        # Without its head nothing of the session can be found.
        broken = Break(kind=BreakKind.HEAD, where=error.where or "store", text=error.text)
        return VerifyReport(session_id=session_id, checkpoints=0, events=0, payloads=0, breaks=(broken,))
    return _Verify(read, session).run(faults)


class _Verify:
    def __init__(self, read: ReadRows, session: SessionRow) -> None:
        self._read = read
        self._session = session
        self._breaks: dict[tuple[BreakKind, str], Break] = {}
        self._previous: CommitRow | None = None
        self._events = 0
        self._checkpoints = 0
        self._payloads = 0

    def run(self, faults: Sequence[str]) -> VerifyReport:
        session = self._session
        for text in faults:
            self._found(BreakKind.STORE, "store", text)
        self._commits()
        with self._reading(BreakKind.HEAD, "head") as rows:
            self._head(rows)
        self._holders()
        return VerifyReport(
            session_id=session.session_id,
            checkpoints=self._checkpoints,
            events=self._events,
            payloads=self._payloads,
            breaks=tuple(self._breaks.values()),
        )

    def _found(self, kind: BreakKind, where: str, text: str) -> None:
        # One place may be come by from several sides.
        self._breaks.setdefault((kind, where), Break(kind=kind, where=where, text=text))

    @contextmanager
    def _reading(self, kind: BreakKind, where: str) -> Iterator[Rows]:
        """A transaction in which damage becomes a break: at the place it names itself, or else at `where`."""
        try:
            with self._read() as rows:
                if rows.find_session(self._session.session_id) is None:
                    raise SessionNotFoundError(self._session.session_id)
                yield rows
        except DamagedStoreError as error:
            named = error.where or where
            self._found(BreakKind.PAYLOAD if named.startswith("payload") else kind, named, error.text)

    # ---- one commit

    def _commits(self) -> None:
        """Each commit that is there, and each gap: a damaged head may count more of them than anybody can try."""
        last = self._session.revision.session
        expected = 1
        for revision in self._revisions():
            if revision > last:
                break
            self._gap(expected, revision - 1)
            row = None
            with self._reading(BreakKind.RECORD, f"checkpoint {revision}") as rows:
                row = self._commit(rows, revision)
            # None for a commit that is broken itself: it says nothing about the next one.
            self._previous = row
            expected = revision + 1
        self._gap(expected, last)

    def _revisions(self) -> Iterator[int]:
        after = 0
        while True:
            page: Sequence[int] = ()
            with self._reading(BreakKind.RECORD, "checkpoints") as rows:
                page = rows.commit_revisions(self._session, after, _BATCH)
            yield from page
            if not page:
                return
            after = page[-1]

    def _gap(self, first: int, last: int) -> None:
        if first <= last:
            self._previous = None
            where, text = f"checkpoints {first}-{last}", "the checkpoints are missing"
            if first == last:
                where, text = f"checkpoint {first}", "the checkpoint is missing"
            self._found(BreakKind.CHAIN, where, text)

    def _commit(self, rows: Rows, revision: int) -> CommitRow | None:
        where = f"checkpoint {revision}"
        found = rows.commits(self._session, revision - 1, 1)
        if not found or found[0].revision.session != revision:
            self._found(BreakKind.CHAIN, where, "the checkpoint is missing")
            return None
        row = found[0]
        self._checkpoints += 1
        context = self._context(rows, row, where)
        events = self._commit_events(rows, row, where)
        sound = events is not None and self._rules(row, events, context, where)
        if not sound:
            return None
        if rows.find_operation(row.operation_id) != row.fingerprint:
            self._found(BreakKind.OPERATION, where, "its operation key does not lead back to it")
        for given in row.payloads:
            self._given(rows, row, given.record.ref, given.had_data)
        return row

    def _context(self, rows: Rows, row: CommitRow, where: str) -> bytes | None:
        context = rows.context(self._session.number, row.context_sha256)
        if context is None:
            self._found(BreakKind.CONTEXT, where, "its active context is missing")
        elif digest(context) != row.context_sha256 or len(context) != row.context_bytes:
            self._found(BreakKind.CONTEXT, where, "its active context does not have its digest")
        else:
            return context
        return None

    def _commit_events(self, rows: Rows, row: CommitRow, where: str) -> tuple[SourceEvent, ...] | None:
        first = row.revision.source - row.events + 1
        if row.events < 0 or first < 1:
            self._found(BreakKind.CHAIN, where, "its number of events is impossible")
            return None
        try:
            events = rows.events(self._session, first - 1, row.events) if row.events else ()
        except DamagedStoreError as error:
            self._found(BreakKind.EVENTS, error.where or f"events {first}-{row.revision.source}", error.text)
            return None
        self._events += len(events)
        # The number first: a damaged one may be larger than any list.
        if len(events) != row.events or any(event.id.sequence != at for at, event in enumerate(events, start=first)):
            self._found(BreakKind.EVENTS, f"events {first}-{row.revision.source}", "some are missing or out of order")
            return None
        return events

    def _rules(self, row: CommitRow, events: tuple[SourceEvent, ...], context: bytes | None, where: str) -> bool:
        """The commit rules again, then the fingerprint, which depends on every byte of the request."""
        try:
            request = to_request(row, events, _NO_CONTEXT if context is None else context)
            request.validate()
            previous = self._previous
            if row.revision.session == 1:
                opens_session(request)
            elif previous is not None:
                continues_session(request, previous.revision, previous.binding)
        except InvalidRecordError as error:
            self._found(BreakKind.RECORD, where, f"{error.field} {error.reason}")
            return False
        except StaleRevisionError:
            self._found(BreakKind.CHAIN, where, "its counters do not follow from the checkpoint before")
            return False
        except StaleBindingError:
            self._found(BreakKind.CHAIN, where, "its expected binding is not that of the checkpoint before")
            return False
        digests = [given.record.ref.sha256 if given.had_data else "" for given in row.payloads]
        # Without its context the rest cannot be checked this way; that it is missing has been said.
        if context is not None and request_fingerprint(request, digests) != row.fingerprint:
            self._found(BreakKind.RECORD, where, "what is stored of it is not what was committed")
            return False
        return True

    def _given(self, rows: Rows, row: CommitRow, ref: ContentRef, had_data: bool) -> None:
        """A payload of a commit must still be known, held, and there unless it was revoked."""
        where = f"payload {ref.ref}"
        state = rows.find_payload(ref.sha256)
        if state is None:
            self._found(BreakKind.PAYLOAD, where, f"checkpoint {row.revision.session} gave it, it is missing")
        elif had_data and not state.revoked and not state.stored:
            self._found(BreakKind.PAYLOAD, where, f"checkpoint {row.revision.session} gave its bytes, they are missing")
        elif not state.revoked and rows.find_holder(state, ref) is None:
            self._found(BreakKind.PAYLOAD, where, f"checkpoint {row.revision.session} gave it, its holder is missing")

    # ---- the session as a whole

    def _head(self, rows: Rows) -> None:
        session, last = self._session, self._previous
        if last is not None and (last.revision, last.binding) != (session.revision, session.binding):
            self._found(BreakKind.HEAD, "head", "revision or binding is not that of the last checkpoint")
        current = rows.find_session(session.session_id)
        if current == session and rows.commits(session, session.revision.session, 1):
            self._found(BreakKind.CHAIN, f"checkpoint {session.revision.session + 1}", "it is beyond the head")
        if current == session and rows.events(session, session.revision.source, 1):
            self._found(BreakKind.EVENTS, f"event {session.revision.source + 1}", "it is beyond the head")

    def _holders(self) -> None:
        after = 0
        while True:
            page: tuple[HolderRow, ...] = ()
            with self._reading(BreakKind.PAYLOAD, "payloads") as rows:
                page = tuple(rows.holders(self._session.session_id, after, _BATCH))
            for holder in page:
                self._payloads += 1
                with self._reading(BreakKind.PAYLOAD, f"payload {holder.ref.ref}") as rows:
                    self._holder(rows, holder)
            if len(page) < _BATCH:
                return
            after = page[-1].number

    def _holder(self, rows: Rows, holder: HolderRow) -> None:
        where = f"payload {holder.ref.ref}"
        try:
            holder.record().validate()
        except InvalidRecordError as error:
            self._found(BreakKind.PAYLOAD, where, f"{error.field} {error.reason}")
        if not holder.sound:
            self._found(BreakKind.PAYLOAD, where, "what is stored of its holder is not what was put")
        state = rows.find_payload(holder.ref.sha256)
        if state is None:
            return
        data = rows.payload_bytes(state.number)
        if state.revoked and data is not None:
            self._found(BreakKind.PAYLOAD, where, "it is revoked, its bytes are still there")
        elif data is not None and (digest(data) != holder.ref.sha256 or len(data) != state.size):
            self._found(BreakKind.PAYLOAD, where, "its bytes do not have its digest and length")
        elif data is None and not state.revoked and state.size is not None:
            self._found(BreakKind.PAYLOAD, where, "its bytes are missing")
