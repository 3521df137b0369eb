"""SWE-agent: the history is the conversation, the steps repeat it."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read
from tests.formats.traces import kinds

FIXTURES = Path(__file__).parent / "fixtures" / "swe_agent"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def _said(trace: Trace, number: int = 0) -> list[tuple[str, str, str]]:
    return [(each.role, each.name, each.content) for each in trace.conversations[number].messages]


def test_history_and_steps_are_told_once() -> None:
    """Each step stands in both; only the last output, which no message holds, is shown apart."""
    trace = _read("tool_calls.traj")

    assert _said(trace)[:5] == [
        ("system", "", "You fix code."),
        ("user", "demonstration", "This is how it is done."),
        ("user", "", "Fix the sum in a.py."),
        ("assistant", "", "I list the files."),
        ("tool", "bash", "a.py\nb.py"),
    ]
    assert _said(trace, 1) == [("user", "environment", "The change was submitted.")]


def test_calls_are_answered_by_the_ids_of_the_result() -> None:
    """A result names its calls in a list; the call that ends the run has no result, and that is said."""
    trace = _read("tool_calls.traj")
    messages = trace.conversations[0].messages

    assert [call.arguments for call in messages[3].tool_calls] == ['{"command": "ls"}']
    assert messages[4].tool_call_id == "call_1"
    assert "orphan" in kinds(trace)


def test_the_submission_stands_beside_the_conversation() -> None:
    """The patch is a part of its own kind, the exit status is meta."""
    trace = _read("tool_calls.traj")
    parts = [part for message in trace.conversations[0].messages for part in message.parts]

    assert [(part.type, part.text) for part in parts] == [("submission", "--- a.py\n+++ a.py\n+sum")]
    assert trace.meta["exit_status"] == "submitted"


def test_an_output_that_the_history_leaves_out_is_kept() -> None:
    """Old outputs are shortened in the history: the step has the whole one."""
    trace = _read("text_actions.traj")

    assert len(_said(trace)) == 4
    assert _said(trace, 1) == [("user", "environment", "[File: a.py]\n1: x")]


def test_without_a_history_the_steps_are_the_conversation() -> None:
    """Answers and outputs in turn; the thought and the action stand in the answer."""
    assert _said(_read("steps_only.json")) == [
        ("assistant", "", "DISCUSSION\nI open it.\n```\nopen a.py\n```"),
        ("user", "environment", "[File: a.py]\n1: x"),
    ]
