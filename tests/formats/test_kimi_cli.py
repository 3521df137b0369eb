"""Kimi CLI: steps, prompts that are repeated, compaction."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "kimi_cli"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_a_step_is_one_turn() -> None:
    """Thinking, text and both calls of a step are one message."""
    messages = _read("wire.jsonl").conversations[0].messages
    step = next(message for message in messages if message.tool_calls)

    assert step.reasoning == "Two commands will do."
    assert step.content == "I list them."
    assert [call.arguments for call in step.tool_calls] == ['{"command": "ls", "n": 1.0}', '{"command": "pwd"}']


def test_results_answer_by_id() -> None:
    """Results come in another order; a note of the program is part of what the model read."""
    conversation = _read("wire.jsonl").conversations[0]
    pairs = zip(conversation.messages, conversation.origins, strict=True)
    results = [(message, origin.is_error) for message, origin in pairs if message.role == "tool"]

    assert [(message.tool_call_id, failed) for message, failed in results] == [("B1", True), ("B0", False)]
    assert [part.text for part in results[1][0].parts] == ["a.txt", "<system>One line.</system>"]


def test_a_prompt_is_told_once_and_never_lost() -> None:
    """A prompt and its message are one; a prompt without a message is told; what the program says has a name."""
    messages = _read("wire.jsonl").conversations[0].messages
    said = [(message.name, message.content) for message in messages if message.role == "user"]

    assert said == [
        ("", "List the files."),
        ("injection", "<system-reminder>Plan first.</system-reminder>"),
        ("compact_summary", "So far: Files were listed."),
        ("", "And now stop."),
    ]
