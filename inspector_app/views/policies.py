"""A pack as the tables of its editor, and back: the tools, their issues and routing, the key table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from inspector_app import words
from inspector_app.views.hidden import displayable
from modelcontext_core.errors import PolicyError
from modelcontext_core.policies import DEFAULT_POLICIES, KeyKind, ToolPolicies, ToolPolicy
from modelcontext_core.policies.rules import MineKind, OutputKind, RoutingKind

__all__ = ["fault_rows", "key_rows", "more_rows", "tool_rows", "with_keys", "with_more", "with_tools"]

Row = Mapping[str, Any]


def tool_rows(pack: ToolPolicies) -> list[dict[str, Any]]:
    """A row for each tool, under the names of `words.policies.TOOLS`."""
    names = words.policies.TOOLS
    return [
        {
            names["tool"]: tool,
            names["from"]: pack.origin(tool),
            names["ids"]: ", ".join(policy.ids),
            names["sql"]: ", ".join(policy.sql),
            names["output"]: policy.output,
            names["mine"]: ", ".join(policy.mine),
            names["sensitive"]: policy.sensitive,
        }
        for tool, policy in pack.tools.items()
    ]


def with_tools(pack: ToolPolicies, rows: Sequence[Row]) -> tuple[ToolPolicies, list[str]]:
    """The pack with the tools of an edited table, and the names that stand there twice. Rows without a name are being
    written and do not count; issues and routing stay with the name of their tool."""
    names = words.policies.TOOLS
    tools: dict[str, ToolPolicy] = {}
    twice: list[str] = []
    for row in rows:
        tool = _text(row[names["tool"]])
        if not tool:
            continue
        if tool in tools:
            twice.append(tool)
            continue
        known = pack.tools.get(tool) or ToolPolicy(name=tool)
        tools[tool] = replace(
            known,
            ids=_words(row[names["ids"]]),
            sql=_words(row[names["sql"]]),
            output=cast("OutputKind", _text(row[names["output"]]) or "compact"),
            mine=cast("tuple[MineKind, ...]", _words(row[names["mine"]])),
            sensitive=row[names["sensitive"]] is True,
        )
    return _rebuilt(pack, tools=tools), twice


def more_rows(pack: ToolPolicies) -> list[dict[str, Any]]:
    """Issues and routing, a row for each tool, under the names of `words.policies.MORE`."""
    names = words.policies.MORE
    return [
        {
            names["tool"]: tool,
            names["decode"]: ", ".join(policy.issues_decode),
            names["register"]: ", ".join(policy.issues_register),
            names["compact"]: policy.issues_compact,
            names["routing"]: ", ".join(f"{key} = {kind}" for key, kind in policy.routing.items()),
        }
        for tool, policy in pack.tools.items()
    ]


def with_more(pack: ToolPolicies, rows: Sequence[Row]) -> ToolPolicies:
    """The pack with edited issues and routing."""
    names = words.policies.MORE
    tools = dict(pack.tools)
    for row in rows:
        tool = _text(row[names["tool"]])
        if tool in tools:
            tools[tool] = replace(
                tools[tool],
                issues_decode=_words(row[names["decode"]]),
                issues_register=_words(row[names["register"]]),
                issues_compact=row[names["compact"]] is True,
                routing=cast("dict[str, RoutingKind]", dict(map(_pair, _words(row[names["routing"]])))),
            )
    return _rebuilt(pack, tools=tools)


def key_rows(pack: ToolPolicies) -> list[dict[str, str]]:
    """The keys that the pack adds to the shared key table."""
    names = words.policies.KEYS
    return [
        {names["key"]: key, names["space"]: kind} for key, kind in pack.keys.items() if key not in DEFAULT_POLICIES.keys
    ]


def with_keys(pack: ToolPolicies, rows: Sequence[Row]) -> ToolPolicies:
    """The pack with an edited key table."""
    names = words.policies.KEYS
    keys = {
        _text(row[names["key"]]): cast("KeyKind", _text(row[names["space"]]) or "document")
        for row in rows
        if _text(row[names["key"]])
    }
    return _rebuilt(pack, keys=keys)


def fault_rows(faults: Iterable[PolicyError], twice: Iterable[str] = ()) -> list[list[dict[str, str]]]:
    """What is wrong, as rows of a card table: the sentence, and the key as it stands in the TOML."""
    found = [(fault.reason, fault.path) for fault in faults]
    found += [(words.policies.TWICE, f"tools.{tool}") for tool in twice]
    return [
        [{"text": displayable(reason), "tone": "fault"}, {"text": displayable(path), "kind": "mono"}]
        for reason, path in found
    ]


def _rebuilt(
    pack: ToolPolicies, *, tools: Mapping[str, ToolPolicy] | None = None, keys: Mapping[str, KeyKind] | None = None
) -> ToolPolicies:
    own = {key: kind for key, kind in pack.keys.items() if key not in DEFAULT_POLICIES.keys}
    made = ToolPolicies(
        name=pack.name,
        uri_scheme=pack.uri_scheme,
        keys=own if keys is None else keys,
        tools=pack.tools if tools is None else tools,
    )
    if made.name == DEFAULT_POLICIES.name and (dict(made.tools), dict(made.keys)) != (
        dict(DEFAULT_POLICIES.tools),
        dict(DEFAULT_POLICIES.keys),
    ):
        # The built-in name is taken: a changed pack is one's own.
        return replace(made, name=words.policies.NEW_NAME)
    return made


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _words(value: object) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in _text(value).split(","))))


def _pair(written: str) -> tuple[str, str]:
    key, _, kind = written.partition("=")
    return key.strip(), kind.strip()
