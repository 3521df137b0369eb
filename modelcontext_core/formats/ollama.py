"""Ollama: `/api/chat` and `/api/generate`, requests, responses and streams.

Arguments are objects, calls have no ids, images are bare base64. The OpenAI-compatible answers of Ollama are told apart
by their fingerprint.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from modelcontext_core.formats import openai_chat
from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.streaming import StreamedTurn, StreamLog, raw_text
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_chat_stream import is_chunk
from modelcontext_core.formats.openai_messages import tell_calls, tell_tools
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_SETTINGS: Final = frozenset({"options", "keep_alive", "think"})
_GENERATE: Final = frozenset({"options", "keep_alive", "think", "context", "raw", "template", "images"})
_REQUEST_KEYS: Final = frozenset(
    {
        "messages",
        "tools",
        "prompt",
        "system",
        "images",
        "context",
        "message",
        "response",
        "thinking",
        "options",
        "suffix",
    }
)
_RESPONSE_KEYS: Final = frozenset({"message", "response", "thinking", "context", "error", "logprobs"})
_MESSAGE_KEYS: Final = frozenset(
    {"role", "content", "thinking", "images", "tool_calls", "tool_name", "name", "tool_call_id"}
)

_OWN_KEYS: Final = frozenset({"tool_calls", "tool_name", "images"})


def _is_answer(node: Node) -> bool:
    """True for a response, or one line of a stream."""
    if not isinstance(node.get("done").value, bool) or not node.get("created_at").is_text:
        return False
    return node.get("message").is_object or node.get("response").is_text


def _is_request(node: Node) -> bool:
    if not node.has_text("model") or node.has("choices"):
        return False
    messages = node.get("messages")
    if messages.is_list:
        return node.has_any(_SETTINGS) or any(_is_own(message) for message in list(messages)[:20])
    return node.get("prompt").is_text and node.has_any(_GENERATE)


def _is_own(message: Node) -> bool:
    if not message.has_any(_OWN_KEYS):
        return False
    if not message.has_text("role") or not (message.has("content") or message.has("tool_calls")):
        return False
    if message.has_text("tool_name") or (message.has_list("images") and message.at("images", 0).is_text):
        return True
    call = message.get("tool_calls").at(0)
    return not call.has("id") and call.get("function").get("arguments").is_object


def _is_compatible(node: Node) -> bool:
    return node.get("system_fingerprint").text == "fp_ollama" and node.get("choices").is_list and not is_chunk(node)


def detect(sample: Sample) -> bool:
    """A response, a line of a stream, or a request with settings or messages of this API."""
    if sample.container in ("text", "sqlite"):
        return False
    return any(_is_answer(node) or _is_request(node) or _is_compatible(node) for node in sample.nodes[:2])


def _joined(sample: Sample) -> bool:
    """Lines of a stream make one trace; finished responses are one each."""
    return sample.container != "json" and any(node.get("done").value is False for node in sample.nodes[:3])


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation of a request and its response, of either alone, or of a stream."""
    conversation = builder.conversation()
    stream = _Stream(conversation)
    for node in nodes:
        if node.get("choices").is_list:
            openai_chat.tell_response(conversation, node)
        elif node.get("messages").is_list or node.get("prompt").is_text:
            _tell_request(conversation, node)
            answer = node if _is_answer(node) else node.get("response").unpacked()
            if _is_answer(answer):
                stream.take(answer)
        elif _is_answer(node):
            stream.take(node)
        elif node.get("error"):
            stream.flush()
            openai_chat.tell_error(conversation, node)
        elif not conversation.bare_text(node):
            builder.notice("unknown", node, "a record that is neither request, response nor a piece is skipped")
    stream.finish()


def _tell_request(conversation: ConversationBuilder, node: Node) -> None:
    builder = conversation.builder
    system = node.get("system")
    if system:
        conversation.turn("system", system).json(system)
    for message in node.get("messages"):
        _tell_message(conversation, message)
    if node.get("prompt").is_text:
        turn = conversation.turn("user", node.get("prompt"))
        turn.text(node.get("prompt"))
        turn.text(node.get("suffix"))
        _tell_images(turn, node)
    tell_tools(conversation, node)
    if node.get("context").is_list:
        builder.notice("skipped", node.get("context"), "the context is given as token numbers: its text is not known")
    builder.rest(node.get("options"), (), prefix="options.")
    builder.rest(node, _REQUEST_KEYS)


def _tell_message(conversation: ConversationBuilder, message: Node) -> None:
    role = message.get("role").text
    name = message.get("tool_name", "name").label
    if role == "tool":
        turn = conversation.result(message, call_id=message.get("tool_call_id").label, name=name)
    else:
        turn = conversation.turn(role, message, name=name)
    turn.reasoning(message.get("thinking"))
    turn.json(message.get("content"))
    _tell_images(turn, message)
    tell_calls(turn, message)
    conversation.builder.unread(message, _MESSAGE_KEYS)


def _tell_images(turn: Turn, node: Node) -> None:
    for image in node.get("images"):
        turn.media(image, "image", data=image.text)


class _Stream:
    """The answer that is being received; a whole response is a stream of one piece."""

    def __init__(self, conversation: ConversationBuilder) -> None:
        self.conversation = conversation
        self.builder = conversation.builder
        self.log = StreamLog(self.builder)
        self.turn = StreamedTurn(self.log)
        self.start: Node | None = None
        self.streamed = False
        self.calls = 0

    def take(self, node: Node) -> None:
        """One line."""
        done = node.get("done").value is True
        if self.start is None and done:
            self._whole(node)
            return
        self.start = self.start or node
        self.streamed = True
        message = node.get("message")
        thinking = message.get("thinking") if message.is_object else node.get("thinking")
        text = message.get("content") if message.is_object else node.get("response")
        self.turn.add("thinking", "reasoning", node, thinking.text)
        self.turn.add("text", "text", node, text.text)
        for call in message.get("tool_calls"):
            self._call(call, node)
        for image in message.get("images"):
            self.turn.whole(image, partial(_tell_image, image))
        if done:
            self.flush(cut=False)
            self._about(node)

    def finish(self) -> None:
        """The stream has ended."""
        self.flush()
        self.log.tell()

    def flush(self, *, cut: bool = True) -> None:
        """Tell the answer so far."""
        if self.start is not None:
            if cut:
                self.builder.notice("damaged", self.start, "the stream breaks off before this answer is done")
            role = self.start.get("message").get("role").text or "assistant"
            turn = self.conversation.turn(role, self.start, time=self.start.get("created_at").label)
            self.turn.tell(turn, cut=cut)
        self.turn, self.start, self.calls = StreamedTurn(self.log), None, 0

    def _whole(self, node: Node) -> None:
        """A response in one piece: no stream."""
        message = node.get("message")
        turn = self.conversation.turn(message.get("role").text or "assistant", node, time=node.get("created_at").label)
        turn.reasoning(message.get("thinking") if message.is_object else node.get("thinking"))
        turn.json(message.get("content") if message.is_object else node.get("response"))
        _tell_images(turn, message)
        tell_calls(turn, message)
        self.builder.unread(message, _MESSAGE_KEYS)
        self._about(node)

    def _call(self, call: Node, node: Node) -> None:
        """A call comes whole, its arguments as an object."""
        function = call.get("function")
        block = self.turn.block(("call", self.calls), "arguments", call, self.calls)
        block.id, block.name, block.complete = call.get("id").label, function.get("name").label, True
        self.calls += 1
        self.turn.append(block, node, raw_text(function.get("arguments")) or "{}")

    def _about(self, node: Node) -> None:
        if node.get("context").is_list:
            text = "the context is given as token numbers: they repeat the texts"
            self.builder.notice("skipped", node.get("context"), text)
        self.builder.rest(node, _RESPONSE_KEYS)


def _tell_image(image: Node, turn: Turn) -> None:
    turn.media(image, "image", data=image.text)


READER = Reader(
    name="ollama",
    title="Ollama",
    detect=detect,
    read=read,
    joined=_joined,
    keys=frozenset({"done", "done_reason", "eval_count", "prompt_eval_count", "keep_alive"}),
)
