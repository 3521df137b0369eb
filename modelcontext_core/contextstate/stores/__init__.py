"""Stores: where sessions, checkpoints and payloads are kept. `open_store` picks one by its address."""

from __future__ import annotations

import importlib
from typing import cast

from modelcontext_core.contextstate.errors import StoreError
from modelcontext_core.contextstate.records import Limits
from modelcontext_core.contextstate.stores.base import ContextStore
from modelcontext_core.contextstate.stores.engine import Clock
from modelcontext_core.contextstate.stores.memory import MemoryStore
from modelcontext_core.contextstate.stores.sqlite import SQLiteStore

__all__ = ["ContextStore", "MemoryStore", "SQLiteStore", "open_store"]


def open_store(
    url: str,
    limits: Limits | None = None,
    *,
    clock: Clock | None = None,
    read_only: bool = False,
    create: bool = True,
    migrate: bool = True,
) -> ContextStore:
    """The store at `url`: `memory:`, `sqlite:///relative/path`, `sqlite:////absolute/path`, or `postgresql://…`.

    `create` allows to make a missing store, `migrate` to bring an older one up to date; `read_only` allows neither.
    Raises `StoreError` for an unknown address, a store that cannot be opened, or PostgreSQL without its driver.
    """
    if url == "memory:":
        return MemoryStore(limits, clock=clock)
    scheme, separator, rest = url.partition("://")
    if separator and scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
        return SQLiteStore(rest[1:], limits, clock=clock, read_only=read_only, create=create, migrate=migrate)
    if separator and scheme in ("postgresql", "postgres"):
        # Imported here only: the driver is an optional part.
        try:
            module = importlib.import_module("modelcontext_core.contextstate.stores.postgres")
        except ImportError as error:
            raise StoreError("postgresql", "psycopg is not installed (extra: postgres)") from error
        store = module.PostgresStore(url, limits, clock=clock, read_only=read_only, create=create, migrate=migrate)
        return cast(ContextStore, store)
    raise StoreError(scheme, "unknown address: use memory:, sqlite:///path or postgresql://…")
