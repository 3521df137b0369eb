"""What is particular to the PostgreSQL store: opening, broken connections, and what revocation leaves in its files."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from modelcontext_core.contextstate import PayloadRevokedError, PostgresStore, StoreError, open_store
from modelcontext_core.contextstate.stores import migrations, sqlstore
from tests.contextstate.builders import commit, grow, payload
from tests.contextstate.conftest import Place, PlaceMaker


@pytest.fixture
def place(place_maker: PlaceMaker) -> Place:
    """An empty place in the server."""
    return place_maker("postgres")


@pytest.fixture
def operator(place: Place) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A connection of somebody else to the same place."""
    with psycopg.connect(place.url, autocommit=True) as connection:
        yield connection


Operator = psycopg.Connection[tuple[object, ...]]


def test_the_class_can_be_asked_for_by_name(place: Place) -> None:
    """`PostgresStore(dsn)` is what `open_store` opens."""
    store = PostgresStore(place.url)

    assert isinstance(place.open(), PostgresStore)
    store.close()


def test_commits_are_on_disk_whatever_the_server_s_default(place: Place, operator: Operator) -> None:
    """`synchronous_commit` is turned on for our connection."""
    operator.execute("ALTER ROLE tester SET synchronous_commit TO off")
    try:
        store = PostgresStore(place.url)
        assert "on" == store._connection.execute("SHOW synchronous_commit")[0][0]
        store.close()
    finally:
        operator.execute("ALTER ROLE tester RESET synchronous_commit")


def test_no_table_is_made_unless_it_may_be(place: Place, operator: Operator) -> None:
    """Opening for reading, or without `create`, leaves the schema empty."""
    for options in ({"read_only": True}, {"create": False}):
        with pytest.raises(StoreError, match="no context store"):
            place.open(**options)

    assert [] == operator.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()


def test_a_newer_or_older_schema_is_refused_or_migrated(
    place: Place, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer schema is refused with both versions; an older one is migrated when it may be."""
    grow(place.open())
    operator.execute("UPDATE cs_schema SET version = 99")
    with pytest.raises(StoreError, match="version 99 is newer than this program"):
        place.open()
    operator.execute("UPDATE cs_schema SET version = 1")
    later = [*migrations.MIGRATIONS, ("CREATE TABLE cs_later (no {serial})",)]
    monkeypatch.setattr(migrations, "MIGRATIONS", later)
    monkeypatch.setattr(sqlstore, "MIGRATIONS", later)
    for options in ({"read_only": True}, {"migrate": False}):
        with pytest.raises(StoreError, match="schema version 1"):
            place.open(**options)

    assert 2 == place.open().info().schema_version
    assert place.open().verify("s").ok


def test_reading_refuses_every_write(place: Place) -> None:
    """A store opened for reading answers, and writes nothing."""
    requests = grow(place.open())
    reader = place.open(read_only=True)

    assert reader.verify("s").ok
    reader.checkpoint(requests[0])
    writes: list[Callable[[], None]] = [
        lambda: reader.put(payload()),
        lambda: reader.checkpoint(commit("new", "t")),
        lambda: reader.delete_session("s"),
    ]
    for write in writes:
        with pytest.raises(StoreError, match="reading only"):
            write()


def test_a_broken_connection_is_an_error_once(place: Place, operator: Operator) -> None:
    """The call that meets it fails with ours, the next one is served by a new connection."""
    store = place.open()
    requests = grow(store)
    operator.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )

    with pytest.raises(StoreError):
        store.session("s")

    assert requests[-1].checkpoint == store.session("s").active


def test_an_error_shows_no_password() -> None:
    """Neither a wrong address nor an unreachable server quotes the password of the address."""
    for url in ("postgresql://me:hunter2@/db?host=/nonexistent", "postgresql://me:hunter2@h:notaport/db"):
        with pytest.raises(StoreError) as caught:
            open_store(url)
        assert "hunter2" not in str(caught.value)


def test_a_database_in_another_encoding_is_refused(place: Place, operator: Operator) -> None:
    """Texts are UTF-8; a database that cannot hold them is named before anything is made in it."""
    operator.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    try:
        with pytest.raises(StoreError, match="UTF8"):
            open_store(place.url.replace("/postgres?", "/latin?"))
    finally:
        operator.execute("DROP DATABASE latin")


def _files(place: Place, operator: Operator) -> list[Path]:
    """The files of our tables, their overflow included, as they are on the disk."""
    operator.execute("CHECKPOINT")
    folder = Path(str(conninfo_to_dict(place.url)["host"])) / "data"
    rows = operator.execute(
        "SELECT pg_relation_filepath(c.oid) FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace "
        "OR c.oid IN (SELECT reltoastrelid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)"
    ).fetchall()
    return [found for (name,) in rows if name for found in folder.glob(f"{name}*")]


def test_revoked_bytes_are_in_no_table_and_on_no_page(place: Place, operator: Operator) -> None:
    """After `revoke`, also of payloads that share a page with others, the tables' files have none of the bytes."""
    chance = random.Random(5)
    store = place.open()
    kept = payload(b"kept" + chance.randbytes(500), session_id="t")
    revoked = [payload(chance.randbytes(size)) for size in (24, 300, 1900, 60_000)]
    store.put(kept)
    for record in revoked:
        store.put(record)
    pieces = [record.data[at : at + 24] for record in revoked for at in range(0, len(record.data) - 23, 1000)]
    content = b"".join(file.read_bytes() for file in _files(place, operator))
    assert all(piece in content for piece in pieces[:2])

    for record in revoked:
        store.revoke(record.ref)

    content = b"".join(file.read_bytes() for file in _files(place, operator))
    assert [] == [piece for piece in pieces if piece in content]
    assert kept == store.get(kept.ref)
    with pytest.raises(PayloadRevokedError):
        store.get(revoked[0].ref)


def test_a_revocation_by_somebody_who_may_not_rewrite_the_table_says_so(place: Place, operator: Operator) -> None:
    """The server only warns then; the bytes are in no table any more, and the owner's repetition removes the rest."""
    store, record = place.open(), payload(random.Random(6).randbytes(60_000))
    store.put(record)
    schema = str(conninfo_to_dict(place.url)["options"]).rpartition("=")[2]
    operator.execute("DROP ROLE IF EXISTS guest")
    operator.execute("CREATE ROLE guest LOGIN")
    operator.execute(f"GRANT USAGE ON SCHEMA {schema} TO guest".encode())
    operator.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO guest".encode())
    guest = open_store(place.url.replace("tester@", "guest@"))

    with pytest.raises(StoreError, match="was not rewritten: revoke again as its owner") as caught:
        guest.revoke(record.ref)

    assert "cs_bytes" in str(caught.value)
    assert guest.status(record.ref).revoked
    assert record.data[1000:1024] in b"".join(file.read_bytes() for file in _files(place, operator))
    store.revoke(record.ref)
    assert record.data[1000:1024] not in b"".join(file.read_bytes() for file in _files(place, operator))
    guest.close()
    operator.execute("DROP OWNED BY guest")


def test_a_commit_of_many_payloads_takes_few_locks(place: Place, operator: Operator) -> None:
    """The server has room for a few thousand locks in all: who would need many takes the store as a whole."""
    held = []

    def clock() -> datetime:
        # A store asks for the time in the middle of its transaction.
        (found,) = operator.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchall()
        held.append(found[0])
        return datetime(2026, 3, 5, tzinfo=UTC)

    store = open_store(place.url, clock=clock)
    store.checkpoint(commit("few", "a", payloads=[payload(b"%d" % each, "a") for each in range(10)]))
    store.checkpoint(commit("many", "b", payloads=[payload(b"%d" % each, "b") for each in range(200)]))

    assert [13, 1] == held
    assert 200 == store.head("b").payload_count
    store.close()


def test_a_connection_that_was_interrupted_is_not_used_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends a query from outside may leave its answer under way: the next call takes a new connection."""
    store = place.open()
    grow(store)
    connection = store._connection._connection  # type: ignore[attr-defined]

    def interrupted(steps: Iterator[object], *_: object) -> None:
        monkeypatch.undo()
        next(steps)  # the query is sent, its answer not waited for
        raise TimeoutError

    monkeypatch.setattr(connection, "wait", interrupted)
    with pytest.raises(TimeoutError):
        store.head("s")

    assert 3 == store.head("s").revision.session
    assert store.verify("s").ok


def test_two_stores_in_one_database_keep_apart(place_maker: PlaceMaker) -> None:
    """The first schema of the search path is the store: another one has its own keys and sessions."""
    first, second = place_maker("postgres").open(), place_maker("postgres").open()
    first.checkpoint(commit("op-1", "s"))

    second.checkpoint(commit("op-1", "t"))

    assert (["s"], ["t"]) == tuple([head.session_id for head in store.sessions()] for store in (first, second))
