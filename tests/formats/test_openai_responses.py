"""OpenAI's Responses API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats import detect, iter_traces, read

FIXTURES = Path(__file__).parent / "fixtures" / "openai_responses"


def test_items_become_turns() -> None:
    """Items of the model in a row are one message; calls and results are linked by `call_id`, not by `id`."""
    trace = read(FIXTURES / "request_with_items.json")

    system, user, assistant, forecast, moisture, answer, thanks = trace.conversations[0].messages
    assert (system.role, system.content) == ("system", "You look after a garden.")
    assert user.content == "Does bed 7 need water?"
    assert assistant.reasoning == "Two sensors to read."
    assert [(made.id, made.name) for made in assistant.tool_calls] == [("call_1", "moisture"), ("call_2", "forecast")]
    assert assistant.tool_calls[1].arguments == '{"days": 1.0}'
    assert (forecast.role, forecast.name, forecast.content) == ("tool", "forecast", "No rain.")
    assert moisture.name == "moisture"
    assert [(part.type, part.text) for part in moisture.parts] == [("text", "Dry."), ("image", "")]
    assert (answer.role, answer.content) == ("assistant", "Yes, water bed 7.")
    assert (thanks.role, thanks.content) == ("user", "Thank you.")
    assert [tool.name for tool in trace.conversations[0].tools] == ["moisture"]


def test_encrypted_reasoning_is_measured() -> None:
    """Of encrypted content only its length is kept."""
    assistant = read(FIXTURES / "request_with_items.json").conversations[0].messages[2]

    assert [(part.type, part.data) for part in assistant.parts] == [("encrypted_reasoning", {"length": 16})]


def test_hosted_tools_hold_call_and_result() -> None:
    """Each item of a tool that the provider ran gives a call and, where there is one, its result."""
    trace = read(FIXTURES / "hosted_tools_response.json")

    messages = trace.conversations[0].messages
    calls = [(made.name, made.arguments) for message in messages for made in message.tool_calls]
    assert calls == [
        ("find_book", '{"title":"Atlas"}'),
        ("find_book", "{}"),
        ("file_search", '{"queries": ["atlas"]}'),
        ("code_interpreter", '{"code": "print(1)"}'),
        ("web_search", '{"type": "search", "query": "atlas"}'),
        ("image_generation", '{"revised_prompt": "a map"}'),
        ("shell", "ls -l"),
    ]
    results = [message for message in messages if message.role == "tool"]
    assert [result.name for result in results] == [
        "find_book",
        "find_book",
        "file_search",
        "code_interpreter",
        "image_generation",
    ]
    assert results[0].content == '{"id": "b-1"}'
    assert results[3].content == "1\n"
    assert "Maps of the world." in results[2].content
    assert [tool.name for tool in trace.conversations[0].tools] == ["find_book"]
    errors = [origin.is_error for origin in trace.conversations[0].origins]
    assert [messages[index].content for index, failed in enumerate(errors) if failed] == ["no title"]


def test_earlier_turns_may_be_missing() -> None:
    """A response that goes on from another one says so."""
    trace = read(FIXTURES / "hosted_tools_response.json")

    assert any("earlier turns" in notice.text for notice in trace.notices)


def test_a_refusal_is_text_and_a_citation_is_not() -> None:
    """The last message has its text, its citation, and the refusal."""
    last = read(FIXTURES / "hosted_tools_response.json").conversations[0].messages[-1]

    assert [(part.type, part.text) for part in last.parts] == [
        ("text", "Done."),
        ("citation", ""),
        ("text", "I cannot say more."),
    ]


def test_a_wrapper_of_parallel_calls_is_unfolded() -> None:
    """The calls inside are told with their own names and exact arguments."""
    trace = read(FIXTURES / "parallel_wrapper.json")

    (message,) = trace.conversations[0].messages
    assert [(made.name, made.arguments) for made in message.tool_calls] == [
        ("tide", '{"port": "Brest"}'),
        ("wind", '{"port":"Brest", "h":1.0}'),
    ]
    assert message.tool_calls[0].id == "call_p"
    assert list(trace.conversations[0].origins[0].made_ids) == [message.tool_calls[1].id]


def test_items_line_by_line_are_one_conversation() -> None:
    """Bare items in lines are joined, bodies in lines are not."""
    (trace,) = iter_traces(FIXTURES / "items.jsonl")
    body = json.dumps({"model": "m", "input": [{"role": "user", "content": "Hi"}]})

    assert [message.role for message in trace.conversations[0].messages] == ["user", "assistant", "tool", "assistant"]
    assert len(list(iter_traces(f"{body}\n{body}\n".encode()))) == 2


def test_a_request_and_its_response_repeat_nothing() -> None:
    """Instructions that the response repeats are told once."""
    request = {"model": "m", "instructions": "Be brief.", "input": "Hello"}
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}]
    response = {"object": "response", "instructions": "Be brief.", "output": output}
    trace = read(json.dumps({"request": request, "response": response}).encode())

    assert trace.format == "openai_responses"
    assert [message.content for message in trace.conversations[0].messages] == ["Be brief.", "Hello", "Hi."]


def test_an_approved_call_is_one_call() -> None:
    """The call that was asked for and the call that was run under this approval are counted once."""
    items = [
        {"type": "mcp_approval_request", "id": "mcpr_1", "name": "pay", "arguments": "{}", "server_label": "bank"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        {
            "type": "mcp_call",
            "id": "mcp_1",
            "approval_request_id": "mcpr_1",
            "name": "pay",
            "arguments": "{}",
            "output": "paid",
        },
    ]
    messages = read(json.dumps(items).encode()).conversations[0].messages

    assert [made.id for message in messages for made in message.tool_calls] == ["mcpr_1"]
    assert [(message.tool_call_id, message.content) for message in messages if message.role == "tool"] == [
        ("mcpr_1", "paid")
    ]


def test_a_page_of_items() -> None:
    """A page of the items endpoint is a conversation."""
    page = {"object": "list", "data": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]}

    assert detect(json.dumps(page).encode()) == "openai_responses"


def test_embeddings_are_no_conversation() -> None:
    """`input` and `model` are also what an embedding request has."""
    with pytest.raises(UnreadableTrace):
        read(b'{"model": "embedder", "input": "some text", "encoding_format": "float"}')


def test_a_page_with_the_newest_item_first_is_turned() -> None:
    """Where a result stands before its call the page is read from its end, and a notice says so."""
    page = {
        "object": "list",
        "data": [
            {"type": "function_call_output", "call_id": "c1", "output": {"type": "input_text", "text": "Rain."}},
            {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Rain?"}]},
        ],
    }
    trace = read(json.dumps(page).encode())

    assert [(message.role, message.content) for message in trace.conversations[0].messages] == [
        ("user", "Rain?"),
        ("assistant", ""),
        ("tool", "Rain."),
    ]
    assert [notice.kind for notice in trace.notices] == ["fallback"]
