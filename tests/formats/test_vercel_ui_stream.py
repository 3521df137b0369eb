"""The stream of the Vercel AI SDK."""

from __future__ import annotations

import json

from modelcontext_core.formats import read
from tests.formats.traces import calls, kinds, messages_of, results, roles, trace_of


def test_steps_become_turns_and_results_follow_them() -> None:
    """Interleaved arguments are joined by call id; a preliminary output is replaced."""
    trace = trace_of("vercel_ui_stream", "two_steps.sse")
    first, *_, last = messages_of(trace)

    assert roles(trace) == ["assistant", "tool", "tool", "assistant"]
    assert first.reasoning == "Look it up."
    assert [call.arguments for call in first.tool_calls] == [
        '{"plant_id": "c1f2d3a4-55aa-4b6b-9c7d-8e9f0a1b2c01"}',
        '{"bed": 4}',
    ]
    assert results(trace) == [("t1", "find_plant", '{"name": "fern"}'), ("t2", "soil_probe", "no answer")]
    assert [(part.type, part.text) for part in last.parts] == [("text", "Water it."), ("citation", "Fern")]
    assert kinds(trace) == {"merged", "skipped"}


def test_pieces_are_kept_as_they_came() -> None:
    """The stream has every piece in order, arguments with the name of their tool."""
    pieces = trace_of("vercel_ui_stream", "two_steps.sse").stream

    assert [piece.channel for piece in pieces] == ["reasoning"] * 2 + ["arguments"] * 4 + ["text"] * 2
    assert [piece.name for piece in pieces[2:6]] == ["find_plant", "soil_probe", "find_plant", "soil_probe"]
    assert len({piece.index for piece in pieces}) == 4


def test_a_call_that_came_whole_keeps_its_text() -> None:
    """Without pieces the arguments are the exact source text; a waiting call is reported."""
    trace = trace_of("vercel_ui_stream", "stored.json")

    assert calls(trace) == [("t9", "water")]
    assert "1.5" in messages_of(trace)[0].tool_calls[0].arguments
    assert {"fallback", "orphan"} <= kinds(trace)


def test_errors_and_unknown_chunks_are_reported() -> None:
    """Blocks with different ids stay apart; an error is a part; a new type is named."""
    trace = trace_of("vercel_ui_stream", "chunks.jsonl")

    assert [part.text for part in messages_of(trace)[0].parts] == ["One more", "Two", "the model is gone"]
    assert {"error", "unknown", "damaged"} <= kinds(trace)


def test_a_cut_stream_keeps_what_came() -> None:
    """Arguments that break off stay as they are, with notices."""
    trace = trace_of("vercel_ui_stream", "damaged_cut.sse")

    assert messages_of(trace)[0].reasoning == "Look it up."
    assert "damaged" in kinds(trace)


def test_data_of_the_application_is_kept_but_for_what_is_transient() -> None:
    """Data parts belong to the message; transient ones are left out, and that is said."""
    chunks = [
        {"type": "start"},
        {"type": "data-weather", "id": "d", "data": {"sky": "clear"}},
        {"type": "data-progress", "data": {"percent": 3}, "transient": True},
        {"type": "text-start", "id": "t"},
        {"type": "text-delta", "id": "t", "delta": "Clear."},
        {"type": "finish"},
    ]
    trace = read("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode())

    assert [part.type for part in trace.conversations[0].messages[0].parts] == ["data-weather", "text"]
    assert any("transient" in notice.text for notice in trace.notices)
