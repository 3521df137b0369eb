"""What observability tools record as a call's input and output: the body of whatever framework was watched.

`tell_payload` tells such a body to a conversation, whatever its shape: message lists, requests and answers of OpenAI,
Anthropic, LangChain, the Vercel AI SDK, Gemini, Bedrock and OpenTelemetry, plain texts, and any other value as it is.
"""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats import openai_messages
from modelcontext_core.formats.building.builder import ConversationBuilder
from modelcontext_core.formats.langchain_forms import is_message, tell_message
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.parts import tell_content, tell_part

__all__ = ["looks_like_messages", "tell_any_message", "tell_payload"]

_CONTENT_KEYS: Final = frozenset({"content", "parts", "tool_calls", "contents", "text", "toolInvocations"})
_LISTS: Final = ("messages", "input_messages", "contents", "chat_history", "history")
_SINGLE: Final = (
    "prompt",
    "input",
    "query",
    "question",
    "text",
    "output",
    "response",
    "result",
    "answer",
    "completion",
)
_DEPTH: Final = 6
_ROLES: Final = {"human": "user", "ai": "assistant", "model": "assistant", "function": "tool", "agent": "assistant"}
_OWN_PARTS: Final = frozenset({"text", "image_url", "input_audio", "file", "refusal", "input_text", "output_text"})


def looks_like_messages(node: Node) -> bool:
    """True for a list that begins with a message of some framework."""
    first = node.at(0)
    return _is_message(first) or (first.is_list and _is_message(first.at(0)))


def _is_message(node: Node) -> bool:
    if not node.is_object:
        return False
    bare = set(node.value) == {"content"} and node.get("content").at(0).get("type").is_text
    return bare or is_message(node) or (node.get("role").is_text and node.has_any(_CONTENT_KEYS))


def tell_payload(conversation: ConversationBuilder, node: Node, role: str, *, depth: int = 0) -> None:
    """Tell a body as the messages that it holds; one that holds none is a message of `role`."""
    node = node.unpacked()
    if not node or node.text == "null":  # `null` as JSON text: nothing was recorded
        return
    if depth > _DEPTH or not (node.is_object or node.is_list):
        conversation.turn(role, node).json(node)
    elif node.is_list:
        _tell_list(conversation, node, role, depth)
    else:
        _tell_object(conversation, node, role, depth)


def _tell_list(conversation: ConversationBuilder, node: Node, role: str, depth: int) -> None:
    first = node.at(0)
    if looks_like_messages(node) or looks_like_messages(node.at(0).get("messages")):
        for element in node:
            tell_payload(conversation, element, role, depth=depth + 1)
    elif first.is_list and all(element.at(1).is_text and len(element.value) == 2 for element in node):
        for element in node:  # ("user", "text")
            speaker = element.at(0).label
            conversation.turn(_ROLES.get(speaker, speaker), element).text(element.at(1))
    elif first.is_object and (first.has("toolCallId", "toolName") or first.get("type").is_text or _is_gemini(first)):
        turn = conversation.turn(role, node)
        for part in node:
            tell_part(turn, part)
    elif first.has("generation_info") or first.at(0).has("message") or first.has("message"):
        for element in node:
            tell_payload(conversation, element, role, depth=depth + 1)
    else:
        conversation.turn(role, node).json(node)


def _is_gemini(node: Node) -> bool:
    return node.has("text") and len(node.value) <= 2


def _tell_object(conversation: ConversationBuilder, node: Node, role: str, depth: int) -> None:
    system = node.get("system", "systemInstruction", "system_instruction", "instructions")
    messages = node.get(*_LISTS).unpacked()
    answer = node.get("choices", "generations", "candidates")
    if _is_message(node):
        tell_any_message(conversation, node, role)
    elif messages.is_list and (looks_like_messages(messages) or messages.at(0).has("parts")):
        _tell_system(conversation, system)
        for message in messages:
            tell_payload(conversation, message, role, depth=depth + 1)
        openai_messages.tell_tools(conversation, node)
        if answer:
            _tell_answers(conversation, answer, depth)
    elif answer.is_list:
        _tell_answers(conversation, answer, depth)
    elif node.get("message").is_object or node.at("output", "message").is_object:
        inner = node.get("message") if node.get("message").is_object else node.at("output", "message")
        tell_payload(conversation, inner, role, depth=depth + 1)
    elif node.get("type").text == "message" and node.get("content").is_list:
        tell_any_message(conversation, node, "assistant")
    elif node.get("parts").is_list:
        tell_any_message(conversation, node, role)
    else:
        _tell_fields(conversation, node, role, system, depth)


def _tell_fields(conversation: ConversationBuilder, node: Node, role: str, system: Node, depth: int) -> None:
    """An object with one telling member, or any other."""
    inner = node.get(*_SINGLE)
    others = [key for key, member in node.members() if member and key not in ("system", "role", inner.key)]
    if inner and not others and (inner.is_text or inner.is_object or inner.is_list):
        if system.key in node.value:
            _tell_system(conversation, system)
        tell_payload(conversation, inner, role, depth=depth + 1)
    elif len(node.value) == 1 and looks_like_messages(next(iter(node.members()))[1].unpacked()):
        tell_payload(conversation, next(iter(node.members()))[1], role, depth=depth + 1)
    else:
        conversation.turn(role, node).json(node)


def _tell_system(conversation: ConversationBuilder, system: Node) -> None:
    if system:
        inner = system.get("parts", "content")
        tell_content(conversation.turn("system", system), inner if inner else system)


def _tell_answers(conversation: ConversationBuilder, answers: Node, depth: int) -> None:
    for answer in answers:
        inner = answer.get("message", "content", "delta")
        if answer.is_list:
            _tell_answers(conversation, answer, depth + 1) if depth < _DEPTH else None
        elif inner.is_object:
            tell_payload(conversation, inner, "assistant", depth=depth + 1)
        else:
            conversation.turn("assistant", answer).text(answer.get("text", "content"))


def tell_any_message(conversation: ConversationBuilder, node: Node, role: str = "") -> None:
    """Tell one message of any framework."""
    if is_message(node):
        tell_message(conversation, node)
        return
    speaker = node.get("role").text or role
    speaker = _ROLES.get(speaker, speaker)
    content = node.get("content", "parts", "contents", "text").unpacked()
    kinds = {part.get("type").text for part in content} if content.is_list else set()
    plain = kinds <= _OWN_PARTS and not content.is_object and not node.has("parts") and content.key != "text"
    if speaker in openai_messages.ROLES and plain:
        openai_messages.tell_message(conversation, node, role=speaker)
        return
    if speaker == "tool" and content.get("function").get("name").is_text and not content.has("arguments"):
        # Some tracers put the definitions of the tools among the messages.
        function = content.get("function")
        conversation.tool(function.get("name").text, function.get("description").text, function.get("parameters"))
        return
    call_id = node.get("tool_call_id", "toolCallId").label
    name = node.get("name", "tool_name", "toolName").label
    if node.has("additional_kwargs") and speaker not in openai_messages.ROLES:
        # LangChain's tracers write the tool's name where the role should stand.
        conversation.builder.notice(
            "fallback", node, "a message with a tool's name for its role is taken for its result"
        )
        turn = conversation.result(node, call_id=call_id, name=name or speaker)
    elif speaker == "tool":
        turn = conversation.result(node, call_id=call_id, name=name)
    else:
        turn = conversation.turn(speaker, node, name=name)
    turn.reasoning(node.get("reasoning_content", "reasoning", "thinking"))
    tell_content(turn, content)
    openai_messages.tell_calls(turn, node)
