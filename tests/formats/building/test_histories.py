"""Histories that repeat themselves are told once, and differences are branches."""

from __future__ import annotations

from typing import Any

from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.building.histories import Histories
from modelcontext_core.formats.nodes import Document
from modelcontext_core.formats.openai_messages import tell_messages


def told(*histories: list[tuple[str, str]], across: bool = False, groups: list[str] | None = None) -> list[list[str]]:
    """The texts of each conversation that these histories (role and text of each message) become."""
    builder = Builder("made")
    story = Histories(builder, across=across)
    for number, history in enumerate(histories):
        value: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in history]
        scratch = builder.scratch()
        tell_messages(scratch, Document(b"[]", value).root)
        story.add(scratch.take(), groups[number] if groups else "")
    trace = builder.trace()
    return [[message.content for message in conversation.messages] for conversation in trace.conversations]


FIRST = [("user", "a"), ("assistant", "b")]


def test_a_longer_history_goes_on() -> None:
    """Only what is new is added."""
    assert told(FIRST, [*FIRST, ("user", "c"), ("assistant", "d")]) == [["a", "b", "c", "d"]]


def test_a_shorter_history_adds_nothing() -> None:
    """The newest state first, as checkpoints are listed."""
    assert told([*FIRST, ("user", "c")], FIRST, [("user", "a")]) == [["a", "b", "c"]]


def test_a_text_that_is_said_twice_stays_twice() -> None:
    """A repetition inside one history is no repetition of it."""
    again = [*FIRST, ("user", "a"), ("assistant", "b")]

    assert told(again, again) == [["a", "b", "a", "b"]]


def test_another_answer_is_a_branch() -> None:
    """Where a history differs, a branch begins."""
    assert told(FIRST, [("user", "a"), ("assistant", "other")]) == [["a", "b"], ["other"]]


def test_another_system_prompt_is_another_agent() -> None:
    """The same question to two agents is two conversations."""
    one, two = [("system", "x"), *FIRST], [("system", "y"), *FIRST]

    assert told(one, two) == [["x", "a", "b"], ["y", "a", "b"]]


def test_an_answer_without_history_goes_on_with_the_latest() -> None:
    """Some records hold an answer only."""
    assert told(FIRST, [("assistant", "c")], [("assistant", "c")]) == [["a", "b", "c"]]


def test_groups_are_apart_unless_an_answer_is_repeated() -> None:
    """Across groups the same first question is not enough, the same answer is."""
    longer = [*FIRST, ("user", "c")]

    assert told(FIRST, longer, groups=["1", "2"]) == [["a", "b"], ["a", "b", "c"]]
    assert told(FIRST, longer, across=True, groups=["1", "2"]) == [["a", "b", "c"]]
    assert told(FIRST, [("user", "a")], across=True, groups=["1", "2"]) == [["a", "b"], ["a"]]
