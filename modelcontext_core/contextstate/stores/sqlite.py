"""The embedded store: one SQLite file.

Durability. A commit is one `BEGIN IMMEDIATE` transaction with `synchronous=FULL`. Below SQLite 3.51.3, whose
write-ahead log can corrupt a file when two connections meet at the wrong moment, the rollback journal is used, and
truncated at each commit: unlike its deletion, SQLite syncs the truncation, so no power loss undoes a finished commit.

Revocation. `secure_delete` overwrites what is deleted; the truncated journal keeps nothing, and a write-ahead log is
emptied into the file and truncated. That alone is not enough: a page of rows is rearranged as rows come and go, and a
row that moved may leave a copy in the page's unused space, which no later deletion reaches. Pages of overflow never
move and are overwritten whole, so each payload is padded until all of its bytes lie in those (`overflow_padding`).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from modelcontext_core.contextstate.errors import DamagedStoreError, StoreError
from modelcontext_core.contextstate.records import Limits
from modelcontext_core.contextstate.stores.engine import Clock
from modelcontext_core.contextstate.stores.migrations import schema_version
from modelcontext_core.contextstate.stores.sql import SQLRows
from modelcontext_core.contextstate.stores.sqlstore import SQLStore

__all__ = ["SQLiteStore"]

# The first release whose write-ahead log is safe.
_WAL_SINCE: Final = (3, 51, 3)
# How long a writer waits for another one before it gives up, in seconds.
_BUSY_SECONDS: Final = 60.0

_WORDS: Final = {
    "serial": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "key": "INTEGER PRIMARY KEY",
    "int": "INTEGER",
    "text": "TEXT",
    "bytes": "BLOB",
    "clustered": "WITHOUT ROWID",
}
# A reader waits for the end of a commit only.
_READER_BUSY_SECONDS: Final = 10.0
# What would run when a table is read or written, and may never end. Nothing of ours does.
_RUNS: Final = (
    "SELECT 1 FROM sqlite_master WHERE lower(tbl_name) LIKE 'cs\\_%' ESCAPE '\\' "
    "AND sql NOT LIKE 'CREATE TABLE%' AND sql NOT LIKE 'CREATE INDEX%'"
)
_DAMAGE: Final = {
    sqlite3.SQLITE_CORRUPT: "its file is damaged: take a copy, then export the sessions that verify",
    sqlite3.SQLITE_NOTADB: "it is no SQLite database, or the beginning of its file is damaged",
}
# What went wrong outside of us, and what to do about it. Whatever it was, the transaction left nothing.
_FAULTS: Final = {
    sqlite3.SQLITE_FULL: "the disk is full, so nothing was stored: make room and do it again",
    sqlite3.SQLITE_READONLY: "its file or folder may not be written to, so nothing was stored: allow it, or use a copy",
    sqlite3.SQLITE_CANTOPEN: "its file cannot be opened, or no journal be made in its folder: check their rights",
    sqlite3.SQLITE_PERM: "its file may not be read: check its rights",
    sqlite3.SQLITE_IOERR: "the disk could not be read or written, perhaps because it is full: check it and do it again",
    sqlite3.SQLITE_TOOBIG: "a payload or an active context is larger than it keeps in one piece: nothing was stored",
    sqlite3.SQLITE_BUSY: "another program keeps it locked, so nothing was done: let that end and do it again",
    sqlite3.SQLITE_LOCKED: "another program keeps it locked, so nothing was done: let that end and do it again",
}


class SQLiteStore(SQLStore):
    """A `ContextStore` in the file `path`.

    `create` allows to make the file, `migrate` to bring an older one up to date; `read_only` allows neither, nor any
    write. Opening raises `StoreError` for a missing file, a file that is no context store, or a newer schema.
    Threads share one connection and take turns; processes open a store each.
    """

    _kind = "sqlite"
    _words = _WORDS
    _begin_read = "BEGIN"
    _begin_write = "BEGIN IMMEDIATE"

    def __init__(
        self,
        path: str | os.PathLike[str],
        limits: Limits | None = None,
        *,
        clock: Clock | None = None,
        read_only: bool = False,
        create: bool = True,
        migrate: bool = True,
    ) -> None:
        super().__init__(os.fspath(path), limits, clock, read_only=read_only)
        self._path = Path(path)
        self._connection = _Connection(
            self._location,
            self._path,
            create=create and not read_only,
            patience=_READER_BUSY_SECONDS if read_only else _BUSY_SECONDS,
        )
        try:
            self._prepare(create and not read_only, migrate and not read_only)
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, create: bool, migrate_older: bool) -> None:
        run = self._connection.execute
        # Settings of this connection; none of them touches the file.
        run("PRAGMA secure_delete = ON")
        run("PRAGMA synchronous = FULL")
        run("PRAGMA temp_store = MEMORY")
        run("PRAGMA trusted_schema = OFF")
        self._version(create)  # before anything is written: what is no store stays as it is
        self._page_size = int(run("PRAGMA page_size")[0][0])
        if self._read_only:
            run("PRAGMA query_only = ON")
        else:
            mode = "wal" if sqlite3.sqlite_version_info >= _WAL_SINCE else "truncate"
            if run(f"PRAGMA journal_mode = {mode}")[0][0] != mode:
                raise StoreError(self._location, f"its journal mode cannot be set to {mode}")
        self._bring_up_to_date(create=create, migrate_older=migrate_older)

    def _rows(self) -> SQLRows:
        return SQLRows(self._connection, self._location, lambda size: overflow_padding(self._page_size, size))

    def _version(self, create: bool) -> int:
        run = self._connection.execute
        tables = {name for (name,) in run("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if run(_RUNS):
            raise StoreError(self._location, "it is no context store: it has views or triggers where tables should be")
        if "cs_schema" in tables:
            return schema_version(run, self._location)
        if tables or not create:
            raise StoreError(self._location, "it is no context store")
        return 0

    def _take(self, locks: Sequence[str]) -> None:
        """Nothing: `BEGIN IMMEDIATE` lets one writer in at a time anyway."""

    def _scrub(self) -> None:
        with self._lock:
            if self._connection.execute("PRAGMA journal_mode")[0][0] != "wal":
                return
            busy = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
        if busy:
            raise StoreError(
                self._location, "the bytes are removed, but readers keep the log that held them; revoke again later"
            )

    def _check(self) -> Sequence[str]:
        """The small tables and their indexes. What is large is read row by row anyway, and checked by its digests."""
        found = []
        with self._read():
            for table in ("cs_session", "cs_payload", "cs_holder"):
                lines = self._connection.execute(f"PRAGMA integrity_check({table})")
                found += [f"{table}: {line}" for (line,) in lines if line != "ok"]
        return found

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError as error:
            raise StoreError(self._location, "its file is gone: open it where it is now, or a copy of it") from error


def overflow_padding(page_size: int, size: int) -> int:
    """How many bytes to put before a payload of `size` bytes so that none of it lies in a page of rows.

    By SQLite's file format a row too large for its page keeps `least + (row - least) % overflow` bytes there, where
    `overflow` is what one overflow page takes. With the padding below, a row is its header, `kept` bytes, and once or
    more `overflow` bytes: then header and `kept` bytes of padding stay, and all the rest is in overflow pages.
    """
    overflow = page_size - 4
    least = (page_size - 12) * 32 // 255 - 23
    kept = least + 23
    return kept + -size % overflow


class _Connection:
    """A connection that speaks in `StoreError`s."""

    def __init__(self, location: str, path: Path, *, create: bool, patience: float) -> None:
        self._location = location
        try:
            nameable = b"\0" not in os.fsencode(path)
        except UnicodeEncodeError:
            nameable = False
        if not nameable:
            # SQLite would take the name up to the NUL: another file.
            raise StoreError(location, "no file can have this name")
        if not create and not path.exists():
            raise StoreError(location, "there is no such file")
        # Never mode=ro: a reader that comes after a crash must be able to finish the interrupted commit. What is read
        # only is the connection, by query_only.
        uri = f"{path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
        try:
            self._connection = sqlite3.connect(
                uri, uri=True, timeout=patience, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise self._translated(error) from error
        # A damaged text must reach the check that names it.
        self._connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Sequence[Sequence[Any]]:
        try:
            return self._connection.execute(statement, parameters).fetchall()
        except (sqlite3.Error, OverflowError) as error:
            raise self._translated(error) from error
        except UnicodeDecodeError as error:
            # SQLite quotes the damaged text in its message.
            raise DamagedStoreError(self._location, "", "its tables cannot be read") from error

    def execute_many(self, statement: str, parameters: Iterable[Sequence[Any]]) -> None:
        try:
            self._connection.executemany(statement, parameters)
        except sqlite3.Error as error:
            raise self._translated(error) from error

    def close(self) -> None:
        self._connection.close()

    def _translated(self, error: sqlite3.Error | OverflowError) -> StoreError:
        # Of 2 GB and more Python says it, not SQLite.
        too_big = sqlite3.SQLITE_TOOBIG if isinstance(error, OverflowError) else 0
        code = getattr(error, "sqlite_errorcode", too_big) & 0xFF
        if code in _DAMAGE:
            return DamagedStoreError(self._location, "", f"{_DAMAGE[code]} ({error})")
        return StoreError(self._location, f"{_FAULTS[code]} ({error})" if code in _FAULTS else str(error))
