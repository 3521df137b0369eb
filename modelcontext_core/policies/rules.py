"""What a pack can say about one tool, and the kinds of keys: the vocabulary of tool policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from modelcontext_core.wrong_types import check_items, check_type

__all__ = [
    "BUILTIN_KINDS",
    "BUILTIN_NAME",
    "DEFAULT_SCHEME",
    "KEY_SPACES",
    "MINE_KINDS",
    "OUTPUT_KINDS",
    "ROUTING_KINDS",
    "KeyKind",
    "MineKind",
    "OutputKind",
    "RoutingKind",
    "ToolPolicy",
]

KeyKind = Literal["chunk", "document", "document_ref", "knowledge_base", "web", "known"]
"""What a key of the key table holds.

`document_ref` is `id|title`, of which only the id is durable; `known` (the key `id`) is a known chunk or document
and registers nothing. The others are the space of that name.
"""

OutputKind = Literal["source", "compact", "opaque", "directory"]
"""What happens to a tool's results.

`source`: identities are read from labels and keys, known ids are replaced. `compact`: known ids are replaced.
`opaque`: left alone. `directory`: an envelope of the MCP bridge, of which only routing ids are rewritten.
"""

RoutingKind = Literal["server", "tool"]
MineKind = Literal["uuid", "url"]

BUILTIN_NAME: Final = "builtin"
DEFAULT_SCHEME: Final = "weknora"

OUTPUT_KINDS: Final[tuple[str, ...]] = get_args(OutputKind)
ROUTING_KINDS: Final[tuple[str, ...]] = get_args(RoutingKind)
MINE_KINDS: Final[tuple[MineKind, ...]] = get_args(MineKind)

# What a pack may write in [keys], and the kind that it means.
KEY_SPACES: Final[Mapping[str, KeyKind]] = MappingProxyType(
    {
        "chunk": "chunk",
        "document": "document",
        "knowledge_base": "knowledge_base",
        "kb": "knowledge_base",
        "web": "web",
    }
)

# The two kinds that only the built-in pack may give to a key.
BUILTIN_KINDS: Final[Mapping[str, KeyKind]] = MappingProxyType({"document_ref": "document_ref", "known": "known"})


def _lower(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(key.lower() for key in keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicy:
    """What one tool's arguments and results hold. All keys are kept in lower case, and compared so.

    `ids`, `sql`, `issues_decode` and `issues_register` name fields; `routing` maps a routing field to what it routes
    to. `mine` registers every UUID (`uuid`) or link (`url`) of the tool's results. Of a `sensitive` tool, observers
    report argument keys and counts only.

    `id_kinds` is filled in by the pack that holds the policy: the kind of each declared ID field, from the pack's
    key table.
    """

    name: str
    ids: tuple[str, ...] = ()
    sql: tuple[str, ...] = ()
    output: OutputKind = "compact"
    issues_decode: tuple[str, ...] = ()
    issues_register: tuple[str, ...] = ()
    issues_compact: bool = False
    routing: Mapping[str, RoutingKind] = field(default_factory=dict, hash=False)
    mine: tuple[MineKind, ...] = ()
    sensitive: bool = False
    id_kinds: Mapping[str, KeyKind] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("ids", "sql", "issues_decode", "issues_register", "mine"):
            check_items(self, name, str)
        check_type("ToolPolicy.routing", self.routing, Mapping)
        for name in ("ids", "sql", "issues_decode", "issues_register"):
            object.__setattr__(self, name, _lower(getattr(self, name)))
        routing = {key.lower(): kind for key, kind in self.routing.items()}
        object.__setattr__(self, "routing", MappingProxyType(routing))
        # Known kinds in one order, so that equal policies are written alike; others stay, for `validate` to name.
        given = tuple(self.mine)
        known = tuple(kind for kind in MINE_KINDS if kind in given)
        object.__setattr__(self, "mine", known + tuple(kind for kind in given if kind not in MINE_KINDS))
        object.__setattr__(self, "id_kinds", MappingProxyType(dict(self.id_kinds)))

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], ToolPolicy], tuple[dict[str, Any]]]:
        # A read-only mapping cannot be pickled, and worker processes are handed packs.
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["routing"] = dict(self.routing)
        values["id_kinds"] = dict(self.id_kinds)
        return _from_values, (values,)


def _from_values(values: dict[str, Any]) -> ToolPolicy:
    return ToolPolicy(**values)
