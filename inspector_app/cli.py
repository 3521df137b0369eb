"""The command line: `modelcontext-inspector [FILE|FOLDER]` opens the app, the subcommands work without it.

Nothing here or in `commands/` imports Streamlit; the app is reached through `launch.serve` alone.

Exit codes: 0 done, 1 a check found something, 2 bad usage or unreadable input, 130 stopped by the keyboard.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from inspector_app import __version__
from inspector_app.commands import COMMANDS, SERVE
from inspector_app.commands.base import EXIT_INTERRUPTED, EXIT_USAGE, PROGRAM, Command, CommandError
from modelcontext_core.errors import ModelContextError

__all__ = ["build_parser", "main"]


def build_parser(command: Command) -> argparse.ArgumentParser:
    """The parser of one command; that of the app (`SERVE`) lists the others."""
    if command is SERVE:
        width = max(len(name) for name in COMMANDS)
        listing = "\n".join(f"  {each.name:<{width}}  {each.summary}" for each in COMMANDS.values())
        parser = argparse.ArgumentParser(
            prog=PROGRAM,
            description=command.summary,
            epilog=f"other commands (each with its own --help):\n{listing}\n\nA file of such a name: ./{min(COMMANDS)}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    else:
        parser = argparse.ArgumentParser(prog=f"{PROGRAM} {command.name}", description=command.summary)
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
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader (`head`) has enough. Python would complain again when it closes the stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
