"""Every store under one fixture. PostgreSQL is a real server, one for each worker that needs it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from modelcontext_core.contextstate import ContextStore, open_store
from tests.contextstate.builders import Clock
from tests.postgres import postgres_server

KINDS = ("memory", "sqlite", "postgres")

_numbers = itertools.count(1)


@dataclass(slots=True)
class Place:
    """Where one store is: `open` gives a new handle to it. A memory store has one handle only."""

    kind: str
    url: str
    clock: Callable[[], datetime] = field(default_factory=Clock)
    opened: list[ContextStore] = field(default_factory=list)

    def open(self, **options: Any) -> ContextStore:
        """Open the store, again if it was open."""
        if self.kind == "memory" and self.opened and not options:
            return self.opened[0]
        store = open_store(self.url, clock=self.clock, **options)
        self.opened.append(store)
        return store

    def close(self) -> None:
        """Close every handle."""
        for store in self.opened:
            store.close()


PlaceMaker = Callable[[str], Place]


@pytest.fixture(scope="session")
def postgres_address() -> Iterator[str]:
    """The address of a running server."""
    with postgres_server() as address:
        yield address


@pytest.fixture
def place_maker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PlaceMaker]:
    """Makes empty places of a kind; afterwards no connection may be left in a transaction."""
    places: list[Place] = []

    def make(kind: str) -> Place:
        url = "memory:"
        if kind == "sqlite":
            url = f"sqlite:///{tmp_path / f'store-{next(_numbers)}.db'}"
        elif kind == "postgres":
            address = request.getfixturevalue("postgres_address")
            schema = f"test_{next(_numbers)}"
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute(f"CREATE SCHEMA {schema}".encode())
            url = f"{address}&options=-csearch_path%3D{schema}"
        places.append(Place(kind, url))
        return places[-1]

    yield make
    if any(place.kind == "postgres" for place in places):
        with psycopg.connect(request.getfixturevalue("postgres_address"), autocommit=True) as connection:
            left = connection.execute(
                "SELECT query FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
            ).fetchall()
        assert left == []
    for place in places:
        place.close()


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, place_maker: PlaceMaker) -> Place:
    """An empty place, of each kind in turn."""
    return place_maker(request.param)


@pytest.fixture
def store(place: Place) -> ContextStore:
    """An empty store, of each kind in turn."""
    return place.open()
