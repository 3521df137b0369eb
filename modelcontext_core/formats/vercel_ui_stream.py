"""The UI message stream of the Vercel AI SDK: server-sent events, lines, or a stored array of chunks.

Texts and reasoning are joined by id, arguments by call id. What a step says is one turn, the results of its tools come
after it; a preliminary output is replaced by the one that follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.streaming import StreamedTurn, StreamLog, is_json, raw_text
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.parts import tell_output, tell_part
from modelcontext_core.formats.reader import Reader, Sample
from modelcontext_core.formats.vercel_ui_messages import signature_of, tell_source

__all__ = ["READER", "StreamedMessage"]

_OWN: Final = frozenset(
    {"start", "start-step", "text-start", "text-delta", "reasoning-start", "reasoning-delta", "tool-input-start"}
    | {"tool-input-available", "tool-output-available", "finish-step"}
)
_SILENT: Final = frozenset(
    {"start", "text-start", "text-end", "reasoning-start", "finish", "abort", "tool-approval-response"}
)
_OUTPUTS: Final = frozenset({"tool-output-available", "tool-output-error", "tool-output-denied"})


def detect(sample: Sample) -> bool:
    """Chunks with this stream's types: two among the first few (or the only one there is)."""
    if sample.container == "text":
        return False
    nodes = list(sample.nodes[:12])
    if len(nodes) == 1 and nodes[0].is_list:
        nodes = [node for node in (nodes[0].at(index) for index in range(12)) if node.exists]
    own = [node for node in nodes if _is_chunk(node)]
    return len(own) >= min(2, len(nodes)) and bool(own)


def _is_chunk(node: Node) -> bool:
    kind = node.get("type").text
    if kind not in _OWN:
        return False
    if kind.endswith("-delta"):
        return node.get("delta", "textDelta", "inputTextDelta", "text").is_text
    if kind.startswith("tool-"):
        return node.has("toolCallId")
    return kind not in ("start", "text-start", "reasoning-start") or len(node.value) <= 4


class StreamedMessage:
    """What was streamed so far."""

    def __init__(self, builder: Builder, conversation: ConversationBuilder) -> None:
        self.builder = builder
        self.conversation = conversation
        self.log = StreamLog(builder)
        self.step = StreamedTurn(self.log)
        self.first: Node | None = None
        self.results: dict[str, Node] = {}
        self.names: dict[str, str] = {}
        self.numbers: dict[str, int] = {}

    def add(self, node: Node) -> None:
        """One chunk."""
        kind = node.get("type").text
        self.first = self.first or node
        if kind in ("text-delta", "reasoning-delta"):
            self._add_text(kind, node)
        elif kind == "reasoning-end":
            self._sign(node)
        elif kind.startswith("tool-input-"):
            self._add_call(kind, node)
        elif kind in _OUTPUTS:
            key = node.get("toolCallId").label
            if self.results.pop(key, None) is not None:
                self.builder.notice("merged", node, "a preliminary output of a tool is replaced by the next one")
            self.results[key] = node
        elif kind in ("start-step", "finish-step") or (kind == "start" and self.step):
            self.flush(final=False)
        elif kind.startswith("data-") and node.get("transient").value is True:
            self.builder.notice("skipped", node, "transient data, which no message keeps")
        elif kind in ("source-url", "source-document") or kind.startswith("data-"):
            self.step.whole(node, lambda turn: tell_source(turn, node))
        elif kind == "file":
            self.step.whole(node, lambda turn: tell_part(turn, node))
        elif kind in ("error", "tool-approval-request"):
            self._note(kind, node)
        elif kind == "message-metadata":
            self.builder.rest(node.get("messageMetadata"), ())
        elif kind not in _SILENT:
            self.builder.notice("unknown", node, "a chunk of an unknown type is skipped")

    def _add_text(self, kind: str, node: Node) -> None:
        channel = kind.removesuffix("-delta")
        text = node.get("delta", "textDelta", "text")
        key = (channel, node.get("id").label)
        self.step.add(key, "text" if channel == "text" else "reasoning", text, text.text, self._number(str(key)))
        if channel == "reasoning":
            self._sign(node)

    def _sign(self, node: Node) -> None:
        block = self.step.get(("reasoning", node.get("id").label))
        signature = signature_of(node)
        if block is not None and signature and not block.signature:
            block.signature.append(signature)

    def _number(self, key: str) -> int:
        return self.numbers.setdefault(key, len(self.numbers))

    def _add_call(self, kind: str, node: Node) -> None:
        key = node.get("toolCallId").label
        block = self.step.block(("call", key), "arguments", node, self._number(key))
        block.id = key
        name = node.get("toolName").text
        if name:
            block.name = self.names[key] = name
        if kind == "tool-input-delta":
            self.step.append(block, node, node.get("inputTextDelta", "argsTextDelta").text)
        elif kind in ("tool-input-available", "tool-input-error"):
            whole = node.get("input")
            if whole.exists and not (block.pieces and is_json(block.text)):
                block.pieces.clear()
                self.step.append(block, whole, raw_text(whole))
            block.complete = True
            if node.get("errorText").text:
                self.results[key] = node

    def _note(self, kind: str, node: Node) -> None:
        if kind == "error":
            text = node.get("errorText", "error")
            self.step.whole(node, lambda turn: turn.aside(text, "error", text.label))
            self.builder.notice("error", node, "the stream reports an error")
        else:
            self.builder.notice("fallback", node, "a call waits for an approval")

    def flush(self, *, final: bool, cut: bool = False) -> None:
        """Tell the step, then the results that are there."""
        if self.step and self.first is not None:
            self.step.tell(self.conversation.turn("assistant", self.first), cut=cut)
        self.step = StreamedTurn(self.log)
        self.first = None
        for key, node in list(self.results.items()):
            if node.get("preliminary").value is True and not final:
                continue
            del self.results[key]
            self._tell_result(key, node)

    def _tell_result(self, key: str, node: Node) -> None:
        failed = node.get("type").text != "tool-output-available"
        result = self.conversation.result(node, call_id=key, name=self.names.get(key, ""), is_error=failed)
        output = node.get("output")
        if output.exists and output.value is not None:
            tell_output(result, output)
        result.text(node.get("errorText"))
        if node.get("preliminary").value is True:
            self.builder.notice("fallback", node, "the stream has only a preliminary output of a tool")


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation: the assistant's turns and the results of tools."""
    message = StreamedMessage(builder, builder.conversation())
    ended = False
    for node in nodes:
        for chunk in node if node.is_list else [node]:
            if chunk.get("type").is_text:
                message.add(chunk)
                ended = chunk.get("type").text in ("finish", "finish-step", "abort")
            elif chunk:
                builder.notice("unknown", chunk, "a record that is no chunk of the stream is skipped")
    message.flush(final=True, cut=not ended)
    message.log.tell()
    if not ended:
        builder.notice("damaged", "$", "the stream breaks off: it does not say that it is finished")


READER = Reader(
    name="vercel_ui_stream",
    title="Vercel AI SDK stream",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"inputTextDelta", "toolCallId", "messageMetadata"}),
)
