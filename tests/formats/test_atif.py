"""ATIF: parallel calls, observations without ids, subagents."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "atif"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_parallel_calls_have_results_in_another_order() -> None:
    """Results name their calls; an object of arguments keeps its source text."""
    messages = _read("run.json").conversations[0].messages

    assert [message.role for message in messages[:5]] == ["system", "user", "assistant", "tool", "tool"]
    assert messages[2].reasoning == "Two commands are needed."
    assert "1.0" in messages[2].tool_calls[0].arguments
    assert [message.tool_call_id for message in messages[3:5]] == ["c2", "c1"]
    assert messages[3].name == "shell"


def test_an_observation_without_a_call_is_the_environment() -> None:
    """What the environment says to a step without calls is no result of a tool."""
    messages = _read("run.json").conversations[0].messages

    assert (messages[6].role, messages[6].name) == ("user", "environment")
    assert messages[6].content == "That was no valid answer."


def test_a_result_without_an_id_is_linked_in_order() -> None:
    """A result that names no call answers the open call of its step, and a notice says so."""
    trace = _read("run.json")

    assert trace.conversations[0].messages[-1].name == "delegate"
    assert any(notice.kind == "fallback" for notice in trace.notices)


def test_a_subagent_is_a_conversation_with_a_parent() -> None:
    """Trajectories inside a trajectory are conversations of their own; tools are kept."""
    main, below = _read("run.json").conversations

    assert (below.id, below.parent) == ("sub-1", main.id)
    assert [tool.name for tool in main.tools] == ["shell"]


def test_steps_without_a_version_are_known_by_their_calls() -> None:
    """`function_name` in the calls of steps is enough; a call without a result is named."""
    trace = _read("no_version.json")

    assert trace.format == "atif"
    assert any(notice.kind == "orphan" for notice in trace.notices)
