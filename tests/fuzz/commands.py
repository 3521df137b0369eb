"""Random command lines over random inputs, in this process: an exit code, a sentence, never a traceback or a hang."""

from __future__ import annotations

import io
import json
import logging
import os
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest import mock

from inspector_app import cli, launch
from inspector_app.commands import COMMANDS, SERVE
from tests.fuzz import conversations, imports, mutations, policies, readers, stores, texts

__all__ = ["run"]

_LONGEST_INPUT: Final = 30_000
_FORMATS: Final = ("openai_chat", "text", "anthropic_messages", "sharegpt", "nothing", "", "OPENAI_CHAT", "mcp_jsonrpc")
_WORDS: Final = (
    "",
    "-",
    "--",
    "x",
    "0",
    "-1",
    "1",
    "7",
    "99999999999999999999",
    "s",
    "t",
    "builtin",
    "discovered",
    "*",
)
_ODD: Final = (
    *_WORDS,
    "\udcff",
    "\u202e",
    "a\nb",
    "--no-such",
    "-j",
    "=",
    "--json=1",
    "nothing.json",
    "é",
    "**",
    "[",
    "~x",
)
_SESSIONS: Final = ("s", "t", "", "nobody", "a\nb", "\x1b[2J", "\udcff", "S", "--", "x" * 200)
_STORES: Final = (
    *("store.db", "store.db", "sqlite:///store.db", "export.jsonl", "broken.db", "memory:", "folder", "nothing.db", ""),
    *("sqlite://store.db", "sqlite:///", "postgresql://127.0.0.1:1/x", "mysql://x/y", "://", "trace.json", "sqlite:"),
    *("postgresql://[", "postgres://%zz", "sqlite:///folder", "empty", "binary"),
)  # fmt: skip


def _input(rng: random.Random) -> bytes:
    """What may stand in a file or come through a pipe."""
    kind = rng.random()
    if kind < 0.5:
        return readers.source(rng)[1][:_LONGEST_INPUT]
    if kind < 0.6:
        return mutations.damaged(rng, rng.choice(readers.sources())[1][:_LONGEST_INPUT])
    if kind < 0.7:
        return texts.text(rng).encode("utf-8", "surrogatepass")
    if kind < 0.8:
        return json.dumps([_message(rng) for _ in range(rng.randint(0, 4))]).encode()
    return rng.choice((b"", b"\n", b"{}", b"[]", b"null", b"0", b'""', b"\xff\xfe", b"\0" * 9, rng.randbytes(200)))


def _message(rng: random.Random) -> dict[str, Any]:
    return {"role": rng.choice(("user", "assistant", "tool")), "content": conversations.prose(rng)}


@cache
def _tables() -> list[bytes]:
    """What other commands print and save: a handle table, a report, a baseline."""
    trace = readers.SAMPLES / "wiki_agent" / "wiki_agent.json"
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        outputs = [Path(folder, name) for name in ("report", "baseline", "sarif")]
        table = _ran(["encode", "--json", str(trace)], b"")[1]
        names = [str(path) for path in outputs]
        _ran(
            ["leaks", str(trace), "--report", names[0], "--baseline", names[1], "--accept", "x", "--sarif", names[2]],
            b"",
        )
        return [table, *(path.read_bytes() for path in outputs)]


def _prepare(rng: random.Random, folder: Path) -> None:
    """The files that the arguments name, right or damaged."""
    table, report, baseline, _ = _tables()
    export = b"".join(imports.exports()["whole"])
    given: dict[str, Callable[[], bytes]] = {
        "trace.json": lambda: rng.choice(readers.sources())[1][:_LONGEST_INPUT],
        "odd": lambda: _input(rng),
        "folder/a": lambda: _input(rng),
        "folder/b.jsonl": lambda: _input(rng),
        "pack.toml": lambda: policies.pack_text(rng).encode("utf-8", "surrogatepass"),
        "good.toml": lambda: b'name = "good"\nextends = "builtin"\n',
        "handles.json": lambda: mutations.rebuilt(rng, table) if rng.random() < 0.6 else table,
        "report.json": lambda: mutations.rebuilt(rng, report) if rng.random() < 0.6 else report,
        "baseline.json": lambda: mutations.rebuilt(rng, baseline) if rng.random() < 0.6 else baseline,
        "store.db": stores.own_store,
        "broken.db": lambda: mutations.damaged(rng, stores.own_store()),
        "export.jsonl": lambda: mutations.damaged(rng, export) if rng.random() < 0.5 else export,
        "empty": lambda: b"",
        "binary": lambda: rng.randbytes(300),
    }
    for name, content in given.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content())


_INPUTS: Final = (
    "trace.json",
    "trace.json",
    "odd",
    "odd",
    "folder",
    "folder/*",
    "*.json",
    "-",
    "nothing.json",
    "binary",
    "empty",
)
_OUTPUTS: Final = ("out", "folder", "nowhere/out", "empty", "", "trace.json", "-")


def _any(rng: random.Random, names: Sequence[str], least: int = 0) -> list[str]:
    return [rng.choice(names) for _ in range(rng.choice((1, 1, 1, 1, 2, 3, least)))]


def _options(rng: random.Random, known: dict[str, Sequence[str] | None]) -> list[str]:
    """Some of the options of a command, mostly with a value that it may have."""
    found: list[str] = []
    for name in rng.sample(list(known), min(len(known), rng.choice((0, 1, 1, 2, 3)))):
        values = known[name]
        found.append(name)
        if values is not None:
            found.append(rng.choice(values) if rng.random() < 0.9 else rng.choice(_ODD))
    return found


_PACKS: Final = ("builtin", "discovered", "pack.toml", "good.toml", "nothing.toml", "binary", "folder", "")
_READING: Final[dict[str, Sequence[str] | None]] = {
    "--json": None,
    "--format": _FORMATS,
    "--pack": _PACKS,
    "--no-citations": None,
}


def _encode(rng: random.Random) -> list[str]:
    return [*_options(rng, _READING), *_any(rng, _INPUTS)]


def _decode(rng: random.Random) -> list[str]:
    known = ["--handles", "handles.json"] if rng.random() < 0.6 else ["--trace", rng.choice(_INPUTS)]
    text = rng.choice(("-", texts.text(rng).encode("utf-8", "replace").decode().replace("\0", ""), '{"id": "doc://1"}'))
    more = {"--tool": conversations.TOOLS, "--conversation": _WORDS, **_READING}
    return [text, *known, *_options(rng, more)]


def _formats(rng: random.Random) -> list[str]:
    return [*_options(rng, {"--list": None, "--json": None, "--format": _FORMATS}), *_any(rng, _INPUTS)]


def _leaks(rng: random.Random) -> list[str]:
    known: dict[str, Sequence[str] | None] = {
        "--from": ("report.json", "report.json", "trace.json", "nothing", "binary"),
        "--pack": _PACKS,
        "--format": _FORMATS,
        "--detectors": ("uuid", "all", "uuid,url", "", "nothing", ",", "stored"),
        "--pattern": ("id=[0-9]+", "x=(", "=x", "x", "x=", "a=(a+)+$", "uuid=a", "b=.*", "\x1b=a"),
        "--fail-on": ("any", "unregistered", "never"),
        "--baseline": ("baseline.json", "baseline.json", "nothing", "trace.json", "binary", "folder"),
        "--accept": ("known", "", "a\nb"),
        "--report": _OUTPUTS,
        "--sarif": _OUTPUTS,
        "--apply": _OUTPUTS,
        "--force": None,
        "--values": None,
        "--no-suggestions": None,
        "--processes": ("1", "0", "-3", "x"),
        "--json": None,
    }
    return [*_any(rng, _INPUTS), *_options(rng, known), *_options(rng, known)]


def _policy(rng: random.Random) -> list[str]:
    packs = ("pack.toml", "pack.toml", "good.toml", "nothing.toml", "binary", "folder", "builtin", "empty")
    action = rng.choice(("check", "show", "discover", "nothing"))
    if action == "check":
        return [action, *_any(rng, packs), *_options(rng, {"--json": None})]
    if action == "show":
        return [action, *_any(rng, packs), *_options(rng, {"--json": None, "--toml": None})]
    known: dict[str, Sequence[str] | None] = {
        "--format": _FORMATS,
        "--base": packs,
        "--out": _OUTPUTS,
        "--toml": None,
        "--json": None,
    }
    return [action, *_any(rng, _INPUTS), *_options(rng, known)]


def _stream_check(rng: random.Random) -> list[str]:
    known: dict[str, Sequence[str] | None] = {
        "--decoder": ("json:loads", "nowhere:x", "json:nothing", ":", "json", "io:StringIO", "builtins:int", "os:sep"),
        "--handles": ("handles.json", "trace.json", "nothing", "binary"),
        "--seed": ("0", "7", "-1", "x", str(10**30)),
        "--json": None,
        "--format": _FORMATS,
    }
    return [*_any(rng, ("short", "short", "short", *_INPUTS)), *_options(rng, known)]


def _sessions(rng: random.Random) -> list[str]:
    action = rng.choice(("list", "show", "verify", "export", "import", "diff", "nothing"))
    numbers = ("1", "2", "3", "4", "0", "-1", "x", "99999999999999999999")
    rest: dict[str, Callable[[], list[str]]] = {
        "list": lambda: _options(rng, {"--prefix": _SESSIONS}),
        "show": lambda: [rng.choice(_SESSIONS), *_options(rng, {"--revision": numbers})],
        "verify": lambda: _any(rng, _SESSIONS) if rng.random() < 0.6 else [],
        "export": lambda: [rng.choice(_SESSIONS), *_options(rng, {"--out": _OUTPUTS})],
        "import": lambda: [rng.choice(("export.jsonl", "-", "odd", "folder")), *_options(rng, {"--create": None})],
        "diff": lambda: [rng.choice(_SESSIONS), rng.choice(numbers), rng.choice(numbers)],
        "nothing": list,
    }
    json_too = ["--json"] if action != "export" and rng.random() < 0.3 else []
    return [action, rng.choice(_STORES), *rest[action](), *json_too]


def _serve(rng: random.Random) -> list[str]:
    known: dict[str, Sequence[str] | None] = {
        "--no-browser": None,
        "--port": ("0", "-1", "70000", "x", "", "65535"),
        "--address": ("127.0.0.1", "::1", "nowhere.invalid", "", "0.0.0.0", "1.2.3.4", "a b", "[::1]"),
        "--allow-local-files": None,
        "--version": None,
        "--help": None,
    }
    return [*_options(rng, known), *([rng.choice(_INPUTS)] if rng.random() < 0.7 else [])]


_MAKERS: Final[dict[str, Callable[[random.Random], list[str]]]] = {
    "encode": _encode,
    "decode": _decode,
    "formats": _formats,
    "leaks": _leaks,
    "policy": _policy,
    "stream-check": _stream_check,
    "sessions": _sessions,
    SERVE.name: _serve,
}
assert {SERVE.name, *COMMANDS} == _MAKERS.keys(), "a command is not tried"


def _arguments(rng: random.Random) -> list[str]:
    """One command line: mostly one that makes sense, at times with words changed, moved, doubled or left out."""
    name = rng.choice(list(_MAKERS))
    words = [name] if name else []
    words += _MAKERS[name](rng)
    while words and rng.random() < 0.2:
        at = rng.randrange(len(words))
        words = rng.choice(
            (
                [*words[:at], *words[at + 1 :]],
                [*words[:at], rng.choice(_ODD), *words[at:]],
                [*words[:at], words[at], *words[at:]],
                [*words[:at], words[at][: len(words[at]) // 2], *words[at + 1 :]],
                [words[at], *words[:at], *words[at + 1 :]],
            )
        )
    return words


def _ran(arguments: Sequence[str], stdin: bytes) -> tuple[int | str | None, bytes, str]:
    """Exit code, output and errors of one command in this process."""
    out, err = io.BytesIO(), io.BytesIO()
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    printed = io.TextIOWrapper(out, encoding="utf-8")
    said = io.TextIOWrapper(err, encoding="utf-8", errors="backslashreplace")
    code: int | str | None
    with (
        mock.patch.object(sys, "stdin", given),
        mock.patch.object(sys, "stdout", printed),
        mock.patch.object(sys, "stderr", said),
    ):
        try:
            code = cli.main(arguments)
        except SystemExit as stop:
            code = stop.code
        sys.stdout.flush()
        sys.stderr.flush()
    return code or 0, out.getvalue(), err.getvalue().decode("utf-8")


def _no_server(options: launch.LaunchOptions) -> None:
    """What `launch.serve` does before the server starts."""
    port = launch.free_port(options.address, options.port)
    launch._announce(options, port, launch._url(options.address, port))


@contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def run(number: int) -> None:
    """Runs one case; raises `AssertionError`, or what a command should have turned into a sentence."""
    rng = random.Random(f"commands {number}")
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name, "in", "here")
        folder.mkdir(parents=True)
        _prepare(rng, folder)
        (folder / "short").write_bytes(texts.text(rng).encode("utf-8", "replace")[:300])
        arguments, stdin = _arguments(rng), _input(rng)
        with _in_folder(folder), warnings.catch_warnings(), mock.patch.object(launch, "serve", _no_server):
            warnings.simplefilter("error")
            logging.disable(logging.CRITICAL)
            code, out, err = _ran(arguments, stdin)
    said = f"{arguments!r} gave {code!r}: {err[-800:]!r}"
    assert code in (0, 1, 2), said
    assert "Traceback" not in err, said
    if code == 2:
        # It may repeat what the user typed.
        _is_a_sentence(err, said, 4000 + sum(map(len, arguments)))
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if "--json" in options and code in (0, 1) and out.strip() and arguments[0] in COMMANDS:
        for line in [out] if out.count(b"\n") == 1 or arguments[0] != "encode" else _documents(out):
            json.loads(line)


def _documents(out: bytes) -> list[bytes]:
    try:
        json.loads(out)
    except ValueError:
        return out.splitlines()
    return [out]


def _is_a_sentence(err: str, said: str, longest: int) -> None:
    lines = [line for line in err.splitlines() if line.strip()]
    assert lines, f"nothing said: {said}"
    assert any(len(line.split()) > 2 for line in lines), f"no sentence: {said}"
    assert not any(char in err for char in "\x1b\u202e\0"), f"steers the terminal: {said}"
    assert len(lines[-1]) < longest, f"too long: {said}"
