"""Files of other people's stores, with wrong values in any cell: the Sessions page shows them or says what is wrong."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from inspector_app import stores
from inspector_app.views import sessions, sessions_diff, sessions_timeline
from modelcontext_core.contextstate import ContextStateError, SessionHead, open_store
from tests.contextstate.builders import Clock
from tests.formats.traces import FIXTURES
from tests.fuzz import imports, mutations

__all__ = ["own_store", "run"]

_ODD: Final[Sequence[Any]] = (
    *(None, 0, -1, 1, 2, 2**31, 10**13, 2**63 - 1, -(2**63), 0.5, 1e308, float("inf"), "", b"", "x", b"\xff\xfe"),
    *("null", "[]", "{}", "json", "msgpack", '{"channel_values": 7}', '{"ts": "9999-12-31T23:59:59+00:00", "v": true}'),
    '{"v": 1e400, "channel_values": {"messages": [{"type": [1], "content": {"a": NaN}, "tool_call_id": 7}]}}',
    *("[" * 500 + "]" * 500, '{"channel_values":' * 400 + "1" + "}" * 400, b"\x91" * 190 + b"\xc0", b"\xc1"),
    *(b"\xdd\xff\xff\xff\xff", b"\x81\xaechannel_values" + b"\x91" * 190 + b"\xc0"),
    b"\x82\xa1v\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xa2ts\xa40001",
)  # fmt: skip
_MOST: Final = 4
_COLOURS: Final = sessions_timeline.palette("light")


@cache
def own_store() -> bytes:
    """A database with the sessions of the store import's cases."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder, "store.db")
        store = open_store(f"sqlite:///{path}", clock=Clock())
        for name in ("whole", "small"):
            store.import_(imports.exports()[name])
        store.close()
        return path.read_bytes()


@cache
def _files() -> list[bytes]:
    savers = [path.read_bytes() for path in sorted((FIXTURES / "langgraph_checkpoint").glob("*.sqlite"))]
    return [*savers, *[own_store()] * len(savers)]


def run(number: int) -> None:
    """Runs one case; raises whatever the page would not have expected."""
    rng = random.Random(f"stores {number}")
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        path = Path(folder, "store.db")
        data = rng.choice(_files())
        path.write_bytes(data)
        if rng.random() < 0.85:
            _rewrite(rng, path)
        if rng.random() < 0.25:
            path.write_bytes(mutations.damaged(rng, path.read_bytes()))
        before = path.read_bytes()
        _looked_at(rng, path)
        assert before == path.read_bytes(), "looking at a store changed it"
        assert [path] == list(Path(folder).iterdir()), "looking at a store made a file beside it"


def _rewrite(rng: random.Random, path: Path) -> None:
    """What anybody can write with SQLite: other values, rows that are gone or doubled, tables of another shape."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("PRAGMA ignore_check_constraints = ON")
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for _ in range(rng.randint(1, 3)):
            # What the database itself refuses is no case.
            with contextlib.suppress(sqlite3.Error, OverflowError, UnicodeError):
                _change(rng, database, rng.choice(tables))


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


def _looked_at(rng: random.Random, path: Path) -> None:
    """Everything that the page reads, in its order; a session that cannot be shown does not keep others away."""
    with contextlib.suppress(ContextStateError):
        stores.needs_migration(path)
        opened = stores.open_file(path)
        try:
            opened.store.info()
            heads = opened.store.sessions(limit=_MOST, contexts=False)
            sessions.session_rows(heads)
            for name in [head.session_id for head in heads]:
                with contextlib.suppress(ContextStateError):
                    _session(rng, opened, opened.store.head(name, contexts=rng.random() < 0.5))
        finally:
            stores.shelf().forget(opened.key)


def _session(rng: random.Random, opened: stores.OpenStore, head: SessionHead) -> None:
    store, name = opened.store, head.session_id
    reading: list[Callable[[], object]] = [
        lambda: sessions.session_facts(head, store.payload_totals(name), None, verifiable=True),
        lambda: _history(opened, head, drawn=rng.random() < 0.05),
        lambda: _contexts(opened, head),
        lambda: sessions.event_rows(store.events(name, 0, 100)),
        lambda: sessions.payload_rows(store.payloads(name, 0, 100)),
        lambda: opened.full and sessions.break_rows(opened.full.verify(name)),
        lambda: opened.full and list(opened.full.export(name)),
    ]
    rng.shuffle(reading)
    for read in reading:
        with contextlib.suppress(ContextStateError):
            json.dumps(read(), default=repr)


def _history(opened: stores.OpenStore, head: SessionHead, *, drawn: bool) -> object:
    entries = opened.store.history(head.session_id, 0, _MOST, contexts=False)
    if drawn:  # what takes long is the drawing, whatever is drawn
        total, revision = head.revision.source, head.revision.session
        sessions_timeline.timeline(entries, _COLOURS, before=None, total=total, revision=revision, base=1).to_json()
        sessions_timeline.timeline_head(_COLOURS, total)
    return sessions.operation_rows(entries)


def _contexts(opened: stores.OpenStore, head: SessionHead) -> object:
    newest = opened.store.checkpoint_at(head.session_id, head.revision.session)
    return sessions_diff.one_view(newest), sessions_diff.diff_view(
        opened.store.checkpoint_at(head.session_id, max(1, head.revision.session - 1)), newest
    )
