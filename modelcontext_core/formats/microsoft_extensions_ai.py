"""Messages of Microsoft.Extensions.AI: `contents` whose kind stands in `$type`, alone, in lists, in responses, and as
updates of a stream, which are joined by `messageId`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_LISTS: Final = ("messages", "updates")
_RESPONSE_KEYS: Final = frozenset({*_LISTS, "contents", "role", "text", "additionalProperties"})
_MESSAGE_KEYS: Final = frozenset(
    {"role", "contents", "messageId", "authorName", "createdAt", "responseId", "conversationId", "finishReason"}
    | {"modelId", "additionalProperties", "continuationToken"}
)
_CALLS: Final = frozenset({"functionCall", "mcpServerToolCall", "codeInterpreterToolCall", "imageGenerationToolCall"})
_RESULTS: Final = frozenset(
    {"functionResult", "mcpServerToolResult", "codeInterpreterToolResult", "imageGenerationToolResult"}
)
_APPROVALS: Final = frozenset(
    {"functionApprovalRequest", "functionApprovalResponse", "toolApprovalRequest", "toolApprovalResponse"}
    | {"mcpServerToolApprovalRequest", "mcpServerToolApprovalResponse"}
)


def detect(sample: Sample) -> bool:
    """Messages or updates whose contents carry `$type`."""
    return sample.container != "text" and any(_known(node) for node in sample.nodes[:3])


def _known(node: Node) -> bool:
    return any(_is_message(message) for message, _ in zip(_messages(node), range(5), strict=False))


def _is_message(node: Node) -> bool:
    return node.get("contents").at(0).get("$type").is_text


def _messages(node: Node) -> Iterator[Node]:
    if node.is_list:
        for element in node:
            if element.is_object:
                yield element
    elif node.get(*_LISTS).is_list:
        yield from node.get(*_LISTS)
    elif node.is_object:
        yield node


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a list or response; messages and updates that are a record each are one conversation."""
    shared: _Run | None = None
    for node in nodes:
        if node.is_list or node.get(*_LISTS).is_list:
            run = _Run(builder.conversation(id=node.get("conversationId").label))
            for message in _messages(node):
                run.add(message)
            run.finish()
            builder.rest(node, _RESPONSE_KEYS)
        else:
            shared = shared or _Run(builder.conversation(id=node.get("conversationId").label))
            shared.add(node)
    if shared is not None:
        shared.finish()


class _Run:
    """The updates of one message, until another message begins."""

    def __init__(self, conversation: ConversationBuilder) -> None:
        self.conversation = conversation
        self.builder = conversation.builder
        self.updates: list[Node] = []

    def add(self, message: Node) -> None:
        """One message or update."""
        if not message.get("contents").is_list:
            self.builder.notice("unknown", message, "a record without contents is skipped")
            return
        if self.updates and not _continues(self.updates[-1], message):
            self.finish()
        self.updates.append(message)

    def finish(self) -> None:
        """Tell the message."""
        if self.updates:
            _tell(self.conversation, self.updates)
        self.updates = []


def _continues(last: Node, message: Node) -> bool:
    """Is this the next update of the same message? Whole messages of one id do not exist."""
    key = message.get("messageId").label
    return bool(key) and key == last.get("messageId").label and message.get("role").text in ("", last.get("role").text)


def _tell(conversation: ConversationBuilder, run: list[Node]) -> None:
    """The updates of one message: contents of one kind in a row are one text."""
    builder, first = conversation.builder, run[0]
    role = first.get("role").text
    name, time = first.get("authorName").text, first.get("createdAt").label
    turn: Turn | None = None
    pieces: list[Node] = []
    for message in run:
        for content in message.get("contents"):
            kind = content.get("$type").text
            if kind in _RESULTS and role == "tool":
                _tell_result(conversation.result(content, call_id=content.get("callId").label, time=time), content)
                continue
            if kind == "usage":
                builder.rest(content.get("details"), (), prefix="usage.")
                continue
            if pieces and (kind != pieces[0].get("$type").text or kind not in ("text", "reasoning")):
                _tell_pieces(turn, pieces)
            turn = turn or conversation.turn(role, first, name=name, time=time)
            if kind in ("text", "reasoning") and len(run) > 1:
                pieces.append(content)
                builder.chunk("text" if kind == "text" else "reasoning", content.get("text").text)
            else:
                _tell_content(turn, content, kind)
        builder.meta("model", message.get("modelId"))
        builder.meta("finishReason", message.get("finishReason"))
        builder.unread(message, _MESSAGE_KEYS)
    _tell_pieces(turn, pieces)
    if not any(len(message.get("contents").value) for message in run):
        conversation.turn(role, first, name=name, time=time)


def _tell_pieces(turn: Turn | None, pieces: list[Node]) -> None:
    """Texts or reasoning in a row, as one."""
    if turn is not None and pieces:
        text = "".join(piece.get("text").text for piece in pieces)
        if pieces[0].get("$type").text == "text":
            turn.text(pieces[0].get("text"), text)
        else:
            turn.reasoning(pieces[0].get("text"), text)
            _tell_protected(turn, pieces)
    pieces.clear()


def _tell_protected(turn: Turn, pieces: list[Node]) -> None:
    for piece in pieces:
        if piece.get("protectedData").text:
            turn.opaque(piece.get("protectedData"), "protected_data")


def _tell_content(turn: Turn, content: Node, kind: str) -> None:
    """One content by its kind."""
    if kind == "text":
        turn.text(content.get("text"))
        for annotation in content.get("annotations"):
            about = {key: annotation.get(key).text for key in ("title", "url", "fileId", "toolName")}
            turn.aside(annotation, "citation", annotation.get("snippet").text, **about)
    elif kind == "reasoning":
        turn.reasoning(content.get("text"))
        _tell_protected(turn, [content])
    elif kind in _CALLS:
        name = content.get("name", "toolName").text or kind
        arguments = content.get("arguments", "inputs")
        turn.call(content, id=content.get("callId").label, name=name, arguments=arguments)
    elif kind in _RESULTS:
        _tell_result(turn.result(content, call_id=content.get("callId").label), content)
    elif kind in ("data", "uri"):
        media_type = content.get("mediaType").text
        family = media_type.partition("/")[0]
        what = family if family in ("image", "audio", "video") else "file"
        turn.media(content, what, url=content.get("uri").text, media_type=media_type, name=content.get("name").text)
    elif kind == "error":
        turn.is_error = True
        text, code = content.get("message").text, content.get("errorCode").label
        turn.aside(content.get("message"), "error", text, code=code, details=content.get("details").label)
    elif kind in ("hostedFile", "hostedVectorStore"):
        turn.media(content, "file", file_id=content.get("fileId", "vectorStoreId").label)
    elif kind in _APPROVALS:
        turn.json(content)
    else:
        turn.unknown(content, "a content of an unknown kind")


def _tell_result(turn: Turn, content: Node) -> None:
    result = content.get("result", "output", "outputs")
    if result.is_list and result.at(0).get("$type").is_text:
        for inner in result:
            _tell_content(turn, inner, inner.get("$type").text)
    else:
        turn.json(result)


READER = Reader(
    name="microsoft_extensions_ai",
    title="Microsoft.Extensions.AI messages",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"$type", "contents", "authorName", "messageId"}),
)
