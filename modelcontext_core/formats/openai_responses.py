"""OpenAI's Responses API: requests, responses, both together, pages of items, bare items.

`instructions` are the system prompt. Earlier turns may be missing altogether (`previous_response_id`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample
from modelcontext_core.formats.responses_items import ItemTeller, is_item, tell_item_tools

__all__ = ["READER", "ResponsesTeller", "detect", "is_response"]

_KEYS: Final = frozenset(
    {"input", "output", "instructions", "tools", "response", "error", "output_text", "data", "object", "items"}
)
_REQUEST_HINTS: Final = frozenset(
    {
        "instructions",
        "previous_response_id",
        "conversation",
        "max_output_tokens",
        "reasoning",
        "include",
        "store",
        "text",
        "truncation",
        "parallel_tool_calls",
        "tools",
        "tool_choice",
        "stream",
        "temperature",
    }
)
_EMBEDDING_KEYS: Final = frozenset({"encoding_format", "dimensions", "input_type", "voice", "truncate"})


def is_response(node: Node) -> bool:
    """True for the body of a response."""
    return node.get("object").text == "response" and node.get("output").is_list


def _is_request(node: Node) -> bool:
    given = node.get("input")
    if not node.get("model").is_text or node.has("messages"):
        return False
    if given.is_list:
        first = given.at(0)
        return any(is_item(item) for item in list(given)[:8]) or (first.get("role").is_text and first.has("content"))
    return given.is_text and node.has_any(_REQUEST_HINTS) and not node.has_any(_EMBEDDING_KEYS)


def detect(sample: Sample) -> bool:
    """A response or request, a page or list of items, or items one by one."""
    if sample.container in ("text", "sqlite"):
        return False
    return any(_known(node) for node in sample.nodes[:2])


def _known(node: Node) -> bool:
    if node.is_list:
        items = list(node)[:8]
        return any(is_item(item) for item in items) and all(item.has("type") or item.has("role") for item in items)
    if is_response(node) or _is_request(node):
        return True
    if node.get("object").text == "list" and any(is_item(item) for item in list(node.get("data"))[:8]):
        return True
    return is_item(node)


def _joined(sample: Sample) -> bool:
    """Items one by one make one conversation; every request or response is one by itself."""
    return sample.container != "json" and any(is_item(node) for node in sample.nodes[:2])


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation of a request and its response, of either alone, or of items."""
    teller = ResponsesTeller(builder)
    for node in nodes:
        teller.tell(node)


class ResponsesTeller:
    """Tells bodies and items to one conversation."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.conversation: ConversationBuilder = builder.conversation()
        self.items = ItemTeller(self.conversation)
        self._instructed = False

    def tell(self, node: Node) -> None:
        """A request, a response, a page, a list of items, or an item."""
        if node.is_list:
            self._all(node)
        elif is_response(node):
            self.response(node)
        elif node.get("input").exists and not node.get("type").is_text:
            self._request(node)
        elif node.get("data").is_list:
            self._page(node.get("data"))
            self.builder.rest(node, _KEYS)
        elif node.get("type").is_text or node.get("role").is_text:
            self.items.tell(node)
        else:
            self.builder.notice("unknown", node, "a record that is neither request, response nor item is skipped")

    def _all(self, items: Node) -> None:
        for item in items:
            self.items.tell(item)

    def _page(self, items: Node) -> None:
        """A page of a list. The API gives the newest item first if it is not asked otherwise: a result that stands
        before its call shows it."""
        answered: set[str] = set()
        turned = False
        for item in items:
            call_id = item.get("call_id").label
            turned = turned or (call_id in answered and not item.get("type").text.endswith("output"))
            if call_id and item.get("type").text.endswith("output"):
                answered.add(call_id)
        if turned:
            self.builder.notice("fallback", items, "a page with the newest item first is read from its end")
        for item in reversed(list(items)) if turned else items:
            self.items.tell(item)

    def _request(self, node: Node) -> None:
        self.instructions(node)
        given = node.get("input")
        if given.is_list:
            self._all(given)
        elif given:
            self.items.close()
            self.conversation.turn("user", given).json(given)
        tell_item_tools(self.conversation, node.get("tools"))
        self._about(node)
        if node.get("response").unpacked().is_object:
            self.tell(node.get("response").unpacked())

    def instructions(self, node: Node) -> None:
        """The system prompt of a request, which the response repeats."""
        given = node.get("instructions")
        if not given or self._instructed:
            return
        self._instructed = True
        if given.is_list:
            self._all(given)
        else:
            self.conversation.turn("system", given).json(given)

    def response(self, node: Node, output: Iterable[Node] | None = None) -> None:
        """The body of a response; `output` stands for its items where a stream has better ones."""
        self.instructions(node)
        if node.get("input").is_list and not self.conversation.turns:
            self._all(node.get("input"))
        for item in node.get("output") if output is None else output:
            self.items.tell(item)
        tell_item_tools(self.conversation, node.get("tools"))
        self._about(node)
        self.error(node.get("error"))

    def error(self, error: Node) -> None:
        """What the provider reports instead of (the rest of) an answer."""
        if not error:
            return
        self.items.close()
        turn = self.conversation.turn("assistant", error)
        turn.is_error = True
        message = error if error.is_text else error.get("message")
        turn.aside(message, "error", message.text, code=error.get("code").label, type=error.get("type").text)
        self.builder.notice("error", error, "the record is an error that the provider gave instead of an answer")

    def _about(self, node: Node) -> None:
        if node.get("previous_response_id", "conversation"):
            text = "earlier turns are kept by the provider and are not in this record"
            self.builder.notice("skipped", node.get("previous_response_id", "conversation"), text)
        self.builder.rest(node, _KEYS)


READER = Reader(
    name="openai_responses",
    title="OpenAI Responses API",
    detect=detect,
    read=read,
    joined=_joined,
    keys=frozenset({"output", "instructions", "previous_response_id", "max_output_tokens", "call_id"}),
)
