"""The rows of a leak report: plain records whose numbers add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import add
from typing import Any, Final, NamedTuple

from modelcontext_core.leak_report.trace_scan import Occurrence, RowKey

__all__ = [
    "POSITIONS",
    "Counts",
    "Coverage",
    "Identity",
    "IdentityKey",
    "LeakReport",
    "NoticeKey",
    "NoticeRow",
    "Totals",
]

POSITIONS: Final = (
    "system",
    "user",
    "assistant",
    "reasoning",
    "arguments",
    "results",
    "tool_schemas",
    "citations",
    "file_names",
    "metadata",
)
"""The rows of the coverage map."""


# The numbers below are named tuples, since a large scan adds them up and sends them between processes by the million.


class Totals(NamedTuple):
    """What was read and what was found. Leaks are registered and unregistered; `on_purpose` is the user's text."""

    sources: int = 0
    unreadable: int = 0
    bytes: int = 0
    traces: int = 0
    conversations: int = 0
    messages: int = 0
    characters: int = 0
    leaking_traces: int = 0
    registered: int = 0
    unregistered: int = 0
    on_purpose: int = 0

    @property
    def leaks(self) -> int:
        """All that count."""
        return self.registered + self.unregistered

    def __add__(self, other: object) -> Totals:
        return Totals(*map(add, self, other)) if isinstance(other, Totals) else NotImplemented


class Counts(NamedTuple):
    """How often, in how many messages and traces. Of folded rows the last two are sums over rows."""

    occurrences: int = 0
    messages: int = 0
    traces: int = 0

    def __add__(self, other: object) -> Counts:
        return Counts(*map(add, self, other)) if isinstance(other, Counts) else NotImplemented


class Coverage(NamedTuple):
    """One position of the coverage map: texts and characters scanned, identifiers replaced, left, left on purpose,
    and texts that were not looked at (`skipped`)."""

    texts: int = 0
    characters: int = 0
    replaced: int = 0
    left: int = 0
    on_purpose: int = 0
    skipped: int = 0

    def __add__(self, other: object) -> Coverage:
        return Coverage(*map(add, self, other)) if isinstance(other, Coverage) else NotImplemented


class Identity(NamedTuple):
    """How often one identifier was left, known and not known to the registry, and in how many traces."""

    registered: int = 0
    unregistered: int = 0
    traces: int = 0

    def __add__(self, other: object) -> Identity:
        return Identity(*map(add, self, other)) if isinstance(other, Identity) else NotImplemented


class IdentityKey(NamedTuple):
    """One identifier: its hash, its kind, its beginning."""

    identity: str
    kind: str
    shown: str


class NoticeKey(NamedTuple):
    """What readers and detectors said."""

    kind: str
    text: str


class NoticeRow(NamedTuple):
    """How often it was said, and the first place (in the order of words)."""

    times: int
    where: str

    def __add__(self, other: object) -> NoticeRow:
        if not isinstance(other, NoticeRow):
            return NotImplemented
        return NoticeRow(self.times + other.times, min(self.where, other.where))


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakReport:
    """The leaks of any number of traces. Equal reports are equal values, whatever the order they were merged in.

    `rows` and `identities` hold what fits; `more_rows`, `more_identities` and `more_notices` count the rest, and
    `totals` counts everything. `along` is by position in the conversation, known and not known.
    """

    pack: str = ""
    detectors: Sequence[str] = ()
    totals: Totals = field(default_factory=Totals)
    rows: Mapping[RowKey, Counts] = field(default_factory=dict)
    more_rows: Counts = field(default_factory=Counts)
    identities: Mapping[IdentityKey, Identity] = field(default_factory=dict)
    more_identities: int = 0
    occurrences: Sequence[Occurrence] = ()
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    along: Mapping[tuple[int, bool], int] = field(default_factory=dict)
    notices: Mapping[NoticeKey, NoticeRow] = field(default_factory=dict)
    more_notices: int = 0

    def __reduce__(self) -> tuple[Any, ...]:
        # Processes send each other thousands of occurrences and identifiers: plain tuples are sent much quicker.
        values = {name: getattr(self, name) for name in self.__slots__}
        values["occurrences"] = tuple(map(tuple, self.occurrences))
        values["identities"] = [(*key, *count) for key, count in self.identities.items()]
        return _received, (values,)

    @property
    def more_occurrences(self) -> int:
        """How many are counted but not in the sample."""
        return self.totals.leaks + self.totals.on_purpose - len(self.occurrences)


_new = tuple.__new__  # what the constructor of a named tuple does, without its call in between
_KEY: Final = len(IdentityKey._fields)


def _received(values: dict[str, Any]) -> LeakReport:
    values["occurrences"] = tuple([_new(Occurrence, row) for row in values["occurrences"]])
    values["identities"] = {_new(IdentityKey, row[:_KEY]): _new(Identity, row[_KEY:]) for row in values["identities"]}
    return LeakReport(**values)
