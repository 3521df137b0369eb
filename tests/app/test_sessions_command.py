"""The command `sessions`: list, show, verify, export, import, diff."""

from __future__ import annotations

import argparse
import io
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector_app.commands import sessions
from inspector_app.commands.base import CommandError
from modelcontext_core.contextstate import ContextStateError, SQLiteStore
from tests.contextstate.builders import GPT_NEXT, Clock, commit, payload

SAMPLE = Path(__file__).resolve().parents[2] / "sample_sessions" / "session_store.jsonl"


@dataclass(frozen=True, slots=True)
class Ran:
    """What the command left behind."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """The output as text."""
        return self.out.decode()

    @property
    def json(self) -> Any:
        """The output as JSON."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs the command in this process."""

    def run_command(*arguments: object) -> Ran:
        parser = argparse.ArgumentParser()
        sessions.add_arguments(parser)
        code = sessions.run(parser.parse_args(list(map(str, arguments))))
        out, errors = capfdbinary.readouterr()
        return Ran(code, out, errors.decode())

    return run_command


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A SQLite file with two sessions, a rejected commit and a revoked payload."""
    path = tmp_path / "store.db"
    store = SQLiteStore(path, clock=Clock())
    first = commit(
        "op-1", events=2, payloads=[payload(b"x"), payload(b"secret")], context=b'{"a": 1, "b": "\xe5\x90\x8d"}'
    )
    store.checkpoint(first)
    with pytest.raises(ContextStateError):
        store.checkpoint(commit("late"))
    at = first.checkpoint.revision
    store.checkpoint(commit("op-2", expected=at, events=0, context=b'{"a": 2}', new_binding=GPT_NEXT, turn=2))
    store.checkpoint(commit("t-1", "t", context=b"\xff\x00 no text"))
    store.revoke(payload(b"secret").ref)
    store.close()
    return path


def test_list_names_every_session(run: Run, database: Path) -> None:
    """A row a session, by id; `--prefix` narrows it."""
    rows = run("list", database).text.splitlines()

    assert ["session", "revision", "events", "payloads"] == rows[0].split()[:4]
    assert ["s", "2", "2", "2", "openai/gpt-4.1"] == rows[1].split()[:5]
    assert ["t", "1", "1", "0"] == rows[2].split()[:4]
    assert 2 == len(run("list", database, "--prefix", "t").text.splitlines())
    listed = run("list", f"sqlite:///{database}", "--json").json
    assert ["s", "t"] == [row["session_id"] for row in listed["sessions"]]
    assert ("sqlite", True) == (listed["store"]["kind"], listed["store"]["read_only"])


def test_show_has_checkpoints_attempts_and_payloads(run: Run, database: Path) -> None:
    """The timeline with what was rejected, then the payloads with their state."""
    text = run("show", database, "s").text

    outcomes = [line.split("  ")[-1].strip() for line in text.splitlines() if "2026-03-05" in line]
    assert ["committed", "stale revision", "committed"] == outcomes
    assert "1 revoked" in text
    document = run("show", database, "s", "--json").json
    assert ["stale_revision"] == [item["outcome"] for item in document["history"][0]["attempts"]]
    assert [True, False] == [row["stored"] for row in document["payloads"]]
    assert 2 == document["revision"]["session"]


def test_show_prints_one_active_context(run: Run, database: Path) -> None:
    """JSON is laid out, other text stays, bytes that are no text come as hexadecimal."""
    assert '{\n "a": 1,\n "b": "名"\n}\n' == run("show", database, "s", "--revision", 1).text
    assert "ff 00 20 6e 6f 20 74 65 78 74\n" == run("show", database, "t", "--revision", 1).text
    assert '{"a": 2}' == run("show", database, "s", "--revision", 2, "--json").json["text"]


def test_verify_exits_1_when_something_is_broken(run: Run, database: Path) -> None:
    """Green without breaks; otherwise each break with its place, and the other sessions are checked all the same."""
    assert (0, 2) == (run("verify", database).code, len(run("verify", database).text.splitlines()))
    assert run("verify", database, "t", "--json").json["ok"]
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("DELETE FROM cs_event WHERE sequence = 2")
    connection.close()

    broken = run("verify", database)

    assert 1 == broken.code
    assert "  events: events 1-2: " in broken.text
    report = run("verify", database, "--json")
    assert (1, [False, True]) == (report.code, [row["ok"] for row in report.json["sessions"]])


def test_list_names_the_other_sessions_when_a_head_is_damaged(run: Run, database: Path) -> None:
    """What can be read is listed; the damaged one is named with what is wrong, and the exit code is not 0."""
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("UPDATE cs_session SET binding = x'00' WHERE id = 's'")
    connection.close()

    listed = run("list", database)
    as_json = run("list", database, "--json")

    assert (2, ["session", "t"]) == (listed.code, [line.split()[0] for line in listed.text.splitlines()])
    assert (2, ["t"]) == (as_json.code, [each["session_id"] for each in as_json.json["sessions"]])
    damage = {"session_id": "s", "where": "head", "text": "what is stored of it cannot be read"}
    assert [damage] == as_json.json["damaged"]
    said = f"session 's' cannot be listed: store {database}: head: what is stored of it cannot be read\n"
    assert said == listed.err == as_json.err


def test_verify_checks_every_session_although_a_head_is_damaged(run: Run, database: Path) -> None:
    """What is to say what is broken does not stop at it."""
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("UPDATE cs_session SET binding = x'00' WHERE id = 's'")
    connection.close()

    report = run("verify", database)

    assert 1 == report.code
    assert [
        "s: 0 checkpoints, 0 events, 0 payloads, 1 break",
        "  head: head: what is stored of it cannot be read",
        "t: 1 checkpoints, 1 events, 0 payloads, 0 breaks",
    ] == report.text.splitlines()


def test_an_export_imports_again(run: Run, database: Path, tmp_path: Path) -> None:
    """To a file or to the output; an import makes a store only when told to, and again is a no-op."""
    exported, other = tmp_path / "s.jsonl", tmp_path / "other.db"
    assert 0 == run("export", database, "s", "--out", exported).code
    assert exported.read_bytes() == run("export", database, "s").out
    with pytest.raises(CommandError, match="no such file"):
        run("import", other, exported)
    assert not other.exists()

    assert "imported" in run("import", other, exported, "--create").text
    assert "there already" in run("import", other, exported).text
    assert exported.read_bytes() == run("export", other, "s").out
    assert not run("import", other, exported, "--json").json["imported"]


def test_an_export_does_not_overwrite_a_file(run: Run, database: Path, tmp_path: Path) -> None:
    """What is there stays; a failed export leaves no half file."""
    there = tmp_path / "there.jsonl"
    there.write_text("mine")
    with pytest.raises(CommandError):
        run("export", database, "s", "--out", there)
    assert "mine" == there.read_text()
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("UPDATE cs_context SET data = x'00'")
    connection.close()
    with pytest.raises(CommandError, match="digest"):
        run("export", database, "s", "--out", tmp_path / "half.jsonl")
    assert not (tmp_path / "half.jsonl").exists()


def test_an_export_has_no_times(run: Run) -> None:
    """When an export was read is not told as the time of a commit."""
    assert "unknown" in run("list", SAMPLE).text
    assert run("show", SAMPLE, "support-7741", "--json").json["committed_at"] is None


def test_an_import_makes_a_store_only_when_asked_and_for_an_export_that_is_there(run: Run, tmp_path: Path) -> None:
    """A missing store names the option; a missing export leaves no store behind."""
    store = tmp_path / "new.db"
    with pytest.raises(CommandError, match="--create"):
        run("import", store, SAMPLE)
    with pytest.raises(CommandError, match=r"nowhere\.jsonl"):
        run("import", store, tmp_path / "nowhere.jsonl", "--create")

    assert not store.exists()


def test_import_reads_standard_input(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` is standard input."""
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(SAMPLE.read_bytes())))

    assert 0 == run("import", tmp_path / "new.db", "-", "--create").code

    assert 1 == len(run("list", tmp_path / "new.db", "--json").json["sessions"])


def test_a_damaged_export_is_refused_at_its_line(run: Run, tmp_path: Path) -> None:
    """The message says where; the store that was made for it stays empty."""
    lines = SAMPLE.read_bytes().splitlines(keepends=True)
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_bytes(b"".join([*lines[:4], lines[4].replace(b"7741", b"7742"), *lines[5:]]))

    with pytest.raises(CommandError, match="line 5: "):
        run("import", tmp_path / "new.db", damaged, "--create")
    with pytest.raises(CommandError, match="line 5: "):
        run("list", damaged)


def test_diff_exits_1_when_checkpoints_differ(run: Run, database: Path) -> None:
    """Changed fields, then the contexts as a unified diff; a checkpoint does not differ from itself."""
    changed = run("diff", database, "s", 1, 2)

    assert 1 == changed.code
    assert "binding: openai/gpt-4.1-mini generation 1 -> openai/gpt-4.1 generation 2" in changed.text
    assert '- "a": 1,' in changed.text
    assert '+ "a": 2' in changed.text
    assert (0, b"") == (run("diff", database, "s", 1, 1).code, run("diff", database, "s", 1, 1).out)
    document = run("diff", database, "s", 2, 1, "--json").json
    assert {"from": 2, "to": 1} == document["fields"]["turn_id"]
    assert not document["same"]


def test_diff_shows_what_laying_out_would_hide(run: Run, tmp_path: Path) -> None:
    """Contexts that are the same JSON in other bytes are compared as they are."""
    path = tmp_path / "store.db"
    store = SQLiteStore(path)
    first = commit("op-1", context=b'{"a": 1}')
    store.checkpoint(first)
    store.checkpoint(commit("op-2", expected=first.checkpoint.revision, context=b'{"a":1}'))
    store.close()

    assert '-{"a": 1}\n+{"a":1}\n' in run("diff", path, "s", 1, 2).text


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "missing.db"),
        ("list", "mysql://x/y"),
        ("list", "."),
        ("show", "STORE", "nobody"),
        ("show", "STORE", "s", "--revision", "9"),
        ("verify", "STORE", "nobody"),
        ("export", "STORE", "nobody"),
        ("import", "STORE", "missing.jsonl"),
        ("diff", "STORE", "s", "1", "9"),
        ("diff", "STORE", "s", "0", "1"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_one_message(run: Run, database: Path, arguments: tuple[str, ...]) -> None:
    """A wrong store, session, file or revision ends with a message for the user (exit code 2), never a traceback."""
    with pytest.raises(CommandError) as caught:
        run(*(str(database) if each == "STORE" else each for each in arguments))

    assert str(caught.value)


def test_reading_changes_no_byte_of_the_store(run: Run, database: Path) -> None:
    """Everything but `import` opens the store for reading only."""
    before = database.read_bytes()
    for arguments in (("list",), ("show", "s"), ("verify",), ("export", "s"), ("diff", "s", 1, 2)):
        run(arguments[0], database, *arguments[1:])

    assert before == database.read_bytes()


def test_stored_text_cannot_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    """Control characters and invisible ones in ids and contexts are written out."""
    path = tmp_path / "store.db"
    store = SQLiteStore(path)
    hidden = "s\u202ex"
    request = commit(
        "op\u009b31m", hidden, context=b"\x1b[31mred", payloads=[replace(payload(b"x", hidden), retention="\x1b\n")]
    )
    store.checkpoint(request)
    store.close()

    for arguments in (("list",), ("show", hidden), ("show", hidden, "--revision", 1), ("verify",)):
        text = run(arguments[0], path, *arguments[1:]).text
        assert not {"\x1b", "\u202e", "\u009b"} & set(text)


def test_the_command_can_be_added_to_another_parser() -> None:
    """`add_parser` gives the subcommand under its name."""
    parser = argparse.ArgumentParser()
    sessions.add_parser(parser.add_subparsers())

    assert "list" == parser.parse_args(["sessions", "list", "x.db"]).action
