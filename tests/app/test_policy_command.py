"""The command `policy`: check, show, discover."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from inspector_app.commands import policy
from inspector_app.commands.base import CommandError
from modelcontext_core.errors import PolicyError
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies
from tests.app.running import Ran, Run

A = "0d3f1c5e-7a2b-4c8d-9e10-1f2a3b4c5d6e"
NORTHWIND = Path(__file__).resolve().parents[2] / "sample_sessions" / "packs" / "northwind.toml"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs the command in this process."""

    def run_command(*arguments: str) -> Ran:
        parser = argparse.ArgumentParser()
        policy.add_arguments(parser)
        code = policy.run(parser.parse_args(arguments))
        captured = capfdbinary.readouterr()
        return Ran(code, captured.out.decode(), captured.err.decode())

    return run_command


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A conversation with a tool that no pack knows, with a character in its result that nobody sees."""
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_order", "arguments": f'{{"order_id": "{A}"}}'},
    }
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Where is my order?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": f"Order {A}: see https://example.com/\u3164x"},
    ]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"messages": messages}))
    return path


def test_check_says_ok_and_gives_0(run: Run) -> None:
    """A sound pack is named."""
    assert Ran(0, f"{NORTHWIND}: ok\n", "") == run("check", str(NORTHWIND))


def test_check_says_every_fault_and_gives_1(run: Run, tmp_path: Path) -> None:
    """Each fault is one line with file, key and what is allowed; another file's soundness does not hide it."""
    path = tmp_path / "bad.toml"
    path.write_text('name = "bad"\n[tools.t]\nids = ["nope"]\nsql = ["\\n"]')

    ran = run("check", str(NORTHWIND), str(path))

    lines = ran.out.splitlines()
    assert (1, 3) == (ran.code, len(lines))
    assert lines[1].startswith(f'{path}: tools.t.ids[0]: "nope" is not in the key table')
    assert lines[2].startswith(f"{path}: tools.t.sql[0]: must be printable text")


def test_check_follows_extended_files(run: Run, tmp_path: Path) -> None:
    """A pack that extends a file is checked on that base."""
    (tmp_path / "base.toml").write_text('name = "base"\n[keys]\nsku = "web"')
    (tmp_path / "top.toml").write_text('name = "top"\nextends = "base.toml"\n[tools.t]\nids = ["sku"]')

    assert 0 == run("check", str(tmp_path / "top.toml")).code


def test_check_as_json(run: Run, tmp_path: Path) -> None:
    """Programs get the faults in parts."""
    path = tmp_path / "bad.toml"
    path.write_text('name = "bad"\nuri_scheme = "http"')

    ran = run("check", "--json", str(path))

    (pack,) = json.loads(ran.out)["packs"]
    assert (1, False, "uri_scheme") == (ran.code, pack["ok"], pack["faults"][0]["path"])


def test_a_file_that_is_not_there_is_an_error(run: Run, tmp_path: Path) -> None:
    """Bad input is raised, for the command line to turn into exit code 2."""
    for arguments in (("check", "none.toml"), ("show", "none.toml"), ("discover", "--base", "none.toml", "x")):
        with pytest.raises(PolicyError):
            run(*arguments)
    with pytest.raises(CommandError):
        run("discover", str(tmp_path / "none.json"))


def test_show_prints_a_row_a_tool(run: Run) -> None:
    """Without a file the built-in pack is shown; each tool has a line."""
    lines = run("show").out.splitlines()

    assert "builtin: 42 tools, URI scheme weknora" == lines[0]
    assert 44 == len(lines)
    assert any(line.split() == ["read_document", "built-in", "id", "source"] for line in lines)


def test_show_marks_own_and_changed_tools(run: Run) -> None:
    """A pack of a user shows where each tool comes from, and the keys that it adds."""
    out = run("show", str(NORTHWIND)).out

    assert "keys: order_id = document" in out
    assert [line.split()[1] for line in out.splitlines() if line.startswith(("orders_get", "read_document"))] == [
        "changed",
        "own",
    ]
    assert "mine: uuid, url" in out
    assert "sensitive" in out


def test_show_as_toml_and_json(run: Run) -> None:
    """The pack can be taken further: as a file that loads, and as JSON with its keys."""
    assert DEFAULT_POLICIES.tools == ToolPolicies.loads(run("show", "--toml").out).tools

    shown = json.loads(run("show", "--json", str(NORTHWIND)).out)
    assert ("northwind", "own") == (shown["name"], shown["tools"]["orders_get"]["from"])
    assert "document" == shown["keys"]["order_id"]


def test_discover_prints_reasons(run: Run, trace: Path) -> None:
    """Each proposal is a line: tool, place, rule, space, why, examples; hidden characters are drawn."""
    ran = run("discover", str(trace))

    lines = ran.out.splitlines()
    assert (0, 4) == (ran.code, len(lines))
    assert lines[1].split()[:5] == ["get_order", "arguments", "key", "order_id", "document"]
    assert "1 UUIDs, 1 different, of 1 strings" in lines[1]
    assert lines[3].endswith("https://example.com/[U+3164]x")


def test_discover_writes_the_pack(run: Run, trace: Path, tmp_path: Path) -> None:
    """`--out` gives a pack that loads, `--toml` prints the same, `--json` has both reasons and pack."""
    path = tmp_path / "found.toml"
    ran = run("discover", str(trace), "--out", str(path), "--toml")

    assert ran.out == path.read_text()
    assert "found.toml" in ran.err
    assert ToolPolicies.load(path).tools["get_order"].ids == ("order_id",)
    document = json.loads(run("discover", str(trace), "--json").out)
    assert (3, ran.out) == (len(document["proposals"]), document["pack"])


def test_discover_where_nothing_is_found(run: Run, trace: Path, tmp_path: Path) -> None:
    """When the base knows every tool, the command says so and succeeds."""
    base = tmp_path / "base.toml"
    base.write_text('name = "own"\n[tools.get_order]')

    assert Ran(0, "nothing to declare: every tool is known, or holds no ids and links\n", "") == run(
        "discover", str(trace), "--base", str(base)
    )


def test_discover_replaces_a_file_only_when_told(run: Run, trace: Path, tmp_path: Path) -> None:
    """A pack may have been written by hand: one that is there stays, unless `--force` is given."""
    path = tmp_path / "own.toml"
    path.write_text("# mine\nname = 'own'\n")

    with pytest.raises(CommandError, match=r"^--out .*own\.toml: there is such a file already; --force replaces it$"):
        run("discover", str(trace), "--out", str(path))
    assert path.read_text() == "# mine\nname = 'own'\n"

    assert f"wrote {path}\n" == run("discover", str(trace), "--out", str(path), "--force").err
    assert "get_order" in ToolPolicies.load(path).tools


def test_discover_cannot_write(run: Run, trace: Path, tmp_path: Path) -> None:
    """A place that cannot be written is named."""
    with pytest.raises(CommandError, match="--out"):
        run("discover", str(trace), "--out", str(tmp_path))
