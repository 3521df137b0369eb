"""Runs of SWE-agent (`.traj`): `history` is what the model read and wrote, `trajectory` tells the same steps again.

The history is the conversation. It may be shortened (old outputs elided) or missing: what only a step says stands in a
conversation of its own, or is the conversation. Each step may repeat the whole query, which is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.known_texts import KnownTexts
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_calls, tell_content
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_STEP: Final = frozenset({"observation", "response", "thought"})
_READ_KEYS: Final = frozenset({"history", "trajectory", "info"})
_INFO_KEYS: Final = frozenset({"submission"})
_MESSAGE_KEYS: Final = frozenset(
    {"role", "content", "agent", "message_type", "tool_calls", "tool_call_ids", "thinking_blocks", "cache_control"}
    | {"thought", "action", "is_demo", "tags"}
)


def detect(sample: Sample) -> bool:
    """A record with a trajectory of actions and observations."""
    return sample.container != "text" and any(_is_run(node) for node in sample.nodes[:3])


def _is_run(node: Node) -> bool:
    first = node.at("trajectory", 0)
    if first.get("action").is_text and first.has_any(_STEP):
        return True
    message = node.at("history", 0)
    own = message.has("agent") or node.has("info", "trajectory")
    return node.get("trajectory").is_list and message.get("role").is_text and own


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a run, and one of what only its steps say."""
    for node in nodes:
        conversation = builder.conversation(title=node.get("environment").text)
        known = KnownTexts()
        for message in node.get("history"):
            _tell_message(conversation, message)
        turns = conversation.take()
        known.add(turns)
        for turn in turns:
            conversation.put(turn)
        _tell_steps(conversation, node, known)
        info = node.get("info")
        submission = info.get("submission")
        if submission.text and not known.knows(("weak", " ".join(submission.text.split()))):
            conversation.turn("system", submission).aside(submission, "submission", submission.text)
        builder.rest(info, _INFO_KEYS)
        builder.rest(node, _READ_KEYS)


def _tell_message(conversation: ConversationBuilder, message: Node) -> None:
    role = message.get("role").text
    if role == "tool":
        ids = message.get("tool_call_ids")
        call_id = ids.at(0).label or message.get("tool_call_id").label
        turn = conversation.result(message, call_id=call_id)
        if len(list(ids)) > 1:
            conversation.builder.notice("merged", ids, "one result for several calls: it is the result of the first")
    else:
        name = "demonstration" if message.get("is_demo").value is True else ""
        turn = conversation.turn(role, message, name=name)
    for block in message.get("thinking_blocks"):
        turn.reasoning(block.get("thinking", "text"), signature=block.get("signature").text)
    tell_content(turn, message.get("content"))
    tell_calls(turn, message)
    conversation.builder.unread(message, _MESSAGE_KEYS)


def _tell_steps(conversation: ConversationBuilder, node: Node, known: KnownTexts) -> None:
    """What the steps say and the history does not; all of it when there is no history."""
    builder = conversation.builder
    place = conversation if not conversation.turns else None
    for step in node.get("trajectory"):
        scratch = builder.scratch()
        response = step.get("response")
        said = scratch.turn("assistant", step)
        said.text(response if response.text else step.get("thought"))
        if response.text != step.get("thought").text and step.get("thought").text not in response.text:
            said.text(step.get("thought"))
        if step.get("action").text not in (response.text or step.get("thought").text):
            said.text(step.get("action"))
        scratch.turn("user", step, name="environment").text(step.get("observation"))
        turns = scratch.take()
        if place is not conversation:
            for turn in turns:
                turn.keep([not known.knows(mark) for mark in turn.marks()])
        turns = [turn for turn in turns if turn.marks()]
        if turns and place is None:
            place = builder.conversation(title="steps")
            builder.notice("fallback", step, "a step says what the history does not: it is shown apart")
        known.add(turns)
        for turn in turns:
            if place is not None:
                place.put(turn)


READER = Reader(
    name="swe_agent",
    title="SWE-agent run",
    detect=detect,
    read=read,
    keys=frozenset({"trajectory", "replay_config", "swe_agent_hash", "execution_time"}),
)
