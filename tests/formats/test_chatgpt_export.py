"""ChatGPT export: the visible path, branches, calls without ids."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "chatgpt_export"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_the_current_node_decides_the_path() -> None:
    """The first conversation is the path up from `current_node`; empty hidden messages are left out."""
    main = _read("branches.json").conversations[0]

    assert [message.role for message in main.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert main.messages[-1].parts[0].text == "It is 120 metres high."


def test_other_answers_are_branches_with_a_parent() -> None:
    """A repeated answer forks after the fourth message, another beginning forks before the first."""
    main, answer, beginning = _read("branches.json").conversations

    assert (answer.parent, answer.after, len(answer.messages)) == (main.id, 4, 1)
    assert (beginning.parent, beginning.after, len(beginning.messages)) == (main.id, 0, 2)
    assert beginning.messages[1].reasoning == "Dating the tower\n\nThe style says 1890."


def test_a_message_to_a_tool_is_a_call_and_its_results_follow() -> None:
    """A recipient other than `all` makes a call; both results answer it, and a notice says how."""
    trace = _read("branches.json")
    messages = trace.conversations[0].messages

    assert messages[1].tool_calls[0].name == "browser"
    assert messages[1].tool_calls[0].arguments == 'search("tower height")'
    assert {message.tool_call_id for message in messages[2:4]} == {messages[1].tool_calls[0].id}
    assert any("no ids" in notice.text for notice in trace.notices)


def test_pictures_and_citations_are_parts() -> None:
    """A picture that is also listed as an attachment is told once; citations keep their address."""
    messages = _read("branches.json").conversations[0].messages

    assert [part.type for part in messages[0].parts] == ["text", "image"]
    assert messages[-1].parts[1].data == {"url": "https://towers.example.com/1", "title": "Towers"}


def test_an_export_has_many_conversations() -> None:
    """Every element of an export is a trace of its own."""
    trace = _read("export.json")

    assert [conversation.title for conversation in trace.conversations if not conversation.parent] == [
        "A tower",
        "Nothing",
    ]


def test_a_circle_ends() -> None:
    """Parents that lead in a circle are followed once."""
    assert len(_read("circle.json").conversations[0].messages) == 2
