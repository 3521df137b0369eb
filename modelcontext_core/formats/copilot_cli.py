"""Event logs of Copilot CLI: typed events with `data`.

A message names the calls that it makes, which the start of each execution repeats. Calls that run inside another call
are a subagent's: a conversation with a parent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.trees import Subagents
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_TYPES: Final = ("session.", "user.message", "assistant.", "tool.execution_", "system.", "subagent.", "hook.")
_META: Final = ("sessionId", "copilotVersion", "selectedModel", "currentModel", "newModel")
_TEXTS: Final = ("message", "content", "reason", "agentDescription", "summary", "stack")


def detect(sample: Sample) -> bool:
    """Events with a dotted type of this log, `data`, and an id."""
    return sample.container != "text" and any(_is_event(node) for node in sample.nodes[:10])


def _is_event(node: Node) -> bool:
    dotted = node.get("type").text.startswith(_TYPES)
    return dotted and node.get("data").is_object and node.has("id", "timestamp")


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """The main conversation, and one for each subagent."""
    log = _Log(builder)
    for node in nodes:
        log.tell(node)


class _Log:
    """The conversations and the calls made so far."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.agents = Subagents(builder)
        self.main = self.agents.main
        self.calls: set[str] = set()
        self.reasoning: set[int] = set()

    def tell(self, event: Node) -> None:
        """Tell one event."""
        kind, data, time = event.get("type").text, event.get("data"), event.get("timestamp").label
        conversation = self.agents.conversation(data.get("parentToolCallId").label)
        for key in _META:
            self.builder.meta(key, data.get(key))
        if kind == "user.message":
            turn = conversation.turn("user", event, time=time)
            turn.text(data.get("content"))
            sent = data.get("transformedContent")
            if sent.text and sent.text.strip() != data.get("content").text.strip():
                turn.aside(sent, "sent_to_model", sent.text)
            for file in data.get("attachments"):
                turn.media(file, "file", url=file.get("path").text, name=file.get("displayName").text)
        elif kind == "system.message":
            conversation.turn(data.get("role").text or "system", event, time=time).text(data.get("content"))
        elif kind == "assistant.message":
            self._assistant(conversation, event, data, time)
        elif kind == "assistant.reasoning":
            if hash(data.get("content").text) not in self.reasoning:
                self.reasoning.add(hash(data.get("content").text))
                conversation.turn("assistant", event, time=time).reasoning(data.get("content"))
        elif kind == "tool.execution_start":
            self._start(conversation, event, data, time)
        elif kind == "tool.execution_complete":
            self._complete(conversation, event, data, time)
        else:
            self._beside(conversation, event, kind, time)

    def _assistant(self, conversation: ConversationBuilder, event: Node, data: Node, time: str) -> None:
        turn = conversation.turn("assistant", event, time=time)
        text = data.get("reasoningText")
        if text.text and hash(text.text) not in self.reasoning:
            self.reasoning.add(hash(text.text))
            turn.reasoning(text)
        for key in ("reasoningOpaque", "encryptedContent"):
            if data.get(key).text:
                turn.opaque(data.get(key), key)
        turn.text(data.get("content"))
        for call in data.get("toolRequests"):
            call_id = call.get("toolCallId").label
            self.calls.add(call_id)
            turn.call(call, id=call_id, name=call.get("name").text, arguments=call.get("arguments"))

    def _start(self, conversation: ConversationBuilder, event: Node, data: Node, time: str) -> None:
        call_id = data.get("toolCallId").label
        if call_id in self.calls:
            self.builder.notice("merged", event, "the start of a call that a message made already")
            return
        self.calls.add(call_id)
        turn = conversation.turn("assistant", event, time=time)
        turn.call(event, id=call_id, name=data.get("toolName").text, arguments=data.get("arguments"))

    def _complete(self, conversation: ConversationBuilder, event: Node, data: Node, time: str) -> None:
        failed = data.get("success").value is False
        call_id, name = data.get("toolCallId").label, data.get("toolName").text
        turn = conversation.result(event, call_id=call_id, name=name, is_error=failed, time=time)
        result, error = data.get("result"), data.get("error")
        content = result.get("content", "textResultForLlm") if result.is_object else result
        turn.json(content)
        turn.json(error if not error.get("message").is_text else error.get("message"))
        detailed = result.get("detailedContent")
        if detailed.text and detailed.text != content.text:
            self.builder.notice("merged", detailed, "what the screen showed of a result is left out")

    def _beside(self, conversation: ConversationBuilder, event: Node, kind: str, time: str) -> None:
        """Tell what a session reports: errors, notes, notifications."""
        data = event.get("data")
        texts = [data.get(key) for key in _TEXTS if len(data.get(key).text.split(None, 2)) > 1]
        if kind.startswith("hook.") or not texts:
            self.builder.notice("skipped", event, "an event without a text for the model")
            return
        turn = conversation.turn("system", event, time=time)
        turn.is_error = kind.endswith("error")
        for text in texts:
            turn.aside(text, kind, text.text)


READER = Reader(
    name="copilot_cli",
    title="Copilot CLI events",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"toolRequests", "copilotVersion", "transformedContent", "interactionId"}),
)
