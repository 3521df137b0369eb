"""A LangGraph SQLite checkpoint file, read as sessions: threads, their checkpoints, the messages in them.

Only read: the file is opened so that nothing can be written, no trigger or view of it runs, and no class that it names
is looked up. What a LangGraph file does not have stays empty: payloads, attempts, digests to verify. A thread is a
session, its checkpoints are numbered from 1 in the order of their ids (which are times), and the source counter is the
number of messages. The binding is what the newest answer says of its model.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from modelcontext_core.contextstate import (
    BindingRevision,
    Checkpoint,
    CheckpointID,
    DamagedStoreError,
    HistoryEntry,
    PayloadRow,
    PayloadTotals,
    Revision,
    SessionHead,
    SessionNotFoundError,
    SourceEvent,
    SourceID,
    SourceRange,
    StoreError,
    StoreInfo,
)
from modelcontext_core.formats.containers.msgpack import BadMsgpack, unpack

__all__ = ["UNREADABLE", "LangGraphFile", "is_langgraph_file", "uri_for_reading"]

_SEPARATOR: Final = " › "
_TOO_DEEP: Final = "[nested too deep to be shown]"
_COLUMNS: Final = {"thread_id", "checkpoint_ns", "checkpoint_id", "type", "checkpoint"}
# A view of this name may never end.
_IS_TABLE: Final = "SELECT 1 FROM sqlite_master WHERE lower(name) = 'checkpoints' AND sql LIKE 'CREATE TABLE%'"
_ROWS: Final = (
    "SELECT checkpoint_id, type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
    " ORDER BY checkpoint_id LIMIT ? OFFSET ?"
)
# SQLite quotes the damaged text of a table in its message, which may be no UTF-8.
UNREADABLE: Final = (sqlite3.Error, UnicodeDecodeError)
_ROLES: Final = {"human": "user", "ai": "assistant", "HumanMessage": "user", "AIMessage": "assistant"}


def is_langgraph_file(path: Path) -> bool:
    """Return whether a SQLite file has the table of LangGraph's saver."""
    try:
        connection = _connect(path)
    except UNREADABLE:
        return False
    try:
        named = {str(row[1]) for row in connection.execute("PRAGMA table_info(checkpoints)")}
        return named >= _COLUMNS and connection.execute(_IS_TABLE).fetchone() is not None
    except UNREADABLE:
        return False
    finally:
        connection.close()


def uri_for_reading(path: Path) -> str:
    """The address at which SQLite opens a file without making any other beside it.

    A file in WAL mode that is opened the usual way gets two companions, even when it is only read. Without a log to
    take in, it can be read as it stands.
    """
    logs = (path.with_name(path.name + ending) for ending in ("-wal", "-journal"))
    pending = any(log.exists() and log.stat().st_size for log in logs)
    return f"{path.absolute().as_uri()}?mode=ro{'' if pending else '&immutable=1'}"


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(uri_for_reading(path), uri=True, check_same_thread=False, timeout=10)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.OperationalError:
        # A log that cannot be taken in, in a folder where nothing may be made: read as it stands.
        connection.close()
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False, timeout=10
        )
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _said(error: Exception) -> str:
    return "its tables cannot be read" if isinstance(error, UnicodeDecodeError) else str(error)


class LangGraphFile:
    """The listings of a store over a LangGraph file. Raises `StoreError` where it cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            self._connection = _connect(path)
        except UNREADABLE as error:
            raise StoreError(path.name, _said(error)) from error

    def _run(self, query: str, *values: object) -> list[Sequence[Any]]:
        with self._lock:
            try:
                return self._connection.execute(query, values).fetchall()
            except UNREADABLE as error:
                raise StoreError(self._path.name, _said(error)) from error

    def info(self) -> StoreInfo:
        """Kind `langgraph`, the path and the size of the file."""
        found = self._run("SELECT COUNT(*) FROM (SELECT DISTINCT thread_id, checkpoint_ns FROM checkpoints)")
        return StoreInfo(
            kind="langgraph",
            location=str(self._path),
            sessions=int(found[0][0]),
            bytes=self._path.stat().st_size,
            schema_version=0,
            read_only=True,
        )

    def sessions(
        self,
        prefix: str = "",
        after: str = "",
        limit: int = 100,
        *,
        contexts: bool = True,  # noqa: ARG002 as of a store
    ) -> tuple[SessionHead, ...]:
        """Threads whose id starts with `prefix`; without what only their checkpoints say."""
        names = self._run(
            "SELECT thread_id, checkpoint_ns, COUNT(*) FROM checkpoints WHERE substr(thread_id, 1, length(?1)) = ?1"
            " AND (thread_id || CASE checkpoint_ns WHEN '' THEN '' ELSE ?2 || checkpoint_ns END) > ?3"
            " GROUP BY thread_id, checkpoint_ns ORDER BY thread_id || CASE checkpoint_ns WHEN '' THEN '' ELSE"
            " ?2 || checkpoint_ns END LIMIT ?4",
            prefix,
            _SEPARATOR,
            after,
            limit,
        )
        return tuple(
            _head(_name(str(thread), str(namespace)), _entry(_name(str(thread), str(namespace)), int(count), {}, 0, ""))
            for thread, namespace, count in names
        )

    def session_ids(self, prefix: str = "", after: str = "", limit: int = 100) -> tuple[str, ...]:
        """The ids of `sessions` alone."""
        return tuple(head.session_id for head in self.sessions(prefix, after, limit))

    def head(self, session_id: str, *, contexts: bool = True) -> SessionHead:
        """The newest checkpoint of a thread."""
        total = self._count(session_id)
        return _head(session_id, self.history(session_id, total - 1, 1, contexts=contexts)[-1])

    def history(
        self, session_id: str, after: int = 0, limit: int = 100, *, contexts: bool = True
    ) -> tuple[HistoryEntry, ...]:
        """The checkpoints of a thread, oldest first."""
        self._count(session_id)
        first = max(after - 1, 0)
        rows = self._run(_ROWS, *self._place(session_id), limit + (after - first), first)
        entries: list[HistoryEntry] = []
        before = 0
        for number, (name, kind, blob) in enumerate(rows, start=first + 1):
            value = self._value(number, kind, blob)
            entry = _entry(session_id, number, value, before, str(name), context=_context(value) if contexts else None)
            entry = entry if contexts else _sized(entry, len(blob or b""))
            before = entry.checkpoint.revision.source
            if number > after:
                entries.append(entry)
        return tuple(entries)

    def checkpoint_at(self, session_id: str, revision: int) -> Checkpoint:
        """One checkpoint, its channels as JSON."""
        found = self.history(session_id, revision - 1, 1)
        if not found:
            raise SessionNotFoundError(session_id)
        return found[0].checkpoint

    def events(self, session_id: str, after: int = 0, limit: int = 100) -> tuple[SourceEvent, ...]:
        """The messages in the newest checkpoint."""
        total = self._count(session_id)
        [(_, kind, blob)] = self._run(_ROWS, *self._place(session_id), 1, total - 1)
        messages = _messages(self._value(total, kind, blob))
        return tuple(
            _event(session_id, number, message)
            for number, message in enumerate(messages[after : after + limit], start=after + 1)
        )

    def payloads(self, session_id: str, after: int = 0, limit: int = 100) -> tuple[PayloadRow, ...]:  # noqa: ARG002
        """None: a LangGraph file keeps its values inside its checkpoints."""
        return ()

    def payload_totals(self, session_id: str) -> PayloadTotals:  # noqa: ARG002
        """Zeros."""
        return PayloadTotals()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _place(self, session_id: str) -> tuple[str, str]:
        # A thread may hold the separator in its own name.
        known = self._run("SELECT 1 FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' LIMIT 1", session_id)
        thread, separator, namespace = session_id.rpartition(_SEPARATOR)
        return (thread, namespace) if separator and not known else (session_id, "")

    def _count(self, session_id: str) -> int:
        query = "SELECT COUNT(*) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
        total = int(self._run(query, *self._place(session_id))[0][0])
        if not total:
            raise SessionNotFoundError(session_id)
        return total

    def _value(self, number: int, kind: Any, blob: Any) -> Mapping[str, Any]:
        data = blob.encode() if isinstance(blob, str) else blob
        try:
            if not isinstance(data, bytes):  # a cell may hold a number, which `bytes` would make zeros of
                raise ValueError("there is no checkpoint in its place")
            value = unpack(data) if kind == "msgpack" else json.loads(data)
        except (BadMsgpack, ValueError, RecursionError) as error:
            raise DamagedStoreError(self._path.name, f"checkpoint {number}", f"it cannot be read: {error}") from error
        return value if isinstance(value, dict) else {}


def _name(thread: str, namespace: str) -> str:
    return f"{thread}{_SEPARATOR}{namespace}" if namespace else thread


def _messages(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    channels = value.get("channel_values")
    messages = channels.get("messages") if isinstance(channels, dict) else None
    return [each for each in messages if isinstance(each, dict)] if isinstance(messages, list) else []


def _context(value: Mapping[str, Any]) -> bytes:
    return _json(value.get("channel_values", {}), indent=1).encode("utf-8", "surrogatepass")


def _json(value: object, indent: int | None = None) -> str:
    try:
        return json.dumps(value, indent=indent, ensure_ascii=False, default=str)
    except RecursionError:  # some versions of Python read deeper than they write
        return _TOO_DEEP


def _binding(messages: Sequence[Mapping[str, Any]]) -> BindingRevision:
    for message in reversed(messages):
        told = message.get("response_metadata")
        if isinstance(told, dict) and isinstance(told.get("model_name"), str):
            provider = told.get("model_provider")
            return BindingRevision(
                provider=provider if isinstance(provider, str) else "langgraph", model=told["model_name"], generation=1
            )
    return BindingRevision(provider="langgraph", model="–", generation=1)


def _time(value: Mapping[str, Any]) -> datetime:
    with suppress(ValueError, TypeError):
        found = datetime.fromisoformat(str(value.get("ts")))
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return datetime.fromtimestamp(0, UTC)


def _entry(
    session_id: str, number: int, value: Mapping[str, Any], before: int, name: str, context: bytes | None = None
) -> HistoryEntry:
    messages = _messages(value)
    binding = _binding(messages)
    checkpoint = Checkpoint(
        id=CheckpointID(
            session_id=session_id,
            source_range=SourceRange(
                start=SourceID(session_id=session_id, sequence=min(1, len(messages))),
                end=SourceID(session_id=session_id, sequence=len(messages)),
            ),
            algorithm="langgraph",
            schema_version=int(value["v"]) if isinstance(value.get("v"), int) else 1,
            idempotency_key=name,
        ),
        revision=Revision(session=number, durable=number, source=len(messages)),
        binding=binding,
        active_context=context or b"",
        turn_id=number,
    )
    return HistoryEntry(
        checkpoint=checkpoint,
        operation_id=name,
        expected_binding=binding,
        new_events=max(len(messages) - before, 0),
        payloads=(),
        context_bytes=len(context or b""),
        context_sha256=sha256(context or b"").hexdigest(),
        committed_at=_time(value),
    )


def _sized(entry: HistoryEntry, size: int) -> HistoryEntry:
    return HistoryEntry(
        checkpoint=entry.checkpoint,
        operation_id=entry.operation_id,
        expected_binding=entry.expected_binding,
        new_events=entry.new_events,
        payloads=(),
        context_bytes=size,
        context_sha256=entry.context_sha256,
        committed_at=entry.committed_at,
    )


def _head(session_id: str, entry: HistoryEntry) -> SessionHead:
    checkpoint = entry.checkpoint
    return SessionHead(
        session_id=session_id,
        revision=checkpoint.revision,
        binding=checkpoint.binding,
        active=checkpoint,
        event_count=checkpoint.revision.source,
        payload_count=0,
        context_bytes=entry.context_bytes,
        committed_at=entry.committed_at,
    )


def _event(session_id: str, number: int, message: Mapping[str, Any]) -> SourceEvent:
    kind = str(message.get("type", "message"))
    call = message.get("tool_call_id")
    content = message.get("content", "")
    text = content if isinstance(content, str) else _json(content)
    return SourceEvent(
        id=SourceID(session_id=session_id, sequence=number),
        kind="tool_result" if call else "message",
        role=_ROLES.get(kind, kind),
        tool_call_id=call if isinstance(call, str) else "",
        payload_ref="",
        provenance="langgraph",
        redaction_status="–",
        size=len(text.encode("utf-8", "surrogatepass")),
    )
