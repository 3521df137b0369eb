"""Tests of the check of every cut: right ones pass, wrong ones are caught and made small, shortcuts hide nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core import Registry
from modelcontext_core.chunking import Chunk
from modelcontext_core.made_registry import registry_for
from modelcontext_core.stream import StreamDecoder
from modelcontext_core.stream_check import MULTI_CUTS, check_every_cut, trials, watch_every_cut
from modelcontext_core.testing import HURTFUL_TEXTS
from modelcontext_core.testing_examples import forgets_word_boundaries

ANSWER = 'Yes <ref id="chunk://1"/>, see doc://12 and [a](url://1), i1.\n'
REGISTRY = registry_for([ANSWER])


def test_our_decoder_passes_at_every_cut() -> None:
    """All single cuts, the seeded ones, and one character at a time, with all counts."""
    report = check_every_cut(REGISTRY, ANSWER)
    size = len(ANSWER)

    assert report.ok
    assert report.complete
    assert report.share_done == 1.0
    assert {"single": size - 1, "multi": MULTI_CUTS, "characters": 1} == {
        kind: tally.equal for kind, tally in report.tallies.items()
    }


def test_a_decoder_that_forgets_word_boundaries_is_caught_and_its_cut_made_small() -> None:
    """The smallest cut is a handle and one digit; how many cuts fail is counted."""
    report = check_every_cut(REGISTRY, ANSWER * 10, decoder=lambda: forgets_word_boundaries(REGISTRY))
    failure = report.failure

    assert failure is not None
    assert "doc://1" == failure.chunks[0]
    assert failure.chunks[1] in {"1", "2"}
    assert failure.streamed != failure.whole
    assert 10 <= report.tallies["single"].done - report.tallies["single"].equal <= 40
    assert f"feed({failure.chunks[0]!r})" in failure.as_text()


class Holds(StreamDecoder):
    """Our decoder, but for a mistake: it forgets what it held when the next chunk begins with `trigger`."""

    def __init__(self, make: Callable[[], StreamDecoder], trigger: str) -> None:
        self._decoder = make()
        self._trigger = trigger

    def feed(self, chunk: str) -> str:
        if chunk.startswith(self._trigger):
            self._decoder.flush()
        return self._decoder.feed(chunk)

    def flush(self) -> str:
        return self._decoder.flush()

    @property
    def pending(self) -> dict[str, str]:
        return self._decoder.pending

    @property
    def state(self):  # type: ignore[no-untyped-def]
        return self._decoder.state

    @state.setter
    def state(self, state) -> None:  # type: ignore[no-untyped-def]
        self._decoder.state = state


@given(
    text=st.lists(st.sampled_from([*HURTFUL_TEXTS, "plain words and more of them, "]), min_size=1, max_size=6).map(
        "".join
    ),
    trigger=st.sampled_from(["/", "1", ">", "ref", "://", "\x00"]),
)
def test_continued_cuts_find_what_whole_cuts_find(text: str, trigger: str) -> None:
    """For each single cut, going on from a remembered state and decoding the whole text come to the same verdict."""
    registry = registry_for([text])

    def make() -> StreamDecoder:
        return Holds(registry.stream_decoder, trigger)

    subject = trials.Subject(("text", 0), text, make, decode=registry.decode_output_text, own=make)
    continued = [trial.failure is None for trial in trials.singles(subject, range(1, len(text)))]
    whole = [trials.tried("single", subject, (at,)).failure is None for at in range(1, len(text))]

    assert whole == continued


def test_a_decoder_of_other_people_is_cut_where_it_hurts_and_evenly() -> None:
    """Of a long text: every place within 64 characters of a handle, and 2,000 more, those inside first."""
    text = "plain words " * 2000 + "doc://12" + " more words" * 2000
    at = text.index("doc://")
    subject = trials.Subject(("text", 0), text, lambda: forgets_word_boundaries(REGISTRY))
    chosen = list(trials.places(subject))

    assert set(range(at - 64, at + 8 + 64)) <= set(chosen)
    assert 2000 <= len(chosen) <= 2200
    assert list(range(at + 1, at + 9)) == chosen[:8]


def test_an_error_of_a_decoder_is_a_failure() -> None:
    """What it raises in the middle of a stream is shown as what it gave."""

    class Breaks:
        def __init__(self) -> None:
            self.fed = 0

        def feed(self, chunk: str) -> str:
            self.fed += 1
            if self.fed > 1:
                raise KeyError("name")
            return chunk

        def flush(self) -> str:
            return ""

    report = check_every_cut(Registry(), "some text", decoder=Breaks)

    assert report.failure is not None
    assert "KeyError: 'name'" == report.failure.streamed
    assert 2 == sum(map(len, report.failure.chunks))


def test_reports_grow_and_the_check_can_be_stopped() -> None:
    """The first report comes before any work, each later one knows more, and closing the iterator ends it."""
    reports = watch_every_cut(REGISTRY, ANSWER * 40)
    first, second, third = next(reports), next(reports), next(reports)
    reports.close()

    assert 0 == first.share_done < second.share_done < third.share_done < 1
    assert not third.complete
    assert [] == list(reports)


# --- captures

CALLS = [
    Chunk(text="I look at doc:"),
    Chunk(text='{"id": "do', channel="arguments", index=0, name="read_document"),
    Chunk(text='{"knowledge_id": "doc', channel="arguments", index=1, name="list_knowledge_chunks"),
    Chunk(text="//1."),
    Chunk(text='c://1"}', channel="arguments", index=0),
    Chunk(text='://2"}', channel="arguments", index=1),
]


def test_channels_of_a_capture_may_arrive_in_any_order() -> None:
    """Texts and calls are each cut everywhere, and twelve orders of the channels come to the same."""
    report = check_every_cut(registry_for(["doc://2"]), CALLS)

    assert report.ok
    assert 12 == report.tallies["interleaved"].equal
    assert 3 == report.tallies["characters"].equal
    assert sum(len(chunk.text) for chunk in CALLS) - 3 == report.tallies["single"].equal


def lines(pieces: Iterable[bytes]) -> list[bytes]:
    """Right: joins before it splits."""
    return b"".join(pieces).splitlines()


def lines_of_each_piece(pieces: Iterable[bytes]) -> list[str]:
    """Wrong: takes every piece of the network for whole lines."""
    return [line.decode("utf-8", "replace") for piece in pieces for line in piece.splitlines()]


@pytest.mark.parametrize(("split", "ok"), [(lines, True), (lines_of_each_piece, False)])
def test_bytes_are_cut_inside_of_characters_and_of_events(split, ok: bool) -> None:  # type: ignore[no-untyped-def]
    """A client that takes network pieces for whole events or characters is caught."""
    data = 'data: {"text": "退货 doc://1"}\n\ndata: [DONE]\n\n'.encode()
    report = check_every_cut(REGISTRY, ANSWER, data=data, split=split)

    assert ok is report.ok
    assert report.tallies["bytes"].total > 20
    assert ok or (report.failure is not None and "bytes" == report.failure.kind)


def test_a_text_of_one_character_has_no_cuts() -> None:
    """Nothing to cut, nothing that fails."""
    report = check_every_cut(REGISTRY, "d")

    assert report.ok
    assert 0 == report.tallies["single"].total
