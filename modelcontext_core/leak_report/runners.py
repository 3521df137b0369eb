"""What runs the tasks of a scan on this machine: the caller's process, or several of its own. `cluster` has another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from functools import partial
from multiprocessing import get_context
from typing import Protocol, TypeVar

from modelcontext_core.leak_report.tasks import Task

__all__ = ["Runner", "bounded", "locally"]

_Result = TypeVar("_Result")
_Given = TypeVar("_Given")


class Runner(Protocol):
    """Runs the same function on many tasks, here or elsewhere: each task comes back with its result, in any order.
    Closing the iterator stops the work."""

    def __call__(
        self, work: Callable[[Task, _Given], _Result], tasks: Iterable[Task], given: _Given, /
    ) -> Iterator[tuple[Task, _Result]]:
        """Yield every task with what `work(task, given)` gives."""
        ...


def locally(processes: int) -> Runner:
    """A runner on this machine. One process works in the caller's; several hold two tasks each, no more, so that
    memory stays bounded."""
    return _here if processes <= 1 else partial(_in_processes, processes)


def _here(
    work: Callable[[Task, _Given], _Result], tasks: Iterable[Task], given: _Given, /
) -> Iterator[tuple[Task, _Result]]:
    for task in tasks:
        yield task, work(task, given)


def _in_processes(
    processes: int, work: Callable[[Task, _Given], _Result], tasks: Iterable[Task], given: _Given, /
) -> Iterator[tuple[Task, _Result]]:
    # Spawned workers: a forked one would inherit the threads and locks of whoever called.
    executor = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        yield from bounded(executor, work, tasks, given, 2 * processes)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def bounded(
    executor: Executor, work: Callable[[Task, _Given], _Result], tasks: Iterable[Task], given: _Given, most: int
) -> Iterator[tuple[Task, _Result]]:
    """Run tasks with at most so many of them under way."""
    coming = iter(tasks)
    running: dict[Future[_Result], Task] = {}
    while True:
        while len(running) < most and (task := next(coming, None)) is not None:
            running[executor.submit(work, task, given)] = task
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield running.pop(future), future.result()
