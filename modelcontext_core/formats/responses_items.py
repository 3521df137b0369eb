"""The typed items of OpenAI's Responses API. Requests, responses, streams and session logs hold lists of them.

Items of the model that follow each other (reasoning, calls, messages) are one turn; a message of somebody else, or the
output of a tool that the client ran, ends it. Items of tools that the server ran hold the call and its output together.
"""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats.building.builder import ConversationBuilder
from modelcontext_core.formats.building.streaming import raw_text
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_content

__all__ = ["ItemTeller", "is_item", "tell_item_tools"]

_TYPES: Final = frozenset(
    {
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "local_shell_call",
        "local_shell_call_output",
        "shell_call",
        "shell_call_output",
        "apply_patch_call",
        "apply_patch_call_output",
        "computer_call",
        "computer_call_output",
        "mcp_list_tools",
        "mcp_call",
        "mcp_approval_request",
        "mcp_approval_response",
        "tool_search_call",
        "tool_search_output",
        "program",
        "program_output",
        "item_reference",
        "compaction",
    }
)
_MESSAGE_PARTS: Final = frozenset({"input_text", "output_text", "input_image", "input_file", "input_audio", "refusal"})
_MESSAGE_KEYS: Final = frozenset(
    {
        "type",
        "role",
        "content",
        "id",
        "status",
        "name",
        "phase",
        "metadata",
        "internal_chat_message_metadata_passthrough",
    }
)
_PARALLEL: Final = frozenset({"parallel", "multi_tool_use.parallel", "multi_tool_use_parallel"})


def is_item(node: Node) -> bool:
    """True for an item that only this API writes: a type of its own, or a message with parts of its own."""
    kind = node.get("type").text
    if kind == "message" and node.get("role").is_text:
        return node.get("content").at(0).get("type").text in _MESSAGE_PARTS
    if kind == "reasoning":
        return node.get("summary").is_list or node.has("encrypted_content")
    if kind.endswith("_call") or kind == "program":
        return kind in _TYPES and node.get("id", "call_id", "status").is_text
    return kind in _TYPES


class ItemTeller:
    """Tells items in order to a conversation."""

    def __init__(self, conversation: ConversationBuilder) -> None:
        self.conversation = conversation
        self.builder = conversation.builder
        self._turn: Turn | None = None
        self._approvals: set[str] = set()

    def tell(self, item: Node, *, time: str = "") -> None:
        """One item."""
        kind = item.get("type").text
        if kind == "message" or (not kind and item.get("role").is_text):
            self._message(item, time)
        elif kind == "item_reference":
            self.builder.notice("skipped", item, "an item is only named here: it stands in an earlier record")
        elif kind == "mcp_list_tools":
            tell_item_tools(self.conversation, item.get("tools"))
            self._error(item)
        elif kind == "mcp_approval_response":
            answer = "approved" if item.get("approve").value is True else "denied"
            about = {"answer": answer, "request": item.get("approval_request_id").label}
            turn = self._other("user", item, time)
            turn.aside(item.get("reason"), "approval_response", item.get("reason").text, **about)
        elif kind.endswith(("_call_output", "_search_output", "program_output")) or kind == "function_call_output":
            self._output(item, kind, time)
        else:
            self._of_model(item, kind, self._assistant(item, time))

    def close(self) -> None:
        """The turn of the model ends here."""
        self._turn = None

    def turn(self, item: Node) -> Turn:
        """The turn of the model that `item` goes into."""
        return self._assistant(item, "")

    def _assistant(self, item: Node, time: str) -> Turn:
        if self._turn is None:
            self._turn = self.conversation.turn("assistant", item, time=time)
        return self._turn

    def _other(self, role: str, item: Node, time: str) -> Turn:
        self.close()
        return self.conversation.turn(role, item, time=time)

    def _message(self, item: Node, time: str) -> None:
        role = item.get("role").text
        turn = self._assistant(item, time) if role == "assistant" else self._other(role, item, time)
        tell_content(turn, item.get("content"))
        self.builder.unread(item, _MESSAGE_KEYS)

    def _output(self, item: Node, kind: str, time: str) -> None:
        """What the client's tool gave back."""
        self.close()
        output = item.get("output", "result", "tools")
        failed = item.get("status").text in ("failed", "error") or output.get("success").value is False
        call_id = item.get("call_id", "id").label
        result = self.conversation.result(item, call_id=call_id, is_error=failed, time=time)
        if not kind.startswith("function"):
            result.fallback_name = kind.removesuffix("_output").removesuffix("_call")
        first = output.at(0)
        if output.is_list and (first.get("type").text in _MESSAGE_PARTS | {"text"}):
            tell_content(result, output)
        elif output.get("type").text in _MESSAGE_PARTS and output.get("text").is_text:
            result.text(output.get("text"))  # one part that is not in a list
        elif output.get("type").text == "computer_screenshot":
            image = output.get("image_url")
            result.media(output, "image", url=image.text, file_id=output.get("file_id").text)
        else:
            result.json(output)

    def _of_model(self, item: Node, kind: str, turn: Turn) -> None:
        """What the model wrote, or what its provider ran for it."""
        id_ = item.get("call_id", "id").label
        if kind == "reasoning":
            _tell_reasoning(turn, item)
        elif kind == "function_call":
            self._function_call(item, turn, id_)
        elif kind == "custom_tool_call":
            turn.call(item, id=id_, name=item.get("name").label, arguments=item.get("input"))
        elif kind == "mcp_approval_request":
            self._approvals.add(id_)
            turn.call(item, id=id_, name=item.get("name").label, arguments=item.get("arguments"))
        elif kind == "mcp_call":
            self._mcp_call(item, turn, id_)
        elif kind in ("file_search_call", "code_interpreter_call", "image_generation_call"):
            _tell_hosted(item, turn, kind.removesuffix("_call"), id_)
        elif kind == "program":
            turn.call(item, id=id_, name=kind, arguments=_object_of("code", item))
        elif kind == "compaction":
            turn.opaque(item.get("encrypted_content"), kind)
        elif kind.endswith("_call"):
            arguments = item.get("action", "operation", "arguments", "input", "actions")
            turn.call(item, id=id_, name=item.get("name").text or kind.removesuffix("_call"), arguments=arguments)
        elif item:
            turn.unknown(item, f"an item of the unknown type {kind[:60]!r}" if kind else "an item without a type")

    def _function_call(self, item: Node, turn: Turn, id_: str) -> None:
        """A call; a wrapper of several calls is unfolded."""
        name, arguments = item.get("name").label, item.get("arguments")
        uses = arguments.unpacked().get("tool_uses")
        if name not in _PARALLEL or not uses.at(0).get("recipient_name").is_text:
            turn.call(item, id=id_, name=name, arguments=arguments)
            return
        self.builder.notice("merged", item, "a call that wraps parallel calls is unfolded: only the first has its id")
        for number, use in enumerate(uses):
            recipient = use.get("recipient_name").text.removeprefix("functions.")
            turn.call(use, id="" if number else id_, name=recipient, arguments=use.get("parameters"))

    def _mcp_call(self, item: Node, turn: Turn, id_: str) -> None:
        """A call of a remote MCP server with its output. If its approval was asked for before, the call is that one."""
        asked = item.get("approval_request_id").label
        if asked in self._approvals:
            id_ = asked
        else:
            turn.call(item, id=id_, name=item.get("name").label, arguments=item.get("arguments"))
        output, error = item.get("output"), item.get("error")
        if output or error:
            result = turn.result(item, call_id=id_, is_error=bool(error))
            result.json(output)
            result.json(error)

    def _error(self, item: Node) -> None:
        error = item.get("error")
        if error:
            text = error if error.is_text else error.get("message")
            self._assistant(item, "").aside(text, "error", text.text)


def tell_item_tools(conversation: ConversationBuilder, tools: Node) -> None:
    """Keep tool definitions: functions, tools of MCP servers, namespaces, and what the provider runs itself."""
    for tool in tools:
        if tool.get("tools").is_list:
            tell_item_tools(conversation, tool.get("tools"))
            continue
        name = tool.get("name", "server_label", "type").label
        about = tool.get("description", "server_description").text
        conversation.tool(name, about, tool.get("parameters", "input_schema", "inputSchema"))


def _tell_reasoning(turn: Turn, item: Node) -> None:
    """Tell the visible reasoning: summaries and full texts; the encrypted form only by its length."""
    for part in [*item.get("summary"), *item.get("content")]:
        turn.reasoning(part if part.is_text else part.get("text"))
    for key in ("summary", "content", "text"):
        turn.reasoning(item.get(key))
    if item.get("encrypted_content").text:
        turn.opaque(item.get("encrypted_content"), "encrypted_reasoning")


def _tell_hosted(item: Node, turn: Turn, name: str, id_: str) -> None:
    """Tell a call of a tool that the provider ran, and what it gave."""
    if name == "file_search":
        turn.call(item, id=id_, name=name, arguments=_object_of("queries", item))
        if item.get("results").is_list:
            turn.result(item, call_id=id_).json(item.get("results"))
    elif name == "code_interpreter":
        turn.call(item, id=id_, name=name, arguments=_object_of("code", item))
        outputs = item.get("outputs", "results")
        if outputs.is_list:
            result = turn.result(item, call_id=id_)
            for output in outputs:
                if output.get("type").text == "image":
                    result.media(output, "image", url=output.get("url").text)
                else:
                    result.json(output.get("logs") if output.get("logs").is_text else output)
    else:
        turn.call(item, id=id_, name=name, arguments=_object_of("revised_prompt", item))
        picture = item.get("result")
        if picture.text:
            turn.result(item, call_id=id_).media(picture, "image", data=picture.text)


def _object_of(key: str, item: Node) -> str:
    """Arguments that the API spreads over the item: an object with the source text of one member."""
    value = item.get(key)
    if not value.exists or value.value is None:
        return "{}"
    path = value.steps_from(None) or ()
    source = value.document.slices([path]).get(path, "")
    return f'{{"{key}": {source or raw_text(value)}}}'
