"""LangChain messages: lists in any of their three forms, streamed chunks, `astream_events`, and pasted text."""

from __future__ import annotations

from collections.abc import Iterable

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.langchain_forms import is_chunk, is_message, tell_message
from modelcontext_core.formats.langchain_stream import ChunkJoiner, EventLog, is_event, streamed_message
from modelcontext_core.formats.langchain_text import ReprError, document_of, looks_pasted, message_values, tell_pretty
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_tools
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]


def detect(sample: Sample) -> bool:
    """Messages in one of the forms (alone, in lists, or under `messages`), streamed pairs, events, pasted text."""
    if sample.container == "text":
        return looks_pasted(sample.head.decode("utf-8", "replace"))
    return any(_known(node) for node in sample.nodes[:3])


def _known(node: Node) -> bool:
    if node.is_list:
        first, second = node.at(0), node.at(1)
        own = is_message(first) or (is_message(second) and first.is_object)
        return own or streamed_message(node) is not None or streamed_message(first) is not None
    messages = node.get("messages", "input", "output")
    return is_event(node) or is_message(node) or is_message(messages.at(0)) or is_message(messages.at(1))


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a list; records that are a message or a piece of one belong to one conversation."""
    joiner: ChunkJoiner | None = None
    events: EventLog | None = None
    for node in nodes:
        if not node.exists:
            _read_text(node, builder)
            continue
        if is_event(node):
            events = events or EventLog(builder)
            events.add(node)
            continue
        loose = _loose(node)
        if not loose:
            _read_list(node, builder)
            continue
        joiner = joiner or ChunkJoiner(builder, builder.conversation())
        for message in loose:
            joiner.add(message)
    if joiner is not None:
        joiner.finish()
    if events is not None:
        events.log.tell()


def _loose(node: Node) -> list[Node]:
    """The messages of a record that is no list of messages by itself: one message, or pieces of a stream."""
    streamed = streamed_message(node)
    if streamed is not None:
        return [streamed]
    if is_message(node):
        return [node]
    if node.is_list and (streamed_message(node.at(0)) is not None or is_chunk(node.at(0))):
        pieces = [(streamed_message(element), element) for element in node]
        return [streamed if streamed is not None else element for streamed, element in pieces]
    return []


def _read_list(node: Node, builder: Builder) -> None:
    """A list of messages, or an object that holds one."""
    conversation = builder.conversation()
    messages = node if node.is_list else node.get("messages", "input", "output")
    for message in messages:
        if is_message(message):
            tell_message(conversation, message)
        elif message:
            conversation.turn(message.get("role").text or "unknown", message).unknown(message, "an element of the list")
    if node.is_object:
        tell_tools(conversation, node)
        builder.rest(node, {"messages", "tools", "functions", messages.key})
    if not len(list(messages)):
        builder.notice("unknown", node, "a record without messages is skipped")


def _read_text(node: Node, builder: Builder) -> None:
    """Text that `pretty_print` or `repr` wrote."""
    text = node.document.text
    conversation = builder.conversation()
    if tell_pretty(conversation, node, text):
        return
    try:
        values, broken = message_values(text)
    except ReprError as error:
        builder.notice("limit", node, f"{error}: shown as it is")
        values, broken = [], 0
    if broken and values:
        builder.notice("damaged", node, "a message in the printed text is broken and is left out")
    for message in document_of(values, node):
        tell_message(conversation, message)
    if values:
        builder.notice("fallback", node, "messages are read from the text that Python prints for them")
    else:
        conversation.turn("user", node).text(node, text)


READER = Reader(
    name="langchain_messages",
    title="LangChain messages",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"additional_kwargs", "response_metadata", "lc", "kwargs", "invalid_tool_calls", "usage_metadata"}),
)
