"""The tests with random examples of the suite itself, with more examples and another seed."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["run"]

_TESTS: Final = Path(__file__).resolve().parents[1]
_NO_TESTS_CHOSEN: Final = 5
_LONGEST: Final = 2500


@cache
def _files() -> list[Path]:
    """The files that have such tests."""
    return [path for path in sorted(_TESTS.rglob("test_*.py")) if "hypothesis" in path.read_text(encoding="utf-8")]


def run(number: int) -> None:
    """Runs one file with the seed `number`; raises `AssertionError` with the end of what it printed."""
    path = _files()[number % len(_files())]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "timeout=600"]
    done = subprocess.run(
        [*command, "-m", "hypothesis", f"--hypothesis-seed={number}", str(path)],
        cwd=_TESTS.parent,
        env={**os.environ, "HYPOTHESIS_PROFILE": "fuzz"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, _NO_TESTS_CHOSEN), f"{path.name}: {(done.stdout + done.stderr)[-_LONGEST:]}"
