"""What the Sessions page remembers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, cast, get_args

from inspector_app import words
from inspector_app.page_state.parameters import Parameters

__all__ = ["SessionsState", "SessionsView", "session_mark"]

SessionsView = Literal["checkpoint", "diff", "events", "payloads", "operations", "try"]

_MARK: Final = re.compile(r"[0-9a-f]{16}")
_MOST: Final = 2**53


def session_mark(session_id: str) -> str:
    """Return what stands for a session in an address: its id is text of the store and has no place there."""
    return hashlib.sha256(session_id.encode("utf-8", errors="surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsState:
    """What the page shows: one store (`sample`, `path`, or `key` of one that the server holds), where in it, and how.

    `session` is a mark of `session_mark`; `revision` the chosen checkpoint (0: the last); `base` the one that it is
    compared with (0: the one before it); `first` the first row of the events or payloads. `problem` is a sentence of
    `words` about a link that could not be followed, and is not part of the address.
    """

    page: ClassVar[str] = "sessions"

    sample: bool = False
    path: str = ""
    key: str = ""
    session: str = ""
    view: SessionsView = "diff"
    revision: int = 0
    base: int = 0
    first: int = 1
    problem: str = ""

    @property
    def is_open(self) -> bool:
        """Whether a store is named."""
        return bool(self.sample or self.path or self.key)

    def opened(self, *, sample: bool = False, path: str = "", key: str = "") -> SessionsState:
        """Return the state with another store; the view stays, the place in the store does not."""
        return SessionsState(sample=sample, path=path, key=key, view=self.view)

    def at_session(self, session_id: str) -> SessionsState:
        """Return the state with another session of the same store; the first one that is named keeps the place."""
        if not self.session:
            return replace(self, session=session_mark(session_id))
        return replace(self, session=session_mark(session_id), revision=0, base=0, first=1, problem="")

    def shareable(self) -> SessionsState:
        """Return the state for a link to pass on: without the key of a store that only this tab may open."""
        return replace(self, key="")

    def to_query(self) -> dict[str, str]:
        """Return the query parameters of this state; what is as by default is left out."""
        default = SessionsState()
        written = {
            "sample": str(int(self.sample)),
            "path": self.path,
            "key": self.key,
            "session": self.session,
            "view": self.view,
            "revision": str(self.revision),
            "base": str(self.base),
            "first": str(self.first),
        }
        return {name: value for name, value in written.items() if getattr(self, name) != getattr(default, name)}

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> SessionsState:
        """Read a state from query parameters. A wrong value falls back to its default, and `problem` says so."""
        given = Parameters(query)
        sample = given.flag("sample", False)
        path = given.path("path")
        key = given.key("key")
        state = cls(
            # One store at a time: the first of these counts.
            sample=sample,
            path="" if sample else path,
            key="" if sample or path else key,
            session=given.text("session", lambda value: bool(_MARK.fullmatch(value))),
            view=cast("SessionsView", given.choice("view", get_args(SessionsView), "diff")),
            revision=int(given.number("revision", 0, _MOST, 0)),
            base=int(given.number("base", 0, _MOST, 0)),
            first=int(given.number("first", 1, _MOST, 1)),
        )
        return replace(state, problem=words.opening.BAD_LINK) if given.wrong else state
