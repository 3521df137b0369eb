"""Streams of chat completions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from modelcontext_core.formats import Trace, detect, iter_traces, read
from modelcontext_core.messages import Message

FIXTURES = Path(__file__).parent / "fixtures" / "openai_chat_stream"


def only(trace: Trace) -> Message:
    """The only message of the only conversation."""
    ((message,),) = (conversation.messages for conversation in trace.conversations)
    return message


def stream(*deltas: dict[str, Any], **more: Any) -> Trace:
    """What is read of chunks with these deltas and a good end."""
    choices = [{"index": 0, "delta": delta} for delta in deltas] + [{"index": 0, "delta": {}, "finish_reason": "stop"}]
    chunks = [{"id": "c-1", "object": "chat.completion.chunk", "choices": [choice], **more} for choice in choices]
    return read("\n".join(json.dumps(chunk) for chunk in chunks).encode())


def call(index: int | None, id: str = "", name: str = "", arguments: Any = "") -> dict[str, Any]:  # noqa: A002
    """A delta with one piece of a call."""
    piece: dict[str, Any] = {"function": {"arguments": arguments}}
    if name:
        piece["function"]["name"] = name
    if id:
        piece["id"] = id
    if index is not None:
        piece["index"] = index
    return {"tool_calls": [piece]}


def test_pieces_of_parallel_calls_are_joined_by_index() -> None:
    """Interleaved pieces go to the call of their index; id and name stand in the first piece only."""
    trace = read(FIXTURES / "parallel_calls.sse")

    first, second = only(trace).tool_calls
    assert (first.id, first.name) == ("call_a", "look_up")
    assert first.arguments == '{"id": "0b7c9e52-5d3f-4c3e-9a41-7f2d8e6b1a05"}'
    assert (second.id, second.arguments) == ("call_b", '{"id": 2.0}')
    assert [(chunk.channel, chunk.index, chunk.name) for chunk in trace.stream] == [
        ("arguments", 0, "look_up"),
        ("arguments", 1, "look_up"),
        ("arguments", 0, "look_up"),
        ("arguments", 1, "look_up"),
    ]
    assert trace.meta["usage.total_tokens"] == 21
    assert trace.meta["finish_reason"] == "tool_calls"


def test_pieces_of_the_stream_make_the_message() -> None:
    """The pieces of a channel, joined, are the text of the message; differing times are recorded times."""
    trace = read(FIXTURES / "reasoning_and_text.chunks.txt")

    message = only(trace)
    assert (message.reasoning, message.content) == ("The user greets.", "Hello there 👋")
    assert "".join(chunk.text for chunk in trace.stream if chunk.channel == "text") == message.content
    assert [chunk.time for chunk in trace.stream] == [0.0, 1.0, 3.0, 3.0]


def test_one_time_for_all_chunks_is_no_time() -> None:
    """`created` of the response, repeated on every chunk, says nothing about the pieces."""
    assert {chunk.time for chunk in stream({"content": "a"}, {"content": "b"}, created=1790000000).stream} == {None}


def test_choices_are_branches() -> None:
    """The second choice is a conversation of its own; its pieces have an index of their own."""
    trace = read(FIXTURES / "two_choices.json")

    first, second = trace.conversations
    assert [message.content for message in first.messages] == ["Hello"]
    assert [message.content for message in second.messages] == ["Good day"]
    assert second.parent == first.id
    assert [(chunk.index, chunk.text) for chunk in trace.stream] == [(0, "He"), (1, "Good "), (1, "day"), (0, "llo")]


def test_an_error_ends_the_stream() -> None:
    """What came before an error stands as it is, the error is a turn that is marked, and both are reported."""
    trace = read(FIXTURES / "error_inside.sse")

    answer, error = trace.conversations[0].messages
    assert answer.content == "Here is the beg"
    assert [(part.type, part.text) for part in error.parts] == [("error", "The upstream model is overloaded.")]
    assert trace.conversations[0].origins[1].is_error
    assert {notice.kind for notice in trace.notices} >= {"damaged", "error"}


def test_a_cut_stream_says_so() -> None:
    """Arguments are kept as far as they came, with a notice."""
    trace = read(FIXTURES / "damaged_cut_in_arguments.sse")

    (made,) = only(trace).tool_calls
    assert made.arguments == '{"id": "0b7c9e52-5d3f-4c3e-'
    assert any("arguments are incomplete" in notice.text for notice in trace.notices)


def test_calls_that_come_whole_under_one_index() -> None:
    """Another id is another call, even though both have the index 0."""
    message = only(stream(call(0, "a", "f", '{"x": 1}'), call(0, "b", "f", '{"x": 2}')))

    assert [(made.id, made.arguments) for made in message.tool_calls] == [("a", '{"x": 1}'), ("b", '{"x": 2}')]


def test_calls_without_any_id() -> None:
    """A name after complete arguments begins another call; ids are made, and that is said."""
    trace = stream(call(0, "", "f", '{"x": 1}'), call(0, "", "g", '{"y": 2}'))

    message = only(trace)
    assert [(made.name, made.arguments) for made in message.tool_calls] == [("f", '{"x": 1}'), ("g", '{"y": 2}')]
    assert list(trace.conversations[0].origins[0].made_ids) == [made.id for made in message.tool_calls]
    assert any(notice.kind == "fallback" for notice in trace.notices)


def test_a_name_repeated_without_ids() -> None:
    """Braces inside strings end nothing: the pieces are one call until its text is closed."""
    pieces = ['{"x": "}', "{\\", '"}', '"}']
    message = only(stream(*(call(0, "", "f", piece) for piece in pieces), call(0, "", "f", "{}")))

    assert [made.arguments for made in message.tool_calls] == ["".join(pieces), "{}"]


def test_id_and_name_repeated_on_every_piece() -> None:
    """Vendors that repeat them do not make more calls."""
    message = only(stream(call(0, "a", "f", '{"x"'), call(0, "a", "f", ": 1}")))

    assert [(made.id, made.name, made.arguments) for made in message.tool_calls] == [("a", "f", '{"x": 1}')]


def test_arguments_given_as_an_object_keep_their_bytes() -> None:
    """An object in place of the text is its source text."""
    chunk = (
        '{"choices": [{"delta": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"x":  1.0}}}]}}]}'
    )

    assert only(read(chunk.encode())).tool_calls[0].arguments == '{"x":  1.0}'


def test_reasoning_under_two_keys_is_told_once() -> None:
    """`reasoning_details` repeat `reasoning`; only their signature is new."""
    details = [{"type": "reasoning.text", "text": "Hm.", "index": 0}]
    signed = [{"type": "reasoning.text", "text": "", "signature": "c2ln", "index": 0}]
    message = only(stream({"reasoning": "Hm.", "reasoning_details": details}, {"reasoning_details": signed}))

    assert (message.reasoning, message.reasoning_signature) == ("Hm.", "c2ln")


def test_old_function_call_pieces() -> None:
    """The old `function_call` has no id: one is made."""
    message = only(stream({"function_call": {"name": "f", "arguments": "{"}}, {"function_call": {"arguments": "}"}}))

    assert [(made.name, made.arguments) for made in message.tool_calls] == [("f", "{}")]


def test_citations_repeated_on_every_chunk_are_told_once() -> None:
    """Perplexity sends all citations with each chunk."""
    message = only(stream({"content": "a"}, {"content": "b"}, citations=["https://a.example", "https://b.example"]))

    assert [part.type for part in message.parts] == ["text", "citation", "citation"]
    assert message.parts[0].text == "ab"


def test_two_answers_in_one_capture() -> None:
    """A new id after a finish reason is a new turn."""
    lines = [
        {"id": id_, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
        for id_ in ("a", "b")
        for delta, end in (({"role": "assistant", "content": id_}, None), ({}, "stop"))
    ]
    trace = read("\n".join(map(json.dumps, lines)).encode())

    assert [message.content for message in trace.conversations[0].messages] == ["a", "b"]
    assert [chunk.index for chunk in trace.stream] == [0, 1]


def test_an_id_that_changes_on_every_chunk() -> None:
    """Pieces of one answer stay together, and the merge is reported."""
    lines = [
        {"id": f"x{number}", "choices": [{"index": 0, "delta": {"content": text}}]} for number, text in enumerate("abc")
    ]
    trace = read("\n".join(map(json.dumps, lines)).encode())

    assert only(trace).content == "abc"
    assert any(notice.kind == "merged" for notice in trace.notices)


def test_a_request_with_the_chunks_that_answer_it() -> None:
    """A record of a request and the list of its chunks is a conversation by itself."""
    request = {"model": "m", "messages": [{"role": "user", "content": "Hello?"}], "stream": True}
    chunks = [{"object": "chat.completion.chunk", "choices": [{"delta": {"content": text}}]} for text in ("Ye", "s.")]
    line = json.dumps({"request": request, "response": chunks})
    traces = list(iter_traces(f"{line}\n{line}\n".encode()))

    assert [trace.format for trace in traces] == ["openai_chat_stream"] * 2
    for trace in traces:
        assert [message.content for message in trace.conversations[0].messages] == ["Hello?", "Yes."]


def test_a_request_before_its_stream() -> None:
    """The request's messages stand before the streamed answer."""
    request = {"model": "m", "messages": [{"role": "user", "content": "Hello?"}], "stream": True}
    chunk = {"id": "a", "object": "chat.completion.chunk", "choices": [{"delta": {"content": "Yes."}}]}
    data = "\n".join(map(json.dumps, (request, chunk))).encode()

    assert detect(data) == "openai_chat_stream"
    assert [message.content for message in read(data).conversations[0].messages] == ["Hello?", "Yes."]


def test_an_error_that_ends_an_answer_is_told_behind_it() -> None:
    """A chunk may end the answer and say why at once: that is no further message, and nothing breaks off."""
    chunks: list[dict[str, object]] = [
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Half"}}]},
        {
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}],
            "error": {"code": 500, "message": "The server gave up."},
        },
    ]
    trace = read("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode())

    answer, error = trace.conversations[0].messages
    assert (answer.content, error.parts[0].text) == ("Half", "The server gave up.")
    assert [notice.kind for notice in trace.notices] == ["error"]
