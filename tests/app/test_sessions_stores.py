"""Stores of the Sessions page: opened for reading, changed only when asked; the sample; the sandbox."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from inspector_app import places, stores
from inspector_app.langgraph_file import LangGraphFile, is_langgraph_file
from inspector_app.sandbox import PRESETS, RULES, copy_session, draft
from inspector_app.store_sample import request_at
from modelcontext_core.contextstate import (
    MemoryStore,
    SessionNotFoundError,
    SQLiteStore,
    StoreError,
)
from modelcontext_core.contextstate.stores import migrations
from tests import make_session_sample
from tests.contextstate.builders import commit, grow, payload

DATA = b"the bytes that are revoked"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A SQLite store with one session and one payload."""
    path = tmp_path / "contextstate.db"
    store = SQLiteStore(path)
    last = grow(store)[-1]
    store.checkpoint(commit("op", expected=last.checkpoint.revision, payloads=[payload(DATA)], turn=4))
    store.close()
    return path


@pytest.fixture
def opened(database: Path) -> Iterator[stores.OpenStore]:
    """The same store as the page opens it."""
    held = stores.open_file(database)
    yield held
    stores.shelf().forget(held.key)


# --- opening


def test_a_database_is_opened_for_reading(opened: stores.OpenStore, database: Path) -> None:
    """Looking around writes nothing; a change through what was opened is refused."""
    before = database.read_bytes()
    assert opened.full is not None

    assert [head.session_id for head in opened.store.sessions()] == ["s"]
    with pytest.raises(StoreError):
        opened.full.delete_session("s")
    assert database.read_bytes() == before


def test_a_change_opens_the_store_for_its_time_only(opened: stores.OpenStore, database: Path) -> None:
    """Revoked through a second connection: the bytes are gone from the file, and what was verified counts no more."""
    row = opened.store.payloads("s")[0]
    opened.reports["s", 4] = opened.full.verify("s") if opened.full else None  # type: ignore[assignment]

    with stores.writing(opened) as store:
        store.revoke(row.record.ref)

    assert opened.store.payloads("s")[0].record.revoked
    assert DATA not in database.read_bytes()
    assert (opened.version, opened.reports) == (1, {})


def test_an_export_is_opened_as_a_copy(opened: stores.OpenStore, tmp_path: Path) -> None:
    """A file of JSON Lines becomes a store in memory; deleting there leaves the file as it was."""
    assert opened.full is not None
    export = tmp_path / "s.jsonl"
    export.write_bytes(b"".join(opened.full.export("s")))
    copy = stores.open_file(export)

    with stores.writing(copy) as store:
        store.delete_session("s")

    assert copy.kind == "export"
    assert copy.store.sessions() == ()
    assert export.stat().st_size > 0
    stores.shelf().forget(copy.key)


def test_what_is_no_store_is_refused_and_no_file_is_made(tmp_path: Path) -> None:
    """A missing file, another database, a file of text and an address of another kind: each says so."""
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE t (x)")
    connection.commit()
    connection.close()

    with pytest.raises(OSError, match="missing"):
        stores.open_file(tmp_path / "missing.db")
    with pytest.raises(StoreError):
        stores.open_file(other)
    with pytest.raises(StoreError):
        stores.open_postgres("mysql://x")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other.db"]


@pytest.mark.parametrize("typed", ["a\0b", "a\ud800b", "~no such user/x", "x" * 5000])
def test_what_no_file_can_be_called_names_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    """Whatever a field or a link holds, opening it is an error about a file, which the pages have a sentence for. No
    file is made by looking for it."""
    monkeypatch.chdir(tmp_path)
    path = places.typed_path(typed)

    with pytest.raises(OSError, match=r"No such file|too long"):
        stores.open_file(path)
    assert not stores.needs_migration(path)
    assert [] == list(tmp_path.iterdir())


def test_a_typed_path_begins_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` is the folder of whoever runs the server; what is no text, but a name, stays one."""
    monkeypatch.setenv("HOME", "/home/somebody")

    assert Path("/home/somebody/s.db") == places.typed_path("~/s.db")
    assert Path("/x/\udc80") == places.typed_path("/x/\udc80")


def test_a_view_in_the_place_of_checkpoints_is_not_asked(tmp_path: Path) -> None:
    """A view may never end: a file that has one instead of the table is no file of LangGraph's saver."""
    path = tmp_path / "view.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(
            "CREATE VIEW checkpoints AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) "
            "SELECT i AS thread_id, i AS checkpoint_ns, i AS checkpoint_id, i AS type, i AS checkpoint FROM n"
        )

    with pytest.raises(StoreError, match="no context store"):
        stores.open_file(path)


@pytest.mark.parametrize("table", [b"cs_event", b"checkpoints"])
def test_tables_whose_names_are_no_text_are_damage(tmp_path: Path, table: bytes) -> None:
    """SQLite quotes the damaged bytes in its message, which Python cannot read; the page gets its sentence."""
    path = tmp_path / "damaged.db"
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE {table.decode()} (thread_id, checkpoint_ns, checkpoint_id, type, checkpoint)")
    connection.commit()
    connection.close()
    path.write_bytes(path.read_bytes().replace(b"(thread_id", b"\x86thread_id"))

    assert not stores.needs_migration(path)
    with pytest.raises(StoreError, match="tables cannot be read"):
        stores.open_file(path)
    with pytest.raises(StoreError, match="tables cannot be read"):
        LangGraphFile(path)


def test_an_older_store_is_migrated_only_when_asked(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening it says that it must be migrated and changes nothing; `migrate` does it."""
    assert not stores.needs_migration(database)
    later = [*migrations.MIGRATIONS, ("CREATE TABLE cs_later (no {serial})",)]
    monkeypatch.setattr(migrations, "MIGRATIONS", later)
    monkeypatch.setattr("modelcontext_core.contextstate.stores.sqlstore.MIGRATIONS", later)
    before = database.read_bytes()

    with pytest.raises(StoreError):
        stores.open_file(database)
    assert stores.needs_migration(database)
    assert database.read_bytes() == before
    stores.migrate(database)

    held = stores.open_file(database)
    assert held.store.info().schema_version == len(later)
    stores.shelf().forget(held.key)


def test_a_store_is_closed_when_it_is_forgotten() -> None:
    """The key then leads nowhere."""
    held = stores.open_sample()

    assert stores.shelf().get(held.key) is held
    stores.shelf().forget(held.key)

    assert stores.shelf().get(held.key) is None
    with pytest.raises(StoreError):
        held.store.sessions()


def test_verifying_runs_beside_and_can_be_stopped(opened: stores.OpenStore) -> None:
    """The report is kept with the store; stopping a run that is over is no error."""
    run = stores.Verification(opened, "s", 4)

    assert not run.running(30)
    run.stop()
    assert opened.reports["s", 4].ok
    assert run.error == ""


# --- the sample


def test_the_sample_files_are_those_of_their_script() -> None:
    """What lies in the folder is what the script makes, byte for byte."""
    made = make_session_sample.files()

    assert {name: (places.samples_dir() / name).read_bytes() for name in made} == made


def test_the_sample_shows_what_it_promises() -> None:
    """Twenty checkpoints, a revoked payload, a new binding, rejected commits and replays, and it verifies."""
    held = stores.open_sample()
    assert held.full is not None
    history = held.store.history(make_session_sample.SUPPORT, contexts=False)
    stores.shelf().forget(held.key)
    held = stores.open_sample()
    assert held.full is not None

    assert len(history) == 20
    assert held.store.payload_totals(make_session_sample.SUPPORT).revoked == 1
    assert len({entry.checkpoint.binding for entry in history}) == 2
    assert {attempt.outcome.value for entry in history for attempt in entry.attempts} == {
        "stale_revision", "replayed", "stale_binding", "conflict",
    }  # fmt: skip
    assert held.full.verify(make_session_sample.SUPPORT).ok
    assert [f"{entry.committed_at:%H:%M}" for entry in history][:2] == ["09:31", "09:32"]
    stores.shelf().forget(held.key)


# --- the sandbox


@pytest.mark.parametrize(
    ("preset", "rule"),
    [
        ("next", None),
        ("stale_revision", "revision"),
        ("stale_binding", "binding"),
        ("repeat", "key"),
        ("conflict", "key"),
        ("over_limit", "limits"),
        ("invalid", "record"),
    ],
)
def test_each_try_is_answered_by_its_rule(preset: str, rule: str | None) -> None:
    """What a reader may try covers every rule, and the one that answers is named."""
    store = MemoryStore()
    grow(store)
    copy = copy_session(store, "s")

    tried = copy.repeat() if preset == "repeat" else copy.attempt(draft(copy, preset))  # type: ignore[arg-type]

    assert tried.rule == rule
    assert tried.replay == (preset == "repeat")
    assert (tried.after != tried.before) == (rule is None)


def test_every_rule_can_be_tried() -> None:
    """The presets above are all of them, and no rule is without one."""
    store = MemoryStore()
    grow(store)
    answers = set()
    for preset in PRESETS:
        copy = copy_session(store, "s")
        answers.add((copy.repeat() if preset == "repeat" else copy.attempt(draft(copy, preset))).rule)

    assert answers == {None, *RULES}


def test_the_sandbox_never_writes_to_the_store(opened: stores.OpenStore, database: Path) -> None:
    """Everything that can be tried leaves the file as it was, to the byte."""
    before = database.read_bytes()
    assert opened.full is not None
    copy = copy_session(opened.full, "s")

    for preset in PRESETS:
        copy.attempt(draft(copy, preset))
    copy.repeat()

    assert copy.head().revision.session > opened.store.head("s").revision.session
    assert database.read_bytes() == before


def test_a_request_is_put_together_as_it_was_sent() -> None:
    """Sent once more it is a replay: equal in every byte that counts."""
    store = MemoryStore()
    last = grow(store)[-1]
    request = commit("op", expected=last.checkpoint.revision, payloads=[payload(DATA)], turn=4)
    store.checkpoint(request)

    assert request_at(store, "s", 4) == request
    assert request_at(store, "s", 1) == commit("s-op-1", events=2, context=b"context 1")


# --- LangGraph


def checkpoint_json(messages: Sequence[Mapping[str, object]], at: str) -> str:
    """A checkpoint as older savers wrote it: JSON."""
    return json.dumps({"v": 1, "ts": at, "channel_values": {"messages": messages, "step": 1}})


@pytest.fixture
def langgraph(tmp_path: Path) -> Path:
    """A file with the table of LangGraph's saver: one thread of three checkpoints, one in a namespace."""
    path = tmp_path / "checkpoints.sqlite"
    human = {"type": "human", "content": "Hi"}
    answer = {"type": "ai", "content": "Hello", "response_metadata": {"model_name": "m-2", "model_provider": "openai"}}
    tool = {"type": "tool", "content": "41", "tool_call_id": "c1"}
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, type TEXT, checkpoint BLOB)"
    )
    connection.executemany(
        "INSERT INTO checkpoints VALUES (?, ?, ?, 'json', ?)",
        [
            ("t", "", "1", checkpoint_json([human], "2026-03-05T10:00:00+00:00")),
            ("t", "", "2", checkpoint_json([human, answer], "2026-03-05T10:01:00+00:00")),
            ("t", "", "3", checkpoint_json([human, answer, tool], "2026-03-05T10:02:00+00:00")),
            ("t", "sub", "1", checkpoint_json([human], "2026-03-05T10:00:30+00:00")),
        ],
    )
    connection.commit()
    connection.close()
    return path


def test_a_langgraph_file_is_read_in_the_same_shapes(langgraph: Path) -> None:
    """Threads are sessions, checkpoints a history, messages events; the model of the answer is the binding."""
    held = stores.open_file(langgraph)
    history = held.store.history("t", contexts=False)

    assert held.kind == "langgraph"
    assert [head.session_id for head in held.store.sessions()] == ["t", "t › sub"]
    assert [entry.new_events for entry in history] == [1, 1, 1]
    assert [entry.new_events for entry in held.store.history("t", after=2)] == [1]
    assert held.store.head("t").binding.model == "m-2"
    assert [event.role for event in held.store.events("t")] == ["user", "assistant", "tool"]
    assert held.store.events("t", after=2)[0].tool_call_id == "c1"
    assert json.loads(held.store.checkpoint_at("t", 2).active_context)["step"] == 1
    assert held.store.head("t › sub").revision.session == 1
    stores.shelf().forget(held.key)


def test_a_langgraph_file_is_never_written_to(langgraph: Path) -> None:
    """It can be read, and nothing that changes a store is offered for it."""
    before = langgraph.read_bytes()
    held = stores.open_file(langgraph)
    held.store.history("t")

    with pytest.raises(StoreError), stores.writing(held):
        pass
    assert langgraph.read_bytes() == before
    stores.shelf().forget(held.key)


def test_looking_at_a_langgraph_file_makes_no_file_beside_it(langgraph: Path) -> None:
    """A file in WAL mode, as LangGraph's saver leaves it, is read without the companions that SQLite would make."""
    connection = sqlite3.connect(langgraph)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    before = sorted(path.name for path in langgraph.parent.iterdir())

    assert is_langgraph_file(langgraph)
    assert LangGraphFile(langgraph).sessions()

    assert before == sorted(path.name for path in langgraph.parent.iterdir())


def test_a_damaged_langgraph_checkpoint_is_named(langgraph: Path) -> None:
    """What cannot be decoded is an error with its number; an unknown thread is one too."""
    connection = sqlite3.connect(langgraph)
    connection.execute("UPDATE checkpoints SET checkpoint = '{' WHERE checkpoint_id = '2'")
    connection.commit()
    connection.close()
    store = LangGraphFile(langgraph)

    with pytest.raises(StoreError, match="checkpoint 2"):
        store.history("t")
    with pytest.raises(SessionNotFoundError):
        store.head("unknown")
    store.close()


@pytest.mark.parametrize("value", [10**10, -1, 0.5, None])
def test_a_langgraph_checkpoint_that_is_no_text_is_named(langgraph: Path, value: object) -> None:
    """SQLite keeps anything in any column: a number there is no size of a block to be made."""
    connection = sqlite3.connect(langgraph)
    connection.execute("UPDATE checkpoints SET checkpoint = ? WHERE checkpoint_id = '2'", (value,))
    connection.commit()
    connection.close()
    store = LangGraphFile(langgraph)

    with pytest.raises(StoreError, match="checkpoint 2"):
        store.history("t", 1, 1, contexts=False)
    store.close()


def test_a_store_is_no_langgraph_file(database: Path) -> None:
    """Only a file with the saver's table is one."""
    assert not is_langgraph_file(database)
