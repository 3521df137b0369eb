"""Anthropic messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from modelcontext_core.formats import Trace, detect, read
from modelcontext_core.messages import Message

FIXTURES = Path(__file__).parent / "fixtures" / "anthropic_messages"


def messages_of(trace: Trace) -> list[Message]:
    """The messages of the only conversation."""
    (conversation,) = trace.conversations
    return list(conversation.messages)


def answer(*blocks: dict[str, Any]) -> Trace:
    """What is read of a response with these blocks."""
    body = {"type": "message", "role": "assistant", "content": list(blocks), "stop_reason": "end_turn"}
    return read(json.dumps(body).encode())


def test_a_request_with_blocks() -> None:
    """System first; a turn of reasoning, text and calls is one message; results stand before the text beside them."""
    system, user, assistant, reader, due, also, last = messages_of(read(FIXTURES / "request_with_blocks.json"))

    assert (system.role, system.content) == ("system", "You keep the books of a library.")
    assert (user.role, user.content) == ("user", "Who has the atlas, and when is it due?")
    assert (assistant.content, assistant.reasoning) == ("I look it up.", "I need two look-ups.")
    assert assistant.reasoning_signature.startswith("EqEECk")
    assert [made.name for made in assistant.tool_calls] == ["find_reader", "due_date"]
    assert (reader.role, reader.name, reader.tool_call_id) == ("tool", "find_reader", "toolu_1")
    assert [(part.type, part.text, part.data) for part in reader.parts] == [
        ("text", "Reader 12 has it.", None),
        ("image", "", {"media_type": "image/jpeg", "length": 27}),
    ]
    assert (due.name, due.content) == ("due_date", "The calendar cannot be reached.")
    assert (also.role, also.content) == ("user", "Please answer with what you have.")
    assert last.role == "assistant"


def test_input_objects_keep_their_bytes() -> None:
    """Blanks, `1.0` and duplicate keys of `input` are those of the source."""
    assistant = messages_of(read(FIXTURES / "request_with_blocks.json"))[2]

    assert assistant.tool_calls[0].arguments == (
        '{"book_id": "5e3d7d9c-1a3b-4f7e-8f64-1f6d2a3b4c5d",  "copies": 1.0, "copies": 2}'
    )
    assert assistant.tool_calls[1].arguments == "{}"


def test_errors_of_tools_are_marked_in_origins() -> None:
    """`is_error`, and the error objects of server tools."""
    client = read(FIXTURES / "request_with_blocks.json").conversations[0].origins
    server = read(FIXTURES / "server_tools_response.json").conversations[0].origins

    assert [origin.is_error for origin in client] == [False, False, False, False, True, False, False]
    assert [origin.is_error for origin in server] == [False, False, False, True, False]
    assert client[4].source_of("content") == "$.messages[2].content[1].content"


def test_server_tools_answer_inside_the_turn() -> None:
    """A result ends a message: what the model wrote after it never seems to stand before it."""
    messages = messages_of(read(FIXTURES / "server_tools_response.json"))

    assert [(message.role, message.name) for message in messages] == [
        ("assistant", ""),
        ("tool", "web_search"),
        ("assistant", ""),
        ("tool", "web_fetch"),
        ("assistant", ""),
    ]
    assert [part.type for part in messages[2].parts] == ["text", "citation"]
    assert messages[2].parts[1].text == "Open from nine to six on weekdays."
    assert [(part.type, part.data) for part in messages[4].parts] == [
        ("redacted_thinking", {"length": 19}),
        ("text", None),
    ]


def test_encrypted_content_is_measured_and_not_shown() -> None:
    """The rest of a search result is the source text, byte for byte."""
    found = messages_of(read(FIXTURES / "server_tools_response.json"))[1].content

    assert '"title": "Opening hours of the library", "url": "https://library.example/hours"' in found
    assert '"encrypted_content": "[encrypted_content, 100 characters]"' in found
    assert "EqwTCio" not in found


def test_each_signed_block_is_a_message() -> None:
    """Also when its text is empty, as newer models leave it."""
    trace = answer(
        {"type": "thinking", "thinking": "", "signature": "s1"},
        {"type": "text", "text": "a"},
        {"type": "thinking", "thinking": "more", "signature": "s2"},
        {"type": "tool_use", "id": "1", "name": "f", "input": {}},
    )

    assert [
        (message.reasoning_signature, message.content, len(message.tool_calls)) for message in messages_of(trace)
    ] == [
        ("s1", "a", 0),
        ("s2", "", 1),
    ]


def test_documents_keep_their_text_and_lose_their_bodies() -> None:
    """A text source is text; base64 is measured; an address is kept."""
    trace = answer(
        {
            "type": "document",
            "title": "Rules",
            "source": {"type": "text", "media_type": "text/plain", "data": "Be quiet."},
        },
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}},
        {"type": "image", "source": {"type": "url", "url": "https://x.example/i.png"}},
        {"type": "container_upload", "file_id": "file_1"},
    )

    assert [(part.type, part.text, part.data) for part in messages_of(trace)[0].parts] == [
        ("document", "Rules", None),
        ("text", "Be quiet.", None),
        ("document", "", {"media_type": "application/pdf", "length": 8}),
        ("image", "", {"url": "https://x.example/i.png"}),
        ("file", "", {"file_id": "file_1"}),
    ]


def test_an_unknown_block_is_kept_as_json_and_named() -> None:
    """New block types are readable before they are supported."""
    trace = answer({"type": "poem", "verse": "roses are red"})

    assert messages_of(trace)[0].content == '{"type": "poem", "verse": "roses are red"}'
    assert [(notice.kind, notice.where) for notice in trace.notices] == [("unknown", "$.content[0]")]


def test_request_and_response_in_lines() -> None:
    """Each line is a conversation; an error in place of the answer is shown as one."""
    first, second = read(FIXTURES / "exchanges.jsonl").conversations

    assert [message.content for message in first.messages] == ["Be brief.", "Name a river.", "The Elbe."]
    assert second.messages[-1].parts[0].type == "error"
    assert second.origins[-1].record == "line 2"


def test_a_text_only_request_is_told_by_its_hints() -> None:
    """`system` beside `max_tokens`, or a model of that family; without a hint it is OpenAI-compatible."""
    messages = [{"role": "user", "content": "hi"}]

    assert detect(json.dumps({"max_tokens": 5, "system": "s", "messages": messages}).encode()) == "anthropic_messages"
    assert (
        detect(json.dumps({"max_tokens": 5, "model": "claude-x", "messages": messages}).encode())
        == "anthropic_messages"
    )
    assert detect(json.dumps({"max_tokens": 5, "model": "x", "messages": messages}).encode()) == "openai_chat"


def test_lines_of_bare_messages_are_one_conversation() -> None:
    """A log with one message a line is known by the blocks of any line, and links calls and results."""
    messages = [
        {"role": "user", "content": "Where is the atlas?"},
        {"role": "user", "content": "The large one."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "find", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Shelf 4"}]},
    ]
    trace = read("\n".join(map(json.dumps, messages)).encode())

    assert trace.format == "anthropic_messages"
    assert [(message.role, message.name) for message in messages_of(trace)][2:] == [("assistant", ""), ("tool", "find")]
    assert trace.notices == ()


def test_answers_in_lines_stay_apart() -> None:
    """Lines that are a response each are a conversation each."""
    line = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Yes."}], "usage": {}}

    assert len(read("\n".join([json.dumps(line)] * 2).encode()).conversations) == 2


def test_thinking_beside_calls_of_another_api_is_not_taken() -> None:
    """Cohere and Mistral write thinking blocks too; their calls stand beside the content."""
    messages = [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "A look-up."}],
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
    ]
    trace = read(json.dumps({"model": "command-x", "messages": messages}).encode())

    assert trace.format != "anthropic_messages"
    assert [(message.reasoning, message.name) for message in messages_of(trace)[1:]] == [
        ("A look-up.", ""),
        ("", "find"),
    ]
