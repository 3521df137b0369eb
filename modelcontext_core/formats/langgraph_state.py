"""What the states, updates and streamed messages of a graph say, each thing once."""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.building.histories import Histories
from modelcontext_core.formats.building.known_texts import KnownTexts
from modelcontext_core.formats.building.streaming import StreamLog
from modelcontext_core.formats.building.turns import Mark, Turn
from modelcontext_core.formats.langchain_forms import fields_of, is_chunk, is_message, message_id, tell_message
from modelcontext_core.formats.langchain_stream import ChunkJoiner, streamed_message
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.tracing.payloads import looks_like_messages, tell_payload

__all__ = ["GraphStory"]

_OWN: Final = ("__pregel", "branch:", "__start__", "__error__", "__no_writes__", "__resume__", "join:", "start:")


class GraphStory:
    """Collects a graph's run."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.histories = Histories(builder)
        self.known = KnownTexts()
        self.log = StreamLog(builder)
        self._chunks = builder.scratch()
        self._joiner = ChunkJoiner(builder, self._chunks)
        self._growing: dict[str, Node] = {}
        self._beside: list[Turn] = []
        self._asked: set[tuple[Mark, ...]] = set()  # what interrupts and errors said
        self._waits = False

    def state(self, values: Node, group: str) -> None:
        """A whole state: its messages go on with a conversation, its other channels are told where they say more."""
        self._tell(values, group, where=values)

    def update(self, update: Node, group: str) -> None:
        """What one node gave: the same channels, but only new messages."""
        self._tell(update, group, where=None)

    def _tell(self, values: Node, group: str, *, where: Node | None) -> None:
        if values.is_list and (looks_like_messages(values) or is_message(values.at(0))):
            self._add(values, group, where)
            return
        rest: list[tuple[str, Node]] = []
        for name, value in values.members():
            if name == "messages" or looks_like_messages(value) or is_message(value):
                self._add(value, group, where)
            else:
                rest.append((name, value))
        for name, value in rest:
            self.channel(name, value, group)

    def _add(self, messages: Node, group: str, where: Node | None) -> None:
        scratch = self.builder.scratch()
        tell_payload(scratch, messages, "user")
        turns = scratch.take()
        if turns:
            self.known.add(turns)
            self.histories.add(turns, group, where=where)

    def channel(self, name: str, value: Node, group: str) -> None:
        """Another channel of the state, or a write that waits: what it says and nobody said yet."""
        if name == "__interrupt__":
            self.interrupt(value)
        elif name.startswith(_OWN) or not value:
            return
        elif name == "messages" or looks_like_messages(value) or is_message(value):
            self._add(value, group, None)
        else:
            scratch = self.builder.scratch()
            turn = scratch.turn("state", value, name=name)
            for part in value if value.is_list else [value]:
                turn.json(part)
            self._tell_new(turn)

    def _tell_new(self, turn: Turn) -> None:
        turn.keep([not self.known.knows(mark, prose=True) for mark in turn.marks()])
        if turn.marks():
            self.known.add([turn])
            self._beside.append(turn)

    def _tell_once(self, turn: Turn) -> None:
        """What waits for a human or failed is told however short it is, but not again with every state."""
        marks = tuple(turn.marks())
        turn.keep([marks not in self._asked] * len(marks))
        if turn.marks():
            self._asked.add(marks)
            self.known.add([turn])
            self._beside.append(turn)

    def task(self, payload: Node) -> None:
        """The end of a node: its writes, or its error. The start repeats the state."""
        for write in payload.get("result"):
            self.channel(write.at(0).text, write.at(1), "")
        for name, value in payload.get("result").members():
            self.channel(name, value, "")
        for interrupt in payload.get("interrupts"):
            self.interrupt(interrupt)
        if payload.get("error"):
            self.failure(payload)

    def prompts(self, settings: Node) -> None:
        """Prompts among the settings. The rest holds request headers: they are left out and never shown."""
        for name, value in settings.members():
            if value.is_text and "prompt" in name.lower():
                turn = self.builder.scratch().turn("config", value, name=name)
                turn.text(value)
                self._tell_new(turn)

    def interrupt(self, node: Node) -> None:
        """The graph waits for a human."""
        for one in node if node.is_list else [node]:
            turn = self.builder.scratch().turn("interrupt", one)
            turn.json(one.get("value") if one.get("value") else one)
            self._tell_once(turn)
        if not self._waits:
            self.builder.notice("fallback", node, "the graph waits for a human here")
        self._waits = True

    def failure(self, node: Node) -> None:
        """An error of a node or of the run."""
        error = node.get("error") if node.get("error") else node
        turn = self.builder.scratch().turn("error", error)
        turn.is_error = True
        turn.json(error.get("message") if error.get("message").is_text else error)
        if error.is_text:  # the platform writes the kind of error, and beside it what happened
            turn.text(node.get("message"))
        self._tell_once(turn)
        self.builder.notice("error", node, "the run records an error")

    # -- streamed messages ---------------------------------------------------------------------------------------

    def messages(self, node: Node, *, growing: bool) -> None:
        """Messages of a stream: chunks, or (`growing`) the whole message so far again and again."""
        streamed = streamed_message(node)
        found = [streamed] if streamed is not None else list(node) if node.is_list else [node]
        for message in found:
            if not is_message(message):
                if message:
                    self.builder.notice("unknown", message, "a streamed record that is no message is skipped")
            elif growing:
                self._grow(message)
            else:
                self._joiner.add(message)

    def _grow(self, message: Node) -> None:
        key = message_id(message) or message.where
        before = self._growing.get(key)
        text = fields_of(message).get("content").text
        known = fields_of(before).get("content").text if before is not None else ""
        if is_chunk(message) or before is not None:
            if text.startswith(known) and len(text) > len(known):
                self.log.add("text", text[len(known) :], message)
        elif text:
            self.log.add("text", text, message)
        self._log_arguments(before, message)
        self._growing[key] = message

    def _log_arguments(self, before: Node | None, message: Node) -> None:
        for index, block in enumerate(fields_of(message).get("content")):
            text = block.get("partial_json").text
            known = fields_of(before).get("content").at(index).get("partial_json").text if before is not None else ""
            if text.startswith(known) and len(text) > len(known):
                self.log.add("arguments", text[len(known) :], message, index=index + 1, name=block.get("name").text)

    def finish(self) -> None:
        """Streamed messages that no state holds are told now."""
        for message in self._growing.values():
            tell_message(self._chunks, message)
        self._joiner.finish()
        self.log.tell()
        turns = [turn for turn in self._chunks.take() if not self._repeats(turn)]
        if turns and self.histories.threads:
            inside = self.builder.conversation(title="messages of nodes that the state does not keep")
            for turn in turns:
                inside.put(turn)
        elif turns:
            self.histories.add(turns)
        if self._beside:
            beside = self.builder.conversation(title="beside the messages")
            for turn in self._beside:
                beside.put(turn)

    def _repeats(self, turn: Turn) -> bool:
        marks = [mark for mark in turn.marks() if mark[0] != "weak"]
        if self.histories.threads and marks and all(self.known.knows(mark) for mark in marks):
            turn.keep([False] * len(turn.marks()))
            return True
        return not turn.marks()
