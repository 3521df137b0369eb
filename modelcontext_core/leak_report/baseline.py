"""The baseline: leaks that somebody accepted, why, and until when. Everything else is new, and fails a build.

An entry is the fingerprint of a place, not of a value, so it holds for the next run as well. The file is JSON, sorted,
with one entry a block, to be read in a review:

    {"schema": "modelcontext-leaks-baseline/1",
     "accepted": [{"fingerprint": "…", "reason": "…", "until": "2027-03-31", "what": "crm_lookup content $.id uuid"}]}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from modelcontext_core.errors import ModelContextError
from modelcontext_core.leak_report.rows import Counts, LeakReport
from modelcontext_core.leak_report.trace_scan import RowKey

__all__ = ["Accepted", "Baseline", "BaselineError", "Judged", "describe", "judge"]

SCHEMA: Final = "modelcontext-leaks-baseline/1"
_DATE: Final = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_FINGERPRINT: Final = re.compile(r"[0-9a-f]{16}")


class BaselineError(ModelContextError):
    """A baseline that cannot be used: the message names the entry and what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """One accepted leak. `until` is the last day on which it holds (`2027-03-31`), "" for no end; `what` says in words
    which place it is, for the reader only."""

    fingerprint: str
    reason: str
    until: str = ""
    what: str = ""

    def __post_init__(self) -> None:
        if not _FINGERPRINT.fullmatch(self.fingerprint):
            raise BaselineError(f"fingerprint {self.fingerprint[:40]!r}: 16 hex digits are wanted")
        if not self.reason.strip():
            raise BaselineError(f"{self.fingerprint}: accepting a leak needs a reason")
        if self.until and not _DATE.fullmatch(self.until):
            raise BaselineError(f"{self.fingerprint}: the end date {self.until[:40]!r} is not like 2027-03-31")


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Accepted leaks by fingerprint."""

    accepted: Mapping[str, Accepted] = field(default_factory=dict)

    @classmethod
    def loads(cls, text: str) -> Baseline:
        """The baseline in a JSON text. Raises `BaselineError`."""
        try:
            data: Any = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BaselineError(f"not valid JSON: {error}") from None
        if not isinstance(data, dict) or data.get("schema") != SCHEMA or not isinstance(data.get("accepted"), list):
            raise BaselineError(f'not a baseline: an object with "schema": "{SCHEMA}" and a list "accepted" is wanted')
        return cls(accepted={each.fingerprint: each for each in map(_entry, data["accepted"])})

    def dumps(self) -> str:
        """The baseline as JSON, in the order of what it says."""
        rows = [
            {"fingerprint": each.fingerprint, "reason": each.reason}
            | ({"until": each.until} if each.until else {})
            | ({"what": each.what} if each.what else {})
            for each in sorted(self.accepted.values(), key=lambda each: (each.what, each.fingerprint))
        ]
        return json.dumps({"schema": SCHEMA, "accepted": rows}, indent=2) + "\n"

    def accept(self, key: RowKey, reason: str, until: str = "") -> Baseline:
        """With one more leak accepted. Raises `BaselineError` without a reason or for a date that is none."""
        entry = Accepted(fingerprint=key.fingerprint, reason=reason.strip(), until=until, what=describe(key))
        return replace(self, accepted={**self.accepted, entry.fingerprint: entry})


def _entry(row: Any) -> Accepted:
    if not isinstance(row, dict):
        raise BaselineError("an entry of a baseline is an object")
    values = {name: row.get(name) or "" for name in ("fingerprint", "reason", "until", "what")}
    if not all(isinstance(value, str) for value in values.values()):
        raise BaselineError("the values of a baseline's entry are strings")
    return Accepted(**values)


def describe(key: RowKey) -> str:
    """A row in words: producer, field, place, kind."""
    known = "registered" if key.registered else "unregistered"
    return " ".join(filter(None, (key.producer, key.field, key.place, key.kind, known)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The leaks of a report against a baseline: `new` ones count, `accepted` do not; `expired` entries matched leaks
    that count again; `gone` matched nothing."""

    new: Mapping[RowKey, Counts]
    accepted: Mapping[RowKey, Counts]
    expired: Sequence[Accepted]
    gone: Sequence[Accepted]

    @property
    def new_leaks(self) -> int:
        """How many occurrences count."""
        return sum(counts.occurrences for counts in self.new.values())

    @property
    def new_unregistered(self) -> int:
        """How many of them the registry does not know."""
        return sum(counts.occurrences for key, counts in self.new.items() if not key.registered)


def judge(report: LeakReport, baseline: Baseline, today: str) -> Judged:
    """What of a report counts on a day (`2026-11-30`): the clock is the caller's."""
    new: dict[RowKey, Counts] = {}
    accepted: dict[RowKey, Counts] = {}
    met: set[str] = set()
    for key, counts in _leaks(report.rows.items()):
        entry = baseline.accepted.get(key.fingerprint)
        if entry is not None:
            met.add(entry.fingerprint)
        holds = entry is not None and (not entry.until or today <= entry.until)
        (accepted if holds else new)[key] = counts
    entries = baseline.accepted.values()
    return Judged(
        new=new,
        accepted=accepted,
        expired=tuple(each for each in entries if each.fingerprint in met and each.until and each.until < today),
        gone=tuple(each for each in entries if each.fingerprint not in met),
    )


def _leaks(rows: Iterable[tuple[RowKey, Counts]]) -> Iterable[tuple[RowKey, Counts]]:
    return ((key, counts) for key, counts in rows if key.counts)
