"""What the Policies page remembers: which tools are listed, and which way a call is tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, cast, get_args

from inspector_app.page_state.parameters import Parameters

__all__ = ["Listed", "PoliciesState", "Way"]

Listed = Literal["all", "own", "changed", "faults"]
Way = Literal["call", "result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoliciesState:
    """The pack itself is kept in the tab, not in the address."""

    page: ClassVar[str] = "policies"

    listed: Listed = "all"
    way: Way = "call"

    def to_query(self) -> dict[str, str]:
        """Return the query parameters of this state; what is as by default is left out."""
        default = PoliciesState()
        names = ("listed", "way")
        return {name: getattr(self, name) for name in names if getattr(self, name) != getattr(default, name)}

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> PoliciesState:
        """Read a state from query parameters; a wrong value falls back to its default."""
        given = Parameters(query)
        return cls(
            listed=cast("Listed", given.choice("listed", get_args(Listed), "all")),
            way=cast("Way", given.choice("way", get_args(Way), "call")),
        )
