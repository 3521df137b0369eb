"""AutoGen: the messages of its core, the events of agentchat, and saved states of agents and teams.

Several agents speak: who does stands in `source`, which becomes the message's name. Only the source `user` is a user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_CORE: Final = frozenset({"SystemMessage", "UserMessage", "AssistantMessage", "FunctionExecutionResultMessage"})
_AGENTCHAT: Final = frozenset(
    {
        "TextMessage",
        "MultiModalMessage",
        "StopMessage",
        "HandoffMessage",
        "ToolCallSummaryMessage",
        "StructuredMessage",
        "ToolCallRequestEvent",
        "ToolCallExecutionEvent",
        "ThoughtEvent",
        "MemoryQueryEvent",
        "ModelClientStreamingChunkEvent",
        "UserInputRequestedEvent",
        "SelectSpeakerEvent",
        "SelectorEvent",
        "CodeGenerationEvent",
        "CodeExecutionEvent",
    }
)
_READ_KEYS: Final = frozenset(
    {
        "type",
        "source",
        "content",
        "thought",
        "id",
        "created_at",
        "models_usage",
        "metadata",
        "target",
        "full_message_id",
    }
)
_STATES: Final = frozenset({"agent_states", "agent_state", "llm_context", "message_thread", "team_state"})
_LOOKED_AT: Final = 20_000


def detect(sample: Sample) -> bool:
    """Messages with `source` and a type in PascalCase: bare, in a list, in a result, or in a saved state."""
    return sample.container != "text" and any(_is_known(node) for node in sample.nodes[:3])


def _is_known(node: Node) -> bool:
    """A message, a list of them, or a state that is worth a search for them."""
    for candidate in (node, node.get("messages"), node.at("task_result", "messages")):
        elements = [*zip(range(5), candidate, strict=False)] if candidate.is_list else [(0, candidate)]
        if any(_is_message(_message_of(element)) for _, element in elements):
            return True
    return node.has_any(_STATES) and next(_threads(node), None) is not None


def _is_message(node: Node) -> bool:
    kind = node.get("type").text
    return kind in _CORE | _AGENTCHAT and (node.has("source") or kind in _CORE) and node.has("content")


def _threads(root: Node) -> Iterator[Node]:
    """The lists of messages in a record (or the message that it is), the nearest to the root first."""
    queue = [root]
    for node in queue:  # grows while it is walked
        elements = list(node)[:5] or [node]
        if any(_is_message(_message_of(element)) for element in elements):
            yield node
        elif len(queue) < _LOOKED_AT:
            queue += [member.unpacked() for _, member in node.members()]
            queue += [element for element in node if element.is_list or element.is_object]


def _message_of(node: Node) -> Node:
    """A state may wrap each message of its thread."""
    return node.get("message") if node.get("message").is_object and not node.has("source") else node


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """A conversation for each thread of messages; messages that are a record each are one conversation."""
    shared: _Told | None = None
    for node in nodes:
        threads = list(_threads(node))
        if not threads:
            builder.notice("unknown", node, "a record without messages is skipped")
        elif threads[0] is node and node.is_object:
            shared = shared or _Told(builder.conversation())
            shared.tell(node)
        else:
            if len(threads) > 1:
                text = "every agent's context is a conversation of its own: what several agents saw stands in each"
                builder.notice("fallback", node, text)
            for thread in threads:
                told = _Told(builder.conversation(title=_owner(thread)))
                for message in thread:
                    told.tell(_message_of(message))
                told.finish(thread.parent.get("stop_reason") if thread.parent is not None else None)
            builder.rest(
                node, {"messages", "agent_states", "llm_context", "message_thread", "message_buffer", "stop_reason"}
            )
    if shared is not None:
        shared.finish()


def _owner(thread: Node) -> str:
    """The agent whose state holds the thread."""
    node: Node | None = thread
    while node is not None:
        if node.parent is not None and node.parent.key == "agent_states":
            return str(node.key)
        node = node.parent
    return ""


class _Told:
    """One conversation and what was told of it last."""

    def __init__(self, conversation: ConversationBuilder) -> None:
        self.conversation = conversation
        self.builder = conversation.builder
        self.results: list[str] = []
        self.streamed: dict[str, tuple[Node, list[str]]] = {}
        self.last: Turn | None = None

    def tell(self, node: Node) -> None:
        """Tell one message or event."""
        kind, source, content = node.get("type").text, node.get("source").text, node.get("content")
        time = node.get("created_at").label
        if kind == "ModelClientStreamingChunkEvent":
            self.builder.chunk("text", content.text, name=source)
            self.streamed.setdefault(source, (node, []))[1].append(content.text)
            return
        if source in self.streamed and kind not in _CORE:
            self.streamed.pop(source)
            self.builder.notice("merged", node, "streamed pieces and the message that repeats them are told once")
        if kind in ("ToolCallExecutionEvent", "FunctionExecutionResultMessage") or content.at(0).has("call_id"):
            self._tell_results(content, time)
        elif kind == "ToolCallSummaryMessage" and content.text and content.text == "\n".join(self.results):
            self.builder.notice("merged", node, "a summary that repeats the results of its calls is told once")
        else:
            role = {"SystemMessage": "system", "UserMessage": "user", "AssistantMessage": "assistant"}.get(kind, "")
            role = role or ("user" if source.lower() in ("user", "user_proxy") else "assistant")
            turn = self.conversation.turn(role, node, name=source, time=time)
            self.last = turn
            turn.reasoning(node.get("thought"))
            if kind == "ThoughtEvent":
                turn.reasoning(content)
            else:
                _tell_content(turn, content)
            if node.get("target").text:
                turn.aside(node.get("target"), "handoff", node.get("target").text)
        self.builder.unread(node, _READ_KEYS)

    def _tell_results(self, content: Node, time: str) -> None:
        self.results = []
        for result in content:
            call_id, name = result.get("call_id").label, result.get("name").text
            failed = result.get("is_error").value is True
            turn = self.conversation.result(result, call_id=call_id, name=name, is_error=failed, time=time)
            turn.json(result.get("content"))
            self.last = turn
            self.results.append(result.get("content").text)

    def finish(self, stop_reason: Node | None = None) -> None:
        """Tell what was streamed and never repeated as a message, and why the team stopped."""
        for source, (node, pieces) in self.streamed.items():
            self.builder.notice("damaged", node, "a stream without its last message: its pieces are joined")
            self.last = self.conversation.turn("assistant", node, name=source)
            self.last.text(node.get("content"), "".join(pieces))
        if self.last is not None and stop_reason is not None and stop_reason.text:
            self.last.aside(stop_reason, "stop_reason", stop_reason.text)


def _tell_content(turn: Turn, content: Node) -> None:
    """Tell a text, a list of calls, or a list of texts and pictures; anything else as JSON."""
    if not content.is_list:
        turn.json(content)
        return
    for item in content:
        if item.is_text:
            turn.text(item)
        elif item.has("name", "arguments"):
            name = item.get("name").text
            turn.call(item, id=item.get("id").label, name=name, arguments=item.get("arguments"))
        elif item.get("data").is_text or item.get("url").is_text:
            turn.media(item, "image", data=item.get("data").text, url=item.get("url").text)
        else:
            turn.json(item)


READER = Reader(
    name="autogen",
    title="AutoGen messages",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"agent_states", "llm_context", "models_usage"}),
)
