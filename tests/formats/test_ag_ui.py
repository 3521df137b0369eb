"""AG-UI: interleaved pieces, snapshots, requests."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "ag_ui"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_reasoning_text_and_calls_are_one_turn() -> None:
    """Pieces of a text and of two calls come interleaved: they are joined into one message."""
    messages = _read("run.sse").conversations[0].messages

    assert [message.role for message in messages] == ["user", "assistant", "tool", "tool", "assistant", "user"]
    assert messages[1].reasoning == "Two look-ups."
    assert messages[1].content == "I look it up."
    assert [call.arguments for call in messages[1].tool_calls] == ['{"no": 1}', '{"id": 2.0}']
    assert [message.name for message in messages[2:4]] == ["stock", "parcel"]


def test_chunks_have_their_order_and_times() -> None:
    """Every piece is a chunk in the order in which it came, with its seconds from the first."""
    stream = _read("run.sse").stream

    assert [chunk.text for chunk in stream][:4] == ["Where is my parcel?", "Two ", "look-ups.", "I look "]
    assert stream[0].time == 0
    assert stream[1].time == 0.12


def test_a_snapshot_tells_only_what_is_new() -> None:
    """A snapshot repeats the streamed messages: only the other one is told."""
    trace = _read("run.sse")

    assert trace.conversations[0].messages[-1].content == "Thank you very much."
    assert any(notice.kind == "merged" for notice in trace.notices)


def test_a_request_has_messages_tools_and_context() -> None:
    """The body of a request is a conversation."""
    conversation = _read("request.json").conversations[0]

    assert [message.role for message in conversation.messages] == ["user", "assistant", "tool", "system"]
    assert conversation.messages[2].name == "parcel"
    assert [tool.name for tool in conversation.tools] == ["parcel"]


def test_a_cut_call_is_kept_and_named() -> None:
    """A stream that ends inside the arguments of a call keeps them as they came."""
    data = (
        b'data: {"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"find"}\n\n'
        b'data: {"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\\"q\\": 1"}\n\n'
    )
    trace = read(data)

    assert trace.conversations[0].messages[0].tool_calls[0].arguments == '{"q": 1'
    assert any(notice.kind == "damaged" for notice in trace.notices)
