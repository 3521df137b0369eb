"""Google ADK: authors, Gemini's parts, partial events."""

from __future__ import annotations

import json
from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "adk_session"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_authors_are_names_and_results_are_linked() -> None:
    """Function responses of an agent's event are results, in any order; an `error` in one is a failure."""
    conversation = _read("session.json").conversations[0]
    messages = conversation.messages

    roles = ["user", "assistant", "tool", "tool", "assistant", "assistant"]
    assert [message.role for message in messages] == roles
    assert [message.name for message in messages] == ["user", "planner", "trains", "trains", "planner", "booking"]
    assert messages[1].reasoning == "A look-up is needed."
    assert [message.tool_call_id for message in messages[2:4]] == ["f2", "f1"]
    assert [origin.is_error for origin in conversation.origins[2:4]] == [True, False]


def test_partial_events_are_chunks_and_told_once() -> None:
    """The whole event repeats its pieces; a stream that was cut is joined."""
    trace = _read("events.jsonl")

    assert [chunk.text for chunk in trace.stream] == ["La la", " la.", "And again la"]
    texts = [message.content for message in trace.conversations[0].messages]
    assert texts == ["Sing.", "La la la.", "And again la"]
    assert {notice.kind for notice in trace.notices} >= {"merged", "damaged"}


def test_camel_case_and_code() -> None:
    """Camel case is the same session; code that the model ran is a call with its output."""
    messages = _read("camel.json").conversations[0].messages

    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[2].content == "2\n"
    assert messages[3].content == "It prints 2."


def test_a_session_is_known_by_its_app_and_authors() -> None:
    """Events that were stripped of their invocation ids are still those of a session."""
    event = {"author": "clerk", "content": {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}}]}}
    trace = read(json.dumps({"app_name": "shop", "events": [event]}).encode())

    assert trace.format == "adk_session"
    assert trace.conversations[0].messages[0].tool_calls[0].name == "f"
