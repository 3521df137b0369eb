"""JSON-RPC of the Model Context Protocol: logs of requests and answers, SSE captures, and results pasted alone.

A request that asks a server for something (`tools/call`, `resources/read`, `prompts/get`) is a call, its answer the
result. Ids begin again in every session and count apart in each direction, so an answer belongs to the latest request
with its id that can have such an answer. A2A, which is JSON-RPC too, is read by `a2a`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.a2a import A2ATeller, is_a2a
from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.streaming import raw_text
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER", "tell_tool_result"]

_SILENT: Final = frozenset({"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "roots/list"})
_RESULT_KEYS: Final = frozenset(
    {"content", "structuredContent", "isError", "contents", "_meta", "resultType", "nextCursor", "toolResult"}
)
_LISTS: Final = ("resources", "resourceTemplates", "prompts", "roots")


def detect(sample: Sample) -> bool:
    """`jsonrpc: "2.0"`, or a bare result that only this protocol writes."""
    if sample.container == "text":
        return False
    return any(node.get("jsonrpc").text == "2.0" or _is_bare_result(node) for node in sample.nodes[:3])


def _is_bare_result(node: Node) -> bool:
    """A result without its envelope. A list of typed contents alone is anybody's."""
    if not node.is_object or not node.value.keys() <= _RESULT_KEYS | {"tools"}:
        return False
    if node.get("content").is_list and node.get("content").at(0).get("type").is_text:
        return node.has_any(frozenset({"isError", "structuredContent", "resultType"}))
    first = node.get("contents").at(0)
    return (first.has("uri") and (first.has("text") or first.has("blob"))) or node.get("tools").at(0).has("inputSchema")


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation for each session (each `initialize` after the first begins another)."""
    session = _Session(builder)
    other: A2ATeller | None = None
    for node in nodes:
        for message in node if node.is_list else [node]:  # a batch is a list
            if is_a2a(message):
                other = other or A2ATeller(builder)
                other.tell(message)
                continue
            if message.get("method").text == "initialize" and session.begun:
                session = _Session(builder)
            session.tell(message)
    if other is not None:
        other.finish()


class _Session:
    """One conversation, and the requests that have no answer yet."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.begun = False
        self._conversation: ConversationBuilder | None = None
        self._requests: dict[str, list[tuple[str, str]]] = {}

    @property
    def conversation(self) -> ConversationBuilder:
        """Made when there is something to say."""
        if self._conversation is None:
            self._conversation = self.builder.conversation()
        return self._conversation

    def tell(self, node: Node) -> None:
        """Tell one message."""
        self.begun = True
        method, call_id = node.get("method").text, node.get("id").label
        if method and not call_id:
            self._notification(node, method)
        elif method:
            self._request(node, method, call_id)
        elif node.has("error"):
            self._error(node, call_id)
        elif node.has("result"):
            self._result(node.get("result"), call_id)
        elif _is_bare_result(node):
            self._result(node, "")
        else:
            self.builder.notice("unknown", node, "a record that is neither request nor answer is skipped")

    def _request(self, node: Node, method: str, call_id: str) -> None:
        params = node.get("params")
        name = params.get("name").text if method in ("tools/call", "prompts/get") else method
        self._requests.setdefault(call_id, []).append((method, name))
        if method in ("tools/call", "prompts/get"):
            turn = self.conversation.turn("assistant", node)
            arguments = params.get("arguments")
            turn.call(node, id=call_id, name=name, arguments=arguments if arguments.exists else "{}")
            self.builder.unread(params, {"name", "arguments", "_meta", "task"})
        elif method in ("resources/read", "completion/complete", "elicitation/create"):
            turn = self.conversation.turn("assistant", node)
            turn.call(node, id=_own_id(method, call_id), name=method, arguments=params)
        elif method == "sampling/createMessage":
            self._sampling(params)
        elif method == "initialize":
            self.builder.rest(params, {"capabilities"}, prefix="client.")
        elif method.endswith("/list") or method in _SILENT:
            return
        else:
            self.builder.notice("unknown", node, "a request of an unknown method is taken for a call")
            self.conversation.turn("assistant", node).call(node, id=call_id, name=method, arguments=params)

    def _sampling(self, params: Node) -> None:
        """The server asks the client's model: its messages are messages."""
        if params.get("systemPrompt").text:
            self.conversation.turn("system", params).text(params.get("systemPrompt"))
        for message in params.get("messages"):
            turn = self.conversation.turn(message.get("role").text, message)
            _tell_contents(turn, message.get("content"))
        self.builder.rest(params, {"systemPrompt", "messages"}, prefix="sampling.")

    def _notification(self, node: Node, method: str) -> None:
        params = node.get("params")
        data = params.get("data")
        if method == "notifications/message":
            turn = self.conversation.turn("system", node)
            text = data if data.is_text else data.get("msg", "message", "text")
            turn.aside(text if text.text else data, "log", text.text or raw_text(data), level=params.get("level").text)
        elif method == "notifications/progress" and params.get("message").text:
            turn = self.conversation.turn("system", node)
            turn.aside(params.get("message"), "progress", params.get("message").text)
        elif params.get("reason").text:
            turn = self.conversation.turn("system", node)
            turn.aside(params.get("reason"), "cancelled", params.get("reason").text)
        else:
            self.builder.notice("skipped", node, "a notification that says nothing")

    def _method_of(self, call_id: str, result: Node) -> tuple[str, str]:
        """The latest open request with this id that can have this result."""
        waiting = self._requests.get(call_id, [])
        wanted = _methods_for(result)
        for index in range(len(waiting) - 1, -1, -1):
            if not wanted or waiting[index][0] in wanted:
                return waiting.pop(index)
        return ("", "")

    def _error(self, node: Node, call_id: str) -> None:
        error = node.get("error")
        method, name = self._method_of(call_id, error)
        call_id = _own_id(method, call_id)
        result = self.conversation.result(node, call_id=call_id, name=name, is_error=True)
        result.text(error.get("message"))
        result.json(error.get("data"))
        self.builder.unread(error, {"code", "message", "data"})

    def _result(self, result: Node, call_id: str) -> None:
        method, name = self._method_of(call_id, result)
        call_id = _own_id(method, call_id)
        if result.get("tools").is_list and not method.endswith("call"):
            _tell_tools(self.conversation, result.get("tools"))
        elif result.has("protocolVersion"):
            if result.get("instructions").text:
                turn = self.conversation.turn("system", result.get("instructions"))
                turn.text(result.get("instructions"))
            self.builder.rest(result, {"instructions", "capabilities"}, prefix="server.")
        elif result.has("role", "content") and method in ("sampling/createMessage", ""):
            turn = self.conversation.turn(result.get("role").text, result)
            _tell_contents(turn, result.get("content"))
        elif not result or (method.endswith("/list") and any(result.get(key).is_list for key in _LISTS)):
            self._lists(result)
        else:
            turn = self.conversation.result(result, call_id=call_id, name=name)
            tell_tool_result(turn, result)
            self.builder.unread(result, _RESULT_KEYS | {"messages", "description", "action", "completion"})

    def _lists(self, result: Node) -> None:
        """What a server offers beside tools: shown, as it names resources."""
        if result:
            self.conversation.turn("system", result).json(result)


def _own_id(method: str, call_id: str) -> str:
    """Requests of servers count their ids apart from those of clients."""
    return f"server-{call_id}" if method.startswith("elicitation/") else call_id


def _methods_for(result: Node) -> frozenset[str]:
    """The methods that a result can answer, where its keys say so."""
    if result.has("role", "model"):
        return frozenset({"sampling/createMessage"})
    if result.get("action").is_text:
        return frozenset({"elicitation/create"})
    if result.get("content").is_list:
        return frozenset({"tools/call"})
    if result.get("contents").is_list:
        return frozenset({"resources/read"})
    return frozenset()


def tell_tool_result(turn: Turn, result: Node) -> None:
    """Tell what a tool (or resource, or prompt) gave. `structuredContent` that only repeats the text is told once."""
    turn.is_error = turn.is_error or result.get("isError").value is True
    for message in result.get("messages"):
        _tell_contents(turn, message.get("content"))
    content = result.get("content", "contents")
    _tell_contents(turn, content)
    structured = result.get("structuredContent")
    if not structured:
        if not content.exists and not result.get("messages").is_list:
            turn.json(result)
        return
    texts = [part.get("text") for part in content]
    inner = structured.get("result") if structured.is_object and len(structured.value) == 1 else structured
    repeated = any(text.unpacked().value in (structured.value, inner.value) for text in texts if text.text)
    if not repeated:
        turn.json(structured)


def _tell_contents(turn: Turn, content: Node) -> None:
    for part in content if content.is_list else [content]:
        kind = part.get("type").text
        if part.is_text:
            turn.text(part)
        elif kind == "text":
            turn.text(part.get("text"))
        elif kind in ("image", "audio"):
            turn.media(part, kind, data=part.get("data").text, media_type=part.get("mimeType").text)
        elif kind == "resource_link":
            about = {key: part.get(key).text for key in ("uri", "name", "title", "mimeType")}
            turn.aside(part, kind, part.get("description").text, **about)
        elif kind == "resource" or part.has("uri"):
            _tell_resource(turn, part.get("resource") if part.get("resource").is_object else part)
        elif kind in ("tool_use", "tool_result"):
            _tell_tool_part(turn, part, kind)
        elif part:
            turn.json(part)


def _tell_resource(turn: Turn, resource: Node) -> None:
    uri, media_type = resource.get("uri").text, resource.get("mimeType").text
    if resource.get("text").is_text:
        turn.aside(resource, "resource", "", uri=uri, media_type=media_type)
        turn.text(resource.get("text"))
    else:
        turn.media(resource, "file", data=resource.get("blob").text, media_type=media_type, uri=uri)


def _tell_tool_part(turn: Turn, part: Node, kind: str) -> None:
    """Calls and results in the messages of a sampling request."""
    if kind == "tool_use":
        turn.call(part, id=part.get("id").label, name=part.get("name").text, arguments=part.get("input"))
    else:
        failed = part.get("isError").value is True
        result = turn.result(part, call_id=part.get("toolUseId").label, is_error=failed)
        _tell_contents(result, part.get("content"))


def _tell_tools(conversation: ConversationBuilder, tools: Node) -> None:
    for tool in tools:
        conversation.tool(tool.get("name").text, tool.get("description").text, tool.get("inputSchema"))


READER = Reader(
    name="mcp_jsonrpc",
    title="MCP or A2A messages (JSON-RPC)",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"jsonrpc", "structuredContent", "isError", "inputSchema"}),
)
