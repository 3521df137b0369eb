"""Conversations exported from LibreChat: a flat list with parents, or messages with their `children` inside."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.trees import tell_tree
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_READ_KEYS: Final = frozenset({"conversationId", "title", "messages", "messagesTree"})
_MESSAGE_KEYS: Final = frozenset(
    {
        "_id",
        "__v",
        "messageId",
        "parentMessageId",
        "conversationId",
        "children",
        "createdAt",
        "updatedAt",
        "endpoint",
        "error",
        "isCreatedByUser",
        "model",
        "sender",
        "text",
        "content",
        "files",
        "attachments",
        "unfinished",
        "user",
        "tokenCount",
        "promptTokens",
        "finish_reason",
        "iconURL",
    }
)


def detect(sample: Sample) -> bool:
    """A conversation whose messages have `messageId` and `parentMessageId`."""
    return sample.container != "text" and any(_is_conversation(node) for node in sample.nodes[:3])


def _is_conversation(node: Node) -> bool:
    return node.has("conversationId") and node.get("messages", "messagesTree").at(0).has("messageId")


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """A conversation and its branches. The export does not say which branch was on the screen: the latest is first."""
    for node in nodes:
        found: dict[str, Node] = {}
        parents: dict[str, str] = {}
        # (message, the parent that its place gives it): children stand inside their parent in a recursive export.
        queue = [(message, "") for message in node.get("messages", "messagesTree")]
        for message, above in queue:  # grows while it is walked
            key = message.get("messageId").label or message.path
            if key in found:
                builder.notice("merged", message, "a message id is used again: the message is told once")
                continue
            found[key], parents[key] = message, message.get("parentMessageId").label or above
            queue += [(child, key) for child in message.get("children")]

        def tell(conversation: ConversationBuilder, key: str, found: dict[str, Node] = found) -> None:
            _tell(conversation, found[key])

        def begin(conversation: ConversationBuilder, node: Node = node) -> None:
            options = node.get("options")
            for prompt in (options.get("promptPrefix"), options.get("system"), options.get("instructions")):
                if prompt.text:
                    conversation.turn("system", prompt).text(prompt)

        # The newest message is on the branch that was used last.
        times = {key: message.get("createdAt").text for key, message in found.items()}
        leaf = max(reversed(found), key=times.__getitem__, default="")
        identity, title = node.get("conversationId").label, _title(node)
        tell_tree(builder, parents, tell, leaf=leaf, id=identity, title=title, begin=begin)
        builder.rest(node, _READ_KEYS)


def _title(node: Node) -> str:
    """The title; the preset of the conversation may have another."""
    title, other = node.get("title").text, node.at("options", "title").text
    return f"{title} · {other}" if title and other and other not in title else title or other


def _tell(conversation: ConversationBuilder, message: Node) -> None:
    from_user = message.get("isCreatedByUser").value is True or message.get("sender").text.lower() == "user"
    name = "" if from_user else message.get("sender").text
    time = message.get("createdAt").label
    turn = conversation.turn("user" if from_user else "assistant", message, name=name, time=time)
    turn.is_error = message.get("error").value is True
    content = message.get("content")
    for part in content:
        _tell_part(turn, part)
    text = message.get("text")
    if not content or (text.text.strip() and not any(_text_of(part) for part in content)):
        turn.json(text)
    for file in [*message.get("files"), *message.get("attachments")]:
        media_type, name = file.get("type").text, file.get("filename").text
        turn.media(file, "file", media_type=media_type, name=name, file_id=file.get("file_id").label)
        turn.text(file.get("text"))
    conversation.builder.meta("model", message.get("model"))
    conversation.builder.unread(message, _MESSAGE_KEYS)


def _text_of(part: Node) -> str:
    text = part.get("text")
    return text.text or text.get("value").text


def _tell_part(turn: Turn, part: Node) -> None:
    """Tell one part of a content. A tool call holds its arguments and its output."""
    kind = part.get("type").text
    if kind == "text":
        text = part.get("text")
        turn.text(text if text.is_text else text.get("value"))
    elif kind == "think":
        think = part.get("think")
        turn.reasoning(think if think.is_text else think.get("value"))
    elif kind == "tool_call":
        call = part.get("tool_call")
        call = call.get(call.get("type").text) if call.get(call.get("type").text).is_object else call
        outer = part.get("tool_call")
        call_id, name = outer.get("id").label, call.get("name").text
        turn.call(call, id=call_id, name=name, arguments=call.get("args", "arguments", "input"))
        if call.get("output").exists and call.get("output").value is not None:
            turn.result(call, call_id=call_id, name=name).json(call.get("output"))
    elif kind in ("image_file", "image_url"):
        image = part.get(kind)
        url = image.text or image.get("url", "filepath").text
        turn.media(part, "image", url=url, file_id=image.get("file_id").label)
    elif kind == "error":
        error = part.get("error")
        turn.aside(error, "error", error.text or part.get("error", "text").text)
    elif part:
        turn.unknown(part, "a part of an unknown type")


READER = Reader(
    name="librechat_export",
    title="LibreChat export",
    detect=detect,
    read=read,
    keys=frozenset({"messageId", "parentMessageId", "isCreatedByUser", "exportAt"}),
)
