"""The Decode panel: answers, calls, and what was not restored."""

from __future__ import annotations

from inspector_app.views.decoded import answer_view, call_view, item_rows, last_answer, read_call, resolution_rows
from modelcontext_core.messages import Message, ToolCall
from tests.app.making import CHUNK, DOCUMENT, analysis, left_text


def test_an_answer_is_restored_and_both_forms_are_aligned() -> None:
    """What the model wrote stands on the left, what a reader sees on the right, ids marked on both."""
    made = analysis()
    text = 'See <ref id="chunk://1"/> in doc://1.'

    view = answer_view(made, made.registry.decode_with_report(text), text)
    row = view["blocks"][0]["sections"][0]["rows"][0]

    assert left_text([row]) == text
    assert [part[1] for part in row[2] if isinstance(part, list)][:2] == [CHUNK, made.handles[2].durable]
    assert view["blocks"][0]["notes"] == [["muted", "2 restored"]]


def test_what_was_not_restored_is_named_with_the_nearest_handle() -> None:
    """Unknown, malformed and look-alike handles: as written, what it is, nearest issued, what happened."""
    made = analysis()
    text = 'A <ref id="chunk://12"/>, doc:/3 and doc%3A%2F%2F1.'

    rows = item_rows(made, made.registry.decode_with_report(text), text)

    assert [[cell["text"] for cell in row] for row in rows] == [
        ["chunk://12", "unknown: this request issued chunk://1", "chunk://1", "the citation was dropped"],
        ["doc:/3", "malformed: not two slashes", "doc://1", "left in the text"],
        ["doc%3A%2F%2F1", "look-alike: percent-encoded", "doc://1", "left in the text"],
    ]


def test_the_arguments_of_a_call_are_restored_and_marked() -> None:
    """Handles and the values that take their place are marked; an unknown one makes the call fail."""
    made = analysis()
    text = '{"id": "doc://1", "note": "see doc://44"}'
    [call] = made.registry.decode_tool_calls([ToolCall(name="read_document", arguments=text)])

    view = call_view(made, call, text)
    row = view["blocks"][0]["sections"][0]["rows"][0]

    assert [part[1] for part in row[2] if isinstance(part, list)] == [DOCUMENT, "doc://44"]
    assert view["blocks"][0]["notes"][0][0] == "fault"
    assert [row[0]["text"] for row in resolution_rows(call)] == ["doc://44"]


def test_a_call_may_be_typed_in_several_ways() -> None:
    """Bare arguments, a name with arguments as text or object, an OpenAI call, and text that is no JSON."""
    assert read_call('{"id": "doc://1"}', "read").arguments == '{"id": "doc://1"}'
    assert read_call('{"name": "read", "arguments": "{}"}', "").arguments == "{}"
    assert read_call('{"function": {"name": "read", "arguments": {"a": 1}}}', "").name == "read"
    assert read_call('{"name": "read", "input": {}}', "other").name == "other"
    assert read_call("{half", "").arguments == "{half"


def test_the_last_answer_is_offered() -> None:
    """The panel begins with the last answer of the conversation, as the model wrote it."""
    assert last_answer(analysis()) == 'See <ref id="chunk://1"/>.'


def test_the_field_of_the_decode_panel_gets_text_that_utf_8_can_hold() -> None:
    """Half of a surrogate pair in an answer, which a field cannot hold, is replaced."""
    made = analysis([Message(role="assistant", content="a\ud83db")])

    assert last_answer(made) == "a\ufffdb"
