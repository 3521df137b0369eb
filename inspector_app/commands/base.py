"""What all subcommands share: their shape, their exit codes, and their inputs. Traces are read in `traces`, JSON is
written in `output`."""

from __future__ import annotations

import argparse
import glob
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from inspector_app.folders import files_below
from inspector_app.views.hidden import one_line

__all__ = [
    "EXIT_FOUND",
    "EXIT_INTERRUPTED",
    "EXIT_OK",
    "EXIT_USAGE",
    "PROGRAM",
    "STANDARD_INPUT",
    "STDIN",
    "Command",
    "CommandError",
    "Source",
    "add_action",
    "count",
    "epilog",
    "expand",
    "read_text",
    "refuse_to_replace",
    "warn",
]

PROGRAM = "modelcontext-inspector"
STDIN = "-"

EXIT_OK = 0
EXIT_FOUND = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


class CommandError(Exception):
    """Bad usage or input: the message goes to the user as it is, the exit code is 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One subcommand: `add_arguments` declares them, `run` does the work and returns the exit code.

    `--help` ends with `examples`, command lines without their beginning, and with `found`: what exit code 1 means.
    """

    name: str
    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    examples: tuple[str, ...] = ()
    found: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One input: a file, or standard input when `path` is None."""

    name: str
    path: Path | None = None

    def opened(self) -> Path | BinaryIO:
        """What a reader takes: the path, or the binary stream of standard input."""
        return self.path if self.path is not None else sys.stdin.buffer


STANDARD_INPUT = Source(name="standard input")


def add_action(actions: Any, name: str, summary: str) -> argparse.ArgumentParser:
    """The parser of one action of a command (`policy check`): its own `--help` says what the command's says of it."""
    parser: argparse.ArgumentParser = actions.add_parser(name, help=summary, description=summary)
    return parser


def epilog(program: str, examples: Sequence[str], found: str = "") -> str:
    """How every `--help` ends: examples, and what the exit codes say (1 only where a command has a use for it)."""
    codes = {EXIT_OK: "done", EXIT_FOUND: found, EXIT_USAGE: "bad usage, or something that cannot be read or written"}
    lines = ["examples:", *(f"  {program} {example}".rstrip() for example in examples), "", "exit codes:"]
    return "\n".join(lines + [f"  {code}  {meaning}" for code, meaning in codes.items() if meaning])


def expand(names: Sequence[str]) -> Iterator[Source]:
    """The inputs that the names stand for: files, folders (all files below, sorted), globs, `-` for standard input.

    Hidden files and folders below a named folder are left out. What may not be looked at is an input, too: who reads it
    learns why it cannot be. Raises `CommandError` for a name that leads nowhere.
    """
    for name in names:
        if name == STDIN:
            yield STANDARD_INPUT
            continue
        path = Path(name)
        if path.is_dir():
            found, missing = files_below(path), "this folder has no files"
        elif path.exists():
            found, missing = [path], ""
        else:
            # The shell expands globs, but not in quotes, and not on Windows. Path.glob takes no absolute pattern.
            found = [Path(each) for each in sorted(glob.glob(name, recursive=True)) if Path(each).is_file()]  # noqa: PTH207
            missing = "no file has a name like this" if glob.has_magic(name) else "no such file or folder"
        if not found:
            raise CommandError(f"{name}: {missing}")
        for each in found:
            yield Source(name=str(each), path=each)


def count(number: int, noun: str, many: str = "") -> str:
    """A number with its noun: `1 file`, `2 files`, and `many` for nouns that take no plain s."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def read_text(name: str) -> str:
    """The text of standard input (`-`), or the argument itself. Raises `CommandError` when it is not UTF-8."""
    if name != STDIN:
        return name
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise CommandError(f"standard input is not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise CommandError(f"standard input: {error.strerror or error}") from error


def refuse_to_replace(option: str, path: Path) -> None:
    """Raises `CommandError` when a pack would be written over a file: it may be one that somebody wrote by hand, and a
    written pack has none of its comments. Reports are made again in every run and replace what is there."""
    if path.is_file():
        raise CommandError(f"{option} {path}: there is such a file already; --force replaces it")


def warn(text: str) -> None:
    """One line for the person, beside the output. What it tells may be text of a trace: nothing in it steers the
    terminal."""
    with suppress(OSError):  # nobody can be told that nobody can be told
        print(one_line(text), file=sys.stderr)
