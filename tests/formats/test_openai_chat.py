"""OpenAI chat completions and their kin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats import Trace, read
from modelcontext_core.messages import Message

FIXTURES = Path(__file__).parent / "fixtures" / "openai_chat"


def request(*messages: dict[str, Any], **rest: Any) -> Trace:
    """What is read of a request with these messages."""
    return read(json.dumps({"messages": list(messages), **rest}).encode())


def call(call_id: str, name: str, arguments: Any = "{}") -> dict[str, Any]:
    """A tool call as the API writes it."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def messages_of(trace: Trace) -> list[Message]:
    """The messages of the only conversation."""
    (conversation,) = trace.conversations
    return list(conversation.messages)


def kinds(trace: Trace) -> list[str]:
    """The kinds of its notices."""
    return [notice.kind for notice in trace.notices]


def test_a_request_with_everything() -> None:
    """Texts in order in `parts`, a lone string as `content`, names from ids, results where they stand."""
    trace = read(FIXTURES / "request_with_tools.json")
    system, user, assistant, loan, vase, answer = messages_of(trace)

    assert system.content.startswith("You answer")
    assert [(part.type, part.text[:5]) for part in user.parts] == [("text", "Which"), ("image", ""), ("text", "And i")]
    assert user.parts[1].data == {"media_type": "image/png", "length": 96}
    assert (assistant.content, len(assistant.tool_calls)) == ("I look both up.", 2)
    assert assistant.tool_calls[0].arguments == '{"object_id": "0b0c1c9e-8a55-4b59-9f2a-6c54f0f7c001", "weight": 1.0}'
    assert (loan.name, loan.tool_call_id, vase.name) == ("find_loan", "call_2", "find_object")
    assert vase.content == "A blue vase, see https://museum.example/objects/77."
    assert answer.role == "assistant"
    assert [tool.name for tool in trace.conversations[0].tools] == ["find_object", "find_loan"]
    assert trace.meta == {"model": "gpt-x", "temperature": 0.2}
    assert trace.notices == ()


def test_origins_lead_back_to_the_source() -> None:
    """Each text, part and call has its JSON path."""
    trace = read(FIXTURES / "request_with_tools.json")
    _, user, assistant, _, vase, _ = trace.conversations[0].origins

    assert user.source_of("parts[2].text") == "$.messages[1].content[2].text"
    assert user.source_of("parts[1]") == "$.messages[1].content[1]"
    assert assistant.source_of("tool_calls[1].arguments") == "$.messages[2].tool_calls[1].function.arguments"
    assert vase.source_of("content") == "$.messages[4].content[0].text"
    assert vase.source_of("reasoning") == ""


def test_further_choices_are_branches() -> None:
    """The first answer goes on with the conversation; each other one is a conversation with a parent."""
    first, second = read(FIXTURES / "two_choices_response.json").conversations

    assert (first.messages[0].content, first.messages[0].reasoning) == (
        "The first answer to the question.",
        "I should be brief here.",
    )
    assert (second.parent, second.after, second.messages[0].content) == (first.id, 0, "I would rather not say that.")


def test_request_and_response_are_one_conversation() -> None:
    """A wrapper that holds both is taken off, also when they are strings; the paths say so."""
    body = {"messages": [{"role": "user", "content": "a"}]}
    answer = {"choices": [{"message": {"role": "assistant", "content": "b"}}]}
    trace = read(json.dumps({"request": json.dumps(body), "response": json.dumps(answer)}).encode())

    assert [message.content for message in messages_of(trace)] == ["a", "b"]
    assert trace.conversations[0].origins[1].path == "$.response::json.choices[0].message"


def test_old_function_calls_are_linked_by_name() -> None:
    """They have no ids: ids are made, marked, and given to the results."""
    trace = request(
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a": 1}'}},
        {"role": "function", "name": "f", "content": "r"},
    )
    assistant, result = messages_of(trace)

    assert (result.role, result.name) == ("tool", "f")
    assert assistant.tool_calls[0].id == result.tool_call_id == "made-1"
    assert [origin.made_ids for origin in trace.conversations[0].origins] == [("made-1",), ("made-1",)]
    assert kinds(trace) == ["fallback"]


def test_empty_ids_and_parallel_calls_are_linked_in_order() -> None:
    """Calls without ids get different ones; results go to the first open call of their name, then to the next."""
    trace = request(
        {"role": "assistant", "tool_calls": [call("", "f"), call("", "g"), call("", "f")]},
        {"role": "tool", "name": "f", "content": "1"},
        {"role": "tool", "content": "2"},
        {"role": "tool", "name": "f", "content": "3"},
    )
    assistant, *results = messages_of(trace)

    assert [made.id for made in assistant.tool_calls] == ["made-1", "made-2", "made-3"]
    assert [result.tool_call_id for result in results] == ["made-1", "made-2", "made-3"]
    assert [result.name for result in results] == ["f", "g", "f"]


def test_an_id_used_again_belongs_to_the_next_open_call() -> None:
    """Vendors reuse ids; each result still finds its call, and the reuse is said."""
    trace = request(
        {"role": "assistant", "tool_calls": [call("x", "first")]},
        {"role": "tool", "tool_call_id": "x", "content": "1"},
        {"role": "assistant", "tool_calls": [call("x", "second")]},
        {"role": "tool", "tool_call_id": "x", "content": "2"},
    )

    assert [message.name for message in messages_of(trace) if message.role == "tool"] == ["first", "second"]
    assert kinds(trace) == ["fallback"]


def test_orphans_are_reported_both_ways() -> None:
    """A result without call, a call without result, and calls that the conversation ends with."""
    trace = request(
        {"role": "tool", "tool_call_id": "gone", "content": "cut history"},
        {"role": "assistant", "tool_calls": [call("a", "f")]},
        {"role": "user", "content": "never mind"},
        {"role": "assistant", "tool_calls": [call("b", "f")]},
    )

    assert [(notice.kind, notice.text) for notice in trace.notices] == [
        ("orphan", "a result without its call"),
        ("orphan", "a call has no result"),
        ("orphan", "a call has no result: the conversation ends with it"),
    ]


def test_arguments_that_are_objects_keep_their_bytes() -> None:
    """Numbers, key order, duplicate keys, blanks and escapes are those of the source."""
    raw = '{"z": 1.0, "a":  18446744073709551616, "a": 2, "s": "\\u00e9\\ud800"}'
    made = f'{{"id": "1", "function": {{"name": "f", "arguments": {raw}}}}}'
    data = f'[{{"role": "assistant", "content": "", "tool_calls": [{made}]}}]'
    (message,) = messages_of(read(data.encode()))

    assert message.tool_calls[0].arguments == raw


def test_reasoning_written_twice_counts_once() -> None:
    """`reasoning` and `reasoning_details` say the same; the encrypted part is opaque."""
    trace = read(FIXTURES / "vendor_extras.json")
    (message,) = messages_of(trace)

    assert message.reasoning == "Look at the second source."
    assert [(part.type, part.text, part.data) for part in message.parts] == [
        ("encrypted_reasoning", "", {"length": 30}),
        ("text", "The museum opened in 1903.", None),
        ("citation", "", {"url": "https://example.org/two", "title": "History of the museum"}),
        ("citation", "", {"url": "https://example.org/one"}),
    ]


def test_signed_reasoning_details_are_a_message_each() -> None:
    """A message has room for one signature."""
    details = [
        {"type": "reasoning.text", "text": "one", "signature": "s1"},
        {"type": "reasoning.text", "text": "two", "signature": "s2"},
    ]
    trace = request({"role": "assistant", "content": "done", "reasoning": "onetwo", "reasoning_details": details})

    assert [(message.reasoning, message.reasoning_signature, message.content) for message in messages_of(trace)] == [
        ("one", "s1", ""),
        ("two", "s2", "done"),
    ]


def test_nulls_on_every_message_mean_nothing() -> None:
    """Some vendors write `name: null` and `tool_calls: null` everywhere."""
    trace = request({"role": "user", "name": None, "tool_calls": None, "content": "hi"}, tools=[])

    assert messages_of(trace) == [Message(role="user", content="hi")]
    assert trace.notices == ()


@pytest.mark.parametrize(
    ("part", "kind", "facts"),
    [
        (
            {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
            "image",
            {"url": "https://x.example/a.png"},
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
            "audio",
            {"media_type": "audio/wav", "length": 8},
        ),
        (
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"}},
            "file",
            {"media_type": "application/pdf", "length": 8, "name": "a.pdf"},
        ),
        ({"type": "file", "file": {"file_id": "file-1"}}, "file", {"file_id": "file-1"}),
    ],
)
def test_media_are_named_and_measured(part: dict[str, Any], kind: str, facts: dict[str, Any]) -> None:
    """Bodies are never kept."""
    (message,) = messages_of(request({"role": "user", "content": [part]}))

    assert [(found.type, found.text, found.data) for found in message.parts] == [(kind, "", facts)]


def test_an_unknown_part_is_kept_as_json_and_named() -> None:
    """Nothing that a person could read is lost because a vendor invented a type."""
    trace = request({"role": "user", "content": [{"type": "hologram", "words": "a readable text"}]})

    assert messages_of(trace)[0].content == '{"type": "hologram", "words": "a readable text"}'
    assert [(notice.kind, notice.where) for notice in trace.notices] == [("unknown", "$.messages[0].content[0]")]


def test_an_error_body_is_an_error_and_no_answer() -> None:
    """What the provider said is shown as an error, with a notice."""
    trace = read(FIXTURES / "error.json")

    assert messages_of(trace)[0].parts[0].type == "error"
    assert trace.conversations[0].origins[0].is_error
    assert kinds(trace) == ["error"]


def test_a_flattened_transcript_is_cut_into_turns() -> None:
    """One string with role prefixes becomes messages, which is a guess and said to be one."""
    text = "user: Hi\nassistant: None\ntool: {}\nassistant: Line one\nLine two"
    trace = read(json.dumps({"messages_display": text}).encode())

    assert [(message.role, message.content) for message in messages_of(trace)] == [
        ("user", "Hi"),
        ("assistant", ""),
        ("tool", "{}"),
        ("assistant", "Line one\nLine two"),
    ]
    assert set(kinds(trace)) == {"fallback", "orphan"}


def test_what_is_not_read_is_named() -> None:
    """Settings go into meta; what is no scalar is named with its path, and never silently dropped."""
    trace = request({"role": "user", "content": "x", "extra": {"a": [1]}}, seed=7, response_format={"schema": ["long"]})

    assert trace.meta == {"seed": 7}
    assert [(notice.kind, notice.where) for notice in trace.notices] == [
        ("skipped", "$.messages[0].extra"),
        ("skipped", "$.response_format"),
    ]


def test_lines_of_bare_messages_are_one_conversation() -> None:
    """A log with one message a line links calls and results; lines that are requests are a record each."""
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "tool_calls": [call("c1", "find")]},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
    ]
    bare = read("\n".join(map(json.dumps, messages)).encode())
    requests = read("\n".join(json.dumps({"messages": messages}) for _ in range(2)).encode())

    assert [message.name for message in messages_of(bare)] == ["", "", "find"]
    assert (kinds(bare), len(requests.conversations)) == ([], 2)


def test_printed_messages_in_a_row_are_one_conversation() -> None:
    """What a JSON printer makes of a log with one message a line is still one conversation."""
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    trace = read("\n".join(json.dumps(message, indent=2) for message in messages).encode())

    assert [message.content for message in messages_of(trace)] == ["Hi", "Hello."]


def test_an_error_that_is_a_bare_text() -> None:
    """Some servers answer with the text alone; beside other keys it says nothing about a conversation."""
    trace = read(b'{"error": "model not found"}')

    assert [(part.type, part.text) for part in messages_of(trace)[0].parts] == [("error", "model not found")]
    with pytest.raises(UnreadableTrace, match="no conversation"):
        read(b'{"error": "disk full", "host": "a", "level": "warn"}')


def test_a_result_before_its_call_is_linked_when_nothing_else_answers_it() -> None:
    """Records may be out of order; a result of a cut history does not take the call that is answered later."""
    result = {"role": "tool", "tool_call_id": "c1", "content": "found"}
    asked = {"role": "assistant", "tool_calls": [call("c1", "find")]}
    early = read(json.dumps([result, asked]).encode())
    cut = read(json.dumps([result, asked, result]).encode())

    assert (messages_of(early)[0].name, kinds(early)) == ("find", ["fallback"])
    assert ([message.name for message in messages_of(cut)], kinds(cut)) == (["", "", "find"], ["orphan"])


def test_an_exchange_that_was_recorded_with_its_http_parts() -> None:
    """Bodies inside of a request and a response with method and status; an answer that is a bare text is not lost."""
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    answer = {"choices": [{"message": {"role": "assistant", "content": "Hello."}}]}
    whole = {"request": {"method": "POST", "body": json.dumps(asked)}, "response": {"status": 200, "body": answer}}
    bare = {"request": asked, "response": "Hello."}

    claude = {"request": asked | {"model": "claude-x", "max_tokens": 9}, "response": "Hello."}
    gemini = {"request": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}, "response": "Hello."}
    for record in (whole, bare, claude, gemini):
        trace = read(json.dumps(record).encode())
        assert [(message.role, message.content) for message in messages_of(trace)] == [
            ("user", "Hi"),
            ("assistant", "Hello."),
        ]


def test_messages_that_are_packed_as_json_text_are_found() -> None:
    """A list, or its elements, may be JSON text: they are read, and a notice says that it is a guess."""
    message = json.dumps({"role": "user", "content": "Hi"})

    for packed in (f"[{message}]", [message, message]):
        trace = read(json.dumps({"messages": packed}).encode())
        assert {found.content for found in messages_of(trace)} == {"Hi"}
        assert (trace.format, kinds(trace)) == ("generic_messages", ["fallback"])
