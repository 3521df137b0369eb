"""The conversations of a trace as the model sees them, each encoded by a registry of its own.

The pages and the commands use this too, so that one conversation has the same handles everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from modelcontext_core.encode import Encoder
from modelcontext_core.formats.base import Conversation, Trace
from modelcontext_core.limits import MAX_MESSAGES_PER_CONVERSATION
from modelcontext_core.mcp import encode_tools
from modelcontext_core.messages import Message, Tool
from modelcontext_core.policies import ToolPolicies
from modelcontext_core.registry import Registry, Span
from modelcontext_core.sources import HandleSpaces

__all__ = [
    "NOTHING_BEFORE",
    "EncodedConversation",
    "Preceding",
    "changed_texts",
    "continued",
    "encode_conversation",
    "encoded_conversations",
    "preceding",
]


class Preceding(NamedTuple):
    """What a branch continues: messages of its parents, and the tool definitions of their requests."""

    messages: Sequence[Message] = ()
    tools: Sequence[Tool] = ()


NOTHING_BEFORE: Final = Preceding()


class EncodedConversation(NamedTuple):
    """A conversation as the model sees it: its own messages from `first` on (before them stand those of its parent),
    its tool definitions, what was replaced, and whether a durable id is known."""

    number: int
    first: int
    messages: Sequence[Message]
    tools: Sequence[Tool]
    spans: Sequence[Span]
    registry: Registry
    pack: ToolPolicies


def encoded_conversations(trace: Trace, pack: ToolPolicies) -> Iterator[EncodedConversation]:
    """Every conversation of a trace, encoded by a registry of its own.

    A branch is encoded behind the messages of its parent that it continues. When the branches of a trace would repeat
    more messages than a conversation may have, the rest of them are encoded alone.
    """
    for number, (before, conversation) in enumerate(continued(trace)):
        yield encode_conversation(conversation, before, pack, number=number)


def encode_conversation(
    conversation: Conversation,
    before: Preceding,
    pack: ToolPolicies,
    *,
    citations: bool = True,
    number: int = 0,
) -> EncodedConversation:
    """One conversation, encoded by a registry of its own behind what it continues."""
    registry = Registry(citations_enabled=citations, policies=pack)
    # Tools first, as a request is built: a directory of tools may name the servers that messages refer to.
    tools = registry.encode_tools((*before.tools, *conversation.tools))[len(before.tools) :]
    report = registry.encode_with_report((*before.messages, *conversation.messages))
    return EncodedConversation(number, len(before.messages), report.messages, tools, report.spans, registry, pack)


def changed_texts(
    conversation: Conversation, before: Preceding, pack: ToolPolicies
) -> tuple[Sequence[Tool], Mapping[int, Mapping[str, str]]]:
    """The same tool definitions as `encode_conversation` gives, and only the texts of messages in which something
    changed, by position behind `before` and path: half the work where neither messages nor spans are wanted."""
    spaces = HandleSpaces(pack.uri_scheme)
    tools = encode_tools((*before.tools, *conversation.tools), spaces, pack)[len(before.tools) :]
    encoder = Encoder((*before.messages, *conversation.messages), spaces, pack)
    encoder.run()
    return tools, encoder.changed_texts()


def continued(trace: Trace) -> Iterator[tuple[Preceding, Conversation]]:
    """Every conversation with what it continues."""
    by_id = {conversation.id: conversation for conversation in trace.conversations if conversation.id}
    left = MAX_MESSAGES_PER_CONVERSATION
    for conversation in trace.conversations:
        before = preceding(conversation, by_id, left)
        left -= len(before.messages) + len(before.tools)
        yield before, conversation


def preceding(
    conversation: Conversation, by_id: Mapping[str, Conversation], most: int = MAX_MESSAGES_PER_CONVERSATION
) -> Preceding:
    """What a branch continues; nothing when that are more than `most` messages and tool definitions.

    `by_id` holds the conversations of the trace by their ids.
    """
    pieces: list[Preceding] = []
    seen = {conversation.id}
    child = conversation
    while (parent := by_id.get(child.parent)) is not None and parent.id not in seen:
        seen.add(parent.id)
        pieces.append(Preceding(parent.messages[: child.after], parent.tools))
        most -= len(parent.tools) + len(pieces[-1].messages)
        child = parent
    if not pieces or most < 0:
        return NOTHING_BEFORE
    pieces.reverse()
    return Preceding(
        [message for piece in pieces for message in piece.messages], [tool for piece in pieces for tool in piece.tools]
    )
