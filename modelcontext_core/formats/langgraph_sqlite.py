"""The SQLite file of LangGraph's saver: read from memory, never written, no trigger or view of it is run."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any, Final

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.containers.jsonload import BadJson, loads
from modelcontext_core.formats.containers.msgpack import BadMsgpack, unpack
from modelcontext_core.formats.nodes import Document, Node

__all__ = ["checkpoints_in", "is_checkpoint_file"]

_ROWS: Final = 100_000
_STEPS: Final = 2_000  # times 100,000 instructions of SQLite's machine
_CHECKPOINTS: Final = (
    "SELECT thread_id, checkpoint_ns, checkpoint_id, type, checkpoint FROM checkpoints"
    " ORDER BY thread_id, checkpoint_ns, checkpoint_id DESC"
)
_WRITES: Final = (
    "SELECT thread_id, checkpoint_ns, checkpoint_id, type, value, channel FROM writes"
    " ORDER BY thread_id, checkpoint_ns, checkpoint_id, idx"
)


def is_checkpoint_file(head: bytes) -> bool:
    """True for the beginning of a database with the saver's tables."""
    return b"CREATE TABLE" in head and b"checkpoint_id" in head and b"thread_id" in head


def checkpoints_in(node: Node, builder: Builder) -> Iterator[tuple[str, Node, bool]]:
    """Thread, state and `False` for each checkpoint, the newest first; then thread, channels and `True` for each write
    that stands beside them. What cannot be read is reported."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(_without_log(node.document.data))
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        steps = iter(range(_STEPS))
        connection.set_progress_handler(lambda: next(steps, None) is None, 100_000)
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table, query in (("checkpoints", _CHECKPOINTS), ("writes", _WRITES)):
            if table in tables:
                yield from _rows(connection, query, builder)
            else:
                builder.notice("skipped", table, "the database has no table of this name")
    except (sqlite3.Error, OverflowError, MemoryError, ValueError) as error:
        builder.notice("damaged", "the database", f"the database cannot be read further: {error}")
    finally:
        connection.close()


def _without_log(data: bytes) -> bytes:
    """The file with its write-ahead log switched off, which a database in memory cannot have."""
    return data[:18] + b"\1\1" + data[20:] if data[18:20] == b"\2\2" else data


def _rows(connection: sqlite3.Connection, query: str, builder: Builder) -> Iterator[tuple[str, Node, bool]]:
    for number, (thread, namespace, checkpoint, kind, blob, *channel) in enumerate(connection.execute(query)):
        where = f"thread {thread}, checkpoint {checkpoint}"
        if namespace:
            where += f" of {namespace}"
        if number >= _ROWS:
            builder.notice("limit", where, f"the limit is {_ROWS:,} rows a table: what follows is left out")
            return
        value = _decoded(kind, blob, where, builder)
        if channel:
            value = {str(channel[0]): value}
        elif isinstance(value, dict):
            value = value.get("channel_values")
        if value:
            data = json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")
            yield str(thread), Document(data, value, where=where).root, bool(channel)


def _decoded(kind: Any, blob: Any, where: str, builder: Builder) -> Any:
    """The value of a blob: MessagePack, or JSON in older files."""
    if kind in (None, "null", "empty") or not isinstance(blob, bytes | str) or not blob:
        return None
    data = blob.encode("utf-8", "surrogatepass") if isinstance(blob, str) else blob
    try:
        return unpack(data) if kind == "msgpack" else loads(data)
    except (BadMsgpack, BadJson) as error:
        builder.notice("damaged", where, f"a value cannot be read and is left out: {error}")
        return None
