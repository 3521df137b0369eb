"""A pack as the tables of its editor, and back: the tools, their issues and routing, the key table.

Names may hold characters that cannot be seen. The tables show them as code points; a cell that was not edited stands
for what it was made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from inspector_app import words
from inspector_app.views.hidden import displayable, one_line
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
            names["tool"]: one_line(tool),
            names["from"]: pack.origin(tool),
            names["ids"]: _listed(policy.ids),
            names["sql"]: _listed(policy.sql),
            names["output"]: policy.output,
            names["mine"]: _listed(policy.mine),
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
    shown = {one_line(tool): tool for tool in pack.tools}
    for row in rows:
        tool = shown.get(row[names["tool"]]) or _text(row[names["tool"]])
        if not tool:
            continue
        if tool in tools:
            twice.append(tool)
            continue
        known = pack.tools.get(tool) or ToolPolicy(name=tool)
        tools[tool] = replace(
            known,
            ids=_words(row[names["ids"]], known.ids),
            sql=_words(row[names["sql"]], known.sql),
            output=cast("OutputKind", _text(row[names["output"]]) or "compact"),
            mine=cast("tuple[MineKind, ...]", _words(row[names["mine"]], known.mine)),
            sensitive=row[names["sensitive"]] is True,
        )
    return _rebuilt(pack, tools=tools), twice


def more_rows(pack: ToolPolicies) -> list[dict[str, Any]]:
    """Issues and routing, a row for each tool, under the names of `words.policies.MORE`."""
    names = words.policies.MORE
    return [
        {
            names["tool"]: one_line(tool),
            names["decode"]: _listed(policy.issues_decode),
            names["register"]: _listed(policy.issues_register),
            names["compact"]: policy.issues_compact,
            names["routing"]: _listed(_pairs(policy)),
        }
        for tool, policy in pack.tools.items()
    ]


def with_more(pack: ToolPolicies, rows: Sequence[Row]) -> ToolPolicies:
    """The pack with edited issues and routing."""
    names = words.policies.MORE
    tools = dict(pack.tools)
    shown = {one_line(tool): tool for tool in pack.tools}
    for row in rows:
        tool = shown.get(row[names["tool"]])
        if tool is not None:
            known = tools[tool]
            pairs = _words(row[names["routing"]], _pairs(known))
            tools[tool] = replace(
                known,
                issues_decode=_words(row[names["decode"]], known.issues_decode),
                issues_register=_words(row[names["register"]], known.issues_register),
                issues_compact=row[names["compact"]] is True,
                routing=known.routing if pairs == _pairs(known) else dict(map(_pair, pairs)),
            )
    return _rebuilt(pack, tools=tools)


def key_rows(pack: ToolPolicies) -> list[dict[str, str]]:
    """The keys that the pack adds to the shared key table."""
    names = words.policies.KEYS
    return [
        {names["key"]: one_line(key), names["space"]: kind}
        for key, kind in pack.keys.items()
        if key not in DEFAULT_POLICIES.keys
    ]


def with_keys(pack: ToolPolicies, rows: Sequence[Row]) -> ToolPolicies:
    """The pack with an edited key table."""
    names = words.policies.KEYS
    shown = {one_line(key): key for key in pack.keys}
    keys = {
        shown.get(row[names["key"]], _text(row[names["key"]])): cast(
            "KeyKind", _text(row[names["space"]]) or "document"
        )
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


def _listed(items: Iterable[str]) -> str:
    return one_line(", ".join(items))


def _words(value: object, known: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a cell; `known` where it still shows them, which may hold commas and what cannot be seen."""
    if value == _listed(known):
        return known
    return tuple(filter(None, (part.strip() for part in _text(value).split(","))))


def _pairs(policy: ToolPolicy) -> tuple[str, ...]:
    return tuple(f"{key} = {kind}" for key, kind in policy.routing.items())


def _pair(written: str) -> tuple[str, RoutingKind]:
    key, _, kind = written.partition("=")
    return key.strip(), cast("RoutingKind", kind.strip())
