"""Session logs of Codex: the present form `{timestamp, type, payload}`, and the old one of bare items.

The items of the Responses API are the conversation. Events repeat them for the screen and are told only where no item
says the same; so is the history that a compaction keeps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.codex_events import EventTeller
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample
from modelcontext_core.formats.responses_items import ItemTeller, is_item, tell_item_tools

__all__ = ["READER"]

_RECORDS: Final = frozenset(
    {
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
        "world_state",
        "inter_agent_communication_metadata",
    }
)
_SETTINGS: Final = frozenset({"turn_context", "world_state", "inter_agent_communication_metadata"})
_AHEAD: Final = 12  # lines
_META: Final = ("id", "cwd", "cli_version", "originator", "model_provider", "model", "approval_policy", "effort")


def detect(sample: Sample) -> bool:
    """Records with a payload and a type of this log, or the old log: bare items after a header, with state lines."""
    if sample.container == "text":
        return False
    nodes = sample.nodes
    if any(node.get("type").text in _RECORDS and node.get("payload").is_object for node in nodes[:10]):
        return True
    if any(node.has("record_type") and is_item(other) for node in nodes[:20] for other in nodes[:5]):
        return True
    header = nodes[0]
    is_header = header.has("id", "timestamp") and header.has_any(frozenset({"instructions", "git"}))
    return is_header and not header.has("type") and any(is_item(node) for node in nodes[1:5])


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation, also when a session was resumed or forked into the same file."""
    log = _Log(builder)
    for node in nodes:
        log.take(node)
    log.finish()


class _Log:
    """The conversation and what was told of it."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.conversation: ConversationBuilder = builder.conversation()
        self.items = ItemTeller(self.conversation)
        self.events = EventTeller(self.conversation, self.items)
        self.sessions = 0
        self._ahead: deque[Node] = deque()  # an event that may be repeated by an item, and the lines behind it

    def take(self, node: Node) -> None:
        """Take one line. An event that says something new is told when some lines behind it have not said the same."""
        kind, payload = node.get("type").text, node.get("payload")
        if kind == "response_item":
            self.events.expect(payload)
        elif kind and not payload.is_object:
            self.events.expect(node)
        self._ahead.append(node)
        while self._ahead and (len(self._ahead) > _AHEAD or not self._may_be_repeated(self._ahead[0])):
            self._tell(self._ahead.popleft())

    def finish(self) -> None:
        """The log has ended."""
        while self._ahead:
            self._tell(self._ahead.popleft())

    def _may_be_repeated(self, node: Node) -> bool:
        return node.get("type").text == "event_msg" and self.events.says_something_new(node.get("payload"))

    def _tell(self, node: Node) -> None:
        kind, payload = node.get("type").text, node.get("payload")
        time = node.get("timestamp").label
        if kind == "response_item":
            self._item(payload, time)
        elif kind == "event_msg":
            self.events.tell(payload, time)
        elif kind == "session_meta":
            self._session(payload)
        elif kind == "compacted":
            self._compacted(payload, time)
        elif kind in _SETTINGS:
            for key in _META:
                self.builder.meta(key, payload.get(key))
            self.builder.notice("skipped", node, "settings of a turn: what the model got of them stands in the items")
        elif node.has("record_type"):
            self.builder.notice("skipped", node, "a line of the log's own state")
        elif kind and not payload.is_object:
            self._item(node, time)
        elif node.has("id", "timestamp") and not kind:
            self._session(node)
        else:
            self.builder.notice("unknown", node, "a line of an unknown type is skipped")

    def _item(self, item: Node, time: str) -> None:
        kind = item.get("type").text
        if kind == "ghost_snapshot":
            self.builder.notice("skipped", item, "a snapshot of the working tree")
        elif self.events.was_told(item):
            self.builder.notice("merged", item, "an item that an event told already is told once")
        elif kind == "agent_message":
            self.items.close()
            turn = self.conversation.turn("user", item, name=item.get("author").text, time=time)
            for part in item.get("content"):
                turn.text(part.get("text"))
                if part.get("encrypted_content").text:
                    turn.opaque(part.get("encrypted_content"), "encrypted_content")
        else:
            self.items.tell(item, time=time)
        self.events.note_item(item)

    def _session(self, payload: Node) -> None:
        self.sessions += 1
        if self.sessions == 2:
            text = "the log holds several sessions (resumed or forked): they are one conversation"
            self.builder.notice("merged", payload, text)
        for key in _META:
            self.builder.meta(key, payload.get(key))
        if not self.conversation.id:
            self.conversation.id = payload.get("id").label
        base = payload.get("base_instructions", "instructions")
        instructions = base if base.is_text else base.get("text")
        if self.events.is_new(instructions.text):
            self.items.close()
            self.conversation.turn("system", payload, time=payload.get("timestamp").label).text(instructions)
        tools = payload.get("dynamic_tools")
        tell_item_tools(self.conversation, tools if tools.is_list else tools.get("tools"))

    def _compacted(self, payload: Node, time: str) -> None:
        self.builder.notice("merged", payload, "the history was compacted here: only what is new in it is told")
        message = payload.get("message")
        if self.events.is_new(message.text):
            self.items.close()
            self.conversation.turn("user", payload, name="compact_summary", time=time).text(message)
        for item in payload.get("replacement_history"):
            parts = [part.get("text").text for part in item.get("content")]
            if item.get("type").text != "message" or not any(self.events.is_new(text, note=False) for text in parts):
                continue
            self._item(item, time)


READER = Reader(
    name="codex_jsonl",
    title="Codex session",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"record_type", "replacement_history", "cli_version", "base_instructions"}),
)
