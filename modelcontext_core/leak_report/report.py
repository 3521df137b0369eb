"""The leak report: plain rows that merge, whatever the order, and stay small whatever the number of traces.

`scan(trace, pack)` is the report of one trace; `merge` and `merged` put reports together. Merging is associative and
commutative, so one process, many, or a cluster give the same report. What could grow without end is capped in a way
that keeps this true: of rows, identifiers and notices those with the smallest hashes stay and the rest is counted as
one; of occurrences each row keeps its first few by hash, as far as the sample goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, Protocol, Self, TypeVar

from modelcontext_core.detectors import DEFAULT_DETECTORS, Detectors
from modelcontext_core.formats.base import Trace
from modelcontext_core.leak_report.coverage import cover_citations, cover_file_names
from modelcontext_core.leak_report.encoded import EncodedConversation, encoded_conversations
from modelcontext_core.leak_report.places import masked, short_hash
from modelcontext_core.leak_report.rows import (
    POSITIONS,
    Counts,
    Coverage,
    Identity,
    IdentityKey,
    LeakReport,
    NoticeKey,
    NoticeRow,
    Totals,
)
from modelcontext_core.leak_report.trace_scan import CutShort, Leaks, Occurrence, RowKey, find_occurrences, position_of
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies

__all__ = ["MAX_OCCURRENCES", "Collector", "merge", "merged", "scan"]

MAX_OCCURRENCES: Final = 10_000
MAX_IDENTITIES: Final = 10_000
MAX_ROWS: Final = 5_000
MAX_NOTICES: Final = 500
# Where in a conversation leaks stand: one bucket a message, all later messages in the last.
LAST_BUCKET: Final = 500
# How many times more a collector holds before it is cut back: that costs as much as what it holds.
_SLACK: Final = 4
# After every hash.
_LAST: Final = "~"


def scan(
    trace: Trace,
    pack: ToolPolicies = DEFAULT_POLICIES,
    detectors: Detectors = DEFAULT_DETECTORS,
    *,
    name: str = "",
    values: bool = False,
) -> LeakReport:
    """The leaks of one trace under a pack. Pure: the same trace gives the same report.

    `name` is how occurrences call the trace. With `values` they carry whole identifiers, not only their beginnings.
    """
    collector = Collector()
    collector.scan(trace, pack, detectors, name=name, values=values)
    return collector.report()


def merge(one: LeakReport, other: LeakReport) -> LeakReport:
    """Both as one. The order and the grouping of merges make no difference."""
    return merged((one, other))


def merged(reports: Iterable[LeakReport]) -> LeakReport:
    """All of them as one; the empty report when there are none."""
    collector = Collector()
    for report in reports:
        collector.add(report)
    return collector.report()


class _Addable(Protocol):
    def __add__(self, other: Self, /) -> Self: ...


_Key = TypeVar("_Key")
_Sum = TypeVar("_Sum", bound=_Addable)


def _add_all(into: dict[_Key, _Sum], more: Iterable[tuple[_Key, _Sum]]) -> None:
    for key, value in more:
        known = into.get(key)
        into[key] = value if known is None else known + value


def _smallest(found: dict[_Key, _Sum], most: int, mark: Callable[[_Key], str]) -> tuple[dict[_Key, _Sum], list[_Sum]]:
    """The entries whose keys have the smallest marks (hashes), and the values of the others."""
    if len(found) <= most:
        return found, []
    ranked = sorted(found, key=lambda key: (mark(key), key))
    return {key: found[key] for key in ranked[:most]}, [found[key] for key in ranked[most:]]


class Collector:
    """A report in the making. It holds a few times what a report holds, and adds up in the order that things come."""

    def __init__(self) -> None:
        self._packs: set[str] = set()
        self._detectors: set[str] = set()
        self._totals = Totals()
        self._rows: dict[RowKey, Counts] = {}
        self._more_rows = Counts()
        self._identities: dict[IdentityKey, Identity] = {}
        self._more_identities = 0
        self._occurrences: list[Occurrence] = []
        # What comes after these was cut, and would be again.
        self._last_identity = _LAST
        self._last_of_row: dict[tuple[Any, ...], str] = {}
        self._coverage: dict[str, Coverage] = {}
        self._along: Counter[tuple[int, bool]] = Counter()
        self._notices: dict[NoticeKey, NoticeRow] = {}
        self._more_notices = 0

    @property
    def totals(self) -> Totals:
        """The totals so far."""
        return self._totals

    @property
    def rows(self) -> Mapping[RowKey, Counts]:
        """The rows so far."""
        return self._rows

    def source(self, *, size: int = 0, unreadable: str = "", name: str = "", whole: bool = True) -> None:
        """Count a source (a file) of `size` bytes; `unreadable` is why it could not be read, "" when it could. A piece
        of a source that is counted already is not `whole`."""
        self._totals += Totals(sources=int(whole), bytes=size, unreadable=int(bool(unreadable)))
        if unreadable:
            self._notice("unreadable", unreadable, name)

    def scan(
        self,
        trace: Trace,
        pack: ToolPolicies,
        detectors: Detectors = DEFAULT_DETECTORS,
        *,
        name: str = "",
        values: bool = False,
    ) -> Leaks:
        """Add what a trace leaks, and give it."""
        self._packs.add(pack.name)
        self._detectors.update(detectors.names)
        found: list[Occurrence] = []
        messages = characters = 0
        for encoded in encoded_conversations(trace, pack):
            messages += len(encoded.messages) - encoded.first
            characters += self._cover(encoded)
            cut: list[CutShort] = []
            before = len(found)
            found += find_occurrences(encoded, detectors, name=name, cut_short=cut.append, values=values)
            self._covered("citations", cover_citations(encoded, found[before:]))
            self._covered("file_names", cover_file_names(encoded, detectors))
            for where in cut:
                self._notice("detector", "a message took the time of the own patterns", f"{name} #{where.message}")
        self._cover_unsent(trace)
        conversations = len(trace.conversations)
        self._totals += Totals(traces=1, conversations=conversations, messages=messages, characters=characters)
        leaks = self._count(found)
        for notice in trace.notices:
            self._notice(notice.kind, notice.text, " ".join(filter(None, (name, notice.where))))
        self._compact()
        return leaks

    def add(self, report: LeakReport) -> None:
        """Add a whole report."""
        self._packs.update(filter(None, [report.pack]))
        self._detectors.update(report.detectors)
        self._totals += report.totals
        _add_all(self._rows, report.rows.items())
        self._more_rows += report.more_rows
        self._add_identities(report.identities)
        self._more_identities += report.more_identities
        self._add_occurrences(report.occurrences)
        _add_all(self._coverage, report.coverage.items())
        self._along.update(report.along)
        _add_all(self._notices, report.notices.items())
        self._more_notices += report.more_notices
        self._compact()

    def report(self) -> LeakReport:
        """Everything so far, in an order that depends on nothing but what was added."""
        self._compact(full=True)
        return LeakReport(
            pack=" + ".join(sorted(self._packs)),
            detectors=tuple(sorted(self._detectors)),
            totals=self._totals,
            rows=dict(sorted(self._rows.items())),
            more_rows=self._more_rows,
            identities=dict(sorted(self._identities.items())),
            more_identities=self._more_identities,
            occurrences=tuple(sorted(self._occurrences)),
            coverage={position: self._coverage.get(position, Coverage()) for position in POSITIONS},
            along=dict(sorted(self._along.items())),
            notices=dict(sorted(self._notices.items())),
            more_notices=self._more_notices,
        )

    def _add_identities(self, more: Mapping[IdentityKey, Identity]) -> None:
        """Add identifiers; those that a cut would drop again are only counted."""
        known, last = self._identities, self._last_identity
        for key, count in more.items():
            if key.identity > last:
                self._more_identities += count.registered + count.unregistered
            else:
                old = known.get(key)
                known[key] = count if old is None else old + count

    def _add_occurrences(self, more: Sequence[Occurrence]) -> None:
        """Add to the sample, but for those that come after the last one of a row that was cut: a row never keeps more
        of them later, since others only move it back."""
        last = self._last_of_row
        if last:
            more = [each for each in more if each.identity <= last.get(_row_of(each), _LAST)]
        self._occurrences += more

    def _notice(self, kind: str, text: str, where: str) -> None:
        _add_all(self._notices, [(NoticeKey(kind, masked(text)), NoticeRow(1, where))])

    def _count(self, found: Sequence[Occurrence]) -> Leaks:
        rows: dict[tuple[Any, ...], list[Occurrence]] = {}
        for each in found:
            rows.setdefault(_row_of(each), []).append(each)
        leaks: Leaks = Counter()
        on_purpose = registered = unregistered = 0
        times: dict[tuple[Any, ...], list[int]] = {}
        for values, occurrences in rows.items():
            key, number = RowKey(*values), len(occurrences)
            messages = Counter(map(_message_of, occurrences))
            _add_all(self._rows, [(key, Counts(number, len(messages), 1))])
            position, known = position_of(key.role, key.field), key.registered
            if not key.counts:
                self._covered(position, Coverage(on_purpose=number))
                on_purpose += number
                continue
            self._covered(position, Coverage(left=number))
            registered += number if known else 0
            unregistered += 0 if known else number
            for (conversation, message), here in messages.items():
                leaks[conversation, message, key.producer] += here
                self._along[min(max(message, 0), LAST_BUCKET), known] += here
            for identity in map(_identity_of, occurrences):
                times.setdefault(identity, [0, 0])[not known] += 1
        _add_all(
            self._identities,
            [(IdentityKey(*same), Identity(known, unknown, 1)) for same, (known, unknown) in times.items()],
        )
        self._totals += Totals(
            leaking_traces=int(bool(times)), registered=registered, unregistered=unregistered, on_purpose=on_purpose
        )
        self._add_occurrences(found)
        return leaks

    def _covered(self, position: str, more: Coverage) -> None:
        _add_all(self._coverage, [(position, more)])

    def _cover(self, encoded: EncodedConversation) -> int:
        """Count what is looked at in a conversation; give how many characters that is."""
        sizes: dict[str, list[int]] = {}
        replaced: Counter[str] = Counter()
        for message in encoded.messages[encoded.first :]:
            written = [(position_of(message.role, "content"), message.content), ("reasoning", message.reasoning)]
            if message.parts:
                texts = [part.text for part in message.parts if part.type == "text"]
                written += [(written[0][0], text) for text in texts]
            written += [("arguments", call.arguments) for call in message.tool_calls]
            for where, text in written:
                if text:
                    sizes.setdefault(where, []).append(len(text))
        for span in encoded.spans:
            if span.message >= encoded.first:
                name = span.path.partition("[")[0]
                field_name = {"reasoning": "reasoning", "tool_calls": "arguments"}.get(name, "content")
                replaced[position_of(encoded.messages[span.message].role, field_name)] += 1
        for where in sizes.keys() | replaced.keys():
            each = sizes.get(where, [])
            self._covered(where, Coverage(len(each), sum(each), replaced[where]))
        self._covered("tool_schemas", Coverage(texts=len(encoded.tools)))
        return sum(map(sum, sizes.values()))

    def _cover_unsent(self, trace: Trace) -> None:
        # Titles, times and model names are not sent to the model: nothing there can leak to it.
        titles = sum(1 for conversation in trace.conversations if conversation.title)
        self._covered("metadata", Coverage(skipped=len(trace.meta) + titles))

    def _compact(self, *, full: bool = False) -> None:
        """Cut back to what a report may hold, now and then, or at the end."""
        slack = 1 if full else _SLACK
        if full or len(self._rows) > slack * MAX_ROWS:
            self._rows, folded = _smallest(self._rows, MAX_ROWS, lambda key: short_hash(*key))
            self._more_rows = sum(folded, self._more_rows)
        if full or len(self._identities) > slack * MAX_IDENTITIES:
            self._identities, gone = _smallest(self._identities, MAX_IDENTITIES, lambda key: key.identity)
            self._more_identities += sum(each.registered + each.unregistered for each in gone)
            if gone:
                self._last_identity = max(key.identity for key in self._identities)
        if full or len(self._notices) > slack * MAX_NOTICES:
            self._notices, unsaid = _smallest(self._notices, MAX_NOTICES, lambda key: short_hash(*key))
            self._more_notices += sum(each.times for each in unsaid)
        if full or len(self._occurrences) > slack * MAX_OCCURRENCES:
            self._cut_sample()

    def _cut_sample(self) -> None:
        """At most so many: the first of every row, then the second of every row, and so on, each row in the order of
        the hashes of its identifiers. So a rare row keeps an example beside a row of a million, and the sample of a
        union is that of the samples.
        """
        if len(self._occurrences) <= MAX_OCCURRENCES:
            return
        self._occurrences.sort(key=_hash_first)
        ranks: Counter[tuple[Any, ...]] = Counter()
        ranked = []
        for number, each in enumerate(self._occurrences):
            key = _row_of(each)
            ranks[key] += 1
            ranked.append((ranks[key], number))
        ranked.sort()
        for _, number in ranked[MAX_OCCURRENCES:]:
            each = self._occurrences[number]
            key = _row_of(each)
            self._last_of_row[key] = min(each.identity, self._last_of_row.get(key, _LAST))
        self._occurrences = [self._occurrences[number] for _, number in ranked[:MAX_OCCURRENCES]]


# The fields of an occurrence that make a key of it: a key made of them is equal to one that is a record.
_row_of: Final = itemgetter(*map(Occurrence._fields.index, RowKey._fields))
_identity_of: Final = itemgetter(*map(Occurrence._fields.index, IdentityKey._fields))
_message_of: Final = itemgetter(*map(Occurrence._fields.index, ("conversation", "message")))
_hash_first: Final = itemgetter(Occurrence._fields.index("identity"), *range(len(Occurrence._fields)))
