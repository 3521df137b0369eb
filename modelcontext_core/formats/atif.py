"""ATIF, the trajectory format of Harbor: steps of system, user and agent, with calls and what was observed.

An observation that names no call belongs to the calls of its step in order; of a step without calls it is what the
environment said next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_tools
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_ROLES: Final = {"agent": "assistant"}
_READ_KEYS: Final = frozenset({"steps", "session_id", "trajectory_id", "subagent_trajectories", "agent", "notes"})
_STEP_KEYS: Final = frozenset(
    {
        "step_id",
        "timestamp",
        "source",
        "message",
        "reasoning_content",
        "tool_calls",
        "observation",
        "model_name",
        "metrics",
        "reasoning_effort",
        "is_copied_context",
        "llm_call_count",
    }
)


def detect(sample: Sample) -> bool:
    """A `schema_version` that begins with ATIF, or steps whose calls have a `function_name`."""
    return sample.container != "text" and any(_is_trajectory(node) for node in sample.nodes[:3])


def _is_trajectory(node: Node) -> bool:
    if not node.get("steps").is_list:
        return False
    if node.get("schema_version").text.startswith("ATIF"):
        return True
    return any(step.get("tool_calls").at(0).has("function_name") for step in node.get("steps"))


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a trajectory; trajectories of subagents inside it are conversations with a parent."""
    for node in nodes:
        if node.get("steps").is_list:
            _tell_trajectory(builder, node, "")
        else:
            builder.notice("unknown", node, "a record without steps is skipped")


def _tell_trajectory(builder: Builder, root: Node, parent: str) -> None:
    queue = [(root, parent, 0)]
    for node, above, after in queue:  # grows while it is walked
        identity = node.get("trajectory_id", "session_id").label
        title = node.at("agent", "name").text
        conversation = builder.conversation(id=identity, title=title, parent=above, after=after)
        for step in node.get("steps"):
            _tell_step(conversation, step)
        agent = node.get("agent")
        for tool in agent.get("tool_definitions"):
            inner = tool.get("function") if tool.get("function").is_object else tool
            conversation.tool(inner.get("name").text, inner.get("description").text, inner.get("parameters"))
        tell_tools(conversation, agent)
        notes = node.get("notes")
        if notes.text:
            conversation.turn("system", notes).aside(notes, "notes", notes.text)
        prefix = "" if node is root else f"{identity}."
        builder.rest(agent, {"tool_definitions", "tools"}, prefix=f"{prefix}agent.")
        builder.rest(node, _READ_KEYS, prefix=prefix)
        if node.get("continued_trajectory_ref").text:
            builder.notice("skipped", node.get("continued_trajectory_ref"), "the trajectory goes on in another file")
        below = list(node.get("subagent_trajectories"))
        if below:
            conversation.id = conversation.id or "1"
        queue += [(inner, conversation.id, conversation.turns) for inner in below]


def _tell_step(conversation: ConversationBuilder, step: Node) -> None:
    source, time = step.get("source").text, step.get("timestamp").label
    turn = conversation.turn(_ROLES.get(source, source), step, time=time)
    turn.reasoning(step.get("reasoning_content"))
    _tell_content(turn, step.get("message"))
    calls = list(step.get("tool_calls"))
    for call in calls:
        name, arguments = call.get("function_name", "name").text, call.get("arguments")
        turn.call(call, id=call.get("tool_call_id", "id").label, name=name, arguments=arguments)
    for result in step.at("observation", "results"):
        call_id = result.get("source_call_id").label
        if calls or call_id:
            told = conversation.result(result, call_id=call_id, time=time)
        else:
            told = conversation.turn("user", result, name="environment", time=time)
        _tell_content(told, result.get("content"))
        for reference in result.get("subagent_trajectory_ref"):
            about = {key: reference.get(key).label for key in ("session_id", "trajectory_id", "trajectory_path")}
            told.aside(reference, "subagent", "", **about)
    conversation.builder.meta("model", step.get("model_name"))
    conversation.builder.unread(step, _STEP_KEYS)


def _tell_content(turn: Turn, content: Node) -> None:
    """Tell a text, or a list of texts and pictures."""
    if not content.is_list:
        turn.json(content)
    for part in content:
        kind = part.get("type").text
        source = part.get("source")
        if kind == "text" or part.is_text:
            turn.text(part if part.is_text else part.get("text"))
        elif source.is_object:
            turn.media(
                part, kind or "file", url=source.get("path", "url").text, media_type=source.get("media_type").text
            )
        elif part:
            turn.unknown(part, "a part of an unknown type")


READER = Reader(
    name="atif",
    title="ATIF trajectory",
    detect=detect,
    read=read,
    keys=frozenset({"schema_version", "function_name", "source_call_id"}),
)
