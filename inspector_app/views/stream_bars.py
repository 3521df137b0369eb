"""The bars of a stream's timeline as numbers, apart from its figure: the command line has no charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from modelcontext_core.simulate import Step

__all__ = ["MOST_BARS", "Bar", "bars"]

MOST_BARS: Final = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One step, or several of a long stream: what they sent on together, and the most that was held after one."""

    first: int
    last: int
    sent: int
    held: int


def bars(steps: Sequence[Step]) -> list[Bar]:
    """Return a bar for each step; of long streams for so many steps each that there are at most `MOST_BARS`."""
    size = -(-len(steps) // MOST_BARS) or 1
    groups = (steps[at : at + size] for at in range(0, len(steps), size))
    return [
        Bar(
            first=group[0].number,
            last=group[-1].number,
            sent=sum(step.sent for step in group),
            held=max(step.held_characters for step in group),
        )
        for group in groups
    ]
