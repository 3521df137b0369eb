"""Streams of the Responses API."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import read

FIXTURES = Path(__file__).parent / "fixtures" / "openai_responses_stream"


def test_the_final_event_is_preferred() -> None:
    """The response of the last event is told once; the pieces are the stream."""
    trace = read(FIXTURES / "text_and_call.sse")

    system, message = trace.conversations[0].messages
    assert system.content == "Be short."
    assert message.content == "I will look."
    assert [(made.id, made.name, made.arguments) for made in message.tool_calls] == [
        ("call_1", "look_up", '{"key": 1}')
    ]
    assert [(chunk.channel, chunk.text, chunk.index, chunk.name) for chunk in trace.stream] == [
        ("text", "I will ", 0, ""),
        ("text", "look.", 0, ""),
        ("arguments", '{"key":', 1, "look_up"),
        ("arguments", " 1}", 1, "look_up"),
    ]


def test_a_cut_stream_is_read_from_its_pieces() -> None:
    """Finished items come from their `done` event, the others from their pieces, joined by `output_index`."""
    trace = read(FIXTURES / "damaged_cut.sse")

    message = trace.conversations[0].messages[-1]
    assert message.content == "I will look."
    assert [(made.id, made.name, made.arguments) for made in message.tool_calls] == [("call_1", "look_up", '{"key":')]
    assert any("breaks off" in notice.text for notice in trace.notices)


def test_an_error_told_twice_is_one() -> None:
    """The `error` event and `response.failed` report the same error."""
    trace = read(FIXTURES / "failed.chunks.txt")

    (message,) = trace.conversations[0].messages
    assert [(part.type, part.text) for part in message.parts] == [("error", "The quota is used up.")]


def test_a_final_event_without_items() -> None:
    """Then the items of the stream are taken, in the order of their index."""
    trace = read(FIXTURES / "empty_final.chunks.txt")

    (message,) = trace.conversations[0].messages
    assert (message.reasoning, message.content) == ("First.", "Second.")
    assert any(notice.kind == "fallback" for notice in trace.notices)


def test_the_end_of_a_block_holds_all_of_it() -> None:
    """A capture that began in the middle and has no final event is read from the events that end its blocks."""
    events = [
        '{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"world."}',
        '{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"Hello world."}',
    ]
    trace = read("\n".join(events).encode())

    assert [message.content for message in trace.conversations[0].messages] == ["Hello world."]
    assert [chunk.text for chunk in trace.stream] == ["world."]
