"""Databases with wrong values in any cell, or of another shape: what anybody can write with SQLite."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from tests.fuzz import mutations

__all__ = ["rewritten"]

_ODD: Final[Sequence[Any]] = (
    *(None, 0, -1, 1, 2, 2**31, 10**13, 2**63 - 1, -(2**63), 0.5, 1e308, float("inf"), "", b"", "x", b"\xff\xfe"),
    *("null", "[]", "{}", "json", "msgpack", '{"channel_values": 7}', '{"ts": "9999-12-31T23:59:59+00:00", "v": true}'),
    '{"v": 1e400, "channel_values": {"messages": [{"type": [1], "content": {"a": NaN}, "tool_call_id": 7}]}}',
    *("[" * 500 + "]" * 500, '{"channel_values":' * 400 + "1" + "}" * 400, b"\x91" * 190 + b"\xc0", b"\xc1"),
    *(b"\xdd\xff\xff\xff\xff", b"\x81\xaechannel_values" + b"\x91" * 190 + b"\xc0"),
    b"\x82\xa1v\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xa2ts\xa40001",
)  # fmt: skip


def rewritten(rng: random.Random, data: bytes) -> bytes:
    """The database with other values, rows that are gone or doubled, or a table of another shape."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.deserialize(data)
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("PRAGMA ignore_check_constraints = ON")
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for _ in range(rng.randint(1, 3)):
            # What the database itself refuses is no case.
            with contextlib.suppress(sqlite3.Error, OverflowError, UnicodeError):
                _change(rng, database, rng.choice(tables))
        return database.serialize()


def _change(rng: random.Random, database: sqlite3.Connection, table: str) -> None:
    columns = [str(row[1]) for row in database.execute(f'PRAGMA table_info("{table}")')]
    column, kind = rng.choice(columns), rng.random()
    row = f'rowid = (SELECT rowid FROM "{table}" ORDER BY rowid LIMIT 1 OFFSET {rng.randrange(4)})'
    if kind < 0.8:
        was = database.execute(f'SELECT "{column}" FROM "{table}" WHERE {row}').fetchone()
        value = _value(rng, was[0] if was else None)
        database.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE {row if rng.random() < 0.8 else "1"}', (value,))
    elif kind < 0.87:
        database.execute(f'DELETE FROM "{table}" WHERE {row if rng.random() < 0.8 else "1"}')
    elif kind < 0.94:
        database.execute(f'INSERT INTO "{table}" SELECT * FROM "{table}" WHERE {row}')
    elif kind < 0.96:
        database.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "other"')
    elif kind < 0.98:
        database.execute(f'CREATE TABLE "copy" AS SELECT * FROM "{table}"')
        database.execute(f'DROP TABLE "{table}"')
        database.execute(f'ALTER TABLE "copy" RENAME TO "{table}"')
    else:
        database.execute(f"PRAGMA user_version = {rng.choice((0, 1, 99, -1))}")


def _value(rng: random.Random, was: Any) -> Any:
    kind = rng.random()
    if kind < 0.4:
        return rng.choice(_ODD)
    if kind < 0.5:
        return rng.choice(mutations.HOSTILE).encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(was, int):
        return was + rng.choice((-1, 1, 1000))
    data = was.encode() if isinstance(was, str) else was if isinstance(was, bytes) else b"doc-000001"
    is_json = data[:1] in (b"{", b"[") and rng.random() < 0.5
    changed = mutations.rebuilt(rng, data) if is_json else mutations.damaged(rng, data)
    return changed if isinstance(was, bytes) or rng.random() < 0.1 else changed.decode("utf-8", "replace")
