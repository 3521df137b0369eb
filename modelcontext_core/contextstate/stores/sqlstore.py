"""What the stores in SQL databases share beside their statements: one connection, transactions, and a schema that is
brought up to date.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import ClassVar, Protocol

from modelcontext_core.contextstate.errors import StoreError
from modelcontext_core.contextstate.listings import StoreInfo
from modelcontext_core.contextstate.records import Limits
from modelcontext_core.contextstate.stores.engine import Clock, StoreEngine
from modelcontext_core.contextstate.stores.migrations import MIGRATIONS, migrate, schema_version
from modelcontext_core.contextstate.stores.rows import Rows
from modelcontext_core.contextstate.stores.sql import Database, SQLRows

__all__ = ["Connection", "SQLStore"]


class Connection(Database, Protocol):
    """A `Database` that can be closed; closing it again does nothing."""

    def close(self) -> None:
        """Let go of the database."""
        ...


class SQLStore(StoreEngine):
    """A store over one connection. Threads share it and take turns.

    A subclass opens the connection and then calls `_bring_up_to_date`; it fills in the constants and says how large
    its tables are. `_words` are what its SQL calls the types in the migrations.
    """

    _kind: ClassVar[str]
    _words: ClassVar[Mapping[str, str]]
    _begin_read: ClassVar[str]
    _begin_write: ClassVar[str]

    _connection: Connection

    def __init__(self, location: str, limits: Limits | None, clock: Clock | None, *, read_only: bool) -> None:
        super().__init__(location, limits, clock)
        self._read_only = read_only
        self._lock = threading.RLock()
        self._open_rows: SQLRows | None = None

    # ---- what a database provides

    @abstractmethod
    def _version(self, create: bool) -> int:
        """The schema version; 0 where a store may be made. Raises `StoreError` where there is none and none may be."""

    @abstractmethod
    def _size(self) -> int:
        """The bytes that the store takes. Called in a transaction that reads."""

    @abstractmethod
    def _take(self, locks: Sequence[str]) -> None:
        """Wait for the locks of a writer, at the beginning of its transaction; see `StoreEngine._write`."""

    def _rows(self) -> SQLRows:
        """The rows of a transaction that was just begun."""
        return SQLRows(self._connection, self._location)

    # ---- what follows from it

    def _bring_up_to_date(self, *, create: bool, migrate_older: bool) -> None:
        """Make the tables, or migrate older ones, where that is allowed; `StoreError` where it is not."""
        version = self._version(create)
        if version == len(MIGRATIONS):
            return
        if self._read_only:
            raise StoreError(self._location, f"its schema version {version} must be migrated before it is read")
        if version and not migrate_older:
            raise StoreError(self._location, f"its schema version {version} is old and was not to be migrated")
        with self._write():
            # Another process may have been first.
            version = self._version(create)
            if version < len(MIGRATIONS):
                migrate(self._connection.execute, self._words, version)

    @contextmanager
    def _transaction(self, begin: str, locks: Sequence[str] | None = None) -> Iterator[Rows]:
        with self._lock:
            if self._open_rows is not None:
                # The same thread again: an import that reads what this store exports.
                yield self._open_rows
                return
            try:
                self._connection.execute(begin)
                self._open_rows = self._rows()
                if locks is not None:
                    self._take(locks)
                yield self._open_rows
                self._connection.execute("COMMIT")
            except BaseException:
                # After some failures the database has rolled back by itself, or is gone.
                with suppress(StoreError):
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._open_rows = None

    @contextmanager
    def _read(self) -> Iterator[Rows]:
        with self._transaction(self._begin_read) as rows:
            yield rows

    @contextmanager
    def _write(self, *locks: str) -> Iterator[Rows]:
        if self._read_only:
            raise StoreError(self._location, "it is open for reading only")
        with self._transaction(self._begin_write, locks) as rows:
            yield rows

    def info(self) -> StoreInfo:
        """Kind, location without a password, sessions, and the size of file or tables."""
        with self._read():
            run = self._connection.execute
            sessions = int(run("SELECT COUNT(*) FROM cs_session")[0][0])
            version = schema_version(run, self._location)
            size = self._size()
        return StoreInfo(
            kind=self._kind,
            location=self._location,
            sessions=sessions,
            bytes=size,
            schema_version=version,
            read_only=self._read_only,
        )

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()
