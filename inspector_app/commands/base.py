"""What all subcommands share: their shape, their exit codes, and their inputs. Traces are read in `traces`, JSON is
written in `output`."""

from __future__ import annotations

import argparse
import glob
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from inspector_app.views.hidden import one_line

__all__ = [
    "EXIT_FOUND",
    "EXIT_INTERRUPTED",
    "EXIT_OK",
    "EXIT_USAGE",
    "PROGRAM",
    "STDIN",
    "Command",
    "CommandError",
    "Source",
    "count",
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
    """One subcommand: `add_arguments` declares them, `run` does the work and returns the exit code."""

    name: str
    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One input: a file, or standard input when `path` is None."""

    name: str
    path: Path | None = None

    def opened(self) -> Path | BinaryIO:
        """What a reader takes: the path, or the binary stream of standard input."""
        return self.path if self.path is not None else sys.stdin.buffer


def expand(names: Sequence[str]) -> Iterator[Source]:
    """The inputs that the names stand for: files, folders (all files below, sorted), globs, `-` for standard input.

    Hidden files and folders below a named folder are left out. Raises `CommandError` for a name that leads nowhere.
    """
    for name in names:
        if name == STDIN:
            yield Source(name="standard input")
            continue
        path = Path(name)
        if path.is_dir():
            found = [each for each in sorted(path.rglob("*")) if each.is_file() and not _hidden(each, path)]
        elif path.exists():
            found = [path]
        else:
            # The shell expands globs, but not in quotes, and not on Windows. Path.glob takes no absolute pattern.
            found = [Path(each) for each in sorted(glob.glob(name, recursive=True)) if Path(each).is_file()]  # noqa: PTH207
        if not found:
            raise CommandError(f"{name}: no such file, or nothing in it")
        for each in found:
            yield Source(name=str(each), path=each)


def _hidden(path: Path, below: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(below).parts)


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


def refuse_to_replace(option: str, path: Path) -> None:
    """Raises `CommandError` when a pack would be written over a file: it may be one that somebody wrote by hand, and a
    written pack has none of its comments. Reports are made again in every run and replace what is there."""
    if path.is_file():
        raise CommandError(f"{option} {path}: there is such a file already; --force replaces it")


def warn(text: str) -> None:
    """One line for the person, beside the output. What it tells may be text of a trace: nothing in it steers the
    terminal."""
    print(one_line(text), file=sys.stderr)
