"""LangGraph: checkpoints and state histories, streams of a graph or of its platform, and the SQLite file of a saver.

Every state repeats all earlier messages, newest first in a history: told once. What only nodes inside the graph said,
and what other channels of the state hold (documents, plans), stands in conversations of their own. Request headers
and other settings, which the platform writes into every event, are left out; prompts among them are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.langchain_forms import is_message
from modelcontext_core.formats.langchain_stream import streamed_message
from modelcontext_core.formats.langgraph_sqlite import checkpoints_in, is_checkpoint_file
from modelcontext_core.formats.langgraph_state import GraphStory
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_MODES: Final = frozenset(
    {"values", "updates", "debug", "messages", "messages-tuple", "custom", "checkpoints", "tasks"}
)
_EVENTS: Final = _MODES | {"metadata", "messages/partial", "messages/complete", "messages/metadata", "events", "error"}


def detect(sample: Sample) -> bool:
    """Checkpoints, states, `[mode, payload]` pairs, the platform's events, or a saver's database."""
    if sample.container == "sqlite":
        return is_checkpoint_file(sample.head)
    if sample.container == "text":
        return False
    if sample.container == "sse":
        return _is_platform_stream(sample.nodes)
    return any(_known(node) for node in sample.nodes[:3])


def _is_platform_stream(nodes: Iterable[Node]) -> bool:
    names = {node.document.event.partition("|")[0] for node in nodes}
    if names & {"messages/partial", "messages/metadata", "messages-tuple", "messages/complete"}:
        return True
    with_state = names & {"values", "updates", "debug", "checkpoints", "tasks"}
    return bool(with_state) and names <= _EVENTS | {"", "end", "feedback"}


def _known(node: Node) -> bool:
    if node.is_list:
        first = node.at(0)
        return _mode_of(node) is not None or _mode_of(first) is not None or _is_state(first)
    protocol = node.get("type").text == "event" and node.get("method").text in _EVENTS and node.has("params")
    return _is_state(node) or protocol


def _is_state(node: Node) -> bool:
    if node.get("checkpoint").has("channel_values") or node.has("channel_values", "channel_versions"):
        return True
    snapshot = node.has("values", "next") and node.has_any(frozenset({"config", "metadata", "checkpoint", "tasks"}))
    return snapshot or _is_debug(node)


def _is_debug(node: Node) -> bool:
    return node.get("type").text in ("checkpoint", "task", "task_result") and node.has("payload", "step")


def _mode_of(node: Node) -> tuple[str, Node] | None:
    """Mode and payload of one element of a stream (a namespace may stand before them); `None` for anything else."""
    size = len(node.value) if node.is_list else 0
    if size == 2 and node.at(0).text in _MODES:
        return node.at(0).text, node.at(1)
    if size == 3 and node.at(0).is_list and node.at(1).text in _MODES:
        return node.at(1).text, node.at(2)
    return None


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a thread; all records of a stream belong together."""
    story = GraphStory(builder)
    for node in nodes:
        if not node.exists:
            for group, state, writes in checkpoints_in(node, builder):
                if writes:
                    story.update(state, group)
                else:
                    story.state(state, group)
        elif node.document.event:
            _tell_event(story, node.document.event.partition("|")[0], node)
        else:
            for record in _records(node):
                _tell_record(story, record)
    story.finish()


def _records(node: Node) -> Iterator[Node]:
    """The elements of a history or of a stored stream, or the record itself."""
    if node.is_list and _mode_of(node) is None and streamed_message(node) is None and not is_message(node.at(0)):
        yield from node
    else:
        yield node


def _tell_record(story: GraphStory, node: Node) -> None:
    found = _mode_of(node)
    if found is not None:
        _tell_event(story, *found)
    elif node.get("type").text == "event" and node.has("params"):
        _tell_event(story, node.get("method").text, node.get("params").get("data"))
    elif node.get("checkpoint").has("channel_values") or node.has("channel_values"):
        _tell_checkpoint(story, node)
    elif node.has("values") or _is_debug(node):
        _tell_event(story, "debug" if _is_debug(node) else "snapshot", node)
    elif streamed_message(node) is not None or is_message(node):
        _tell_event(story, "messages", node)
    elif node.is_list and len(node.value) == 2 and node.at(0).is_list:
        _tell_event(story, "updates", node.at(1))
    elif node.is_object and all(member.is_object or not member for _, member in node.members()):
        _tell_event(story, "updates", node)
    elif node:
        story.builder.notice("unknown", node, "a record that is no state and no event of a graph is skipped")


def _tell_checkpoint(story: GraphStory, node: Node) -> None:
    checkpoint = node.get("checkpoint") if node.get("checkpoint").is_object else node
    settings = node.get("config").get("configurable")
    group = settings.get("thread_id").label
    story.state(checkpoint.get("channel_values"), group)
    for write in node.get("pending_writes"):
        story.channel(write.at(1).text, write.at(2), group)
    for _, update in node.get("metadata").get("writes").members():
        story.update(update, group)
    story.builder.meta("thread_id", settings.get("thread_id"))
    story.builder.meta("checkpoint_id", checkpoint.get("id"))
    story.builder.meta("step", node.get("metadata").get("step"))


def _tell_event(story: GraphStory, mode: str, node: Node) -> None:
    """One event of a stream, by the mode it was asked for. Sub-graphs are told apart by what they say."""
    if mode in _HANDLERS:
        _HANDLERS[mode](story, node)
    elif mode.startswith("messages"):
        story.messages(node, growing=mode not in ("messages", "messages-tuple"))
    elif mode not in ("end", "feedback"):
        story.builder.notice("unknown", node, "an event of an unknown kind is skipped")


def _tell_values(story: GraphStory, node: Node) -> None:
    story.state(node, "")
    _tell_interrupts(story, node)


def _tell_snapshot(story: GraphStory, node: Node) -> None:
    settings = node.get("config").get("configurable")
    story.state(node.get("values"), settings.get("thread_id").label)
    story.prompts(settings)
    _tell_interrupts(story, node)


def _tell_updates(story: GraphStory, node: Node) -> None:
    for name, update in node.members():
        if name == "__interrupt__":
            story.interrupt(update)
        else:
            for one in update if update.is_list else [update]:
                story.update(one, "")


def _tell_prompts(story: GraphStory, node: Node) -> None:
    for _, about in node.members():
        story.prompts(about.get("metadata"))


def _tell_metadata(story: GraphStory, node: Node) -> None:
    story.builder.meta("run_id", node.get("run_id"))


def _tell_custom(story: GraphStory, node: Node) -> None:
    story.channel("custom", node, "")


def _tell_interrupts(story: GraphStory, node: Node) -> None:
    for task in node.get("tasks"):
        for interrupt in task.get("interrupts"):
            story.interrupt(interrupt)
    if node.get("__interrupt__"):
        story.interrupt(node.get("__interrupt__"))


def _tell_debug(story: GraphStory, node: Node) -> None:
    payload, kind = node.get("payload"), node.get("type").text
    if kind == "checkpoint":
        story.state(payload.get("values"), "")
        story.prompts(payload.get("config").get("configurable"))
        _tell_interrupts(story, payload)
    elif kind in ("task", "task_result"):
        story.task(payload)
    else:
        story.builder.notice("unknown", node, "an event of an unknown kind is skipped")


_HANDLERS: Final[dict[str, Callable[[GraphStory, Node], None]]] = {
    "values": _tell_values,
    "snapshot": _tell_snapshot,
    "checkpoints": _tell_snapshot,
    "updates": _tell_updates,
    "debug": _tell_debug,
    "tasks": GraphStory.task,
    "messages/metadata": _tell_prompts,
    "metadata": _tell_metadata,
    "error": GraphStory.failure,
    "custom": _tell_custom,
}

READER = Reader(
    name="langgraph_checkpoint",
    title="LangGraph checkpoints and streams",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"channel_values", "channel_versions", "versions_seen", "checkpoint_ns", "pending_writes"}),
)
