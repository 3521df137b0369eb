"""`python -m tests.fuzz [--cases N] [--start N] [--state FILE]`: runs numbered cases, and goes on where it stopped.

The state file keeps the next number and the numbers that failed; delete it to begin anew. `--case N` runs one alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tests.fuzz.cases import run

_STEP = 2000


def main() -> int:
    """Runs the cases that are left; 1 when any failed, ever since the state file was begun."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=400_000, help="how many cases in all")
    parser.add_argument("--start", type=int, default=0, help="the first number, without a state file")
    parser.add_argument("--state", type=Path, default=Path(".fuzz.json"), help="where the progress is kept")
    parser.add_argument("--case", type=int, help="run only this number, and let it raise")
    options = parser.parse_args()
    if options.case is not None:
        run(options.case)
        print(f"case {options.case} holds")
        return 0
    return loop(options.start, options.cases, options.state)


def loop(start: int, cases: int, state: Path) -> int:
    """Runs `cases` numbers from `start` on, writing the progress to `state` now and then."""
    progress: dict[str, list[int]] = {"next": [start], "failed": []}
    if state.exists():
        progress = json.loads(state.read_text(encoding="utf-8"))
    began, end = time.monotonic(), start + cases
    for number in range(progress["next"][0], end):
        try:
            run(number)
        except Exception as error:  # whatever it is, it is a finding
            progress["failed"].append(number)
            print(f"case {number}: {type(error).__name__}: {str(error)[:2000]}", flush=True)
        if (number + 1) % _STEP == 0 or number + 1 == end:
            progress["next"] = [number + 1]
            state.write_text(json.dumps(progress), encoding="utf-8")
            print(f"{number + 1 - start} of {cases} cases, {len(progress['failed'])} failed, "
                  f"{time.monotonic() - began:.0f} s", flush=True)  # fmt: skip
    return 1 if progress["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
