"""The command `formats`: what was recognised, how much is in it, what was noticed, and its exit code."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from inspector_app import cli

CHAT = '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A whole chat, a cut log of single messages, and a picture."""
    (tmp_path / "chat.json").write_text(CHAT)
    (tmp_path / "log.jsonl").write_text('{"role": "user", "content": "Hi"}\n{"role": "assistant", "con')
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\x00" * 99)
    return tmp_path


def test_a_file_is_named_with_its_format_and_its_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first line says what it is, the second how much is in it."""
    assert cli.main(["formats", str(folder / "chat.json")]) == 0

    first, second = capsys.readouterr().out.splitlines()
    assert first == f"{folder / 'chat.json'}: OpenAI chat completions (and compatible) [openai_chat]"
    assert second == "  1 conversation, 2 messages, 0 notices"


def test_notices_follow_with_kind_and_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A damaged file was read as far as it goes: that is no failure of the command."""
    assert cli.main(["formats", str(folder / "*.jsonl")]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert "1 conversation, 1 message, 2 notices" in lines[1]
    assert any(line.startswith("  damaged: line 2, byte ") for line in lines[2:])


def test_an_unreadable_file_stops_no_other_and_gives_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a folder everything is named; one file that is no trace makes the exit code 2."""
    assert cli.main(["formats", "--json", str(folder)]) == 2

    files = {Path(each["source"]).name: each for each in json.loads(capsys.readouterr().out)["files"]}
    assert [(name, each["format"], each["messages"]) for name, each in files.items()] == [
        ("chat.json", "openai_chat", 2),
        ("log.jsonl", "openai_chat", 1),
        ("x.png", "", 0),
    ]
    assert "PNG" in files["x.png"]["error"]["reason"]
    assert files["chat.json"]["error"] is None
    assert files["chat.json"]["conversations"] == [
        {"id": files["chat.json"]["conversations"][0]["id"], "title": "", "parent": "", "messages": 2, "tools": 0}
    ]


def test_standard_input_is_read_and_a_format_can_be_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-` is standard input; `--format` overrules what the content says."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CHAT.encode())))

    assert cli.main(["formats", "--format", "text", "-"]) == 0
    assert capsys.readouterr().out.startswith("standard input: Plain text [text]\n  1 conversation, 1 message")


def test_the_known_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a file, or with `--list`."""
    assert cli.main(["formats"]) == 0
    assert "anthropic_messages" in capsys.readouterr().out
    assert cli.main(["formats", "--list", "--json"]) == 0
    assert "openai_chat" in json.loads(capsys.readouterr().out)["formats"]


def test_a_name_that_leads_nowhere_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """As with every other command."""
    assert cli.main(["formats", "no/such/file.json"]) == 2
    assert "no such file" in capsys.readouterr().err
