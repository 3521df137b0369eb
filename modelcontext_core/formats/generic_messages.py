"""Any list of messages: the last reader, for files that look like a conversation and are none of the known formats.

It looks for a list of objects that say who speaks (`role`, `sender`, `from`, `author`, `type`) and what (`content`,
`text`, `value`, `message`, `parts`). What it takes is a guess, and it says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_calls, tell_content, tell_tools
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_SPEAKERS: Final = ("role", "sender", "from", "author", "speaker", "type")
_TEXTS: Final = ("content", "text", "value", "message", "parts", "body", "contents")
_RESULT_ROLES: Final = frozenset({"tool", "function", "observation", "tool_result", "tool_response"})
_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "agent": "assistant",
}
_KNOWN: Final = frozenset(
    {
        *_SPEAKERS,
        *_TEXTS,
        "name",
        "tool_calls",
        "function_call",
        "tool_call_id",
        "id",
        "timestamp",
        "created_at",
        "time",
    }
)
_LOOKED_AT: Final = 500
_ROLE_LENGTH: Final = 40


def detect(sample: Sample) -> bool:
    """A list of things that somebody says, at any place near the top, or such a thing by itself."""
    return sample.container != "text" and any(_found(node) is not None for node in sample.nodes[:3])


def _speaker(node: Node) -> str:
    """Who speaks: a short text, also when it stands in an object (`author: {role}`)."""
    for key in _SPEAKERS:
        value = node.get(key)
        text = value.text or value.get("role", "name").text
        if text and len(text) <= _ROLE_LENGTH:
            return text
    return ""


def _says(node: Node) -> Node | None:
    """What is said."""
    for key in _TEXTS:
        value = node.get(key)
        if value.is_text or value.is_list or (value.is_object and key in ("content", "message")):
            return value
    return None


def _is_message(node: Node) -> bool:
    return node.is_object and bool(_speaker(node)) and _says(node) is not None


def _found(root: Node) -> Node | None:
    """The list of messages (or the one message) nearest to the root."""
    queue = [root.unpacked()]
    for node in queue:  # grows while it is walked
        if node.is_list and any(_is_message(element.unpacked()) for element in list(node)[:3]):
            return node
        if _is_message(node) and node.get("role", "sender", "from").exists:
            return node
        if len(queue) < _LOOKED_AT:
            inner = [*(member for _, member in node.members()), *list(node)[:3]]
            unpacked = (member.unpacked() for member in inner)  # a text may hold the list as JSON
            queue += [member for member in unpacked if member.is_object or member.is_list]
    return None


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a record; lines that are a message each belong to one."""
    shared: ConversationBuilder | None = None
    for node in nodes:
        found = _found(node)
        if found is None:
            builder.notice("unknown", node, "no list of messages was found in this record")
            continue
        if found.is_object:
            shared = shared or builder.conversation()
            _tell(shared, found)
            if found.value is not node.unpacked().value:
                builder.notice("fallback", found, "the format is not known: this is taken for a message")
                _name_rest(builder, node, found)
            continue
        builder.notice("fallback", found, "the format is not known: this list is taken for the messages")
        conversation = builder.conversation(title=node.get("title", "name").text)
        for message in found:
            _tell(conversation, message.unpacked())
        tell_tools(conversation, node)
        _name_rest(builder, node, found)


def _name_rest(builder: Builder, root: Node, found: Node) -> None:
    """Say what lies beside the list."""
    above: set[int] = set()
    node: Node | None = found
    while node is not None:
        above.add(id(node.value))
        node = node.parent
    for holder in _holders(found):
        builder.rest(
            holder, {"tools", "functions", *(key for key, member in holder.members() if id(member.value) in above)}
        )
    if not root.is_object and not root.is_list:
        builder.notice("unknown", root, "the record is a text that holds JSON")


def _holders(found: Node) -> Iterator[Node]:
    node = found.parent
    while node is not None:
        if node.is_object:
            yield node
        node = node.parent


def _tell(conversation: ConversationBuilder, node: Node) -> None:
    speaker, said = _speaker(node), _says(node)
    role = _ROLES.get(speaker.lower(), speaker.lower())
    time = node.get("timestamp", "created_at", "time").label
    if said is None and not node.get("tool_calls", "function_call"):
        conversation.builder.notice("unknown", node, "an element of the list that is no message: kept as JSON text")
        conversation.turn(role or "unknown", node).json(node)
        return
    name, call_id = node.get("name").text, node.get("tool_call_id").label
    if role in _RESULT_ROLES:
        turn = conversation.result(node, call_id=call_id, name=name, time=time)
    else:
        turn = conversation.turn(role, node, name=name, time=time)
    if said is not None:
        inner = said.get("content", "parts", "text")
        tell_content(turn, inner if said.is_object and inner else said)
    tell_calls(turn, node)
    for key, member in node.members():
        if key in _KNOWN or not member:
            continue
        if member.is_text and " " in member.text.strip():
            turn.aside(member, key, member.text)
        elif member.is_object or member.is_list:
            turn.unknown(member, f"the key {key[:60]!r} of a message")


READER = Reader(
    name="generic_messages",
    title="A list of messages in an unknown format",
    detect=detect,
    read=read,
)
