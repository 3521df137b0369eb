"""How one turn of a conversation becomes messages.

The rules, in one place:

- A turn that mixes texts and calls is one message. Its only text is `content`; several texts, or texts among media,
  are `parts` in their order.
- Reasoning goes into `reasoning`. Blocks without a signature are joined by an empty line; each signed block begins
  a message of its own, because a message has room for one signature.
- A result inside a turn is a message of role `tool`. What follows it in the same turn is a new message, so that text
  written after a result never seems to stand before it.
- Arguments and results given as JSON values are the exact source text of the value. Only results and other texts have
  their opaque strings (base64, signatures) replaced by a note.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from modelcontext_core.formats.base import Origin
from modelcontext_core.formats.building.opaque import data_uri, hide_opaque, is_opaque, kind_of_media
from modelcontext_core.formats.nodes import Node, parsed, show_path
from modelcontext_core.messages import Message, Part, ToolCall

if TYPE_CHECKING:
    from modelcontext_core.formats.building.builder import Builder

__all__ = ["CallDraft", "Draft", "Mark", "RawText", "Turn"]

Mark = tuple[str, ...]


class RawText:
    """The source text of a JSON value, known once the builder has settled it."""

    __slots__ = ("node", "text")

    def __init__(self, node: Node) -> None:
        self.node: Node | None = node
        self.text = ""

    def settle(self, text: str) -> None:
        """Take the text and let the document go."""
        # A document that was made up (repaired) has no text of its own at the place.
        value = self.node.value if self.node is not None else None
        self.text = text or json.dumps(value, ensure_ascii=False)
        self.node = None


class CallDraft:
    """A call before linking."""

    __slots__ = ("arguments", "id", "made", "name", "place")

    def __init__(self, id: str, name: str, arguments: str | RawText, place: str) -> None:  # noqa: A002
        self.id = id
        self.name = name
        self.arguments = arguments
        self.place = place
        self.made = False


class Draft:
    """A message before linking. `role` is `tool` for results only."""

    __slots__ = ("call_id", "calls", "made_id", "name", "reasoning", "role", "signature", "texts", "turn")

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.role = turn.role
        self.name = turn.name
        self.call_id = turn.call_id
        self.made_id = False
        # Tuples until something is put in: there may be 200,000 drafts at a time.
        self.reasoning: Sequence[tuple[str, str]] = ()
        self.signature = ""
        self.texts: Sequence[tuple[Part | RawText, str]] = ()
        self.calls: Sequence[CallDraft] = ()

    @property
    def empty(self) -> bool:
        """True while nothing was put in."""
        return not (self.reasoning or self.signature or self.texts or self.calls)

    @property
    def where(self) -> str:
        """The place for a notice."""
        return f"{self.turn.record}: {self.turn.path}" if self.turn.record else self.turn.path

    def build(self) -> tuple[Message, Origin]:
        """The message and where it comes from."""
        parts = [_part(part) for part, _ in self.texts]
        places = [("reasoning", place) for _, place in self.reasoning]
        content = ""
        if len(parts) == 1 and parts[0].type == "text" and parts[0].data is None:
            content = parts.pop().text
            places.append(("content", self.texts[0][1]))
        else:
            places += [
                (f"parts[{index}].text" if part.text else f"parts[{index}]", self.texts[index][1])
                for index, part in enumerate(parts)
            ]
        calls = [_call(call) for call in self.calls]
        places += [(f"tool_calls[{index}].arguments", call.place) for index, call in enumerate(self.calls)]
        made = [call.id for call in self.calls if call.made] + ([self.call_id] if self.made_id else [])
        message = Message(
            role=self.role,
            content=content,
            name=self.name,
            tool_call_id=self.call_id,
            reasoning="\n\n".join(text for text, _ in self.reasoning if text),
            reasoning_signature=self.signature,
            parts=tuple(parts),
            tool_calls=tuple(calls),
        )
        origin = Origin(
            path=self.turn.path,
            record=self.turn.record,
            texts=_shared(tuple(places)),
            is_error=self.turn.is_error,
            made_ids=tuple(made),
            time=self.turn.time,
        )
        return message, origin


def _part(part: Part | RawText) -> Part:
    return Part(type="text", text=hide_opaque(part.text)[0]) if isinstance(part, RawText) else part


def _call(call: CallDraft) -> ToolCall:
    arguments = call.arguments.text if isinstance(call.arguments, RawText) else call.arguments
    return ToolCall(id=call.id, name=call.name, arguments=arguments)


def _forget(item: Any) -> None:
    """Let go of the source text that an item wanted."""
    if isinstance(item, Turn):
        item.keep([False] * len(item.marks()))
        return
    raw = item.arguments if isinstance(item, CallDraft) else item[0]
    if isinstance(raw, RawText):
        raw.node = None


def _mark(item: Any, role: str) -> Mark:
    if isinstance(item, Turn):
        return ("result", "\0".join("\0".join(mark[1:]) for mark in item.marks()))
    if isinstance(item, CallDraft):
        return ("call", item.name, _canonical(item.arguments))
    if len(item) == 3:
        return ("weak", _words(item[0]))
    part = item[0]
    if isinstance(part, RawText) or part.type == "text":
        words = _canonical(part if isinstance(part, RawText) else part.text)
        return ("result", "text\0tool\0" + words) if role == "tool" else ("text", role, words)
    if part.text:
        return ("weak", _words(part.text))
    return ("media", part.type, json.dumps(part.data, sort_keys=True, default=str))


def _words(text: str) -> str:
    return " ".join(text.split())


def _canonical(value: str | RawText) -> str:
    """JSON without the differences of writing it (order, blanks, escapes); the words of any other text."""
    if isinstance(value, RawText):
        inner: Any = value.node.value if value.node is not None else value.text
    else:
        inner = parsed(value)
        if inner is None:
            return _words(value)
    try:
        return orjson.dumps(inner, option=orjson.OPT_SORT_KEYS).decode()
    except (orjson.JSONEncodeError, RecursionError):
        pass
    try:
        return json.dumps(inner, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, TypeError, ValueError):
        return _words(value if isinstance(value, str) else value.text)


_Item = TypeVar("_Item")


def _more(items: Sequence[_Item], item: _Item) -> Sequence[_Item]:
    """`items` with one more: the first as a tuple, from the second on in a list that grows."""
    if not items:
        return (item,)
    grown = items if isinstance(items, list) else list(items)
    grown.append(item)
    return grown


@lru_cache(maxsize=4096)
def _shared(places: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The same places of other messages, if there are: most messages of a source have the same."""
    return places


class Turn:
    """One turn, told in source order. Every method takes the node that the thing stands at, for its origin."""

    __slots__ = (
        "_builder",
        "_items",
        "_marks",
        "_node",
        "call_id",
        "fallback_name",
        "is_error",
        "name",
        "path",
        "record",
        "role",
        "time",
    )

    def __init__(self, builder: Builder, role: str, node: Node, *, name: str = "", time: str = "") -> None:
        self._builder = builder
        self._node: Node | None = node
        self._items: Sequence[Any] = ()  # a list from the second on, as in a draft
        self._marks: list[Mark] | None = None
        builder.opened(self)
        self.role = role
        self.name = name
        self.time = time
        self.call_id = ""
        self.fallback_name = ""  # the name of a result whose call is not found
        self.is_error = False
        self.path = node.path
        self.record = node.document.where

    def text(self, node: Node, value: str | None = None) -> None:
        """A text: the string at `node`, or `value` where it had to be joined or unescaped. An empty one is left out.

        A text that is nothing but a base64 body becomes an opaque part.
        """
        text = node.text if value is None else value
        if is_opaque(text):
            self.media(node, "file", data=text)
        elif text:
            self._add((Part(type="text", text=text), self._place(node)))

    def json(self, node: Node) -> None:
        """A JSON value that is shown as text: its exact source text, opaque strings in it replaced by a note.

        A string is taken as it is; `null` and a missing node give nothing.
        """
        if node.is_text:
            self.text(node)
        elif node.exists and node.value is not None:
            self._add((self._builder.want_raw(node), self._place(node)))

    def reasoning(self, node: Node, value: str | None = None, *, signature: str = "") -> None:
        """A block of visible reasoning, with its signature if the provider signed it (the text may then be empty)."""
        text = node.text if value is None else value
        if text or signature:
            self._add((text, signature, self._place(node)))

    def call(self, node: Node, *, id: str = "", name: str = "", arguments: Node | str = "") -> None:  # noqa: A002
        """A call. `arguments` is the node that holds them (a string is the JSON text itself, any other value gives its
        exact source text), or a text joined from pieces."""
        if isinstance(arguments, str):
            self._add(CallDraft(id, name, arguments, self._place(node)))
        elif arguments.is_text:
            self._add(CallDraft(id, name, arguments.text, self._place(arguments)))
        elif arguments.exists and arguments.value is not None:
            self._add(CallDraft(id, name, self._builder.want_raw(arguments), self._place(arguments)))
        else:
            self._add(CallDraft(id, name, "", self._place(node)))

    def result(self, node: Node, *, call_id: str = "", name: str = "", is_error: bool = False) -> Turn:
        """A tool's result inside this turn: tell the turn that is given back its texts and media."""
        made = Turn(self._builder, "tool", node, name=name, time=self.time)
        made.call_id = call_id
        made.is_error = is_error
        self._add(made)
        return made

    def media(
        self, node: Node, kind: str, *, url: str = "", data: str = "", media_type: str = "", **about: str
    ) -> None:
        """An image, sound, video or file: its kind, media type, address or length; a body is never kept.

        `url` may be a `data:` URI. `about` holds further short facts (`name`, `file_id`); empty ones are left out.
        """
        facts: dict[str, str | int] = {}
        if url:
            body = data_uri(url)
            if body is None:
                facts["url"] = url
            else:
                media_type, facts["length"] = media_type or body[0], body[1]
        if data:
            body = data_uri(data)
            media_type, facts["length"] = (media_type or body[0], body[1]) if body else (media_type, len(data))
        if media_type:
            facts = {"media_type": media_type, **facts}
        if kind == "file" and media_type:
            kind = kind_of_media(media_type)
        facts.update((key, value) for key, value in about.items() if value)
        self._add((Part(type=kind, data=facts), self._place(node)))

    def opaque(self, node: Node, kind: str) -> None:
        """Something encrypted: only what it is and how long."""
        self._add((Part(type=kind, data={"length": len(node.text)}), self._place(node)))

    def aside(self, node: Node, kind: str, text: str, **about: str | int | float | None) -> None:
        """A readable text that is no text of the message (`citation`, `error`): kept with its kind, not rewritten."""
        facts = {key: value for key, value in about.items() if value not in (None, "")}
        self._add((Part(type=kind, text=text, data=facts or None), self._place(node)))

    def unknown(self, node: Node, what: str) -> None:
        """A part that the reader has no rule for: kept as JSON text, with a notice."""
        self._builder.notice("unknown", node, f"{what}: kept as JSON text")
        self.json(node)

    def _add(self, item: Any) -> None:
        self._items = _more(self._items, item)

    def marks(self) -> list[Mark]:
        """What each item of this turn says, comparable between sources that write the same turn differently.

        Parallel to the items in order: `("text", role, words)`, `("call", name, arguments)`, `("result", words)`,
        `("media", kind, facts)`, and `("weak", words)` for reasoning, citations and errors, which histories omit.
        """
        if self._marks is None or len(self._marks) != len(self._items):
            self._marks = [_mark(item, self.role) for item in self._items]
        return self._marks

    def call_ids(self) -> list[str]:
        """For each item: the id of a call or of the call that a result answers, else `""`."""
        role_id = self.call_id if self.role == "tool" else ""
        return [
            item.id if isinstance(item, CallDraft) else item.call_id if isinstance(item, Turn) else role_id
            for item in self._items
        ]

    def keep(self, wanted: Sequence[bool]) -> None:
        """Forget the items that are not wanted: they are repetitions of what another turn says."""
        for item, stays in zip(self._items, wanted, strict=True):
            if not stays:
                _forget(item)
        self._items = [item for item, stays in zip(self._items, wanted, strict=True) if stays]
        self._marks = None

    def release(self) -> None:
        """Let go of the document: what is told from now on has absolute places."""
        self._node = None

    def drafts(self) -> list[Draft]:
        """The messages of this turn, by the rules above. A turn without anything is one empty message."""
        made: list[Draft] = []
        draft = Draft(self)
        for item in self._items:
            if isinstance(item, Turn):
                if not draft.empty:
                    made.append(draft)
                made += item.drafts()
                draft = Draft(self)
            elif isinstance(item, CallDraft):
                draft.calls = _more(draft.calls, item)
            elif len(item) == 3:
                text, signature, place = item
                if draft.signature or (signature and draft.reasoning):
                    made.append(draft)
                    draft = Draft(self)
                draft.reasoning = _more(draft.reasoning, (text, place))
                draft.signature = signature
            else:
                draft.texts = _more(draft.texts, item)
        if not draft.empty or not made:
            made.append(draft)
        return made

    def _place(self, node: Node) -> str:
        """Where something stands, relative to this turn if it stands inside it."""
        if self._node is not None and node.document is self._node.document:
            steps = node.steps_from(self._node)
            if steps is not None:
                return show_path(steps)
        return f"{node.path}" if not node.document.where else f"$({node.document.where}){node.path[1:]}"
