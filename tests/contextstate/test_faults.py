"""What goes wrong outside of us: a full disk, a protected or damaged file, a lock, a server that goes away.

Each time a sentence says what and where, and what to do; what was stored is whole; done again, it works.
"""

from __future__ import annotations

import os
import pwd
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import psycopg
import pytest

from modelcontext_core.contextstate import (
    CommitRequest,
    ContextStore,
    DamagedStoreError,
    MemoryStore,
    SQLiteStore,
    StoreError,
    open_store,
)
from modelcontext_core.contextstate.stores import sqlite
from tests.contextstate.builders import Clock, commit, grow, payload
from tests.contextstate.conftest import PlaceMaker
from tests.postgres import Server, server_files

BIG = os.urandom(200_000)


@pytest.fixture
def path() -> Iterator[Path]:
    """A SQLite store with a session of three checkpoints, in a folder that is open to everybody."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    folder.chmod(0o777)
    store = SQLiteStore(folder / "store.db", clock=Clock())
    grow(store)
    store.close()
    yield folder / "store.db"
    shutil.rmtree(folder)


def next_commit(context: bytes = BIG) -> CommitRequest:
    """What comes after the three checkpoints, with a payload and a large context."""
    made = MemoryStore()
    last = grow(made)[-1].checkpoint.revision
    return commit("next", expected=last, context=context, payloads=[payload(b"p" * 50_000)])


def unharmed(store: ContextStore) -> None:
    """The three checkpoints are there, nothing of the fourth, and it can be made now."""
    assert store.verify("s").ok
    assert 3 == store.head("s").revision.session
    assert () == store.payloads("s")
    store.checkpoint(next_commit())
    assert store.verify("s").ok
    assert BIG == store.checkpoint_at("s", 4).active_context


@contextmanager
def somebody_without_rights() -> Iterator[None]:
    """As root, who may write to everything, become somebody who may not."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)


# --- SQLite


def test_a_full_disk_keeps_what_was_stored(path: Path) -> None:
    """SQLite's own bound on the file stands for the disk: the commit and the import fail, and leave nothing."""
    store = SQLiteStore(path)
    pages = store._connection.execute("PRAGMA page_count")[0][0]
    store._connection.execute(f"PRAGMA max_page_count = {pages + 8}")
    other = MemoryStore()
    other.checkpoint(commit("o", "other", context=BIG))

    with pytest.raises(StoreError, match="the disk is full, so nothing was stored: make room"):
        store.checkpoint(next_commit())
    with pytest.raises(StoreError, match="the disk is full"):
        store.import_(other.export("other"))

    assert ["s"] == [head.session_id for head in store.sessions()]
    store._connection.execute("PRAGMA max_page_count = 1000000")
    unharmed(store)
    store.close()


def test_what_is_too_large_for_one_piece_is_refused(path: Path) -> None:
    """SQLite bounds a value, a gigabyte by itself: payload and commit fail with a sentence, and leave nothing."""
    store = SQLiteStore(path)
    before = store._connection._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)  # type: ignore[attr-defined]

    with pytest.raises(StoreError, match="larger than it keeps in one piece: nothing was stored"):
        store.put(payload(BIG))
    with pytest.raises(StoreError, match="larger than it keeps in one piece"):
        store.checkpoint(next_commit())

    store._connection._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)  # type: ignore[attr-defined]
    unharmed(store)
    store.close()


def test_a_protected_file_can_be_read_and_says_that_it_cannot_be_written(path: Path) -> None:
    """File and folder are read-only: opening for reading answers, for writing says what to allow."""
    path.chmod(0o444)
    path.parent.chmod(0o555)

    with somebody_without_rights():
        reader = open_store(f"sqlite:///{path}", read_only=True)
        assert reader.verify("s").ok
        reader.close()
        with pytest.raises(StoreError, match="may not be written to, so nothing was stored"):
            open_store(f"sqlite:///{path}").checkpoint(next_commit())
        with pytest.raises(StoreError, match="cannot be opened"):
            open_store(f"sqlite:///{path.parent / 'new.db'}")
    path.chmod(0o644)
    path.parent.chmod(0o777)

    store = SQLiteStore(path)
    unharmed(store)
    store.close()


def test_a_file_that_nobody_may_read_is_named(path: Path) -> None:
    """Without the right to read, it is not called missing."""
    path.chmod(0o000)

    with somebody_without_rights(), pytest.raises(StoreError, match=r"cannot be opened.*check their rights"):
        open_store(f"sqlite:///{path}", read_only=True)


def test_a_lock_that_stays_is_an_error_after_a_while(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer beside another one, and a reader beside somebody who has the file for himself, give up in time."""
    monkeypatch.setattr(sqlite, "_BUSY_SECONDS", 0.1)
    monkeypatch.setattr(sqlite, "_READER_BUSY_SECONDS", 0.1)
    store, reader = SQLiteStore(path), SQLiteStore(path, read_only=True)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreError, match="another program keeps it locked, so nothing was done"):
        store.checkpoint(next_commit())
    assert reader.verify("s").ok

    other.execute("ROLLBACK")
    other.execute("BEGIN EXCLUSIVE")
    if store._connection.execute("PRAGMA journal_mode")[0][0] != "wal":
        with pytest.raises(StoreError, match="keeps it locked"):
            reader.head("s")
    other.execute("ROLLBACK")
    unharmed(store)
    store.close()
    reader.close()


@pytest.mark.parametrize(("at", "said"), [(0, "no SQLite database"), (16, "no SQLite database"), (100, "damaged")])
def test_a_damaged_beginning_is_named_and_the_file_left_alone(path: Path, at: int, said: str) -> None:
    """Wherever the first page is wrong, opening says so, for reading and for writing, and changes no byte."""
    content = bytearray(path.read_bytes())
    content[at : at + 8] = b"\xff" * 8
    path.write_bytes(content)

    for read_only in (True, False):
        with pytest.raises(DamagedStoreError, match=said):
            open_store(f"sqlite:///{path}", read_only=read_only, create=False)

    assert content == path.read_bytes()


def test_a_file_that_was_taken_away_is_an_error_of_the_store(path: Path) -> None:
    """Who deletes the file of an open store gets a sentence from what asks for it."""
    reader = SQLiteStore(path, read_only=True)
    path.unlink()

    with pytest.raises(StoreError, match="its file is gone"):
        reader.info()
    reader.close()


# --- PostgreSQL


def test_a_connection_cut_in_the_middle_of_a_commit_leaves_nothing(place_maker: PlaceMaker) -> None:
    """The server ends our connection between two statements; the next call opens a new one and the commit succeeds."""
    place = place_maker("postgres")
    grow(place.open())
    cut = []

    def clock() -> datetime:
        # A store asks for the time in the middle of its transaction.
        with psycopg.connect(place.url, autocommit=True) as operator:
            cut.append(
                operator.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'"
                ).rowcount
            )
        return datetime.now().astimezone()

    store = open_store(place.url, clock=clock)
    with pytest.raises(StoreError, match="the connection broke and nothing was stored: do it again"):
        store.checkpoint(next_commit())
    store.close()

    assert sum(cut) >= 1
    unharmed(place.open())


def test_a_server_that_stops_and_comes_back() -> None:
    """While it is gone each call says so; when it is back the same store goes on; a password is asked for in words."""
    with server_files() as server:
        with server.running() as address:
            store = open_store(address)
            grow(store)
            with pytest.raises(StoreError, match="no such database: check the address"):
                open_store(address.replace("/postgres?", "/nowhere?"))
            with pytest.raises(StoreError, match="no such user"):
                open_store(address.replace("tester@", "nobody_here@"))
            with pytest.raises(StoreError, match="no schema of its search path exists"):
                open_store(f"{address}&options=-csearch_path%3Dnowhere")
        with pytest.raises(StoreError, match="the connection broke"):
            store.head("s")
        with pytest.raises(StoreError, match="cannot be reached: check that the server runs"):
            store.checkpoint(next_commit())
        with server.running() as address:
            unharmed(store)
            _ask_for_passwords(server, address)
            for wrong in (address, address.replace("tester@", "tester:hunter2@")):
                with pytest.raises(StoreError, match="did not accept user and password") as caught:
                    open_store(wrong)
                assert "hunter2" not in str(caught.value)
            store.close()


def _ask_for_passwords(server: Server, address: str) -> None:
    (server.folder / "data" / "pg_hba.conf").write_text("local all all scram-sha-256\n", encoding="utf-8")
    with psycopg.connect(address, autocommit=True) as operator:
        operator.execute("SET password_encryption = 'scram-sha-256'")
        operator.execute("ALTER ROLE tester PASSWORD 'right'")
        operator.execute("SELECT pg_reload_conf()")
    _wait_for_refusal(address)


def _wait_for_refusal(address: str) -> None:
    for _ in range(200):
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            return
        time.sleep(0.01)
    raise AssertionError("the server never asked for a password")
