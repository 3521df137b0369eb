"""LangChain while it runs: streamed message chunks, and the log of `astream_events`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.histories import Histories, Thread
from modelcontext_core.formats.building.streaming import StreamedTurn, StreamLog
from modelcontext_core.formats.langchain_forms import (
    CALL_BLOCKS,
    fields_of,
    is_chunk,
    is_message,
    message_id,
    tell_message,
)
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.parts import tell_part

__all__ = ["ChunkJoiner", "EventLog", "is_event", "messages_in", "streamed_message"]

_EVENTS: Final = (
    "on_chat_model",
    "on_llm",
    "on_tool",
    "on_chain",
    "on_retriever",
    "on_prompt",
    "on_parser",
    "on_custom",
)


def is_event(node: Node) -> bool:
    """True for a line of `astream_events`."""
    return node.get("event").text.startswith(_EVENTS) and node.has("data")


def streamed_message(node: Node) -> Node | None:
    """The message of `[message, metadata]`, `[namespace, [message, metadata]]` or with a mode between; else `None`."""
    if not node.is_list:
        return None
    last = node.at(-1)
    if last.is_list and is_message(last.at(0)) and last.at(1).is_object and not is_message(last.at(1)):
        return last.at(0)
    if len(node.value) == 2 and is_message(node.at(0)) and last.is_object and not is_message(last):
        return node.at(0)
    return None


def messages_in(node: Node) -> Iterator[Node]:
    """The messages in a state, an update, a list (of lists), or a single message."""
    stack = [(node, 0)]
    while stack:
        current, depth = stack.pop()
        if is_message(current):
            yield current
        elif current.is_list and depth < 4:
            stack += [(element, depth + 1) for element in reversed(list(current))]
        elif current.is_object and depth < 4:
            inner = current.get("messages", "generations", "message", "output")
            if inner:
                stack.append((inner, depth + 1))


class ChunkJoiner:
    """Chunks of messages, joined by the message's id. Whole messages are told at their place."""

    def __init__(self, builder: Builder, conversation: ConversationBuilder) -> None:
        self.log = StreamLog(builder)
        self.builder = builder
        self.conversation = conversation
        self._order: list[tuple[StreamedTurn | None, Node, str]] = []
        self._open: dict[str, StreamedTurn] = {}
        self._places: dict[str, ConversationBuilder] = {}
        self._last_index: dict[str, int] = {}

    def add(self, node: Node) -> None:
        """A chunk, or a whole message."""
        if not is_chunk(node):
            self.tell()
            tell_message(self.conversation, node)
            return
        fields, key = fields_of(node), message_id(node)
        streamed = self._open.get(key)
        if streamed is None:
            streamed = self._open[key] = StreamedTurn(self.log)
            self._order.append((streamed, node, fields.get("name").label))
        reasoning = fields.get("additional_kwargs").get("reasoning_content")
        streamed.add("reasoning", "reasoning", node, reasoning.text)
        content = fields.get("content")
        if content.is_text:
            streamed.add("text", "text", content, content.text)
        for block in content:
            self._add_block(streamed, block)
        for call in fields.get("tool_call_chunks"):
            self._add_call(streamed, call, key)

    def _add_block(self, streamed: StreamedTurn, block: Node) -> None:
        kind, number = block.get("type").text, block.get("index").label
        if block.is_text or kind in ("text", "text_delta"):
            text = block if block.is_text else block.get("text")
            streamed.add(("text", number), "text", text, text.text)
        elif kind in ("reasoning", "thinking"):
            text = block.get("reasoning", "thinking", "text")
            streamed.add(("reasoning", number), "reasoning", text, text.text)
            made = streamed.get(("reasoning", number))
            if made is not None and block.get("signature").text:
                made.signature.append(block.get("signature").text)
        elif kind not in CALL_BLOCKS and block:
            streamed.whole(block, lambda turn: tell_part(turn, block))

    def _add_call(self, streamed: StreamedTurn, call: Node, key: str) -> None:
        index = call.get("index").value
        number = index if isinstance(index, int) else self._last_index.get(key, 0)
        self._last_index[key] = number
        block = streamed.block(("call", number), "arguments", call, number + 1)
        block.id = block.id or call.get("id").label
        block.name = block.name or call.get("name").label
        if call.get("args").text:
            streamed.append(block, call, call.get("args").text)

    def tell(self) -> None:
        """Tell what was joined so far."""
        for streamed, node, name in self._order:
            if streamed:
                streamed.tell(self.conversation.turn("assistant", node, name=name))
        self._order.clear()
        self._open.clear()

    def finish(self) -> None:
        """Tell the rest, and the pieces as they came."""
        self.tell()
        self.log.tell()


class EventLog:
    """The events of one or several runs. Model calls repeat the history, chains repeat their parts: told once."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.histories = Histories(builder)
        self.log = StreamLog(builder)
        self._runs: dict[str, tuple[Thread, int]] = {}

    def add(self, node: Node) -> None:
        """One event."""
        event, data = node.get("event").text, node.get("data")
        parents = node.get("parent_ids")
        group = parents.at(0).text or node.get("run_id").text
        run = node.get("run_id").text
        if event in ("on_chat_model_start", "on_llm_start"):
            self._tell(data.get("input"), node, group, run)
        elif event in ("on_chat_model_end", "on_llm_end"):
            self._tell(data.get("output"), node, group, run)
        elif event in ("on_chat_model_stream", "on_llm_stream"):
            self._piece(data.get("chunk"), node)
        elif event == "on_tool_end":
            self._tool(node, data.get("output"), group)
        elif event in ("on_tool_error", "on_chain_error", "on_chat_model_error", "on_llm_error"):
            self._error(node, data, group)
        elif event in ("on_chain_start", "on_chain_end") and not parents:
            for key in ("input", "output"):
                self._tell(data.get(key), node, group, "")

    def _tell(self, body: Node, node: Node, group: str, run: str) -> None:
        scratch = self.builder.scratch()
        for message in messages_in(body):
            tell_message(scratch, message)
        turns = scratch.take()
        if turns and run in self._runs:
            thread, since = self._runs[run]
            self.histories.answer(thread, turns, since)
        elif turns:
            thread = self.histories.add(turns, group, title=node.get("name").text, where=node)
            if run:
                self._runs[run] = thread, len(thread.said)

    def _piece(self, chunk: Node, node: Node) -> None:
        fields = fields_of(chunk)
        content = fields.get("content")
        for text in [content] if content.is_text else [part.get("text") for part in content]:
            if text.text:
                self.log.add("text", text.text, node)
        for call in fields.get("tool_call_chunks"):
            if call.get("args").text:
                index = call.get("index").value
                number = index + 1 if isinstance(index, int) else 1
                self.log.add("arguments", call.get("args").text, node, index=number, name=call.get("name").label)

    def _tool(self, node: Node, output: Node, group: str) -> None:
        scratch = self.builder.scratch()
        if is_message(output):
            tell_message(scratch, output)
        else:
            scratch.result(node, name=node.get("name").text).json(output)
        self.histories.add(scratch.take(), group, where=node)

    def _error(self, node: Node, data: Node, group: str) -> None:
        error = data.get("error", "message")
        scratch = self.builder.scratch()
        tool = node.get("event").text == "on_tool_error"
        turn = scratch.result(node, name=node.get("name").text) if tool else scratch.turn("assistant", node)
        turn.is_error = True
        turn.json(error)
        self.histories.add(scratch.take(), group, where=node)
        self.builder.notice("error", node, "the log records an error")
