"""The command line: `modelcontext-inspector [FILE|FOLDER]` opens the app, the subcommands work without it.

Nothing here or in `commands/` imports Streamlit; the app is reached through `launch.serve` alone.

Exit codes: 0 done, 1 a check found something, 2 bad usage or unreadable input, 130 stopped by the keyboard.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from inspector_app import __version__
from inspector_app.commands import COMMANDS, SERVE
from inspector_app.commands.base import EXIT_INTERRUPTED, EXIT_USAGE, PROGRAM, Command, CommandError, warn
from inspector_app.views.hidden import one_line
from modelcontext_core.errors import ModelContextError

__all__ = ["build_parser", "main"]


class _Parser(argparse.ArgumentParser):
    """Repeats arguments in its errors, and those may be names of files that somebody else chose."""

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and exit with 2."""
        super().error(one_line(message))


def build_parser(command: Command) -> argparse.ArgumentParser:
    """The parser of one command; that of the app (`SERVE`) lists the others."""
    if command is SERVE:
        width = max(len(name) for name in COMMANDS)
        listing = "\n".join(f"  {each.name:<{width}}  {each.summary}" for each in COMMANDS.values())
        parser: argparse.ArgumentParser = _Parser(
            prog=PROGRAM,
            description=command.summary,
            epilog=f"other commands (each with its own --help):\n{listing}\n\n"
            f"To open a file that has the name of a command, write its folder too: ./{min(COMMANDS)}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    else:
        parser = _Parser(prog=f"{PROGRAM} {command.name}", description=command.summary)
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    command.add_arguments(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (argparse itself exits for `--help`, `--version` and bad usage)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    command = COMMANDS.get(arguments[0], SERVE) if arguments else SERVE
    parser = build_parser(command)
    parsed = parser.parse_args(arguments if command is SERVE else arguments[1:])
    try:
        code = command.run(parsed)
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


def _discard_output() -> None:
    """Python would complain again when it closes the stream at exit."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
