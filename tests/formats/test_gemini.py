"""Gemini."""

from __future__ import annotations

import json
from pathlib import Path

from modelcontext_core.formats import detect, iter_traces, read

FIXTURES = Path(__file__).parent / "fixtures" / "gemini"


def test_a_request() -> None:
    """Calls and results without ids are linked by name and order; args are the exact source text."""
    trace = read(FIXTURES / "request_with_functions.json")

    system, user, model, first, second, last = trace.conversations[0].messages
    assert (system.role, system.content) == ("system", "You plan trips.")
    assert [(part.type, part.text or part.data) for part in user.parts] == [
        ("text", "Trains to Bern and Basel?"),
        ("file", {"media_type": "application/pdf", "url": "gs://maps/rail.pdf"}),
    ]
    assert model.role == "assistant"
    assert model.reasoning == "Two searches."
    assert [made.arguments for made in model.tool_calls] == ['{"to": "Bern",  "via": 1.0}', '{"to": "Basel"}']
    assert [part.type for part in model.parts] == ["thought_signature"]
    assert [(result.role, result.name) for result in (first, second)] == [("tool", "trains")] * 2
    assert [first.tool_call_id, second.tool_call_id] == [made.id for made in model.tool_calls]
    assert trace.conversations[0].origins[4].is_error
    assert last.content == "To Bern at 08:02."
    assert [tool.name for tool in trace.conversations[0].tools] == ["trains", "googleSearch"]
    assert trace.meta["generationConfig.temperature"] == 0.5


def test_code_that_the_provider_ran() -> None:
    """Code is a call, what it printed its result; a further candidate is a branch; sources are citations."""
    trace = read(FIXTURES / "code_response.json")

    first, second = trace.conversations
    call, result, answer = first.messages
    assert call.tool_calls[0].name == "code_execution"
    assert json.loads(call.tool_calls[0].arguments)["code"] == "print(2)"
    assert (result.role, result.name, result.content) == ("tool", "code_execution", "2\n")
    assert [part.type for part in answer.parts] == ["image", "text", "citation", "search_query"]
    assert [message.content for message in second.messages] == ["Two."]
    assert second.parent == first.id


def test_a_blocked_prompt() -> None:
    """There is no candidate, but the reason is told."""
    trace = read(FIXTURES / "blocked.json")

    assert "SAFETY" in trace.conversations[0].messages[0].parts[0].text
    assert trace.conversations[0].origins[0].is_error


def test_an_interaction() -> None:
    """Typed steps: reasoning, calls with results, output with citations."""
    search, result, rest = read(FIXTURES / "interaction.json").conversations[0].messages

    assert search.reasoning == "Search first."
    assert [(made.name, made.arguments) for made in search.tool_calls] == [("google_search", '{"queries": ["tides"]}')]
    assert (result.name, result.tool_call_id) == ("google_search", "s1")
    assert [made.name for made in rest.tool_calls] == ["now"]
    assert [(part.type, part.text) for part in rest.parts] == [("text", "High water at noon."), ("citation", "")]


def test_an_end_without_content() -> None:
    """A bad end is told, also without any part."""
    body = {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed function call: x("}]}
    (message,) = read(json.dumps(body).encode()).conversations[0].messages

    assert [(part.type, part.text) for part in message.parts] == [("error", "Malformed function call: x(")]


def test_a_request_with_its_response() -> None:
    """Both together are one conversation."""
    request = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    response = {"candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]}
    data = json.dumps({"request": request, "response": response}).encode()

    assert detect(data) == "gemini"
    assert [(m.role, m.content) for m in read(data).conversations[0].messages] == [
        ("user", "Hi"),
        ("assistant", "Hello"),
    ]


def test_responses_in_lines_are_apart() -> None:
    """Finished responses with ids of their own are no stream."""
    lines = [
        {"candidates": [{"content": {"parts": [{"text": str(n)}]}, "finishReason": "STOP"}], "responseId": f"r{n}"}
        for n in range(3)
    ]
    traces = list(iter_traces("\n".join(map(json.dumps, lines)).encode()))

    assert [trace.format for trace in traces] == ["gemini"] * 3
