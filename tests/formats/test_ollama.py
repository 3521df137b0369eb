"""Ollama."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import detect, iter_traces, read

FIXTURES = Path(__file__).parent / "fixtures" / "ollama"


def test_a_request() -> None:
    """Arguments are the exact source text; results are linked by name, else by position; images are measured."""
    trace = read(FIXTURES / "chat_request.json")

    system, user, call, count, describe = trace.conversations[0].messages
    assert system.content == "Be kind."
    assert [(part.type, part.text or part.data) for part in user.parts] == [
        ("text", "What is on it?"),
        ("image", {"length": 12}),
    ]
    assert call.reasoning == "Ask the tool."
    assert [(made.name, made.arguments) for made in call.tool_calls] == [("describe", '{"n":  1.0}'), ("count", "{}")]
    assert (count.name, count.tool_call_id) == ("count", call.tool_calls[1].id)
    assert (describe.name, describe.tool_call_id) == ("describe", call.tool_calls[0].id)


def test_a_response() -> None:
    """A response in one piece is no stream."""
    trace = read(FIXTURES / "chat_response.json")

    assert trace.conversations[0].messages[0].tool_calls[0].arguments == '{"n":  2}'
    assert trace.stream == ()
    assert trace.meta["eval_count"] == 5


def test_a_stream() -> None:
    """Every line has its time; a call comes whole."""
    trace = read(FIXTURES / "chat_stream.ndjson")

    (message,) = trace.conversations[0].messages
    assert (message.reasoning, message.content) == ("Hm, yes.", "I look.")
    assert [(made.name, made.arguments) for made in message.tool_calls] == [("look", '{"at":  "sky", "n": 1.0}')]
    assert [(chunk.channel, chunk.time) for chunk in trace.stream] == [
        ("reasoning", 0.0),
        ("reasoning", 0.25),
        ("text", 1.0),
        ("text", 1.1),
        ("arguments", 1.2),
    ]
    assert trace.meta["total_duration"] == 1300000000


def test_a_stream_of_generate() -> None:
    """The text stands in `response`; the context is numbers and is named."""
    trace = read(FIXTURES / "generate_stream.ndjson")

    assert [message.content for message in trace.conversations[0].messages] == ["A joke."]
    assert any("token numbers" in notice.text for notice in trace.notices)


def test_a_request_of_generate() -> None:
    """System and prompt are two messages."""
    messages = read(FIXTURES / "generate_request.json").conversations[0].messages

    assert [(message.role, message.content) for message in messages] == [
        ("system", "Be brief."),
        ("user", "Tell a joke."),
    ]


def test_finished_responses_in_lines_are_apart() -> None:
    """Lines that are all done are records, lines of a stream are one."""
    line = (FIXTURES / "chat_response.json").read_bytes()

    assert len(list(iter_traces(line + line))) == 2
    assert len(list(iter_traces(FIXTURES / "chat_stream.ndjson"))) == 1


def test_a_cut_stream_says_so() -> None:
    """What came is told, and that it broke off."""
    assert any("breaks off" in notice.text for notice in read(FIXTURES / "damaged_cut.ndjson").notices)


def test_the_compatible_api_shows_its_fingerprint() -> None:
    """Then it is called by its name."""
    choice = b'{"message": {"role": "assistant", "content": "a"}}'

    assert detect(b'{"system_fingerprint": "fp_ollama", "choices": [' + choice + b"]}") == "ollama"
