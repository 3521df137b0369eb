"""`policy`: check a pack, show one as a table, discover one in traces."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from inspector_app.commands.base import (
    EXIT_FOUND,
    EXIT_OK,
    Command,
    CommandError,
    add_action,
    expand,
    refuse_to_replace,
    warn,
)
from inspector_app.commands.output import print_json, print_text
from inspector_app.commands.traces import BUILTIN, add_format_argument, read_conversations
from inspector_app.views.hidden import one_line
from modelcontext_core.errors import PolicyError
from modelcontext_core.messages import Message
from modelcontext_core.policies import DEFAULT_POLICIES, Discovery, Proposal, ToolPolicies, ToolPolicy
from modelcontext_core.policies.toml_schema import read_pack_file

__all__ = ["COMMAND", "add_arguments", "run"]

_WIDEST_EXAMPLE = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `check`, `show` and `discover`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="check|show|discover")

    check = add_action(actions, "check", "say everything that is wrong with packs; exits 1 when something is")
    check.add_argument("packs", nargs="+", metavar="FILE", help="packs as TOML files")

    show = add_action(actions, "show", "print the rules of a pack, base included")
    show.add_argument("pack", nargs="?", default=BUILTIN, metavar="builtin|FILE", help="default: builtin")
    show.add_argument("--toml", action="store_true", help="as a TOML file instead of a table")

    discover = add_action(actions, "discover", "propose rules for the tools of traces that no pack knows")
    discover.add_argument("inputs", nargs="+", metavar="TRACE", help="files, folders, globs, or - for standard input")
    add_format_argument(discover)
    discover.add_argument("--base", default=BUILTIN, metavar="builtin|FILE", help="the pack to extend")
    discover.add_argument("--out", metavar="FILE", help="write the pack to a new file")
    discover.add_argument("--force", action="store_true", help="let --out replace a file that is there")
    discover.add_argument("--toml", action="store_true", help="print the pack instead of the reasons")

    for action in (check, show, discover):
        action.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit code."""
    actions = {"check": _check, "show": _show, "discover": _discover}
    return actions[arguments.action](arguments)


def _check(arguments: argparse.Namespace) -> int:
    found: dict[str, Sequence[PolicyError]] = {}
    for name in arguments.packs:
        path = Path(name)
        found[name] = ToolPolicies.check(read_pack_file(path), name, path=path)
    if arguments.json:
        rows = [
            {"source": name, "ok": not faults, "faults": [_fault_json(fault) for fault in faults]}
            for name, faults in found.items()
        ]
        print_json({"packs": rows}, indent=2)
    else:
        for name, faults in found.items():
            _print_lines(map(str, faults) if faults else [f"{name}: ok"])
    return EXIT_FOUND if any(found.values()) else EXIT_OK


def _fault_json(fault: PolicyError) -> dict[str, str]:
    return {"source": fault.source, "path": fault.path, "reason": fault.reason}


def _show(arguments: argparse.Namespace) -> int:
    pack = _open_pack(arguments.pack)
    if arguments.json:
        print_json(pack_json(pack), indent=2)
    elif arguments.toml:
        print_text(pack.dumps())
    else:
        added = {key: kind for key, kind in pack.keys.items() if key not in DEFAULT_POLICIES.keys}
        _print_lines([f"{pack.name}: {len(pack.tools)} tools, URI scheme {pack.uri_scheme}"])
        if added:
            _print_lines([f"keys: {', '.join(f'{key} = {kind}' for key, kind in added.items())}"])
        heading = ("tool", "from", "ids", "output", "more")
        _print_table(heading, [_tool_row(pack, policy) for policy in pack.tools.values()])
    return EXIT_OK


def _open_pack(name: str) -> ToolPolicies:
    return DEFAULT_POLICIES if name == BUILTIN else ToolPolicies.load(name)


def _tool_row(pack: ToolPolicies, policy: ToolPolicy) -> tuple[str, ...]:
    lists = {
        "sql": policy.sql,
        "issues": (*policy.issues_decode, *(f"{key} of results" for key in policy.issues_register)),
        "routing": tuple(f"{key} = {kind}" for key, kind in policy.routing.items()),
        "mine": policy.mine,
    }
    more = [f"{name}: {', '.join(items)}" for name, items in lists.items() if items]
    more += ["sensitive"] if policy.sensitive else []
    return policy.name, pack.origin(policy.name), ", ".join(policy.ids), policy.output, "; ".join(more)


def pack_json(pack: ToolPolicies) -> dict[str, Any]:
    """A whole pack, in the shape of its TOML; each tool also says where it is `from`."""
    tools = {
        name: {
            "from": pack.origin(name),
            "ids": policy.ids,
            "sql": policy.sql,
            "output": policy.output,
            "issues": {
                "decode": policy.issues_decode,
                "register": policy.issues_register,
                "compact": policy.issues_compact,
            },
            "routing": dict(policy.routing),
            "mine": policy.mine,
            "sensitive": policy.sensitive,
        }
        for name, policy in pack.tools.items()
    }
    return {"name": pack.name, "uri_scheme": pack.uri_scheme, "keys": dict(pack.keys), "tools": tools}


def _discover(arguments: argparse.Namespace) -> int:
    if arguments.out and not arguments.force:
        refuse_to_replace("--out", Path(arguments.out))
    base = _open_pack(arguments.base)
    messages: list[Message] = []
    for source in expand(arguments.inputs):
        for found in read_conversations(source, arguments.format):
            messages += found.conversation.messages
    discovery = ToolPolicies.discover(messages, base=base)
    if arguments.out:
        _write(discovery.policies, arguments.out)
    if arguments.json:
        print_json(discovery_json(discovery), indent=2)
    elif arguments.toml:
        print_text(discovery.policies.dumps())
    elif discovery.proposals:
        heading = ("tool", "where", "rule", "space", "because", "examples")
        _print_table(heading, [_proposal_row(proposal) for proposal in discovery.proposals])
    else:
        _print_lines(["nothing to declare: every tool is known, or holds no ids and links"])
    return EXIT_OK


def _write(pack: ToolPolicies, name: str) -> None:
    try:
        pack.save(name)
    except OSError as error:
        raise CommandError(f"--out {name} is not written: {error.strerror or error}") from error
    warn(f"wrote {name}")


def discovery_json(discovery: Discovery) -> dict[str, Any]:
    """The proposals, and the pack that has them all as TOML."""
    return {
        "proposals": [asdict(proposal) for proposal in discovery.proposals],
        "pack": discovery.policies.dumps(),
    }


def _proposal_row(proposal: Proposal) -> tuple[str, ...]:
    rule = f"key {proposal.key}" if proposal.key else f"mine {proposal.kind}"
    what = {"uuid": "UUIDs", "url": "links", "seen": "values seen before"}[proposal.kind]
    because = f"{proposal.count} {what}, {proposal.distinct} different"
    if proposal.key:
        because += f", of {proposal.strings} strings"
    examples = (text if len(text) <= _WIDEST_EXAMPLE else f"{text[:_WIDEST_EXAMPLE]}…" for text in proposal.examples)
    return proposal.tool, proposal.where, rule, proposal.space, because, "  ".join(examples)


def _print_lines(lines: Iterable[str]) -> None:
    """Write lines that may hold names of a trace or pack: no character can act on the terminal."""
    print_text("".join(f"{one_line(line)}\n" for line in lines))


def _print_table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = [heading, *rows]
    widths = [max(len(one_line(row[column])) for row in table) for column in range(len(heading))]
    _print_lines(
        "  ".join(f"{one_line(cell):<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )


COMMAND = Command(
    name="policy",
    summary="check, show or discover the rules for tools",
    add_arguments=add_arguments,
    run=run,
    examples=(
        "check my-app.toml",
        "show my-app.toml",
        "discover traces/ --out found.toml",
        "discover trace.json --base my-app.toml --toml",
    ),
    found="`check` found faults",
)
