"""Addresses of stores."""

from __future__ import annotations

import builtins
import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from modelcontext_core import contextstate
from modelcontext_core.contextstate import Limits, MemoryStore, OverLimitError, SQLiteStore, StoreError, open_store
from tests.contextstate.builders import commit


def test_each_memory_store_is_one_of_its_own() -> None:
    """`memory:` never finds another store again."""
    first, second = open_store("memory:"), open_store("memory:")
    first.checkpoint(commit())

    assert isinstance(first, MemoryStore)
    assert () == second.sessions()


def test_a_sqlite_path_is_relative_after_three_slashes_and_absolute_after_four(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The usual form of such addresses; what a path may contain needs no escaping."""
    monkeypatch.chdir(tmp_path)
    open_store("sqlite:///relative.db").close()
    absolute = tmp_path / "absolute %20 ?x#y.db"
    store = open_store(f"sqlite:///{absolute}")

    assert isinstance(store, SQLiteStore)
    assert {"relative.db", absolute.name} <= {path.name for path in tmp_path.iterdir()}
    store.close()


@pytest.mark.parametrize(
    "url", ["", "nonsense", "sqlite:", "sqlite://", "sqlite:///", "sqlite://host/x", "mysql://x", "memory", "file.db"]
)
def test_an_unknown_address_says_which_are_known(url: str) -> None:
    """No guess is made at what a wrong address might mean."""
    with pytest.raises(StoreError, match="memory:, sqlite:///path or postgresql://"):
        open_store(url)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_or_host_can_have_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """What comes before a NUL is not taken for the whole name, so no other file is made."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(StoreError, match="no file can have this name"):
        open_store(f"sqlite:///{name}")
    with pytest.raises(StoreError, match="its address cannot be read"):
        open_store(f"postgresql://{name}/x")
    assert [] == list(tmp_path.iterdir())


def test_limits_reach_the_store() -> None:
    """The bounds that are given to `open_store` are the store's."""
    store = open_store("memory:", Limits(commit_events=1))

    with pytest.raises(OverLimitError):
        store.checkpoint(commit(events=2))


def test_postgres_without_its_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without psycopg everything else works, and an address of PostgreSQL says what is missing."""
    real = builtins.__import__

    def without(name: str, *args: Any, **options: Any) -> Any:
        if name.partition(".")[0] == "psycopg":
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.delitem(sys.modules, "modelcontext_core.contextstate.stores.postgres", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    for url in ("postgresql://host/db", "postgres://host/db"):
        with pytest.raises(StoreError, match="extra: postgres"):
            open_store(url)
    open_store("memory:").close()


def test_every_public_name_is_there() -> None:
    """`__all__` is sorted as linters sort it, and each name can be imported."""
    for name in contextstate.__all__:
        assert getattr(contextstate, name) is not None
    assert len(set(contextstate.__all__)) == len(contextstate.__all__)
    with pytest.raises(AttributeError):
        contextstate.NoSuchName  # noqa: B018
    assert importlib.import_module("modelcontext_core.contextstate.stores").open_store is open_store
