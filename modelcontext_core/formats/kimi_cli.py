"""Wire logs of Kimi CLI: typed records, of which those that append to the context are the conversation.

All parts of one step are one turn of the assistant. A prompt is repeated by the message that it becomes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_calls, tell_content
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_TYPES: Final = ("context.append_", "turn.prompt", "llm.request", "config.update", "context.apply_compaction")
_META: Final = ("modelAlias", "model", "provider", "thinkingEffort", "protocol_version", "profileName")


def detect(sample: Sample) -> bool:
    """Records that append to a context."""
    if sample.container == "text":
        return False
    return any(node.get("type").text.startswith(_TYPES) and node.has("time") for node in sample.nodes[:10])


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation."""
    log = _Log(builder)
    for node in nodes:
        log.tell(node)
    log.finish()


class _Log:
    """The conversation, the step that is going on, and a prompt that no message has repeated yet."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.conversation: ConversationBuilder = builder.conversation()
        self.step: tuple[str, Turn] | None = None
        self.prompt: tuple[Node, str] | None = None

    def tell(self, node: Node) -> None:
        """Tell one record."""
        kind, time = node.get("type").text, node.get("time").label
        if kind == "context.append_message":
            self._message(node.get("message"), time)
        elif kind == "context.append_loop_event":
            self._event(node.get("event"), time)
        elif kind == "turn.prompt":
            self.finish()
            self.prompt = (node, time)
        elif kind == "context.apply_compaction":
            self.builder.notice("merged", node, "the context was compacted: a summary stands for what came before it")
            summary = node.get("contextSummary", "summary")
            self.conversation.turn("user", node, name="compact_summary", time=time).text(summary)
            short = node.get("summary")
            if short.text and short.text not in summary.text:
                self.conversation.turn("system", node, time=time).aside(short, "summary", short.text)
        elif kind == "permission.record_approval_result":
            turn = self.conversation.turn("system", node, time=time)
            about = {"decision": node.at("result", "decision").text, "call": node.get("toolCallId").label}
            turn.aside(node.get("action"), "approval", node.get("action").text, **about)
            rule = node.get("sessionApprovalRule")
            if rule.text:
                turn.aside(rule, "approval_rule", rule.text)
        else:
            self._settings(node, kind, time)

    def _settings(self, node: Node, kind: str, time: str) -> None:
        for key in _META:
            self.builder.meta(key, node.get(key))
        system = node.get("systemPrompt")
        if kind == "config.update" and system.text:
            self.conversation.turn("system", system, time=time).text(system)
        elif kind == "llm.tools_snapshot" and node.get("tools").unpacked().is_list:
            for tool in node.get("tools").unpacked():
                inner = tool.get("function") if tool.get("function").is_object else tool
                schema = inner.get("parameters", "inputSchema", "input_schema")
                self.conversation.tool(inner.get("name").text, inner.get("description").text, schema)
        else:
            self.builder.notice("skipped", node, "a record that adds nothing to the context")

    def _message(self, message: Node, time: str) -> None:
        role = message.get("role").text
        if role == "user" and self.prompt is not None:
            if self.prompt[0].get("input").value == message.get("content").value:
                self.builder.notice("merged", message, "a prompt and the message that repeats it are told once")
                self.prompt = None
            self.finish()
        if role == "tool":
            turn = self.conversation.result(message, call_id=message.get("toolCallId").label, time=time)
        else:
            turn = self.conversation.turn(role, message, time=time)
        origin = message.at("origin", "kind").text
        if role == "user" and origin not in ("", "user"):
            turn.name = origin
        _tell_parts(turn, message.get("content"))
        tell_calls(turn, message)
        for call in message.get("toolCalls"):
            name = call.get("name").text
            turn.call(call, id=call.get("id", "toolCallId").label, name=name, arguments=call.get("args", "arguments"))
        self.step = None

    def _event(self, event: Node, time: str) -> None:
        kind = event.get("type").text
        if kind == "content.part":
            _tell_part(self._turn(event, time), event.get("part"))
        elif kind == "tool.call":
            name, arguments = event.get("name").text, event.get("args", "arguments")
            call_id = event.get("toolCallId", "uuid").label
            self._turn(event, time).call(event, id=call_id, name=name, arguments=arguments)
            if event.get("description").text:
                self.builder.notice("skipped", event.get("description"), "what the screen says of a call is left out")
        elif kind == "tool.result":
            result = event.get("result")
            failed = result.get("isError").value is True
            call_id = event.get("toolCallId", "parentUuid").label
            turn = self.conversation.result(event, call_id=call_id, is_error=failed, time=time)
            output = result.get("output", "content")
            if output.is_list:
                _tell_parts(turn, output)
            else:
                turn.json(output if output.exists else result)
            turn.text(result.get("note"))
        elif kind not in ("step.begin", "step.end"):
            self.builder.notice("unknown", event, "an event of an unknown type is skipped")

    def _turn(self, event: Node, time: str) -> Turn:
        """The turn of the step."""
        step = event.get("stepUuid").label
        if self.step is None or self.step[0] != step:
            self.step = (step, self.conversation.turn("assistant", event, time=time))
        return self.step[1]

    def finish(self) -> None:
        """Tell a prompt that never became a message."""
        if self.prompt is not None:
            node, time = self.prompt
            _tell_parts(self.conversation.turn("user", node, time=time), node.get("input"))
            self.prompt = None


def _tell_parts(turn: Turn, content: Node) -> None:
    if not content.is_list:
        tell_content(turn, content)
    for part in content:
        _tell_part(turn, part)


def _tell_part(turn: Turn, part: Node) -> None:
    kind = part.get("type").text
    if kind in ("think", "thinking"):
        turn.reasoning(part.get("think", "thinking"))
    elif part.is_text or kind == "text":
        turn.text(part if part.is_text else part.get("text"))
    elif part.get("url").is_text or part.get(kind).get("url").is_text:
        url = part.get("url").text or part.get(kind).get("url").text
        turn.media(part, kind.removesuffix("_url") or "file", url=url)
    elif part:
        turn.unknown(part, "a part of an unknown type")


READER = Reader(
    name="kimi_cli",
    title="Kimi CLI wire log",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"modelAlias", "stepUuid", "contextSummary", "thinkingEffort"}),
)
