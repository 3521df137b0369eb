"""Accepted leaks: a reason, an end, and nothing else slips through."""

from __future__ import annotations

import json

import pytest

from modelcontext_core.leak_report.baseline import Accepted, Baseline, BaselineError, judge
from modelcontext_core.leak_report.report import scan
from tests.core.leak_report.leaking import A, B, C, orders, result, trace

REPORT = scan(orders())
KEYS = {key.producer: key for key in REPORT.rows}
TODAY = "2026-11-30"


def test_an_accepted_leak_does_not_count() -> None:
    """What the baseline has is accepted, everything else is new; another run with other ids gives the same."""
    baseline = Baseline().accept(KEYS["crm_lookup"], "the ids are public")
    for report in (REPORT, scan(orders((C, B)))):
        judged = judge(report, baseline, TODAY)

        assert ["crm_lookup"] == [key.producer for key in judged.accepted]
        assert 2 == judged.new_leaks == judged.new_unregistered


@pytest.mark.parametrize(("until", "new"), [("", 2), ("2026-11-30", 2), ("2026-11-29", 4)])
def test_an_entry_holds_until_its_last_day(until: str, new: int) -> None:
    """An entry whose end date has passed counts again, and is named as expired."""
    judged = judge(REPORT, Baseline().accept(KEYS["crm_lookup"], "for now", until), TODAY)

    assert new == judged.new_leaks
    assert (new == 4) == bool(judged.expired)


def test_what_is_gone_is_named() -> None:
    """An entry that matches nothing any more is listed, so that it can be removed."""
    judged = judge(scan(trace(result("other", {"x": A}))), Baseline().accept(KEYS["crm_lookup"], "x"), TODAY)

    assert [KEYS["crm_lookup"].fingerprint] == [each.fingerprint for each in judged.gone]


def test_a_baseline_reads_back_what_it_wrote() -> None:
    """Reason, end date and words survive; the file is the same whatever the order of accepting."""
    one = Baseline().accept(KEYS["crm_lookup"], "one", "2027-01-31").accept(KEYS["crm_cancel"], "two")
    other = Baseline().accept(KEYS["crm_cancel"], "two").accept(KEYS["crm_lookup"], "one", "2027-01-31")

    assert one.accepted == Baseline.loads(one.dumps()).accepted
    assert one.dumps() == other.dumps()
    assert A not in one.dumps()


GOOD = {"fingerprint": "0123456789abcdef", "reason": "known"}


@pytest.mark.parametrize(
    "entry",
    [
        {**GOOD, "reason": " "},
        {**GOOD, "until": "tomorrow"},
        {**GOOD, "until": "2027-13-01"},
        {**GOOD, "fingerprint": "xyz"},
        {**GOOD, "reason": 3},
        "text",
    ],
)
def test_a_wrong_entry_is_refused(entry: object) -> None:
    """No reason, no date, no fingerprint: the file is refused as a whole."""
    with pytest.raises(BaselineError):
        Baseline.loads(json.dumps({"schema": "modelcontext-leaks-baseline/1", "accepted": [entry]}))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "other", "accepted": []}'])
def test_another_file_is_refused(text: str) -> None:
    """A file that is no baseline says so."""
    with pytest.raises(BaselineError):
        Baseline.loads(text)


def test_a_reason_is_needed_to_accept() -> None:
    """Nothing is accepted without a reason."""
    with pytest.raises(BaselineError):
        Accepted(fingerprint="0123456789abcdef", reason="")
