"""OpenHands: one message for all actions of a response, observations, the newer SDK."""

from __future__ import annotations

import json
from pathlib import Path

from modelcontext_core.formats import Trace, read
from modelcontext_core.messages import Message

FIXTURES = Path(__file__).parent / "fixtures" / "openhands"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def _said(message: Message) -> str:
    """The text of a message, whatever stands beside it."""
    return message.content or "".join(part.text for part in message.parts if part.type == "text")


def test_actions_of_one_response_are_one_message() -> None:
    """Two actions carry the same response of the model: it is told once, with both calls."""
    messages = _read("output.jsonl").conversations[0].messages
    calls = [message for message in messages if message.tool_calls]

    assert [call.id for call in calls[0].tool_calls] == ["t1", "t2"]
    assert sum(_said(message) == "I look at both files." for message in messages) == 1


def test_observations_are_results_as_the_model_read_them() -> None:
    """The suffix belongs to the output; an exit code makes an error; names come from the calls."""
    conversation = _read("output.jsonl").conversations[0]
    pairs = zip(conversation.messages, conversation.origins, strict=True)
    results = [(message, origin) for message, origin in pairs if message.role == "tool"]

    assert _said(results[0][0]) == "2+2=5\n[The command ended.]"
    assert [origin.is_error for _, origin in results] == [False, True, False]
    assert [message.name for message, _ in results] == ["bash", "bash", "browse"]


def test_an_action_without_the_models_message_is_the_call() -> None:
    """Old events have only the action: its arguments are the call's, linked by `cause`."""
    messages = _read("output.jsonl").conversations[0].messages
    action = next(message for message in messages if message.content == "The rule is there.")

    assert action.tool_calls[0].name == "browse"
    assert any(message.tool_call_id == action.tool_calls[0].id for message in messages if message.role == "tool")


def test_what_is_no_message_is_an_aside() -> None:
    """What the program recalled, the patch and the error stand beside the conversation."""
    messages = _read("output.jsonl").conversations[0].messages
    asides = [part.type for message in messages if message.role == "system" for part in message.parts]

    assert asides == ["text", "recall", "git_patch", "error"]


def test_events_of_the_newer_sdk() -> None:
    """The newer SDK names the kinds of its events."""
    messages = _read("sdk_events.json").conversations[0].messages

    assert [(message.role, message.content) for message in messages] == [
        ("system", "You are an engineer."),
        ("user", "List the files."),
        ("assistant", "I list them."),
        ("tool", "a b"),
    ]
    assert messages[2].tool_calls[0].arguments == '{"command": "ls"}'


def test_captions_and_diffs_stand_beside_what_the_model_read() -> None:
    """What the screen said of an event, and what an edit changed, are parts of their own kind, told once."""
    action = {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls"}, "message": "Running command: ls"}
    seen = {
        "id": 2,
        "source": "agent",
        "observation": "edit",
        "cause": 1,
        "content": "Edited.",
        "message": "I edited it.",
    }
    again = {"id": 3, "source": "agent", "observation": "run", "cause": 1, "content": "Same.", "message": "Same."}
    seen["extras"] = {"diff": "-old\n+new"}
    trace = read(json.dumps({"history": [action, seen, again]}).encode())
    call, edited, same = trace.conversations[0].messages

    assert [(part.type, part.text) for part in call.parts] == [("caption", "Running command: ls")]
    assert [(part.type, part.text) for part in edited.parts] == [
        ("text", "Edited."),
        ("caption", "I edited it."),
        ("diff", "-old\n+new"),
    ]
    assert (same.content, same.parts) == ("Same.", ())
