"""The builder: readers tell it turns, texts, calls and results in source order; it makes messages, origins, notices.

A reader writes what it sees; everything that all formats share happens here or below, once: parts become messages
(`turns`), calls and results are linked and names recovered (`linking`), raw JSON is cut out of the source, limits
hold, notices are collected.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace

from modelcontext_core.formats.base import (
    Channel,
    Conversation,
    NoticeKind,
    Origin,
    Scalar,
    StreamChunk,
    Trace,
)
from modelcontext_core.formats.building.linking import link
from modelcontext_core.formats.building.notices import NoticeList
from modelcontext_core.formats.building.turns import Draft, RawText, Turn
from modelcontext_core.formats.containers.jsonload import JsonPath
from modelcontext_core.formats.nodes import Document, Node
from modelcontext_core.limits import MAX_MESSAGES_PER_CONVERSATION, MAX_META_BYTES
from modelcontext_core.messages import Message, Tool

__all__ = ["Builder", "ConversationBuilder"]

# What an object of settings or counts is at most: more keys or longer texts are content that somebody may look for.
_FLAT_KEYS = 30
_FLAT_LENGTH = 100
_ASKED = frozenset({"request", "req", "input", "request_body"})
_ANSWERED = frozenset({"response", "res", "output", "response_body"})
_LATER = Message(role=""), Origin()


class Builder:
    """Collects one trace. Make conversations with `conversation`, then tell each its turns."""

    def __init__(self, format_name: str) -> None:
        self._format = format_name
        self._conversations: list[ConversationBuilder] = []
        self._stream: list[StreamChunk] = []
        self._notices = NoticeList()
        self._meta: dict[str, Scalar] = {}
        self._raw: list[RawText] = []
        self._open_turns: list[Turn] = []

    # -- what readers call ---------------------------------------------------------------------------------------

    def conversation(self, *, id: str = "", title: str = "", parent: str = "", after: int = 0) -> ConversationBuilder:  # noqa: A002
        """Begin a conversation. A branch gives its `parent`'s id and how many of the parent's *turns* precede it."""
        made = ConversationBuilder(self, id=id, title=title, parent=parent, after=after)
        self._conversations.append(made)
        return made

    def scratch(self) -> ConversationBuilder:
        """A conversation that is no part of the trace: turns are told to it, looked at, then `take`n or dropped."""
        return ConversationBuilder(self, id="", title="", parent="", after=0)

    def notice(self, kind: NoticeKind, where: Node | str, text: str) -> None:
        """Say what was not read as it stands. Repetitions of a sentence are counted after the first ten."""
        self._notices.add(kind, where if isinstance(where, str) else where.where, text)

    def meta(self, name: str, value: object) -> bool:
        """Keep a scalar about the source (model, times, usage). False when it is no scalar or not below 1 KB."""
        if isinstance(value, Node):
            value = value.value
        if isinstance(value, str) and len(value.encode("utf-8", "surrogatepass")) >= MAX_META_BYTES:
            return False
        if not isinstance(value, str | int | float | bool) or value == "":
            return False
        if isinstance(value, int) and value.bit_length() > 8 * MAX_META_BYTES:
            return False
        self._meta.setdefault(name, value)
        return True

    def rest(self, node: Node, known: Iterable[str], *, prefix: str = "") -> None:
        """Everything of an object that the reader has no rule for: scalars into `meta`, the rest named in notices.

        Objects of scalars (`usage`, `thinking`, `tool_choice`) are taken apart: `usage.input_tokens`.
        """
        known = frozenset(known)
        for key, member in node.members():
            if key in known or not member:
                continue
            if member.is_object and _is_flat(member.value):
                self.rest(member, (), prefix=f"{prefix}{key}.")
            elif not self.meta(prefix + key, member):
                self.notice("skipped", member, f"the key {_short(key)} is not read")

    def unread(self, node: Node, known: Set[str]) -> None:
        """Name the members of a message or part that the reader has no rule for, and that are not empty."""
        if node.is_object and node.value.keys() <= known:
            return  # nearly every message
        for key, member in node.members():
            if key not in known and member and not _is_hollow(member.value):
                self.notice("skipped", member, f"the key {_short(key)} is not read")

    def chunk(self, channel: Channel, text: str, *, index: int = 0, time: float | None = None, name: str = "") -> None:
        """One piece of a captured stream, as it came."""
        self._stream.append(StreamChunk(channel=channel, text=text, index=index, time=time, name=name))

    # -- what the dispatcher calls -------------------------------------------------------------------------------

    def settle(self) -> None:
        """Cut the raw JSON texts that are still wanted out of their documents, and let these go."""
        wanted: dict[Document, list[tuple[JsonPath, RawText]]] = {}
        for raw in self._raw:
            if raw.node is not None:
                wanted.setdefault(raw.node.document, []).append((raw.node.steps_from(None) or (), raw))
        for document, pairs in wanted.items():
            found = document.slices([path for path, _ in pairs])
            for path, raw in pairs:
                raw.settle(found.get(path, ""))
        self._raw.clear()
        for turn in self._open_turns:
            turn.release()
        self._open_turns.clear()

    def settling(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """The records in turn; what was taken from each is settled before the next one is read."""
        for node in nodes:
            yield node
            self.settle()

    def trace(self) -> Trace:
        """All that was collected. Says so when that is nothing."""
        self.settle()
        conversations = tuple(self._finished())
        if not any(conversation.messages for conversation in conversations) and not self._notices:
            self.notice("unknown", "$", "no message was found in this record")
        return Trace(
            format=self._format,
            conversations=conversations,
            stream=tuple(self._stream),
            notices=self._notices.all(),
            meta=self._meta,
        )

    def _finished(self) -> Iterator[Conversation]:
        """The conversations; a branch begins after so many messages as the turns of its parent became."""
        messages_of: dict[str, array[int]] = {}
        for number, made in enumerate(self._conversations, 1):
            conversation = made.finish(str(number))
            counts = messages_of.get(conversation.parent)
            if conversation.parent and counts:
                conversation = replace(conversation, after=counts[min(max(made.after, 0), len(counts) - 1)])
            messages_of[conversation.id] = made.messages_after_turns
            yield conversation

    def opened(self, turn: Turn) -> None:
        """A turn was begun: it holds its document until that is settled."""
        self._open_turns.append(turn)

    def want_raw(self, node: Node) -> RawText:
        """The source text of a value, cut out later together with all others of its document."""
        raw = RawText(node)
        self._raw.append(raw)
        return raw


class ConversationBuilder:
    """Collects one conversation, turn by turn."""

    def __init__(self, builder: Builder, *, id: str, title: str, parent: str, after: int) -> None:  # noqa: A002
        self.builder = builder
        self.id = id
        self.title = title
        self.parent = parent
        self.after = after
        self._tools: list[Tool] = []
        self._turns: list[Turn] = []
        self._overflow = 0
        self.messages_after_turns = array("L", [0])

    @property
    def turns(self) -> int:
        """How many turns were told so far."""
        return len(self._turns)

    def turn(self, role: str, node: Node, *, name: str = "", time: str = "") -> Turn:
        """Begin a turn of `role` that stands at `node`: tell it its texts, reasoning, calls, results and media."""
        made = Turn(self.builder, role or "unknown", node, name=name, time=time)
        if len(self._turns) >= MAX_MESSAGES_PER_CONVERSATION:
            if not self._overflow:
                limit = f"{MAX_MESSAGES_PER_CONVERSATION:,} messages a conversation (MAX_MESSAGES_PER_CONVERSATION)"
                self.builder.notice("limit", node, f"the limit is {limit}: what follows is left out")
            self._overflow += 1
            return made
        if not role:
            self.builder.notice("fallback", node, "a message without a role is shown with the role 'unknown'")
        self._turns.append(made)
        return made

    def take(self) -> list[Turn]:
        """All turns that were told so far; they leave this conversation."""
        turns, self._turns = self._turns, []
        return turns

    def put(self, turn: Turn, index: int | None = None) -> None:
        """Take over a turn that was told to another conversation of this builder: at the end, or at `index`."""
        if len(self._turns) < MAX_MESSAGES_PER_CONVERSATION:
            self._turns.insert(len(self._turns) if index is None else index, turn)

    def result(self, node: Node, *, call_id: str = "", name: str = "", is_error: bool = False, time: str = "") -> Turn:
        """Begin a tool's result: tell it its texts and media. Ids and names that are missing are recovered later."""
        made = self.turn("tool", node, name=name, time=time)
        made.call_id = call_id
        made.is_error = is_error
        return made

    def bare_text(self, node: Node) -> bool:
        """A text where the body of a request or a response should stand: the question or the answer itself. False, and
        nothing is told, for anything else."""
        asked = node.key in _ASKED
        if not node.is_text or not (asked or node.key in _ANSWERED):
            return False
        self.builder.notice("fallback", node, f"a bare text is taken for the {'question' if asked else 'answer'}")
        self.turn("user" if asked else "assistant", node).text(node)
        return True

    def tool(self, name: str, description: str = "", parameters: object = None) -> None:
        """Keep the definition of a tool; `parameters` is its JSON schema (a node or a value)."""
        if isinstance(parameters, Node):
            parameters = parameters.value
        schema = parameters if isinstance(parameters, dict) else {}
        known = Tool(name=name, description=description, parameters=schema)
        if known not in self._tools:
            self._tools.append(known)

    def adopt_tools(self, other: ConversationBuilder) -> None:
        """Keep the definitions that were told to another conversation too."""
        self._tools += [tool for tool in other.tools if tool not in self._tools]

    @property
    def tools(self) -> list[Tool]:
        """The definitions told so far."""
        return list(self._tools)

    def finish(self, number: str) -> Conversation:
        """The conversation, its calls and results linked. `number` is its id when the source has none."""
        # Turns without calls and results are messages at once, and go: there may be 200,000 of them.
        built: list[Message] = []
        origins: list[Origin] = []
        waiting: dict[int, Draft] = {}
        last = self._turns[-1] if self._turns else None
        self._turns.reverse()
        while self._turns:
            for draft in self._turns.pop().drafts():
                message, origin = _LATER
                if draft.calls or draft.role == "tool":
                    waiting[len(built)] = draft
                else:
                    message, origin = draft.build()
                built.append(message)
                origins.append(origin)
            self.messages_after_turns.append(len(built))
        link(list(waiting.values()), last, self.builder.notice)
        for index, draft in waiting.items():
            built[index], origins[index] = draft.build()
        return Conversation(
            id=self.id or number,
            title=self.title,
            parent=self.parent,
            after=self.after,
            messages=tuple(built),
            tools=tuple(self._tools),
            origins=tuple(origins),
        )


def _short(key: str) -> str:
    """A key as it may stand in a notice."""
    return repr(key if len(key) <= 60 else key[:60] + "…")


def _is_hollow(value: object) -> bool:
    """True for an object in which all values are `null`."""
    return isinstance(value, dict) and all(member is None for member in value.values())


def _is_flat(value: dict[str, object], depth: int = 0) -> bool:
    """True for a small object of scalars, or of such objects."""
    return len(value) <= _FLAT_KEYS and all(
        (depth < 2 and _is_flat(member, depth + 1))
        if isinstance(member, dict)
        else member is None or (isinstance(member, str | int | float) and _length(member) < _FLAT_LENGTH)
        for member in value.values()
    )


def _length(value: str | int | float) -> int:
    # Python refuses to write out integers of thousands of digits.
    return value.bit_length() if isinstance(value, int) else len(str(value))
