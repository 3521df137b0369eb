"""MCP over JSON-RPC: calls and answers by id, sessions, bare results; A2A."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "mcp_jsonrpc"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_calls_are_answered_by_id_and_named() -> None:
    """Two calls run at once and are answered in the other order; one answer is a protocol error."""
    conversation = _read("session.jsonl").conversations[0]
    results = [
        (m.name, m.tool_call_id, o.is_error)
        for m, o in zip(conversation.messages, conversation.origins, strict=True)
        if m.role == "tool"
    ]

    assert results == [
        ("elicitation/create", "server-2", False),
        ("find_book", "3", True),
        ("find_book", "2", False),
        ("resources/read", "4", False),
    ]


def test_arguments_are_the_source_text() -> None:
    """`3.0` stays `3.0`."""
    calls = [call for message in _read("session.jsonl").conversations[0].messages for call in message.tool_calls]

    assert calls[0].arguments == '{"title": "Dune", "limit": 3.0}'


def test_ids_begin_again_in_every_session() -> None:
    """A second `initialize` begins a conversation of its own."""
    trace = _read("session.jsonl")

    assert len(trace.conversations) == 2
    second = trace.conversations[1]
    assert [message.role for message in second.messages] == ["assistant", "tool"]
    assert second.origins[1].is_error


def test_structured_content_that_repeats_the_text_is_told_once() -> None:
    """The structured form of a text that is the same JSON is left out; another one is told."""
    found = [m for m in _read("session.jsonl").conversations[0].messages if m.tool_call_id == "2" and m.role == "tool"]

    assert [part.type for part in found[0].parts] == ["text", "resource_link", "image"]
    bare = _read("bare_result.json").conversations[0].messages[0]
    assert [part.text for part in bare.parts] == ["Three books were found.", '{\n  "count": 3\n }']


def test_a_result_without_its_call_is_named() -> None:
    """A capture of the answers alone gives results without calls, with a notice; comments and progress do no harm."""
    trace = _read("events.sse")
    messages = trace.conversations[0].messages

    assert [message.role for message in messages] == ["system", "tool"]
    assert messages[1].content == "The book is on shelf C."
    assert any(notice.kind == "orphan" for notice in trace.notices)


def test_tools_and_instructions_are_kept() -> None:
    """`tools/list` gives tool definitions, the server's instructions are a system message."""
    conversation = _read("session.jsonl").conversations[0]

    assert [tool.name for tool in conversation.tools] == ["find_book"]
    assert conversation.messages[0].content == "Search before you fetch a book."


def test_sampling_is_a_conversation() -> None:
    """A server that asks the client's model sends messages, and the answer is the assistant's."""
    messages = _read("sampling.json").conversations[0].messages

    assert [(message.role, message.content) for message in messages] == [
        ("system", "Answer in one word."),
        ("user", "What colour is the book?"),
        ("assistant", "Blue"),
    ]


def test_a2a_messages_are_told_once_and_artifacts_joined() -> None:
    """A task repeats its history; the pieces of an artifact make one text."""
    trace = _read("a2a.sse")
    user, artifact, last = trace.conversations[0].messages

    assert user.content == "Write a line about rain."
    assert [part.text for part in artifact.parts if part.type == "text"] == ['{"lines": 1}', "Rain on the roof."]
    assert last.content == "The line is done."
    assert [chunk.text for chunk in trace.stream] == ["Rain on ", "the roof."]
