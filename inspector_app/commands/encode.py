"""`encode`: read traces of any known format and print what the model would see."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from typing import Any

from inspector_app.commands.base import EXIT_OK, EXIT_USAGE, Command, CommandError, expand, warn
from inspector_app.commands.output import handle_json, message_json, print_json, span_json
from inspector_app.commands.traces import DISCOVERED, Found, add_input_arguments, choose_pack, read_conversations
from inspector_app.encoding import Encoded, encode
from modelcontext_core.policies import DEFAULT_POLICIES
from modelcontext_core.roundtrip import check_round_trip

__all__ = ["COMMAND"]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", metavar="FILE", help="files, folders, globs, or - for standard input")
    parser.add_argument(
        "--json",
        action="store_true",
        help="a report instead: handles, replacements, raw ids left (each counted once for each field of a message)",
    )
    add_input_arguments(parser)


def _run(arguments: argparse.Namespace) -> int:
    failures: list[CommandError] = []
    found = _all_conversations(arguments, failures)
    first, second = next(found, None), next(found, None)
    # One conversation is read by people, several by programs: one line each.
    indent = 2 if second is None else None
    for each in chain(filter(None, (first, second)), found):
        document = _report(each, arguments)
        print_json(document if arguments.json else document["messages"], indent=indent)
    if first is None:
        raise failures[0] if failures else CommandError("no conversation in the input")
    for failure in failures:
        warn(f"error: {failure}")
    return EXIT_USAGE if failures else EXIT_OK


def _all_conversations(arguments: argparse.Namespace, failures: list[CommandError]) -> Iterator[Found]:
    """One conversation at a time, so that a folder need not fit into memory; an unreadable file stops no other."""
    for source in expand(arguments.inputs):
        try:
            yield from read_conversations(source, arguments.format)
        except CommandError as error:
            failures.append(error)


def _report(found: Found, arguments: argparse.Namespace) -> dict[str, Any]:
    policies, citations = choose_pack(arguments.pack, found.context), not arguments.no_citations
    encoded = encode(found.conversation, found.before, policies, citations=citations)
    report: dict[str, Any] = {"messages": [message_json(message) for message in encoded.report.messages]}
    if not arguments.json:
        return report
    round_trip = check_round_trip(found.conversation.messages, encoded.report, encoded.registry)
    left = declared = _raw_ids(encoded)
    if arguments.pack == DISCOVERED:
        declared = _raw_ids(encode(found.conversation, found.before, DEFAULT_POLICIES, citations=citations))
    return {
        "source": found.source.name,
        "format": found.trace.format,
        "conversation": found.conversation.id,
        "title": found.conversation.title,
        "pack": policies.name,
        "tools": [asdict(tool) for tool in encoded.tools],
        "handles": [handle_json(row) for row in encoded.handles],
        "spans": [span_json(span) for span in encoded.report.spans],
        "raw_ids_left": left,
        # A discovered pack is a guess: what counts is what the declared rules leave.
        "raw_ids_left_declared": declared,
        "round_trip": {
            "ok": round_trip.ok,
            "identical": round_trip.identical,
            "accepted": round_trip.accepted,
            "differences": [
                {"message": each.message, "path": each.path, "rule": each.rule} for each in round_trip.differences
            ],
        },
        "notices": [{"kind": each.kind, "where": each.where, "text": each.text} for each in found.trace.notices],
    } | report


def _raw_ids(encoded: Encoded) -> int:
    leaks = encoded.registry.leaked_identifiers(encoded.report.messages)
    return sum(len(leak.registered) + len(leak.unregistered) for leak in leaks)


COMMAND = Command(
    name="encode",
    summary="print the messages of a trace as the model would see them",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "trace.json",
        "trace.json --json",
        "traces/ --pack my-app.toml",
        "- --pack discovered",
    ),
)
