"""Lines back into a session, through the checks that its commits once passed. What the lines are, `transfer` says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from modelcontext_core.contextstate import validation
from modelcontext_core.contextstate.errors import CheckpointConflictError, ContextStateError, InvalidRecordError
from modelcontext_core.contextstate.fingerprint import request_fingerprint
from modelcontext_core.contextstate.jsonio import from_tree, read_bytes, read_object
from modelcontext_core.contextstate.listings import ImportReport
from modelcontext_core.contextstate.records import CommitRequest, Limits, PayloadRecord
from modelcontext_core.contextstate.refs import digest
from modelcontext_core.contextstate.stores import steps
from modelcontext_core.contextstate.stores.rows import Rows, SessionRow
from modelcontext_core.contextstate.stores.transfer import EXPORT_FORMAT, EXPORT_VERSION, read_chain

__all__ = ["import_session"]


def import_session(
    rows: Rows, lines: Iterable[bytes] | bytes, limits: Limits, clock: Callable[[], datetime]
) -> tuple[ImportReport, bool]:
    """Import within one transaction; the report, and whether a payload was revoked by it.

    Whatever is wrong raises with its `line`, and the transaction's end must then leave nothing.
    """
    importer = _Import(rows, limits, clock)
    number = 0
    for number, kind, members in read_chain(lines):
        try:
            importer.take(kind, members)
        except ContextStateError as error:
            error.line = number
            raise
    if not importer.ended:
        missing = InvalidRecordError("", "the end of the export is missing")
        missing.line = number + 1
        raise missing
    return importer.report(), importer.revoked


@dataclass(frozen=True, slots=True)
class _Given:
    """What a commit's original request said of one payload, where the line's own record differs."""

    data: bool
    revoked: bool


class _Import:
    def __init__(self, rows: Rows, limits: Limits, clock: Callable[[], datetime]) -> None:
        self._rows = rows
        self._limits = limits
        self._clock = clock
        self._session_id = ""
        self._stored: SessionRow | None = None
        # Bytes that no commit or payload took yet, the last context, and the size of all payload bytes so far.
        self._pending: dict[str, bytes] = {}
        self._context: tuple[str, bytes] = ("", b"")
        self._sizes: dict[str, int] = {}
        self._commits = 0
        self._events = 0
        self._payloads = 0
        self.revoked = False
        self.ended = False

    def take(self, kind: str, members: dict[str, Any]) -> None:
        """Check and apply one item."""
        if self.ended:
            raise InvalidRecordError("item", "nothing may follow the end")
        if bool(self._session_id) == (kind == "session"):
            raise InvalidRecordError("item.type", "must be session in the first line and only there")
        if kind == "commit" and self._payloads:
            raise InvalidRecordError("item.type", "must not be commit after a payload")
        getattr(self, f"_take_{kind}")(**members)

    def report(self) -> ImportReport:
        return ImportReport(
            session_id=self._session_id,
            checkpoints=self._commits,
            events=self._events,
            payloads=self._payloads,
            imported=self._stored is None,
        )

    def _take_session(self, format: Any, version: Any, session_id: Any) -> None:  # noqa: A002
        if format != EXPORT_FORMAT:
            raise InvalidRecordError("item.format", f"must be {EXPORT_FORMAT}")
        if version != EXPORT_VERSION or isinstance(version, bool):
            raise InvalidRecordError("item.version", f"must be {EXPORT_VERSION}")
        validation.identifier(session_id, "item.session_id")
        self._session_id = session_id
        self._stored = self._rows.find_session(session_id)

    def _take_bytes(self, sha256: Any, data: Any) -> None:
        content = read_bytes(data, "item.data")
        if digest(content) != sha256:
            raise InvalidRecordError("item.sha256", "must be the digest of the data")
        self._pending[sha256] = content

    # ---- commits

    def _take_commit(self, request: Any, context: Any, given: Any) -> None:
        bare = from_tree(CommitRequest, request, "item.request")
        if bare.session_id != self._session_id:
            raise InvalidRecordError("item.request.session_id", "must be the session of the export")
        # The original request, less payload data: the chain of commits is checked as it was made.
        original = replace(
            bare,
            checkpoint=replace(bare.checkpoint, active_context=self._active_context(context)),
            payloads=tuple(
                replace(record, revoked=item.revoked, data=b"")
                for record, item in zip(bare.payloads, _read_given(given, len(bare.payloads)), strict=True)
            ),
        )
        had_data = tuple(item.data for item in _read_given(given, len(bare.payloads)))
        original.validate()
        validation.within_limits(original, self._limits)
        digests = [record.ref.sha256 if had else "" for record, had in zip(original.payloads, had_data, strict=True)]
        prepared = steps.PreparedCommit(
            request=original,
            fingerprint=request_fingerprint(original, digests),
            had_data=had_data,
            puts=tuple(
                replace(record, data=self._payload_data(record, f"item.request.payloads[{index}].") if had else b"")
                for index, (record, had) in enumerate(zip(bare.payloads, had_data, strict=True))
            ),
        )
        self._pending.clear()
        self._apply(prepared)
        self._commits += 1
        self._events += len(original.new_source_events)

    def _active_context(self, sha256: Any) -> bytes:
        if isinstance(sha256, str) and sha256 in self._pending:
            self._context = (sha256, self._pending[sha256])
        if self._context[0] != sha256:
            raise InvalidRecordError("item.context", "its bytes are missing")
        return self._context[1]

    def _payload_data(self, record: PayloadRecord, path: str) -> bytes:
        """The bytes that the file gives for a payload, empty when a line before took them or it is revoked."""
        if record.revoked:
            return b""
        sha256 = record.ref.sha256
        data = self._pending.get(sha256, b"")
        size = len(data) if data else self._sizes.get(sha256)
        if size is None:
            raise InvalidRecordError(f"{path}ref", "its bytes are missing")
        if size != record.ref.size:
            raise InvalidRecordError(f"{path}ref.size", "must be the length of the bytes")
        self._sizes[sha256] = size
        return data

    def _apply(self, prepared: steps.PreparedCommit) -> None:
        request = prepared.request
        if self._stored is None:
            if self._rows.find_operation(request.operation_id) is not None:
                raise CheckpointConflictError(request.operation_id, "another session used the key")
            self.revoked |= steps.commit(self._rows, prepared, self._clock())
            return
        found = self._rows.commits(self._stored, request.expected.session, 1)
        if not found:
            raise CheckpointConflictError(request.operation_id, "the stored session has no such checkpoint")
        if found[0].fingerprint != prepared.fingerprint or found[0].revision != request.checkpoint.revision:
            raise CheckpointConflictError(request.operation_id, "the stored session has another checkpoint here")

    # ---- payloads

    def _take_payload(self, record: Any, stored: Any) -> None:
        payload = from_tree(PayloadRecord, record, "item.record")
        payload.validate()
        if payload.ref.session_id != self._session_id:
            raise InvalidRecordError("item.record.ref.session_id", "must be the session of the export")
        if payload.data or not isinstance(stored, bool) or (stored and payload.revoked):
            raise InvalidRecordError("item.stored", "must say whether bytes lines gave the data")
        data = self._payload_data(payload, "item.record.") if stored else b""
        self._pending.clear()
        if self._stored is None:
            self._put(replace(payload, data=data))
        else:
            self._compare(payload, stored)
        self._payloads += 1

    def _put(self, record: PayloadRecord) -> None:
        state = self._rows.find_payload(record.ref.sha256)
        known = state is not None and self._rows.find_holder(state, record.ref) is not None
        # A commit of this export has counted the use already.
        self.revoked |= steps.put_payload(self._rows, record, counted=not known)

    def _compare(self, record: PayloadRecord, stored: bool) -> None:
        """A stored session is the same as long as it holds what the file says; a revocation here stands above it."""
        state = self._rows.find_payload(record.ref.sha256)
        if state is not None and state.revoked:
            return
        holder = None if state is None else self._rows.find_holder(state, record.ref)
        if state is None or holder is None or record.revoked:
            raise CheckpointConflictError(record.ref.ref, "the stored session holds this payload differently")
        if holder.retention != record.retention or (stored and not state.stored):
            raise CheckpointConflictError(record.ref.ref, "the stored session keeps this payload differently")

    def _take_end(self, commits: Any, payloads: Any) -> None:
        if (commits, payloads) != (self._commits, self._payloads):
            raise InvalidRecordError("item", "must count the lines before")
        if not self._commits:
            raise InvalidRecordError("item.commits", "must be positive")
        if self._stored is not None and self._stored.revision.session != self._commits:
            raise CheckpointConflictError("", "the stored session has more checkpoints")
        self.ended = True


def _read_given(value: Any, count: int) -> list[_Given]:
    if not isinstance(value, list) or len(value) != count:
        raise InvalidRecordError("item.given", "must be one entry a payload")
    entries = []
    for index, item in enumerate(value):
        path = f"item.given[{index}]"
        members = read_object(item, path)
        if members.keys() != {"data", "revoked"} or not all(isinstance(flag, bool) for flag in members.values()):
            raise InvalidRecordError(path, "must say data and revoked")
        entries.append(_Given(**members))
    return entries
