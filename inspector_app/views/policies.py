"""A pack as the tables of its editor, and back: the tools, issues and routing of chosen ones, the key table.

Names may hold characters that cannot be seen. The tables show them as code points; a cell that was not edited stands
for what it was made of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from inspector_app import words
from inspector_app.views.hidden import displayable, one_line
from modelcontext_core.errors import PolicyError
from modelcontext_core.policies import DEFAULT_POLICIES, KeyKind, ToolPolicies, ToolPolicy
from modelcontext_core.policies.rules import MineKind, OutputKind, RoutingKind
from modelcontext_core.policies.toml_writer import dotted

__all__ = [
    "WAS",
    "Edited",
    "detail_rows",
    "fault_rows",
    "key_rows",
    "listed",
    "spaces_of",
    "tool_rows",
    "tools_with_faults",
    "with_details",
    "with_keys",
    "with_tools",
]

Row = Mapping[str, Any]

WAS: Final = "was"
"""The hidden column of a table: the number of the tool that a row began with, none in a row that was added."""

_SETTINGS: Final = ("issues.decode", "issues.register", "issues.compact", "routing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """What a table of tools became: the pack, names that stand in it twice, the rows whose box is ticked, and what
    each row that it began with is called now, by its `WAS`."""

    pack: ToolPolicies
    twice: Sequence[str]
    ticked: Sequence[str]
    names: Mapping[str, str]


# --- the table of tools


def listed(pack: ToolPolicies, which: str, query: str) -> list[str]:
    """The tools that a table shows: all, own, changed ones or those with faults, of these the ones that `query` is
    part of: of the name, or of a field."""
    wanted = query.strip().lower()
    faulty = tools_with_faults(pack, pack.faults("pack")) if which == "faults" else ()
    return [
        tool
        for tool, policy in pack.tools.items()
        if (which == "all" or pack.origin(tool) == which or tool in faulty)
        and (not wanted or any(wanted in name.lower() for name in (tool, *_fields(policy))))
    ]


def _fields(policy: ToolPolicy) -> Sequence[str]:
    return (*policy.ids, *policy.sql, *policy.issues_decode, *policy.issues_register, *policy.routing)


def tools_with_faults(pack: ToolPolicies, faults: Iterable[PolicyError]) -> set[str]:
    """The tools that faults are about."""
    places = {dotted("tools", tool): tool for tool in pack.tools}
    paths = [fault.path for fault in faults]
    return {
        tool for place, tool in places.items() if any(path == place or path.startswith(f"{place}.") for path in paths)
    }


def tool_rows(pack: ToolPolicies, shown: Iterable[str], ticked: Collection[str] = ()) -> list[dict[str, Any]]:
    """A row for each tool of `shown`, under the names of `words.policies.TOOLS`, and `WAS`."""
    names = words.policies.TOOLS
    return [
        {
            names["details"]: tool in ticked,
            names["tool"]: one_line(tool),
            names["from"]: words.policies.ORIGINS[pack.origin(tool)],
            names["ids"]: _listed(pack.tools[tool].ids),
            names["sql"]: _listed(pack.tools[tool].sql),
            names["output"]: pack.tools[tool].output,
            names["mine"]: _listed(pack.tools[tool].mine),
            names["sensitive"]: pack.tools[tool].sensitive,
            WAS: str(number),
        }
        for number, tool in enumerate(shown)
    ]


def with_tools(
    pack: ToolPolicies,
    rows: Sequence[Row],
    *,
    base: ToolPolicies | None = None,
    shown: Sequence[str] | None = None,
    names: Mapping[str, str] | None = None,
) -> Edited:
    """`pack` with the tools of an edited table that began as the tools `shown` of `base` (all of `pack`).

    Tools that the table does not show stay. Rows without a name are being written and do not count; issues and routing
    stay with their row when it is renamed, for which `names` says what rows were called before this edit.
    """
    base, names = base or pack, names or {}
    shown = list(base.tools) if shown is None else shown
    hidden = [tool for tool in base.tools if tool not in shown]
    taken = set(hidden)
    columns, twice, ticked = words.policies.TOOLS, [], []
    now: dict[str, str] = {}
    renamed: dict[str, str] = {}
    edited: dict[str, ToolPolicy] = {}
    for row in rows:
        number, written = _text(row.get(WAS)), row[columns["tool"]]
        was = shown[int(number)] if number else ""
        tool = was if was and written == one_line(was) else _text(written)
        if not tool:
            continue
        if tool in taken:
            twice.append(tool)
            continue
        taken.add(tool)
        known = pack.tools.get(tool) or pack.tools.get(names.get(number, was)) or ToolPolicy(name=tool)
        edited[tool] = _policy(known, tool, row, base.tools.get(was) or ToolPolicy(name=tool))
        if was:
            now[number], renamed[was] = tool, tool
        ticked += [tool] if row[columns["details"]] is True else []
    # Every tool where it stood; the new ones at the end.
    order = [tool if tool in hidden else renamed.get(tool, "") for tool in base.tools]
    order += [tool for tool in edited if tool not in order]
    tools = {tool: edited.get(tool) or pack.tools[tool] for tool in order if tool}
    return Edited(pack=_rebuilt(pack, tools=tools), twice=twice, ticked=ticked, names=now)


def _policy(known: ToolPolicy, tool: str, row: Row, was: ToolPolicy) -> ToolPolicy:
    names = words.policies.TOOLS
    return replace(
        known,
        name=tool,
        ids=_words(row[names["ids"]], was.ids),
        sql=_words(row[names["sql"]], was.sql),
        output=cast("OutputKind", _text(row[names["output"]]) or "compact"),
        mine=cast("tuple[MineKind, ...]", _words(row[names["mine"]], was.mine)),
        sensitive=row[names["sensitive"]] is True,
    )


# --- the panel of the chosen rows


def detail_rows(pack: ToolPolicies, tools: Iterable[str]) -> list[dict[str, str]]:
    """Issues and routing of some tools, a row a setting, under the names of `words.policies.DETAILS`, and `WAS`."""
    names = words.policies.DETAILS
    return [
        {names["tool"]: one_line(tool), names["setting"]: setting, names["value"]: value, WAS: str(number)}
        for number, tool in enumerate(tools)
        for setting, value in zip(_SETTINGS, _settings(pack.tools[tool]), strict=True)
    ]


def _settings(policy: ToolPolicy) -> tuple[str, str, str, str]:
    compact = "true" if policy.issues_compact else "false"
    return _listed(policy.issues_decode), _listed(policy.issues_register), compact, _listed(_pairs(policy))


def with_details(
    pack: ToolPolicies, rows: Sequence[Row], tools: Sequence[str]
) -> tuple[ToolPolicies, list[PolicyError]]:
    """The pack with edited issues and routing of `tools`, and what could not be read as a value."""
    names = words.policies.DETAILS
    edited, faults = dict(pack.tools), []
    for row in rows:
        tool, setting, value = tools[int(row[WAS])], row[names["setting"]], row[names["value"]]
        known = edited[tool]
        if setting == "issues.compact":
            written = _text(value).lower()
            if written not in ("true", "false", ""):
                path = f"{dotted('tools', tool)}.issues.compact"
                faults.append(PolicyError(words.policies.NO_SWITCH, source="pack", path=path))
            edited[tool] = replace(known, issues_compact=written == "true")
        elif setting == "routing":
            pairs = _words(value, _pairs(known))
            edited[tool] = replace(known, routing=known.routing if pairs == _pairs(known) else dict(map(_pair, pairs)))
        elif setting == "issues.decode":
            edited[tool] = replace(known, issues_decode=_words(value, known.issues_decode))
        else:
            edited[tool] = replace(known, issues_register=_words(value, known.issues_register))
    return _rebuilt(pack, tools=edited), faults


def spaces_of(pack: ToolPolicies, tools: Iterable[str]) -> list[list[dict[str, str]]]:
    """What the id fields of some tools hold, and which table says so: rows of a card table."""
    fields = dict.fromkeys(field for tool in tools if tool in pack.tools for field in pack.tools[tool].ids)
    return [[{"kind": "mono", "text": displayable(field)}, *_space(pack, field)] for field in fields]


def _space(pack: ToolPolicies, field: str) -> list[dict[str, str]]:
    kind = pack.keys.get(field)
    if kind is None:
        return [{"text": words.policies.NO_SPACE, "tone": "fault"}, {"text": ""}]
    own = field not in DEFAULT_POLICIES.keys
    return [{"text": words.policies.KINDS.get(kind, kind)}, {"text": words.policies.KEY_FROM[own]}]


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


# --- what is wrong


def fault_rows(faults: Iterable[PolicyError], twice: Iterable[str] = ()) -> list[list[dict[str, str]]]:
    """What is wrong, as rows of a card table: the sentence, and under it the key as it stands in the TOML."""
    found = [(fault.reason, fault.path) for fault in faults]
    found += [(words.policies.TWICE, dotted("tools", tool)) for tool in twice]
    return [[{"text": displayable(reason), "tone": "fault", "under": displayable(path)}] for reason, path in found]


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


def _words(value: object, known: Sequence[str]) -> tuple[str, ...]:
    """The words of a cell; `known` where it still shows them, which may hold commas and what cannot be seen."""
    if value == _listed(known):
        return tuple(known)
    return tuple(filter(None, (part.strip() for part in _text(value).split(","))))


def _pairs(policy: ToolPolicy) -> tuple[str, ...]:
    return tuple(f"{key} = {kind}" for key, kind in policy.routing.items())


def _pair(written: str) -> tuple[str, RoutingKind]:
    key, _, kind = written.partition("=")
    return key.strip(), cast("RoutingKind", kind.strip())
