"""The command line: what goes in, what comes out, which exit code."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector_app import __version__, cli
from inspector_app.commands import COMMANDS, SERVE
from inspector_app.commands.base import PROGRAM, Command, CommandError, expand
from inspector_app.commands.handle_table import Row, registry_of
from inspector_app.launch import LaunchOptions
from tests.app.running import Ran, Run

KB = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
DOCUMENT = "11111111-2222-4333-8444-555555555555"


def conversation(text: str = "What is in it?") -> list[dict[str, Any]]:
    """A question and a call that names a knowledge base: under the built-in pack it has one handle."""
    arguments = json.dumps({"query": "x", "knowledge_base_ids": [KB]})
    return [
        {"role": "user", "content": text},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "search_knowledge", "arguments": arguments},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "nothing found"},
    ]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs one command in this process; `stdin` is what stands in its standard input."""

    def run_command(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = cli.main(arguments)
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run_command


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """The small conversation as a file."""
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(conversation()))
    return path


# --- the frame


def test_the_version_is_printed(run: Run) -> None:
    """`--version` names program and version, for the app and for each command."""
    assert Ran(0, f"modelcontext-inspector {__version__}\n", "") == run("--version")
    assert __version__ in run("encode", "--version").out


def test_help_names_every_command(run: Run) -> None:
    """Who types `--help` learns which commands there are, and each command has its own."""
    listing = run("--help").out

    assert [] == [name for name in COMMANDS if f"  {name} " not in listing]
    assert all(run(name, "--help").code == 0 for name in COMMANDS)


@pytest.mark.parametrize("command", [SERVE, *COMMANDS.values()], ids=lambda command: command.name or "app")
def test_help_ends_with_examples_that_work_and_with_the_exit_codes(run: Run, command: Command) -> None:
    """What `--help` shows as an example is understood, and what a script may be told is said."""
    shown = run(*([command.name] if command.name else []), "--help").out
    lines = re.findall(rf"^  {PROGRAM}( .*)?$", shown.partition("\nexamples:\n")[2], re.MULTILINE)

    assert len(lines) >= 3
    for line in lines:
        words = shlex.split(line)
        cli.build_parser(command).parse_args(words[1:] if command.name else words)
        assert not command.name or words[0] == command.name
    codes = re.findall(r"^  (\d)  ", shown.partition("\nexit codes:\n")[2], re.MULTILINE)
    assert codes == (["0", "1", "2"] if command.found else ["0", "2"])


def test_a_misspelt_command_is_told_from_a_file(run: Run) -> None:
    """Neither the file that it could be nor its arguments are blamed."""
    ran = run("leak", "traces/", "--json")

    assert (2, "") == (ran.code, ran.out)
    assert (
        "leak: no such file or folder, and no such command; nearest is leaks; see modelcontext-inspector --help\n"
        in (ran.err)
    )


def test_help_can_be_read_in_any_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    """A character that the terminal lacks is no reason to fail."""
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="ascii"))

    with pytest.raises(SystemExit, match="0"):
        cli.main(["sessions", "list", "--help"])
    sys.stdout.flush()
    assert b"postgresql://" in written.getvalue()


def test_a_closed_stream_is_an_empty_one(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Started without standard input, or without anybody who reads, a command still says how it went."""
    for name, arguments, code in (
        ("stdin", ["encode", "-"], 2),
        ("stdout", ["encode", str(trace)], 0),
        ("stderr", ["encode", "no-such-file.json"], 2),
    ):
        with monkeypatch.context() as closed:
            closed.setattr(sys, name, None)
            assert code == cli.main(arguments)
            getattr(sys, name).close()

    assert capsys.readouterr() == ("", f"{PROGRAM} encode: error: standard input: byte 0: the source is empty\n")


def test_the_module_runs_like_the_script() -> None:
    """`python -m inspector_app` is the console script."""
    done = subprocess.run(
        [sys.executable, "-m", "inspector_app", "--version"], capture_output=True, text=True, check=True
    )

    assert f"modelcontext-inspector {__version__}\n" == done.stdout


def test_the_command_line_loads_no_streamlit() -> None:
    """Importing every command brings neither Streamlit nor pandas nor plotly."""
    program = "import sys, inspector_app.cli; print({'streamlit', 'pandas', 'plotly'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "set()\n" == done.stdout


@pytest.mark.parametrize(
    "arguments",
    [("no-such-file.json",), ("--port", "70000"), ("encode",), ("encode", "no-such-file.json"), ("decode", "text")],
)
def test_bad_usage_is_said_and_gives_2(run: Run, arguments: tuple[str, ...]) -> None:
    """A wrong argument ends with exit code 2 and a message, never with a traceback."""
    ran = run(*arguments)

    assert (2, "") == (ran.code, ran.out)
    assert "error: " in ran.err
    assert "Traceback" not in ran.err


def test_ctrl_c_gives_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping by the keyboard is no error message."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("inspector_app.launch.serve", interrupt)

    assert Ran(130, "", "") == run("--no-browser")


def test_a_reader_that_has_enough_ends_the_output_quietly(trace: Path) -> None:
    """`… | head -0` is no error."""
    with subprocess.Popen(
        [sys.executable, "-m", "inspector_app", "encode", str(trace)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        error = process.stderr.read()

    assert (0, b"") == (process.returncode, error)


def test_the_app_gets_the_file_that_was_named(run: Run, trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`modelcontext-inspector FILE` starts the app with that file; the switches reach it."""
    started: list[LaunchOptions] = []
    monkeypatch.setattr("inspector_app.launch.serve", started.append)

    assert 0 == run(str(trace), "--no-browser", "--port", "9000").code
    (options,) = started
    assert (trace, 9000, False, "127.0.0.1") == (options.path, options.port, options.browser, options.address)
    assert SERVE.name not in COMMANDS


# --- inputs


def test_folders_and_globs_stand_for_their_files(tmp_path: Path) -> None:
    """All files of a folder in order, below it too, but nothing hidden; a glob is expanded where no shell does it."""
    for name in ("b.json", "a.json", "deeper/c.json", ".hidden/d.json", ".e.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("[]")

    def names(*given: str) -> list[str]:
        return [Path(source.name).name for source in expand(given)]

    assert ["a.json", "b.json", "c.json"] == names(str(tmp_path))
    assert ["a.json", "b.json"] == names(str(tmp_path / "*.json"))
    assert ["standard input"] == names("-")
    (tmp_path / "empty").mkdir()
    for name, said in {"*.txt": "no file has a name like this", "b": "no such file", "empty": "has no files"}.items():
        with pytest.raises(CommandError, match=said):
            names(str(tmp_path / name))


def test_a_folder_that_may_not_be_opened_is_named(run: Run, trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a check cannot look at is never passed over."""
    closed, scandir = trace.parent / "closed", os.scandir
    closed.mkdir()

    def refuse(path: str) -> object:
        if path == str(closed):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr("os.scandir", refuse)
    ran = run("leaks", str(trace.parent))

    assert (2, "2 files") == (ran.code, ran.out.splitlines()[1].partition(",")[0])
    assert f"{closed}: " in ran.err


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n\x00\x00", b'{"messages": [{"role": "us'])
def test_unreadable_input_is_one_sentence(run: Run, tmp_path: Path, data: bytes) -> None:
    """Rubbish gives exit code 2 and one line that names the file, and prints nothing; half a file says where."""
    path = tmp_path / "rubbish"
    path.write_bytes(data)
    ran = run("encode", str(path))

    assert (2, "") == (ran.code, ran.out)
    assert str(path) in ran.err
    assert "Traceback" not in ran.err


# --- encode


def test_encode_prints_what_the_model_would_see(run: Run, trace: Path) -> None:
    """The declared id is a handle, everything else is as it was."""
    ran = run("encode", str(trace))
    question, call, result = json.loads(ran.out)

    assert (0, "") == (ran.code, ran.err)
    assert conversation()[0] == question
    assert {"query": "x", "knowledge_base_ids": ["kb://1"]} == json.loads(
        call["tool_calls"][0]["function"]["arguments"]
    )
    assert "nothing found" == result["content"]


def test_encoded_output_can_be_encoded_again(run: Run, trace: Path) -> None:
    """What `encode` prints is a trace, and encoding twice changes nothing."""
    once = run("encode", str(trace)).out

    assert once == run("encode", "-", stdin=once.encode()).out


def test_several_conversations_are_one_line_each(run: Run, trace: Path) -> None:
    """A program reads line by line."""
    lines = run("encode", str(trace), str(trace)).out.splitlines()

    assert 2 == len(lines)
    assert json.loads(lines[0]) == json.loads(lines[1])


def test_an_unreadable_file_among_others_is_said_and_stops_none(run: Run, trace: Path) -> None:
    """The rest of a folder is encoded, and the exit code says that something was left out."""
    (trace.parent / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    ran = run("encode", str(trace.parent))

    assert 2 == ran.code
    assert "kb://1" in ran.out
    assert "a.png" in ran.err


def test_the_report_names_handles_and_places(run: Run, trace: Path) -> None:
    """Each span of `--json` points at the durable id in the input and at its handle in the output."""
    report = json.loads(run("encode", "--json", str(trace)).out)
    (span,) = report["spans"]
    before = conversation()[1]["tool_calls"][0]["function"]["arguments"]
    after = report["messages"][1]["tool_calls"][0]["function"]["arguments"]

    assert [("kb://1", KB)] == [(row["handle"], row["durable"]) for row in report["handles"]]
    assert (1, "tool_calls[0].arguments") == (span["message"], span["path"])
    assert KB == before[span["start"] : span["end"]]
    assert "kb://1" == after[span["out_start"] : span["out_end"]]
    assert report["round_trip"]["ok"] is True
    assert 0 == report["raw_ids_left"]
    assert str(trace) == report["source"]


def _foreign_tool(tmp_path: Path) -> Path:
    messages = conversation()
    messages[1]["tool_calls"][0]["function"] = {"name": "get_order", "arguments": json.dumps({"order_id": DOCUMENT})}
    path = tmp_path / "orders.json"
    path.write_text(json.dumps(messages))
    return path


def test_a_tool_that_nobody_declared_keeps_its_ids_under_the_builtin_pack(run: Run, tmp_path: Path) -> None:
    """Without rules for a tool nothing is guessed; the discovered pack finds them, and the report counts both ways."""
    path = str(_foreign_tool(tmp_path))
    declared = json.loads(run("encode", "--json", path).out)
    discovered = json.loads(run("encode", "--json", "--pack", "discovered", path).out)

    assert (0, 1) == (len(declared["handles"]), declared["raw_ids_left"])
    assert (1, 0) == (len(discovered["handles"]), discovered["raw_ids_left"])
    assert 1 == discovered["raw_ids_left_declared"]


def test_an_own_pack_is_a_file(run: Run, tmp_path: Path) -> None:
    """`--pack FILE` applies the rules of that file; a faulty or missing one is named."""
    pack = tmp_path / "orders.toml"
    pack.write_text(
        'name = "orders"\nextends = "builtin"\n[keys]\norder_id = "document"\n[tools.get_order]\nids = ["order_id"]\n'
    )
    path = str(_foreign_tool(tmp_path))
    faulty = tmp_path / "faulty.toml"
    faulty.write_text('name = "faulty"\n[tools.get_order]\nids = ["order_id"]\n')

    assert DOCUMENT not in run("encode", "--pack", str(pack), path).out
    assert 2 == run("encode", "--pack", str(faulty), path).code
    assert "tools.get_order" in run("encode", "--pack", str(faulty), path).err
    assert str(tmp_path / "none.toml") in run("encode", "--pack", str(tmp_path / "none.toml"), path).err


def test_characters_that_cannot_be_written_are_escaped(run: Run) -> None:
    """A lone surrogate comes out as the JSON escape that it came in as."""
    ran = run("encode", "-", stdin=rb'[{"role": "user", "content": "a\ud800b"}]')

    assert r'"a\ud800b"' in ran.out


# --- decode


def test_decode_restores_by_the_trace(run: Run, trace: Path) -> None:
    """The answer to a trace is restored with the handles of that trace; an unknown handle disappears, and is named."""
    ran = run("decode", "--trace", str(trace), "see kb://1 and kb://9.")

    assert Ran(0, f"see weknora://kb/{KB} and .\n", "left out: kb://9 (never issued; nearest is kb://1)\n") == ran


def test_the_trace_of_decode_may_stand_in_standard_input(run: Run, trace: Path) -> None:
    """`… | decode --trace - TEXT` works like a file; two inputs cannot stand there."""
    ran = run("decode", "--trace", "-", "see kb://1", stdin=trace.read_bytes())

    assert Ran(0, f"see weknora://kb/{KB}\n", "") == ran
    assert "cannot be both" in run("decode", "--trace", "-", "-", stdin=trace.read_bytes()).err


def test_decode_restores_by_a_handle_table(run: Run, trace: Path, tmp_path: Path) -> None:
    """The report of `encode --json` is a handle table."""
    table = tmp_path / "report.json"
    table.write_text(run("encode", "--json", str(trace)).out)

    assert f"see weknora://kb/{KB}\n" == run("decode", "--handles", str(table), "see kb://1").out
    assert f"see weknora://kb/{KB}\n" == run("decode", "--handles", str(table), "-", stdin=b"see kb://1\n").out


def test_decode_of_a_call_follows_the_rules_of_its_tool(run: Run, tmp_path: Path) -> None:
    """In a declared field the bare id comes back; what is unknown is named."""
    table = tmp_path / "handles.json"
    table.write_text(json.dumps({"kb://2": KB}))
    call = '{"knowledge_base_ids": ["kb://2", "kb://3"]}'
    ran = run("decode", "--handles", str(table), "--tool", "search_knowledge", "--json", call)

    assert {
        "arguments": f'{{"knowledge_base_ids": ["{KB}", "kb://3"]}}',
        "argument_resolution": "partially_resolved",
        "unresolved_handles": ["kb://3"],
    } == json.loads(ran.out)
    ran = run("decode", "--handles", str(table), "--tool", "search_knowledge", call)
    assert "unresolved: kb://3; a call like this must not run\n" == ran.err


def test_the_decode_report_lists_every_handle(run: Run, trace: Path) -> None:
    """`--json` says of each handle what became of it."""
    report = json.loads(run("decode", "--trace", str(trace), "--json", "kb://1, kb://9").out)

    assert ["restored", "unknown"] == [item["kind"] for item in report["items"]]
    assert KB == report["items"][0]["durable"]


def test_one_conversation_has_to_be_chosen(run: Run, tmp_path: Path) -> None:
    """A trace of several conversations asks which; the wrong id is said."""
    path = tmp_path / "two.jsonl"
    path.write_text("\n".join(json.dumps({"messages": conversation(text)}) for text in ("one", "two")))

    assert "choose one with --conversation" in run("decode", "--trace", str(path), "kb://1").err
    assert 2 == run("decode", "--trace", str(path), "--conversation", "none", "kb://1").code


def test_a_table_gives_a_registry_with_exactly_its_handles() -> None:
    """Every space comes back under its number, gaps included."""
    rows = [
        Row(handle="chunk://3", durable="chunk-three-3"),
        Row(handle="doc://1", durable=DOCUMENT),
        Row(handle="kb://2", durable=KB),
        Row(handle="url://2", durable="https://example.com/a?b=1"),
        Row(handle="url://4", durable="https://example.com/d", citable=False),
        Row(handle="res://0002", durable="resource://0123456789012345678901"),
        Row(handle="i1", durable="issue-77"),
    ]

    handles = {row.handle: (row.durable, row.citable) for row in registry_of(rows, citations=True).handles()}

    assert {row.handle: row.durable for row in rows} == {handle: durable for handle, (durable, _) in handles.items()}
    assert (True, False) == (handles["url://2"][1], handles["url://4"][1])


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("[", "not a JSON document"),
        ("[1]", "not a handle table"),
        ('{"kb://1": 7}', "not a handle table"),
        ('{"bank://1": "x"}', "not a handle"),
        ('{"kb://99999999": "x"}', "numbers are missing"),
        ('{"kb://1": " "}', "no registry gives this handle"),
    ],
)
def test_a_wrong_handle_table_is_said(run: Run, tmp_path: Path, table: str, reason: str) -> None:
    """A file that is no handle table gives exit code 2 and the reason."""
    path = tmp_path / "table.json"
    path.write_text(table)
    ran = run("decode", "--handles", str(path), "kb://1")

    assert (2, "") == (ran.code, ran.out)
    assert reason in ran.err


def test_output_is_utf_8_in_any_terminal(trace: Path, tmp_path: Path) -> None:
    """The encoding of the terminal does not change what is written."""
    path = tmp_path / "cjk.json"
    path.write_text(json.dumps([{"role": "user", "content": "知识库"}]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "inspector_app", "encode", str(path)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
    )

    assert "知识库" in done.stdout.decode("utf-8")
