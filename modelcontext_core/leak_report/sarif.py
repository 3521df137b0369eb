"""A leak report as SARIF 2.1.0 (OASIS), for code scanning and CI.

One result a row of the report: the same place in a thousand traces is one thing to fix. The location is the first
occurrence of the sample; the fingerprint is that of the baseline, so that a result is the same result in the next run.
No identifier stands in it: values are shortened, keys that are ids are masked. Control characters are written as
`\\x1b` in words, piles of combining marks as their number, since viewers show messages as they are, and a name cannot
make a link of a message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from modelcontext_core.hidden import HIDDEN
from modelcontext_core.leak_report.baseline import Accepted, Baseline, describe, judge
from modelcontext_core.leak_report.rows import Counts, LeakReport
from modelcontext_core.leak_report.trace_scan import Occurrence, RowKey

__all__ = ["sarif_log"]

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_FINGERPRINT: Final = "leakPlace/v1"
_UNFIT: Final = re.compile(rf"{HIDDEN.pattern}|[\t\n]")
_RULES: Final[Mapping[str, tuple[str, str, str]]] = {
    "unregistered-id": (
        "UnregisteredIdentifier",
        "A raw identifier reaches the model: its producer is not declared.",
        "Declare the field or the tool in a policy pack; `leaks` proposes the rule.",
    ),
    "missed-id": (
        "MissedIdentifier",
        "An identifier that has a handle was left in the text.",
        "The codec had no place to rewrite it: declare the field, or look at the reason of the result.",
    ),
}
_REASONS: Final[Mapping[str, str]] = {
    "signed": "signed reasoning is never edited",
    "opaque": "the tool's text is opaque",
    "inside_url": "inside a URL",
}


def sarif_log(report: LeakReport, *, version: str, baseline: Baseline | None = None, today: str = "") -> dict[str, Any]:
    """The report as a SARIF log. Accepted leaks are suppressed results; what a baseline does not have is `new`."""
    judged = judge(report, baseline or Baseline(), today)
    first: dict[str, Occurrence] = {}
    for each in report.occurrences:
        first.setdefault(each.row.fingerprint, each)
    rows: dict[str, tuple[RowKey, Counts]] = {}
    for key, counts in (*judged.new.items(), *judged.accepted.items()):
        known = rows.get(key.fingerprint)
        rows[key.fingerprint] = (key, counts if known is None else known[1] + counts)
    accepted = {key.fingerprint for key in judged.accepted}
    entries = baseline.accepted if baseline else {}
    results = [
        _result(key, counts, first.get(mark), entries.get(mark) if mark in accepted else None, compared=bool(baseline))
        for mark, (key, counts) in sorted(rows.items())
    ]
    driver = {
        "name": "modelcontext-inspector",
        "version": version,
        "semanticVersion": version,
        "rules": [_rule(rule) for rule in _RULES],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: str) -> dict[str, Any]:
    name, short, help_text = _RULES[rule]
    return {
        "id": rule,
        "name": name,
        "shortDescription": {"text": short},
        "help": {"text": help_text},
        "defaultConfiguration": {"level": "error" if rule == "unregistered-id" else "warning"},
    }


def _result(
    key: RowKey, counts: Counts, example: Occurrence | None, entry: Accepted | None, *, compared: bool
) -> dict[str, Any]:
    rule = "missed-id" if key.registered else "unregistered-id"
    why = f" ({_REASONS[key.reason]})" if key.reason in _REASONS else ""
    shown = f", for example {example.shown}" if example else ""
    many = "1 time" if counts.occurrences == 1 else f"{counts.occurrences} times"
    traces = "1 trace" if counts.traces == 1 else f"{counts.traces} traces"
    result: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": list(_RULES).index(rule),
        "level": "warning" if key.registered else "error",
        "message": {"text": _printable(f"{describe(key)}: {many} in {traces}{shown}{why}")},
        "partialFingerprints": {_FINGERPRINT: key.fingerprint},
        "occurrenceCount": counts.occurrences,
        "properties": {"traces": counts.traces, "messages": counts.messages},
    }
    if example is not None:
        result["locations"] = [_location(example)]
    if compared:
        result["baselineState"] = "unchanged" if entry else "new"
    if entry is not None:
        result["suppressions"] = [{"kind": "external", "justification": _printable(entry.reason)}]
    return result


def _location(each: Occurrence) -> dict[str, Any]:
    inside = f"messages[{each.message}].{each.path}" if each.message >= 0 else each.path
    logical = [{"fullyQualifiedName": _printable(f"conversations[{each.conversation}].{inside}"), "kind": "member"}]
    if each.json_path:
        logical.append({"fullyQualifiedName": _printable(each.json_path), "kind": "value"})
    location: dict[str, Any] = {"logicalLocations": logical}
    file = each.trace.partition("#")[0]
    if file:
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(file)}}
    return location


def _uri(path: str) -> str:
    """A path as a URI: absolute ones with `file:`, relative ones as they are, everything odd percent-encoded."""
    written = quote(PurePath(path).as_posix().encode("utf-8", "surrogatepass"), safe="/")
    return f"file://{written}" if written.startswith("/") else written


def _printable(text: str) -> str:
    # "[text](address)" in a message is a link for a viewer.
    return _UNFIT.sub(_written_out, text).replace("](", "] (")


def _written_out(found: re.Match[str]) -> str:
    if len(found[0]) > 1:
        return f"({len(found[0]):,} combining marks)"
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
