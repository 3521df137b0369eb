"""The runner of `make fuzz`: it goes on where it stopped, keeps what failed, ends what hangs; and some cases."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.fuzz.running import Hang, State, Target, attempt, bounded, figures, run_round
from tests.fuzz.targets import TARGETS

RUN = ("readers", "rewriting", "policies", "requests", "reports", "imports", "stores", "commands")


@pytest.mark.parametrize("name", RUN)
def test_the_first_cases_hold(name: str) -> None:
    """A handful of every kind; those of the codec are tested by thousands elsewhere."""
    for number in range(1, 12):
        with bounded(TARGETS[name].limit, waiting=False):
            TARGETS[name].run(number)


def test_a_round_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Each number runs once; what failed is named, tried again first, and forgotten when it holds."""
    log = tmp_path / "log"

    def run(number: int) -> None:
        with log.open("a") as file:
            file.write(f"{number}\n")
        if number == 5:
            assert (tmp_path / "mended").exists(), "five is wrong"
        if number == 7:
            os._exit(3)

    said: list[str] = []
    target = Target(name="made", run=run)
    for _ in range(2):
        state = State.load(tmp_path / "state.json")
        run_round([target], state, minutes=0, cases=8, processes=2, say=said.append)

    kept = json.loads((tmp_path / "state.json").read_text())["made"]
    assert (16, 16, {"5", "7"}) == (kept["next"], kept["cases"], set(kept["failed"]))
    assert any("made 5: AssertionError" in line and "five is wrong" in line for line in said)
    assert any("made 7: the process ended with 3" in line for line in said)
    assert {"made 5 still fails", "made 7 still fails"} == {line.split(":")[0] for line in said if "still" in line}
    assert set(range(16)) == set(map(int, log.read_text().split()))
    assert "8-15" in list(figures([target], state))[1]


def test_a_case_that_hangs_is_ended() -> None:
    """Computing without an end, and waiting without one, are findings like any other."""

    def compute(_: int) -> None:
        while True:
            pass

    assert attempt(Target(name="made", run=compute, limit=0.1), 0).startswith(f"{Hang.__name__} at test_fuzz.py:")
    assert attempt(Target(name="made", run=lambda _: time.sleep(60), limit=0.02), 0).startswith(Hang.__name__)
