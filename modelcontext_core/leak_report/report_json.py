"""The report file: a leak report with its suggestions as JSON, and back.

The schema is described in `docs/leaks_report.md`. A file holds no whole identifier unless the scan was asked for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, TypeVar

from modelcontext_core.discovery import Proposal
from modelcontext_core.errors import ModelContextError
from modelcontext_core.leak_report.measure import Effect
from modelcontext_core.leak_report.rows import (
    Counts,
    Coverage,
    Identity,
    IdentityKey,
    LeakReport,
    NoticeKey,
    NoticeRow,
    Totals,
)
from modelcontext_core.leak_report.suggestions import Suggestion
from modelcontext_core.leak_report.trace_scan import Occurrence, RowKey

__all__ = ["ReportError", "SavedReport", "dump_report", "load_report"]

SCHEMA: Final = "modelcontext-leaks/1"


class ReportError(ModelContextError):
    """A file that is no leak report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedReport:
    """What a report file holds."""

    report: LeakReport
    suggestions: Sequence[Suggestion] = ()


def report_json(saved: SavedReport) -> dict[str, Any]:
    """A report and its suggestions as JSON values."""
    report = saved.report
    return {
        "schema": SCHEMA,
        "pack": report.pack,
        "detectors": list(report.detectors),
        "totals": {**report.totals._asdict(), "leaks": report.totals.leaks},
        "rows": [
            {**key._asdict(), "fingerprint": key.fingerprint, **counts._asdict()} for key, counts in report.rows.items()
        ],
        "more_rows": report.more_rows._asdict(),
        "suggestions": [_suggestion_json(each) for each in saved.suggestions],
        "identities": [{**key._asdict(), **count._asdict()} for key, count in report.identities.items()],
        "more_identities": report.more_identities,
        "coverage": {position: each._asdict() for position, each in report.coverage.items()},
        "along": [
            {"message": message, "registered": registered, "occurrences": times}
            for (message, registered), times in report.along.items()
        ],
        "notices": [{**key._asdict(), **row._asdict()} for key, row in report.notices.items()],
        "more_notices": report.more_notices,
        "occurrences": [_occurrence_json(each) for each in report.occurrences],
        "more_occurrences": report.more_occurrences,
    }


def dump_report(saved: SavedReport) -> str:
    """The report file. Lone surrogates are written as escapes."""
    return json.dumps(report_json(saved), separators=(",", ":")) + "\n"


def _occurrence_json(each: Occurrence) -> dict[str, Any]:
    written = each._asdict()
    if not each.value:
        del written["value"]
    return {**written, "fingerprint": each.row.fingerprint}


def _suggestion_json(each: Suggestion) -> dict[str, Any]:
    return {
        "tool": each.tool,
        "action": each.action,
        "sure": each.sure,
        "rules": [
            {item.name: getattr(rule, item.name) for item in fields(Proposal) if item.name != "examples"}
            for rule in each.rules
        ],
        "effect": each.effect._asdict(),
    }


def load_report(text: str) -> SavedReport:
    """The report in a file's text. Raises `ReportError` when it is none, or damaged."""
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"not valid JSON: {error}") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise ReportError(f'not a leak report: an object with "schema": "{SCHEMA}" is wanted')
    try:
        return SavedReport(report=_report(data), suggestions=tuple(map(_suggestion, data["suggestions"])))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ReportError(f"a damaged leak report: {type(error).__name__} {error}") from None


def _report(data: Mapping[str, Any]) -> LeakReport:
    return LeakReport(
        pack=str(data["pack"]),
        detectors=tuple(map(str, data["detectors"])),
        totals=_record(Totals, data["totals"]),
        rows={RowKey(*(row[name] for name in RowKey._fields)): _record(Counts, row) for row in data["rows"]},
        more_rows=_record(Counts, data["more_rows"]),
        identities={
            IdentityKey(*(row[name] for name in IdentityKey._fields)): _record(Identity, row)
            for row in data["identities"]
        },
        more_identities=int(data["more_identities"]),
        occurrences=tuple(_record(Occurrence, row) for row in data["occurrences"]),
        coverage={position: _record(Coverage, row) for position, row in data["coverage"].items()},
        along={(row["message"], row["registered"]): row["occurrences"] for row in data["along"]},
        notices={NoticeKey(row["kind"], row["text"]): NoticeRow(row["times"], row["where"]) for row in data["notices"]},
        more_notices=int(data["more_notices"]),
    )


_SCALARS: Final = {"int": int, "str": str, "bool": bool}
_Record = TypeVar("_Record", Totals, Counts, Identity, Coverage, Occurrence)


# Named tuples keep their annotations as references.
_TYPES: Final[Mapping[Any, Mapping[str, type]]] = {
    kind: {name: _SCALARS[each.__forward_arg__] for name, each in kind.__annotations__.items()}
    for kind in (Totals, Counts, Identity, Coverage, Occurrence)
}


def _record(kind: type[_Record], row: Mapping[str, Any]) -> _Record:
    """A record of scalars; a value of another type than its field's is damage. Only whole values are left out."""
    values: list[Any] = []
    for name, wanted in _TYPES[kind].items():
        value = row.get(name, "") if name == "value" else row[name]
        if type(value) is not wanted:
            raise TypeError(f"{name} is no {wanted.__name__}")
        values.append(value)
    return kind(*values)


def _suggestion(row: Mapping[str, Any]) -> Suggestion:
    rules = tuple(Proposal(**rule, examples=()) for rule in row["rules"])
    effect = Effect(**row["effect"])
    return Suggestion(tool=row["tool"], action=row["action"], rules=rules, sure=row["sure"], effect=effect)
