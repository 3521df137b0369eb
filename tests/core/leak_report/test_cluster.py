"""The scan on a Dask cluster: the same function, the same report, paths of any file system."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import fsspec
import pytest

from modelcontext_core.leak_report.batch import Settings, scan_files
from modelcontext_core.leak_report.cluster import find_pieces, local_cluster, on_cluster, open_path
from modelcontext_core.leak_report.runners import locally
from tests.core.leak_report.leaking import A, B, C, openai_json


@pytest.fixture
def memory() -> Iterator[str]:
    """A folder in memory with three traces."""
    system = fsspec.filesystem("memory")
    for number, ids in enumerate([(A, B), (C,), (B, C)]):
        system.pipe(f"/leaks/{number}.json", openai_json(ids).encode())
    yield "memory://leaks"
    system.rm("/leaks", recursive=True)


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_of_two_workers_gives_the_same_report(tmp_path: Path) -> None:
    """Two worker processes on this machine; the dashboard is reachable from this machine only."""
    for number, ids in enumerate([(A, B), (C,), (B, C), (A,)]):
        tmp_path.joinpath(f"{number}.json").write_text(openai_json(ids), encoding="utf-8")
    settings = Settings(opener=open_path)
    tasks = [(piece,) for piece in find_pieces(str(tmp_path / "*.json"))]
    here = scan_files(tasks, settings, locally(1))
    with local_cluster(2) as client:
        there = scan_files(tasks, settings, on_cluster(client))
        dashboard = urlsplit(client.dashboard_link).hostname
        workers = len(client.nthreads())

    assert here.report == there.report
    assert here.suggestions == there.suggestions
    assert here.report.totals.leaks > 0
    assert ("127.0.0.1", 2) == (dashboard, workers)


@pytest.mark.filterwarnings("ignore")
def test_paths_of_other_file_systems_are_read(memory: str) -> None:
    """`memory://` works like any store: here with workers that are threads, since memory is not shared."""
    settings = Settings(opener=open_path)
    tasks = [(piece,) for piece in find_pieces(memory)]
    here = scan_files(tasks, settings, locally(1))
    with local_cluster(2, processes=False) as client:
        there = scan_files(tasks, settings, on_cluster(client))

    assert here.report == there.report
    assert 3 == here.report.totals.traces
    assert {"memory:///leaks/0.json", "memory:///leaks/1.json", "memory:///leaks/2.json"} == {
        each.trace for each in here.report.occurrences
    }


def test_a_path_that_leads_nowhere_is_an_error(memory: str) -> None:
    """A missing path or an empty glob is no empty success."""
    for pattern in (f"{memory}/none.json", f"{memory}/*.txt"):
        with pytest.raises(FileNotFoundError):
            list(find_pieces(pattern))
