"""A session as lines. What the lines are, `transfer` says."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import replace

from modelcontext_core.contextstate.errors import DamagedStoreError, SessionNotFoundError
from modelcontext_core.contextstate.fingerprint import is_same_request
from modelcontext_core.contextstate.jsonio import to_tree
from modelcontext_core.contextstate.records import CommitRequest, SourceEvent
from modelcontext_core.contextstate.refs import digest
from modelcontext_core.contextstate.stores import steps
from modelcontext_core.contextstate.stores.rows import CommitRow, HolderRow, ReadRows, Rows, SessionRow, to_request
from modelcontext_core.contextstate.stores.transfer import EXPORT_FORMAT, EXPORT_VERSION, ChainWriter

__all__ = ["export"]

_BATCH = 500


def export(read: ReadRows, location: str, session_id: str) -> Iterator[bytes]:
    """The lines of a session as it is now, one at a time; raises `SessionNotFoundError` at once.

    No transaction stays open between two lines: a commit never changes, so a slow reader need hold nobody up. Raises
    `DamagedStoreError` where something cannot be read back as it was written.
    """
    with read() as rows:
        session = steps.find_session(rows, session_id)
    if session.revision.session < 1:
        raise DamagedStoreError(location, "head", "it counts no checkpoint")
    return _Export(read, location, session).lines()


class _Export:
    def __init__(self, read: ReadRows, location: str, session: SessionRow) -> None:
        self._read = read
        self._location = location
        self._session = session
        self._writer = ChainWriter()
        # What the reader has: the bytes of these payloads, and of the last context only, so that it can forget.
        self._given: set[str] = set()
        self._context = ""

    def lines(self) -> Iterator[bytes]:
        session = self._session
        yield self._writer.line("session", format=EXPORT_FORMAT, version=EXPORT_VERSION, session_id=session.session_id)
        for revision in range(1, session.revision.session + 1):
            with self._read() as rows:
                lines = self._commit(rows, revision)
            yield from lines
        holders = self._holders()
        for holder in holders:
            with self._read() as rows:
                lines = self._payload(rows, holder)
            yield from lines
        yield self._writer.line("end", commits=session.revision.session, payloads=len(holders))

    def _commit(self, rows: Rows, revision: int) -> list[bytes]:
        found = rows.commits(self._session, revision - 1, 1)
        if not found:
            if rows.find_session(self._session.session_id) != self._session:
                # Deleted since the first line, perhaps made anew: what came so far has no end and imports nowhere.
                raise SessionNotFoundError(self._session.session_id)
            raise self._damaged(f"checkpoint {revision}", "it is missing")
        row = found[0]
        context = rows.context(self._session.number, row.context_sha256)
        if context is None or digest(context) != row.context_sha256:
            raise self._damaged(f"checkpoint {revision}", "its active context does not have its digest")
        request = self._request(rows, row, context)
        lines = []
        if row.context_sha256 != self._context:
            self._context = row.context_sha256
            lines.append(self._bytes(row.context_sha256, context))
        revoked = []
        for given in row.payloads:
            data, is_revoked = self._payload_bytes(rows, given.record.ref.sha256, given.had_data)
            revoked.append(is_revoked or given.record.revoked)
            lines.extend(data)
        lines.append(self._commit_line(row, request, revoked))
        return lines

    def _request(self, rows: Rows, row: CommitRow, context: bytes) -> CommitRequest:
        """The request that was committed. The file cannot tell another one: it would import, and verify there."""
        events: Sequence[SourceEvent] = ()
        if 0 < row.events <= row.revision.source:
            events = rows.events(self._session, row.revision.source - row.events, row.events)
        request = to_request(row, events, context)
        digests = [given.record.ref.sha256 if given.had_data else "" for given in row.payloads]
        if len(events) != row.events or not is_same_request(request, row.fingerprint, digests):
            raise self._damaged(f"checkpoint {row.revision.session}", "what is stored of it is not what was committed")
        return request

    def _commit_line(self, row: CommitRow, request: CommitRequest, revoked: list[bool]) -> bytes:
        tree = to_tree(replace(request, checkpoint=replace(request.checkpoint, active_context=b"")))
        for record, is_revoked in zip(tree.get("payloads", ()), revoked, strict=True):
            record["revoked"] = is_revoked
        given = [{"data": item.had_data, "revoked": item.record.revoked} for item in row.payloads]
        return self._writer.line("commit", request=tree, context=row.context_sha256, given=given)

    def _payload_bytes(self, rows: Rows, sha256: str, wanted: bool) -> tuple[list[bytes], bool]:
        """The line with the payload's bytes, if the reader lacks them, and whether the payload is revoked."""
        state = rows.find_payload(sha256)
        if state is None:
            raise self._damaged(f"payload sha256:{sha256}", "it is missing")
        if state.revoked or not wanted or sha256 in self._given:
            return [], state.revoked
        data = rows.payload_bytes(state.number)
        if data is None or digest(data) != sha256:
            raise self._damaged(f"payload sha256:{sha256}", "its bytes do not have its digest")
        self._given.add(sha256)
        return [self._bytes(sha256, data)], False

    def _holders(self) -> list[HolderRow]:
        """All holders, those of one digest in the order of their puts: the last put stays the last."""
        holders: list[HolderRow] = []
        while True:
            with self._read() as rows:
                page = rows.holders(self._session.session_id, holders[-1].number if holders else 0, _BATCH)
            holders.extend(page)
            if len(page) < _BATCH:
                return sorted(holders, key=lambda holder: (holder.ref.sha256, holder.put))

    def _payload(self, rows: Rows, holder: HolderRow) -> list[bytes]:
        if not holder.sound:
            raise self._damaged(f"payload {holder.ref.ref}", "what is stored of its holder is damaged")
        stored = holder.payload.stored
        lines, revoked = self._payload_bytes(rows, holder.ref.sha256, stored)
        record = replace(holder.record(), revoked=revoked)
        lines.append(self._writer.line("payload", record=to_tree(record), stored=stored and not revoked))
        return lines

    def _bytes(self, sha256: str, data: bytes) -> bytes:
        return self._writer.line("bytes", sha256=sha256, data=base64.b64encode(data).decode("ascii"))

    def _damaged(self, where: str, reason: str) -> DamagedStoreError:
        return DamagedStoreError(self._location, where, reason)
