"""Codex logs: items, events that repeat them, the old form, compaction."""

from __future__ import annotations

import json
from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "codex_jsonl"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_items_are_the_conversation_and_events_repeat_them() -> None:
    """What an event repeats is told once, whether it stands before or after its item."""
    trace = _read("rollout.jsonl")
    texts = [message.content for message in trace.conversations[0].messages]

    assert texts.count("List the files here.") == 1
    assert texts.count("There is one file.") == 1
    reasoning = [m.reasoning for m in trace.conversations[0].messages if m.reasoning]
    assert reasoning == ["Listing needs a command."]
    assert sum(notice.kind == "merged" for notice in trace.notices) >= 4


def test_parallel_calls_are_answered_in_another_order() -> None:
    """Both calls are one turn; their results follow in the order in which they came."""
    messages = _read("rollout.jsonl").conversations[0].messages
    calls = next(message for message in messages if message.tool_calls)
    results = [message for message in messages if message.role == "tool"]

    assert [call.id for call in calls.tool_calls] == ["c1", "c2"]
    assert [result.tool_call_id for result in results[:2]] == ["c2", "c1"]
    assert {result.name for result in results[:2]} == {"shell"}


def test_an_event_about_an_unknown_call_is_the_call() -> None:
    """A call that no item holds is told from its event, with its failed result."""
    conversation = _read("rollout.jsonl").conversations[0]
    pairs = list(zip(conversation.messages, conversation.origins, strict=True))
    result, origin = next((message, origin) for message, origin in pairs if message.tool_call_id == "m1")

    assert (result.name, result.content, origin.is_error) == ("find", "The server is down.", True)


def test_a_search_and_its_event_are_one_call() -> None:
    """The item of a web search has no id: its event brings the results to the same call."""
    messages = _read("rollout.jsonl").conversations[0].messages
    searches = [call for message in messages for call in message.tool_calls if call.name == "web_search"]

    assert len(searches) == 1
    assert sum("About a.txt" in message.content for message in messages) == 1


def test_instructions_and_compaction() -> None:
    """The base instructions come first; of a compacted history only what is new is told."""
    messages = _read("rollout.jsonl").conversations[0].messages

    assert (messages[0].role, messages[0].content) == ("system", "You are a coding agent.")
    assert [message.content for message in messages[-2:]] == ["One file was listed.", "Summary: there is a.txt."]


def test_a_log_of_events_alone_is_told() -> None:
    """Without items the events are the conversation."""
    messages = _read("events_only.jsonl").conversations[0].messages

    assert [(message.role, message.content) for message in messages] == [
        ("user", "Is anybody there?"),
        ("assistant", "I am."),
    ]


def test_the_old_form_has_bare_items() -> None:
    """A header, bare items, and lines of state between them."""
    messages = _read("old_form.jsonl").conversations[0].messages

    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert messages[0].content == "Be brief."


def test_events_without_items_keep_their_place() -> None:
    """What only events say stands where it stands in the log, also beside calls and errors that only events know."""
    events: list[dict[str, object]] = [
        {"type": "user_message", "message": "List."},
        {"type": "exec_command_end", "call_id": "c1", "command": ["ls"], "stdout": "a.txt"},
        {"type": "agent_message", "message": "One file."},
        {"type": "error", "message": "the stream broke"},
    ]
    lines = [json.dumps({"timestamp": "", "type": "event_msg", "payload": event}) for event in events]
    messages = read("\n".join(lines).encode()).conversations[0].messages

    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant", "system"]
    assert messages[3].content == "One file."
