"""Sessions of Gemini CLI: one document, or lines with a header, messages and patches.

A tool call holds its result. A message that grows is written again under its id; of the lines that follow each other
the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.gemini_parts import tell_part
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_SPEAKERS: Final = {"user": "user", "gemini": "assistant", "model": "assistant"}
_ASIDES: Final = frozenset({"info", "error", "warning"})
_READ_KEYS: Final = frozenset({"messages", "sessionId", "kind"})
_MESSAGE_KEYS: Final = frozenset(
    {"id", "timestamp", "type", "content", "displayContent", "parts", "model", "tokens", "thoughts", "toolCalls"}
)


def detect(sample: Sample) -> bool:
    """A session with a project hash, or lines that begin with the header of one."""
    return sample.container != "text" and any(_is_header(node) for node in sample.nodes[:3])


def _is_header(node: Node) -> bool:
    if not node.get("sessionId").is_text:
        return False
    return node.has("projectHash") or any(message.get("type").text == "gemini" for message in node.get("messages"))


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a session."""
    session: _Session | None = None
    for node in nodes:
        if _is_header(node):
            if session is not None:
                session.finish()
            session = _Session(builder, node)
        session = session or _Session(builder, node)
        session.record(node)
    if session is not None:
        session.finish()


class _Session:
    """One conversation, and the message that may still be written again."""

    def __init__(self, builder: Builder, header: Node) -> None:
        self.builder = builder
        self.conversation: ConversationBuilder = builder.conversation(id=header.get("sessionId").label)
        self.pending: Node | None = None
        self.told: set[str] = set()

    def record(self, node: Node) -> None:
        """Take a line, or a whole session."""
        patch = node.get("$set")
        if node.get("messages").is_list or _is_header(node):
            for message in node.get("messages"):
                self._message(message)
            self.builder.rest(node, _READ_KEYS)
        elif patch.is_object:
            if patch.get("messages").is_list:
                self.builder.notice("merged", patch, "a patch writes all messages again: only new ones are told")
            for message in patch.get("messages"):
                if message.get("id").label not in self.told:
                    self._message(message)
            self.builder.rest(patch, {"messages"})
        elif node.has("$rewindTo"):
            self.builder.notice("skipped", node, "the session went back here: what was taken back is still shown")
        elif node.get("type").is_text:
            self._message(node)
        else:
            self.builder.notice("unknown", node, "a line that is no message is skipped")

    def _message(self, message: Node) -> None:
        """Let a message wait: the next line may be the same one, grown."""
        identity = message.get("id").label
        if self.pending is not None and identity and self.pending.get("id").label == identity:
            self.builder.notice("merged", message, "a message that was written again replaces its earlier form")
        else:
            self.finish()
            if identity and identity in self.told:
                self.builder.notice("merged", message, "a message with a known id is told once")
                return
        self.pending = message
        self.told.add(identity)

    def finish(self) -> None:
        """Tell the message that waits."""
        message, self.pending = self.pending, None
        if message is None:
            return
        kind, time = message.get("type").text, message.get("timestamp").label
        content = message.get("content")
        if kind in _ASIDES:
            turn = self.conversation.turn("system", message, time=time)
            turn.is_error = kind == "error"
            turn.aside(content, kind, content.text)
            return
        turn = self.conversation.turn(_SPEAKERS.get(kind, kind), message, time=time)
        for thought in message.get("thoughts"):
            turn.reasoning(thought.get("subject"))
            turn.reasoning(thought.get("description"))
        for part in [*message.get("parts"), *content]:
            tell_part(turn, part)
        if not content.is_list:
            turn.json(content)
        for call in message.get("toolCalls"):
            _tell_call(turn, call)
        for call in message.get("toolCalls"):
            _tell_result(turn, call, self.builder)
        self.builder.meta("model", message.get("model"))
        self.builder.unread(message, _MESSAGE_KEYS)


def _tell_call(turn: Turn, call: Node) -> None:
    turn.call(call, id=call.get("id").label, name=call.get("name").text, arguments=call.get("args"))


def _tell_result(turn: Turn, call: Node, builder: Builder) -> None:
    """Tell the result inside a call. What was displayed repeats it, unless the model got nothing."""
    result, shown = call.get("result"), call.get("resultDisplay")
    if not result and not shown:
        return
    failed = call.get("status").text in ("error", "cancelled")
    told = turn.result(call, call_id=call.get("id").label, name=call.get("name").text, is_error=failed)
    if not result:
        told.json(shown)
        return
    for part in result if result.is_list else [result]:
        answer = part.get("functionResponse")
        if answer.is_object:
            told.json(answer.get("response"))
        else:
            tell_part(told, part)
    if shown:
        builder.notice("merged", shown, "what the screen showed of a result is left out")


READER = Reader(
    name="gemini_cli",
    title="Gemini CLI session",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"projectHash", "toolCalls", "resultDisplay"}),
)
