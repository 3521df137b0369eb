"""The leak scan on a Dask cluster: the same functions, other machines (extra `cluster`).

Paths go through fsspec (`s3://bucket/traces/*.jsonl`, `memory://…`): every worker must be able to open them, and has to
have this package installed. Reports are merged here, where nothing but reports arrives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, TypeVar, cast

import fsspec
from distributed import Client, LocalCluster, as_completed

from modelcontext_core.leak_report.runners import Runner
from modelcontext_core.leak_report.tasks import Piece, Task

__all__ = ["connected", "find_pieces", "local_cluster", "on_cluster", "open_path"]

_UNDER_WAY: Final = 4
_Result = TypeVar("_Result")
_Given = TypeVar("_Given")


def open_path(path: str) -> BinaryIO:
    """A path of any file system, open for reading. Workers call this, so it is a function of the module."""
    return cast("BinaryIO", fsspec.open(path, "rb").open())


def find_pieces(pattern: str) -> Iterator[Piece]:
    """The files that a path, folder or glob of any file system stands for, sorted. Raises `FileNotFoundError`."""
    system, path = fsspec.core.url_to_fs(pattern)
    if system.isdir(path):
        found = system.find(path)
    else:
        found = sorted(system.glob(path)) if any(sign in path for sign in "*?[") else [path]
    found = [each for each in found if system.isfile(each)]
    if not found:
        raise FileNotFoundError(pattern)
    for each in found:
        yield Piece(system.unstrip_protocol(each), int(system.size(each) or 0))


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the scheduler at an address (`tcp://host:8786`). Raises `OSError` when there is none."""
    with Client(address, timeout="10s", set_as_default=False) as client:
        yield client


@contextmanager
def local_cluster(workers: int, *, processes: bool = True) -> Iterator[Client]:
    """A cluster on this machine, of processes or of threads. Nothing of it, dashboard included, is reachable from
    elsewhere."""
    where = {"host": "127.0.0.1"} if processes else {}
    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=processes, dashboard_address="127.0.0.1:0", **where
    )
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client


def on_cluster(client: Client) -> Runner:
    """A runner on the workers of a client, with a few tasks under way for each thread of a worker."""

    def run(
        work: Callable[[Task, _Given], _Result], tasks: Iterable[Task], given: _Given, /
    ) -> Iterator[tuple[Task, _Result]]:
        (shared,) = client.scatter([given], broadcast=True, hash=False)
        most = _UNDER_WAY * max(1, sum(client.nthreads().values()))
        coming = iter(tasks)
        waiting: dict[Any, Task] = {}
        done = as_completed(loop=client.loop)
        try:
            while True:
                while len(waiting) < most and (task := next(coming, None)) is not None:
                    # Pure by name of the function and its arguments would keep results of other runs alive.
                    future = client.submit(work, task, shared, pure=False)
                    waiting[future] = task
                    done.add(future)
                if not waiting:
                    return
                future = next(done)
                result = future.result()
                task = waiting.pop(future)
                future.release()
                yield task, result
        finally:
            client.cancel(list(waiting))

    return run
