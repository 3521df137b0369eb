"""Reading traces and choosing packs, for every command that does."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from inspector_app.commands.base import PROGRAM, CommandError, Source, warn
from modelcontext_core import formats
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.base import Conversation, Trace
from modelcontext_core.leak_report.encoded import NOTHING_BEFORE, Preceding, preceding
from modelcontext_core.messages import Message
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies

__all__ = [
    "BUILTIN",
    "DISCOVERED",
    "Found",
    "add_format_argument",
    "add_input_arguments",
    "choose_pack",
    "read_conversations",
]

BUILTIN = "builtin"
DISCOVERED = "discovered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One conversation and where it came from; `before` is what a branch continues."""

    source: Source
    trace: Trace
    conversation: Conversation
    before: Preceding = NOTHING_BEFORE

    @property
    def context(self) -> tuple[Message, ...]:
        """All messages of the request."""
        return (*self.before.messages, *self.conversation.messages)


def add_format_argument(parser: argparse.ArgumentParser) -> None:
    """`--format`: what overrules the recognition of a format."""
    parser.add_argument(
        "--format",
        type=_format_name,
        metavar="NAME",
        help="read as this format instead of finding it by content (`formats --list` names them)",
    )


def _format_name(name: str) -> str:
    """A format that there is. There are too many to name them all in an error."""
    known = formats.format_names()
    if name in known:
        return name
    near = "".join(f"; nearest is {each}" for each in get_close_matches(name, known, n=1))
    raise argparse.ArgumentTypeError(f"there is no format {name!r}{near}; `{PROGRAM} formats --list` names them")


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """`--format`, `--pack` and `--no-citations`: how a trace is read and encoded."""
    add_format_argument(parser)
    parser.add_argument(
        "--pack",
        default=BUILTIN,
        metavar="builtin|discovered|FILE",
        help="the rules for tools: built in, also found in the trace, or a TOML pack of your own (default: builtin)",
    )
    parser.add_argument("--no-citations", action="store_true", help="do not let the model cite its sources")


def read_conversations(source: Source, format_name: str | None) -> Iterator[Found]:
    """The conversations of one input; each notice of the reader goes to standard error once.

    Raises `CommandError` naming the input when it cannot be read at all.
    """
    try:
        for trace in formats.iter_traces(source.opened(), name=source.name, format=format_name):
            for notice in trace.notices:
                warn(
                    f"{source.name}: {notice.where}: {notice.text}" if notice.where else f"{source.name}: {notice.text}"
                )
            by_id = {each.id: each for each in trace.conversations if each.id}
            for conversation in trace.conversations:
                before = preceding(conversation, by_id)
                yield Found(source=source, trace=trace, conversation=conversation, before=before)
    except UnreadableTrace as error:
        raise CommandError(f"{source.name}: {error}") from error
    except OSError as error:
        raise CommandError(f"{source.name}: {error.strerror or error}") from error


def choose_pack(name: str, messages: tuple[Message, ...]) -> ToolPolicies:
    """The pack that `--pack` names: a discovered one is made for these messages.

    Raises `CommandError` for a file that cannot be opened and `PolicyError` for one that is no valid pack.
    """
    if name == BUILTIN:
        return DEFAULT_POLICIES
    if name == DISCOVERED:
        return ToolPolicies.discover(messages, base=DEFAULT_POLICIES).policies
    try:
        return ToolPolicies.load(Path(name))
    except OSError as error:
        raise CommandError(f"--pack {name}: {error.strerror or error}") from error
