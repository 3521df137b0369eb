"""Stores for the Sessions page: opened for reading, held by the server, and opened for writing for one act only.

Nothing here imports Streamlit. A store is held under a random key of 128 bits for 15 minutes after it was last looked
at. A database is opened read-only; `writing` opens it a second time, for as long as one change takes. The sample and
exports that were uploaded are copies in memory, which a change alters and nothing else.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Protocol

from inspector_app import places
from inspector_app.langgraph_file import UNREADABLE, LangGraphFile, is_langgraph_file, uri_for_reading
from inspector_app.sandbox import Sandbox
from inspector_app.shelf import Shelf, new_key
from inspector_app.store_sample import sample_store
from modelcontext_core.contextstate import (
    Checkpoint,
    ContextStateError,
    ContextStore,
    HistoryEntry,
    MemoryStore,
    PayloadRow,
    PayloadTotals,
    SessionHead,
    SourceEvent,
    StoreError,
    StoreInfo,
    VerifyReport,
    open_store,
)

__all__ = [
    "BrowsedStore",
    "OpenStore",
    "StoreKind",
    "Verification",
    "migrate",
    "needs_migration",
    "open_export",
    "open_file",
    "open_postgres",
    "open_sample",
    "shelf",
    "writing",
]

_SQLITE_HEAD: Final = b"SQLite format 3\x00"

StoreKind = Literal["sample", "export", "sqlite", "postgres", "langgraph"]


class BrowsedStore(Protocol):
    """What the page reads: the listings of `ContextStore`, which a LangGraph file can answer too."""

    def info(self) -> StoreInfo:
        """As of `ContextStore`."""
        ...

    def sessions(
        self, prefix: str = "", after: str = "", limit: int = 100, *, contexts: bool = True
    ) -> tuple[SessionHead, ...]:
        """As of `ContextStore`."""
        ...

    def session_ids(self, prefix: str = "", after: str = "", limit: int = 100) -> tuple[str, ...]:
        """As of `ContextStore`."""
        ...

    def head(self, session_id: str, *, contexts: bool = True) -> SessionHead:
        """As of `ContextStore`."""
        ...

    def history(
        self, session_id: str, after: int = 0, limit: int = 100, *, contexts: bool = True
    ) -> tuple[HistoryEntry, ...]:
        """As of `ContextStore`."""
        ...

    def checkpoint_at(self, session_id: str, revision: int) -> Checkpoint:
        """As of `ContextStore`."""
        ...

    def events(self, session_id: str, after: int = 0, limit: int = 100) -> tuple[SourceEvent, ...]:
        """As of `ContextStore`."""
        ...

    def payloads(self, session_id: str, after: int = 0, limit: int = 100) -> tuple[PayloadRow, ...]:
        """As of `ContextStore`."""
        ...

    def payload_totals(self, session_id: str) -> PayloadTotals:
        """As of `ContextStore`."""
        ...

    def close(self) -> None:
        """As of `ContextStore`."""
        ...


@dataclass(slots=True, kw_only=True)
class OpenStore:
    """A store that the server holds: what is read, and how to reach it again for a change.

    `url` is empty where nothing can be changed outside this memory; `full` is the whole contract where there is one.
    `reports` are what was verified since the last change, by session and revision.
    """

    store: BrowsedStore
    kind: StoreKind
    name: str
    url: str = ""
    full: ContextStore | None = None
    key: str = field(default_factory=new_key)
    version: int = 0
    reports: dict[tuple[str, int], VerifyReport] = field(default_factory=dict)
    sandbox: Sandbox | None = None
    verification: Verification | None = None


def _close(opened: OpenStore) -> None:
    with suppress(StoreError):
        opened.store.close()


_SHELF: Final[Shelf[OpenStore]] = Shelf(close=_close)


def shelf() -> Shelf[OpenStore]:
    """The stores of this server."""
    return _SHELF


def _hold(opened: OpenStore) -> OpenStore:
    return _SHELF.put(opened.key, opened)


# --- opening


def open_sample() -> OpenStore:
    """The sample store, a copy of its own for every tab."""
    store = sample_store(places.samples_dir())
    return _hold(OpenStore(store=store, kind="sample", name="", full=store))


def open_export(content: bytes, name: str) -> OpenStore:
    """An exported session as a copy in memory. Raises `ContextStateError` with the line that is wrong."""
    store = MemoryStore()
    store.import_(content)
    return _hold(OpenStore(store=store, kind="export", name=name, full=store))


def open_file(path: Path) -> OpenStore:
    """A SQLite store, a LangGraph checkpoint file or an export of this machine, for reading.

    Raises `OSError`, and `ContextStateError` for a file that is none of these.
    """
    with path.open("rb") as file:
        head = file.read(len(_SQLITE_HEAD))
    if head != _SQLITE_HEAD:
        return open_export(path.read_bytes(), path.name)
    if is_langgraph_file(path):
        return _hold(OpenStore(store=LangGraphFile(path), kind="langgraph", name=path.name))
    url = f"sqlite:///{path.absolute()}"
    store = open_store(url, read_only=True, create=False, migrate=False)
    return _hold(OpenStore(store=store, kind="sqlite", name=path.name, url=url, full=store))


def open_postgres(url: str) -> OpenStore:
    """A PostgreSQL store, for reading. Raises `StoreError`."""
    if not url.startswith(("postgresql://", "postgres://")):
        raise StoreError("postgresql", "the address must begin with postgresql://")
    store = open_store(url, read_only=True, create=False, migrate=False)
    return _hold(OpenStore(store=store, kind="postgres", name=store.info().location, url=url, full=store))


def needs_migration(path: Path) -> bool:
    """Whether a file is a store of an older version, which is read only after it was brought up to date."""
    try:
        connection = sqlite3.connect(uri_for_reading(path), uri=True)
    except (*UNREADABLE, OSError):
        return False
    try:
        found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'cs_schema'").fetchone()
    except UNREADABLE:
        return False
    finally:
        connection.close()
    if found is None:
        return False
    try:
        open_store(f"sqlite:///{path.absolute()}", read_only=True, create=False, migrate=False).close()
    except StoreError as error:
        return "must be migrated" in error.reason
    return False


def migrate(path: Path) -> None:
    """Bring an older store up to date. Raises `StoreError`."""
    open_store(f"sqlite:///{path.absolute()}", create=False, migrate=True).close()


# --- changing


@contextmanager
def writing(opened: OpenStore) -> Iterator[ContextStore]:
    """Give the store for one change, which the caller has asked the reader about. Raises `StoreError`."""
    if opened.full is None:
        raise StoreError(opened.name, "it can only be read here")
    if not opened.url:
        yield opened.full
    else:
        store = open_store(opened.url, create=False, migrate=False)
        try:
            yield store
        finally:
            store.close()
    opened.version += 1
    opened.reports.clear()


# --- verifying


class Verification:
    """`verify` in a thread of its own, over a connection of its own, which `stop` closes: then it ends."""

    def __init__(self, opened: OpenStore, session_id: str, revision: int) -> None:
        self.session_id = session_id
        self.started = time.monotonic()
        self.error = ""
        self._opened = opened
        self._revision = revision
        self._stopped = False
        self._store: ContextStore | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        opened = self._opened
        try:
            own = open_store(opened.url, read_only=True, create=False, migrate=False) if opened.url else opened.full
            self._store = own
            if own is not None:
                opened.reports[self.session_id, self._revision] = own.verify(self.session_id)
        except ContextStateError as error:
            self.error = "" if self._stopped else str(error)
        finally:
            if opened.url and self._store is not None:
                with suppress(StoreError):
                    self._store.close()

    def running(self, seconds: float = 0.0) -> bool:
        """Whether it still runs, after waiting for so many seconds at most."""
        self._thread.join(seconds)
        return self._thread.is_alive()

    def stop(self) -> None:
        """End it. A copy in memory is small and runs to its end."""
        self._stopped = True
        if self._opened.url and self._store is not None:
            with suppress(StoreError):
                self._store.close()
