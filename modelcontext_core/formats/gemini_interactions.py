"""Google's Interactions API: typed steps (formerly outputs) in place of candidates, and their stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from modelcontext_core.formats.building.builder import ConversationBuilder
from modelcontext_core.formats.building.streaming import StreamedTurn, StreamLog, raw_text
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.gemini_parts import tell_tools
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_annotation

__all__ = ["InteractionStream", "is_interaction", "is_interaction_event", "tell_interaction"]

_KEYS: Final = frozenset(
    {"steps", "outputs", "input", "system_instruction", "tools", "response", "object", "agent_config", "error"}
)
_EVENTS: Final = ("interaction.", "step.", "content.")
_MEDIA: Final = frozenset({"image", "audio", "video", "document"})


def is_interaction(node: Node) -> bool:
    """True for the body of an interaction, or a request for one."""
    if node.get("object").text == "interaction":
        return True
    steps = node.get("steps", "outputs")
    if steps.is_list and node.get("status").is_text:
        return any(_is_step(step) for step in list(steps)[:4])
    return False


def _is_step(step: Node) -> bool:
    kind = step.get("type").text
    return kind in ("thought", "model_output", "user_input", "text") or kind.endswith(("_call", "_result"))


def is_interaction_event(node: Node) -> bool:
    """True for an event of an interaction's stream."""
    return node.get("event_type").text.startswith(_EVENTS)


def tell_interaction(conversation: ConversationBuilder, node: Node) -> None:
    """Tell an interaction: its input where it holds it, then its steps."""
    system = node.get("system_instruction")
    if system:
        conversation.turn("system", system).json(system)
    tell_tools(conversation, node.get("tools"))
    given = node.get("input")
    if given.is_list and given.at(0).get("role").is_text:
        for turn_node in given:
            role = "assistant" if turn_node.get("role").text == "model" else turn_node.get("role").text
            _tell_contents(conversation.turn(role, turn_node), turn_node.get("content"))
    elif given:
        _tell_contents(conversation.turn("user", given), given)
    turn: Turn | None = None
    for step in node.get("steps", "outputs"):
        if step.get("type").text == "user_input":
            turn = None
            _tell_contents(conversation.turn("user", step), step.get("content"))
            continue
        turn = turn or conversation.turn("assistant", step)
        _tell_step(turn, step)
    if node.get("error"):
        _tell_error(conversation, node.get("error"))
    conversation.builder.rest(node, _KEYS)


def _tell_contents(turn: Turn, content: Node) -> None:
    for part in content if content.is_list else [content]:
        if part.is_text:
            turn.text(part)
        else:
            _tell_step(turn, part)


def _tell_step(turn: Turn, step: Node) -> None:
    """Tell one step, or one typed content."""
    kind = step.get("type").text
    if kind == "thought":
        summary = step.get("summary")
        for part in summary if summary.is_list else [summary]:
            turn.reasoning(part if part.is_text else part.get("text"))
        if step.get("signature").text:
            turn.opaque(step.get("signature"), "thought_signature")
    elif kind == "model_output":
        _tell_contents(turn, step.get("content"))
    elif kind == "text":
        turn.text(step.get("text"))
        for annotation in step.get("annotations"):
            tell_annotation(turn, annotation)
    elif kind in _MEDIA:
        url, media_type = step.get("uri").text, step.get("mime_type").text
        turn.media(step, kind, url=url, data=step.get("data").text, media_type=media_type)
    elif kind.endswith("_result"):
        name = step.get("name").label or ("" if kind == "function_result" else kind.removesuffix("_result"))
        failed = step.get("is_error").value is True
        result = turn.result(step, call_id=step.get("call_id", "id").label, name=name, is_error=failed)
        result.json(step.get("result"))
    elif kind.endswith("_call"):
        name = step.get("name").label or kind.removesuffix("_call")
        turn.call(step, id=step.get("id").label, name=name, arguments=step.get("arguments"))
    elif step:
        turn.unknown(step, f"a step of the unknown type {kind[:60]!r}")


def _tell_error(conversation: ConversationBuilder, error: Node) -> None:
    turn = conversation.turn("assistant", error)
    turn.is_error = True
    turn.aside(error.get("message"), "error", error.get("message").text, code=error.get("code").label)
    conversation.builder.notice("error", error, "the provider reports an error")


class InteractionStream:
    """The events of an interaction: steps (formerly contents) by index, joined to one turn."""

    def __init__(self, conversation: ConversationBuilder, log: StreamLog) -> None:
        self.conversation = conversation
        self.builder = conversation.builder
        self.log = log
        self.turn = StreamedTurn(log)
        self.start: Node | None = None
        self.ended = False

    def take(self, node: Node) -> None:
        """One event."""
        kind = node.get("event_type").text
        self.start = self.start or node
        if kind in ("interaction.completed", "interaction.complete", "interaction.created", "interaction.start"):
            self._about(node.get("interaction"), kind)
        elif kind in ("step.start", "content.start"):
            self._begin(node, node.get("step", "content"))
        elif kind in ("step.delta", "content.delta"):
            self._delta(node, node.get("delta"))
        elif kind == "error":
            self.finish()
            _tell_error(self.conversation, node.get("error"))

    def finish(self) -> None:
        """Tell the turn so far."""
        if self.turn and self.start is not None:
            if not self.ended:
                self.builder.notice("damaged", self.start, "the stream breaks off before the interaction ends")
            self.turn.tell(self.conversation.turn("assistant", self.start), cut=not self.ended)
        self.turn, self.start, self.ended = StreamedTurn(self.log), None, False

    def _about(self, interaction: Node, kind: str) -> None:
        """The interaction as its first and last event show it. Steps in the last one repeat the stream."""
        if kind in ("interaction.completed", "interaction.complete"):
            self.ended = True
            if not self.turn and interaction.get("steps", "outputs"):
                tell_interaction(self.conversation, interaction)
            else:
                self.builder.rest(interaction, _KEYS)
            self.finish()
        else:
            self.builder.rest(interaction, _KEYS)

    def _begin(self, node: Node, step: Node) -> None:
        kind, key = step.get("type").text, node.get("index").label
        number = node.get("index").value
        place = number if isinstance(number, int) else 0
        if kind.endswith("_call"):
            block = self.turn.block(key, "arguments", step, place)
            block.id, block.name = step.get("id").label, step.get("name").label or kind.removesuffix("_call")
            if step.get("arguments"):
                self._arguments(node, step.get("arguments"))
        elif kind.endswith("_result") or kind in _MEDIA:
            self.turn.whole(step, lambda turn: _tell_step(turn, step))
        elif kind == "thought":
            for part in step.get("summary"):
                self.turn.add(key, "reasoning", node, part.get("text").text, place)
        elif step.get("text").text:
            self.turn.add(key, "text", node, step.get("text").text, place)
        for part in step.get("content"):
            self.turn.add(key, "text", node, part.get("text").text, place)

    def _delta(self, node: Node, delta: Node) -> None:
        kind, key = delta.get("type").text, node.get("index").label
        number = node.get("index").value
        place = number if isinstance(number, int) else 0
        if kind == "text":
            self.turn.add(key, "text", node, delta.get("text").text, place)
        elif kind in ("thought_summary", "thought"):
            inner = delta.get("content", "thought", "text")
            text = inner if inner.is_text else inner.get("text")
            self.turn.add(key, "reasoning", node, text.text, place)
        elif kind == "thought_signature":
            signature = delta.get("signature")
            self.turn.whole(signature, lambda turn: turn.opaque(signature, "thought_signature"))
        elif kind in ("arguments_delta", "arguments") or kind.endswith("_call"):
            block = self.turn.block(key, "arguments", delta, place)
            block.id = block.id or delta.get("id").label
            block.name = block.name or delta.get("name").label or kind.removesuffix("_call")
            self._arguments(node, delta.get("arguments", "partial_arguments"))
        elif kind == "text_annotation":
            for annotation in delta.get("annotations"):
                self.turn.whole(annotation, _annotation(annotation))
        elif kind.endswith("_result") or kind in _MEDIA:
            self.turn.whole(delta, lambda turn: _tell_step(turn, delta))
        else:
            self.builder.notice("unknown", node, f"a delta of the unknown type {kind[:60]!r} is skipped")

    def _arguments(self, node: Node, arguments: Node) -> None:
        block = self.turn.get(node.get("index").label)
        text = raw_text(arguments)
        if block is not None and text:
            self.turn.append(block, node, text)


def _annotation(annotation: Node) -> Callable[[Turn], None]:
    return lambda turn: tell_annotation(turn, annotation)
