"""What to do about leaks: for each producer a rule that was discovered, and what the rule does to the loaded traces.

A suggestion is a discovered rule plus its measured effect. It is found in one trace after the other (`propose`), the
proposals of all of them are put together (`combine`), and then every trace that has the producer is encoded again with
the rule (`measure`). The three steps add up: they may run anywhere, in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from modelcontext_core.detectors import DEFAULT_DETECTORS, Detectors
from modelcontext_core.discovery import KnownRules, find_proposals
from modelcontext_core.formats.base import Trace
from modelcontext_core.leak_report.measure import NOTHING, Effect, measure
from modelcontext_core.leak_report.rows import Counts, LeakReport
from modelcontext_core.leak_report.trace_scan import RowKey, count_leaks
from modelcontext_core.policies import Discovery, Proposal, ToolPolicies, ToolPolicy

__all__ = [
    "Advice",
    "Comparison",
    "ProposalKey",
    "Proposals",
    "Suggestion",
    "advice_for",
    "applied_packs",
    "apply",
    "candidates",
    "combine",
    "compare",
    "gather",
    "propose",
    "suggest",
    "with_effects",
]

Sureness = Literal["high", "medium", "low"]
Action = Literal["declare", "mine", "empty"]
_MAX_EXAMPLES: Final = 3
_ENOUGH: Final = 3

ProposalKey = tuple[str, str, str, str, str]
Proposals = Mapping[ProposalKey, Proposal]
"""Proposals by tool, place, key, kind and space: those of several traces add up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """One thing to do about one producer.

    `declare` gives the tool the discovered rules; `mine` lets a tool that is declared already be searched for ids in
    plain text; `empty` declares the tool without any rule, so that ids known from elsewhere are replaced. `sure` is how
    sure the rules are, judged by what stood under the keys.
    """

    tool: str
    action: Action
    rules: tuple[Proposal, ...] = ()
    sure: Sureness = "high"
    effect: Effect = NOTHING

    @property
    def says(self) -> tuple[object, ...]:
        """What the suggestion changes in a pack, without how it was found: equal for equal changes."""
        rules = {(rule.where, rule.key, rule.space if rule.key else rule.kind) for rule in self.rules}
        return (self.tool, self.action, *sorted(rules))

    @property
    def removed(self) -> int:
        """How many leaks of all producers it removes."""
        return self.effect.all_before - self.effect.all_after


class Advice(NamedTuple):
    """A producer that no suggestion can help, and why: `codec` (a known id was missed), `opaque` (left as it is on
    purpose), `signed`, `inside_url`, `schema`, or `unknown`."""

    producer: str
    leaks: int
    why: str


class Comparison(NamedTuple):
    """One producer under two packs on the same traces."""

    producer: str
    first: int
    second: int


# --- finding


def propose(trace: Trace, pack: ToolPolicies) -> Proposals:
    """What discovery proposes for the tools of a trace that `pack` does not know."""
    rules = _known_rules(pack)
    found: dict[ProposalKey, Proposal] = {}
    for conversation in trace.conversations:
        _add(found, find_proposals(conversation.messages, rules))
    return found


@lru_cache(maxsize=8)
def _known_rules(pack: ToolPolicies) -> KnownRules:
    return pack.known_rules()


def combine(*several: Proposals) -> Proposals:
    """The proposals of several traces as one. The order makes no difference but to the examples shown."""
    found: dict[ProposalKey, Proposal] = {}
    for each in several:
        gather(found, each)
    return found


def gather(into: dict[ProposalKey, Proposal], more: Proposals) -> None:
    """Put more proposals into those of other traces."""
    _add(into, more.values())


def _add(found: dict[ProposalKey, Proposal], more: Iterable[Proposal]) -> None:
    for new in more:
        key = (new.tool, new.where, new.key, new.kind, new.space)
        old = found.get(key)
        # The smallest examples stay, so that the order of traces does not matter. Different ids of two traces are
        # counted apart, which is what ids of two runs nearly always are.
        found[key] = (
            new
            if old is None
            else Proposal(
                tool=new.tool,
                where=new.where,
                key=new.key,
                kind=new.kind,
                space=new.space,
                count=old.count + new.count,
                distinct=old.distinct + new.distinct,
                strings=old.strings + new.strings,
                examples=tuple(sorted({*old.examples, *new.examples})[:_MAX_EXAMPLES]),
            )
        )


def candidates(rows: Mapping[RowKey, Counts], proposals: Proposals, pack: ToolPolicies) -> list[Suggestion]:
    """What might help each producer of some rows, not measured yet: the producers with most leaks first."""
    rules: dict[str, list[Proposal]] = {}
    for _, proposal in sorted(proposals.items()):
        rules.setdefault(proposal.tool, []).append(proposal)
    leaks: dict[str, list[int]] = {}
    for key, counts in rows.items():
        if key.counts and key.tool and key.field != "schema":
            leaks.setdefault(key.tool, [0, 0])[key.registered] += counts.occurrences
    found: list[Suggestion] = []
    for tool, (unregistered, registered) in sorted(leaks.items(), key=lambda item: (-sum(item[1]), item[0])):
        policy = pack.get(tool)
        if policy is None and tool in rules:
            chosen = _one_space(rules[tool])
            found.append(Suggestion(tool=tool, action="declare", rules=chosen, sure=_sure(chosen)))
        elif policy is None and registered:
            found.append(Suggestion(tool=tool, action="empty"))
        elif (
            policy is not None and unregistered and policy.output in ("source", "compact") and "uuid" not in policy.mine
        ):
            found.append(Suggestion(tool=tool, action="mine", sure="medium"))
    return found


def _one_space(rules: Sequence[Proposal]) -> tuple[Proposal, ...]:
    """A key has one space: of proposals of different traces that disagree, the one that was seen more often stays."""
    best: dict[str, Proposal] = {}
    for rule in rules:
        known = best.get(rule.key)
        if rule.key and (known is None or (rule.count, rule.space) > (known.count, known.space)):
            best[rule.key] = rule
    return tuple(rule for rule in rules if not rule.key or rule.space == best[rule.key].space)


def _sure(rules: Sequence[Proposal]) -> Sureness:
    """High when everything under the keys was an identity, seen a few times; low for guesses from few values."""
    keyed = [rule for rule in rules if rule.key]
    if not keyed:
        return "medium" if sum(rule.count for rule in rules) >= _ENOUGH else "low"
    pure = all(rule.count >= 0.9 * rule.strings and rule.kind != "seen" for rule in keyed)
    often = sum(rule.count for rule in keyed) >= _ENOUGH
    return "high" if pure and often else "medium" if pure or often else "low"


# --- applying


def apply(pack: ToolPolicies, suggestion: Suggestion) -> ToolPolicies:
    """The pack with what a suggestion says. Raises `PolicyError` when a key of it has another space in the pack."""
    tool = suggestion.tool
    if suggestion.action == "declare":
        wanted = Discovery(base=pack, proposals=suggestion.rules).policies
        return pack.extend(wanted, name=pack.name)
    known = pack.get(tool)
    if suggestion.action == "mine" and known is not None:
        changed = replace(known, mine=(*known.mine, "uuid"), output="source")
    else:
        changed = ToolPolicy(name=tool)
    return pack.extend(ToolPolicies(name=pack.name, tools={tool: changed}))


def applied_packs(pack: ToolPolicies, suggestions: Iterable[Suggestion]) -> dict[str, ToolPolicies]:
    """By tool, the pack with the suggestion for it."""
    return {each.tool: apply(pack, each) for each in suggestions}


# --- measuring


def with_effects(suggestions: Iterable[Suggestion], effects: Mapping[str, Effect]) -> list[Suggestion]:
    """The suggestions with their effects, the most helpful first; those that remove nothing are left out."""
    known = (replace(each, effect=effects.get(each.tool, NOTHING)) for each in suggestions)
    return sorted((each for each in known if each.removed > 0), key=lambda each: (-each.removed, each.tool))


def suggest(
    traces: Callable[[], Iterable[Trace]],
    report: LeakReport,
    pack: ToolPolicies,
    detectors: Detectors = DEFAULT_DETECTORS,
) -> list[Suggestion]:
    """All suggestions for some traces, measured. `traces` is called twice, so that they need not be held."""
    found: dict[ProposalKey, Proposal] = {}
    for trace in traces():
        gather(found, propose(trace, pack))
    wanted = candidates(report.rows, found, pack)
    packs = applied_packs(pack, wanted)
    effects: dict[str, Effect] = {}
    for trace in traces():
        for tool, effect in measure(trace, pack, packs, detectors).items():
            effects[tool] = effects.get(tool, NOTHING).plus(effect)
    return with_effects(wanted, effects)


def compare(
    first: ToolPolicies, second: ToolPolicies, traces: Iterable[Trace], detectors: Detectors = DEFAULT_DETECTORS
) -> list[Comparison]:
    """The leaks of each producer under two packs, those that differ most first."""
    one: dict[str, int] = {}
    two: dict[str, int] = {}
    for trace in traces:
        for pack, into in ((first, one), (second, two)):
            for (_, _, producer), leaks in count_leaks(trace, pack, detectors).items():
                into[producer] = into.get(producer, 0) + leaks
    rows = [Comparison(producer, one.get(producer, 0), two.get(producer, 0)) for producer in one.keys() | two.keys()]
    return sorted(rows, key=lambda row: (-abs(row.first - row.second), -row.first, row.producer))


def advice_for(report: LeakReport, suggested: Iterable[Suggestion]) -> list[Advice]:
    """The producers that no suggestion is about, each with the reason that most of its leaks have."""
    helped = {each.tool for each in suggested}
    reasons: dict[str, dict[str, int]] = {}
    for key, counts in report.rows.items():
        if key.counts and key.producer not in helped:
            why = (
                "codec"
                if key.registered and not key.reason
                else key.reason or ("schema" if key.field == "schema" else "")
            )
            by_reason = reasons.setdefault(key.producer, {})
            by_reason[why or "unknown"] = by_reason.get(why or "unknown", 0) + counts.occurrences
    found = [
        Advice(producer, sum(by.values()), max(sorted(by), key=by.__getitem__)) for producer, by in reasons.items()
    ]
    return sorted(found, key=lambda each: (-each.leaks, each.producer))
