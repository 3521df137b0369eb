"""Conversations exported from ChatGPT: a map of nodes, of which the path up from `current_node` was on the screen.

A call is a message of the assistant to another recipient than `all`; its result comes from the tool of that name.
There are no call ids, so the id of the calling message stands for one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.trees import tell_tree
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

# Texts by content type, in the order in which they are told.
_TEXT_KEYS: Final = (
    "text",
    "result",
    "summary",
    "output_str",
    "user_profile",
    "user_instructions",
    "model_set_context",
    "snippet",
)
_ASIDE_KEYS: Final = ("title", "url", "domain", "name")
_REASONING: Final = frozenset({"thoughts", "reasoning_recap"})
_METADATA_KEYS: Final = frozenset({"attachments", "citations", "content_references", "model_slug", "parent_id"})
_READ_KEYS: Final = frozenset({"mapping", "current_node", "title", "id", "conversation_id"})


def detect(sample: Sample) -> bool:
    """A conversation with a `mapping` of nodes that have parents or children."""
    return sample.container != "text" and any(_is_conversation(node) for node in sample.nodes[:3])


def _is_conversation(node: Node) -> bool:
    mapping = node.get("mapping")
    if not mapping.is_object:
        return False
    first = [member for _, member in zip(range(5), (member for _, member in mapping.members()), strict=False)]
    return any(member.has("parent") or member.has("children") for member in first)


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """A conversation and its branches."""
    for node in nodes:
        if not node.get("mapping").is_object:
            builder.notice("unknown", node, "a record without a mapping of messages is skipped")
            continue
        members = dict(node.get("mapping").members())
        parents = {key: member.get("parent").label for key, member in members.items()}
        calls: dict[str, str] = {}

        def tell(
            conversation: ConversationBuilder,
            key: str,
            members: dict[str, Node] = members,
            parents: dict[str, str] = parents,
            calls: dict[str, str] = calls,
        ) -> None:
            calls[key] = _tell(conversation, members[key].get("message"), calls.get(parents[key], ""))

        identity = node.get("conversation_id", "id").label
        leaf = node.get("current_node").label
        if leaf not in members and members:
            text = "the current node is not in the map: the latest answers are followed"
            builder.notice("fallback", node.get("current_node"), text)
        tell_tree(builder, parents, tell, leaf=leaf, id=identity, title=node.get("title").text)
        builder.rest(node, _READ_KEYS)


def _tell(conversation: ConversationBuilder, message: Node, call_id: str) -> str:
    """Tell the message of a node; gives the id of the call that a following result answers."""
    if not message.is_object:
        return call_id
    role = message.at("author", "role").text
    recipient = message.get("recipient").text
    time, name = message.get("create_time").label, message.at("author", "name").text
    content, metadata = message.get("content"), message.get("metadata")
    if role == "tool":
        failed = content.get("content_type").text == "system_error"
        # Without a call before it, a result is linked by its name.
        turn = conversation.result(message, call_id=call_id, name="" if call_id else name, is_error=failed, time=time)
        turn.fallback_name = name
    elif role == "assistant" and recipient not in ("all", ""):
        turn = conversation.turn(role, message, time=time)
        call_id = message.get("id").label
        _tell_call(turn, message, recipient, call_id)
        conversation.builder.notice("fallback", message, "calls have no ids here: that of the calling message is taken")
        return call_id
    elif _is_empty(content) and not metadata.get("attachments"):
        conversation.builder.notice("skipped", message, "a message without any content")
        return ""
    else:
        turn = conversation.turn(role, message, name=name, time=time)
        call_id = ""
    _tell_content(turn, content)
    _tell_metadata(conversation, turn, content, metadata)
    return call_id


def _is_empty(content: Node) -> bool:
    texts = [member for key, member in content.members() if key not in ("content_type", "language")]
    return not any(any(list(member)) if member.is_list else member for member in texts)


def _tell_call(turn: Turn, message: Node, recipient: str, call_id: str) -> None:
    """Tell a call. What was sent is often no JSON (`search("…")`, Python code): it stays as it is."""
    content = message.get("content")
    parts = [part for part in content.get("parts") if part.is_text]
    if content.get("text").is_text:
        turn.call(message, id=call_id, name=recipient, arguments=content.get("text"))
    elif len(parts) == 1:
        turn.call(message, id=call_id, name=recipient, arguments=parts[0])
    else:
        turn.call(message, id=call_id, name=recipient, arguments="".join(part.text for part in parts))


def _tell_content(turn: Turn, content: Node) -> None:
    kind = content.get("content_type").text
    if kind in _REASONING:
        for thought in content.get("thoughts"):
            turn.reasoning(thought.get("summary"))
            turn.reasoning(thought.get("content"))
        turn.reasoning(content.get("content"))
        for part in content.get("parts"):
            turn.reasoning(part)
        return
    for part in content.get("parts"):
        _tell_part(turn, part)
    about = {key: content.get(key).text for key in _ASIDE_KEYS}
    if any(about.values()) and kind != "system_error":
        turn.aside(content, kind or "source", "", **about)
    told = [key for key in _TEXT_KEYS if content.get(key).text]
    for key in told:
        turn.text(content.get(key))
    known = {"content_type", "language", "parts", "response_format_name", *_TEXT_KEYS, *_ASIDE_KEYS}
    for key, member in content.members():
        if key not in known and member:
            turn.unknown(member, "an unknown member of a content")


def _tell_part(turn: Turn, part: Node) -> None:
    kind = part.get("content_type").text
    if part.is_text:
        turn.text(part)
    elif kind == "audio_transcription":
        turn.text(part.get("text"))
    elif "asset_pointer" in kind or kind.startswith("real_time_user"):
        inner = part.get("audio_asset_pointer") if part.get("audio_asset_pointer").is_object else part
        media = "image" if "image" in kind else "audio" if "audio" in kind else "file"
        turn.media(part, media, url=inner.get("asset_pointer").text)
        prompt = part.at("metadata", "dalle", "prompt")
        if prompt.text:
            turn.aside(prompt, "prompt", prompt.text)
    elif part:
        turn.unknown(part, "a part of an unknown content type")


def _tell_metadata(conversation: ConversationBuilder, turn: Turn, content: Node, metadata: Node) -> None:
    """Tell the files that were attached, and what the answer cites."""
    pointers = {part.get("asset_pointer").text for part in content.get("parts")}
    for attachment in metadata.get("attachments"):
        if any(pointer.endswith(attachment.get("id").text or "?") for pointer in pointers):
            continue  # a picture that stands among the parts
        media_type, name = attachment.get("mime_type", "mimeType").text, attachment.get("name").text
        file_id = attachment.get("file_id", "id").label
        turn.media(attachment, "file", media_type=media_type, name=name, file_id=file_id)
    for citation in metadata.get("citations"):
        inner = citation.get("metadata")
        about = {key: inner.get(key).text for key in ("url", "title")}
        turn.aside(inner, "citation", inner.get("text").text, **about)
    for reference in metadata.get("content_references"):
        about = {key: reference.get(key).text for key in ("url", "title", "name")}
        if any(about.values()):
            turn.aside(reference, "citation", reference.get("snippet").text, **about)
    conversation.builder.meta("model", metadata.get("model_slug"))
    conversation.builder.rest(metadata, _METADATA_KEYS, prefix="message.")


READER = Reader(
    name="chatgpt_export",
    title="ChatGPT export",
    detect=detect,
    read=read,
    keys=frozenset({"mapping", "current_node", "content_type", "conversation_template_id"}),
)
