"""Microsoft.Extensions.AI: contents by `$type`, updates joined by message id."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read
from tests.formats.traces import results

FIXTURES = Path(__file__).parent / "fixtures" / "microsoft_extensions_ai"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_contents_become_texts_calls_results_and_media() -> None:
    """Every kind at its place; arguments keep their text; a body is measured, not shown."""
    messages = _read("messages.json").conversations[0].messages
    user, called = messages[1], messages[2]

    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert user.name == "Ann"
    assert [part.type for part in user.parts] == ["text", "image", "file"]
    assert called.reasoning == "A tool knows."
    assert [(call.id, call.arguments) for call in called.tool_calls] == [
        ("c1", '{"city": "Oslo", "days": 1.0}'),
        ("c2", ""),
    ]


def test_results_of_one_message_go_to_their_calls() -> None:
    """Two results in one message are two messages, in their order, named by the calls."""
    assert results(_read("messages.json")) == [("c2", "weather", "Which city?"), ("c1", "weather", '{"sky": "clear"}')]


def test_citations_errors_and_files_are_parts() -> None:
    """What is no text of the answer stands beside it."""
    parts = _read("messages.json").conversations[0].messages[-1].parts

    assert [(part.type, part.text) for part in parts] == [
        ("text", "It is clear."),
        ("citation", "clear all day"),
        ("error", "The second call failed."),
        ("file", ""),
    ]


def test_updates_of_one_message_are_one_turn() -> None:
    """Pieces of text are joined, a call follows them, usage is meta; the stream keeps the pieces."""
    trace = _read("updates.jsonl")
    messages = trace.conversations[0].messages

    assert [(message.role, message.content) for message in messages] == [
        ("assistant", "It is clear."),
        ("tool", "saved"),
        ("assistant", "Saved."),
    ]
    assert [call.name for call in messages[0].tool_calls] == ["save"]
    assert [chunk.text for chunk in trace.stream] == ["It is ", "clear."]
    assert trace.meta["usage.inputTokenCount"] == 7


def test_a_response_names_its_model_and_conversation() -> None:
    """What stands around the messages is meta."""
    trace = _read("response.json")

    assert trace.conversations[0].id == "conv"
    assert trace.meta["modelId"] == "some-model"
