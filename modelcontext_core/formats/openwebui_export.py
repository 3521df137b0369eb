"""Chats exported from Open WebUI: a map of messages and the one that was on the screen.

Newer chats keep the typed items of an answer in `output`; older ones only its HTML, in which reasoning and tool calls
are `<details>` with escaped attributes.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.known_texts import texts_in
from modelcontext_core.formats.building.trees import tell_tree
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.containers.jsonload import BadJson, loads
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_calls, tell_content
from modelcontext_core.formats.reader import Reader, Sample
from modelcontext_core.formats.responses_items import ItemTeller

__all__ = ["READER"]

_READ_KEYS: Final = frozenset({"id", "title", "chat"})
_CHAT_KEYS: Final = frozenset({"history", "messages", "title", "id", "system", "params"})
_MESSAGE_KEYS: Final = frozenset(
    {
        "id",
        "parentId",
        "childrenIds",
        "role",
        "content",
        "timestamp",
        "model",
        "modelName",
        "modelIdx",
        "models",
        "done",
        "output",
        "files",
        "sources",
        "citations",
        "error",
        "statusHistory",
        "usage",
        "info",
        "userContext",
        "lastSentence",
        "completedAt",
        "tool_calls",
        "name",
    }
)
_EXTRA_KEYS: Final = frozenset({"files", "sources", "citations", "error"})
# No part of these may run over a long text again and again: attributes have no bare angle brackets.
_DETAILS = re.compile(r'<details type="(?P<type>\w+)"(?P<about>[^<>]*)>')
_SUMMARY = re.compile(r"<summary>[^<]*</summary>")
_END: Final = "</details>"
_AROUND = re.compile(r"<summary>[^<]*</summary>|</?details\b[^<>]*>")
_ATTRIBUTE = re.compile(r'(?<!\w)(\w+)="([^"]*)"')
_QUOTE = re.compile(r"^> ?", re.MULTILINE)


def detect(sample: Sample) -> bool:
    """A chat with `history.messages`, in its envelope or bare."""
    return sample.container != "text" and any(_history(node) is not None for node in sample.nodes[:3])


def _history(node: Node) -> Node | None:
    for holder in (node.get("chat"), node):
        history = holder.get("history")
        if history.get("messages").is_object and (history.has("currentId") or holder.has("models")):
            return history
    return None


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """A conversation and its branches; answers of several models to one message are branches too."""
    for node in nodes:
        history = _history(node)
        if history is None:
            builder.notice("unknown", node, "a record without a history of messages is skipped")
            continue
        chat = node.get("chat") if node.get("chat").is_object else node
        members = dict(history.get("messages").members())
        parents = {key: member.get("parentId").label for key, member in members.items()}

        def tell(conversation: ConversationBuilder, key: str, members: dict[str, Node] = members) -> None:
            _tell(conversation, members[key])

        def begin(conversation: ConversationBuilder, chat: Node = chat) -> None:
            for system in (chat.at("params", "system"), chat.get("system")):
                if system.text:
                    conversation.turn("system", system).text(system)

        tell_tree(
            builder,
            parents,
            tell,
            leaf=history.get("currentId").label,
            id=node.get("id").label,
            title=node.get("title").text or chat.get("title").text,
            begin=begin,
        )
        builder.rest(node, _READ_KEYS | _CHAT_KEYS if chat is node else _READ_KEYS)
        if chat is not node:
            builder.rest(chat, _CHAT_KEYS, prefix="chat.")
        if chat.get("messages"):
            builder.notice("merged", chat.get("messages"), "the list of messages repeats a path of the history")


def _tell(conversation: ConversationBuilder, message: Node) -> None:
    builder = conversation.builder
    role, time = message.get("role").text, message.get("timestamp").label
    output = message.get("output")
    if output.is_list and output.value:
        items = ItemTeller(conversation)
        for item in output:
            items.tell(item, time=time)
        if message.get("content").text:
            builder.notice("merged", message.get("content"), "the HTML of an answer repeats its items and is left out")
        for text in _only_in_html(message):
            items.turn(message).aside(message.get("content"), "html", text)
        if not message.has_any(_EXTRA_KEYS):
            builder.meta("model", message.get("model"))
            builder.unread(message, _MESSAGE_KEYS)
            return
        turn = items.turn(message)
    elif role == "tool":
        turn = conversation.result(message, call_id=message.get("tool_call_id").label, time=time)
        tell_content(turn, message.get("content"))
    else:
        turn = conversation.turn(role, message, name=message.get("name").text, time=time)
        if role == "assistant" and message.get("content").is_text:
            _tell_html(turn, message.get("content"))
        else:
            tell_content(turn, message.get("content"))
        tell_calls(turn, message)
    _tell_extras(turn, message)
    builder.meta("model", message.get("model"))
    builder.unread(message, _MESSAGE_KEYS)


def _only_in_html(message: Node) -> list[str]:
    """The texts of an answer's HTML that its items do not hold: some versions write the reasoning in other words."""
    told = " ".join(" ".join(texts_in(message.get("output").value)).split())
    pieces = [_QUOTE.sub("", html.unescape(piece)).strip() for piece in _AROUND.split(message.get("content").text)]
    return [piece for piece in pieces if " ".join(_packed(piece).split()) not in told]


def _tell_extras(turn: Turn, message: Node) -> None:
    for file in message.get("files"):
        inner = file.get("file") if file.get("file").is_object else file
        kind = "image" if file.get("type").text == "image" else "file"
        name, file_id = file.get("name").text or inner.get("filename").text, file.get("id").label
        turn.media(file, kind, url=file.get("url").text, name=name, file_id=file_id)
        turn.text(inner.at("data", "content"))
    for source in [*message.get("sources"), *message.get("citations")]:
        inner = source.get("source")
        about = {"name": inner.get("name").text, "url": inner.get("url").text}
        for document in source.get("document"):
            turn.aside(document, "citation", document.text, **about)
    error = message.get("error")
    text = error if error.is_text else error.get("content", "message", "detail")
    if text.text:
        turn.is_error = True
        turn.aside(text, "error", text.text)


def _tell_html(turn: Turn, content: Node) -> None:
    """Tell an answer whose reasoning and calls are HTML inside the text."""
    text = content.text
    position = 0
    while match := _DETAILS.search(text, position):
        end = text.find(_END, match.end())
        if end < 0:
            break
        turn.text(content, text[position : match.start()].strip("\n"))
        position = end + len(_END)
        about = {key: html.unescape(value) for key, value in _ATTRIBUTE.findall(match.group("about"))}
        inside = text[match.end() : end].lstrip()
        summary = _SUMMARY.match(inside)
        body = html.unescape(inside[summary.end() :] if summary else inside).strip()
        if match.group("type") == "reasoning":
            turn.reasoning(content, _QUOTE.sub("", body))
        elif match.group("type") == "tool_calls" and about.get("name"):
            turn.call(
                content, id=about.get("id", ""), name=about["name"], arguments=_packed(about.get("arguments", ""))
            )
            result = _packed(about.get("result", "")) or body
            if result:
                turn.result(content, call_id=about.get("id", ""), name=about["name"]).text(content, result)
        else:
            turn.aside(content, match.group("type"), body)
    turn.text(content, text[position:].strip("\n") if position else text)


def _packed(text: str) -> str:
    """The text in a JSON string, or the text itself."""
    try:
        value = loads(text.encode("utf-8", "surrogatepass"))
    except BadJson:
        return text
    return value if isinstance(value, str) else text


READER = Reader(
    name="openwebui_export",
    title="Open WebUI export",
    detect=detect,
    read=read,
    keys=frozenset({"currentId", "childrenIds"}),
)
