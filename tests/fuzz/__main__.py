"""`python -m tests.fuzz [TARGET ...]`: random cases for everything that takes what others wrote.

A round takes so many minutes on two processors and is gone on with when it was stopped (Ctrl+C); the next run after
it takes new numbers. `TARGET --case N` runs one case alone and lets it raise.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from tests.fuzz.running import SHARED, State, figures, run_round
from tests.fuzz.targets import TARGETS


def main() -> int:
    """Runs a round; 1 when a case fails that the state knows of."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"some of {', '.join(TARGETS)} (default: all)")
    parser.add_argument("--minutes", type=float, default=15.0, help="how long a round is (default: 15)")
    parser.add_argument("--cases", type=int, default=0, help="so many cases a target instead")
    parser.add_argument("--processes", type=int, default=2, help="how many at a time (default: 2)")
    parser.add_argument("--state", type=Path, default=Path(".fuzz.json"), help="where the progress is kept")
    parser.add_argument("--case", type=int, help="run only this number of one target, and let it raise")
    options = parser.parse_args()
    unknown = [name for name in options.targets if name not in TARGETS]
    if unknown or (options.case is not None and len(options.targets) != 1):
        parser.error(f"no target {unknown[0]}" if unknown else "--case wants one target")
    chosen = [TARGETS[name] for name in options.targets or TARGETS]
    if options.case is not None:
        with SHARED:
            chosen[0].run(options.case)
        print(f"{chosen[0].name} {options.case} holds")
        return 0
    state = State.load(options.state)
    # In the background Ctrl+C does not arrive: being ended is the same.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        run_round(chosen, state, minutes=options.minutes, processes=options.processes, cases=options.cases)
    except KeyboardInterrupt:
        print("stopped; the next run goes on with this round")
    print(*figures(chosen, state), sep="\n")
    return 1 if any(state.targets[target.name].failed for target in chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
