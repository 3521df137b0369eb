"""What reading gives: `Trace` and its parts. What a reader is, `reader` says.

Trace
├── conversations: Conversation (messages, tools, and an Origin for each message)
├── stream: StreamChunk, the pieces of a captured stream in the order they came
├── notices: Notice, all that was not understood, guessed, merged, skipped or cut
└── meta: scalars below 1 KB (model, times, usage)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from modelcontext_core.messages import Message, Tool

__all__ = [
    "Channel",
    "Conversation",
    "Notice",
    "NoticeKind",
    "Origin",
    "Scalar",
    "StreamChunk",
    "Trace",
]

Scalar = str | int | float | bool
Channel = Literal["text", "reasoning", "arguments"]
NoticeKind = Literal[
    "unknown",  # something that the reader has no rule for
    "skipped",  # left out, with the reason
    "merged",  # pieces or repetitions that became one
    "fallback",  # a guess where the source does not say
    "damaged",  # broken or cut: what could be read was read
    "orphan",  # a result without a call, a call without a result
    "limit",  # a limit of `modelcontext_core.limits` was met
    "error",  # the source itself reports an error
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One sentence about what was not read as it stands. `where` is a record and a JSON path, or a line."""

    kind: NoticeKind
    where: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a message comes from.

    `path` is the place of the message (`$.messages[3]`; `::json` stands where a string holds JSON), `record` the line,
    event or file it stands in ("" when the source is one document). `texts` pairs the path of each text in the message
    (`content`, `reasoning`, `parts[0].text`, `tool_calls[0].arguments`) and of each other part (`parts[1]`) with its
    place in the source: relative to `path`, or absolute when it begins with `$`. A text joined of several pieces has
    several pairs, in order. `made_ids` holds the call ids that the source does not have.
    """

    path: str = "$"
    record: str = ""
    texts: Sequence[tuple[str, str]] = ()
    is_error: bool = False
    made_ids: Sequence[str] = ()
    time: str = ""

    def source_of(self, text_path: str) -> str:
        """The (first) absolute path in the source of a text of the message; `""` when it has none."""
        for name, place in self.texts:
            if name == text_path:
                return place if place.startswith("$") else self.path + place
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Messages in order. `origins[i]` belongs to `messages[i]`.

    A branch names its `parent` and how many of the parent's messages come `after` which it begins; its own messages
    are only those that differ.
    """

    id: str = ""
    title: str = ""
    parent: str = ""
    after: int = 0
    messages: Sequence[Message] = ()
    tools: Sequence[Tool] = ()
    origins: Sequence[Origin] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamChunk:
    """One piece of a captured stream. `index` tells blocks or calls that arrive at the same time apart; `time` is in
    seconds from the first chunk, and only there when the capture recorded it. `name` is the tool's, where known."""

    channel: Channel
    text: str
    index: int = 0
    time: float | None = None
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What was read of one source, or of one record of it."""

    format: str
    conversations: Sequence[Conversation] = ()
    stream: Sequence[StreamChunk] = ()
    notices: Sequence[Notice] = ()
    meta: Mapping[str, Scalar] = field(default_factory=dict)
