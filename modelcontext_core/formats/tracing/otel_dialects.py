"""How instrumentations write a model call into the attributes of a span: OpenTelemetry's own convention, OpenInference,
OpenLLMetry's indexed keys, and the Vercel AI SDK. Each function tells one call's messages to a conversation.
"""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats import openai_messages
from modelcontext_core.formats.building.builder import ConversationBuilder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.parts import tell_call, tell_content
from modelcontext_core.formats.tracing.attributes import Attributes, Tree, decoded, regrown
from modelcontext_core.formats.tracing.payloads import looks_like_messages, tell_payload

__all__ = ["tell_genai", "tell_indexed", "tell_openinference", "tell_tools", "tell_vercel"]

_PIECES: Final = 8  # so many short answers in a row are the pieces of one
_DEFINITIONS: Final = ("gen_ai.tool.definitions", "gen_ai.request.tools", "llm.tools", "ai.prompt.tools", "tools")


def tell_genai(conversation: ConversationBuilder, attributes: Attributes) -> None:
    """`gen_ai.system_instructions`, `gen_ai.input.messages`, `gen_ai.output.messages`: JSON text, or already parsed."""
    system = decoded(attributes.get("gen_ai.system_instructions"))
    if system:
        tell_content(conversation.turn("system", system), system)
    tell_payload(conversation, attributes.tree("gen_ai.input.messages"), "user")
    tell_payload(conversation, attributes.tree("gen_ai.output.messages"), "assistant")


def tell_indexed(conversation: ConversationBuilder, attributes: Attributes) -> None:
    """`gen_ai.prompt.N.*` and `gen_ai.completion.N.*`; a completion of role `thinking` is reasoning."""
    for name, role in (("gen_ai.prompt", "user"), ("gen_ai.completion", "assistant")):
        tree = attributes.tree(name)
        if not tree.is_list or looks_like_messages(tree) is False:
            if tree:
                tell_payload(conversation, tree, role)
            continue
        thoughts: list[Node] = []
        for message in tree:
            if message.get("role").text == "thinking":
                thoughts.append(message)
            else:
                _tell_indexed_message(conversation, message, role, thoughts)
                thoughts = []
        for thought in thoughts:
            conversation.turn("assistant", thought).reasoning(thought.get("content"))


def _tell_indexed_message(conversation: ConversationBuilder, message: Node, default: str, thoughts: list[Node]) -> None:
    role = message.get("role").text or default
    content = message.get("content")
    blocks = content.unpacked()
    if role in ("tool", "function"):
        turn = conversation.result(message, call_id=message.get("tool_call_id").label, name=message.get("name").label)
    else:
        turn = conversation.turn(role, message)
    for thought in thoughts:
        turn.reasoning(thought.get("content"))
    turn.reasoning(message.get("reasoning", "reasoning_content"))
    if blocks.is_list and blocks.value and all(block.get("type").is_text for block in blocks):
        tell_content(turn, blocks)
    else:
        turn.json(content)
    for call in message.get("tool_calls"):
        tell_call(turn, call)


def tell_openinference(conversation: ConversationBuilder, attributes: Attributes) -> None:
    """`llm.input_messages.N.message.*` and `llm.output_messages`; without them the raw bodies of the call."""
    for name, body, role in (
        ("llm.input_messages", "input.value", "user"),
        ("llm.output_messages", "output.value", "assistant"),
    ):
        messages = attributes.tree(name)
        if messages.is_list and messages and not _tell_pieces(conversation, messages, role):
            for message in messages:
                _tell_inference_message(conversation, regrown(message), role)
        elif not messages:
            tell_payload(conversation, attributes.get(body), role)


def _tell_pieces(conversation: ConversationBuilder, messages: Node, role: str) -> bool:
    """Some tracers write each piece of a streamed answer as a message: joined. False when they are no pieces."""
    texts = [regrown(message).get("message").get("content") for message in messages]
    if role != "assistant" or len(texts) < _PIECES or not all(text.text and len(text.text) < 40 for text in texts):
        return False
    conversation.turn(role, texts[0]).text(texts[0], "".join(text.text for text in texts))
    conversation.builder.notice("merged", texts[0], "the pieces of a streamed answer are joined")
    return True


def _tell_inference_message(conversation: ConversationBuilder, element: Node, default: str) -> None:
    message = element.get("message")
    message = message if message.is_object else element
    role, name = message.get("role").text or default, message.get("name").label
    if role in ("tool", "function"):
        turn = conversation.result(element, call_id=message.get("tool_call_id").label, name=name)
    else:
        turn = conversation.turn("assistant" if role == "model" else role, element, name=name)
    calls = [regrown(call) for call in message.get("tool_calls")]
    calls = [call.get("tool_call") if call.get("tool_call").is_object else call for call in calls]
    known = {call.get("id").label or call.get("function").get("name").label for call in calls}
    contents = message.get("contents")
    for content in contents:
        part = regrown(content)
        inner = part.get("message_content") if part.get("message_content").is_object else part
        inline = part.get("tool_call") if part.get("tool_call").is_object else inner.get("tool_call")
        if inline.is_object or inner.get("type").text == "tool_use":
            if inline.is_object and inline.get("id").label not in known:
                openai_messages.tell_calls(turn, _list_of(inline))
            continue
        image = inner.get("image")
        if image.is_object or image.is_text:
            address = image if image.is_text else image.get("url", "image")
            address = address if address.is_text else address.get("url")
            turn.media(inner, "image", url=address.text)
        elif inner.get("type").text == "reasoning":
            turn.reasoning(inner.get("text"), signature=inner.get("signature").text)
        else:
            tell_content(turn, inner if inner.get("text").is_text else inner.get("text", "content"))
    if not contents:
        tell_content(turn, message.get("content"))
    for call in calls:
        openai_messages.tell_calls(turn, _list_of(call))
    old = message.get("function_call_name")
    if old.text:
        turn.call(old, name=old.text, arguments=message.get("function_call_arguments_json"))


def _list_of(call: Node) -> Node:
    """One call where `tell_calls` looks for a list of them."""
    parent = call.parent if call.parent is not None else call
    return Tree({"tool_calls": Tree([call], parent, "")}, parent, "")


def tell_vercel(conversation: ConversationBuilder, attributes: Attributes) -> None:
    """`ai.prompt.messages` (or `ai.prompt`), and the answer in `ai.response.*`."""
    prompt = attributes.get("ai.prompt.messages")
    tell_payload(conversation, prompt if prompt else attributes.get("ai.prompt"), "user")
    text = attributes.get("ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object")
    reasoning = attributes.get("ai.response.reasoning")
    calls = attributes.get("ai.response.toolCalls", "ai.result.toolCalls").unpacked()
    if text or reasoning or calls:
        turn = conversation.turn("assistant", text if text else calls)
        turn.reasoning(reasoning)
        turn.json(text)
        for call in calls:
            tell_call(turn, call)


def tell_tools(conversation: ConversationBuilder, attributes: Attributes) -> None:
    """Definitions of tools in any of the dialects."""
    for name in _DEFINITIONS:
        for element in attributes.tree(name):
            tool = regrown(element.unpacked())
            inner = tool.get("tool") if tool.get("tool").is_object else tool
            schema = inner.get("json_schema").unpacked()
            inner = schema if schema.get("name").is_text or schema.get("function").is_object else inner
            inner = inner.get("function") if inner.get("function").is_object else inner
            parameters = inner.get("parameters", "input_schema", "inputSchema", "json_schema").unpacked()
            if inner.get("name").label:
                conversation.tool(inner.get("name").label, inner.get("description").text, parameters)
    for function in attributes.tree("llm.request.functions"):
        parameters = function.get("parameters", "input_schema").unpacked()
        conversation.tool(function.get("name").label, function.get("description").text, parameters)
