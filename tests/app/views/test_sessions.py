"""Rows, facts, diffs and the chart of the Sessions page."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector_app import words
from inspector_app.views.sessions import (
    break_rows,
    context_text,
    event_rows,
    laid_out,
    operation_rows,
    payload_rows,
    session_facts,
)
from inspector_app.views.sessions_diff import ADDED, REMOVED, diff_rows, diff_view, one_view
from inspector_app.views.sessions_rules import rule_rows
from inspector_app.views.sessions_timeline import chosen_revision, palette, timeline, timeline_head
from modelcontext_core.contextstate import MemoryStore, StaleRevisionError
from tests.app.making import unfolded
from tests.contextstate.builders import GPT_NEXT, Clock, commit, grow, payload

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def store() -> MemoryStore:
    """Three checkpoints, then a new binding with a shared and a revoked payload, and a stale attempt."""
    made = MemoryStore(clock=Clock())
    last = grow(made, commits=3)[-1]
    shared, revoked = payload(b"shared"), payload(b"secret", subject="v")
    request = commit(
        "op-4",
        expected=last.checkpoint.revision,
        events=2,
        payloads=(shared, revoked),
        context=b'{"a": 1}',
        new_binding=GPT_NEXT,
        turn=4,
    )
    made.checkpoint(request)
    made.put(payload(b"shared", subject="other"))
    made.revoke(revoked.ref)
    with pytest.raises(StaleRevisionError):
        made.checkpoint(commit("late", expected=last.checkpoint.revision, turn=4))
    return made


# --- rows


def test_the_facts_are_green_only_after_everything_was_read_again() -> None:
    """“Not checked” is no verdict; a break is one."""
    made = store()
    head, totals = made.head("s"), made.payload_totals("s")

    unchecked = session_facts(head, totals, None, verifiable=True)[-1]
    checked = session_facts(head, totals, made.verify("s"), verifiable=True)[-1]

    assert (unchecked["value"], unchecked["tone"]) == (words.sessions.NOT_CHECKED, "muted")
    assert (checked["value"], checked["tone"]) == ("✓ 8 events, 3 payloads", "good")
    assert session_facts(head, totals, None, verifiable=False)[-1]["key"] == "saved"


def test_a_long_name_fits_its_fact() -> None:
    """A session id may have 128 bytes: the line of facts shows its beginning."""
    made = MemoryStore()
    made.checkpoint(commit("op", "s" * 128))
    facts = session_facts(made.head("s" * 128), made.payload_totals("s" * 128), None, verifiable=True)

    assert facts[0]["value"] == "s" * 39 + "…"


def test_payloads_say_what_became_of_them() -> None:
    """Stored, shared, revoked; bytes saved are those of every further put."""
    names = words.sessions.PAYLOAD_COLUMNS
    rows = payload_rows(store().payloads("s"))

    assert [row[names["state"]] for row in rows] == ["stored, shared", "revoked", "stored, shared"]
    assert [row[names["saved"]] for row in rows] == [0, 0, 0]


def test_operations_are_commits_and_attempts_in_order() -> None:
    """An attempt stands after the checkpoint that it met, with its outcome."""
    names = words.sessions.OPERATION_COLUMNS
    rows = operation_rows(store().history("s"))

    assert [row[names["operation"]] for row in rows] == ["s-op-1", "s-op-2", "s-op-3", "op-4", "late"]
    assert rows[-1][names["outcome"]] == words.sessions.outcome("stale_revision")


def test_hidden_characters_of_a_store_are_drawn() -> None:
    """What cannot be seen appears as its code point."""
    made = MemoryStore()
    made.checkpoint(commit("op\u202e", "s\u200b"))
    entry = made.history("s\u200b")

    assert operation_rows(entry)[0][words.sessions.OPERATION_COLUMNS["operation"]] == "op[U+202E]"
    assert event_rows(made.events("s\u200b"))[0][words.sessions.EVENT_COLUMNS["role"]] == "user"


def test_a_report_is_rows_of_where_and_what() -> None:
    """A sound session has none."""
    assert break_rows(store().verify("s")) == []


def test_the_rule_that_answers_stands_between_passed_and_not_reached() -> None:
    """Rules before it passed, those after it were never asked."""
    rows = rule_rows("limits", replay=False, text="too much")

    assert [row[1]["text"] for row in rows] == [
        words.sandbox.RULE_PASSED,
        words.sandbox.RULE_PASSED,
        "too much",
        words.sandbox.RULE_NOT_REACHED,
        words.sandbox.RULE_NOT_REACHED,
    ]
    assert {row[1]["text"] for row in rule_rows(None, replay=False, text="")} == {words.sandbox.RULE_PASSED}
    assert rule_rows("key", replay=True, text="")[0][1]["tone"] == "warning"


# --- contexts


@given(JSON)
def test_laying_out_changes_white_space_only(value: object) -> None:
    """The value is the same, and no line holds two members."""
    text = json.dumps(value)

    assert json.loads(laid_out(text)) == value
    assert laid_out(laid_out(text)) == laid_out(text)


def test_numbers_and_keys_of_a_context_stay_as_they_were_written() -> None:
    """1.0, a number beyond 2^64 and a key that comes twice are not rewritten."""
    context = b'{"a":1.0,"a":123456789012345678901234567890,"b":[],"c":[{"d":"x, {"}]}'
    shown = '{\n "a": 1.0,\n "a": 123456789012345678901234567890,\n "b": [],\n "c": [\n  {\n   "d": "x, {"\n  }\n ]\n}'

    assert context_text(context) == shown


def test_a_context_that_is_no_text_is_shown_as_bytes() -> None:
    """An active context is bytes; what is no UTF-8 is shown in hexadecimal, what is too long is cut."""
    assert context_text(b"\xff\x00") == "ff 00"
    assert context_text(b"plain") == "plain"
    assert context_text(b"{not json") == "{not json"
    assert context_text("ä".encode() * 3, most=3) == "ä"


# --- diff


def side(rows: list[list[object]], index: int, number: int) -> list[str]:
    """One side of diff rows as its lines."""
    texts = []
    for row in rows:
        parts = row[index] if row[index] != 0 else row[1]
        if row[number]:
            assert isinstance(parts, list)
            texts.append("".join(part if isinstance(part, str) else part[-1 if len(part) > 3 else 1] for part in parts))
    return texts


LINES = st.lists(st.text("ab{}\t", max_size=4), max_size=8)


@given(LINES, LINES)
def test_a_diff_holds_both_texts_whole(left: list[str], right: list[str]) -> None:
    """Whatever is compared, each side gives its lines back in order, numbered from 1."""
    rows = diff_rows(left, right)

    assert side(rows, 1, 0) == left
    assert side(rows, 2, 4) == right
    assert [row[0] for row in rows if row[0]] == list(range(1, len(left) + 1))
    assert all(row[3] == 0 or row[1] is None or row[2] is None or row[1] != row[2] for row in rows)


def test_a_changed_word_is_marked_and_a_missing_line_is_none() -> None:
    """Lines that are alike are compared inside; a line on one side only has nothing beside it."""
    rows = diff_rows(["same", '"turn": 41'], ["same", '"turn": 52', "new"])

    assert rows[0] == [1, ["same"], 0, 0, 1]
    assert [REMOVED, "41", -1] in rows[1][1]  # type: ignore[operator]
    assert [ADDED, "52", -1] in rows[1][2]  # type: ignore[operator]
    assert rows[2] == [0, None, ["new"], 1, 3]


def test_lines_that_are_not_alike_are_not_mixed() -> None:
    """Blanks and quotes in common make no likeness: nothing inside is marked then."""
    rows = diff_rows(['"order": "two items, paid by card"'], ['"decided": "a label was sent by mail"'])

    assert rows == [[1, ['"order": "two items, paid by card"'], ['"decided": "a label was sent by mail"'], 1, 1]]


def test_texts_that_are_too_long_to_compare_are_replaced_whole() -> None:
    """Ten thousand different lines on both sides end in one go."""
    rows = diff_rows([f"a{n}" for n in range(3_000)], [f"b{n}" for n in range(3_000)])

    assert len(rows) == 3_000


def test_two_checkpoints_are_compared_in_what_they_say_and_in_their_contexts() -> None:
    """The binding and the context differ; unchanged runs are folded by the view."""
    made = store()
    view = diff_view(made.checkpoint_at("s", 3), made.checkpoint_at("s", 4))
    about, context = view["blocks"][0]["sections"]

    assert view["diff"] is True
    assert any(row[3] and "gpt-4.1" in str(row[1]) for row in unfolded(about["rows"]))
    assert context["label"] == words.sessions.CONTEXT_TITLE
    assert one_view(made.checkpoint_at("s", 4))["blocks"][0]["sections"][0]["rows"][0][3] == 2


# --- the chart


def texts_of(figure: object) -> list[str]:
    """Every text in a figure."""
    traces = [text for trace in figure.data for text in (trace.text or ())]  # type: ignore[attr-defined]
    return traces + [each.text for each in figure.layout.annotations]  # type: ignore[attr-defined]


def test_the_timeline_shows_checkpoints_attempts_and_the_new_binding() -> None:
    """Counters, outcomes and the change of generation are there."""
    figure = timeline(store().history("s"), palette("light"), before=None, total=8, revision=4, base=3)
    texts = texts_of(figure)

    assert texts.count(words.sessions.outcome("committed")) == 4
    assert words.sessions.outcome("stale_revision") in texts
    assert words.sessions.binding_change(1, 2) in texts
    assert [row[0] for row in figure.data[-1].customdata] == [1, 2, 3, 4]
    assert "event 1" in texts_of(timeline_head(palette("dark"), 8))
    # What Streamlit would set only after drawing: without it a click in between would choose nothing.
    assert "event+select" == figure.layout.clickmode
    assert figure.layout.dragmode


def test_no_text_of_a_store_is_written_into_the_chart() -> None:
    """Plotly reads links in its texts: ids, keys, models and kinds stay out of it."""
    made = MemoryStore()
    link = '<a href="http://evil.example.com">x</a>'
    request = commit(link, link)
    made.checkpoint(request)
    with pytest.raises(StaleRevisionError):
        made.checkpoint(commit(link + "2", link))
    figure = timeline(made.history(link), palette(None), before=None, total=1, revision=1, base=1)

    assert "evil" not in figure.to_json()


def test_a_binding_that_changed_before_the_page_is_shown() -> None:
    """The checkpoint ahead of a page counts for its first row."""
    history = store().history("s")
    figure = timeline(history[3:], palette("light"), before=history[2], total=8, revision=4, base=3)

    assert words.sessions.binding_change(1, 2) in texts_of(figure)


@pytest.mark.parametrize(
    ("event", "revision"),
    [
        ({"selection": {"points": [{"curve_number": 1}, {"customdata": [7]}]}}, 7),
        ({"selection": {"points": [{"customdata": 7.0}]}}, 7),
        ({"selection": {"points": []}}, None),
        (None, None),
    ],
)
def test_a_click_names_its_revision(event: object, revision: int | None) -> None:
    """What Streamlit tells of a selection is read without trust in its form."""
    assert chosen_revision(event) == revision
