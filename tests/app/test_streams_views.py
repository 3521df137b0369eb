"""What the Streams page draws and remembers, without Streamlit: subjects, runs, steps, timeline, facts, the address."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from inspector_app import data, stream_runs, stream_subjects, words
from inspector_app.page_state.playground import PlaygroundState
from inspector_app.page_state.streams import AUTOMATIC, StreamsState
from inspector_app.stream_runs import HowCut
from inspector_app.views import stream_bars, stream_search, stream_steps, stream_timeline
from inspector_app.views.streamed import CAPTURE, Streamed, Subject
from modelcontext_core.chunking import Chunk
from modelcontext_core.registry import Registry
from modelcontext_core.simulate import simulate
from modelcontext_core.stream_check import CutReport, check_every_cut
from modelcontext_core.testing_examples import forgets_word_boundaries

SAMPLES = Path(__file__).resolve().parents[2] / "sample_sessions"
AS_CAPTURED = HowCut(
    answer=CAPTURE, made=False, chunking="captured", size=8, seed=7, places=(), channel="", assumed=0.0
)
OPTIONS = data.Options()


def sample(name: str) -> data.Held:
    """A stream sample, held in memory."""
    return data.open_path(SAMPLES / name / f"{name}.sse")


def pasted(text: str) -> data.Held:
    """A text that somebody pasted."""
    return data.open_bytes(text.encode("utf-8", "surrogatepass"), "pasted")


def texts_of(segments: list[list[str]]) -> str:
    """The text of segments."""
    return "".join(text for _, text, _, _ in segments)


@pytest.fixture(scope="module")
def cut_handles() -> Streamed:
    """The sample that cuts every handle."""
    return stream_runs.streamed(sample("stream_cut_handles"), OPTIONS, AS_CAPTURED)


# --- what is streamed, and with which registry


def test_a_capture_is_decoded_with_what_its_request_knew() -> None:
    """The handles that the model wrote are those of the request: the answer itself reserves none of them."""
    subject = stream_subjects.subject_of(sample("stream_cut_handles"), OPTIONS, CAPTURE)

    assert ("trace", 8, False) == (subject.registry_kind, subject.known, subject.without_handles)


def test_a_capture_with_durable_ids_is_offered_with_handles() -> None:
    """As it came it has no handles; made, it has fewer characters, the same times, and decodes to what was captured."""
    held = sample("stream_with_times")
    plain = stream_runs.streamed(held, OPTIONS, AS_CAPTURED)
    made = stream_runs.streamed(held, OPTIONS, replace(AS_CAPTURED, made=True))

    assert (True, False) == (plain.subject.without_handles, plain.subject.made)
    assert made.subject.made
    assert made.subject.characters < plain.subject.characters
    assert plain.simulation.inputs["text", 0] == made.simulation.outputs["text", 0]
    assert made.simulation.longest_wait is not None


def test_a_pasted_answer_gets_handles_made_for_it() -> None:
    """Whatever it names is known, and the page can say that the handles are made."""
    held = pasted("See doc://2 and <ref id='chunk://1'/>.")
    best = stream_subjects.best_choice(held, OPTIONS)
    assert best is not None
    subject = stream_subjects.subject_of(held, OPTIONS, best)

    assert ("made", 3) == (subject.registry_kind, subject.known)


def test_the_last_answer_with_a_text_is_shown_first() -> None:
    """Encoded as the model would have written it, with the handles of the trace."""
    held = data.open_path(SAMPLES / "rag_citations" / "rag_citations.json")
    best = stream_subjects.best_choice(held, OPTIONS)
    assert best is not None
    subject = stream_subjects.subject_of(held, OPTIONS, best)

    assert len(held.conversation.messages) - 1 == best
    assert "chunk://1" in "".join(chunk.text for chunk in subject.chunks)
    assert "trace" == subject.registry_kind


def test_the_chosen_conversation_is_streamed() -> None:
    """A file with several conversations: the answers are those of the one that both pages show."""
    one, two = (
        [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": text}] for text in ("Here.", "There.")
    )
    held = data.open_bytes(f"{json.dumps({'messages': one})}\n{json.dumps({'messages': two})}\n".encode(), "x.jsonl")
    subject = stream_subjects.subject_of(held, replace(OPTIONS, conversation=2), 1)

    assert 2 == len(held.trace.conversations)
    assert "There." == subject.chunks[0].text


def test_a_trace_without_an_answer_has_nothing_to_stream() -> None:
    """The page says so instead of showing an empty stream."""
    held = data.open_bytes(b'{"messages": [{"role": "user", "content": "hello"}]}', "x.json")

    assert stream_subjects.best_choice(held, OPTIONS) is None


def test_an_assumed_speed_counts_only_without_recorded_times() -> None:
    """A text gets times from it, labelled as assumed; a timed capture keeps its own."""
    held = pasted("See doc://1 and more words.")
    assumed = stream_runs.streamed(held, OPTIONS, replace(AS_CAPTURED, answer=0, chunking="size", size=2, assumed=10.0))
    timed = stream_runs.streamed(sample("stream_with_times"), OPTIONS, replace(AS_CAPTURED, assumed=10.0))

    assert (True, 0.1) == (assumed.assumed, assumed.steps[1].time)
    assert not timed.assumed


def test_the_cut_that_failed_cuts_its_channel_only() -> None:
    """The other channels stay whole."""
    how = replace(AS_CAPTURED, chunking="places", places=(3, 9), channel="text0")
    streamed = stream_runs.streamed(sample("stream_parallel_calls"), OPTIONS, how)

    assert [3, 6] == [len(chunk.text) for chunk in streamed.simulation.chunks[:2]]
    assert 3 + 4 == len(streamed.simulation.chunks)


# --- one step


def test_the_bands_of_a_step_say_what_came_is_held_and_went_out(cut_handles: Streamed) -> None:
    """Step 3 of the sample holds the beginning of a citation for the second step in a row."""
    view = stream_steps.step_view(cut_handles, 3)

    assert "unk://" == texts_of(view["came"]["groups"][0]["segments"])
    [row] = view["held"]["rows"]
    assert ('<ref id="chunk://', words.streams.STAGES["tag"]) == (texts_of(row["segments"]), row["stage"])
    assert "17 characters · waiting 2 steps" == view["held"]["sub"]
    assert [] == view["out"]["groups"]


def test_what_is_restored_carries_its_space_and_tag(cut_handles: Streamed) -> None:
    """The citation of step 5 goes out as chunk 1, and stands in the reader's text from then on."""
    view = stream_steps.step_view(cut_handles, 5)
    marked = [segment for segment in view["texts"][0]["right"] if segment[0] == "id"]

    assert [("chunk", "ck1")] == [(space, tag) for _, _, space, tag in marked]
    assert marked[0] in view["out"]["groups"][0]["segments"]


def test_what_is_dropped_is_shown_in_the_step_and_not_to_the_reader(cut_handles: Streamed) -> None:
    """An unknown handle disappears; the band says which."""
    number = cut_handles.dropping[0]
    view = stream_steps.step_view(cut_handles, number)

    assert "chunk://12" in [text for kind, text, _, _ in view["out"]["groups"][0]["segments"] if kind == "gone"]
    assert "chunk://12" not in texts_of(view["texts"][0]["right"])


@pytest.mark.parametrize("number", [1, 7, 30])
def test_the_models_text_is_whole_at_every_step(cut_handles: Streamed, number: int) -> None:
    """Past, present, held and future pieces make the text; nothing of it is lost or told twice."""
    left = stream_steps.step_view(cut_handles, number)["texts"][0]["left"]

    assert cut_handles.simulation.inputs["text", 0] == texts_of(left)


def test_each_channel_has_its_texts_and_calls_their_names() -> None:
    """Four calls and a text: the calls are named after their tools and come out at the end, one unresolved."""
    streamed = stream_runs.streamed(sample("stream_parallel_calls"), OPTIONS, AS_CAPTURED)
    middle, end = (stream_steps.step_view(streamed, number) for number in (20, len(streamed.steps)))

    assert ["", "read_document", "read_document", "search_knowledge", "read_document"] == [
        text["label"]["name"] for text in middle["texts"]
    ]
    assert [] == middle["texts"][1]["right"]
    assert {"arguments"} <= {row["stage"] for row in middle["held"]["rows"]}
    assert ["no"] == [kind for kind, *_ in end["texts"][4]["right"]]
    assert 4 == len(end["out"]["groups"])


def test_ids_in_a_restored_call_are_marked() -> None:
    """Those whose handles the model wrote; the rest of the arguments is plain."""
    streamed = stream_runs.streamed(sample("stream_parallel_calls"), OPTIONS, AS_CAPTURED)
    right = stream_steps.step_view(streamed, len(streamed.steps))["texts"][2]["right"]

    assert [("document", "dc2"), ("knowledge_base", "kb1")] == [(s, tag) for kind, _, s, tag in right if kind == "id"]
    assert streamed.simulation.outputs["arguments", 1] == texts_of(right)


def test_long_texts_are_shown_around_the_step() -> None:
    """At most a few thousand characters before and after; what is left out is counted."""
    held = pasted("plain words " * 4000 + "doc://1")
    streamed = stream_runs.streamed(held, OPTIONS, replace(AS_CAPTURED, answer=0, chunking="size", size=50))
    view = stream_steps.step_view(streamed, 480)
    left = view["texts"][0]["left"]

    assert (words.streams.left_out(480 * 50 - 3000), words.streams.left_out(48_007 - 480 * 50 - 1500)) == (
        left[0][1],
        left[-1][1],
    )
    assert len(json.dumps(view)) < 60_000


def test_hidden_characters_and_blank_chunks_are_drawn_visibly() -> None:
    """A zero-width space is a code point, a lone line end is named."""
    how = replace(AS_CAPTURED, answer=0, chunking="characters")
    streamed = stream_runs.streamed(pasted("a\u200b\nb"), OPTIONS, how)

    assert ["hid", "U+200B", "", ""] in stream_steps.step_view(streamed, 2)["came"]["groups"][0]["segments"]
    assert [["hid", "1 line end", "", ""]] == stream_steps.step_view(streamed, 3)["came"]["groups"][0]["segments"]


@pytest.mark.parametrize(
    ("numbers", "number", "expected"), [([3, 8], 1, 3), ([3, 8], 3, 8), ([3, 8], 8, 3), ([], 1, None)]
)
def test_jumps_go_on_and_round(numbers: list[int], number: int, expected: int | None) -> None:
    """The next of its kind, after the last the first, nothing where there is none."""
    assert expected == stream_steps.next_in(numbers, number)


def test_a_restored_id_hides_nothing() -> None:
    """What cannot be seen of an id is written as its code point, where it went out and in the arguments of a call."""
    registry = Registry()
    registry.register_document("doc\u202e-000001")
    chunks = (Chunk(text="See doc://1."), Chunk(text='{"id": "doc://1"}', channel="arguments", name="read_document"))
    subject = Subject(choice=CAPTURE, chunks=chunks, registry=registry, registry_kind="trace", known=1)
    streamed = Streamed(subject=subject, simulation=simulate(registry, chunks), assumed=False)

    shown = json.dumps([stream_steps.step_view(streamed, step) for step in range(len(streamed.steps))])

    assert 1 < shown.count("doc[U+202E]-000001")
    assert "\\u202e" not in shown


# --- the timeline


def test_the_timeline_has_a_bar_for_each_step_and_marks_the_step(cut_handles: Streamed) -> None:
    """Sent up, held down, each to its own scale; the labels name the largest of both."""
    figure = stream_timeline.timeline(cut_handles.bars, 3, "light")
    texts = [annotation.text for annotation in figure.layout.annotations]

    assert [30, 30] == [len(trace.x) for trace in figure.data]
    assert max(figure.data[0].y) == 1
    assert min(figure.data[1].y) < 0
    assert ["sent on, to 125", "held, to 22"] == texts
    assert 2 == figure.layout.shapes[1].x0


def test_a_bar_can_be_clicked_from_the_moment_that_it_is_drawn(cut_handles: Streamed) -> None:
    """What Streamlit would set only after drawing stands in the figure."""
    layout = stream_timeline.timeline(cut_handles.bars, 1, "dark").layout

    assert ("event+select", "closest", "zoom") == (layout.clickmode, layout.hovermode, layout.dragmode)


def test_a_long_stream_is_drawn_with_several_steps_a_bar() -> None:
    """At most 240 bars: what they sent is added up, what was held is the most."""
    held = pasted("word doc://1 " * 400)
    streamed = stream_runs.streamed(held, OPTIONS, replace(AS_CAPTURED, answer=0, chunking="characters"))
    drawn = stream_bars.bars(streamed.steps)

    assert len(drawn) <= stream_bars.MOST_BARS
    assert len(streamed.steps) == drawn[-1].last
    assert sum(step.sent for step in streamed.steps) == sum(bar.sent for bar in drawn)
    assert max(step.held_characters for step in streamed.steps) == max(bar.held for bar in drawn)


def test_a_click_on_a_bar_names_its_first_step() -> None:
    """An empty selection names none."""
    assert 18 == stream_timeline.step_of_click({"selection": {"points": [{"x": 3, "customdata": [18]}]}})
    assert stream_timeline.step_of_click({"selection": {"points": []}}) is None


# --- the facts and the check


def test_facts_are_not_checked_until_they_are(cut_handles: Streamed) -> None:
    """Before a check nothing is green; after it the counts are."""
    before = stream_steps.stream_facts(cut_handles, CutReport(tallies={}))
    report = check_every_cut(cut_handles.subject.registry, cut_handles.subject.chunks, seed=7)
    after = {fact["key"]: fact for fact in stream_steps.stream_facts(cut_handles, report)}

    assert {words.streams.NOT_CHECKED} == {fact["value"] for fact in before[:3]}
    assert all(fact.get("tone") != "good" for fact in before)
    assert ("✓ 484 of 484 equal", "good") == (after["single"]["value"], after["single"]["tone"])
    assert "seed 7" == after["multi"]["sub"]
    assert "22" == after["held"]["value"]


def test_a_check_runs_beside_the_page_and_finds_the_broken_decoder() -> None:
    """The thread ends by itself; its report has the smallest cut, as numbered lines."""
    held = pasted("See doc://12 and doc://1.")
    how = replace(AS_CAPTURED, answer=0, chunking="random")
    checking = stream_runs.start_check(held, OPTIONS, how, decoder="broken")
    deadline = time.monotonic() + 60
    while checking.running and time.monotonic() < deadline:
        time.sleep(0.02)

    assert checking is stream_runs.check_of(held, OPTIONS, how, decoder="broken")
    assert checking.report.complete
    assert checking.report.failure is not None
    lines = [line["text"] for line in stream_steps.failure_lines(checking.report.failure)]
    assert ["feed('doc://1')", "feed('2')", "flush()"] == lines[:3]


def test_a_check_can_be_stopped() -> None:
    """It ends at once; what was found so far stays."""
    held = pasted("See doc://12 and doc://1. " * 400)
    checking = stream_runs.start_check(held, OPTIONS, replace(AS_CAPTURED, answer=0), decoder="own")
    stream_runs.stop_checks(held)

    assert not checking.running
    assert checking.stopped
    assert not checking.report.complete


def test_a_failing_fact_is_a_fault_and_not_green(cut_handles: Streamed) -> None:
    """One cut that fails is told with its count."""
    registry = cut_handles.subject.registry
    report = check_every_cut(registry, "doc://12", decoder=lambda: forgets_word_boundaries(registry))
    fact = stream_steps.stream_facts(cut_handles, report)[0]

    assert ("fault", "✕ 6 of 7 equal") == (fact["tone"], fact["value"])


# --- the address


def test_the_address_brings_back_the_state() -> None:
    """Source, choice, chunking and step, and the options that decide the handles; nothing of a trace."""
    source = PlaygroundState(sample="stream_cut_handles", pack="builtin", off=(1,), message=3)
    wanted = StreamsState(
        source=source, answer=4, made=True, chunking="places", size=5, seed=9, places=(3, 12), channel="text0",
        step=18, assumed=2.5, speed=25, decoder="broken",
    )  # fmt: skip
    query = wanted.to_query()

    assert replace(wanted, source=replace(source, message=0)) == StreamsState.from_query(query)
    assert "18" == query["step"]
    assert {} == StreamsState().to_query()


def test_a_link_to_pass_on_holds_no_key() -> None:
    """The key of a pasted trace opens it: it stays in this tab."""
    state = StreamsState(source=PlaygroundState(key="0" * 32), step=4)

    assert {"step": "4"} == state.shareable().to_query()


def test_wrong_values_of_an_address_fall_back() -> None:
    """Each to its default, and the state says that something was wrong."""
    state = StreamsState.from_query({"step": "-4", "chunking": "by magic", "channel": "text", "places": "1,2"})

    assert replace(StreamsState(), wrong=True) == state


def test_another_source_begins_anew() -> None:
    """The step and the cut belong to a source; seed and speed stay."""
    state = StreamsState(source=PlaygroundState(sample="a"), step=9, answer=3, chunking="places", places=(4,), seed=2)

    assert state == state.of(PlaygroundState(sample="a"))
    assert StreamsState(source=PlaygroundState(sample="b"), seed=2, answer=AUTOMATIC) == state.of(
        PlaygroundState(sample="b")
    )


# --- search


def test_search_finds_what_came_in_and_what_went_out(cut_handles: Streamed) -> None:
    """The step in which a word is complete on either side, ignoring case; of words that stand nowhere none."""
    came = stream_search.steps_with(cut_handles, "CHUNK://1")
    out = stream_search.steps_with(cut_handles, "winter rules")

    assert 4 == came[0]
    assert "chunk://1" in cut_handles.simulation.inputs["text", 0][: cut_handles.steps[3].end]
    assert 5 == out[0]
    assert [] == stream_search.steps_with(cut_handles, "no such words")
    assert [] == stream_search.steps_with(cut_handles, "  ")
