"""The report file: a leak report with its suggestions as JSON, and back.

The schema is described in `docs/leaks_report.md`. A file holds no whole identifier unless the scan was asked for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, TypeVar

from modelcontext_core.discovery import Proposal
from modelcontext_core.errors import ModelContextError
from modelcontext_core.leak_report import (
    Counts,
    Coverage,
    Identity,
    IdentityKey,
    LeakReport,
    NoticeKey,
    NoticeRow,
    RowKey,
    Totals,
)
from modelcontext_core.leak_scan import Occurrence
from modelcontext_core.suggestions import Effect, Suggestion

__all__ = ["ReportError", "SavedReport", "dump_report", "load_report"]

SCHEMA: Final = "modelcontext-leaks/1"
_Record = TypeVar("_Record")


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
        "totals": {**asdict(report.totals), "leaks": report.totals.leaks},
        "rows": [
            {**key._asdict(), "fingerprint": key.fingerprint, **asdict(counts)} for key, counts in report.rows.items()
        ],
        "more_rows": asdict(report.more_rows),
        "suggestions": [_suggestion_json(each) for each in saved.suggestions],
        "identities": [{**key._asdict(), **asdict(count)} for key, count in report.identities.items()],
        "more_identities": report.more_identities,
        "coverage": {position: asdict(each) for position, each in report.coverage.items()},
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
    return {**written, "fingerprint": each.fingerprint}


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
        occurrences=tuple(map(_occurrence, data["occurrences"])),
        coverage={position: _record(Coverage, row) for position, row in data["coverage"].items()},
        along={(row["message"], row["registered"]): row["occurrences"] for row in data["along"]},
        notices={NoticeKey(row["kind"], row["text"]): NoticeRow(row["times"], row["where"]) for row in data["notices"]},
        more_notices=int(data["more_notices"]),
    )


_SCALARS: Final = {"int": int, "str": str, "bool": bool}


def _record(kind: type[_Record], row: Mapping[str, Any]) -> _Record:
    """A record of scalars; a value of another type than its field's is damage."""
    values = {}
    for each in fields(kind):  # type: ignore[arg-type]
        value = row[each.name]
        wanted = _SCALARS[str(each.type)]
        if type(value) is not wanted:
            raise TypeError(f"{each.name} is no {wanted.__name__}")
        values[each.name] = value
    return kind(**values)


# Named tuples keep their annotations as references.
_OCCURRENCE_TYPES: Final = {name: _SCALARS[kind.__forward_arg__] for name, kind in Occurrence.__annotations__.items()}


def _occurrence(row: Mapping[str, Any]) -> Occurrence:
    values = [row[name] if name != "value" else row.get(name, "") for name in Occurrence._fields]
    for value, (name, wanted) in zip(values, _OCCURRENCE_TYPES.items(), strict=True):
        if type(value) is not wanted:
            raise TypeError(f"{name} is no {wanted.__name__}")
    return Occurrence(*values)


def _suggestion(row: Mapping[str, Any]) -> Suggestion:
    rules = tuple(Proposal(**rule, examples=()) for rule in row["rules"])
    effect = Effect(**row["effect"])
    return Suggestion(tool=row["tool"], action=row["action"], rules=rules, sure=row["sure"], effect=effect)
