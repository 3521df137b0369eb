"""Two packs side by side, without any trace: every setting in which they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector_app import words
from inspector_app.views.hidden import displayable
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies, ToolPolicy
from modelcontext_core.policies.toml_writer import TomlValue, dotted, inline

__all__ = ["difference_rows"]


def difference_rows(one: ToolPolicies, other: ToolPolicies) -> list[list[dict[str, str]]]:
    """A row of a card table for each difference: the place as it stands in the TOML, and what either pack says."""
    return [
        [
            {"kind": "mono", "text": displayable(place)},
            {"kind": "mono", "text": displayable(first)},
            {"kind": "mono", "text": displayable(second)},
        ]
        for place, first, second in _differences(one, other)
    ]


def _differences(one: ToolPolicies, other: ToolPolicies) -> Iterator[tuple[str, str, str]]:
    if one.uri_scheme != other.uri_scheme:
        yield "uri_scheme", inline(one.uri_scheme), inline(other.uri_scheme)
    keys = {key: kind for pack in (one, other) for key, kind in pack.keys.items() if key not in DEFAULT_POLICIES.keys}
    for key in keys:
        if one.keys.get(key) != other.keys.get(key):
            yield dotted("keys", key), _said(one.keys.get(key)), _said(other.keys.get(key))
    for tool in {**one.tools, **other.tools}:
        yield from _tool(tool, one.tools.get(tool), other.tools.get(tool))


def _said(value: TomlValue | None) -> str:
    return words.policies.NOT_THERE if value is None else inline(value)


def _tool(tool: str, one: ToolPolicy | None, other: ToolPolicy | None) -> Iterator[tuple[str, str, str]]:
    if one is None or other is None:
        there = words.policies.DECLARED
        yield (
            dotted("tools", tool),
            there if one else words.policies.NOT_THERE,
            there if other else words.policies.NOT_THERE,
        )
    empty = ToolPolicy(name=tool)
    first, second = _settings(one or empty), _settings(other or empty)
    for setting, value in first.items():
        if value != second[setting]:
            yield f"{dotted('tools', tool)}.{setting}", inline(value), inline(second[setting])


def _settings(policy: ToolPolicy) -> Mapping[str, TomlValue]:
    return {
        "ids": policy.ids,
        "sql": policy.sql,
        "output": policy.output,
        "mine": policy.mine,
        "sensitive": policy.sensitive,
        "issues.decode": policy.issues_decode,
        "issues.register": policy.issues_register,
        "issues.compact": policy.issues_compact,
        "routing": dict(policy.routing),
    }
