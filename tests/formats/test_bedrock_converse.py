"""Amazon Bedrock Converse, and AWS event streams."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path

import pytest

from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats import detect, iter_traces, read

FIXTURES = Path(__file__).parent / "fixtures" / "bedrock_converse"


def frame(event: str, payload: bytes) -> bytes:
    """One binary frame."""
    name = b":event-type"
    headers = bytes([len(name)]) + name + b"\x07" + struct.pack(">H", len(event)) + event.encode()
    prelude = struct.pack(">II", 12 + len(headers) + len(payload) + 4, len(headers))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return body + struct.pack(">I", zlib.crc32(body))


def test_a_request() -> None:
    """System first; a turn of reasoning, text and calls is one message; results are linked by id."""
    trace = read(FIXTURES / "request_with_tools.json")

    system, user, assistant, loans, room = trace.conversations[0].messages
    assert (system.role, system.content) == ("system", "You know the museum.")
    assert [(part.type, part.text or part.data) for part in user.parts] == [
        ("text", "What hangs in room 4?"),
        ("image", {"media_type": "image/png", "length": 12}),
    ]
    assert (assistant.reasoning, assistant.reasoning_signature) == ("Look at both lists.", "c2lnbmF0dXJl")
    assert [made.arguments for made in assistant.tool_calls] == ['{"number":  4.0}', "{}"]
    assert (loans.name, loans.content) == ("loans", "The list is locked.")
    assert [part.type for part in room.parts] == ["text", "document"]
    assert [origin.is_error for origin in trace.conversations[0].origins] == [False, False, False, True, False]
    assert [tool.name for tool in trace.conversations[0].tools] == ["room"]


def test_a_response() -> None:
    """Redacted reasoning is measured; tags that a model writes into its text are text."""
    trace = read(FIXTURES / "response.json")

    (message,) = trace.conversations[0].messages
    assert [(part.type, part.text) for part in message.parts] == [
        ("redacted_reasoning", ""),
        ("text", "<thinking>Short.</thinking> A portrait."),
    ]
    assert trace.meta["stopReason"] == "end_turn"


def test_a_decoded_stream() -> None:
    """Blocks are joined by index, with or without their beginning; a call without pieces has the input `{}`."""
    trace = read(FIXTURES / "stream.chunks.txt")

    (message,) = trace.conversations[0].messages
    assert (message.reasoning, message.reasoning_signature, message.content) == ("Let me see.", "c2ln", "Room four.")
    assert [(made.id, made.name, made.arguments) for made in message.tool_calls] == [
        ("tooluse_1", "room", '{"number": 4}'),
        ("tooluse_2", "now", "{}"),
    ]
    assert [chunk.index for chunk in trace.stream] == [0, 0, 1, 1, 2, 2, 3]
    assert trace.meta["usage.totalTokens"] == 14


def test_binary_frames() -> None:
    """The payload of a frame is the event that its header names; padding is noise."""
    trace = read(FIXTURES / "frames.bin")

    assert trace.format == "bedrock_converse"
    (message,) = trace.conversations[0].messages
    assert message.content == "Two words."
    assert [(made.name, made.arguments) for made in message.tool_calls] == [("room", '{"n": 1.0}')]
    assert "p" not in trace.meta


def test_an_exception_in_binary_frames() -> None:
    """What came before it stays, and the stream is reported as broken off."""
    trace = read(FIXTURES / "exception.bin")

    (message,) = trace.conversations[0].messages
    assert [(part.type, part.text) for part in message.parts] == [("text", "Two "), ("error", "Too many requests.")]
    assert {notice.kind for notice in trace.notices} == {"error", "damaged"}


def test_a_wrong_checksum_is_reported() -> None:
    """The frame is still read."""
    data = bytearray((FIXTURES / "frames.bin").read_bytes())
    data[data.index(b"words")] = ord("W")
    trace = read(bytes(data))

    assert trace.conversations[0].messages[0].content == "Two Words."
    assert any("checksum" in notice.text for notice in trace.notices)


def test_wrong_lengths_end_the_reading() -> None:
    """Frames before the break are read."""
    data = bytearray((FIXTURES / "frames.bin").read_bytes())
    second = int.from_bytes(data[:4], "big")
    data[second : second + 4] = b"\xff\xff\xff\xff"
    trace = read(bytes(data))

    assert any("lengths" in notice.text for notice in trace.notices)


def test_frames_of_a_model_invocation_hold_the_vendors_events() -> None:
    """`{"bytes": …}` is unpacked, and the vendor's reader takes the events."""
    events = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
        {"type": "message_stop"},
    ]
    payloads = [{"bytes": base64.b64encode(json.dumps(event).encode()).decode(), "p": "abc"} for event in events]
    trace = read(b"".join(frame("chunk", json.dumps(payload).encode()) for payload in payloads))

    assert trace.format == "anthropic_stream"
    assert trace.conversations[0].messages[0].content == "Hello"


def test_frames_of_something_else() -> None:
    """Frames that no reader knows are named as such."""
    with pytest.raises(UnreadableTrace, match="binary event frames"):
        read(frame("transcript", b'{"words": 3}'))


def test_responses_in_lines_are_apart() -> None:
    """Each response is a trace, the events of a stream are one."""
    body = (FIXTURES / "response.json").read_bytes().strip()

    assert len(list(iter_traces(body + b"\n" + body + b"\n"))) == 2
    assert len(list(iter_traces(FIXTURES / "stream.chunks.txt"))) == 1


def test_an_error_is_nothing_but_a_message() -> None:
    """`{"message": …}` alone, or with a type."""
    assert detect(b'{"message": "No."}') == "bedrock_converse"
    assert detect(b'{"__type": "ValidationException", "message": "No."}') == "bedrock_converse"
    with pytest.raises(UnreadableTrace):
        detect(b'{"message": "started", "level": "info"}')


def test_events_of_other_streams_are_not_taken() -> None:
    """`metadata` is also an event of others, of a LangGraph server for one."""
    stream = b'event: metadata\ndata: {"run_id": "r"}\n\nevent: values\ndata: {"a": 1}\n\n'

    assert detect(stream) == "langgraph_checkpoint"


def test_an_exception_among_decoded_events_is_an_error() -> None:
    """A stream that breaks off names its exception where an event would stand."""
    events = [
        '{"messageStart": {"role": "assistant"}}',
        '{"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Half"}}}',
        '{"throttlingException": {"message": "Too many requests."}}',
    ]
    trace = read("\n".join(events).encode())

    assert [(part.type, part.text) for part in trace.conversations[0].messages[0].parts] == [
        ("text", "Half"),
        ("error", "Too many requests."),
    ]
    assert {notice.kind for notice in trace.notices} == {"error", "damaged"}
