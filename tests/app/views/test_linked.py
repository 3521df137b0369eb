"""Blocks of the linked view, and the parts that a long trace is cut into."""

from __future__ import annotations

from dataclasses import replace

from inspector_app.views.linked import Part, looks_structured, next_raw, part_of, plan, view_part
from modelcontext_core.messages import Message
from modelcontext_core.messages import Part as MessagePart
from tests.app.making import BASE, CHUNK, CONVERSATION, DOCUMENT, RAW, analysis, left_text


def test_a_block_says_who_speaks_and_what_was_replaced() -> None:
    """Role, tool, call id, counts and the rows of each text of a message."""
    made = analysis()

    block = view_part(made, plan(made.messages), 0)["blocks"][3]

    assert (block["role"], block["name"], block["id"]) == ("tool", "search_knowledge", "c1")
    assert ["muted", "2 replaced"] in block["notes"]
    assert ["fault", "1 raw id left"] in block["notes"]
    assert left_text(block["sections"][0]["rows"]) == CONVERSATION[3].content


def test_a_role_of_a_stranger_steers_nothing() -> None:
    """Roles may be any text in a trace: what cannot be seen of one is written as its code point."""
    made = analysis([Message(role="us\u202eer", content="Hi")])

    assert "us[U+202E]er" == view_part(made, plan(made.messages), 0)["blocks"][0]["role"]


def test_identities_are_described_once_with_where_they_occur() -> None:
    """The detail of an identity: handle, durable value, tag, space, first place, messages."""
    made = analysis()

    known = {one["handle"]: one for one in view_part(made, plan(made.messages), 0)["identities"].values()}

    assert known["chunk://1"]["durable"] == CHUNK
    assert known["chunk://1"]["messages"] == [3, 4]
    assert known["chunk://1"]["first"] == "message 3, line 1"
    assert (known["doc://1"]["durable"], known["doc://1"]["tag"]) == (DOCUMENT, "dc1")
    assert (known["kb://1"]["durable"], known["kb://1"]["space"]) == (BASE, "knowledge_base")


def test_signed_reasoning_is_marked_and_pictures_are_placeholders() -> None:
    """Reasoning that a provider signed says so; a part that is no text is named, not shown."""
    message = Message(
        role="assistant",
        reasoning="Think.",
        reasoning_signature="s",
        parts=(MessagePart(type="image", data={"media_type": "image/png", "length": 421_888}),),
    )
    made = analysis([message])

    reasoning, picture = view_part(made, plan(made.messages), 0)["blocks"][0]["sections"]

    assert reasoning["label"] == "reasoning · signed, left as it is"
    assert left_text(picture["rows"]) == "image/png · 412 KB · not scanned"


def test_a_readable_part_that_is_no_text_is_shown_under_its_kind() -> None:
    """A citation or error of the provider is read, named and never rewritten."""
    made = analysis([Message(role="assistant", parts=(MessagePart(type="citation", text=f"from {CHUNK}"),))])

    [section] = view_part(made, plan(made.messages), 0)["blocks"][0]["sections"]

    assert (section["label"], left_text(section["rows"])) == ("citation", f"from {CHUNK}")


def test_a_conversation_is_cut_into_parts_of_about_the_limit() -> None:
    """Whole messages go together; one that is too long is cut into pieces."""
    short, long = Message(role="user", content="x" * 300), Message(role="tool", content="y\n" * 3_000)

    parts = plan([short, short, short, long, short], limit=1_000)

    assert parts[:2] == [Part(first=0, last=2), Part(first=2, last=3)]
    assert [part.pieces for part in parts[2:-1]] == [7] * 7
    assert part_of(parts, 4) == len(parts) - 1
    assert plan([]) == [Part(first=0, last=0)]


def test_the_pieces_of_a_long_message_hold_every_row_once() -> None:
    """What one piece leaves out, another one shows."""
    message = Message(role="tool", name="t", content="\n".join(f"line {number}" for number in range(5_000)))
    made = analysis([message])
    parts = plan(made.messages, limit=10_000)

    blocks = [view_part(made, parts, number)["blocks"][0] for number in range(len(parts))]

    assert "\n".join(left_text(block["sections"][0]["rows"]) for block in blocks) == message.content
    assert all(block["value"] is None for block in blocks)


def test_the_copy_of_a_message_holds_no_text_twice() -> None:
    """The JSON value that goes with a block is without the texts, which its rows hold already."""
    made = analysis([replace(CONVERSATION[2], content="Let me look.")])

    value = view_part(made, plan(made.messages), 0)["blocks"][0]["value"]

    assert value == {"role": "assistant", "tool_calls": [{"id": "c1", "name": "search_knowledge"}]}


def test_the_next_raw_id_is_found_in_any_part_and_round_the_end() -> None:
    """Messages with raw ids follow each other in both directions; without any there is none."""
    made = analysis()

    assert [next_raw(made, 0), next_raw(made, 3), next_raw(made, 3, back=True)] == [3, 3, 3]
    assert next_raw(analysis(CONVERSATION[:2]), 0) is None


def test_json_markup_and_tables_are_set_in_a_fixed_width_face() -> None:
    """Prose is not."""
    assert all(map(looks_structured, ['{"a": 1}', "<x/>", " [1]", "| a | b |"]))
    assert not looks_structured("Dear customer")


def test_ids_that_the_user_wrote_are_marked_as_left_on_purpose() -> None:
    """They are counted and drawn on both sides, and are no fault."""
    made = analysis()

    block = view_part(made, plan(made.messages), 0)["blocks"][1]

    assert block["notes"] == [["muted", "1 id left on purpose"]]
    assert ["u", RAW] in block["sections"][0]["rows"][0][1]

    long = analysis([Message(role="user", content=f"1\n2\n3\n{RAW}\n5\n6\n7")])
    rows = view_part(long, plan(long.messages), 0)["blocks"][0]["sections"][0]["rows"]
    assert [4, [["u", RAW]], 0, 2] in rows
