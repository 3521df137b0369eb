"""Layers of replacements laid over each other, and offsets into raw JSON."""

from __future__ import annotations

import random

import pytest

from modelcontext_core import jsontext
from modelcontext_core.handles import Place
from modelcontext_core.rewriting import Rewriting, StringRewriting, arguments_replacements, arguments_text


def apply(text: str, places: list[Place]) -> tuple[str, list[Place]]:
    """`text` with the places written."""
    pieces, at = "", 0
    for place in places:
        pieces += text[at : place.start] + place.handle
        at = place.end
    return pieces + text[at:], places


def test_a_step_without_places_leaves_no_layer() -> None:
    """And nothing to report."""
    rewriting = Rewriting("abc", "content")
    rewriting.apply(("abc", []))

    assert [] == rewriting.replacements()


def test_a_place_over_a_written_handle_becomes_one_replacement() -> None:
    """From the first text to the last: what a later step covers is part of it."""
    rewriting = Rewriting("see local://a/b now", "content")
    rewriting.apply(apply(rewriting.text, [Place(4, 13, "res://0001")]))
    rewriting.apply(apply(rewriting.text, [Place(4, 16, "url://1")]))

    assert "see url://1 now" == rewriting.text
    assert [(4, 15, 4, 11, "url://1")] == [tuple(span) for span in rewriting.replacements()]


@pytest.mark.parametrize("seed", range(200))
def test_outside_the_replacements_the_texts_are_equal(seed: int) -> None:
    """Whatever three steps replaced, apart or one over the other: the spans cut both texts into equal pieces. What a
    step wrote is covered as a whole or not at all."""
    rng = random.Random(seed)
    rewriting = Rewriting("".join(rng.choices("abcdefgh", k=rng.randint(1, 30))), "content")
    for step in range(3):
        written = [(span.out_start, span.out_end) for span in rewriting.replacements()]
        free = [i for i in range(len(rewriting.text) + 1) if not any(start < i < end for start, end in written)]
        cuts = sorted(rng.sample(free, k=min(len(free), rng.choice((0, 2, 4)))))
        places = [Place(cuts[i], cuts[i + 1], f"{step}{i}" * rng.randint(1, 4)) for i in range(0, len(cuts) - 1, 2)]
        rewriting.apply(apply(rewriting.text, places))

    at = out_at = 0
    for span in rewriting.replacements():
        assert at <= span.start <= span.end
        assert rewriting.source[at : span.start] == rewriting.text[out_at : span.out_start]
        assert rewriting.text[span.out_start : span.out_end] == span.handle
        at, out_at = span.end, span.out_end
    assert rewriting.source[at:] == rewriting.text[out_at:]


def test_offsets_of_arguments_count_escapes_as_written() -> None:
    """On both sides: pairs of surrogates, short and long escapes before, in and behind a value."""
    arguments = '["\\ud83d\\ude00\\n\\u0041\\"x\\"\\ud800", "y\\\\"]'
    first, second = (StringRewriting(arguments, string, "p") for string in jsontext.strings(arguments))
    assert '😀\nA"x"\ud800' == first.text
    first.apply(apply(first.text, [Place(4, 5, "doc://1")]))
    second.apply(apply(second.text, [Place(0, 1, "doc://2")]))

    after = arguments_text(arguments, [first, second])

    assert '["😀\\nA\\"doc://1\\"\\ud800", "doc://2\\\\"]' == after
    assert [("x", "doc://1"), ("y", "doc://2")] == [
        (arguments[span.start : span.end], after[span.out_start : span.out_end])
        for span in arguments_replacements([first, second])
    ]


def test_arguments_without_a_change_are_the_same_object() -> None:
    """Nothing is written anew."""
    arguments = '["\\u0041"]'
    strings = [StringRewriting(arguments, string, "p") for string in jsontext.strings(arguments)]

    assert arguments is arguments_text(arguments, strings)
    assert [] == arguments_replacements(strings)
