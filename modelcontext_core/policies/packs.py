"""`ToolPolicies`: a pack of tool policies, the built-in one, and packs discovered in a conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from modelcontext_core.discovery import KnownRules, Proposal, find_proposals
from modelcontext_core.errors import PolicyError
from modelcontext_core.files import write_whole
from modelcontext_core.messages import Message
from modelcontext_core.policies.checks import find_faults
from modelcontext_core.policies.rules import BUILTIN_NAME, DEFAULT_SCHEME, KeyKind, MineKind, OutputKind, ToolPolicy
from modelcontext_core.policies.toml_schema import PackText, read_pack, read_pack_file
from modelcontext_core.policies.toml_writer import dotted, quoted, write_pack
from modelcontext_core.wrong_types import check_type, checked

__all__ = ["DEFAULT_POLICIES", "Discovery", "ToolPolicies", "has_tool_policy"]


def _read_builtin() -> PackText:
    text = resources.files("modelcontext_core").joinpath("builtin_policies.toml").read_text(encoding="utf-8")
    pack, faults = read_pack(text, "builtin_policies.toml", builtin=True)
    if faults:
        raise faults[0]
    return pack


_BUILTIN: Final = _read_builtin()
# The key table that every pack shares: one key means one space in all of them. Packs may add keys.
_SHARED_KEYS: Final[Mapping[str, KeyKind]] = MappingProxyType(dict(_BUILTIN.keys))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ToolPolicies:
    """A pack: a key table, and a policy for each tool that it names. Immutable, and hashed by identity.

    `keys` always holds the built-in key table as well; given keys add to it. Building a pack checks nothing:
    `validate` does, and `load`, `loads` and `save` call it.
    """

    name: str
    uri_scheme: str = DEFAULT_SCHEME
    keys: Mapping[str, KeyKind] = field(default_factory=dict)
    tools: Mapping[str, ToolPolicy] = field(default_factory=dict)
    result_keys: Mapping[str, KeyKind] = field(init=False, repr=False)
    """The keys whose values are registered in JSON results of source tools: all but those of kind `known`."""

    def __post_init__(self) -> None:
        check_type("ToolPolicies.keys", self.keys, Mapping)
        check_type("ToolPolicies.tools", self.tools, Mapping)
        for name, policy in self.tools.items():
            check_type(f"ToolPolicies.tools[{name!r}]", policy, ToolPolicy)
        keys = {**_SHARED_KEYS, **{key.lower(): kind for key, kind in self.keys.items()}}
        tools = {name: _with_kinds(policy, keys) for name, policy in self.tools.items()}
        result_keys = {key: kind for key, kind in keys.items() if kind != "known"}
        object.__setattr__(self, "keys", MappingProxyType(keys))
        object.__setattr__(self, "tools", MappingProxyType(tools))
        object.__setattr__(self, "result_keys", MappingProxyType(result_keys))

    def __contains__(self, name: object) -> bool:
        return name in self.tools

    def __reduce__(self) -> tuple[Callable[..., ToolPolicies], tuple[object, ...]]:
        # A read-only mapping cannot be pickled, and worker processes are handed packs.
        if self is DEFAULT_POLICIES:
            return _the_default, ()
        return _from_values, (self.name, self.uri_scheme, dict(self.keys), dict(self.tools))

    def get(self, name: str) -> ToolPolicy | None:
        """The policy of a tool, or None when the pack does not declare it: its texts are opaque."""
        return self.tools.get(name)

    def origin(self, name: str) -> Literal["built-in", "changed", "own"]:
        """Where the policy of a declared tool comes from: unchanged from the built-in pack, changed, or its own."""
        builtin = DEFAULT_POLICIES.get(name)
        if builtin is None:
            return "own"
        return "built-in" if self.tools[name] == builtin else "changed"

    @classmethod
    def load(cls, path: str | Path) -> ToolPolicies:
        """The pack in a TOML file. `extends` may name another file, relative to this one.

        Raises `PolicyError`: it names the file, the key as it stands in the TOML, and what is allowed.
        """
        return _load(Path(path), ())

    @classmethod
    def loads(cls, text: str, source: str = "") -> ToolPolicies:
        """The pack in a TOML text; `source` names it in messages. `extends` may name the built-in pack only.

        Raises `PolicyError` as `load` does.
        """
        check_type("text", text, str)
        pack, faults = read_pack(text, source)
        for fault in faults:
            raise fault
        return _build(pack, source, _base(pack.extends, source))

    @classmethod
    def check(cls, text: str, source: str = "", *, path: str | Path | None = None) -> tuple[PolicyError, ...]:
        """Every fault of a TOML text, where `loads` stops at the first; empty when it can be loaded.

        With the `path` of the file that holds the text, `extends` may name another file, as for `load`.
        """
        check_type("text", text, str)
        try:
            pack, faults = read_pack(text, source)
        except PolicyError as error:
            return (error,)
        try:
            base = _base(pack.extends, source, Path(path) if path is not None else None)
        except PolicyError as error:
            return (*faults, error)
        if not faults:
            faults = _faults(_assemble(pack, base), source, base)
        return tuple(faults)

    def dumps(self) -> str:
        """The pack as TOML that `loads` reads back to the same rules.

        A pack that holds every built-in tool is written as an extension of the built-in pack: only what differs.
        Raises `PolicyError` when the pack is not valid.
        """
        self.validate()
        complete = self is DEFAULT_POLICIES or not DEFAULT_POLICIES.tools.keys() <= self.tools.keys()
        return write_pack(
            name=self.name,
            extends="" if complete else BUILTIN_NAME,
            uri_scheme=self.uri_scheme,
            keys={key: kind for key, kind in self.keys.items() if key not in _SHARED_KEYS},
            tools=self.tools,
            base_tools={} if complete else DEFAULT_POLICIES.tools,
        )

    def save(self, path: str | Path) -> None:
        """Write `dumps()` to a file, whole or not at all. Raises `PolicyError` when the pack is not valid."""
        write_whole(Path(path), self.dumps().encode("utf-8"))

    def extend(self, other: ToolPolicies, *, name: str = "") -> ToolPolicies:
        """A pack with the keys and tools of both. What `other` says about a tool replaces what this one says.

        The result is called `name`, else as `other`; its `uri_scheme` is `other`'s, unless that is the default.
        Raises `PolicyError` when one key has different spaces in the two.
        """
        check_type("other", other, ToolPolicies)
        for key, kind in other.keys.items():
            if self.keys.get(key, kind) != kind:
                reason = f'is "{kind}" here and "{self.keys[key]}" in pack "{self.name}": a key has one space'
                raise PolicyError(reason, source=other.name, path=dotted("keys", key))
        scheme = self.uri_scheme if other.uri_scheme == DEFAULT_SCHEME else other.uri_scheme
        keys, tools = {**self.keys, **other.keys}, {**self.tools, **other.tools}
        return ToolPolicies(name=name or other.name, uri_scheme=scheme, keys=keys, tools=tools)

    def faults(self, source: str = "") -> list[PolicyError]:
        """Everything that is wrong with the pack, each with the key as it stands in the TOML."""
        return _faults(self, source or self.name)

    def validate(self) -> None:
        """Raise the first of `faults()` as `PolicyError`, if there is one."""
        for fault in self.faults():
            raise fault

    @staticmethod
    def discover(messages: Sequence[Message], base: ToolPolicies | None = None) -> Discovery:
        """What can be declared for the tools of a conversation that `base` (default: built-in) does not know."""
        base = DEFAULT_POLICIES if base is None else base
        check_type("base", base, ToolPolicies)
        return Discovery(
            base=base, proposals=find_proposals(checked("messages", messages, Message), base.known_rules())
        )

    def known_rules(self) -> KnownRules:
        """What discovery must know of this pack: for `find_proposals` on many conversations."""
        declared = {name: frozenset(policy.ids) for name, policy in self.tools.items()}
        sources = frozenset(name for name, policy in self.tools.items() if policy.output == "source")
        return KnownRules(keys=self.keys, argument_keys=declared, source_tools=sources)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Discovery:
    """What was found in a conversation: a reason for each rule, and packs made of any of them."""

    base: ToolPolicies
    proposals: tuple[Proposal, ...]
    policies: ToolPolicies = field(init=False)
    """The base pack with every proposal accepted."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "policies", self.policies_for(self.proposals))

    def policies_for(self, accepted: Iterable[Proposal]) -> ToolPolicies:
        """The base pack with these proposals; the base itself when there are none.

        A tool whose results are to be read gets `output = "source"`. Keys stand in one table, so an accepted key
        also counts in the results of every other source tool.
        """
        chosen = frozenset(accepted)
        keys: dict[str, KeyKind] = {}
        rules: dict[str, dict[str, list[str]]] = {}
        for item in self.proposals:
            if item not in chosen:
                continue
            rule = rules.setdefault(item.tool, {"ids": [], "results": [], "mine": []})
            if not item.key:
                rule["mine"].append(item.kind)
                continue
            rule["ids" if item.where == "arguments" else "results"].append(item.key)
            if item.key not in self.base.keys:
                keys[item.key] = item.space
        if not rules:
            return self.base
        tools = {name: _discovered_tool(name, rule) for name, rule in rules.items()}
        return self.base.extend(ToolPolicies(name="discovered", keys=keys, tools=tools))


def _discovered_tool(name: str, rule: Mapping[str, Sequence[str]]) -> ToolPolicy:
    mine: tuple[MineKind, ...] = tuple(kind for kind in ("uuid", "url") if kind in rule["mine"])
    output: OutputKind = "source" if rule["results"] or mine else "compact"
    return ToolPolicy(name=name, ids=tuple(rule["ids"]), output=output, mine=mine)


def _with_kinds(policy: ToolPolicy, keys: Mapping[str, KeyKind]) -> ToolPolicy:
    return replace(policy, id_kinds={key: keys[key] for key in policy.ids if key in keys})


def _from_values(
    name: str, uri_scheme: str, keys: Mapping[str, KeyKind], tools: Mapping[str, ToolPolicy]
) -> ToolPolicies:
    return ToolPolicies(name=name, uri_scheme=uri_scheme, keys=keys, tools=tools)


def _the_default() -> ToolPolicies:
    return DEFAULT_POLICIES


def _assemble(pack: PackText, base: ToolPolicies | None) -> ToolPolicies:
    """A pack on its base. A tool of both keeps what the pack does not state."""
    tools = dict(base.tools) if base else {}
    for name, changes in pack.tools.items():
        tools[name] = replace(tools.get(name, ToolPolicy(name=name)), **changes)
    inherited = base.uri_scheme if base else DEFAULT_SCHEME
    scheme = inherited if pack.uri_scheme is None else pack.uri_scheme
    keys = {**(base.keys if base else {}), **pack.keys}
    return ToolPolicies(name=pack.name, uri_scheme=scheme, keys=keys, tools=tools)


def _faults(pack: ToolPolicies, source: str, base: ToolPolicies | None = None) -> list[PolicyError]:
    return find_faults(
        name=pack.name,
        uri_scheme=pack.uri_scheme,
        keys=pack.keys,
        tools=pack.tools,
        shared_keys=_SHARED_KEYS,
        base_keys=base.keys if base else _SHARED_KEYS,
        source=source,
    )


def _build(pack: PackText, source: str, base: ToolPolicies | None) -> ToolPolicies:
    policies = _assemble(pack, base)
    for fault in _faults(policies, source, base):
        raise fault
    return policies


def _load(path: Path, chain: tuple[Path, ...]) -> ToolPolicies:
    """The pack in a file; `chain` holds the files that extend it, outermost first."""
    source = str(path)
    pack, faults = read_pack(read_pack_file(path), source)
    for fault in faults:
        raise fault
    return _build(pack, source, _base(pack.extends, source, path, chain))


def _base(
    extends: str | None, source: str, path: Path | None = None, chain: tuple[Path, ...] = ()
) -> ToolPolicies | None:
    """The pack that another one extends. A file is looked for only beside a pack that is a file itself."""
    if extends is None:
        return None
    if extends == BUILTIN_NAME:
        return DEFAULT_POLICIES
    if path is None or not extends.endswith(".toml"):
        where = "a .toml file beside this one" if path else "(in a pack that is a file) another .toml file"
        raise PolicyError(f'unknown pack {quoted(extends)}; allowed: "builtin", {where}', source=source, path="extends")
    chain = (*chain, path.resolve())
    base = path.parent / extends
    if base.resolve() in chain:
        names = " -> ".join(quoted(item.name) for item in (*chain, base.resolve()))
        raise PolicyError(f"packs extend each other in a circle: {names}", source=source, path="extends")
    return _load(base, chain)


DEFAULT_POLICIES: Final = _build(_BUILTIN, "builtin_policies.toml", None)
"""The pack that comes with the package."""


def has_tool_policy(name: str, policies: ToolPolicies = DEFAULT_POLICIES) -> bool:
    """Whether a tool is declared, even if its policy is empty."""
    check_type("policies", policies, ToolPolicies)
    return name in policies
