"""What the Leaks page draws, as plain values."""

from __future__ import annotations

import pytest

from inspector_app import words
from inspector_app.views import leak_figures, leaks
from inspector_app.views.leaks import Chosen
from modelcontext_core.leak_report.baseline import Baseline, judge
from modelcontext_core.leak_report.report import merge, scan
from modelcontext_core.leak_report.rows import LeakReport
from modelcontext_core.leak_report.suggestions import suggest
from modelcontext_core.messages import Message
from modelcontext_core.policies import DEFAULT_POLICIES
from tests.core.leak_report.leaking import A, B, C, call, orders, result, trace

MISSED = trace(
    call("get_document_info", knowledge_ids=[A]), Message(role="assistant", reasoning=A, reasoning_signature="s")
)
REPORT = merge(scan(orders(), name="a.json"), scan(MISSED, name="b.json"))


def test_the_heat_map_adds_up() -> None:
    """The cells of all rows and the sums at their ends are the leaks of the report; most stand first."""
    rows = leaks.heat_rows(REPORT, "both")

    assert ["assistant", "crm_lookup", "crm_cancel"] == [row["name"] for row in rows]
    assert REPORT.totals.leaks == sum(row["all"] for row in rows)
    assert REPORT.totals.leaks == sum(cell["count"] + cell["missed"] for row in rows for cell in row["cells"])


def test_known_and_unknown_ids_are_apart() -> None:
    """The filter keeps the rows of the map where they are, and counts one kind alone."""
    only = leaks.heat_rows(REPORT, "registered")

    assert [row["name"] for row in leaks.heat_rows(REPORT, "both")] == [row["name"] for row in only]
    assert REPORT.totals.registered == sum(row["all"] for row in only)


@pytest.mark.parametrize(("count", "level"), [(0, 0), (1, 1), (10, 1), (11, 2), (40, 2), (41, 3), (150, 3), (151, 4)])
def test_the_heat_of_a_cell_is_that_of_the_legend(count: int, level: int) -> None:
    """The levels change where the legend says."""
    report = scan(trace(result("crm", [f"{n:08x}-0000-4000-8000-000000000000" for n in range(count)])))
    rows = leaks.heat_rows(report, "both")

    assert [level] * bool(count) == [row["cells"][0]["level"] for row in rows]


def test_a_cell_lists_its_findings() -> None:
    """A producer and a field choose occurrences; the table shows where each stands, shortened."""
    found, total, traces = leaks.findings(REPORT, Chosen(producer="crm_lookup", field="content"))
    rows = leaks.finding_rows(found)
    names = words.leaks.FINDING_COLUMNS

    assert (2, 2, 1) == (len(found), total, traces)
    assert ["$.orders[0].order_id", "$.orders[1].order_id"] == [row[names["place"]] for row in rows]
    assert not any(A in str(value) for row in rows for value in row.values())


def test_the_facts_say_zero_where_nothing_is_left() -> None:
    """Zero is a good number, and no baseline is not "0 new"."""
    empty = {fact["key"]: fact for fact in leaks.facts(LeakReport(), judge(LeakReport(), Baseline(), ""), None)}
    full = {fact["key"]: fact for fact in leaks.facts(REPORT, judge(REPORT, Baseline(), ""), Baseline())}

    assert ("✓ 0", "good") == (empty["left"]["value"], empty["left"]["tone"])
    assert words.leaks.NO_BASELINE == empty["baseline"]["sub"]
    assert f"✕ {REPORT.totals.leaks}" == full["left"]["value"]
    assert words.leaks.against(REPORT.totals.leaks) == full["baseline"]["value"]


def test_every_position_has_a_line_of_coverage() -> None:
    """The map has a row for every position, with words for what cannot be counted."""
    rows = leaks.coverage_rows(REPORT)

    assert list(words.leaks.POSITIONS.values()) == [row[0]["text"] for row in rows]
    assert words.leaks.NOT_SENT == rows[-1][1]["text"]


def test_a_row_says_what_can_be_done_and_how_sure_it_is() -> None:
    """The effect on the tool, the rule, how sure it is; a saved report cannot be changed; the rest says why not."""
    report = scan(orders())
    suggestions = suggest(lambda: [orders()], report, DEFAULT_POLICIES)
    first, *rest = leaks.action_rows(report, suggestions, can_apply=True)

    assert ("crm_lookup", "2", "0", "good") == (first["title"], first["before"], first["after"], first["tone"])
    assert "order_id → document" in first["line"]
    assert words.leaks.APPLY == first["button"]
    assert all("button" not in row for row in rest[len(suggestions) - 1 :])
    assert "" == leaks.action_rows(report, suggestions, can_apply=False)[0]["button"]


def test_the_csv_holds_no_identifier_and_no_formula() -> None:
    """Rows are exported without values; a tool's name cannot become a formula of a spreadsheet."""
    written = leaks.rows_csv(scan(trace(result("=cmd()", {A: {"id": B}}), result("x", C))).rows).decode()

    assert not any(each in written for each in (A, B, C))
    assert "'=cmd()" in written


def test_the_charts_show_what_the_report_counts() -> None:
    """Bars along the messages and of the most frequent ids add up to the leaks."""
    along = leak_figures.along(REPORT, "both")
    top = leak_figures.top(REPORT, "both")

    assert REPORT.totals.leaks == sum(sum(bar.y) for bar in along.data)
    assert REPORT.totals.leaks == sum(top.data[0].x)


def test_findings_are_searched_by_what_the_list_shows() -> None:
    """A tool, a place, a whole id by its shortened form; nothing for what stands nowhere."""
    listed, total, traces = leaks.findings(REPORT, leaks.Chosen(query="CRM_cancel"))
    (whole, *_), *_ = leaks.findings(REPORT, leaks.Chosen(query=A))

    assert ({"crm_cancel"}, 1, 1) == ({each.row.producer for each in listed}, total, traces)
    assert A.startswith(whole.shown.rstrip("…"))
    assert [] == leaks.findings(REPORT, leaks.Chosen(query="nowhere"))[0]
