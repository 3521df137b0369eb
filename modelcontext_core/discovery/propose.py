"""Rules for what was found: which keys to declare, in which space, and which results to mine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from modelcontext_core.discovery.scan import Kind, KnownRules, Place, Scanner, Sighting, Where
from modelcontext_core.discovery.words import SourceSpace, may_be_seen_again, space_of, trusts
from modelcontext_core.messages import Message

__all__ = ["Proposal", "find_proposals"]

_MAX_EXAMPLES: Final = 3
# The spaces of the two kinds of the key table that are no space themselves.
_SPACE_OF_KIND: Final[dict[str, SourceSpace]] = {
    "chunk": "chunk",
    "document": "document",
    "document_ref": "document",
    "known": "document",
    "knowledge_base": "knowledge_base",
    "web": "web",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One rule, and why.

    With a `key` (lower case) the rule declares it: as an ID field when found in `arguments`, as a key that is read
    from results when found in a `result`. Without one the rule is to mine the tool's results for every value of this
    `kind` (`uuid` or `url`), because identities stand there in plain text.

    `kind` says what the values are: `uuid`, `url`, or `seen` before under such a key. `count` identities were found,
    `distinct` different ones, `strings` is how many strings stood under the key in that place (of plain text:
    `count`). `examples` are the first three different ones.
    """

    tool: str
    where: Where
    key: str
    kind: Kind
    space: SourceSpace
    count: int
    distinct: int
    strings: int
    examples: tuple[str, ...]


def find_proposals(messages: Sequence[Message], rules: KnownRules) -> tuple[Proposal, ...]:
    """What to declare for the tools that `rules` do not know, in the order of each rule's first identity."""
    findings = _Findings(rules)
    findings.read(messages)
    drafts = sorted(findings.drafts(), key=lambda draft: draft[0])
    return tuple(proposal for _, proposal in drafts)


@dataclass(slots=True)
class _Found:
    """Identities of one kind in one place: the order of the first, and how often each came."""

    first: int
    values: dict[str, int] = field(default_factory=dict)

    def add(self, value: str, times: int = 1) -> None:
        self.values[value] = self.values.get(value, 0) + times


def _together(parts: Iterable[_Found]) -> _Found:
    """All the findings as one; those that begin earlier in the text come first."""
    first, *rest = sorted(parts, key=lambda part: part.first)
    total = _Found(first.first, dict(first.values))
    for part in rest:
        for value, times in part.values.items():
            total.add(value, times)
    return total


@dataclass(slots=True)
class _Key:
    """How often a key held what, over all tools: one key has one space."""

    spelling: str
    strings: int = 0
    uuids: int = 0
    links: int = 0
    seen: int = 0


@dataclass(slots=True)
class _Contents:
    """The identities of one place: of the text itself, and of JSON inside its strings."""

    direct: dict[Kind, _Found] = field(default_factory=dict)
    nested: dict[Kind, _Found] = field(default_factory=dict)


class _Rule(NamedTuple):
    """How a key is declared: its space, and which kinds of values it then covers."""

    space: SourceSpace
    kinds: frozenset[Kind]


_WEB: Final = _Rule("web", frozenset({"url"}))
_ALL_KINDS: Final[frozenset[Kind]] = frozenset({"uuid", "url", "seen"})


class _Findings:
    def __init__(self, rules: KnownRules) -> None:
        self._rules = rules
        self._contents: dict[Place, _Contents] = {}
        self._keys: dict[str, _Key] = {}
        # Strings without the shape of an id that may turn out to be values seen before.
        self._others: list[tuple[int, Sighting]] = []

    def read(self, messages: Sequence[Message]) -> None:
        """Gather all identities by shape, then those that were seen before."""
        scanner = Scanner(self._rules)
        for order, sighting in enumerate(scanner.scan(messages)):
            if sighting.kind is None:
                self._others.append((order, sighting))
            else:
                self._record(order, sighting, sighting.kind)
        for place in scanner.places:
            key = self._keys.setdefault(place.key, _Key(place.spelling))
            key.strings += place.strings
            contents = self._contents.get(place)
            if contents is not None:
                key.uuids += _count(contents, "uuid")
                key.links += _count(contents, "url")
        self._recognise_seen_values()

    def _record(self, order: int, sighting: Sighting, kind: Kind) -> None:
        contents = self._contents.get(sighting.place)
        if contents is None:
            contents = self._contents[sighting.place] = _Contents()
        kinds = contents.nested if sighting.nested else contents.direct
        found = kinds.get(kind)
        if found is None:
            found = kinds[kind] = _Found(order)
        found.add(sighting.value)

    def _recognise_seen_values(self) -> None:
        """Find the values that stood before, in the order of the text, under a key that holds identities.

        Only keys whose own values have the shape of ids (or that the known pack declares) vouch for others, so that
        a chance meeting of two words does not spread from key to key.
        """
        vouching = {key for key in self._keys if (rule := self._rule(key)) is not None and rule is not _WEB}
        seen: set[str] = set()
        for order, sighting in self._others:
            place, value = sighting.place, sighting.value
            if (place.declared or place.key in vouching) and may_be_seen_again(value):
                seen.add(value)
            if not place.declared and value in seen:
                self._keys[place.key].seen += 1
                self._record(order, sighting, "seen")

    def _rule(self, key: str) -> _Rule | None:
        """How to declare a key, or None when it should not be.

        A key of the key table keeps its space. Else links make it a web key (which takes links only, so it needs no
        more proof); UUIDs and seen values an ID field, when enough of its strings are such.
        """
        kind = self._rules.keys.get(key)
        if kind == "web":
            return _WEB
        if kind is not None:
            return _Rule(_SPACE_OF_KIND[kind], _ALL_KINDS)
        facts = self._keys[key]
        if facts.links and facts.links >= facts.uuids:
            return _WEB
        if trusts(facts.spelling, facts.uuids + facts.links + facts.seen, facts.strings):
            return _Rule(space_of(facts.spelling), _ALL_KINDS)
        return _WEB if facts.links else None

    def drafts(self) -> Iterator[tuple[int, Proposal]]:
        """Every proposal with the order of its first identity."""
        mined: dict[tuple[str, Kind], list[_Found]] = {}
        for place, contents in self._contents.items():
            rule = self._rule(place.key) if place.key else None
            # `id` registers nothing: in results its values have to be mined, in arguments they are then known.
            if place.where == "result" and self._rules.keys.get(place.key) == "known":
                rule = None
            kinds = rule.kinds if rule else frozenset[Kind]()
            found = {kind: parts for kind, parts in _by_kind(contents).items() if kind in kinds}
            if rule and found:
                yield _draft(place, place.key, rule.space, found)
            if place.where == "result":
                for kind, part in _beyond_keys(contents, kinds):
                    mined.setdefault((place.tool, kind), []).append(part)
        for (tool, kind), parts in mined.items():
            yield _draft(Place(tool, "result"), "", "web" if kind == "url" else "document", {kind: parts})


def _count(contents: _Contents, kind: Kind) -> int:
    return sum(sum(part[kind].values.values()) for part in (contents.direct, contents.nested) if kind in part)


def _by_kind(contents: _Contents) -> dict[Kind, list[_Found]]:
    kinds: dict[Kind, list[_Found]] = {}
    for kind, found in (*contents.direct.items(), *contents.nested.items()):
        kinds.setdefault(kind, []).append(found)
    return kinds


def _beyond_keys(contents: _Contents, covered: frozenset[Kind]) -> Iterator[tuple[Kind, _Found]]:
    """What declaring the key does not reach in results: other kinds, and keys of JSON inside a string."""
    for kind, found in contents.direct.items():
        if kind not in covered and kind != "seen":
            yield kind, found
    for kind, found in contents.nested.items():
        if kind != "seen":
            yield kind, found


def _draft(place: Place, key: str, space: SourceSpace, found: Mapping[Kind, list[_Found]]) -> tuple[int, Proposal]:
    total = _together(part for parts in found.values() for part in parts)
    count = sum(total.values.values())
    kinds: tuple[Kind, ...] = ("uuid", "url", "seen")
    return total.first, Proposal(
        tool=place.tool,
        where=place.where,
        key=key,
        kind=next(kind for kind in kinds if kind in found),
        space=space,
        count=count,
        distinct=len(total.values),
        strings=place.strings if key else count,
        examples=tuple(total.values)[:_MAX_EXAMPLES],
    )
