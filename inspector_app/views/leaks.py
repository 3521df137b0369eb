"""What the Leaks page draws: facts, heat map, findings, coverage, cards, and the CSV of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from inspector_app import words
from inspector_app.views.hidden import displayable, one_line
from inspector_app.views.spreadsheet import csv_file
from inspector_app.words.common import OurName
from modelcontext_core.leak_report.baseline import Baseline, Judged
from modelcontext_core.leak_report.rows import Counts, LeakReport
from modelcontext_core.leak_report.suggestions import Comparison, Suggestion, advice_for
from modelcontext_core.leak_report.trace_scan import Occurrence, RowKey

__all__ = [
    "COLUMNS",
    "Chosen",
    "action_rows",
    "compare_rows",
    "coverage_rows",
    "facts",
    "finding_rows",
    "findings",
    "heat_rows",
    "producers",
    "rows_csv",
]

COLUMNS: Final = ("content", "reasoning", "arguments", "parts", "schema")
_ENCODED: Final = {"file_names": words.leaks.LEFT_AS_IT_IS, "metadata": words.leaks.NOT_SENT}
_LEVELS: Final = (10, 40, 150)
_WIDEST_BAR: Final = 42
_MOST_LISTED: Final = 2_000
_TELLING: Final = 6  # characters of a shortened identifier that tell it from others


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What is to be seen: a producer and a field ("" for all), and known ids, unknown ones, or both; of these what
    `query` finds among the occurrences that are listed."""

    producer: str = ""
    field: str = ""
    known: str = "both"
    query: str = ""

    def takes(self, key: RowKey) -> bool:
        """Whether a row, and so what is counted there, belongs to it."""
        return (
            key.counts
            and self.known in ("both", "registered" if key.registered else "unregistered")
            and self.producer in ("", key.producer)
            and self.field in ("", key.field)
        )


def producers(report: LeakReport) -> list[str]:
    """The tools and roles with leaks, most first: the rows of the heat map, whatever the filter."""
    totals: dict[str, int] = {}
    for key, counts in report.rows.items():
        if key.counts:
            totals[key.producer] = totals.get(key.producer, 0) + counts.occurrences
    return sorted(totals, key=lambda name: (-totals[name], name))


def heat_rows(report: LeakReport, known: str) -> list[dict[str, Any]]:
    """The heat map: for each producer a cell for each field (unregistered, and known ones beside), and its sum."""
    chosen = Chosen(known=known)
    cells: dict[tuple[str, str], list[int]] = {}
    for key, counts in report.rows.items():
        if chosen.takes(key):
            cells.setdefault((key.producer, key.field), [0, 0])[key.registered] += counts.occurrences
    names = producers(report)
    sums = {name: sum(sum(cells.get((name, field), (0, 0))) for field in COLUMNS) for name in names}
    most = max(sums.values(), default=0) or 1
    return [
        {
            "name": one_line(name),
            "cells": [_cell(*cells.get((name, field), (0, 0))) for field in COLUMNS],
            "all": sums[name],
            "share": round(_WIDEST_BAR * sums[name] / most),
        }
        for name in names
    ]


def _cell(count: int, missed: int) -> dict[str, int]:
    level = 0 if not count else 1 + sum(count > limit for limit in _LEVELS)
    return {"count": count, "missed": missed, "level": level}


def facts(report: LeakReport, judged: Judged, baseline: Baseline | None) -> list[dict[str, str]]:
    """The facts of the proof line."""
    totals = report.totals
    leaking = {key.producer for key in report.rows if key.counts and not key.registered}
    missed = {key.fingerprint for key in report.rows if key.counts and key.registered}
    found = [
        _fact("left", words.leaks.FACT_LEFT, totals.leaks, words.leaks.in_traces(totals.leaking_traces), "✕", "fault"),
        _fact(
            "unregistered",
            words.leaks.FACT_UNREGISTERED,
            totals.unregistered,
            words.leaks.producers(len(leaking)),
            "✕",
            "fault",
        ),
        _fact("missed", words.leaks.FACT_MISSED, totals.registered, words.leaks.places(len(missed)), "!", "warning"),
        {
            "key": "distinct",
            "label": words.leaks.FACT_DISTINCT,
            "value": words.leaks.distinct(len(report.identities), bool(report.more_identities)),
            "sub": "",
        },
    ]
    against = {"key": "baseline", "label": words.leaks.FACT_BASELINE, "value": "–", "sub": words.leaks.NO_BASELINE}
    if baseline is not None:
        against |= {"value": words.leaks.against(judged.new_leaks), "sub": words.leaks.gone(len(judged.gone))}
        against["tone"] = "warning" if judged.new_leaks else "good"
    kinds = len({key.kind for key in report.notices})
    read = {"key": "scanned", "label": words.leaks.FACT_SCANNED, "value": words.leaks.scanned(totals.bytes)}
    return [*found, against, read | {"sub": words.leaks.skipped(kinds)}]


def _fact(key: str, label: str, number: int, sub: str, sign: str, tone: str) -> dict[str, str]:
    if not number:
        return {"key": key, "label": label, "value": "✓ 0", "tone": "good", "sub": ""}
    return {"key": key, "label": label, "value": f"{sign} {number:,}", "tone": tone, "sub": sub}


def _is_like(each: Occurrence, query: str) -> bool:
    """Whether a word stands in what is listed of an occurrence; a whole identifier finds its shortened form, too."""
    wanted = query.strip().lower()
    listed = (each.trace, each.row.producer, each.field, each.path, each.json_path, each.place, each.shown)
    begins = each.shown.lower().rstrip("….")
    return any(wanted in text.lower() for text in listed) or (len(begins) >= _TELLING and wanted.startswith(begins))


def findings(report: LeakReport, chosen: Chosen) -> tuple[list[Occurrence], int, int]:
    """The occurrences to list, how many there are in all, and in how many traces (of one row; else at most)."""
    taken = [each for each in report.occurrences if chosen.takes(each.row)]
    if chosen.query.strip():
        taken = [each for each in taken if _is_like(each, chosen.query)]
        return taken[:_MOST_LISTED], len(taken), len({each.trace for each in taken})
    listed = taken[:_MOST_LISTED]
    total = sum(counts.occurrences for key, counts in report.rows.items() if chosen.takes(key))
    return listed, total, len({each.trace for each in listed})


def finding_rows(found: Sequence[Occurrence]) -> list[dict[str, Any]]:
    """Occurrences as rows under the names of `words.leaks.FINDING_COLUMNS`; of one trace without its name."""
    names = words.leaks.FINDING_COLUMNS
    several = len({each.trace for each in found}) > 1
    return [
        ({names["trace"]: displayable(each.trace.replace("\\", "/").rpartition("/")[2])} if several else {})
        | {
            names["message"]: each.message if each.message >= 0 else None,
            names["field"]: each.field,
            names["identifier"]: displayable(each.shown),
            names["place"]: displayable(each.json_path or each.place),
            names["known"]: words.leaks.known(each.registered),
        }
        for each in found
    ]


def action_rows(report: LeakReport, suggestions: Sequence[Suggestion], *, can_apply: bool) -> list[dict[str, str]]:
    """What can be done: a row for each suggestion with its rule and effect, then one for each producer that none helps,
    with the reason. Names of tools and keys are trace text."""
    rows = [
        {
            "key": str(number),
            "title": one_line(each.tool),
            "line": words.leaks.rule_line(_rule(each), OurName(each.sure)),
            "before": f"{each.effect.before:,}",
            "after": f"{each.effect.after:,}",
            "tone": "warning" if each.effect.after else "good",
            "button": words.leaks.APPLY if can_apply else "",
        }
        for number, each in enumerate(suggestions)
    ]
    return rows + [
        {
            "key": "",
            "title": one_line(each.producer),
            "line": words.leaks.why(OurName(each.why)),
            "before": f"{each.leaks:,}",
        }
        for each in advice_for(report, suggestions)
    ]


def _rule(each: Suggestion) -> str:
    if each.action == "mine":
        return "search its results for UUIDs (mine)"
    if each.action == "empty":
        return "add an empty policy: ids known from elsewhere are replaced"
    rules = (
        f"{one_line(rule.key) or f'{rule.kind} in text'} → {words.common.space_name(rule.space)}" for rule in each.rules
    )
    return f"declare {', '.join(dict.fromkeys(rules))}"


def coverage_rows(report: LeakReport) -> list[list[dict[str, str]]]:
    """Every position with what is encoded, restored, scanned, left, and left alone on purpose."""
    rows = []
    for position, count in report.coverage.items():
        encoded = _ENCODED.get(position) or words.leaks.replaced(count.replaced)
        scanned = words.leaks.texts(count.texts, count.characters)
        alone = count.on_purpose + count.skipped
        purpose = words.leaks.ON_PURPOSE.get(position, "")
        rows.append(
            [
                {"text": words.leaks.POSITIONS[position]},
                {"text": encoded},
                {"text": words.leaks.RESTORED[position]},
                {"text": scanned},
                {"text": f"{count.left:,}", "tone": "fault" if count.left else ""},
                {"text": f"{words.leaks.left_alone(alone)} · {purpose}" if purpose else words.leaks.left_alone(alone)},
            ]
        )
    return rows


def compare_rows(rows: Iterable[Comparison]) -> list[list[dict[str, str]]]:
    """Two packs, a row for each producer."""
    return [
        [
            {"kind": "mono", "text": one_line(each.producer)},
            {"text": f"{each.first:,}"},
            {"text": f"{each.second:,}", "tone": "good" if each.second < each.first else ""},
        ]
        for each in rows
    ]


def rows_csv(rows: Mapping[RowKey, Counts]) -> bytes:
    """The rows as CSV, without any identifier; cells that a spreadsheet would run as a formula get an apostrophe."""
    names = ("role", "tool", "field", "kind", "registered", "reason", "place")
    return csv_file(
        (*names, "fingerprint", "occurrences", "messages", "traces"),
        ((*key, key.fingerprint, counts.occurrences, counts.messages, counts.traces) for key, counts in rows.items()),
    )
