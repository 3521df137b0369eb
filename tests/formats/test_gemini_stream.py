"""Streams of Gemini."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from modelcontext_core.formats import read
from modelcontext_core.formats.building.partial_args import PartialArguments

FIXTURES = Path(__file__).parent / "fixtures" / "gemini_stream"


def test_parts_of_events_are_appended() -> None:
    """Thoughts and texts are joined; a call comes whole, with its exact source text."""
    trace = read(FIXTURES / "text.sse")

    (message,) = trace.conversations[0].messages
    assert message.reasoning == "Think first."
    assert [(part.type, part.text) for part in message.parts] == [("text", "Good morning."), ("citation", "")]
    assert [(made.name, made.arguments) for made in message.tool_calls] == [("now", '{"zone": "UTC", "n": 1.0}')]
    assert [(chunk.channel, chunk.text, chunk.index) for chunk in trace.stream] == [
        ("reasoning", "Think ", 0),
        ("reasoning", "first.", 0),
        ("text", "Good ", 1),
        ("text", "morning.", 1),
        ("arguments", '{"zone": "UTC", "n": 1.0}', 2),
    ]
    assert trace.meta["usageMetadata.totalTokenCount"] == 12


def test_values_with_paths_become_json() -> None:
    """Arguments that come as values with paths are written while they come; numbers keep their source text."""
    trace = read(FIXTURES / "partial_args.chunks.txt")

    (made,) = trace.conversations[0].messages[0].tool_calls
    assert made.name == "order"
    assert made.arguments == (
        '{"items": [{"name": "Tea \\"A\\"", "price": 2.50}, {"name": "Milk"}], "gift": false, "note": null}'
    )
    assert "".join(chunk.text for chunk in trace.stream) == made.arguments


def test_a_call_that_is_never_closed() -> None:
    """Its arguments are closed where they end, and that is said."""
    lines = (FIXTURES / "partial_args.chunks.txt").read_text("utf-8").splitlines()[:3]
    trace = read("\n".join(lines).encode())

    assert trace.conversations[0].messages[0].tool_calls[0].arguments == '{"items": [{"name": "Tea \\"A\\""}]}'
    assert any("never closed" in notice.text for notice in trace.notices)


def test_an_array_of_events() -> None:
    """The API without SSE gives one array."""
    assert [m.content for m in read(FIXTURES / "array.json").conversations[0].messages] == ["One two."]


def test_a_recording_of_responses() -> None:
    """Each recorded call is a turn, whether it was streamed or not."""
    first, second = read(FIXTURES / "recording.responses").conversations[0].messages

    assert first.content == "simple"
    assert second.content == "Reading."
    assert second.tool_calls[0].arguments == '{"path":"a.txt"}'


def test_an_interaction() -> None:
    """Steps are joined by index."""
    trace = read(FIXTURES / "interaction.sse")

    (message,) = trace.conversations[0].messages
    assert (message.reasoning, message.content) == ("Count.", "1, 2")
    assert [(chunk.text, chunk.index) for chunk in trace.stream] == [("Count.", 0), ("1, ", 1), ("2", 1)]
    assert not trace.notices


def test_an_interaction_with_a_streamed_call() -> None:
    """Arguments of a call come in pieces."""
    events = [
        {"event_type": "step.start", "index": 0, "step": {"type": "function_call", "id": "f1", "name": "now"}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "arguments_delta", "arguments": '{"a"'}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "arguments_delta", "arguments": ": 1}"}},
        {"event_type": "interaction.completed", "interaction": {"id": "i", "object": "interaction"}},
    ]
    (message,) = read("\n".join(map(json.dumps, events)).encode()).conversations[0].messages

    assert [(made.id, made.name, made.arguments) for made in message.tool_calls] == [("f1", "now", '{"a": 1}')]


def test_two_responses_in_one_capture() -> None:
    """Another response id is another turn."""
    events = [
        {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": end}], "responseId": id_}
        for id_, text, end in (("a", "A", ""), ("a", "a", "STOP"), ("b", "B", "STOP"))
    ]
    messages = read("\n".join(map(json.dumps, events)).encode()).conversations[0].messages

    assert [message.content for message in messages] == ["Aa", "B"]


def test_a_cut_stream_says_so() -> None:
    """An answer without a finish reason is reported."""
    assert any("breaks off" in notice.text for notice in read(FIXTURES / "damaged_cut.sse").notices)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["$.a", "$.b"], {"a": 1, "b": 1}),
        (["$.a[0]", "$.a[1].b", "$.c"], {"a": [1, {"b": 1}], "c": 1}),
        (["$.a.b", "$.c", "$.a.d"], {"a": {"b": 1, "d": 1}, "c": 1}),
        (["$.a[1]", "$.a[0]"], {"a": [1, 1]}),
        (["$.a", "$.a.b"], {"a": {"b": 1}}),
        (["$[0]", "$[1][0]"], [1, [1]]),
        (["$['x y'].a", '$["x y"].b'], {"x y": {"a": 1, "b": 1}}),
    ],
)
def test_any_order_of_paths_gives_json(paths: list[str], expected: object) -> None:
    """Paths in order are written at once; paths that go back still give the right value."""
    writer = PartialArguments()
    pieces = [writer.add(path, "1", text=False, goes_on=False) or "" for path in paths]
    pieces.append(writer.close())

    assert json.loads(writer.text) == expected
    assert writer.rewritten or "".join(pieces) == writer.text


@pytest.mark.parametrize("path", ["", "$", "$.a[", "$..a", "$.a[x]", "$" + ".a" * 300])
def test_a_path_that_is_not_understood(path: str) -> None:
    """Nothing is written for it."""
    assert PartialArguments().add(path, "1", text=False, goes_on=False) is None
