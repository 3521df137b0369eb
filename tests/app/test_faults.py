"""Commands when something outside goes wrong: exit code 2, a sentence, no traceback, and old files as they were."""

from __future__ import annotations

import io
import json
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from inspector_app import cli
from modelcontext_core.contextstate import open_store
from modelcontext_core.contextstate.stores import sqlite
from modelcontext_core.files import write_whole
from tests.contextstate.builders import commit, grow

Run = Callable[..., str]
TRACE = json.dumps(
    [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}],
        },
        {
            "role": "tool",
            "tool_call_id": "c",
            "name": "lookup",
            "content": json.dumps({"id": "0d3f1c5e-7a2b-4c8d-9e10-1f2a3b4c5d6e"}),
        },
    ]
)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command that must fail with 2, and gives the one line that it says."""

    def run_command(*arguments: str | Path, stdin: bytes = b"") -> str:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        assert 2 == cli.main([str(each) for each in arguments])
        said = capsys.readouterr().err.splitlines()
        assert len(said) == 1, said
        return said[0]

    return run_command


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace with an id that nobody declared."""
    path = tmp_path / "trace.json"
    path.write_text(TRACE)
    return path


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A SQLite store with one session."""
    path = tmp_path / "store.db"
    store = open_store(f"sqlite:///{path}")
    grow(store)
    store.close()
    return path


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """No file may grow above so many bytes: what a full disk does, for this process only."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("option", ["--report", "--sarif", "--apply", "--baseline"])
def test_what_leaks_cannot_write_whole_it_leaves_as_it_was(run: Run, trace: Path, tmp_path: Path, option: str) -> None:
    """A report, a log, a pack or a baseline that does not fit: a sentence, the old file, and no piece of a new one."""
    out = tmp_path / "out"
    old = '{"schema": "modelcontext-leaks-baseline/1", "accepted": []}'
    out.write_text(old)
    more = {"--baseline": ["--accept", "because"], "--apply": ["--force"]}.get(option, [])

    with small_files(40):
        said = run("leaks", trace, "--processes", "1", option, out, *more)

    assert f"{out} is not written: File too large" in said
    assert old == out.read_text()
    assert {"out", "trace.json"} == {path.name for path in tmp_path.iterdir()}


def test_a_pack_that_does_not_fit_leaves_the_old_one(run: Run, trace: Path, tmp_path: Path) -> None:
    """`policy discover --out` writes a pack whole or not at all."""
    out = tmp_path / "pack.toml"
    out.write_text('name = "old"\n')

    with small_files(40):
        said = run("policy", "discover", trace, "--out", out, "--force")

    assert f"--out {out} is not written: File too large" in said
    assert 'name = "old"\n' == out.read_text()


def test_half_an_export_is_removed(run: Run, database: Path, tmp_path: Path) -> None:
    """`sessions export --out` leaves no file that looks like an export."""
    with small_files(1000):
        said = run("sessions", "export", database, "s", "--out", tmp_path / "out.jsonl")

    assert "File too large" in said
    assert [] == list(tmp_path.glob("out*"))


def test_an_import_that_does_not_fit_changes_nothing(run: Run, database: Path) -> None:
    """The store is bounded by its own size: the import says so, and the store verifies."""
    other = open_store("memory:")
    other.checkpoint(commit("o", "other", context=bytes(300_000)))
    export = b"".join(other.export("other"))

    with small_files(database.stat().st_size):
        said = run("sessions", "import", database, "-", stdin=export)

    assert "perhaps because it is full: check it and do it again" in said
    assert 0 == cli.main(["sessions", "verify", str(database)])
    assert ["s"] == [head.session_id for head in open_store(f"sqlite:///{database}", read_only=True).sessions()]


def test_an_output_that_is_full_is_said(trace: Path) -> None:
    """The output itself has no room: one sentence, and nothing more when Python closes it."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "inspector_app", "encode", str(trace)],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert 2 == done.returncode
    assert b"modelcontext-inspector encode: error: the output is not complete: No space left on device\n" == done.stderr


def test_a_locked_and_a_damaged_store(
    run: Run, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever keeps it locked, and whatever is damaged, is named with what to do."""
    monkeypatch.setattr(sqlite, "_BUSY_SECONDS", 0.1)
    export = b"".join(open_store(f"sqlite:///{database}", read_only=True).export("s"))
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    assert "another program keeps it locked" in run("sessions", "import", database, "-", stdin=export)

    other.close()
    broken = tmp_path / "broken.db"
    broken.write_bytes(database.read_bytes()[:100] + b"\xff" * 4000)
    assert "its file is damaged: take a copy" in run("sessions", "list", broken)
    broken.write_bytes(b"nothing")
    assert "it is no SQLite database" in run("sessions", "show", broken, "s")
    assert "there is no such file" in run("sessions", "verify", tmp_path / "nowhere.db")
    assert "cannot be reached: check that the server runs" in run("sessions", "list", "postgresql://127.0.0.1:1/x")


@pytest.mark.parametrize("factory", ["builtins:int", "tests.app.test_faults:Failing", "tests.app.test_faults:TRACE"])
def test_a_decoder_that_fails_is_said(run: Run, tmp_path: Path, factory: str) -> None:
    """Whatever the decoder of the user does, its name stands in the sentence, and what it raised."""
    answer = tmp_path / "answer.txt"
    answer.write_text("see doc://1")

    assert f"--decoder {factory}: it" in run("stream-check", answer, "--decoder", factory)


class Failing:
    """A decoder that raises."""

    def feed(self, text: str) -> str:
        """Raise."""
        raise ZeroDivisionError(text)


def test_json_says_what_could_not_be_read_too(run: Run, tmp_path: Path) -> None:
    """With `--json` the output is for a program, and the sentence for whoever looks at the exit code."""
    (tmp_path / "empty").write_bytes(b"")

    assert "the source is empty" in run("leaks", tmp_path / "empty", "--json")
    assert "1 of 1 file cannot be read" in run("formats", tmp_path / "empty", "--json")


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """A link stays a link, rights stay as they were, a protected file is not replaced, a device is written to."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)

    write_whole(link, b"new")

    assert (b"new", 0o640) == (real.read_bytes(), real.stat().st_mode & 0o777)
    assert link.is_symlink()
    write_whole(Path("/dev/null"), b"gone")
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, b"")
    assert {"link", "real"} == {path.name for path in tmp_path.iterdir()}


def test_an_unknown_format_is_bad_usage_of_every_command(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command that reads traces names the nearest format, and where all of them are listed."""
    for command in (["encode"], ["formats"], ["leaks"], ["stream-check"], ["policy", "discover"]):
        with pytest.raises(SystemExit, match="2"):
            cli.main([*command, str(trace), "--format", "openai"])
        said = "there is no format 'openai'; nearest is openai_chat; `modelcontext-inspector formats --list` names them"
        assert said in capsys.readouterr().err
