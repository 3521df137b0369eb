"""Cohere, both versions."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import iter_traces, read

FIXTURES = Path(__file__).parent / "fixtures" / "cohere"


def test_a_v2_request() -> None:
    """The tool plan is reasoning, documents are results, and arguments may be the text `null`."""
    trace = read(FIXTURES / "v2_request.json")

    _, plan, result, answer = trace.conversations[0].messages
    assert plan.reasoning == "I will read the sales."
    assert [(made.id, made.arguments) for made in plan.tool_calls] == [("sales_1", "null")]
    assert (result.name, result.content) == ("sales", '{"best": "tea"}')
    assert [(part.type, part.text) for part in answer.parts] == [("text", "Tea."), ("citation", "Tea")]
    assert [tool.name for tool in trace.conversations[0].tools] == ["sales"]


def test_sources_are_told_only_where_they_are_not_known() -> None:
    """The sources of a citation repeat the tool's output: of a lone response they are the only copy."""
    (message,) = read(FIXTURES / "v2_response.json").conversations[0].messages

    assert message.reasoning == "Easy."
    assert [(part.type, part.text) for part in message.parts] == [
        ("text", "Tea."),
        ("citation", "Tea"),
        ("source", "tea, by a wide margin"),
    ]


def test_a_v2_stream() -> None:
    """Two answers in one capture: plan and call, then text and citation."""
    trace = read(FIXTURES / "v2_stream.sse")

    call, answer = trace.conversations[0].messages
    assert call.reasoning == "I will read."
    assert [(made.id, made.name, made.arguments) for made in call.tool_calls] == [
        ("sales_1", "sales", '{"year": 2026}')
    ]
    assert [(part.type, part.text) for part in answer.parts] == [("text", "Tea it is."), ("citation", "Tea")]
    assert [(chunk.channel, chunk.text, chunk.index) for chunk in trace.stream] == [
        ("reasoning", "I will ", 0),
        ("reasoning", "read.", 0),
        ("arguments", '{"year":', 0),
        ("arguments", " 2026}", 0),
        ("text", "Tea ", 1),
        ("text", "it is.", 1),
    ]


def test_a_v1_request() -> None:
    """Preamble, history, message, results: in this order; the result's call is not in the record."""
    trace = read(FIXTURES / "v1_request.json")

    assert [(message.role, message.content) for message in trace.conversations[0].messages] == [
        ("system", "You speak like a sailor."),
        ("user", "Ahoy"),
        ("assistant", "Ahoy!"),
        ("user", "Where is the wind?"),
        ("tool", '{"knots": 12.0}'),
    ]
    assert trace.conversations[0].messages[-1].name == "wind"
    assert any(notice.kind == "orphan" for notice in trace.notices)


def test_a_v1_response() -> None:
    """The history's last turn is the answer again and is told once."""
    user, answer = read(FIXTURES / "v1_response.json").conversations[0].messages

    assert user.content == "Where is the wind?"
    assert [(made.name, made.arguments) for made in answer.tool_calls] == [("wind", '{"port":  "Brest"}')]
    assert [(part.type, part.text) for part in answer.parts] == [
        ("text", "West."),
        ("warning", "This model will be removed."),
        ("citation", "West"),
        ("source", "The wind is in the west."),
    ]


def test_a_v1_stream() -> None:
    """The last line repeats the whole answer: nothing is told twice."""
    (trace,) = iter_traces(FIXTURES / "v1_stream.ndjson")

    assert [(message.role, message.content) for message in trace.conversations[0].messages] == [
        ("user", "Wind?"),
        ("assistant", "West, matey."),
    ]
    assert [chunk.text for chunk in trace.stream] == ["West", ", matey."]


def test_a_cut_stream_says_so() -> None:
    """What came is told, and that it broke off."""
    trace = read(FIXTURES / "damaged_cut.sse")

    assert trace.conversations[0].messages[0].reasoning.startswith("I will")
    assert any("breaks off" in notice.text for notice in trace.notices)
