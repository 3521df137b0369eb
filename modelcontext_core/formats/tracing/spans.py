"""Spans of any tracing tool become conversations: model calls first, then tools, then what nobody else has told.

A reader makes one `SpanRecord` of each span; `SpanStory` puts them in the order of their times and tells them:

1. Model calls: input and output are messages; histories that repeat are told once (`histories`).
2. Tools: the result goes after the call that asked for it, unless a history holds it already.
3. All others (agents, chains, retrievers): only what says something that was not told yet.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.histories import Histories, Thread
from modelcontext_core.formats.building.known_texts import KnownTexts
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.langchain_forms import fields_of, is_message
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.parts import tell_content, tell_output
from modelcontext_core.formats.tracing.payloads import tell_payload

__all__ = ["SpanKind", "SpanRecord", "SpanStory", "time_key"]

SpanKind = Literal["model", "tool", "other"]
Tell = Callable[[ConversationBuilder], None]
_LONG_NAME: Final = 20
_OTHER: Final = "a span that is no model call says something new: it is shown as messages of its own"
_ALONE: Final = "a tool's span without a call of a model: shown as a call and its result"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRecord:
    """One span. `group` is its trace; `agent` tells conversations with different models of one trace apart.

    `input` and `output` are bodies of any shape; `tell` tells the messages of a model call in their place.
    """

    node: Node
    kind: SpanKind
    group: str = ""
    agent: str = ""
    id: str = ""
    parent: str = ""
    name: str = ""
    start: str = ""
    call_id: str = ""
    input: Node | None = None
    output: Node | None = None
    error: Node | None = None
    tell: Tell | None = None
    tools: Tell | None = None
    extras: tuple[Node, ...] = field(default=())


class SpanStory:
    """Tells all spans of a source."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.histories = Histories(builder)
        self.known = KnownTexts()
        self._side: dict[str, ConversationBuilder] = {}
        self._late: list[tuple[Thread, int, Turn]] = []

    @property
    def told_aside(self) -> bool:
        """Was anything told by spans that are no model calls?"""
        return bool(self._side)

    def tell(self, spans: list[SpanRecord]) -> None:
        """Tell the spans, ordered by time, whatever their order in the source."""
        ordered = sorted(spans, key=lambda span: time_key(span.start))
        calls = [(span, *self._turns_of(span)) for span in ordered if span.kind == "model"]
        above = _above(spans, [span for span, turns, _ in calls if turns])
        for span, turns, scratch in calls:
            if turns and span.id not in above:
                self._tell_model(span, turns, scratch)
        for span, turns, _ in calls:
            if span.id in above:
                self._tell_new(span, turns)
        for span in ordered:
            if span.kind == "tool":
                self._tell_tool(span)
        self._insert_results()
        for span in ordered:
            if span.kind == "other":
                self._tell_other(span)
            for extra in span.extras:
                self._tell_extra(span, extra)

    # -- model calls ---------------------------------------------------------------------------------------------

    def _turns_of(self, span: SpanRecord) -> tuple[list[Turn], ConversationBuilder]:
        """What a model call says, and the conversation that knows its tools."""
        scratch = self.builder.scratch()
        if span.tell is not None:
            span.tell(scratch)
        else:
            if span.input is not None:
                tell_payload(scratch, span.input, "user")
            if span.output is not None:
                tell_payload(scratch, span.output, "assistant")
        self._tell_error(scratch, span)
        turns = scratch.take()
        if turns and turns[-1].role == "assistant":
            turns[-1].time = turns[-1].time or span.start
            if len(span.name) > _LONG_NAME and " " in span.name:
                turns[-1].aside(span.node.get("name", "spanName"), "span", span.name)
        return turns, scratch

    def _tell_model(self, span: SpanRecord, turns: list[Turn], scratch: ConversationBuilder) -> None:
        self.known.add(turns)
        thread = self.histories.add(turns, span.group, agent=span.agent, where=span.node)
        thread.conversation.adopt_tools(scratch)
        if span.tools is not None:
            span.tools(thread.conversation)

    def _tell_error(self, scratch: ConversationBuilder, span: SpanRecord) -> None:
        if span.error is None or not span.error:
            return
        turn = scratch.turn("assistant", span.error)
        turn.is_error = True
        turn.aside(span.error, "error", _shown(span.error))
        self.builder.notice("error", span.error, "the span records an error")

    # -- tools ---------------------------------------------------------------------------------------------------

    def _tell_tool(self, span: SpanRecord) -> None:
        scratch = self.builder.scratch()
        result = self._result(scratch, span)
        calls = [_call_of(scratch, span, arguments) for arguments in _arguments(span)]
        scratch.take()
        self.known.add(calls[:1])
        called = [call.marks()[0] for call in calls]
        for by_name in (False, True):
            for thread in self.histories.groups(span.group):
                found = thread.turn_of_call(called, span.call_id, by_name=by_name)
                if found is not None:
                    self._answer(span, thread, result, *found)
                    return
        latest = self.histories.latest(span.group)
        marks = result.marks()
        if latest is not None and marks and latest.marks.issuperset(marks):
            return
        turns = [calls[0], result] if marks or result.is_error else [calls[0]]
        if latest is None:
            thread = self.histories.add(turns, span.group, where=span.node)
            thread.turn_of_call(called, span.call_id, by_name=False)  # it waits for no other span
        else:
            self.known.add(turns)
            for turn in turns:
                latest.take(turn, waiting=False)
        self.builder.notice("fallback", span.node, _ALONE)

    def _result(self, scratch: ConversationBuilder, span: SpanRecord) -> Turn:
        failed = span.error is not None and bool(span.error)
        turn = scratch.result(span.node, call_id=span.call_id, name=span.name, is_error=failed, time=span.start)
        output = span.output
        if output is not None and output:
            _tell_result_body(turn, output)
        if failed and span.error is not None:
            turn.text(span.error, _shown(span.error))
        return turn

    def _answer(self, span: SpanRecord, thread: Thread, result: Turn, call_id: str, number: int) -> None:
        """Put a tool's result behind its call, unless the history has one."""
        marks = result.marks()
        told = call_id in thread.answered if call_id else thread.marks.issuperset(marks)
        if told or not (marks or result.is_error):
            if not thread.marks.issuperset(marks):
                self._tell_rest(span)
            result.keep([False] * len(marks))
            return
        self.known.add([result])
        result.call_id = call_id or result.call_id
        thread.answered.add(result.call_id)
        self._late.append((thread, number, result))

    def _insert_results(self) -> None:
        """Put the results that no history has behind their calls and the results that follow these: from the last
        turn to the first, so that numbers stay right, and those of one turn in their order."""
        behind: dict[tuple[int, int], list[Turn]] = {}
        threads = {id(thread): thread for thread, _, _ in self._late}
        for thread, number, result in self._late:
            index = number + 1
            while index in thread.results:
                index += 1
            behind.setdefault((id(thread), index), []).append(result)
        self._late.clear()
        for (key, index), turns in sorted(behind.items(), key=lambda item: -item[0][1]):
            for turn in reversed(turns):
                self.histories.insert(threads[key], turn, index)

    def _tell_rest(self, span: SpanRecord) -> None:
        """What a tool's span says and the history of the model does not: the whole error, the output as it was."""
        scratch = self.builder.scratch()
        turn = scratch.turn("span", span.node, name=span.name)
        for body in (span.output, span.error):
            if body is not None and body:
                turn.text(body, _shown(body)) if body is span.error else turn.json(body)
        self._tell_new(span, scratch.take())

    # -- all others ----------------------------------------------------------------------------------------------

    def _tell_other(self, span: SpanRecord) -> None:
        for body, role in ((span.input, "user"), (span.output, "assistant")):
            if body is not None and body:
                scratch = self.builder.scratch()
                tell_payload(scratch, body, role)
                self._tell_new(span, [turn for turn in scratch.take() if not self._is_prompt(span, turn)])
        scratch = self.builder.scratch()
        self._tell_error(scratch, span)
        self._tell_new(span, scratch.take())

    def _is_prompt(self, span: SpanRecord, turn: Turn) -> bool:
        """A system prompt that only a span around the model calls has: it begins the conversation of these."""
        thread = next(iter(self.histories.groups(span.group)), None)
        if turn.role != "system" or thread is None or thread.system:
            return False
        self.histories.insert(thread, turn, 0)
        self.known.add([turn])
        return True

    def _tell_extra(self, span: SpanRecord, extra: Node) -> None:
        scratch = self.builder.scratch()
        scratch.turn("span", extra, name=span.name).json(extra)
        self._tell_new(span, scratch.take(), prose=True)

    def _tell_new(self, span: SpanRecord, turns: list[Turn], *, prose: bool = False) -> None:
        """Tell what was not told yet of these turns. `prose`: names and numbers alone are not worth telling."""
        prose = prose or self.histories.latest(span.group) is not None
        for turn in turns:
            turn.keep([not self.known.knows(mark, prose=prose) for mark in turn.marks()])
        turns = [turn for turn in turns if turn.marks()]
        if turns:
            self._aside(span, turns)

    def _aside(self, span: SpanRecord, turns: list[Turn]) -> None:
        """Messages of a span that is no model call stand apart; where there is no model call they are the trace."""
        self.known.add(turns)
        kept = self._side.get(span.group)
        if kept is None:
            title = span.name if self.histories.latest(span.group) is None else "other spans"
            kept = self._side[span.group] = self.builder.conversation(title=title)
        for turn in turns:
            turn.time = turn.time or span.start
            kept.put(turn)
        self.builder.notice("fallback", span.node, _OTHER)


def _above(spans: list[SpanRecord], calls: list[SpanRecord]) -> set[str]:
    """The spans that have a model call (with messages) below them: they repeat what that says."""
    parents = {span.id: span.parent for span in spans if span.id}
    above: set[str] = set()
    for span in calls:
        parent = span.parent
        while parent and parent not in above:
            above.add(parent)
            parent = parents.get(parent, "")
    return above


def _arguments(span: SpanRecord) -> list[Node | None]:
    """What a tool's span was given, and the same without a wrapper around it."""
    given = span.input
    inner = given.unpacked().get("input", "args", "kwargs", "arguments") if given is not None else None
    return (
        [given, inner]
        if inner is not None and inner and len(inner.parent.value if inner.parent else ()) == 1
        else [given]
    )


def _call_of(scratch: ConversationBuilder, span: SpanRecord, arguments: Node | None) -> Turn:
    turn = scratch.turn("assistant", span.node, time=span.start)
    turn.call(span.node, id=span.call_id, name=span.name, arguments=arguments if arguments is not None else "")
    return turn


def _tell_result_body(turn: Turn, output: Node) -> None:
    """A tool's output: a framework's message around it is taken off, everything else stays as it is."""
    inner = output.unpacked()
    if is_message(inner):
        tell_content(turn, fields_of(inner).get("content"))
    elif inner.get("content").is_list and set(inner.value) <= {"content", "is_error", "isError", "role"}:
        tell_output(turn, inner.get("content"))
    else:
        turn.json(output)


def _shown(error: Node) -> str:
    """An error as text."""
    if error.is_object:
        parts = [error.get(key).text for key in ("exception_type", "type", "message", "error_message", "traceback")]
        told = [part for part in parts if part]
        if told:
            return "\n".join(told)
    return error.label or json.dumps(error.value, ensure_ascii=False, default=str)


_MOST_DIGITS: Final = 32


def time_key(start: str) -> tuple[int, float, str]:
    """ISO times and numbers of seconds or finer, in order; spans without a time come last, in their order."""
    digits = start.replace(".", "", 1)
    # More digits than a time has would be an infinite number, which no division makes smaller.
    if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS:
        number = float(start)
        while number > 1e11:
            number /= 1000
        return (0, number, "")
    try:
        return (0, datetime.fromisoformat(start.replace("Z", "+00:00")).timestamp(), "")
    except (ValueError, OverflowError, OSError):
        return (1, 0.0, "")
