"""Tests of the simulator: steps add up to the decoder's result, and say what is held, why, and what went out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core import ChunkReference, Message, Registry
from modelcontext_core.chunking import CHUNKINGS, Chunk, by_size, characters, chunking_named
from modelcontext_core.made_registry import MOST_NUMBERS, registry_for
from modelcontext_core.simulate import HELD_BECAUSE, Piece, Simulation, simulate, with_handles
from modelcontext_core.testing import HURTFUL_TEXTS

DOCUMENT = "5d0e7f93-a8b1-4c26-9e3f-b47c81d2065a"
CHUNK = "7f3c2a10-94be-4a7d-8f21-0d6c5be19a44"


@pytest.fixture
def registry() -> Registry:
    """One handle in most spaces."""
    made = Registry()
    made.register_document(DOCUMENT)
    made.register_chunk(ChunkReference(chunk_id=CHUNK, document_title="Handbook"))
    made.register_web("https://example.com/a", "A page")
    made.register_issue("3c19c840-d9f9-4acd-a62d-2465be71c2d9")
    return made


def pieces_of(simulation: Simulation) -> list[Piece]:
    """All that the steps sent on, in order."""
    return [piece for step in simulation.steps for piece in step.pieces]


def went_out(simulation: Simulation) -> str:
    """The text of all that the steps sent on."""
    return "".join(piece.text for piece in pieces_of(simulation))


@given(
    text=st.lists(st.sampled_from(HURTFUL_TEXTS), min_size=1, max_size=3).map(" ".join),
    name=st.sampled_from(CHUNKINGS),
    seed=st.integers(0, 999),
)
def test_the_steps_add_up_to_the_decoded_text(text: str, name: str, seed: int) -> None:
    """However it is cut: pieces cover the input without gaps, prose is copied, and what was done is the report's."""
    made = registry_for([text])
    simulation = simulate(made, text, chunking_named(name, size=seed % 9 + 1, seed=seed))
    pieces = pieces_of(simulation)
    report = made.decode_with_report(text)
    told = [
        (item.start, item.end, item.out_end - item.out_start)
        for item in report.items
        if item.kind not in ("malformed", "look_alike")
    ]

    assert made.decode_output_text(text) == went_out(simulation) == simulation.outputs["text", 0]
    assert [0, *(piece.end for piece in pieces)] == [*(piece.start for piece in pieces), len(text)]
    assert all(piece.text == simulation.source(piece) for piece in pieces if piece.kind == "prose")
    assert told == [(piece.start, piece.end, len(piece.text)) for piece in pieces if piece.kind != "prose"]


def test_a_step_says_what_came_in_what_is_held_and_what_went_out(registry: Registry) -> None:
    """A handle cut in three: held twice by the handle stage, then restored at once."""
    first, second, third, end = simulate(registry, [Chunk(text=t) for t in ("As do", "c://", "1 says")]).steps

    assert ("prose", "As ") == (first.pieces[0].kind, first.pieces[0].text)
    assert [("handle", 3, 5, 1)] == [(held.stage, held.start, held.end, held.since) for held in first.held]
    assert [("handle", 3, 9, 1)] == [(held.stage, held.start, held.end, held.since) for held in second.held]
    assert [("restored", f"weknora://doc/{DOCUMENT}"), ("prose", " says")] == [(p.kind, p.text) for p in third.pieces]
    assert (6, 2) == (third.delayed, third.waited)
    assert (None, (), ()) == (end.key, end.pieces, end.held)


@pytest.mark.parametrize(
    ("text", "stage", "held"),
    [
        ('so <ref id="chu', "tag", '<ref id="chu'),
        ("so kb:/", "handle", "kb:/"),
        ("so doc://1.", "uri", "doc://1."),
        ("so i1", "word", "i1"),
    ],
)
def test_each_stage_is_named_with_its_reason(registry: Registry, text: str, stage: str, held: str) -> None:
    """What is held is the text that could still become something, and every stage has a reason to show."""
    simulation = simulate(registry, text)
    [waiting] = simulation.steps[0].held

    assert (stage, held) == (waiting.stage, simulation.source(waiting))
    assert HELD_BECAUSE[waiting.stage]


def test_what_is_dropped_and_why_is_told(registry: Registry) -> None:
    """An unknown handle and a tag that only the application writes go out as nothing."""
    simulation = simulate(registry, 'x doc://9 y<kb id="1"/>', characters)
    dropped = [piece for piece in pieces_of(simulation) if piece.kind == "dropped"]

    assert [("doc://9", "unknown"), ('<kb id="1"/>', "tag")] == [(simulation.source(p), p.rule) for p in dropped]


def test_calls_are_decoded_when_they_are_complete(registry: Registry) -> None:
    """Fragments of two calls and a text that arrive mixed: each call comes out at the end, restored or unresolved."""
    stream = [
        Chunk(text='{"id": "do', channel="arguments", index=0, name="read_document"),
        Chunk(text="I look at doc:"),
        Chunk(text='{"id": "doc://7', channel="arguments", index=1, name="read_document"),
        Chunk(text='c://1"}', channel="arguments", index=0),
        Chunk(text="//1."),
        Chunk(text='"}', channel="arguments", index=1),
    ]
    simulation = simulate(registry, stream)
    end = simulation.steps[-1]

    assert f'{{"id": "{DOCUMENT}"}}' == simulation.outputs["arguments", 0]
    assert ("doc://7",) == tuple(simulation.calls["arguments", 1].unresolved_handles)
    assert {"arguments", "text"} == {held.key[0] for held in simulation.steps[4].held}
    assert ["prose", "restored", "restored", "unresolved"] == sorted(piece.kind for piece in end.pieces if piece.text)
    assert 8 == simulation.most_held


def test_the_longest_wait_is_told_in_seconds_only_when_times_are_known(registry: Registry) -> None:
    """It is measured from the chunk that began what waited to the chunk that settled it; calls do not count."""
    parts = (("As do", 0.5), ("c:", 0.75), ("//1 says", 1.25), (" so", 9.0))
    call = Chunk(text="{}", channel="arguments", time=0.0, name="find")

    timed = simulate(registry, [call, *(Chunk(text=text, time=time) for text, time in parts)])

    assert timed.longest_wait == 0.75
    assert simulate(registry, "As doc://1 says", by_size(3)).longest_wait is None


def test_an_empty_text_has_one_step_at_its_end(registry: Registry) -> None:
    """Nothing came in, nothing went out, and nothing breaks."""
    simulation = simulate(registry, "", characters)

    assert [(1, None, 0)] == [(step.number, step.key, step.sent) for step in simulation.steps]


# --- captures that hold no handles


def test_a_capture_is_encoded_and_its_borders_move_with_the_text(registry: Registry) -> None:
    """A border inside of an id comes to stand inside of its handle; times and channels stay; decoding gives it back."""
    durable = f"See weknora://doc/{DOCUMENT} now."
    stream = [Chunk(text=durable[at : at + 9], time=at / 10) for at in range(0, len(durable), 9)]
    made = with_handles(stream, registry)

    assert "See doc://1 now." == "".join(chunk.text for chunk in made)
    assert len(made) >= 4
    assert [chunk.time for chunk in made] == sorted(chunk.time or 0 for chunk in made)
    assert durable == simulate(registry, made).outputs["text", 0]


def test_arguments_and_reasoning_of_a_capture_are_encoded_by_their_rules(registry: Registry) -> None:
    """Arguments by the fields of their tool, reasoning like a text."""
    stream = [
        Chunk(text=f"Document weknora://doc/{DOCUMENT}", channel="reasoning"),
        Chunk(text=f'{{"id": "{DOCUMENT}"', channel="arguments", name="read_document"),
        Chunk(text="}", channel="arguments"),
    ]

    assert ["Document doc://1", '{"id": "doc://1"', "}"] == [chunk.text for chunk in with_handles(stream, registry)]


# --- a registry made for a text


def test_every_handle_of_a_pasted_answer_gets_a_made_up_id() -> None:
    """All spaces, the same ids for the same text, citable, and nothing above the limit."""
    text = 'chunk://2 <ref id="url://1"/> doc://1 kb://1 res://0001 i3 ms1 mt1 doc://0'
    made = registry_for([text])
    report = made.decode_with_report(text)

    assert ["unknown"] == [item.kind for item in report.items if item.kind != "restored"]
    assert 8 == sum(item.kind == "restored" for item in report.items)
    assert [row.durable for row in made.handles()] == [row.durable for row in registry_for([text]).handles()]
    assert () == registry_for([f"doc://{MOST_NUMBERS + 1} i0"]).handles()


def test_a_made_registry_encodes_what_it_decodes() -> None:
    """Its ids are ids like all others: what was restored is encoded to the handles again."""
    made = registry_for(["doc://1 and kb://2"])
    restored = made.decode_output_text("doc://1 and kb://2")

    assert "doc://1 and kb://2" == made.encode_messages([Message(role="assistant", content=restored)])[0].content
