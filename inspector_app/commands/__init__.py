"""The subcommands, one module each. A new one is one module and one entry in `_ALL`."""

from __future__ import annotations

from inspector_app.commands import decode, encode, formats, leaks, policy, serve, sessions, stream_check
from inspector_app.commands.base import Command

__all__ = ["COMMANDS", "SERVE"]

_ALL = (
    encode.COMMAND,
    decode.COMMAND,
    formats.COMMAND,
    leaks.COMMAND,
    policy.COMMAND,
    stream_check.COMMAND,
    sessions.COMMAND,
)

COMMANDS: dict[str, Command] = {command.name: command for command in _ALL}

SERVE = serve.COMMAND
"""What runs when no command is named: the app."""
