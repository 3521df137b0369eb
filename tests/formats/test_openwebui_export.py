"""Open WebUI export: items before HTML, HTML details, answers side by side."""

from __future__ import annotations

import json
from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "openwebui_export"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_items_are_preferred_to_the_html() -> None:
    """`output` holds the typed items of an answer; its HTML is left out with a notice."""
    trace = _read("chats.json")
    messages = trace.conversations[0].messages

    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert messages[2].reasoning == "A tool can add."
    assert messages[2].tool_calls[0].arguments == '{"a": 2.0}'
    assert messages[4].content == "Four."
    assert any(notice.kind == "merged" and "HTML" in notice.text for notice in trace.notices)


def test_html_details_are_reasoning_and_calls() -> None:
    """In older chats reasoning and calls are HTML with escaped attributes."""
    messages = _read("chats.json").conversations[1].messages

    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[1].reasoning == "The sum is < 10."
    assert messages[1].content == "I ask the tool."
    assert (messages[1].tool_calls[0].name, messages[1].tool_calls[0].arguments) == ("add", '{"a": 2.0}')
    assert messages[2].content == "four"
    assert [part.type for part in messages[3].parts] == ["text", "citation"]


def test_answers_side_by_side_are_branches() -> None:
    """Two models answered one message: the current answer is in the first conversation, the other is a branch."""
    main, other = _read("side_by_side.json").conversations

    assert [part.type for part in main.messages[0].parts] == ["text", "image"]
    assert (main.messages[1].parts[0].text, main.origins[1].is_error) == ("The model is not loaded.", True)
    assert (other.parent, other.after, other.messages[0].content) == (main.id, 1, "The Mur.")


def test_what_only_the_html_says_is_kept_beside_the_items() -> None:
    """Some versions write the reasoning in other words into the HTML; a result that is quoted there is a repetition."""
    html = '<details type="reasoning"><summary>Thought</summary>&gt; Let me see.</details>'
    html += '<details type="tool_calls"><summary>Done</summary>"It rains"</details>Take a coat.'
    items = [
        {"type": "function_call", "call_id": "c", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "It rains"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Take a coat."}]},
    ]
    answer = {"id": "m", "role": "assistant", "content": html, "output": items}
    chat = {"id": "x", "chat": {"models": ["m"], "history": {"currentId": "m", "messages": {"m": answer}}}}
    parts = [part for message in read(json.dumps([chat]).encode()).conversations[0].messages for part in message.parts]

    assert [(part.type, part.text) for part in parts if part.type == "html"] == [("html", "Let me see.")]
