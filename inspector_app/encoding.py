"""One conversation as the model sees it: the pages and the commands get it here, so that both give the same handles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from modelcontext_core.formats.base import Conversation
from modelcontext_core.leak_report.encoded import EncodedConversation, Preceding, encode_conversation
from modelcontext_core.messages import Tool
from modelcontext_core.policies import ToolPolicies
from modelcontext_core.registry import EncodeReport, HandleRow, Registry

__all__ = ["Encoded", "encode", "own_part"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """An encoded conversation. Of a branch, `report` and `handles` count its own messages only: a handle of what came
    before, and one of tool definitions, has -1 as its first message."""

    registry: Registry
    tools: Sequence[Tool]
    report: EncodeReport
    handles: Sequence[HandleRow]


def encode(conversation: Conversation, before: Preceding, policies: ToolPolicies, *, citations: bool = True) -> Encoded:
    """Encode `conversation` behind what it continues."""
    return own_part(encode_conversation(conversation, before, policies, citations=citations))


def own_part(whole: EncodedConversation) -> Encoded:
    """What is said of the messages from `first` on, counted from there."""
    report = EncodeReport(messages=whole.messages, spans=whole.spans)
    if whole.first:
        own = [replace(span, message=span.message - whole.first) for span in whole.spans if span.message >= whole.first]
        report = EncodeReport(messages=whole.messages[whole.first :], spans=own)
    return Encoded(registry=whole.registry, tools=whole.tools, report=report, handles=_handles(whole, report))


def _handles(whole: EncodedConversation, report: EncodeReport) -> Sequence[HandleRow]:
    """The table of handles, of a branch as far as its own messages use them."""
    rows = whole.registry.handles()
    if not whole.first:
        return rows
    uses = Counter(span.handle for span in report.spans)
    return [
        replace(row, uses=uses[row.handle], first_message=row.first_message - whole.first)
        if row.first_message >= whole.first
        else replace(row, uses=uses[row.handle], first_message=-1, first_path="")
        for row in rows
    ]
