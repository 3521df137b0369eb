"""`decode`: put the durable ids back into what a model wrote.

The restored text is the one output of all commands that holds text of a trace unchanged: in a pipe or a file it is
exact, on a terminal what cannot be seen is drawn as code points.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from inspector_app.commands.base import EXIT_OK, STANDARD_INPUT, STDIN, Command, CommandError, Source, read_text, warn
from inspector_app.commands.handle_table import load_rows, registry_of
from inspector_app.commands.output import print_json, print_text
from inspector_app.commands.traces import add_input_arguments, choose_pack, read_conversations
from inspector_app.encoding import encode
from inspector_app.views.hidden import displayable
from modelcontext_core.decode import DecodeItem
from modelcontext_core.messages import ToolCall
from modelcontext_core.registry import Registry

__all__ = ["COMMAND"]

_MOST_TOLD = 20


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="what the model wrote, or - for standard input")
    known = parser.add_mutually_exclusive_group(required=True)
    known.add_argument("--handles", type=Path, metavar="FILE", help="a handle table, as printed by encode --json")
    known.add_argument("--trace", type=Path, metavar="FILE", help="the trace that the model answered to, or -")
    parser.add_argument("--conversation", metavar="ID", help="which conversation of the trace (default: its only one)")
    parser.add_argument("--tool", metavar="NAME", help="TEXT is the arguments of a call of this tool")
    parser.add_argument("--json", action="store_true", help="a report of every handle instead of the text")
    add_input_arguments(parser)


def _run(arguments: argparse.Namespace) -> int:
    registry = _registry(arguments)
    text = read_text(arguments.text)
    if arguments.tool:
        return _decode_call(registry, arguments.tool, text, as_json=arguments.json)
    report = registry.decode_with_report(text)
    if arguments.json:
        print_json({"text": report.text, "items": [asdict(item) for item in report.items]}, indent=2)
    else:
        _print_payload(report.text if report.text.endswith("\n") else report.text + "\n")
        _warn_items(report.items)
    return EXIT_OK


def _decode_call(registry: Registry, tool: str, text: str, *, as_json: bool) -> int:
    """Arguments are restored by the rules of their tool; the exit code stays 0, what is unresolved is named."""
    (call,) = registry.decode_tool_calls([ToolCall(name=tool, arguments=text.strip())])
    if as_json:
        print_json(
            {
                "arguments": call.arguments,
                "argument_resolution": call.argument_resolution,
                "unresolved_handles": list(call.unresolved_handles),
            },
            indent=2,
        )
    else:
        _print_payload(call.arguments + "\n")
        if call.unresolved_handles:
            warn(f"unresolved: {', '.join(call.unresolved_handles)}; a call like this must not run")
    return EXIT_OK


def _warn_items(items: Sequence[DecodeItem]) -> None:
    """Whatever was not restored is named beside the text: without this, a handle that is left out leaves no trace."""
    told = [item for item in items if item.kind != "restored"]
    for item in told[:_MOST_TOLD]:
        what = "left out" if item.out_start == item.out_end else "left as it is"
        nearest = f"; nearest is {item.nearest}" if item.nearest else ""
        warn(f"{what}: {item.written} ({item.reason.replace('_', ' ')}{nearest})")
    if len(told) > _MOST_TOLD:
        warn(f"and {len(told) - _MOST_TOLD:,} more; --json lists all")


def _print_payload(text: str) -> None:
    """The text that was asked for: as it is for the next program, drawn for a person."""
    print_text(displayable(text) if sys.stdout.isatty() else text)


def _registry(arguments: argparse.Namespace) -> Registry:
    citations = not arguments.no_citations
    if arguments.handles:
        return registry_of(load_rows(arguments.handles), citations=citations)
    if str(arguments.trace) == STDIN == arguments.text:
        raise CommandError("standard input (-) cannot be both the text and the trace")
    source = (
        STANDARD_INPUT if str(arguments.trace) == STDIN else Source(name=str(arguments.trace), path=arguments.trace)
    )
    found = list(read_conversations(source, arguments.format))
    if arguments.conversation is not None:
        found = [each for each in found if each.conversation.id == arguments.conversation]
    if len(found) != 1:
        raise CommandError(_which(source.name, [each.conversation.id for each in found], arguments.conversation))
    (one,) = found
    policies = choose_pack(arguments.pack, one.context)
    return encode(one.conversation, one.before, policies, citations=citations).registry


def _which(name: str, ids: Sequence[str], wanted: str | None) -> str:
    if wanted is not None:
        return f"{name}: {len(ids) or 'no'} conversation has the id {wanted}"
    if not ids:
        return f"{name}: no conversation in it"
    shown = ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
    return f"{name}: {len(ids)} conversations; choose one with --conversation ({shown})"


COMMAND = Command(
    name="decode",
    summary="restore the durable ids in a model's answer or tool call",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "--trace trace.json 'See doc://1.'",
        "--trace trace.json - --json",
        '--handles report.json --tool read_document \'{"id": "doc://1"}\'',
    ),
)
