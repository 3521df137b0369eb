"""The shared store: tables in a PostgreSQL schema. Needs psycopg (the extra `postgres`).

Concurrency. A writer first takes transaction-scoped advisory locks on all that it touches, in one order (operation,
session, payloads by digest), so there is no deadlock, and under READ COMMITTED every statement after that sees what the
lock's last owner committed. Imports, deletions and migrations lock the store as a whole. Readers take no lock: they see
one snapshot.

Revocation. The bytes are in a table of their own, which `VACUUM FULL` rewrites after a revocation: a plain `VACUUM`
would leave them in the free space of their page. It cannot drop what a transaction opened before may still see; the
write-ahead log and backups are the operator's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from modelcontext_core.contextstate.errors import DamagedStoreError, StoreError
from modelcontext_core.contextstate.records import Limits
from modelcontext_core.contextstate.stores.engine import Clock
from modelcontext_core.contextstate.stores.migrations import schema_version
from modelcontext_core.contextstate.stores.sqlstore import SQLStore

__all__ = ["PostgresStore"]

_WORDS: Final = {
    "serial": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "key": "BIGINT PRIMARY KEY",
    "int": "BIGINT",
    # Code point order, as in the other stores, whatever the database's language is.
    "text": 'TEXT COLLATE "C"',
    "bytes": "BYTEA",
    "clustered": "",
}
_STORE_LOCK: Final = "store"
# A writer that would need more has the store for itself.
_MOST_LOCKS: Final = 50


class PostgresStore(SQLStore):
    """A `ContextStore` in the database, and in the first schema of the search path, that `dsn` names.

    `create` allows to make the tables, `migrate` to bring older ones up to date; `read_only` allows neither, nor any
    write. Opening raises `StoreError` when the server cannot be reached, has no context store, or a newer schema.
    Threads share one connection and take turns. A broken connection is opened again at the next call.
    """

    _kind = "postgres"
    _words = _WORDS
    _begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
    _begin_write = "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE"

    def __init__(
        self,
        dsn: str,
        limits: Limits | None = None,
        *,
        clock: Clock | None = None,
        read_only: bool = False,
        create: bool = True,
        migrate: bool = True,
    ) -> None:
        super().__init__(_location(dsn), limits, clock, read_only=read_only)
        self._connection: _Connection = _Connection(self._location, dsn)
        try:
            self._prepare(create and not read_only, migrate and not read_only)
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, create: bool, migrate_older: bool) -> None:
        run = self._connection.execute
        if run("SHOW server_encoding")[0][0] != "UTF8":
            raise StoreError(self._location, "its database must be encoded in UTF8")
        schema = run("SELECT current_schema()")[0][0]
        if schema is None:
            raise StoreError(self._location, "no schema of its search path exists: create it, or name another one")
        self._schema = str(schema)
        self._bring_up_to_date(create=create, migrate_older=migrate_older)

    def _version(self, create: bool) -> int:
        run = self._connection.execute
        # From the catalog's rows, not by to_regclass, which may have kept from before a lock that there is none.
        if run(
            "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = current_schema() AND c.relname = 'cs_schema'"
        ):
            return schema_version(run, self._location)
        if not create:
            raise StoreError(self._location, "it has no context store")
        return 0

    def _take(self, locks: Sequence[str]) -> None:
        # One after the other, each a number made of its name and of the store's schema. With locks of its own a writer
        # shares the store, without any it has the store for itself. The server has room for some thousand locks in all.
        if len(locks) > _MOST_LOCKS:
            locks = ()
        for index, lock in enumerate((_STORE_LOCK, *locks)):
            name = hashlib.sha256(f"{self._schema} {lock}".encode()).digest()
            function = "pg_advisory_xact_lock_shared" if index == 0 and locks else "pg_advisory_xact_lock"
            self._connection.execute(f"SELECT {function}(?)", (int.from_bytes(name[:8], signed=True),))

    def _scrub(self) -> None:
        with self._lock:
            warnings = self._connection.rewrite("cs_bytes")
        if warnings:
            raise StoreError(
                self._location,
                "the bytes are removed, but the table that held them was not rewritten: revoke again as its owner "
                f"({'; '.join(warnings)})",
            )

    def _size(self) -> int:
        rows = self._connection.execute(
            "SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0)::bigint "
            "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = current_schema() AND c.relkind = 'r' AND starts_with(c.relname, 'cs_')"
        )
        return int(rows[0][0])


def _location(dsn: str) -> str:
    """Where the store is, in words that hold no password."""
    try:
        if "\0" in dsn:
            # The driver would read the address up to there.
            raise ValueError
        parts = conninfo_to_dict(dsn)
    except (psycopg.Error, ValueError) as error:
        raise StoreError("postgresql", "its address cannot be read") from error
    return f"postgresql://{parts.get('host') or ''}/{parts.get('dbname') or ''}"


class _Connection:
    """A connection that speaks in `StoreError`s and is made again when it broke."""

    def __init__(self, location: str, dsn: str) -> None:
        self._location = location
        self._dsn = dsn
        self._closed = False
        self._connection = self._open()

    def _open(self) -> psycopg.Connection[tuple[Any, ...]]:
        try:
            connection = psycopg.connect(self._dsn, autocommit=True)
            # Whatever the server's default is: a commit is on disk when it returns.
            connection.execute("SET synchronous_commit TO on")
            connection.execute("SET client_encoding TO 'UTF8'")
        except psycopg.Error as error:
            raise StoreError(self._location, f"{_why_unreachable(error)} ({_sentence(error)})") from error
        return connection

    def _live(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._closed:
            raise StoreError(self._location, "it is closed")
        if self._connection.closed:
            self._connection = self._open()
        return self._connection

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Sequence[Sequence[Any]]:
        # Only "BEGIN" may find the connection broken: in a transaction, a new connection must not go on with the rest.
        connection = self._live() if statement.startswith(("BEGIN", "VACUUM")) else self._connection
        try:
            cursor = connection.execute(_psycopg(statement), parameters)
            return cursor.fetchall() if cursor.description is not None else ()
        except psycopg.Error as error:
            if statement == "ROLLBACK":
                # Interrupted at the wrong moment, it is of no use any more.
                connection.close()
            raise self._translated(error, committing=statement == "COMMIT") from error

    def execute_many(self, statement: str, parameters: Iterable[Sequence[Any]]) -> None:
        try:
            with self._connection.cursor() as cursor:
                cursor.executemany(_psycopg(statement), parameters)
        except psycopg.Error as error:
            raise self._translated(error) from error

    def rewrite(self, table: str) -> list[str]:
        """Rewrite a table without what was deleted; what the server warns of. Whose table it is not, it only warns."""
        warnings: list[str] = []

        def note(said: psycopg.errors.Diagnostic) -> None:
            if said.severity_nonlocalized == "WARNING":
                warnings.append(str(said.message_primary))

        connection = self._live()
        connection.add_notice_handler(note)
        try:
            self.execute(f"VACUUM (FULL) {table}")
        finally:
            connection.remove_notice_handler(note)
        return warnings

    def close(self) -> None:
        self._closed = True
        self._connection.close()

    def _translated(self, error: psycopg.Error, *, committing: bool = False) -> StoreError:
        if isinstance(error, (psycopg.errors.DataCorrupted, psycopg.errors.IndexCorrupted)):
            return DamagedStoreError(self._location, "", _sentence(error))
        if self._connection.closed or isinstance(error, psycopg.errors.AdminShutdown):
            return StoreError(self._location, f"{_BROKEN[committing]} ({_sentence(error)})")
        why = next((text for kind, text in _FAULTS if isinstance(error, kind)), "")
        return StoreError(self._location, f"{why} ({_sentence(error)})" if why else _sentence(error))


_BROKEN: Final = {
    False: "the connection broke and nothing was stored: do it again when the server runs",
    True: "the connection broke while it was stored: do it again when the server runs, it will count once",
}
_FAULTS: Final = (
    (psycopg.errors.DiskFull, "the server's disk is full, so nothing was stored: make room and do it again"),
    (
        psycopg.errors.ProgramLimitExceeded,
        "a payload or an active context is larger than the server keeps in one piece: nothing was stored",
    ),
    (psycopg.errors.InsufficientPrivilege, "the user may not do this: ask for the right, or use another user"),
    (psycopg.errors.ReadOnlySqlTransaction, "the server lets nobody write: it is a copy of another one"),
    (psycopg.errors.OutOfMemory, "the server has no room for it, so nothing was stored: give it more, or less at once"),
    (psycopg.errors.LockNotAvailable, "another program keeps it locked, so nothing was done: do it again later"),
)


def _why_unreachable(error: psycopg.Error) -> str:
    """What the server, or whoever should be there, said to a connection, and what to do about it."""
    said = str(error)
    if "password" in said or "authentication failed" in said or "no pg_hba.conf entry" in said:
        return "it did not accept user and password: check the address"
    if "role" in said and "does not exist" in said:
        return "it knows no such user: check the address"
    if "database" in said and "does not exist" in said:
        return "it has no such database: check the address, or create the database"
    return "it cannot be reached: check that the server runs, then do it again"


def _sentence(error: psycopg.Error) -> str:
    """What the driver says, on one line; it repeats no password."""
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip())


def _psycopg(statement: str) -> bytes:
    """The statement with psycopg's parameter marks. Every statement is a constant of this package."""
    return statement.replace("?", "%s").encode()
