"""The command `leaks`: exit codes for CI, files that open again, and quiet where nobody looks."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector_app import cli
from tests.core.leak_report.leaking import A, B, C, openai_json


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two traces that leak the same places."""
    made = tmp_path / "traces"
    made.mkdir()
    made.joinpath("a.json").write_text(openai_json(), encoding="utf-8")
    made.joinpath("b.json").write_text(openai_json((C,)), encoding="utf-8")
    return made


def leaks(*arguments: object) -> int:
    """Run the command in this process."""
    return cli.main(["leaks", "--processes", "1", *map(str, arguments)])


@pytest.mark.parametrize(("more", "code"), [((), 0), (("--fail-on", "unregistered"), 1), (("--fail-on", "any"), 1)])
def test_leaks_fail_only_when_asked(folder: Path, more: tuple[str, ...], code: int) -> None:
    """Without `--fail-on` the command reports and exits 0; with it, a leak is exit code 1."""
    assert code == leaks(folder, *more)


@pytest.mark.parametrize("option", ["--from", "--baseline"])
def test_a_file_of_another_kind_is_named(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Which of several files is no report or baseline is said."""
    other = tmp_path / "other.json"
    other.write_text("{}")

    assert 2 == leaks(option, other, *(["."] if option == "--baseline" else []))
    assert f"error: {other}: not a" in capsys.readouterr().err


def test_a_clean_folder_passes(tmp_path: Path) -> None:
    """Nothing left is exit code 0 whatever is asked for."""
    tmp_path.joinpath("a.json").write_text(openai_json().replace(A, "x").replace(B, "y"), encoding="utf-8")

    assert 0 == leaks(tmp_path, "--fail-on", "any")


@pytest.mark.parametrize(
    "arguments",
    [
        ("nowhere",),
        (),
        ("--from", "nowhere.json"),
        ("--from", "saved.json", "."),
        ("--accept", "x", "."),
        ("--detectors", "guid", "."),
        ("--pack", "discovered", "."),
        ("--processes", "0", "."),
        ("--scheduler", "here", "."),
    ],
)
def test_bad_usage_is_two(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """What is missing, unknown, or says two things at once gives exit code 2 and a sentence."""
    assert 2 == leaks(*arguments)
    assert "error:" in capsys.readouterr().err


def test_an_unreadable_file_is_two_and_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A check that could not look at everything does not pass, and the rest is still reported."""
    folder.joinpath("c.bin").write_bytes(b"\x00\x01")

    assert 2 == leaks(folder)
    captured = capsys.readouterr()
    assert "c.bin" in captured.err
    assert "raw ids left in 2 of 2 traces" in captured.out


def test_accepting_makes_the_next_run_pass(folder: Path, tmp_path: Path) -> None:
    """`--accept` writes the baseline; the next run, with other ids in the same places, passes."""
    baseline = tmp_path / "baseline.json"

    assert 0 == leaks(folder, "--baseline", baseline, "--accept", "known since May", "--fail-on", "any")
    folder.joinpath("a.json").write_text(openai_json((B, C)), encoding="utf-8")
    assert 0 == leaks(folder, "--baseline", baseline, "--fail-on", "any")
    assert {"known since May"} == {each["reason"] for each in json.loads(baseline.read_text())["accepted"]}


def test_a_report_opens_again(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--from` prints what the scan printed, and judges in the same way."""
    saved = tmp_path / "report.json"
    leaks(folder, "--report", saved)
    first = capsys.readouterr().out

    assert 1 == leaks("--from", saved, "--fail-on", "unregistered")
    assert first == capsys.readouterr().out


def test_a_pack_that_is_there_is_not_replaced(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is read, `--apply` refuses a file that may have been written by hand; `--force` replaces it."""
    pack = tmp_path / "own.toml"
    pack.write_text("# mine")

    assert leaks(folder, "--apply", pack) == 2
    assert f"--apply {pack}: there is such a file already; --force replaces it" in capsys.readouterr().err
    assert pack.read_text() == "# mine"

    leaks(folder, "--apply", pack, "--force")
    assert pack.read_text() != "# mine"


def test_the_exported_pack_does_what_was_predicted(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Scanning with the pack of `--apply` leaves what the suggestion said."""
    pack = tmp_path / "pack.toml"
    saved = tmp_path / "report.json"
    leaks(folder, "--apply", pack, "--report", saved)
    (suggestion,) = json.loads(saved.read_text())["suggestions"]
    capsys.readouterr()
    leaks(folder, "--pack", pack, "--json")
    report: dict[str, Any] = json.loads(capsys.readouterr().out)

    assert suggestion["effect"]["all_after"] == report["totals"]["leaks"]
    assert suggestion["effect"]["all_before"] > report["totals"]["leaks"]


def test_no_output_shows_a_whole_identifier(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Report, SARIF, JSON and text hold beginnings only, unless `--values` is given."""
    report, sarif = tmp_path / "r.json", tmp_path / "s.sarif"
    leaks(folder, "--report", report, "--sarif", sarif)
    leaks(folder, "--json")
    written = report.read_text() + sarif.read_text() + capsys.readouterr().out

    assert not any(each in written for each in (A, B, C))
    leaks(folder, "--report", report, "--values")
    assert A in report.read_text()


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`-` reads one trace from a pipe; nothing but the report is printed."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(openai_json().encode())))

    assert 0 == leaks("-")
    captured = capsys.readouterr()
    assert ("", True) == (captured.err, "crm_lookup" in captured.out)


def test_own_patterns_are_looked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--pattern NAME=REGEX` adds a kind of its own."""
    leaks(folder, "--pattern", "verb=is on its", "--json")

    assert {"uuid", "verb"} == {row["kind"] for row in json.loads(capsys.readouterr().out)["rows"]}
