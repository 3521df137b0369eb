"""ShareGPT: calls and tools in JSON texts, pictures, preferences, LLaMA-Factory v1."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "sharegpt"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_a_call_in_a_text_is_a_call_with_its_exact_arguments() -> None:
    """The value of a function_call is JSON text: its arguments keep `4.0` and every blank."""
    messages = _read("calls.json").conversations[0].messages

    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert messages[2].tool_calls[0].arguments == '{"guests": 4.0, "near": "窗"}'
    assert messages[3].tool_call_id == messages[2].tool_calls[0].id
    assert messages[3].name == "book_table"


def test_tools_and_system_stand_beside_the_messages() -> None:
    """The system prompt comes first; tools are read from their JSON text."""
    conversation = _read("calls.json").conversations[0]

    assert conversation.messages[0].content == "You run a restaurant."
    assert [tool.name for tool in conversation.tools] == ["book_table"]
    assert "properties" in conversation.tools[0].parameters


def test_a_placeholder_takes_the_next_picture() -> None:
    """`<image>` in a text stands for the next entry of `images`."""
    message = _read("calls.json").conversations[1].messages[0]

    assert [part.type for part in message.parts] == ["text", "image"]
    assert message.parts[1].data == {"url": "plates/12.png"}


def test_the_rejected_answer_is_a_branch() -> None:
    """A preference goes on with the chosen answer; the rejected one forks off the same place."""
    main, branch = _read("preference.jsonl").conversations

    assert [message.role for message in main.messages] == ["user", "assistant"]
    assert (branch.parent, branch.after) == (main.id, 1)
    assert branch.messages[0].content == "I would rather not."


def test_factory_v1_has_typed_values() -> None:
    """LLaMA-Factory v1 writes parts of `type` and `value`: text, reasoning, calls."""
    messages = _read("factory_v1.json").conversations[0].messages

    assert messages[1].reasoning == "The weather has to be looked up."
    assert messages[1].tool_calls[0].arguments == '{"city": "Graz"}'
    assert messages[2].name == "weather"


def test_a_call_that_is_no_json_is_kept_and_named() -> None:
    """A function_call whose text is no JSON is kept as text, with a notice."""
    data = b'{"conversations": [{"from": "function_call", "value": "look(up)"}, {"from": "gpt", "value": "Done."}]}'
    trace = read(data)

    assert trace.conversations[0].messages[0].content == "look(up)"
    assert any(notice.kind == "unknown" for notice in trace.notices)
