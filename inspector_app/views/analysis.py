"""What the core found out about one conversation under one set of options: the input of every view."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from inspector_app.views.spaces import family
from modelcontext_core.leak_report.encoded import NOTHING_BEFORE, Preceding
from modelcontext_core.leaks import IdentifierLeak
from modelcontext_core.messages import Message, Tool
from modelcontext_core.policies import Proposal
from modelcontext_core.registry import HandleRow, Registry, Span
from modelcontext_core.roundtrip import RoundTrip
from modelcontext_core.tokens import TokenCount

__all__ = ["Analysis", "Proof", "count_leaks"]


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """One conversation, encoded.

    `leaks` are the raw ids left under the pack in use. `user_ids` counts distinct raw ids in user text, which stay on
    purpose. `discovered` says whether discovered rules were in use, `off` which of the `proposals` were not.
    A branch is encoded behind what it continues: that is `before`, and nothing else here counts it.
    `tools` are its tool definitions, not encoded.
    """

    messages: Sequence[Message]
    encoded: Sequence[Message]
    spans: Sequence[Span]
    handles: Sequence[HandleRow]
    leaks: Sequence[IdentifierLeak]
    user_ids: int
    registry: Registry
    discovered: bool = False
    proposals: Sequence[Proposal] = ()
    off: frozenset[int] = field(default_factory=frozenset)
    before: Preceding = NOTHING_BEFORE
    tools: Sequence[Tool] = ()

    @cached_property
    def spans_by_text(self) -> Mapping[tuple[int, str], Sequence[Span]]:
        """The spans of each text, by message and path, in order."""
        result: dict[tuple[int, str], list[Span]] = defaultdict(list)
        for span in self.spans:
            result[span.message, span.path].append(span)
        return result

    @cached_property
    def spans_by_message(self) -> Mapping[int, Sequence[Span]]:
        """The spans of each message, in order."""
        result: dict[int, list[Span]] = defaultdict(list)
        for span in self.spans:
            result[span.message].append(span)
        return result

    @cached_property
    def replaced(self) -> Mapping[int, Mapping[str, int]]:
        """How many places of each family were replaced in each message. Every run of a page draws them."""
        spaces = Counter((span.message, span.space) for span in self.spans)
        result: dict[int, Counter[str]] = defaultdict(Counter)
        for (message, space), places in spaces.items():
            result[message][family(space)] += places
        return dict(result)

    @cached_property
    def identity_of(self) -> Mapping[str, int]:
        """The row number of each handle in `handles`: how the views name an identity."""
        return {row.handle: number for number, row in enumerate(self.handles)}

    @cached_property
    def bases(self) -> Mapping[str, int]:
        """The row number of each knowledge base in `handles`, by its durable id."""
        return {row.durable: number for number, row in enumerate(self.handles) if row.space == "knowledge_base"}

    @cached_property
    def first_span(self) -> Mapping[int, Span]:
        """The first span of each identity, in the order of the messages."""
        result: dict[int, Span] = {}
        for span in self.spans:
            result.setdefault(self.identity_of.get(span.handle, -1), span)
        return result

    @cached_property
    def messages_of(self) -> Mapping[int, Sequence[int]]:
        """The messages in which each identity was replaced, in order."""
        result: dict[int, dict[int, None]] = defaultdict(dict)
        for span in self.spans:
            result[self.identity_of.get(span.handle, -1)][span.message] = None
        return {identity: list(messages) for identity, messages in result.items()}

    @cached_property
    def leaks_by_message(self) -> Mapping[int, Mapping[str, bool]]:
        """The raw ids left in each message in lower case, and whether the registry knows each (then it was missed)."""
        result: dict[int, dict[str, bool]] = defaultdict(dict)
        for leak in self.leaks:
            result[leak.message_index].update({value.lower(): False for value in leak.unregistered})
            result[leak.message_index].update({value.lower(): True for value in leak.registered})
        return result

    @cached_property
    def raw_left(self) -> int:
        """How many raw ids are left, each counted once for each field of each message."""
        return count_leaks(self.leaks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What was proven about a conversation; it takes longer than the analysis and is shown when it is there.

    `declared_leaks` are the raw ids left under the declared pack alone (the same as the analysis found where no rule
    was discovered). `changed_twice` counts messages that a second encoding changed, which must be none.
    """

    round_trip: RoundTrip
    changed_twice: int
    declared_leaks: Sequence[IdentifierLeak]
    before: TokenCount
    after: TokenCount


def count_leaks(leaks: Sequence[IdentifierLeak]) -> int:
    """Return how many identifiers `leaks` name."""
    return sum(len(leak.registered) + len(leak.unregistered) for leak in leaks)
