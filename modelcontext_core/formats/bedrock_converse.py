"""Amazon Bedrock Converse: requests, responses, both, errors, and its stream (binary frames or decoded events).

A block has no type: one of its keys says what it is. Bodies of `invoke_model` are the vendors' own and are read by
their readers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.bedrock_stream import ConverseStream, is_event
from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER", "looks_like_block", "tell_block", "tell_message"]

_BLOCKS: Final = frozenset(
    {
        "text",
        "toolUse",
        "toolResult",
        "reasoningContent",
        "image",
        "document",
        "video",
        "audio",
        "cachePoint",
        "guardContent",
        "citationsContent",
        "json",
        "searchResult",
    }
)
_REQUEST_KEYS: Final = frozenset({"messages", "system", "toolConfig", "output", "response", "inferenceConfig"})
_RESPONSE_KEYS: Final = frozenset({"output", "messages", "system", "toolConfig", "message", "__type"})
_MEDIA: Final = ("image", "document", "video", "audio")


def looks_like_block(node: Node) -> bool:
    """True for a block of this API: no type, and one of its keys."""
    return node.is_object and not node.has("type") and node.has_any(_BLOCKS)


def detect(sample: Sample) -> bool:
    """A response, a request with blocks, an error, or events of a stream."""
    if sample.container in ("text", "sqlite"):
        return False
    if any(is_event(node) for node in sample.nodes[:3]):
        return True
    return any(_known(node, sample) for node in sample.nodes[:2])


def _known(node: Node, sample: Sample) -> bool:
    if _is_response(node) or _has_blocks(node.get("messages") if node.is_object else node):
        return True
    # An error is told apart by having nothing else.
    if sample.container == "json" and node.get("message").is_text:
        return len(node.value) == 1 or node.get("__type").is_text
    return False


def _is_response(node: Node) -> bool:
    return node.at("output", "message").is_object and node.has_any(frozenset({"stopReason", "metrics", "usage"}))


def _has_blocks(messages: Node) -> bool:
    """True when the contents of the first messages are blocks of this API."""
    found = False
    for message in list(messages)[:6]:
        content = message.get("content")
        if not message.get("role").is_text or not content.is_list:
            return False
        if not all(looks_like_block(block) for block in content):
            return False
        found = found or bool(content)
    return found


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation of a request and its response, of either alone, of bare messages, or of a stream."""
    conversation = builder.conversation()
    stream = ConverseStream(conversation)
    for node in nodes:
        if node.is_list and not is_event(node.at(0)):
            for message in node:
                tell_message(conversation, message)
        elif node.is_list:
            for event in node:
                stream.take(event)
        elif node.get("messages").is_list:
            _tell_request(conversation, node)
        elif node.at("output", "message").is_object:
            _tell_response(conversation, node)
        elif is_event(node) or node.document.event:
            stream.take(node)
        elif node.get("message").is_text:
            _tell_error(conversation, node)
        elif not conversation.bare_text(node):
            builder.notice("unknown", node, "a record that is neither request, response nor event is skipped")
    stream.finish()


def _tell_request(conversation: ConversationBuilder, node: Node) -> None:
    system = node.get("system")
    if system:
        _tell_content(conversation.turn("system", system), system)
    for message in node.get("messages"):
        tell_message(conversation, message)
    for tool in node.get("toolConfig").get("tools"):
        spec = tool.get("toolSpec")
        if spec.is_object:
            schema = spec.get("inputSchema").get("json")
            conversation.tool(spec.get("name").label, spec.get("description").text, schema)
    conversation.builder.rest(node.get("inferenceConfig"), (), prefix="inferenceConfig.")
    conversation.builder.rest(node, _REQUEST_KEYS)
    for answer in (node, node.get("response").unpacked()):
        if answer.at("output", "message").is_object:
            _tell_response(conversation, answer)


def _tell_response(conversation: ConversationBuilder, node: Node) -> None:
    tell_message(conversation, node.at("output", "message"), role="assistant")
    conversation.builder.rest(node, _RESPONSE_KEYS | _REQUEST_KEYS)


def _tell_error(conversation: ConversationBuilder, node: Node) -> None:
    turn = conversation.turn("assistant", node)
    turn.is_error = True
    turn.aside(node.get("message"), "error", node.get("message").text, type=node.get("__type").text)
    conversation.builder.notice("error", node, "the record is an error that the provider gave instead of an answer")
    conversation.builder.rest(node, _RESPONSE_KEYS)


def tell_message(conversation: ConversationBuilder, message: Node, *, role: str = "") -> Turn:
    """Tell one message."""
    turn = conversation.turn(message.get("role").text or role, message)
    _tell_content(turn, message.get("content"))
    conversation.builder.unread(message, {"role", "content"})
    return turn


def _tell_content(turn: Turn, content: Node) -> None:
    if content.is_list:
        for block in content:
            tell_block(turn, block)
    else:
        turn.json(content)


def tell_block(turn: Turn, block: Node) -> None:
    """Tell one block."""
    call, answer, reasoning = block.get("toolUse"), block.get("toolResult"), block.get("reasoningContent")
    guarded, cited, found = block.get("guardContent"), block.get("citationsContent"), block.get("searchResult")
    if block.is_text or block.get("text").is_text:
        turn.text(block if block.is_text else block.get("text"))
    elif call.is_object:
        arguments = call.get("input")
        turn.call(call, id=call.get("toolUseId").label, name=call.get("name").label, arguments=arguments)
    elif answer.is_object:
        _tell_result(turn, answer)
    elif reasoning.is_object:
        _tell_reasoning(turn, reasoning)
    elif guarded.is_object:
        text = guarded.get("text")
        turn.text(text if text.is_text else text.get("text"))
        _tell_media(turn, guarded)
    elif cited.is_object:
        _tell_content(turn, cited.get("content"))
        for citation in cited.get("citations"):
            _tell_citation(turn, citation)
    elif found.is_object:
        turn.aside(found, "search_result", found.get("title").text, source=found.get("source").text)
        _tell_content(turn, found.get("content"))
    elif block.get("json").exists:
        turn.json(block.get("json"))
    elif not _tell_media(turn, block) and not block.has("cachePoint") and block:
        turn.unknown(block, "a block of an unknown kind")


def _tell_result(turn: Turn, answer: Node) -> None:
    failed = answer.get("status").text == "error"
    result = turn.result(answer, call_id=answer.get("toolUseId").label, is_error=failed)
    _tell_content(result, answer.get("content"))


def _tell_reasoning(turn: Turn, reasoning: Node) -> None:
    visible, hidden = reasoning.get("reasoningText"), reasoning.get("redactedContent")
    if visible.is_object:
        turn.reasoning(visible.get("text"), signature=visible.get("signature").text)
    elif reasoning.get("text").is_text:
        turn.reasoning(reasoning.get("text"), signature=reasoning.get("signature").text)
    if hidden.text:
        turn.opaque(hidden, "redacted_reasoning")


def _tell_media(turn: Turn, block: Node) -> bool:
    """Tell an image, document, video or sound: bytes in the block, or an object in S3."""
    for kind in _MEDIA:
        media = block.get(kind)
        if not media.is_object:
            continue
        source, form = media.get("source"), media.get("format").text
        data, url = source.get("bytes", "data").text, source.get("s3Location").get("uri").text
        name = media.get("name").text
        media_type = f"{'application' if kind == 'document' else kind}/{form}" if form else ""
        turn.media(media, kind, url=url, data=data, media_type=media_type, name=name)
        text = source.get("text")
        turn.text(text)
        for part in source.get("content"):
            tell_block(turn, part)
        turn.text(media.get("context"))
        return True
    return False


def _tell_citation(turn: Turn, citation: Node) -> None:
    texts = [part.get("text") for part in citation.get("sourceContent")]
    about = {"title": citation.get("title").text, "source": citation.get("source").text}
    for text in texts or [citation]:
        turn.aside(text, "citation", text.text, **about)


def _joined(sample: Sample) -> bool:
    """Events of a stream, or messages one by one, make one conversation."""
    return sample.container != "json" and any(is_event(node) for node in sample.nodes[:3])


READER = Reader(
    name="bedrock_converse",
    title="Amazon Bedrock Converse",
    detect=detect,
    read=read,
    joined=_joined,
    keys=frozenset({"toolUse", "toolResult", "reasoningContent", "stopReason", "inferenceConfig", "toolConfig"}),
)
