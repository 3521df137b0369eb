"""What can be saved: messages, handle table, report, and the trace in its own format."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from inspector_app import data
from inspector_app.views.html_report import html_report
from inspector_app.views.tables import handles_csv
from inspector_app.views.texts import message_json, messages_json
from inspector_app.views.write_back import can_write_back, write_back
from modelcontext_core import formats
from modelcontext_core.messages import Message
from tests.app.making import BASE, CHUNK, DOCUMENT, both

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> ![x](http://evil.example.com/x.png)"


def test_the_report_escapes_everything_and_runs_nothing() -> None:
    """Text of the trace is escaped in every place, and the file forbids scripts and requests."""
    messages = [Message(role=HOSTILE, name=HOSTILE, content=HOSTILE), Message(role="user", content="a\ud83db\u202ec")]

    report = html_report(*both(messages), name=HOSTILE, price=1, currency="€").decode("utf-8")

    assert "<script" not in report
    assert "<img" not in report
    assert "default-src 'none'" in report
    assert "\\uD83D" in report


def test_messages_are_saved_as_json_that_can_be_read_again() -> None:
    """Lone surrogates are escaped, empty fields left out."""
    saved = json.loads(messages_json([Message(role="user", content="a\ud83db")]))

    assert saved == [{"role": "user", "content": "a\ud83db"}]
    assert json.loads(message_json(Message(role="tool", tool_call_id="1"))) == {"role": "tool", "tool_call_id": "1"}


def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe() -> None:
    """A durable value may begin like a formula."""
    made, _ = both([Message(role="tool", name="read_document", content="<knowledge_id>=cmd|x</knowledge_id>")])

    assert b",'=cmd|x," in handles_csv(made)


OPENAI = {
    "model": "m",
    "title": f"about {DOCUMENT}",
    "messages": [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {
            "name": "search_knowledge", "arguments": json.dumps({"knowledge_base_ids": [BASE], "top": 1.0})}}]},
        {"role": "tool", "tool_call_id": "c1",
         "content": f'<chunk chunk_id="{CHUNK}" knowledge_id="{DOCUMENT}">ä\u2028</chunk>'},
    ],
}  # fmt: skip
ANTHROPIC = {
    "model": "m",
    "max_tokens": 5,
    "messages": [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "search_knowledge",
             "input": {"knowledge_base_ids": [BASE], "n": 1.0}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [
            {"type": "text", "text": f'<chunk chunk_id="{CHUNK}" knowledge_id="{DOCUMENT}">x</chunk>'}]}]},
    ],
}  # fmt: skip


def opened(source: str) -> data.Held:
    """A source, read."""
    return data.open_bytes(source.encode("utf-8"), "made.json")


@pytest.mark.parametrize("value", [OPENAI, ANTHROPIC], ids=["openai_chat", "anthropic_messages"])
@pytest.mark.parametrize("layout", [None, 2], ids=["one line", "indented"])
def test_a_trace_is_written_back_with_handles_in_its_own_format(value: object, layout: int | None) -> None:
    """The written trace opens as the same format, holds the encoded messages and no durable value."""
    held = opened(json.dumps(value, indent=layout))
    analysis = data.analyse(held, data.Options())

    written = write_back(held.trace, held.data, analysis)
    again = formats.read(written)

    assert again.format == held.trace.format
    assert [m.content for m in again.conversations[0].messages] == [m.content for m in analysis.encoded]
    assert [
        json.loads(call.arguments) for message in again.conversations[0].messages for call in message.tool_calls
    ] == [json.loads(call.arguments) for message in analysis.encoded for call in message.tool_calls]
    assert not any(durable.encode() in written for durable in (BASE, CHUNK, DOCUMENT))


def test_what_is_no_text_of_a_message_stays_byte_for_byte() -> None:
    """Numbers, spacing and other strings of the source are not written anew."""
    source = json.dumps(OPENAI).replace('"model": "m"', '"model" :  "m", "seed": 12345678901234567890123, "t": 1.0')
    held = opened(source)

    written = write_back(held.trace, held.data, data.analyse(held, data.Options())).decode("utf-8")

    assert '"model" :  "m", "seed": 12345678901234567890123, "t": 1.0' in written
    assert "\\u2028" in written or "\u2028" in written


def test_a_source_that_broke_off_is_not_written_back() -> None:
    """Only a source that was read without a break can be written again."""
    held = opened(json.dumps(OPENAI)[:-30])

    assert not can_write_back(held.trace, held.data)
    with pytest.raises(ValueError, match="cannot be written back"):
        write_back(held.trace, held.data, data.analyse(held, data.Options()))


def _state(number: int, *messages: object) -> dict[str, object]:
    """One event of a graph that repeats all messages so far."""
    params = {"namespace": [], "data": {"messages": list(messages)}}
    return {"type": "event", "seq": number, "method": "values", "params": params}


def test_a_message_that_a_trace_repeats_stays_one() -> None:
    """Every copy gets what the first got, also where ids stay on purpose: read again, it is one conversation."""
    asked = {"type": "human", "content": f"Is {BASE} empty?", "id": "h"}
    call = {
        "name": "search_knowledge",
        "args": {"knowledge_base_ids": [BASE], "n": 1.0},
        "id": "c",
        "type": "tool_call",
    }
    called = {"type": "ai", "content": "", "id": "a", "tool_calls": [call]}
    found = {"type": "tool", "content": "nothing", "tool_call_id": "c", "name": "search_knowledge", "id": "t"}
    lines = [_state(0, asked), _state(1, asked, called), _state(2, asked, called, found)]
    held = opened("".join(json.dumps(line) + "\n" for line in lines))

    written = write_back(held.trace, held.data, data.analyse(held, data.Options()))
    [again] = formats.read(written).conversations

    assert ["user", "assistant", "tool"] == [message.role for message in again.messages]
    assert 3 == written.count(f"Is {BASE} empty?".encode())
    assert 2 == written.count(b'"knowledge_base_ids": ["kb://1"], "n": 1.0')


@pytest.mark.parametrize("copy", [json.dumps, lambda text: " " + json.dumps({"q": text})], ids=["quoted", "object"])
def test_a_copy_inside_of_a_json_string_stays_one(copy: Callable[[str], str]) -> None:
    """A root span may repeat the question as JSON in a string: what stays there on purpose stays in the copy."""
    question = f"Is {BASE} empty?"
    common = {"project_name": "p", "trace_id": "t"}
    function = {"name": "search_knowledge", "arguments": json.dumps({"knowledge_base_ids": [BASE]})}
    call = {"id": "c", "type": "function", "function": function}
    answer = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}]}
    lines = [
        common | {"id": "s0", "name": "agent", "type": "general", "input": {"q": copy(question)}},
        common | {
            "id": "s1", "parent_span_id": "s0", "name": "call", "type": "llm",
            "input": {"messages": [{"role": "user", "content": question}]}, "output": answer,
        },
    ]  # fmt: skip
    held = opened("".join(json.dumps(line) + "\n" for line in lines))

    written = write_back(held.trace, held.data, data.analyse(held, data.Options()))
    [again] = formats.read(written).conversations

    assert held.trace.format == "opik"
    assert ["user", "assistant"] == [message.role for message in again.messages]
    assert 2 == written.count(question.encode())


def test_a_copy_that_holds_a_text_with_a_place_of_its_own_is_none() -> None:
    """A result that says what a whole call says: the call's arguments are written once, in their own place."""
    call = {"name": "search_knowledge", "args": {"knowledge_base_ids": [BASE]}}
    value = {
        "contents": [
            {"role": "model", "parts": [{"functionCall": {"name": "echo", "args": {}}}, {"functionCall": call}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "echo", "response": call}}]},
        ]
    }
    held = opened(json.dumps(value))
    analysis = data.analyse(held, data.Options())

    [again] = formats.read(write_back(held.trace, held.data, analysis)).conversations

    assert [json.loads(each.arguments) for message in again.messages for each in message.tool_calls] == [
        {},
        {"knowledge_base_ids": ["kb://1"]},
    ]
    assert "kb://1" in again.messages[-1].content


def test_documents_in_a_row_over_several_lines_are_not_written_back() -> None:
    """They are neither one JSON text nor lines of it, and would keep their ids."""
    asked = {"type": "human", "content": f"about {DOCUMENT}", "id": "h"}
    answered = {"type": "ai", "content": "yes", "id": "a"}
    held = opened("\n".join(json.dumps(each, indent=1) for each in (_state(0, asked), _state(1, asked, answered))))

    assert ["user", "assistant"] == [message.role for message in held.conversation.messages]
    assert not can_write_back(held.trace, held.data)


def test_tool_definitions_are_written_back_with_handles() -> None:
    """The servers of a directory stand as the model sees them; opened again, they keep their numbers."""
    servers = ["srv-0a1b2c3d4e5f", "srv-9f8e7d6c5b4a"]
    listing = {"type": "object", "properties": {"server_id": {"enum": servers}}}
    described = "\n".join(json.dumps({"server_id": server}) for server in servers)
    tool = {"name": "discover_mcp_tools", "description": described, "input_schema": listing}
    call = {"type": "tool_use", "id": "t1", "name": "discover_mcp_tools", "input": {"server_id": servers[1]}}
    messages = [{"role": "user", "content": "Which?"}, {"role": "assistant", "content": [call]}]
    held = opened(json.dumps({"model": "m", "max_tokens": 5, "tools": [tool], "messages": messages}))

    written = write_back(held.trace, held.data, data.analyse(held, data.Options()))
    [again] = formats.read(written).conversations

    assert not any(server.encode() in written for server in servers)
    assert again.tools[0].description == '{"server_id": "ms1"}\n{"server_id": "ms2"}'
    assert again.tools[0].parameters["properties"]["server_id"]["enum"] == ["ms1", "ms2"]
    assert again.messages[1].tool_calls[0].arguments == '{"server_id": "ms2"}'
    assert not data.analyse(opened(written.decode()), data.Options()).handles
