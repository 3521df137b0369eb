"""The Leaks page, without a browser: empty, sample, link, and that a click does what was predicted."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from inspector_app import leak_scans, words
from inspector_app.leak_scans import Scan
from inspector_app.page_state.leaks import LeaksState
from tests.app.running import MAIN, calm
from tests.core.leak_report.leaking import A, B, openai_json

PAGE = "app_pages/leaks.py"


def page(**query: str) -> AppTest:
    """The Leaks page, opened with these query parameters."""
    app = AppTest.from_file(MAIN, default_timeout=60)
    app.run()
    app.switch_page(PAGE)
    for name, value in query.items():
        app.query_params[name] = value
    return calm(app.run())


def test_the_empty_page_says_what_to_do_first() -> None:
    """Without a source there are the inputs and the samples."""
    app = page()

    assert [words.leaks.EMPTY_TITLE] == [each.value for each in app.title]


def test_a_sample_shows_its_leaks() -> None:
    """The leaking sample opens by its name, with a list of findings."""
    app = page(sample="leaking_agent")

    assert app.dataframe
    assert any(button.key == "leaks_close" for button in app.button)


@pytest.mark.parametrize("view", ["coverage", "along", "top"])
def test_a_link_opens_a_view(view: str) -> None:
    """Every view of the switch is reached by a link and draws."""
    app = page(sample="leaking_agent", view=view, known="unregistered")

    assert app.dataframe


def test_a_kind_of_which_there_is_none_says_so() -> None:
    """Where the list would be stands how to see the rest."""
    app = page(sample="rag_citations", known="registered")

    assert not app.dataframe
    assert [words.leaks.NOTHING_HERE] == [each.value for each in app.info]


def test_a_missing_path_is_said_on_the_page(tmp_path: Path) -> None:
    """A path that leads nowhere leaves the empty page, not an exception."""
    app = page(path=str(tmp_path / "none"))

    assert not app.dataframe


def test_a_folder_is_scanned(tmp_path: Path) -> None:
    """All traces of a folder are one result; what cannot be read is counted."""
    tmp_path.joinpath("a.json").write_text(openai_json(), encoding="utf-8")
    tmp_path.joinpath("b.json").write_text(openai_json((B,)), encoding="utf-8")
    tmp_path.joinpath("c.bin").write_bytes(b"\x00\x01")
    scan = leak_scans.open_path(tmp_path)
    scan.run(lambda _step, _size: None)

    assert scan.result is not None
    assert (3, 1, 2) == (
        scan.result.report.totals.sources,
        scan.result.report.totals.unreadable,
        scan.result.report.totals.traces,
    )


def test_applying_a_suggestion_brings_the_predicted_number() -> None:
    """One click: the next scan leaves what the card said; stopping it, or taking it back, restores the leaks."""
    scan = leak_scans.open_files("a.json", [("a.json", openai_json().encode())])
    assert not scan.go_back()
    scan.run(lambda _step, _size: None)
    assert scan.result is not None
    before, first = scan.result.report.totals.leaks, scan.result.suggestions[0]
    scan.apply(0)
    assert scan.go_back()
    assert (0, before) == (scan.applied, scan.result.report.totals.leaks)
    scan.apply(0)
    scan.run(lambda _step, _size: None)
    assert scan.result is not None

    assert (before, before - first.removed) == (first.effect.all_before, scan.result.report.totals.leaks)
    scan.reset()
    scan.run(lambda _step, _size: None)
    assert before == scan.result.report.totals.leaks


def test_a_finding_leads_to_its_message() -> None:
    """The message of an occurrence is found again, and the identifier stands at its offsets."""
    scan = leak_scans.open_files("a.json", [("a.json", openai_json().encode())])
    scan.run(lambda _step, _size: None)
    assert scan.result is not None
    for each in scan.result.report.occurrences:
        analysis = scan.message_of(each)
        assert analysis is not None
        assert analysis.encoded[each.message].content[each.start : each.end] in (A, B)


def test_a_saved_report_opens_again() -> None:
    """A report is recognised by its content, and shows the same rows."""
    scan = leak_scans.open_files("a.json", [("a.json", openai_json().encode())])
    scan.run(lambda _step, _size: None)
    again = leak_scans.open_files("leaks.json", [("leaks.json", scan.report_file())])

    assert again.is_saved
    assert scan.result is not None
    assert again.result is not None
    assert scan.result.report == again.result.report


def test_the_oldest_scan_goes_when_there_are_too_many() -> None:
    """Eight are held at once."""
    held = [leak_scans.hold(Scan(name="x")) for _ in range(9)]

    assert leak_scans.scans().get(held[0].key) is None
    assert [leak_scans.scans().get(each.key) for each in held[1:]] == held[1:]
    for each in held:
        leak_scans.scans().forget(each.key)


@pytest.mark.parametrize(
    "state",
    [
        LeaksState(),
        LeaksState(sample="leaking_agent", view="top", known="registered", row=3, column=1, finding=7),
        LeaksState(path="/tmp/x y"),
        LeaksState(key="a" * 32),
    ],
)
def test_a_link_brings_the_state_back(state: LeaksState) -> None:
    """Query parameters and state are two forms of one thing."""
    assert state == LeaksState.from_query(state.to_query())


@pytest.mark.parametrize("query", [{"view": "x"}, {"row": "-2"}, {"key": "zz"}, {"known": ""}, {"finding": "1e99"}])
def test_a_wrong_link_falls_back(query: dict[str, str]) -> None:
    """A wrong value is replaced by its default, and the page says so."""
    assert LeaksState(problem=words.opening.BAD_LINK) == LeaksState.from_query(query)
