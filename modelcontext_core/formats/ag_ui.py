"""Events of the AG-UI protocol, and its requests.

Reasoning, text and calls that follow each other are one turn of the agent; a result ends it. A snapshot of messages
repeats what was streamed; it is told when nothing was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.streaming import StreamedTurn, StreamLog
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_content
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_TYPES: Final = (
    "TEXT_MESSAGE_",
    "TOOL_CALL_",
    "THINKING_",
    "REASONING_",
    "RUN_",
    "STATE_",
    "STEP_",
    "MESSAGES_SNAPSHOT",
)
_REASONING: Final = ("THINKING_", "REASONING_")
_REQUEST_KEYS: Final = frozenset({"messages", "tools", "context", "threadId", "runId", "state", "forwardedProps"})


def detect(sample: Sample) -> bool:
    """Events with UPPER_CASE types of the protocol, or a request with a thread, a run and messages."""
    if sample.container == "text":
        return False
    return any(_is_event(node) or _is_request(node) for node in sample.nodes[:5])


def _is_event(node: Node) -> bool:
    kind = node.get("type").text
    return kind.startswith(_TYPES) and kind.isupper()


def _is_request(node: Node) -> bool:
    return node.has("threadId", "runId") and node.get("messages").is_list


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation of all requests and events."""
    run = _Run(builder)
    for node in nodes:
        if _is_request(node):
            run.request(node)
        else:
            run.event(node)
    run.finish()


class _Run:
    """A conversation that is streamed."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.conversation: ConversationBuilder = builder.conversation()
        self.log = StreamLog(builder)
        self.turn = StreamedTurn(self.log)
        self.first: Node | None = None
        self.role = "assistant"
        self.last_call = ""
        self.last_text = ""
        self.snapshot: Node | None = None
        self.told: set[str] = set()

    def request(self, node: Node) -> None:
        """Tell the messages of a request that are not told yet."""
        self._close()
        for message in node.get("messages"):
            self._message(message)
        for tool in node.get("tools"):
            self.conversation.tool(tool.get("name").text, tool.get("description").text, tool.get("parameters"))
        for context in node.get("context"):
            turn = self.conversation.turn("system", context)
            turn.aside(context, "context", context.get("value").text, description=context.get("description").text)
        for key in ("threadId", "runId"):
            self.builder.meta(key, node.get(key))
        self.builder.rest(node, _REQUEST_KEYS)

    def event(self, node: Node) -> None:
        """Take one event."""
        kind = node.get("type").text
        if kind.startswith(_REASONING):
            self._reasoning(node, kind)
        elif kind.startswith("TEXT_MESSAGE_"):
            self._text(node, kind)
        elif kind == "TOOL_CALL_RESULT":
            self._result(node)
        elif kind.startswith("TOOL_CALL_"):
            self._call(node, kind)
        elif kind == "MESSAGES_SNAPSHOT":
            self.snapshot = node
        elif kind == "RUN_ERROR":
            self._close()
            turn = self.conversation.turn("assistant", node)
            turn.is_error = True
            turn.aside(node.get("message"), "error", node.get("message").text, code=node.get("code").label)
        elif kind in ("RUN_STARTED", "RUN_FINISHED"):
            for key in ("threadId", "runId"):
                self.builder.meta(key, node.get(key))
            if node.get("input").is_object:
                self.request(node.get("input"))
        else:
            self.builder.notice("skipped", node, "an event about the state or the steps of a run is not read")

    def _begin(self, node: Node) -> None:
        if self.first is None:
            self.first = node

    def _reasoning(self, node: Node, kind: str) -> None:
        if node.get("delta").text:
            if any(block.channel != "reasoning" and block.whole is None for block in self.turn.blocks()):
                self._close()
            self._speaks("assistant")
            self._begin(node)
            self.turn.add(("reasoning", node.get("messageId").label), "reasoning", node, node.get("delta").text)
        elif kind.endswith("ENCRYPTED_VALUE"):
            value = node.get("encryptedValue")
            self._begin(node)
            self.turn.whole(node, lambda turn: turn.opaque(value, "encrypted_reasoning"))

    def _text(self, node: Node, kind: str) -> None:
        key = node.get("messageId").label or self.last_text
        role = node.get("role").text
        if kind.endswith("_START") or (kind.endswith("_CHUNK") and key != self.last_text):
            if any(block.channel != "reasoning" and block.whole is None for block in self.turn.blocks()):
                self._close()
            self._speaks(role or "assistant")
        self.last_text = key
        if node.get("delta").text:
            self._begin(node)
            self.turn.add(("text", key), "text", node, node.get("delta").text)
            self.told.add(key)

    def _call(self, node: Node, kind: str) -> None:
        call_id = node.get("toolCallId").label or self.last_call
        self.last_call = call_id
        self._speaks("assistant")
        self._begin(node)
        known = self.turn.get(("call", call_id))
        block = known or self.turn.block(("call", call_id), "arguments", node, len(self.turn.blocks()))
        block.id = call_id
        block.name = block.name or node.get("toolCallName").text
        if node.get("delta").text:
            self.turn.append(block, node, node.get("delta").text)
        if kind.endswith("_END"):
            block.complete = True
        self.told.add(node.get("parentMessageId").label)

    def _result(self, node: Node) -> None:
        self._close()
        self.told.add(node.get("messageId").label)
        turn = self.conversation.result(node, call_id=node.get("toolCallId").label)
        tell_content(turn, node.get("content"))

    def _speaks(self, role: str) -> None:
        """What comes now is said by `role`: a turn of somebody else ends."""
        if role != self.role:
            self._close()
            self.role = role

    def _close(self) -> None:
        """Tell the turn that was streamed, and begin another."""
        if self.turn and self.first is not None:
            self.turn.tell(self.conversation.turn(self.role, self.first), cut=True)
        self.turn = StreamedTurn(self.log)
        self.first = None
        self.role = "assistant"

    def _message(self, message: Node) -> None:
        """A whole message of a request or a snapshot, unless it was told."""
        identity = message.get("id").label
        if identity and identity in self.told:
            self.builder.notice("merged", message, "a message that is sent again is told once")
            return
        self.told.add(identity)
        role = message.get("role").text
        if role == "tool":
            error = message.get("error")
            call_id = message.get("toolCallId").label
            turn = self.conversation.result(message, call_id=call_id, is_error=bool(error.text))
            turn.text(error)
        else:
            turn = self.conversation.turn("system" if role == "activity" else role, message)
            turn.name = message.get("name").text
        if role == "reasoning":
            turn.role = "assistant"
            turn.reasoning(message.get("content"))
        else:
            tell_content(turn, message.get("content"))
        for call in message.get("toolCalls"):
            function = call.get("function")
            name = function.get("name").text
            turn.call(call, id=call.get("id").label, name=name, arguments=function.get("arguments"))

    def finish(self) -> None:
        """Tell what is open, and the last snapshot as far as it says something new."""
        self._close()
        if self.snapshot is not None:
            for message in self.snapshot.get("messages"):
                self._message(message)
        self.log.tell()


READER = Reader(
    name="ag_ui",
    title="AG-UI events",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"toolCallName", "threadId", "runId", "parentMessageId"}),
)
