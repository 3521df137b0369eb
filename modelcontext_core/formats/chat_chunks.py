"""The chunks of a streamed chat completion, joined. OpenAI, all that speak alike, and Mistral send them."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from modelcontext_core.formats.base import Channel
from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.building.streaming import Block, StreamedTurn, StreamLog, raw_text
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_chat import tell_error, tell_request
from modelcontext_core.formats.openai_messages import tell_annotation, tell_part

__all__ = ["ChatChunks"]

_CHUNK_KEYS: Final = frozenset({"choices", "usage", "error", "citations", "search_results", "obfuscation", "p"})
_MARK = re.compile(r'["\\{}\[\]]')
_REASONING_KEYS: Final = ("reasoning_content", "reasoning", "thinking")


class _Closing:
    """Has the JSON text of a call ended? Looks at each piece once, for vendors may repeat the name on every piece."""

    def __init__(self) -> None:
        self._seen = 0
        self._depth = 0
        self._begun = self._in_string = self._escaped = False

    def closed(self, pieces: list[str]) -> bool:
        """True when what was opened in `pieces` (the same list, longer each time) is closed."""
        for piece in pieces[self._seen :]:
            self._look(piece)
        self._seen = len(pieces)
        return self._begun and self._depth <= 0 and not self._in_string

    def _look(self, piece: str) -> None:
        position = 1 if self._escaped and piece else 0
        self._escaped = self._escaped and not piece
        while match := _MARK.search(piece, position):
            position = match.end()
            mark = match.group()
            if mark == '"':
                self._in_string = not self._in_string
            elif self._in_string and mark == "\\":
                self._escaped = position == len(piece)
                position += 1
            elif not self._in_string and mark in "{[":
                self._depth += 1
                self._begun = True
            elif not self._in_string and mark in "}]":
                self._depth -= 1


class _Answer:
    """One choice of one streamed answer."""

    def __init__(self, log: StreamLog, node: Node) -> None:
        self.turn = StreamedTurn(log)
        self.node = node
        self.role = ""
        self.finished = False
        self.last_call = ""
        self.audio = 0
        self.closing: dict[int, _Closing] = {}


class _Response:
    """All choices of one streamed answer."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.answers: dict[int, _Answer] = {}
        self.sources: Node | None = None

    @property
    def finished(self) -> bool:
        """True when some choice has ended, and none is open."""
        return bool(self.answers) and all(answer.finished for answer in self.answers.values())


class ChatChunks:
    """Takes chunks in order, and tells the builder what they make."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.conversation = builder.conversation()
        self.log = StreamLog(builder)
        self._responses: dict[str, _Response] = {}
        self._current: _Response | None = None
        self._number = 0
        self._usage: Node | None = None
        self._seen: set[str] = set()

    def take(self, node: Node) -> None:
        """One chunk, a request before it, or an error."""
        if node.get("messages").is_list and not node.get("choices").is_list:
            self._flush()
            tell_request(self.conversation, node)
            return
        failed = bool(node.get("error"))
        if not failed and not node.get("choices").is_list and not node.get("usage").is_object:
            if node.value not in (None, {}):
                self.builder.notice("unknown", node, "a record that is no chunk of the stream is skipped")
            return
        self._about(node)
        choices = list(node.get("choices"))
        if failed and not self._responses and not any(choice.get("delta").get("content") for choice in choices):
            choices = []  # an error from the start: there is no answer that it ends
        if choices or node.get("citations", "search_results"):
            response = self._response(node)
            for key in ("search_results", "citations"):
                if node.get(key):
                    response.sources = node.get(key)
            for choice in choices:
                self._choice(response, choice, node)
        if failed:
            self._error(node)

    def finish(self) -> None:
        """The stream has ended."""
        self._flush()
        self.log.tell()
        if self._usage is not None:
            self.builder.rest(self._usage, (), prefix="usage.")

    # -- answers -------------------------------------------------------------------------------------------------

    def _response(self, node: Node) -> _Response:
        """The answer that a chunk belongs to. Some proxies give each chunk an id of its own."""
        key, current = node.get("id").label, self._current
        if key in self._responses:
            current = self._responses[key]
        elif current is None or current.finished or (key and self._begins(node)):
            self._number += 1
            current = _Response(node)
            self._responses[key or f"\0{self._number}"] = current
        else:
            if key and current.node.get("id").label:
                self.builder.notice("merged", node, "the id changes inside a stream: the pieces are joined")
            self._responses[key or f"\0{self._number}"] = current
        self._current = current
        return current

    def _begins(self, node: Node) -> bool:
        return any(choice.get("delta").get("role").text for choice in node.get("choices")) and bool(
            self._current and self._current.node.get("id").label
        )

    def _choice(self, response: _Response, choice: Node, node: Node) -> None:
        number = choice.get("index").value
        number = number if isinstance(number, int) else 0
        answer = response.answers.get(number)
        if answer is None:
            answer = response.answers[number] = _Answer(self.log, choice)
        delta = choice.get("delta")
        if not delta.is_object and not answer.turn:
            delta = choice.get("message")
        if delta.is_object:
            _Delta(answer, delta, node, self.builder).take()
        elif choice.get("text").is_text:
            answer.turn.add("text", "text", choice.get("text"), choice.get("text").text)
        if choice.get("finish_reason").label:
            answer.finished = True
            self.builder.meta("finish_reason", choice.get("finish_reason"))
        if choice.get("error").is_object:
            self._error(choice)

    def _flush(self) -> None:
        """Tell all answers so far."""
        for response in dict.fromkeys(self._responses.values()):
            before = self.conversation.turns
            for place, (_, answer) in enumerate(sorted(response.answers.items())):
                told = self.conversation
                if place:
                    parent = self.conversation.id or "1"
                    self.conversation.id = parent
                    told = self.builder.conversation(id=f"{parent}/choice-{place + 1}", parent=parent, after=before)
                if not answer.finished:
                    text = "the stream breaks off: this answer has no finish reason"
                    self.builder.notice("damaged", answer.node, text)
                turn = told.turn(answer.role or "assistant", answer.node)
                answer.turn.tell(turn, cut=not answer.finished)
                if answer.audio:
                    turn.media(answer.node, "audio", length=f"{answer.audio:,} base64 characters")
                if not place and response.sources is not None:
                    _tell_sources(turn, response.sources)
        self._responses.clear()
        self._current = None

    def _error(self, node: Node) -> None:
        """An error that came inside a good answer: what was received before it is told first."""
        self._flush()
        tell_error(self.conversation, node)

    def _about(self, node: Node) -> None:
        """What a chunk says beside its choices, the first of each key; of the usage the last."""
        usage = node.get("usage") if node.get("usage").is_object else node.at("x_groq", "usage")
        if usage.is_object:
            self._usage = usage
        new = node.value.keys() - _CHUNK_KEYS - self._seen if node.is_object else ()
        if new:
            self.builder.rest(node, _CHUNK_KEYS | self._seen)
            self._seen.update(new)


class _Delta:
    """One delta, told to the turn that it belongs to."""

    def __init__(self, answer: _Answer, delta: Node, event: Node, builder: Builder) -> None:
        self.answer = answer
        self.turn = answer.turn
        self.delta = delta
        self.event = event
        self.builder = builder

    def take(self) -> None:
        """All that the delta holds."""
        delta = self.delta
        self.answer.role = self.answer.role or delta.get("role").text
        self._reasoning()
        self._content(delta.get("content"))
        self._piece("text", "text", delta.get("refusal"))
        for call in delta.get("tool_calls"):
            self._call(call)
        if delta.get("function_call").is_object:
            self._append(self.turn.block("call", "arguments", delta.get("function_call")), delta.get("function_call"))
        audio = delta.get("audio")
        self._piece("text", "text", audio.get("transcript"))
        self.answer.audio += len(audio.get("data").text)
        for image in delta.get("images"):
            self.turn.whole(image, partial(_tell_part, image))
        for annotation in delta.get("annotations"):
            self.turn.whole(annotation, partial(_tell_annotation, annotation))
        self._signature(delta)

    def _piece(self, key: object, channel: Channel, node: Node) -> None:
        self.turn.add(key, channel, node, node.text)

    def _reasoning(self) -> None:
        """Visible reasoning, once: vendors write it under two keys."""
        visible = self.delta.get(*_REASONING_KEYS)
        details = list(self.delta.get("reasoning_details"))
        key = ("reasoning", details[0].get("index").label if details else self._open_reasoning())
        if visible.is_text:
            self._piece(key, "reasoning", visible)
        for detail in details:
            key = ("reasoning", detail.get("index").label)
            text = detail.get("text", "summary")
            if not visible.text:
                self._piece(key, "reasoning", text)
            if detail.get("signature").text:
                self.turn.block(key, "reasoning", detail).signature.append(detail.get("signature").text)
            if detail.get("data").text:
                data = detail.get("data")
                self.turn.whole(data, partial(_tell_opaque, data, "encrypted_reasoning"))

    def _open_reasoning(self) -> str:
        """The index of the reasoning that goes on: that of `reasoning_details`, where the vendor sends some."""
        return "0" if self.turn.get(("reasoning", "0")) is not None else ""

    def _content(self, content: Node) -> None:
        """A piece of text, or a list of parts, as Mistral sends them while its model thinks."""
        if content.is_text:
            self._piece("text", "text", content)
        for part in content:
            kind = part.get("type").text
            if part.is_text or kind == "text":
                self._piece("text", "text", part if part.is_text else part.get("text"))
            elif kind in ("thinking", "reasoning"):
                inner = part.get("thinking", "reasoning", "text")
                for text in inner if inner.is_list else [inner]:
                    self._piece(("reasoning", ""), "reasoning", text if text.is_text else text.get("text"))
            else:
                self.turn.whole(part, partial(_tell_part, part))

    def _call(self, call: Node) -> None:
        """A piece of a call. Its index says which; without one, its id; without both it is the last one's."""
        function = call.get("function", "custom")
        index, id_ = call.get("index").label, call.get("id").label
        key = f"call {index or id_}" if index or id_ else self.answer.last_call or "call"
        block = self.turn.get(key)
        if block is not None and self._is_another(block, id_, function):
            key = f"{key} {id_}" if id_ and id_ != block.id else f"{self.answer.last_call or key} again"
            if not id_:
                self.builder.notice("fallback", call, "a call of a used index without an id is taken as another call")
            block = self.turn.get(key)
        self.answer.last_call = key
        if block is None:
            number = call.get("index").value
            block = self.turn.block(key, "arguments", call, number if isinstance(number, int) else 0)
        block.id = block.id or id_
        self._append(block, function if function.is_object else call)
        self._signature(call)

    def _is_another(self, block: Block, id_: str, function: Node) -> bool:
        """Is this another call, though its index is used? (Some vendors give every call the index 0.)"""
        if id_ and block.id:
            return id_ != block.id
        if id_ or not block.pieces or not function.get("name").text:
            return False
        return self.answer.closing.setdefault(id(block), _Closing()).closed(block.pieces)

    def _append(self, block: Block, function: Node) -> None:
        block.name = block.name or function.get("name").label
        arguments = function.get("arguments", "input")
        if arguments.is_text:
            text = arguments.text
        else:
            text = raw_text(arguments) if arguments.is_object or arguments.is_list else ""
        if text:
            self.turn.append(block, self.event, text)

    def _signature(self, node: Node) -> None:
        signature = node.at("extra_content", "google", "thought_signature")
        if signature.text:
            self.turn.whole(signature, partial(_tell_opaque, signature, "thought_signature"))


def _tell_part(part: Node, turn: Turn) -> None:
    tell_part(turn, part)


def _tell_annotation(annotation: Node, turn: Turn) -> None:
    tell_annotation(turn, annotation)


def _tell_opaque(node: Node, kind: str, turn: Turn) -> None:
    turn.opaque(node, kind)


def _tell_sources(turn: Turn, sources: Node) -> None:
    for source in sources:
        url, title = source.text or source.get("url").text, source.get("title").text
        turn.aside(source, "citation", source.get("snippet").text, url=url, title=title)
