"""Sessions of Google's Agent Development Kit: events of an author, whose content has Gemini's parts.

Keys are in snake case or camel case. A partial event of a stream is repeated by the whole one that follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.gemini_parts import tell_grounding, tell_part
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_SIGNS: Final = frozenset({"invocation_id", "invocationId", "actions", "long_running_tool_ids", "longRunningToolIds"})
_SESSION_KEYS: Final = frozenset({"app_name", "appName"})
_READ_KEYS: Final = frozenset({"id", "events", "app_name", "appName"})
_EVENT_KEYS: Final = frozenset(
    {
        "author",
        "content",
        "id",
        "timestamp",
        "invocation_id",
        "invocationId",
        "branch",
        "partial",
        "turn_complete",
        "turnComplete",
        "finish_reason",
        "finishReason",
        "usage_metadata",
        "usageMetadata",
        "error_code",
        "errorCode",
        "error_message",
        "errorMessage",
        "long_running_tool_ids",
        "longRunningToolIds",
        "actions",
        "grounding_metadata",
        "groundingMetadata",
        "model_version",
        "modelVersion",
    }
)


def detect(sample: Sample) -> bool:
    """A session with `events` that have an author and parts, or such events as records."""
    return sample.container != "text" and any(_events(node) or _is_event(node) for node in sample.nodes[:3])


def _is_event(node: Node) -> bool:
    has_parts = node.get("content").get("parts").is_list
    return node.get("author").is_text and node.has_any(_SIGNS) and (has_parts or not node.get("content"))


def _events(node: Node) -> bool:
    if not node.get("events").is_list:
        return False
    events = list(node.get("events"))[:5]
    of_session = node.has_any(_SESSION_KEYS) and any(
        event.get("author").is_text and event.get("content").get("parts").is_list for event in events
    )
    return of_session or any(_is_event(event) for event in events)


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a session; events that are a record each are one conversation."""
    shared: _Session | None = None
    for node in nodes:
        if _events(node):
            title = node.get("app_name", "appName").text
            session = _Session(builder.conversation(id=node.get("id").label, title=title))
            for event in node.get("events"):
                session.tell(event)
            session.finish()
            builder.rest(node, _READ_KEYS)
        elif _is_event(node):
            shared = shared or _Session(builder.conversation())
            shared.tell(node)
        else:
            builder.notice("unknown", node, "a record that is neither session nor event is skipped")
    if shared is not None:
        shared.finish()


class _Session:
    """One conversation, and the pieces of a stream that no whole event has repeated yet."""

    def __init__(self, conversation: ConversationBuilder) -> None:
        self.conversation = conversation
        self.builder = conversation.builder
        self.pieces: list[tuple[Node, str, bool]] = []
        self.streaming = ""

    def tell(self, event: Node) -> None:
        """Tell one event."""
        author, parts = event.get("author").text, event.at("content", "parts")
        if event.get("partial").value is True:
            self.streaming = author
            for part in parts:
                thought = part.get("thought").value is True
                self.builder.chunk("reasoning" if thought else "text", part.get("text").text, name=author)
                self.pieces.append((part, part.get("text").text, thought))
            return
        if self.pieces and parts:
            self.builder.notice("merged", event, "partial events and the whole one that repeats them are told once")
            self.pieces = []
        role = "user" if author == "user" else "assistant"
        message = event.get("error_message", "errorMessage")
        if parts or message.text:
            turn = self.conversation.turn(role, event, name=author, time=event.get("timestamp").label)
            for part in parts:
                tell_part(turn, part)
            tell_grounding(turn, event)
            if message.text:
                turn.is_error = True
                code = event.get("error_code", "errorCode").label
                turn.aside(message, "error", message.text, code=code)
        else:
            self.builder.notice("skipped", event, "an event without content")
        actions = event.get("actions")
        target = actions.get("transfer_to_agent", "transferToAgent")
        if target.text:
            self.builder.notice("skipped", target, "a transfer to another agent: who speaks next shows it")
        changed = actions.get("state_delta", "stateDelta")
        if changed:
            self.builder.notice("skipped", changed, "a change of the session's state is not read")
        self.builder.unread(event, _EVENT_KEYS)

    def finish(self) -> None:
        """Tell a stream that was cut."""
        if self.pieces:
            node = self.pieces[0][0]
            self.builder.notice("damaged", node, "a stream without its whole event: its pieces are joined")
            turn = self.conversation.turn("assistant", node, name=self.streaming)
            turn.reasoning(node, "".join(text for _, text, thought in self.pieces if thought))
            turn.text(node, "".join(text for _, text, thought in self.pieces if not thought))


READER = Reader(
    name="adk_session",
    title="Google ADK session",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"invocation_id", "invocationId", "long_running_tool_ids", "app_name", "appName"}),
)
