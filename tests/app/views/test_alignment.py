"""Two forms of a text, a row per source line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector_app.views.alignment import IDENTITY, RAW, Mark, align, bases_after, fold, narrowed
from modelcontext_core.grammar import find_uuids
from tests.app.making import RAW as RAW_ID
from tests.app.making import left_text, unfolded


def mark(start: int, end: int, out_start: int, out_end: int, identity: int = 0) -> Mark:
    """A mark of an identity."""
    return Mark(start=start, end=end, out_start=out_start, out_end=out_end, identity=identity)


def test_a_replaced_value_is_marked_on_both_sides_of_its_row() -> None:
    """The row of a replacement holds the durable value on the left and the handle on the right."""
    rows = align("a\nid=LONGVALUE;\nb", "a\nid=h1;\nb", [mark(5, 14, 5, 7)])

    assert rows == [
        [1, ["a"], 0, 0],
        [2, ["id=", [IDENTITY, "LONGVALUE", 0], ";"], ["id=", [IDENTITY, "h1", 0], ";"], 1],
        [3, ["b"], 0, 0],
    ]


def test_a_value_with_a_line_break_stays_in_one_row() -> None:
    """A durable value may hold any character; the sides must not slip."""
    rows = align("x A\nB y\nz", "x h1 y\nz", [mark(2, 5, 2, 4)])

    assert [row[0] for row in rows] == [1, 2]
    assert rows[0][1] == ["x ", [IDENTITY, "A⏎B", 0, "A\nB"], " y"]


def test_a_raw_id_is_marked_on_both_sides() -> None:
    """An identifier that stays raw stands on both sides, marked as such."""
    rows = align(f"ref {RAW_ID}.", f"ref {RAW_ID}.", [], raw_ids=find_uuids)

    assert rows == [[1, ["ref ", [RAW, RAW_ID], "."], 0, 1]]


def test_a_difference_that_no_span_explains_is_shown() -> None:
    """Text that differs without a span is shown on both sides instead of being hidden."""
    assert align("abc\nx", "abd\nx", []) == [[1, ["ab", "c"], ["ab", "d"], 1], [2, ["x"], 0, 0]]


def test_a_very_long_line_is_cut_into_rows_with_one_number() -> None:
    """A minified megabyte becomes rows that a browser can draw; only the first has the line's number."""
    rows = align("x" * 9_000, "x" * 9_000, [])

    assert [row[0] for row in rows] == [1, 0, 0]
    assert left_text(rows) == "x" * 9_000


def test_runs_of_more_than_four_unchanged_rows_fold() -> None:
    """The first and the last row of a run stay, the middle folds; shorter runs stay."""
    rows = align("\n".join("abcdefg"), "\n".join("abcdefg"), [])

    folded = fold(rows)

    assert [isinstance(row, dict) for row in folded] == [False, True, False]
    assert fold(rows[:4]) == rows[:4]


@given(st.lists(st.tuples(st.text(max_size=8), st.text(min_size=1, max_size=6)), max_size=6), st.text(max_size=8))
def test_rows_hold_every_character_of_the_left_text(pairs: list[tuple[str, str]], tail: str) -> None:
    """Whatever stands in the text, the rows put together give it back."""
    left, right, marks = "", "", []
    for shared, value in pairs:
        left, right = left + shared, right + shared
        marks.append(mark(len(left), len(left) + len(value), len(right), len(right) + 2))
        left, right = left + value, right + "h1"

    rows = fold(align(left + tail, right + tail, marks))

    assert left_text(rows) == left + tail


def test_a_mark_is_narrowed_to_the_id_inside_a_tag() -> None:
    """A whole citation is replaced, but what lights up is the id in it."""
    left, right = '<kb chunk_id="C1" kb_id="B1" />', '<ref id="chunk://1"/>'
    whole = mark(0, len(left), 0, len(right))

    narrow = narrowed(whole, left, right, "C1", "chunk://1")

    assert (left[narrow.start : narrow.end], right[narrow.out_start : narrow.out_end]) == ("C1", "chunk://1")


def test_the_base_of_a_citation_is_marked_where_it_stands() -> None:
    """The knowledge base of a citation tag is an identity of its own, on the side that names it."""
    left, right = '<kb chunk_id="C1" kb_id="B1" />', '<ref id="chunk://1"/>'
    whole = mark(0, len(left), 0, len(right))
    narrow = narrowed(whole, left, right, "C1", "chunk://1")

    [base] = bases_after(narrow, whole, left, right, {"B1": 7})
    rows = align(left, right, [narrow, base])

    assert (left[base.start : base.end], base.identity) == ("B1", 7)
    assert left_text(rows) == left
    assert len(unfolded(rows)) == 1
