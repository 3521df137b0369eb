"""Session events of Anthropic's managed agents: bare, or as a log of API calls `[name, payload]`.

An event that the client sends comes back in the stream with an id: it is told once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.anthropic_messages import tell_content
from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_TYPES: Final = ("user.", "agent.", "session.", "span.", "system.")
_RESULT_IDS: Final = ("tool_use_id", "mcp_tool_use_id", "custom_tool_use_id")


def detect(sample: Sample) -> bool:
    """Events with a dotted type of this API, or calls of its client that hold such events."""
    return sample.container != "text" and any(
        _is_event(event) or (node.is_list and node.at(0).text.startswith("client.beta."))
        for node in sample.nodes[:5]
        for event in [node, *_events(node)][:5]
    )


def _is_event(node: Node) -> bool:
    kind = node.get("type").text
    return kind.startswith(_TYPES) and node.has_any(frozenset({"processed_at", "content", "session_thread_id"}))


def _events(node: Node) -> list[Node]:
    """The events in a record: itself, the payload of a call, or the list that a call sends."""
    if node.is_object:
        return [*node.get("events", "data")] if node.get("events", "data").is_list else [node]
    found = []
    for payload in list(node)[1:]:
        for part in payload if payload.is_list else [payload]:
            if part.is_object:
                found += _events(part)
    return found


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation."""
    log = _Log(builder)
    for node in nodes:
        for event in _events(node):
            log.tell(event)


class _Log:
    """The conversation, and what the client sent that has not come back yet."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.conversation: ConversationBuilder = builder.conversation()
        self.sent: Counter[int] = Counter()
        self.ids: set[str] = set()

    def tell(self, event: Node) -> None:
        """Tell one event."""
        kind, identity = event.get("type").text, event.get("id").label
        if event.get("agent").is_object:
            self._agent(event.get("agent"))
            self.builder.rest(event, {"agent"}, prefix="session.")
        elif identity and identity in self.ids:
            self.builder.notice("merged", event, "an event that was listed before is told once")
        elif kind.startswith("user.") and self._came_back(event, identity):
            self.builder.notice("merged", event, "an event that the client sent came back: it is told once")
        else:
            self._event(event, kind)
        self.ids.add(identity)
        self.ids.discard("")

    def _came_back(self, event: Node, identity: str) -> bool:
        """Was this sent by the client before? What is sent has no id yet."""
        keys = ("type", "content", *_RESULT_IDS, "result", "deny_message")
        mark = hash(json.dumps([event.get(key).value for key in keys if event.has(key)], sort_keys=True))
        if not identity:
            self.sent[mark] += 1
            return False
        if not self.sent[mark]:
            return False
        self.sent[mark] -= 1
        return True

    def _agent(self, agent: Node) -> None:
        system = agent.get("system")
        if system.text:
            self.conversation.turn("system", system).text(system)
        for tool in agent.get("tools"):
            name = tool.get("name", "mcp_server_name", "type").text
            self.conversation.tool(name, tool.get("description").text, tool.get("input_schema"))
        self.builder.rest(agent, {"system", "tools"}, prefix="agent.")

    def _event(self, event: Node, kind: str) -> None:
        time = event.get("processed_at").label
        if kind in ("user.message", "agent.message", "system.message"):
            role = {"user": "user", "agent": "assistant", "system": "system"}[kind.split(".")[0]]
            tell_content(self.conversation.turn(role, event, time=time), event.get("content"))
        elif kind.endswith("tool_use"):
            turn = self.conversation.turn("assistant", event, time=time)
            turn.call(event, id=event.get("id").label, name=event.get("name").text, arguments=event.get("input"))
        elif kind.endswith("tool_result"):
            failed = event.get("is_error").value is True
            call_id = event.get(*_RESULT_IDS).label
            result = self.conversation.result(event, call_id=call_id, is_error=failed, time=time)
            tell_content(result, event.get("content"))
        elif kind == "agent.thinking" and event.get("thinking", "content").exists:
            turn = self.conversation.turn("assistant", event, time=time)
            turn.reasoning(event.get("thinking", "content"))
        elif kind == "user.tool_confirmation":
            turn = self.conversation.turn("user", event, time=time)
            answer, about = event.get("result").text, event.get("tool_use_id").label
            turn.aside(event.get("deny_message"), "approval", event.get("deny_message").text, answer=answer, call=about)
        elif event.get("error").is_object:
            error = event.get("error")
            turn = self.conversation.turn("assistant", event, time=time)
            turn.is_error = True
            turn.aside(error.get("message"), "error", error.get("message").text, type=error.get("type").text)
        else:
            self.builder.notice("skipped", event, "an event about the session that says nothing")


READER = Reader(
    name="managed_agent_events",
    title="Anthropic managed agent events",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"processed_at", "session_thread_id", "mcp_tool_use_id", "evaluated_permission"}),
)
