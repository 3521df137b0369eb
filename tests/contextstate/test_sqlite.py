"""What is particular to the SQLite store: its settings, its file, and what revocation leaves in it."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from modelcontext_core.contextstate import (
    PayloadNotFoundError,
    PayloadRevokedError,
    SQLiteStore,
    StoreError,
)
from modelcontext_core.contextstate.stores import migrations, sqlite, sqlstore
from modelcontext_core.contextstate.stores.sqlite import overflow_padding
from tests.contextstate.builders import commit, grow, payload

FOR_WRITING: dict[str, bool] = {}
FOR_READING = {"read_only": True}


def opened(path: Path, ways: dict[str, bool]) -> SQLiteStore:
    """The store, opened in one of several ways."""
    return SQLiteStore(path, **ways)  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be made; the only file in its folder."""
    return tmp_path / "store.db"


@pytest.fixture(params=["rollback journal", "write-ahead log"])
def journalled(request: pytest.FixtureRequest, path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SQLiteStore]:
    """A store with each way of journalling, whatever this SQLite would choose."""
    version = (3, 0, 0) if request.param == "write-ahead log" else (99, 0, 0)
    monkeypatch.setattr(sqlite, "_WAL_SINCE", version)
    store = SQLiteStore(path)
    yield store
    store.close()


def setting(store: SQLiteStore, name: str) -> object:
    """A setting of the store's own connection."""
    return store._connection.execute(f"PRAGMA {name}")[0][0]


def left_in(folder: Path, needles: list[bytes]) -> list[tuple[str, bytes]]:
    """Which needle is in which file of the folder."""
    return [
        (file.name, needle)
        for file in sorted(folder.iterdir())
        for content in [file.read_bytes()]
        for needle in needles
        if needle in content
    ]


# ---- settings


def test_commits_are_fully_synchronised_and_deletions_overwritten(path: Path) -> None:
    """Durable on return: `synchronous` is FULL; what is deleted is overwritten."""
    store = SQLiteStore(path)

    assert (2, 1) == (setting(store, "synchronous"), setting(store, "secure_delete"))
    store.close()


@pytest.mark.parametrize(
    ("version", "mode"), [((3, 40, 1), "truncate"), ((3, 51, 2), "truncate"), ((3, 51, 3), "wal"), ((4, 0, 0), "wal")]
)
def test_the_write_ahead_log_is_used_only_where_it_is_safe(
    path: Path, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int], mode: str
) -> None:
    """Below SQLite 3.51.3 the rollback journal is used."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
    store = SQLiteStore(path)

    assert mode == setting(store, "journal_mode")
    store.close()


def test_a_file_of_the_other_journal_is_taken_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that a newer SQLite left with a write-ahead log opens under an older one without it."""
    monkeypatch.setattr(sqlite, "_WAL_SINCE", (3, 0, 0))
    store = SQLiteStore(path)
    grow(store)
    store.close()
    monkeypatch.setattr(sqlite, "_WAL_SINCE", (99, 0, 0))

    again = SQLiteStore(path)

    assert "truncate" == setting(again, "journal_mode")
    assert again.verify("s").ok
    again.close()


# ---- opening


def test_no_file_is_made_unless_it_may_be(path: Path) -> None:
    """Opening for reading, or without `create`, never makes a file; a missing folder is an error too."""
    for ways in (FOR_READING, {"create": False}):
        with pytest.raises(StoreError, match="no such file"):
            opened(path, ways)
    with pytest.raises(StoreError):
        SQLiteStore(path.parent / "missing" / "store.db")

    assert [] == list(path.parent.iterdir())


def test_reading_changes_no_byte(path: Path) -> None:
    """A store opened for reading answers everything, refuses every write, and leaves the file as it was."""
    store = SQLiteStore(path)
    requests = grow(store)
    store.close()
    before = path.read_bytes()

    reader = SQLiteStore(path, read_only=True)

    assert reader.info().read_only
    assert reader.verify("s").ok
    reader.checkpoint(requests[0])
    for write in (
        lambda: reader.put(payload()),
        lambda: reader.checkpoint(commit("new", "t")),
        lambda: reader.revoke(payload().ref),
        lambda: reader.delete_session("s"),
        lambda: reader.import_(reader.export("s")),
    ):
        with pytest.raises(StoreError, match="reading only"):
            write()
    reader.close()
    assert before == path.read_bytes()


@pytest.mark.parametrize("content", [b"no database at all, only text" * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_file_that_is_no_database_is_refused(path: Path, content: bytes) -> None:
    """Whatever else it is, it is named and not touched."""
    path.write_bytes(content)
    for ways in (FOR_WRITING, FOR_READING):
        with pytest.raises(StoreError):
            opened(path, ways)
    assert content == path.read_bytes()


def test_another_program_s_database_is_refused(path: Path) -> None:
    """A database with tables of others is no place to put ours into."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    before = path.read_bytes()

    for ways in (FOR_WRITING, FOR_READING):
        with pytest.raises(StoreError, match="no context store"):
            opened(path, ways)
    assert before == path.read_bytes()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW CS_session AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n",
        "CREATE TRIGGER slow BEFORE INSERT ON cs_old BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE cs_session USING fts5(id)",
    ],
)
def test_a_store_in_which_something_would_run_is_refused(path: Path, statement: str) -> None:
    """A view in the place of a table may never end, a trigger may do anything: neither is asked for a row."""
    SQLiteStore(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("ALTER TABLE cs_session RENAME TO cs_old")
        connection.execute(statement)

    for ways in (FOR_WRITING, FOR_READING):
        with pytest.raises(StoreError, match="no context store: it has views or triggers"):
            opened(path, ways)


def test_an_empty_file_may_become_a_store_but_is_none_yet(path: Path) -> None:
    """An empty file is an empty database: for reading it is no store."""
    path.touch()
    with pytest.raises(StoreError, match="no context store"):
        SQLiteStore(path, read_only=True)

    SQLiteStore(path).close()

    SQLiteStore(path, read_only=True).close()


def test_a_newer_schema_is_refused_with_both_versions(path: Path) -> None:
    """An older program does not guess at tables that it does not know."""
    SQLiteStore(path).close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE cs_schema SET version = 99")
    connection.close()

    for ways in (FOR_WRITING, FOR_READING):
        with pytest.raises(StoreError, match=r"version 99 is newer than this program, which knows \d"):
            opened(path, ways)


def test_an_older_schema_is_migrated_only_when_it_may_be(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Migrations are appended; a store made before one gets it on opening for writing, once and whole."""
    store = SQLiteStore(path)
    grow(store)
    store.close()
    later = [*migrations.MIGRATIONS, ("CREATE TABLE cs_later (no {serial})",)]
    monkeypatch.setattr(migrations, "MIGRATIONS", later)
    monkeypatch.setattr(sqlstore, "MIGRATIONS", later)

    for ways in (FOR_READING, {"migrate": False}):
        with pytest.raises(StoreError, match="schema version 1"):
            opened(path, ways)
    migrated = SQLiteStore(path)

    assert 2 == migrated.info().schema_version
    assert migrated.verify("s").ok
    migrated.close()


# ---- revocation


def test_revoked_bytes_are_nowhere_in_the_folder(journalled: SQLiteStore, path: Path) -> None:
    """Neither file nor journal nor log has any part of a revoked payload, small or large, the store still open."""
    chance = random.Random(5)
    kept = payload(b"kept" + chance.randbytes(5000), session_id="t")
    revoked = [payload(chance.randbytes(size)) for size in (24, 300, 3000, 4096, 60_000, 1_000_000)]
    journalled.put(kept)
    for number, record in enumerate(revoked):
        journalled.checkpoint(commit(f"op-{number}", f"s{number}"))
        journalled.put(record)
    pieces = [record.data[at : at + 24] for record in revoked for at in range(0, len(record.data) - 23, 4000)]
    assert left_in(path.parent, pieces[:1])

    for record in revoked:
        journalled.revoke(record.ref)

    assert [] == left_in(path.parent, pieces)
    assert kept == journalled.get(kept.ref)


@pytest.mark.parametrize("seed", [5, 24, 32])
def test_no_order_of_writes_leaves_revoked_bytes_behind(path: Path, seed: int) -> None:
    """Small payloads come and go; no page keeps a copy of one that moved and was revoked.

    Without the padding each of these seeds leaves some behind.
    """
    chance = random.Random(seed)
    store = SQLiteStore(path)
    live: list[bytes] = []
    gone: list[bytes] = []
    for number in range(150):
        if chance.random() < 0.6 or not live:
            live.append(chance.randbytes(chance.choice([60, 200, 900, 1500])))
            store.put(payload(live[-1], session_id=f"s{number % 3}"))
        else:
            gone.append(live.pop(chance.randrange(len(live))))
            store.revoke(payload(gone[-1]).ref)
    store.close()

    content = path.read_bytes()

    assert len(gone) > 40
    assert not [at for data in gone for at in range(0, len(data) - 19, 16) if data[at : at + 20] in content]
    assert b"" == path.with_name("store.db-journal").read_bytes()


def test_an_interrupted_log_truncation_is_made_up_for_by_the_next_revocation(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that keeps the log alive makes `revoke` say so; revoking again, without it, finishes the work."""
    monkeypatch.setattr(sqlite, "_WAL_SINCE", (3, 0, 0))
    monkeypatch.setattr(sqlite, "_BUSY_SECONDS", 0.05)
    store = SQLiteStore(path)
    record = payload(b"to be revoked " * 100)
    store.put(record)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT COUNT(*) FROM cs_payload").fetchall()

    with pytest.raises(StoreError, match="revoke again"):
        store.revoke(record.ref)
    with pytest.raises(PayloadRevokedError):
        store.get(record.ref)
    reader.close()
    store.revoke(record.ref)

    assert [] == left_in(path.parent, [b"to be revoked "])
    store.close()


@pytest.mark.parametrize("page_size", [512, 1024, 4096, 65536])
def test_padding_keeps_a_payload_out_of_the_pages_of_rows(tmp_path: Path, page_size: int) -> None:
    """By SQLite's own count of bytes a row, no payload byte is in a page that rows share."""
    connection = sqlite3.connect(tmp_path / "pages.db", isolation_level=None)
    connection.execute(f"PRAGMA page_size = {page_size}")
    connection.execute("CREATE TABLE t (no INTEGER PRIMARY KEY, padding BLOB, data BLOB)")
    sizes = [*range(1, 40), *range(page_size - 40, page_size + 40), 3 * (page_size - 4), 100_000]
    for size in sizes:
        padding = bytes(overflow_padding(page_size, size))
        connection.execute("INSERT INTO t (padding, data) VALUES (?, ?)", (padding, b"\xee" * size))
    connection.close()
    content = (tmp_path / "pages.db").read_bytes()
    pages = [content[at : at + page_size] for at in range(page_size, len(content), page_size)]

    # 13 is the first byte of a leaf page of rows, 5 that of an inner one; overflow pages begin with a page number.
    of_rows = [page for page in pages if page[0] in (5, 13)]
    assert of_rows
    assert not any(b"\xee" in page for page in of_rows if not _is_overflow(page, pages))


def _is_overflow(page: bytes, pages: list[bytes]) -> bool:
    """Whether what looks like a page of rows is one of overflow: its content does not fit the header."""
    cells, start = int.from_bytes(page[3:5]), int.from_bytes(page[5:7]) or 65536
    return cells == 0 or not 8 + 2 * cells <= start <= len(page)


# ---- size


def test_a_thousand_checkpoints_share_one_payload(path: Path) -> None:
    """1,000 checkpoints with one unchanged payload of 1 MB stay below 3 MB."""
    store = SQLiteStore(path)
    record = payload(random.Random(1).randbytes(1_000_000))
    before = None
    # Not what is measured here.
    store._connection.execute("PRAGMA synchronous = OFF")
    for number in range(1000):
        request = commit(
            f"op-{number}", expected=before, payloads=[record], context=b"a short context", turn=number + 1
        )
        store.checkpoint(request)
        before = request.checkpoint.revision

    assert 1000 == store.head("s").revision.session
    assert path.stat().st_size < 3_000_000
    store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT no FROM cs_session WHERE id = 's'",
        "SELECT no FROM cs_session WHERE id > 'a' AND id >= 'a' AND id < 'b' ORDER BY id LIMIT 10",
        "SELECT id FROM cs_session WHERE id > 'a' AND id >= 'a' AND id < 'b' ORDER BY id LIMIT 10",
        "SELECT session FROM cs_commit WHERE session_no = 1 AND session > 5 ORDER BY session LIMIT 10",
        "SELECT details FROM cs_commit WHERE session_no = 1 AND session > 5 ORDER BY session LIMIT 10",
        "SELECT fingerprint FROM cs_commit WHERE operation_id = 'x'",
        "SELECT body FROM cs_event WHERE session_no = 1 AND sequence > 5 ORDER BY sequence LIMIT 10",
        "SELECT data FROM cs_context WHERE session_no = 1 AND sha256 = x'00'",
        "SELECT no FROM cs_payload WHERE sha256 = x'00'",
        "SELECT no FROM cs_holder WHERE session_id = 's' AND no > 5 ORDER BY no LIMIT 10",
        "SELECT no FROM cs_holder WHERE payload_no = 1 ORDER BY put DESC LIMIT 1",
        "SELECT COUNT(*) FROM cs_holder WHERE session_id = 's'",
        "SELECT at FROM cs_attempt WHERE session_no = 1 AND session BETWEEN 1 AND 2 ORDER BY no",
    ],
)
def test_every_page_is_found_by_its_key(path: Path, statement: str) -> None:
    """No listing scans a table or sorts: a long session opens like a short one."""
    SQLiteStore(path).close()
    connection = sqlite3.connect(path)

    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]

    connection.close()
    assert plan
    assert not [step for step in plan if step.startswith("SCAN") or "TEMP B-TREE" in step]


def test_bytes_of_a_deleted_session_are_overwritten_too(path: Path) -> None:
    """What `delete_session` takes away is gone from the file, like what is revoked."""
    store = SQLiteStore(path)
    store.checkpoint(commit(payloads=[payload(b"deleted payload " * 50)], context=b"deleted context " * 50))
    store.checkpoint(commit("other", "t"))

    store.delete_session("s")

    with pytest.raises(PayloadNotFoundError):
        store.get(payload(b"deleted payload " * 50).ref)
    assert [] == left_in(path.parent, [b"deleted payload ", b"deleted context deleted context "])
    store.close()
