"""The older data stream of the AI SDK: what its lines say is what the newer stream says."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read
from tests.formats.traces import kinds, results

FIXTURES = Path(__file__).parent / "fixtures" / "vercel_data_stream"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_pieces_are_joined_and_steps_are_turns() -> None:
    """Reasoning with its signature, text and calls of one step are one turn, the results come after it."""
    messages = _read("tools.txt").conversations[0].messages
    first = messages[0]

    assert [message.role for message in messages] == ["assistant", "tool", "tool", "assistant"]
    assert (first.reasoning, first.reasoning_signature) == ("I look it up.", "c2lnbmVk")
    assert first.content == "Let me see."
    assert [(call.name, call.arguments) for call in first.tool_calls] == [
        ("weather", '{"city": "Oslo"}'),
        ("clock", '{"zone": 1.0}'),
    ]
    assert results(_read("tools.txt")) == [("c1", "weather", "clear"), ("c2", "clock", '{"time": "noon"}')]


def test_sources_data_and_files_are_parts() -> None:
    """What stands beside the text of an answer, in its order."""
    trace = _read("tools.txt")
    parts = trace.conversations[0].messages[-1].parts

    assert [part.type for part in parts] == ["text", "citation", "data-stream", "data-annotation", "image"]
    assert trace.meta["usage.promptTokens"] == 8


def test_the_stream_keeps_its_pieces_and_lines() -> None:
    """Each piece as it came; a message knows the line that it begins with."""
    trace = _read("text.txt")

    assert [chunk.text for chunk in trace.stream] == ["Hel", "lo"]
    assert trace.conversations[0].messages[0].content == "Hello"
    assert trace.conversations[0].origins[0].record == "line 1"


def test_an_error_and_a_missing_end_are_reported() -> None:
    """The error is a part of the turn; a stream without its last line is cut."""
    trace = _read("error.txt")

    assert ("error", "The model is not there.") in [
        (part.type, part.text) for part in trace.conversations[0].messages[0].parts
    ]
    assert {"error", "damaged"} <= kinds(trace)


def test_text_that_only_looks_alike_is_text() -> None:
    """A list of numbered remarks is no stream."""
    assert read(b'0: nothing\n1: "something"\n').format == "text"
