"""What the Playground remembers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, cast, get_args

from inspector_app import words
from inspector_app.page_state.parameters import Parameters
from modelcontext_core.tokens import ENCODINGS

__all__ = ["Pack", "PlaygroundState", "View"]

View = Literal["messages", "handles", "decode", "notices", "conversations"]
Pack = Literal["auto", "builtin", "own"]

_MOST_MESSAGES: Final = 10_000_000
_HIGHEST_PRICE: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaygroundState:
    """What the Playground shows: one source (`sample`, `path`, or `key` of a trace in memory), where in it, and the
    options.

    `conversation` counts from 1, 0 is the first that holds messages; `off` are the numbers of discovered rules that
    are switched off; `format` is "" for recognition by content; `partial` opens what could be read of a damaged source;
    `problem` is a sentence of `words` about a link that could not be followed, and is not part of the address.
    """

    page: ClassVar[str] = "playground"

    sample: str = ""
    path: str = ""
    key: str = ""
    format: str = ""
    conversation: int = 0
    message: int = 0
    view: View = "messages"
    citations: bool = True
    pack: Pack = "auto"
    off: tuple[int, ...] = ()
    partial: bool = False
    as_result: bool = False
    encoding: str = ENCODINGS[0]
    price: float = 2.5
    currency: str = words.playground.CURRENCIES[0]
    problem: str = ""

    @property
    def is_open(self) -> bool:
        """Whether a source is named."""
        return bool(self.sample or self.path or self.key)

    def opened(self, *, sample: str = "", path: str = "", key: str = "", format: str = "") -> PlaygroundState:  # noqa: A002
        """Return the state with another source: the options stay, the place in the trace does not."""
        source = replace(self, sample=sample, path=path, key=key, format=format)
        return replace(source, conversation=0, message=0, view="messages", off=(), partial=False, problem="")

    def closed(self) -> PlaygroundState:
        """Return the state without a source; the options stay."""
        return self.opened()

    def shareable(self) -> PlaygroundState:
        """Return the state for a link to pass on: without the key of a trace that only this tab may open."""
        return replace(self, key="")

    def to_query(self) -> dict[str, str]:
        """Return the query parameters of this state; what is as by default is left out."""
        default = PlaygroundState()
        written = {
            "sample": self.sample,
            "path": self.path,
            "key": self.key,
            "format": self.format,
            "conversation": str(self.conversation),
            "message": str(self.message),
            "view": self.view,
            "pack": self.pack,
            "off": ".".join(map(str, self.off)),
            "citations": str(int(self.citations)),
            "partial": str(int(self.partial)),
            "as_result": str(int(self.as_result)),
            "encoding": self.encoding,
            "price": f"{self.price:g}",
            "currency": str(words.playground.CURRENCIES.index(self.currency)),
        }
        return {name: value for name, value in written.items() if getattr(self, name) != getattr(default, name)}

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> PlaygroundState:
        """Read a state from query parameters. A wrong value falls back to its default, and `problem` says so."""
        given = Parameters(query)
        state = cls(
            **given.source(),
            format=given.name("format"),
            conversation=int(given.number("conversation", 0, _MOST_MESSAGES, 0)),
            message=int(given.number("message", 0, _MOST_MESSAGES, 0)),
            view=cast("View", given.choice("view", get_args(View), "messages")),
            pack=cast("Pack", given.choice("pack", get_args(Pack), "auto")),
            off=given.numbers("off"),
            citations=given.flag("citations", True),
            partial=given.flag("partial", False),
            as_result=given.flag("as_result", False),
            encoding=given.choice("encoding", ENCODINGS, ENCODINGS[0]),
            price=given.number("price", 0, _HIGHEST_PRICE, 2.5),
            currency=words.playground.CURRENCIES[
                int(given.number("currency", 0, len(words.playground.CURRENCIES) - 1, 0))
            ],
        )
        return replace(state, problem=words.opening.BAD_LINK) if given.wrong else state
