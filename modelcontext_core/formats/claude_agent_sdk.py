"""What the Claude Agent SDK and `claude --output-format stream-json` exchange: messages, results, control requests.

Lines, or a recording `{messages: [{direction, message}]}`. Messages with a `parent_tool_use_id` are a subagent's. The
final `result` repeats the last answer. Pieces of a stream are chunks of the message that follows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.anthropic_messages import tell_content
from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.building.trees import Subagents
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_CONTROL: Final = frozenset({"control_request", "control_response", "control_cancel_request", "keep_alive"})
_TYPES: Final = frozenset({"user", "assistant", "system", "result", "stream_event"})
_META: Final = ("session_id", "model", "cwd", "permissionMode", "claude_code_version", "num_turns", "total_cost_usd")
_DELTAS: Final = {"text_delta": ("text", "text"), "thinking_delta": ("reasoning", "thinking")}


def detect(sample: Sample) -> bool:
    """Messages with a session id of the SDK, bare or with the direction in which they went."""
    if sample.container == "text":
        return False
    return any(_is_message(_inner(node)) for node in [*sample.nodes[:5], *list(sample.first.get("messages"))[:5]])


def _inner(node: Node) -> Node:
    return node.get("message") if node.has("direction") else node


def _is_message(node: Node) -> bool:
    kind = node.get("type").text
    if kind in ("control_request", "control_response"):
        return node.get("request").is_object or node.get("response").is_object
    if kind not in _TYPES or not node.has("session_id") or node.has("parentUuid"):
        return False
    return node.has("parent_tool_use_id") or (kind in ("system", "result") and node.has("subtype"))


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """The main conversation, and one for each subagent."""
    recording = _Recording(builder)
    for node in nodes:
        for line in node.get("messages") if node.get("messages").is_list else [node]:
            recording.tell(_inner(line))
        if node.get("messages").is_list:
            builder.rest(node, {"messages"})


class _Recording:
    """The conversations and their last messages."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.agents = Subagents(builder)
        self.main = self.agents.main
        self.turns: dict[str, Turn] = {}  # by the id of an assistant message
        self.told: set[int] = set()  # hashes of the texts of answers

    def tell(self, node: Node) -> None:
        """Tell one message."""
        kind = node.get("type").text
        for key in _META:
            self.builder.meta(key, node.get(key))
        if kind in ("user", "assistant"):
            self._message(node, kind)
        elif kind == "result":
            self._result(node)
        elif kind == "stream_event":
            delta = node.at("event", "delta")
            channel, key = _DELTAS.get(delta.get("type").text, ("arguments", "partial_json"))
            if delta.get(key).text:
                index = node.at("event", "index").value
                number = index if isinstance(index, int) else 0
                self.builder.chunk(
                    "text" if channel == "text" else "reasoning" if channel == "reasoning" else "arguments",
                    delta.get(key).text,
                    index=number,
                )
        elif kind == "system":
            self._system(node)
        elif kind in _CONTROL:
            self._control(node)
        else:
            self.builder.notice("unknown", node, "a message of an unknown type is skipped")

    def _message(self, node: Node, kind: str) -> None:
        message = node.get("message")
        identity = message.get("id").label if kind == "assistant" else ""
        turn = self.turns.get(identity) if identity else None
        if turn is None:
            conversation = self.agents.conversation(node.get("parent_tool_use_id").label)
            turn = conversation.turn(message.get("role").text or kind, node)
            if identity:
                self.turns[identity] = turn
        tell_content(turn, message.get("content") if message.is_object else message)
        self.told.update(hash(block.get("text").text) for block in message.get("content"))
        self.builder.meta("model", message.get("model"))
        if node.get("tool_use_result"):
            self.builder.notice("merged", node, "tool_use_result repeats a result for the program and is left out")

    def _result(self, node: Node) -> None:
        """The end: tells its text only if it is not the last answer again."""
        text = node.get("result")
        self.builder.rest(node, {"result", "type", "uuid", "permission_denials"}, prefix="result.")
        if text.text and hash(text.text) not in self.told:
            turn = self.main.turn("assistant", node)
            turn.is_error = node.get("is_error").value is True
            turn.aside(text, "result", text.text)
        elif text.text:
            self.builder.notice("merged", text, "the result repeats the last answer")

    def _system(self, node: Node) -> None:
        for tool in node.get("tools"):
            self.main.tool(tool.text or tool.get("name").text)
        self.builder.rest(node, {"tools", "type", "subtype", "uuid"}, prefix="init.")

    def _control(self, node: Node) -> None:
        """Control messages: what the program offers is described, hooks repeat calls and results."""
        inner = node.get("request", "response")
        texts = [
            entry.get(told)
            for key in ("commands", "agents", "models")
            for entry in inner.get("response").get(key)
            for told in ("description", "argumentHint")
        ]
        texts = [*texts, inner.get("request").get("systemPrompt"), inner.get("systemPrompt"), inner.get("error")]
        found = [text for text in texts if text.text]
        if not found:
            self.builder.notice("merged", node, "a control message that repeats a call or a result, or says nothing")
            return
        turn = self.main.turn("system", node)
        for text in found:
            name = text.parent.get("name", "value").text if text.parent is not None else ""
            turn.aside(text, "control", text.text, name=name)


READER = Reader(
    name="claude_agent_sdk",
    title="Claude Agent SDK messages",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"parent_tool_use_id", "control_request", "tool_use_result"}),
)
