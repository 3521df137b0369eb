"""One table at the end for everything that is measured as a ratio."""

from __future__ import annotations

from typing import Final

import pytest

from tests.benchmarks.measuring import Row, table

_ROWS: Final = pytest.StashKey[list[Row]]()


@pytest.fixture
def rows(request: pytest.FixtureRequest) -> list[Row]:
    """The rows so far; what is added is printed when all is done."""
    return request.config.stash.setdefault(_ROWS, [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the table."""
    measured = config.stash.get(_ROWS, [])
    if measured:
        terminalreporter.section("ratios to a floor")
        for line in table(measured):
            terminalreporter.write_line(line)
