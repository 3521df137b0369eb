"""What a rule does to the leaks of a trace, measured: the trace is encoded again under a pack with the rule.

Only what the rule can touch is encoded again. Encoding reads identities from the results and arguments of declared
tools alone, and writes known ones only there (steps 4 and 5 of `encode`). What any other text can add to a
registry begins with one of a few marks: handles, stored references and URIs, and citations. A message without such
a mark and without a declared tool neither changes nor changes another: its leaks are those that were counted before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from modelcontext_core.detectors import DEFAULT_DETECTORS, Detectors
from modelcontext_core.formats.base import Conversation, Trace
from modelcontext_core.leak_report.trace_scan import Leaks, count_leaks
from modelcontext_core.limits import MAX_MESSAGES_PER_CONVERSATION
from modelcontext_core.messages import Message
from modelcontext_core.policies import ToolPolicies

__all__ = ["NOTHING", "Effect", "measure", "tools_of"]


class Effect(NamedTuple):
    """Unregistered and registered leaks together, before and after: of the producer, and of every producer."""

    before: int = 0
    after: int = 0
    all_before: int = 0
    all_after: int = 0
    traces: int = 0

    def plus(self, other: Effect) -> Effect:
        """Both together."""
        return Effect(*(one + two for one, two in zip(self, other, strict=True)))


NOTHING: Final = Effect()


class _Outline(NamedTuple):
    """What of a message decides what encoding can do there: its tools, and whether it has a mark."""

    tools: Sequence[str]
    marked: bool


def measure(
    trace: Trace,
    pack: ToolPolicies,
    packs: Mapping[str, ToolPolicies],
    detectors: Detectors = DEFAULT_DETECTORS,
    *,
    leaks: Leaks | None = None,
) -> dict[str, Effect]:
    """What rules do to one trace, by tool: `packs` holds, for each tool, `pack` with what a suggestion adds for it.

    Tools that are not in the trace are left out: there a rule has no effect. `leaks` are those under `pack`, when they
    are known already. Effects of several traces add up (`Effect.plus`).
    """
    present = tools_of(trace)
    wanted = [tool for tool in packs if tool in present]
    if not wanted:
        return {}
    if leaks is None:
        leaks = count_leaks(trace, pack, detectors)
    before = _by_producer(leaks)
    if not before:
        return {}
    outlines = [list(map(_outline, conversation.messages)) for conversation in trace.conversations]
    effects = {}
    for tool in wanted:
        touched = _touched(outlines, {each for each in present if each in packs[tool]})
        after = before + _difference(trace, touched, packs[tool], detectors, leaks)
        effects[tool] = Effect(before[tool], after[tool], before.total(), after.total(), 1)
    return effects


def tools_of(trace: Trace) -> set[str]:
    """The tools that a trace calls or has results of."""
    return {
        tool for conversation in trace.conversations for message in conversation.messages for tool in _tools(message)
    }


def _tools(message: Message) -> Sequence[str]:
    if message.role == "tool":
        return (message.name, *(call.name for call in message.tool_calls))
    return [call.name for call in message.tool_calls] if message.tool_calls else ()


def _by_producer(leaks: Leaks) -> Counter[str]:
    found: Counter[str] = Counter()
    for (_, _, producer), times in leaks.items():
        found[producer] += times
    return found


def _touched(outlines: Sequence[Sequence[_Outline]], declared: set[str]) -> list[list[int]]:
    """The positions of the messages of each conversation in which something can change."""
    # A limit on the messages of all branches must not be met by fewer messages than in the whole trace.
    if len(outlines) * sum(map(len, outlines)) > MAX_MESSAGES_PER_CONVERSATION:
        return [list(range(len(messages))) for messages in outlines]
    return [
        [index for index, (tools, marked) in enumerate(messages) if marked or not declared.isdisjoint(tools)]
        for messages in outlines
    ]


def _difference(
    trace: Trace, touched: Sequence[Sequence[int]], pack: ToolPolicies, detectors: Detectors, leaks: Leaks
) -> Counter[str]:
    """How many more leaks each producer has under `pack`, or fewer: counted again where something can have changed."""
    found: Counter[str] = Counter()
    again = [set(indices) for indices in touched]
    for (conversation, message, producer), times in leaks.items():
        if message in again[conversation]:
            found[producer] -= times
    for (_, message, producer), times in count_leaks(_only(trace, touched, pack), pack, detectors).items():
        if message >= 0:
            found[producer] += times
    return found


def _only(trace: Trace, kept: Sequence[Sequence[int]], pack: ToolPolicies) -> Trace:
    """The trace with these messages alone, and the tool definitions that routing ids are read from."""
    numbers = {conversation.id: number for number, conversation in enumerate(trace.conversations)}

    def reduced(conversation: Conversation, indices: Sequence[int]) -> Conversation:
        parent = numbers.get(conversation.parent)
        return Conversation(
            id=conversation.id,
            parent=conversation.parent,
            after=bisect_left(kept[parent], conversation.after) if parent is not None else 0,
            messages=[conversation.messages[index] for index in indices],
            tools=[tool for tool in conversation.tools if tool.name in pack],
        )

    return replace(trace, conversations=[*map(reduced, trace.conversations, kept)])


def _outline(message: Message) -> _Outline:
    return _Outline(_tools(message), _is_marked(message))


def _is_marked(message: Message) -> bool:
    texts = [message.content, message.reasoning]
    if message.parts:
        texts += [part.text for part in message.parts]
    for text in texts:
        if "://" in text or "summary/" in text or "<kb" in text or "<web" in text:
            return True
    for call in message.tool_calls:
        # In arguments, escapes may spell a mark.
        if "://" in call.arguments or "summary/" in call.arguments or "\\" in call.arguments:
            return True
    return False
