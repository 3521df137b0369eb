"""No command named: start the app, with a file or folder when one is given."""

from __future__ import annotations

import argparse
from pathlib import Path

from inspector_app import launch
from inspector_app.commands.base import EXIT_OK, Command, CommandError

__all__ = ["COMMAND"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", type=Path, metavar="FILE|FOLDER", help="open the app with this loaded")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.add_argument(
        "--port",
        type=_port,
        default=launch.DEFAULT_PORT,
        help="first port to try; 0 for any free one (default: %(default)s)",
    )
    parser.add_argument(
        "--address",
        default=launch.DEFAULT_ADDRESS,
        help="address to listen on (default: %(default)s, this machine only)",
    )
    parser.add_argument(
        "--allow-local-files",
        action="store_true",
        help="keep path and store inputs open on an address that others can reach",
    )


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return port


def _run(arguments: argparse.Namespace) -> int:
    path: Path | None = arguments.path
    if path is not None and not path.exists():
        raise CommandError(f"{path} does not exist, and it is no command either (see --help).")
    try:
        launch.serve(
            launch.LaunchOptions(
                path=path,
                address=arguments.address,
                port=arguments.port,
                browser=not arguments.no_browser,
                allow_local_files=arguments.allow_local_files,
            )
        )
    except launch.LaunchError as error:
        raise CommandError(str(error)) from error
    return EXIT_OK


COMMAND = Command(
    name="",
    summary="See what a language model really sees: opens the inspector, a web page served to this machine only.",
    add_arguments=_add_arguments,
    run=_run,
    examples=("", "trace.json", "traces/ --no-browser --port 9000"),
)
