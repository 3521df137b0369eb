"""Ratios to a floor: what an operation takes, beside the cheapest standard tool that could do the job.

Floor and operation are timed in turn, in time of the processor that this thread used, and the median of the ratios
counts: other work on the machine, and a processor that changes its speed, disturb both alike.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, TypeVar

ROUNDS: Final = 9
ATTEMPTS: Final = 3

Given = TypeVar("Given")


class Row(NamedTuple):
    """One line of the table: what was measured, in milliseconds and as a ratio to its floor, and the limit."""

    name: str
    floor: str
    milliseconds: float
    ratio: float
    limit: float


def took(work: Callable[[], object]) -> float:
    """The time of the processor, in seconds."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


def measure(
    name: str,
    floor: tuple[str, Callable[[], object]],
    limit: float,
    prepare: Callable[[int], Given],
    work: Callable[[Given], object],
    rounds: int = ROUNDS,
) -> Row:
    """Times `work` on what `prepare(round)` makes outside the clock; a ratio above the limit is measured again, up to
    three times, and the best counts."""
    rows = []
    for attempt in range(ATTEMPTS):
        ratios, times = [], []
        for turn in range(rounds):
            given = prepare(attempt * rounds + turn)
            base = min(took(floor[1]) for _ in range(2))
            times.append(took(partial(work, given)))
            ratios.append(times[-1] / base)
        rows.append(Row(name, floor[0], statistics.median(times) * 1000, statistics.median(ratios), limit))
        if rows[-1].ratio <= limit:
            break
    return min(rows, key=lambda row: row.ratio)


def table(rows: list[Row]) -> list[str]:
    """The lines to print."""
    lines = [f"{'operation':<52}{'time':>12}{'ratio':>9}{'limit':>8}  floor"]
    lines += [
        f"{row.name:<52}{row.milliseconds:>9.1f} ms{row.ratio:>9.2f}{row.limit:>8.1f}  {row.floor}" for row in rows
    ]
    return lines
