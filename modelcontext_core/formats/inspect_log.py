"""Inspect logs (`.json`, and the members of `.eval` zips): samples with their final messages, and the events of what
happened, which also hold conversations that are not in the messages (graders, sub-agents).

Long values are replaced by `attachment://<hash>` (formerly `tc://<hash>`): they are put back where they stood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.histories import Histories
from modelcontext_core.formats.building.known_texts import KnownTexts
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.parts import tell_part
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_REFERENCE = re.compile(r"(?:attachment|tc)://([0-9a-f]{16,64})")
_SAMPLE_KEYS: Final = ("id", "epoch", "input", "target")
_KNOWN_MESSAGE: Final = frozenset(
    {
        "id",
        "role",
        "content",
        "source",
        "model",
        "tool_calls",
        "tool_call_id",
        "function",
        "error",
        "metadata",
        "internal",
    }
)


def detect(sample: Sample) -> bool:
    """A log, its header, a sample, or one of the small files beside the samples."""
    return sample.container in ("json", "array", "lines") and _known(sample.first)


def _known(node: Node) -> bool:
    first = node.at(0) if node.is_list else node
    log = node.get("eval").is_object and node.has_any(frozenset({"plan", "samples", "stats", "status"}))
    return log or first.has(*_SAMPLE_KEYS) or (first.has("scorer", "samples") and node.is_list)


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a sample, and one for each further agent or grader in its events."""
    for node in nodes:
        if node.is_list:
            for element in node:
                if element.get("messages").is_list:
                    _Sample(element, builder).tell()
            if not node.at(0).has("messages"):
                builder.notice(
                    "skipped", node, "a summary of samples that stand in files of their own is not told again"
                )
        elif node.has(*_SAMPLE_KEYS) and not node.has("samples"):
            if node.has("messages") or node.has("events"):
                _Sample(node, builder).tell()
            else:
                builder.notice("skipped", node, "a summary of a sample is not told again")
        else:
            _tell_log(node, builder)


def _tell_log(node: Node, builder: Builder) -> None:
    for sample in node.get("samples"):
        _Sample(sample, builder).tell()
    builder.rest(node, {"eval", "plan", "results", "stats", "samples", "reductions", "log_updates"})
    builder.rest(
        node.get("eval"), {"dataset", "revision", "packages", "scorers", "config", "task_attribs"}, prefix="eval."
    )
    error = node.get("error")
    if error:
        conversation = builder.conversation(title="the run")
        turn = conversation.turn("assistant", error)
        turn.is_error = True
        turn.aside(error, "error", error.get("traceback", "message").text)
        builder.notice("error", error, "the run ended with an error")
    if not node.get("samples"):
        builder.notice(
            "skipped", node, "a header without samples: they stand in files of their own, or nothing was run"
        )


class _Sample:
    """One sample."""

    def __init__(self, node: Node, builder: Builder) -> None:
        self.node = node
        self.builder = builder
        self.histories = Histories(builder)
        self.known = KnownTexts()
        transcript = node.get("transcript")
        self.events = node.get("events") if node.get("events").is_list else transcript.get("events")
        self.attachments = node.get("attachments") if node.get("attachments") else transcript.get("content")
        self.pool = node.get("message_pool") if node.has("message_pool") else node.get("events_data").get("messages")
        self.title = f"sample {node.get('id').label}, epoch {node.get('epoch').label}"

    def tell(self) -> None:
        """The final messages, then what only the events hold, then texts of scores."""
        scratch = self.builder.scratch()
        for message in self.node.get("messages"):
            self._message(scratch, message)
        if not scratch.turns:
            self._input(scratch, self.node.get("input"))
        self._add(scratch.take(), self.title)
        for event in self._events():
            if event.get("event").text == "model":
                self._model(event)
            elif event.get("event").text == "tool":
                self._tool(event)
        for event in self._events():
            if event.get("event").text in ("error", "info", "score", "input"):
                self._others(event)
        self._scores()

    def _events(self) -> Iterator[Node]:
        """All events, those inside of tool events and sub-tasks too."""
        stack = list(self.events)[::-1]
        while stack:
            event = stack.pop()
            yield event
            stack += list(event.get("events"))[::-1]

    def _add(self, turns: list[Turn], title: str) -> None:
        if turns:
            self.known.add(turns)
            self.histories.add(turns, title=title)

    def _input(self, scratch: ConversationBuilder, node: Node) -> None:
        if node.is_list:
            for message in node:
                self._message(scratch, message)
        elif node:
            self._text(scratch.turn("user", node), node)

    def _model(self, event: Node) -> None:
        scratch = self.builder.scratch()
        for message in self._messages_of(event):
            self._message(scratch, message)
        for choice in event.get("output").get("choices"):
            self._message(scratch, choice.get("message"))
        for tool in event.get("tools"):
            scratch.tool(tool.get("name").text, tool.get("description").text, tool.get("parameters"))
        turns = scratch.take()
        if turns:
            self.known.add(turns)
            thread = self.histories.add(
                turns, title=f"{self.title}: {event.get('role').text or 'another conversation'}"
            )
            thread.conversation.adopt_tools(scratch)

    def _messages_of(self, event: Node) -> Iterator[Node]:
        """The input, or the ranges of the pool that stand for it."""
        refs = event.get("input_refs")
        if not refs.is_list or event.get("input"):
            yield from event.get("input")
            return
        for pair in refs:
            first, last = pair.at(0).value, pair.at(1).value
            if isinstance(first, int) and isinstance(last, int):
                for index in range(max(first, 0), min(last, first + 100_000)):
                    message = self.pool.at(index)
                    if not message.exists:
                        break
                    yield message

    def _tool(self, event: Node) -> None:
        """A tool's run that no history tells."""
        scratch = self.builder.scratch()
        call_id, name = event.get("id").label, event.get("function").text
        call = scratch.turn("assistant", event)
        call.call(event, id=call_id, name=name, arguments=event.get("arguments"))
        result = scratch.result(event, call_id=call_id, name=name, is_error=bool(event.get("error")))
        self._content(result, event.get("result"))
        scratch.take()
        if all(self.known.knows(mark) for mark in [*call.marks(), *result.marks()]):
            return
        for thread in self.histories.groups(""):
            if call_id in thread.answered:
                return
            found = thread.turn_of_call(call.marks()[:1], call_id, by_name=False)
            if found is not None:
                thread.take(result)
                return

    def _others(self, event: Node) -> None:
        for body in (event.get("error"), event.get("data"), event.get("score").get("explanation"), event.get("input")):
            self._leftover(body, event.get("event").text)

    def _scores(self) -> None:
        error = self.node.get("error")
        if error:
            self._leftover(error.get("traceback", "message"), "error")
            self.builder.notice("error", error, "the sample ended with an error")
        self._leftover(self.node.get("target"), "target")
        for name, score in self.node.get("scores").members():
            for key in ("answer", "explanation", "metadata"):
                self._leftover(score.get(key), f"score {name}")
        self._leftover(self.node.get("metadata"), "metadata")
        self._leftover(self.node.get("store"), "store")
        self._leftover(self.node.get("setup"), "setup")

    def _leftover(self, body: Node, name: str) -> None:
        """A text beside the messages that was not told: shown as a conversation of its own."""
        body = self._resolved(body)
        scratch = self.builder.scratch()
        if not body:
            return
        turn = scratch.turn("log", body, name=name)
        turn.json(body)
        turn.keep([not self.known.knows(mark, prose=True) for mark in turn.marks()])
        if turn.marks():
            scratch.take()
            self.known.add([turn])
            self.histories.side(self.title).put(turn)

    # -- messages ------------------------------------------------------------------------------------------------

    def _message(self, conversation: ConversationBuilder, node: Node) -> None:
        role, error = node.get("role").text, node.get("error")
        if role == "tool":
            call_id, name = node.get("tool_call_id").label, node.get("function").text
            turn = conversation.result(node, call_id=call_id, name=name, is_error=bool(error))
        else:
            turn = conversation.turn(role, node)
        self._content(turn, node.get("content"))
        for call in node.get("tool_calls"):
            turn.call(call, id=call.get("id").label, name=call.get("function").label, arguments=call.get("arguments"))
            if call.get("parse_error").text:
                turn.aside(call.get("parse_error"), "error", call.get("parse_error").text)
        if error.get("message").text:
            turn.aside(error.get("message"), "error", error.get("message").text, type=error.get("type").text)
        conversation.builder.unread(node, _KNOWN_MESSAGE)

    def _content(self, turn: Turn, content: Node) -> None:
        content = self._resolved(content)
        if not content.is_list:
            self._text(turn, content)
            return
        for part in content:
            kind = part.get("type").text
            if kind == "text":
                self._text(turn, part.get("text"))
            elif kind == "reasoning":
                self._reasoning(turn, part)
            elif kind == "tool_use":
                self._server_tool(turn, part)
            elif kind in ("image", "audio", "video", "document", "data"):
                self._media(turn, part, kind)
            else:
                tell_part(turn, part)

    def _reasoning(self, turn: Turn, part: Node) -> None:
        if part.get("redacted").value is True:
            turn.reasoning(self._resolved(part.get("summary")))
            turn.opaque(self._resolved(part.get("reasoning")), "redacted_reasoning")
        else:
            turn.reasoning(self._resolved(part.get("reasoning")), signature=part.get("signature").text)

    def _server_tool(self, turn: Turn, part: Node) -> None:
        call_id, name = part.get("id").label, part.get("name").text
        turn.call(part, id=call_id, name=name, arguments=part.get("arguments"))
        result = turn.result(part, call_id=call_id, name=name, is_error=bool(part.get("error")))
        self._text(result, self._resolved(part.get("result")))
        result.text(part.get("error"))

    def _media(self, turn: Turn, part: Node, kind: str) -> None:
        body = self._resolved(part.get(kind))
        if kind == "data" or not body.is_text:
            turn.json(body)
            return
        media_type = part.get("mime_type").text
        if body.text.startswith(("data:", "http://", "https://")):
            turn.media(part, kind, url=body.text, media_type=media_type, name=part.get("filename").text)
        else:
            turn.media(part, kind, data=body.text, media_type=media_type, name=part.get("filename").text)

    def _text(self, turn: Turn, node: Node) -> None:
        """A text, with references inside it put back."""
        node = self._resolved(node)
        if not node.is_text or "://" not in node.text:
            turn.json(node)
            return

        def whole(match: re.Match[str]) -> str:
            return self.attachments.get(match.group(1)).text or match.group()

        turn.text(node, _REFERENCE.sub(whole, node.text))

    def _resolved(self, node: Node) -> Node:
        """The attachment that a reference stands for, else the node itself."""
        match = _REFERENCE.fullmatch(node.text) if len(node.text) < 100 else None
        found = self.attachments.get(match.group(1)) if match else node
        return found.unpacked() if match and found.exists else node


READER = Reader(
    name="inspect_log",
    title="Inspect log",
    detect=detect,
    read=read,
    keys=frozenset({"eval", "plan", "samples", "epoch", "attachments", "model_usage"}),
)
