"""Mistral."""

from __future__ import annotations

import json
from pathlib import Path

from modelcontext_core.formats import detect, read

FIXTURES = Path(__file__).parent / "fixtures" / "mistral"


def test_thinking_parts_are_reasoning() -> None:
    """A content may be a list with thinking, whose texts are a list too; calls have no type."""
    (message,) = read(FIXTURES / "thinking_response.json").conversations[0].messages

    assert (message.reasoning, message.content) == ("Look first.", "One moment.")
    assert [(made.id, made.name) for made in message.tool_calls] == [("aB3dE6gH9", "look")]


def test_a_stream_changes_between_lists_and_strings() -> None:
    """Pieces are joined whatever their shape; the padding is noise."""
    trace = read(FIXTURES / "stream.sse")

    (message,) = trace.conversations[0].messages
    assert (message.reasoning, message.content) == ("Red or blue?", "Roses.")
    assert [(chunk.channel, chunk.text) for chunk in trace.stream] == [
        ("reasoning", "Red "),
        ("reasoning", "or blue?"),
        ("text", "Ro"),
        ("text", "ses."),
    ]
    assert "p" not in trace.meta


def test_a_request() -> None:
    """A prefix of the answer is a message of the assistant; the result is linked by its id."""
    *_, call, result, prefix = read(FIXTURES / "request.json").conversations[0].messages

    assert call.tool_calls[0].name == "colour"
    assert (result.name, result.content) == ("colour", "red")
    assert (prefix.role, prefix.content) == ("assistant", "Roses")


def test_a_request_and_its_response() -> None:
    """Both are one conversation, streamed or not."""
    request = json.loads((FIXTURES / "request.json").read_bytes())
    response = json.loads((FIXTURES / "thinking_response.json").read_bytes())
    chunks = [
        json.loads(line[5:]) for line in (FIXTURES / "stream.sse").read_bytes().splitlines() if line[5:7] == b" {"
    ]

    for answer, last in ((response, "One moment."), (chunks, "Roses.")):
        trace = read(json.dumps({"request": request, "response": answer}).encode())
        assert trace.format == "mistral"
        (conversation,) = trace.conversations
        assert conversation.messages[-1].content == last
        assert conversation.messages[0].role == "user"


def test_what_shows_no_style_is_openai_chat() -> None:
    """The model's name alone says little: others serve the same models."""
    choice = b'{"message": {"role": "assistant", "content": "a"}}'

    assert detect(b'{"id": "chatcmpl-1", "model": "mistral-saba-24b", "choices": [' + choice + b"]}") == "openai_chat"
