"""Cohere's v1 chat API: the new message beside a history, roles in capitals, results with the calls they answer."""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats.building.builder import ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node

__all__ = ["is_v1_request", "is_v1_response", "tell_v1_about", "tell_v1_history", "tell_v1_request", "tell_v1_response"]

_ROLES: Final = {"USER": "user", "CHATBOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}
_HINTS: Final = frozenset(
    {"chat_history", "preamble", "connectors", "tool_results", "prompt_truncation", "search_queries_only"}
)
_REQUEST_KEYS: Final = frozenset(
    {"message", "chat_history", "preamble", "tools", "tool_results", "documents", "response"}
)
_RESPONSE_KEYS: Final = frozenset(
    {
        "text",
        "chat_history",
        "tool_calls",
        "citations",
        "documents",
        "search_results",
        "search_queries",
        "message",
        "meta",
    }
)


def is_v1_request(node: Node) -> bool:
    """True for a request with a message of its own."""
    if not node.get("message").is_text:
        return False
    return node.has_any(_HINTS) or (node.get("model").text.startswith("command") and not node.has("text"))


def is_v1_response(node: Node) -> bool:
    """True for a response."""
    return node.get("generation_id").is_text and node.get("text").is_text


def tell_v1_request(conversation: ConversationBuilder, node: Node) -> None:
    """Tell a request: preamble, history, message, documents, results of tools."""
    preamble = node.get("preamble")
    if preamble:
        conversation.turn("system", preamble).json(preamble)
    tell_v1_history(conversation, node.get("chat_history"))
    if node.get("message").text:
        conversation.turn("user", node.get("message")).text(node.get("message"))
    for document in node.get("documents"):
        conversation.turn("user", document).json(document)
    _tell_results(conversation, node.get("tool_results"))
    for tool in node.get("tools"):
        parameters = tool.get("parameter_definitions")
        conversation.tool(tool.get("name").label, tool.get("description").text, parameters)
    conversation.builder.rest(node, _REQUEST_KEYS)
    answer = node.get("response").unpacked()
    if is_v1_response(answer):
        tell_v1_response(conversation, answer)


def tell_v1_history(conversation: ConversationBuilder, history: Node, *, without_last: bool = False) -> None:
    """Tell the turns of a history; a response repeats its own answer as the last of them."""
    turns = list(history)
    if without_last and turns and turns[-1].get("role").text.upper() == "CHATBOT":
        conversation.builder.notice("merged", turns[-1], "the history of a response repeats its answer")
        turns.pop()
    for turn_node in turns:
        role = turn_node.get("role").text
        role = _ROLES.get(role.upper(), role)
        if role == "tool":
            _tell_results(conversation, turn_node.get("tool_results"))
            continue
        turn = conversation.turn(role, turn_node)
        turn.text(turn_node.get("message"))
        _tell_calls(turn, turn_node)
        conversation.builder.unread(turn_node, {"role", "message", "tool_calls", "user_name"})


def _tell_results(conversation: ConversationBuilder, results: Node) -> None:
    """Tell results; calls have no ids, so a result is linked by its call's name."""
    for result in results:
        call = result.get("call")
        turn = conversation.result(result, call_id=call.get("id").label, name=call.get("name").label)
        for output in result.get("outputs"):
            turn.json(output)


def _tell_calls(turn: Turn, node: Node) -> None:
    for call in node.get("tool_calls"):
        turn.call(call, id=call.get("id").label, name=call.get("name").label, arguments=call.get("parameters"))


def tell_v1_response(conversation: ConversationBuilder, node: Node) -> None:
    """Tell a response, after the history that it holds."""
    if not conversation.turns:
        tell_v1_history(conversation, node.get("chat_history"), without_last=True)
    turn = conversation.turn("assistant", node)
    turn.text(node.get("text"))
    _tell_calls(turn, node)
    tell_v1_about(turn, node)
    conversation.builder.rest(node, _RESPONSE_KEYS)
    conversation.builder.rest(node.get("meta"), {"warnings"}, prefix="meta.")


def tell_v1_about(turn: Turn, node: Node) -> None:
    """Tell citations, the documents that they point to, the searches, and what the provider warns of."""
    for warning in node.get("meta").get("warnings"):
        turn.aside(warning, "warning", warning.text)
    for citation in node.get("citations"):
        ids = ", ".join(source.label for source in citation.get("document_ids"))
        turn.aside(citation.get("text"), "citation", citation.get("text").text, sources=ids)
    for document in node.get("documents"):
        about = {key: document.get(key).label for key in ("id", "title", "url")}
        text = document.get("snippet", "text")
        turn.aside(text, "source", text.text, **about)
    for query in node.get("search_queries"):
        turn.aside(query.get("text"), "search_query", query.get("text").text)
