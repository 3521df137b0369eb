"""Streams of Anthropic messages."""

from __future__ import annotations

import json
from pathlib import Path

from modelcontext_core.formats import read

FIXTURES = Path(__file__).parent / "fixtures" / "anthropic_stream"


def test_blocks_are_joined_by_index() -> None:
    """Reasoning with its signature, text and calls make one message; an empty input is `{}`."""
    trace = read(FIXTURES / "text_and_call.sse")

    (message,) = trace.conversations[0].messages
    assert (message.content, message.reasoning) == ("Let me check.", "I need the time and the weather.")
    assert message.reasoning_signature == "c2lnbmF0dXJl"
    assert [(made.id, made.name, made.arguments) for made in message.tool_calls] == [
        ("toolu_1", "now", "{}"),
        ("toolu_2", "weather", '{"city": "Kyiv"}'),
    ]
    assert trace.meta["usage.output_tokens"] == 55
    assert trace.meta["stop_reason"] == "tool_use"


def test_pieces_keep_their_block_index() -> None:
    """Each piece has the index of its block, and the name of its tool."""
    trace = read(FIXTURES / "text_and_call.sse")

    assert [(chunk.channel, chunk.text, chunk.index, chunk.name) for chunk in trace.stream] == [
        ("reasoning", "I need the time ", 0, ""),
        ("reasoning", "and the weather.", 0, ""),
        ("text", "Let me ", 1, ""),
        ("text", "check.", 1, ""),
        ("arguments", "{}", 2, "now"),
        ("arguments", '{"city":', 3, "weather"),
        ("arguments", ' "Kyiv"}', 3, "weather"),
    ]


def test_results_of_server_tools_come_whole() -> None:
    """Call, result and the text after it are three messages; a citation is no text of the message."""
    call, result, text = read(FIXTURES / "server_tool.chunks.txt").conversations[0].messages

    assert [made.name for made in call.tool_calls] == ["web_search"]
    assert (result.role, result.name, result.tool_call_id) == ("tool", "web_search", "srvtoolu_1")
    assert "https://tides.example/week" in result.content
    assert [(part.type, part.text) for part in text.parts] == [
        ("text", "High water is at noon."),
        ("citation", "High water at noon."),
    ]


def test_a_spliced_message_is_kept_as_far_as_it_came() -> None:
    """A second `message_start` begins a turn of its own, and its pieces do not mix with the first one's."""
    trace = read(FIXTURES / "spliced.jsonl")

    first, second = trace.conversations[0].messages
    assert first.tool_calls[0].arguments == '{"key": "fir'
    assert second.tool_calls[0].arguments == '{"key": "second"}'
    assert [chunk.index for chunk in trace.stream] == [0, 1]
    assert any("breaks off" in notice.text for notice in trace.notices)


def test_a_message_begun_twice_is_one() -> None:
    """The same `message_start` again, before anything else, is reported and means nothing."""
    start = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hello"}}
    lines = [start, start, block, {"type": "message_stop"}]
    trace = read("\n".join(map(json.dumps, lines)).encode())

    assert [message.content for message in trace.conversations[0].messages] == ["Hello"]
    assert [notice.kind for notice in trace.notices] == ["merged"]


def test_a_cut_stream_says_so() -> None:
    """What came before the cut is read; cut event and cut message are reported."""
    trace = read(FIXTURES / "damaged_cut_mid_event.sse")

    (message,) = trace.conversations[0].messages
    assert message.content.startswith("Let me")
    assert [notice.kind for notice in trace.notices].count("damaged") >= 1


def test_an_error_event() -> None:
    """An error after the beginning stands in the turn, one without it is a turn of its own."""
    start = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hel"}}
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    trace = read("\n".join(map(json.dumps, (start, block, error))).encode())

    (message,) = trace.conversations[0].messages
    assert [(part.type, part.text) for part in message.parts] == [("text", "Hel"), ("error", "Overloaded")]
    assert "error" in {notice.kind for notice in trace.notices}


def test_a_stream_without_its_beginning() -> None:
    """Pieces without `message_start` are joined all the same."""
    lines = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}} for text in "abc"
    ]
    trace = read("\n".join(map(json.dumps, lines)).encode())

    assert [message.content for message in trace.conversations[0].messages] == ["abc"]
    assert any("beginning" in notice.text for notice in trace.notices)
