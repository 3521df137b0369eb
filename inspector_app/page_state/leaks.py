"""What the Leaks page remembers: a source, a view, and which cell and finding are chosen: by number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, cast, get_args

from inspector_app import words
from inspector_app.page_state.parameters import Parameters

__all__ = ["Known", "LeakView", "LeaksState"]

LeakView = Literal["heat", "coverage", "along", "top"]
Known = Literal["both", "unregistered", "registered"]

_MOST: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaksState:
    """One source (`sample`, `path`, or `key` of what is in memory). `row` and `column` are a cell of the heat map
    (-1: all), `finding` the number of a finding in the list."""

    page: ClassVar[str] = "leaks"

    sample: str = ""
    path: str = ""
    key: str = ""
    view: LeakView = "heat"
    known: Known = "both"
    row: int = -1
    column: int = -1
    finding: int = 0
    problem: str = ""

    @property
    def is_open(self) -> bool:
        """Whether a source is named."""
        return bool(self.sample or self.path or self.key)

    def opened(self, *, sample: str = "", path: str = "", key: str = "") -> LeaksState:
        """Return the state with another source."""
        return replace(self, sample=sample, path=path, key=key, row=-1, column=-1, finding=0, problem="")

    def to_query(self) -> dict[str, str]:
        """Return the query parameters of this state; what is as by default is left out."""
        default = LeaksState()
        names = ("sample", "path", "key", "view", "known", "row", "column", "finding")
        return {name: str(getattr(self, name)) for name in names if getattr(self, name) != getattr(default, name)}

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> LeaksState:
        """Read a state from query parameters. A wrong value falls back to its default, and `problem` says so."""
        given = Parameters(query)
        state = cls(
            **given.source(),
            view=cast("LeakView", given.choice("view", get_args(LeakView), "heat")),
            known=cast("Known", given.choice("known", get_args(Known), "both")),
            row=int(given.number("row", -1, _MOST, -1)),
            column=int(given.number("column", -1, _MOST, -1)),
            finding=int(given.number("finding", 0, _MOST, 0)),
        )
        return replace(state, problem=words.opening.BAD_LINK) if given.wrong else state
