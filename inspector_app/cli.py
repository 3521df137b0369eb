"""The command line: `modelcontext-inspector [FILE|FOLDER]` opens the app, the subcommands work without it.

Nothing here or in `commands/` imports Streamlit; the app is reached through `launch.serve` alone.

Exit codes: 0 done, 1 a check found something, 2 bad usage or unreadable input, 130 stopped by the keyboard. Every fault
is one sentence on standard error.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from inspector_app import __version__
from inspector_app.commands import COMMANDS, SERVE
from inspector_app.commands.base import EXIT_INTERRUPTED, EXIT_USAGE, PROGRAM, Command, CommandError, epilog, warn
from inspector_app.views.hidden import one_line
from modelcontext_core.errors import ModelContextError

__all__ = ["build_parser", "main"]


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence; the whole usage would hide it."""

    def error(self, message: str) -> NoReturn:
        """Print the message, and exit with 2. It may repeat names of files that somebody else chose."""
        self.exit(EXIT_USAGE, f"{self.prog}: error: {one_line(message)}; see {self.prog} --help\n")


def build_parser(command: Command) -> argparse.ArgumentParser:
    """The parser of one command; that of the app (`SERVE`) lists the others."""
    program = f"{PROGRAM} {command.name}".rstrip()
    ending = epilog(program, command.examples, command.found)
    if command is SERVE:
        width = max(len(name) for name in COMMANDS)
        listing = "\n".join(f"  {each.name:<{width}}  {each.summary}" for each in COMMANDS.values())
        ending = (
            f"other commands (each with its own --help):\n{listing}\n\n{ending}\n\n"
            f"To open a file that has the name of a command, write its folder too: ./{min(COMMANDS)}"
        )
    parser = _Parser(
        prog=program,
        description=command.summary,
        epilog=ending,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    command.add_arguments(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (argparse itself exits for `--help`, `--version` and bad usage)."""
    _mend_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    command = COMMANDS.get(arguments[0], SERVE) if arguments else SERVE
    parser = build_parser(command)
    try:
        if command is SERVE and arguments:
            _refuse_unknown(parser, arguments[0])
        code = command.run(parser.parse_args(arguments if command is SERVE else arguments[1:]))
        sys.stdout.flush()
    except (CommandError, ModelContextError) as error:
        warn(f"{parser.prog}: error: {error}")
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader (`head`) has enough.
        _discard_output()
        return 0
    except OSError as error:
        if error.filename is None:
            # Only the output has no name: its disk is full, or what it was sent to is gone.
            _discard_output()
        warn(f"{parser.prog}: error: {error.filename or 'the output is not complete'}: {error.strerror or error}")
        return EXIT_USAGE
    return code


def _refuse_unknown(parser: argparse.ArgumentParser, name: str) -> None:
    """A misspelt command would be taken for a file to open, and all that follows it for a fault."""
    if not name.startswith("-") and not Path(name).exists():
        near = get_close_matches(name, COMMANDS, n=1)
        parser.error(f"{name}: no such file or folder, and no such command{f'; nearest is {near[0]}' if near else ''}")


def _mend_streams() -> None:
    """A closed stream reads as empty, or takes everything; what an encoding lacks is written as an escape."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Python would complain again when it closes the stream at exit."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
