"""ShareGPT training data, and the forms that LLaMA-Factory made of it.

`conversations: [{from, value}]`, where a call and the tool definitions are JSON texts; LLaMA-Factory v1 has
`messages: [{role, content: [{type, value}]}]`. Preference data (`chosen`, `rejected`) becomes two branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_tools
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_LISTS: Final = ("conversations", "conversation", "messages")
_ROLES: Final = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "model": "assistant",
    "function_call": "assistant",
    "tool_call": "assistant",
    "system": "system",
}
_CALLS: Final = frozenset({"function_call", "tool_call"})
_RESULTS: Final = frozenset({"observation", "tool", "tool_response", "function_response", "function"})
_MEDIA: Final = {"images": "image", "videos": "video", "audios": "audio"}
_READ_KEYS: Final = frozenset({*_LISTS, *_MEDIA, "system", "tools", "chosen", "rejected", "id", "image"})


def detect(sample: Sample) -> bool:
    """A record whose list of messages has `from` and `value`, or typed parts with `value`."""
    return sample.container != "text" and any(_messages(node) is not None for node in sample.nodes[:3])


def _messages(node: Node) -> Node | None:
    for key in _LISTS:
        messages = node.get(key)
        first = messages.at(0) if messages.is_list else messages
        if first.has("from", "value") or (first.has("role") and first.get("content").at(0).has("type", "value")):
            return messages
    return None


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a record; the rejected answer of a preference is a branch."""
    for node in nodes:
        messages = _messages(node)
        if messages is None:
            builder.notice("unknown", node, "a record without a list of messages is skipped")
            continue
        conversation = builder.conversation(id=node.get("id").label)
        if node.get("system").text:
            conversation.turn("system", node.get("system")).text(node.get("system"))
        media = {
            kind: iter([*(node.get("image") if key == "images" else ()), *node.get(key)])
            for key, kind in _MEDIA.items()
        }
        for message in messages:
            _tell(conversation, message, media)
        tell_tools(conversation, node)
        _tell_preference(builder, conversation, node)
        for kind, left in media.items():
            for item in left:
                builder.notice("skipped", item, f"more of {kind} than places for it in the texts")
        builder.rest(node, _READ_KEYS)


def _tell_preference(builder: Builder, conversation: ConversationBuilder, node: Node) -> None:
    chosen, rejected = node.get("chosen"), node.get("rejected")
    before = conversation.turns
    if chosen.is_object:
        _tell(conversation, chosen, {})
    if rejected.is_object:
        conversation.id = conversation.id or "1"
        branch = builder.conversation(id=f"{conversation.id}/rejected", parent=conversation.id, after=before)
        _tell(branch, rejected, {})


def _tell(conversation: ConversationBuilder, node: Node, media: Mapping[str, Iterator[Node]]) -> None:
    """Tell one message of either form."""
    kind = node.get("from", "role").text
    value = node.get("value", "content")
    if kind in _RESULTS:
        turn = conversation.result(node, name=node.get("name").text)
    else:
        turn = conversation.turn(_ROLES.get(kind, kind), node)
    if kind in _CALLS:
        _tell_calls(turn, value)
    elif value.is_list:
        for part in value:
            _tell_part(turn, part, conversation)
    else:
        turn.json(value)
    for media_kind, items in media.items():
        for _ in range(value.text.count(f"<{media_kind}>")):
            item = next(items, None)
            if item is not None:
                turn.media(item, media_kind, url=item.text or item.get("path").text)
    conversation.builder.unread(node, {"from", "role", "value", "content", "name", "loss_weight", "weight", "loss"})


def _tell_part(turn: Turn, part: Node, conversation: ConversationBuilder) -> None:
    """Tell one `{type, value}` of LLaMA-Factory v1."""
    kind, value = part.get("type").text, part.get("value")
    if kind == "text":
        turn.json(value)
    elif kind in ("reasoning", "thinking"):
        turn.reasoning(value)
    elif kind in ("tool_call", "tool_calls", "function_call"):
        _tell_calls(turn, value)
    elif kind == "tools":
        for tool in value.unpacked():
            inner = tool.get("function") if tool.get("function").is_object else tool
            conversation.tool(inner.get("name").text, inner.get("description").text, inner.get("parameters"))
    elif kind.removesuffix("_url") in ("image", "video", "audio"):
        turn.media(part, kind.removesuffix("_url"), url=value.text)
    elif part:
        turn.unknown(part, "a part of an unknown type")


def _tell_calls(turn: Turn, value: Node) -> None:
    """Tell the calls in a JSON text: one `{name, arguments}`, or a list of them."""
    inner = value.unpacked()
    calls = list(inner) if inner.is_list else [inner]
    for call in calls:
        if call.get("name").is_text:
            turn.call(call, name=call.get("name").text, arguments=call.get("arguments", "parameters"))
        else:
            turn.unknown(call, "a call without a name")


READER = Reader(
    name="sharegpt",
    title="ShareGPT training data",
    detect=detect,
    read=read,
    keys=frozenset({"conversations", "from"}),
)
