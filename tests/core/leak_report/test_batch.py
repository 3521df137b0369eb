"""The scan over files: the same report however the work is cut and whoever does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelcontext_core.leak_report import batch
from modelcontext_core.leak_report import tasks as tasks_module
from modelcontext_core.leak_report.batch import Settings, scan_files
from modelcontext_core.leak_report.runners import locally
from modelcontext_core.leak_report.suggestions import apply
from modelcontext_core.leak_report.tasks import Task, make_tasks, pieces_of
from tests.core.leak_report.leaking import A, B, C, openai_json


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few files: single traces, lines of traces, and one that is no trace."""
    made = tmp_path_factory.mktemp("traces")
    made.joinpath("one.json").write_text(openai_json(), encoding="utf-8")
    lines = [openai_json((A, B)), openai_json((C,)), openai_json((B, C, A))]
    made.joinpath("many.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    made.joinpath("other.bin").write_bytes(b"\x00\x01\x02")
    return made


def tasks(folder: Path) -> list[Task]:
    """Every file a task by itself."""
    return [(piece,) for path in sorted(folder.iterdir()) for piece in pieces_of(path)]


def test_one_and_two_processes_give_the_same(folder: Path) -> None:
    """Report and suggestions are equal, whatever the number of processes and the order of the tasks."""
    alone = scan_files(tasks(folder), Settings(), locally(1))
    together = scan_files(reversed(tasks(folder)), Settings(), locally(2))

    assert alone.report == together.report
    assert alone.suggestions == together.suggestions
    assert 1 == alone.report.totals.unreadable
    assert 3 == alone.report.totals.sources


def test_large_files_are_cut_between_lines(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pieces of a file of lines give the same report as the file, names of records included."""
    whole = scan_files(tasks(folder), Settings(), locally(1))
    monkeypatch.setattr(tasks_module, "_RANGE_BYTES", 650)
    pieces = [(piece,) for path in sorted(folder.iterdir()) for piece in pieces_of(path)]

    assert 3 < len(pieces)
    assert whole.report == scan_files(pieces, Settings(), locally(1)).report


def test_the_prediction_for_files_holds(folder: Path) -> None:
    """Scanning again with the applied suggestion leaves exactly what was predicted."""
    before = scan_files(tasks(folder), Settings(), locally(1))
    first = before.suggestions[0]
    after = scan_files(tasks(folder), Settings(pack=apply(Settings().pack, first), suggest=False), locally(1))

    assert before.report.totals.leaks - first.removed == after.report.totals.leaks
    assert first.removed > 0


def test_rules_of_other_tasks_are_measured_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the traces of one task lead to less than all of them do, the effect is still that of the final rule."""
    for number, key in enumerate(("order_id", "invoice_id", "order_id", "customer_id")):
        text = openai_json((A, B)).replace("order_id", key)
        tmp_path.joinpath(f"{number}.json").write_text(text, encoding="utf-8")
    apart = scan_files(tasks(tmp_path), Settings(), locally(1))
    together = scan_files([tuple(piece for (piece,) in tasks(tmp_path))], Settings(), locally(1))
    monkeypatch.setattr(batch, "_HELD_CHARACTERS", 0)
    one_by_one = scan_files([tuple(piece for (piece,) in tasks(tmp_path))], Settings(), locally(1))
    after = scan_files(
        tasks(tmp_path), Settings(pack=apply(Settings().pack, apart.suggestions[0]), suggest=False), locally(1)
    )

    assert apart.suggestions == together.suggestions
    assert apart.suggestions == one_by_one.suggestions
    assert 3 == len({rule.key for rule in apart.suggestions[0].rules})
    assert apart.suggestions[0].effect.all_after == after.report.totals.leaks


def test_a_scan_can_be_stopped(folder: Path) -> None:
    """What the progress raises ends the scan at once."""

    def stop(_step: str, _size: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan_files(tasks(folder), Settings(), locally(1), stop)


def test_small_files_share_a_task(folder: Path) -> None:
    """Files are put together until a task is worth sending."""
    pieces = [piece for path in sorted(folder.iterdir()) for piece in pieces_of(path)]

    assert [3] == [len(task) for task in make_tasks(pieces)]
    assert [100, 100, 100] == [len(task) for task in make_tasks(pieces * 100)]
