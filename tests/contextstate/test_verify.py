"""`verify` finds what is broken, names it, and leaves the rest readable. Damage is planted behind the stores' backs."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from modelcontext_core.contextstate import (
    BreakKind,
    ContextStateError,
    ContextStore,
    DamagedStoreError,
    SQLiteStore,
    VerifyReport,
    open_store,
)
from tests.contextstate.builders import GPT_NEXT, bare, commit, payload
from tests.contextstate.conftest import Place, PlaceMaker

PAYLOAD = b"the payload that a test damages" * 40
CONTEXT = b"the active context that a test damages" * 40
OTHER = b"another payload" * 40


def fill(store: ContextStore) -> None:
    """Three checkpoints; the second one has the context and brings the payload."""
    first = commit("op-1", events=3, context=b"one", payloads=[payload(OTHER)])
    second = commit(
        "op-2", expected=first.checkpoint.revision, events=2, context=CONTEXT, payloads=[payload(PAYLOAD)], turn=2
    )
    third = commit(
        "op-3", expected=second.checkpoint.revision, events=1, context=b"three", new_binding=GPT_NEXT, turn=3
    )
    for request in (first, second, third):
        store.checkpoint(request)
    store.put(payload(b"put alone", retention="compliance"))
    store.put(bare(payload(b"absent")))
    store.put(payload(b"revoked"))
    store.revoke(payload(b"revoked").ref)


def found(report: VerifyReport) -> list[tuple[BreakKind, str]]:
    """Kinds and places of the breaks."""
    return [(item.kind, item.where) for item in report.breaks]


def test_a_sound_session_verifies(store: ContextStore) -> None:
    """Everything is counted, nothing is broken; revoked and absent payloads are no breaks."""
    fill(store)

    report = store.verify("s")

    assert VerifyReport(session_id="s", checkpoints=3, events=6, payloads=5) == report
    assert report.ok


def test_a_revocation_is_no_break_for_any_session(store: ContextStore) -> None:
    """A payload of a commit that was revoked, here or by another holder, is missing on purpose."""
    fill(store)
    store.checkpoint(commit("other", "t", payloads=[payload(PAYLOAD, session_id="t")]))

    store.revoke(payload(PAYLOAD, session_id="t").ref)

    assert store.verify("s").ok
    assert store.verify("t").ok


# ---- one change in one row, in both databases

Run = Callable[..., Sequence[Sequence[Any]]]


@pytest.fixture(params=["sqlite", "postgres"])
def damaged(request: pytest.FixtureRequest, place_maker: PlaceMaker) -> tuple[ContextStore, Run]:
    """A filled store of each SQL kind and a way to change its rows."""
    place = place_maker(request.param)
    store = place.open()
    fill(store)
    return store, _runner(place)


def _runner(place: Place) -> Run:
    def run(statement: str, *parameters: Any) -> Sequence[Sequence[Any]]:
        if place.kind == "sqlite":
            connection = sqlite3.connect(place.url.removeprefix("sqlite:///"), isolation_level=None)
            try:
                return connection.execute(statement, parameters).fetchall()
            finally:
                connection.close()
        with psycopg.connect(place.url, autocommit=True) as session:
            cursor = session.execute(statement.replace("?", "%s").encode(), parameters)
            return cursor.fetchall() if cursor.description else []

    return run


CHANGES: dict[str, tuple[str, list[tuple[BreakKind, str]]]] = {
    "events removed": (
        "DELETE FROM cs_event WHERE sequence = 4",
        [(BreakKind.EVENTS, "events 4-5")],
    ),
    "commit removed": (
        "DELETE FROM cs_commit WHERE session = 2",
        [(BreakKind.CHAIN, "checkpoint 2")],
    ),
    "last commit removed": (
        "DELETE FROM cs_commit WHERE session = 3",
        [(BreakKind.CHAIN, "checkpoint 3")],
    ),
    "head set back": (
        "UPDATE cs_session SET session = 2, durable = 2, source = 5",
        [
            (BreakKind.HEAD, "head"),
            (BreakKind.CHAIN, "checkpoint 3"),
            (BreakKind.EVENTS, "event 6"),
        ],
    ),
    "head beyond all counting": (
        "UPDATE cs_session SET session = 4000000000000000000",
        [(BreakKind.CHAIN, "checkpoints 4-4000000000000000000")],
    ),
    "more events than any list has": (
        "UPDATE cs_commit SET events = 4000000000000000000, source = 4000000000000000000 WHERE session = 2",
        [(BreakKind.EVENTS, "events 1-4000000000000000000")],
    ),
    "counter of a commit": (
        "UPDATE cs_commit SET session = 4000000000000000000 WHERE session = 3",
        [(BreakKind.CHAIN, "checkpoint 3"), (BreakKind.CHAIN, "checkpoint 4")],
    ),
    "durable counter": (
        "UPDATE cs_commit SET durable = 9 WHERE session = 2",
        [(BreakKind.CHAIN, "checkpoint 2")],
    ),
    "number of events": (
        "UPDATE cs_commit SET events = -1 WHERE session = 2",
        [(BreakKind.CHAIN, "checkpoint 2")],
    ),
    "operation key": (
        "UPDATE cs_commit SET operation_id = 'stolen' WHERE session = 2",
        [(BreakKind.RECORD, "checkpoint 2")],
    ),
    "fingerprint": (
        "UPDATE cs_commit SET fingerprint = context_sha256 WHERE session = 2",
        [(BreakKind.RECORD, "checkpoint 2")],
    ),
    "context removed": (
        "DELETE FROM cs_context WHERE sha256 = (SELECT context_sha256 FROM cs_commit WHERE session = 2)",
        [(BreakKind.CONTEXT, "checkpoint 2")],
    ),
    "context exchanged": (
        "UPDATE cs_context SET data = fingerprint FROM cs_commit WHERE session = 2 AND sha256 = context_sha256",
        [(BreakKind.CONTEXT, "checkpoint 2")],
    ),
    "bytes exchanged": (
        "UPDATE cs_bytes SET data = (SELECT data FROM cs_bytes WHERE payload_no = 1) WHERE payload_no = 2",
        [(BreakKind.PAYLOAD, f"payload {payload(PAYLOAD).ref.ref}")],
    ),
    "bytes removed": (
        "DELETE FROM cs_bytes WHERE payload_no = 2",
        [(BreakKind.PAYLOAD, f"payload {payload(PAYLOAD).ref.ref}")],
    ),
    "payload removed": (
        "DELETE FROM cs_payload WHERE no = 2",
        [(BreakKind.PAYLOAD, f"payload {payload(PAYLOAD).ref.ref}")],
    ),
    "revoked bytes back": (
        "INSERT INTO cs_bytes (payload_no, padding, data) SELECT no, sha256, sha256 FROM cs_payload WHERE revoked = 1",
        [(BreakKind.PAYLOAD, f"payload {payload(b'revoked').ref.ref}")],
    ),
    "retention of a holder": (
        "UPDATE cs_holder SET retention = (SELECT sha256 FROM cs_payload WHERE no = 1) WHERE payload_no = 2",
        [(BreakKind.PAYLOAD, f"payload {payload(PAYLOAD).ref.ref}")],
    ),
    "holder of another": (
        "UPDATE cs_holder SET session_id = 't' WHERE payload_no = 2",
        [(BreakKind.PAYLOAD, f"payload {payload(PAYLOAD).ref.ref}")],
    ),
    "details unreadable": (
        "UPDATE cs_commit SET details = fingerprint WHERE session = 2",
        [(BreakKind.RECORD, "checkpoint 2")],
    ),
    "event unreadable": (
        "UPDATE cs_event SET body = (SELECT fingerprint FROM cs_commit WHERE session = 1) WHERE sequence = 5",
        [(BreakKind.EVENTS, "event 5")],
    ),
}


@pytest.mark.parametrize(("statement", "breaks"), CHANGES.values(), ids=CHANGES)
def test_a_changed_row_is_named(
    damaged: tuple[ContextStore, Run], statement: str, breaks: list[tuple[BreakKind, str]]
) -> None:
    """Each break is reported once, at its place; what is sound is still verified."""
    store, run = damaged
    run(statement)

    report = store.verify("s")

    assert breaks == found(report)
    assert not report.ok
    assert all(item.text for item in report.breaks)


@pytest.mark.parametrize(
    "change",
    [
        "durable = -3",
        "durable = 9",
        "events = -1",
        "events = 1",
        "events = 4000000000000000000",
        "fingerprint = context_sha256",
        "operation_id = 'stolen'",
    ],
)
def test_a_commit_that_is_not_what_was_committed_is_not_exported(
    damaged: tuple[ContextStore, Run], change: str
) -> None:
    """The copy would verify: the export names the checkpoint instead, and that no line has it."""
    store, run = damaged
    run(f"UPDATE cs_commit SET {change} WHERE session = 2")

    with pytest.raises(DamagedStoreError, match="is not what was committed") as caught:
        list(store.export("s"))
    assert "checkpoint 2" == caught.value.where


def test_an_event_that_was_changed_is_not_exported(damaged: tuple[ContextStore, Run]) -> None:
    """An event that can be read, and is another one, is no event of the commit; a head of nothing is no session."""
    store, run = damaged
    (body,) = run("SELECT body FROM cs_event WHERE sequence = 4")[0]
    run("UPDATE cs_event SET body = ? WHERE sequence = 4", bytes(body).replace(b"user", b"tool"))
    assert "tool" == store.events("s", 3, 1)[0].role

    with pytest.raises(DamagedStoreError, match="checkpoint 2: what is stored of it is not what was committed"):
        list(store.export("s"))

    run("UPDATE cs_session SET session = -5")
    with pytest.raises(DamagedStoreError, match="head: it counts no checkpoint"):
        list(store.export("s"))


def test_a_damaged_head_hides_no_other_session(damaged: tuple[ContextStore, Run]) -> None:
    """The ids are listed although a head cannot be read, and each session is verified by its id."""
    store, run = damaged
    store.checkpoint(commit("other", "t"))
    run("UPDATE cs_session SET binding = ? WHERE id = 's'", b"x")

    with pytest.raises(DamagedStoreError):
        store.sessions()
    run("UPDATE cs_session SET binding = (SELECT binding FROM cs_session WHERE id = 't')")
    run("DELETE FROM cs_commit WHERE session = 3")
    with pytest.raises(DamagedStoreError, match="session 's', checkpoint 3: it is missing"):
        store.sessions()
    assert (("s", "t"), ("t",), ("s",)) == (store.session_ids(), store.session_ids(after="s"), store.session_ids("s"))
    assert [False, True] == [store.verify(name).ok for name in store.session_ids()]


@pytest.mark.parametrize("column", ["details", "fingerprint", "context_sha256"])
def test_any_flipped_byte_of_a_checkpoint_is_found(damaged: tuple[ContextStore, Run], column: str) -> None:
    """Whichever byte of a commit's row changes, the checkpoint is named."""
    store, run = damaged
    (value,) = run(f"SELECT {column} FROM cs_commit WHERE session = 2")[0]
    for at in range(0, len(value), 7):
        flipped = value[:at] + bytes([value[at] ^ 4]) + value[at + 1 :]
        run(f"UPDATE cs_commit SET {column} = ? WHERE session = 2", flipped)

        assert {"checkpoint 2"} == {where for _, where in found(store.verify("s"))}


def test_damaged_bytes_are_refused_and_the_rest_stays_readable(damaged: tuple[ContextStore, Run]) -> None:
    """A read never gives bytes that are not what was written; other checkpoints, events and payloads are read."""
    store, run = damaged
    run("UPDATE cs_bytes SET data = ? WHERE payload_no = 2", b"x" + PAYLOAD[1:])
    run("UPDATE cs_context SET data = ? WHERE data = ?", b"x" + CONTEXT[1:], CONTEXT)

    with pytest.raises(DamagedStoreError):
        store.get(payload(PAYLOAD).ref)
    with pytest.raises(DamagedStoreError) as caught:
        store.checkpoint_at("s", 2)
    assert "checkpoint 2" == caught.value.where
    with pytest.raises(DamagedStoreError):
        list(store.export("s"))
    assert OTHER == store.get(payload(OTHER).ref).data
    assert (b"one", b"three") == tuple(store.checkpoint_at("s", at).active_context for at in (1, 3))
    assert 6 == len(store.events("s"))
    assert 3 == len(store.history("s", contexts=False))
    assert 6 == len(store.session("s").source)


def test_what_stands_instead_of_a_number_is_not_quoted(tmp_path: Path) -> None:
    """A counter that is a text is damage, whatever the text says; what comes before it is still checked."""
    path = tmp_path / "store.db"
    with closing(SQLiteStore(path)) as store:
        fill(store)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE cs_commit SET session = '\x1b[2J' WHERE session = 3")
        connection.execute("UPDATE cs_event SET sequence = '\x1b[2J' WHERE sequence = 6")

    with closing(SQLiteStore(path, read_only=True)) as store:
        report = store.verify("s")
        assert [
            (BreakKind.RECORD, "checkpoints"),
            (BreakKind.CHAIN, "checkpoint 3"),
            (BreakKind.HEAD, "checkpoints"),
        ] == found(report)
        assert 2 == report.checkpoints
        with pytest.raises(DamagedStoreError, match="events: what is stored of it cannot be read"):
            store.events("s")


def test_sizes_that_are_no_numbers_are_damage(tmp_path: Path) -> None:
    """SQLite keeps a text in a column of numbers, and adding it up says so."""
    path = tmp_path / "store.db"
    with closing(SQLiteStore(path)) as store:
        fill(store)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE cs_payload SET size = 'a'")

    with closing(SQLiteStore(path, read_only=True)) as store, pytest.raises(DamagedStoreError):
        store.payload_totals("s")


# ---- one flipped byte in the file


def _flip(path: Path, at: int, bit: int = 1) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= bit
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("content", "kind", "where"),
    [
        (PAYLOAD, BreakKind.PAYLOAD, f"payload {payload(PAYLOAD).ref.ref}"),
        (CONTEXT, BreakKind.CONTEXT, "checkpoint 2"),
    ],
    ids=["payload", "context"],
)
def test_one_flipped_byte_in_the_file_is_found_and_named(
    tmp_path: Path, content: bytes, kind: BreakKind, where: str
) -> None:
    """A bit that tipped over on the disk, in a payload or in a checkpoint, is that payload's or checkpoint's break."""
    path = tmp_path / "store.db"
    store = SQLiteStore(path)
    fill(store)
    store.close()

    _flip(path, path.read_bytes().index(content[:100]) + 50)

    with_damage = SQLiteStore(path, read_only=True)
    assert [(kind, where)] == found(with_damage.verify("s"))
    assert 3 == len(with_damage.history("s", contexts=False))
    with_damage.close()


def _contents(store: ContextStore) -> object:
    return (
        store.session("s"),
        [(entry.checkpoint, entry.operation_id, entry.payloads) for entry in store.history("s")],
        [(row.record, row.stored) for row in store.payloads("s")],
        [store.get(record.ref) for record in (payload(PAYLOAD), payload(OTHER), payload(b"put alone"))],
    )


def test_no_flipped_bit_anywhere_goes_unnoticed_or_ends_in_a_foreign_error(tmp_path: Path) -> None:
    """Flip any bit of the file: then an error of ours, or a break, or the contents are untouched."""
    path = tmp_path / "store.db"
    store = SQLiteStore(path)
    fill(store)
    expected = _contents(store)
    store.close()
    sound = path.read_bytes()
    chance = random.Random(7)
    noticed = 0
    for _ in range(120):
        damaged = bytearray(sound)
        damaged[chance.randrange(len(sound))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            copy = open_store(f"sqlite:///{path}", read_only=True)
        except ContextStateError:
            noticed += 1
            continue
        try:
            whole = copy.verify("s").ok
            contents = _contents(copy)
        except ContextStateError:
            noticed += 1
        else:
            noticed += not whole
            assert not whole or expected == contents
        finally:
            copy.close()
    assert 0 < noticed < 120
