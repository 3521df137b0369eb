"""The Streams page's states, without a browser: empty, sample, link, paste, options, nothing to stream."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from inspector_app import data, words
from inspector_app.opening import PASTE_FIELD
from tests.app.running import MAIN, calm, parameters

PAGE = "app_pages/streams.py"


def page(**query: str) -> AppTest:
    """The Streams page, opened with these query parameters."""
    app = AppTest.from_file(MAIN, default_timeout=60)
    # A page can be changed after a first run only. That one reads the address too, and takes from it what both share.
    app.query_params.update(query)
    calm(app.run())
    app.switch_page(PAGE)
    app.query_params.update(query)
    return calm(app.run())


def read(app: AppTest, text: str) -> AppTest:
    """The app after a text was pasted and read."""
    app.text_area(key=PASTE_FIELD).set_value(text)
    return calm(app.button(key="open_read").click().run())


def press(app: AppTest, *keys: str) -> AppTest:
    """The app after its buttons were pressed, one after the other."""
    for key in keys:
        calm(app.button(key=key).click().run())
    return app


def test_the_empty_page_says_what_to_do_first() -> None:
    """Without a trace there are the inputs and the samples."""
    app = page()

    assert [words.streams.EMPTY_TITLE] == [title.value for title in app.title]
    assert app.text_area(key=PASTE_FIELD).placeholder == words.opening.PASTE_HINT


def test_a_pasted_answer_is_stepped_through() -> None:
    """It is cut at random, the buttons go on and back, the address follows, and no text stands in it."""
    app = read(page(), "See doc://12 and doc://1, or chunk://2.")
    assert "step" not in parameters(app)

    press(app, "step_on", "step_on", "step_on", "step_back")

    assert "3" == parameters(app)["step"]
    assert data.shelf().get(parameters(app)["key"]) is not None
    assert {"key", "answer", "step", "chunking"} == set(parameters(app))


def test_a_sample_opens_where_the_link_says() -> None:
    """Sample, chunking and step of the address are those of the page."""
    app = page(sample="rag_citations", chunking="words", step="5")

    assert 5 == app.number_input[-1].value
    assert {"sample": "rag_citations", "answer": "12", "chunking": "words", "step": "5"} == parameters(app)


def test_a_step_beyond_the_end_is_the_last() -> None:
    """A link to another cut of the same text may name a step that it does not have."""
    app = page(sample="stream_cut_handles", step="99999")

    assert "30" == parameters(app)["step"]


def test_the_playground_and_the_page_share_what_is_open() -> None:
    """What was opened on one page is open on the other; closing it here closes it there."""
    app = read(page(), "See doc://1.")
    app.switch_page("app_pages/playground.py")
    calm(app.run())
    assert any(button.key == "close" for button in app.button)

    app.switch_page(PAGE)
    press(calm(app.run()), "close")

    assert [words.streams.EMPTY_TITLE] == [title.value for title in app.title]


def test_another_way_to_cut_begins_at_the_first_step() -> None:
    """Steps of one cut mean nothing in another."""
    app = page(sample="stream_cut_handles", step="9")

    calm(app.selectbox(key="inspector:streams.chunking").set_value("characters").run())

    assert "characters" == parameters(app)["chunking"]
    assert "step" not in parameters(app)


def test_a_capture_without_handles_is_offered_with_handles() -> None:
    """One click shows it as a model with handles would have streamed it, marked as made in the address."""
    app = page(sample="stream_with_times")

    press(app, "make")

    assert "1" == parameters(app)["made"]
    assert not any(button.key == "make" for button in app.button)


@pytest.mark.parametrize(("name", "jumped"), [("held", "8"), ("replaced", "8"), ("dropped", "22")])
def test_jumps_find_the_next_of_their_kind(name: str, jumped: str) -> None:
    """From step 6 of the sample that cuts every handle."""
    app = page(sample="stream_cut_handles", step="6")

    press(app, f"step_next_{name}")

    assert jumped == parameters(app)["step"]


def test_a_trace_without_an_answer_says_so() -> None:
    """There is nothing to step through, and no empty chart either."""
    app = read(page(), '[{"role": "user", "content": "Hello"}, {"role": "user", "content": "Anybody?"}]')

    assert words.streams.NOTHING_TO_STREAM in [info.value for info in app.info]


def test_a_bad_link_falls_back() -> None:
    """Wrong values are left out, the rest is used."""
    app = page(sample="stream_cut_handles", chunking="magic", step="-3", answer="77")

    assert {"sample": "stream_cut_handles", "answer": "-1", "chunking": "captured"} == parameters(app)
    assert "step" not in parameters(app)


def test_a_search_goes_to_the_step_and_stays_out_of_the_address() -> None:
    """The next step with the words is shown, the caption counts them; what one searches for is text of the trace."""
    app = page(sample="stream_cut_handles", step="2")

    calm(app.text_input(key="stream_search").set_value("winter rules").run())

    assert "5" == parameters(app)["step"]
    assert words.streams.found(1) in [caption.value for caption in app.caption]
    assert "winter" not in "".join(parameters(app).values())


def test_a_conversation_of_several_is_chosen() -> None:
    """The first that holds messages is streamed; the choice is by number, and both pages follow it."""
    both = '{"messages": [{"role": "assistant", "content": "One doc://1."}]}\n' * 2
    app = read(page(), both.replace("One", "Two", 1))
    (key,) = [each.key or "" for each in app.selectbox if (each.key or "").startswith("stream_conversation:")]

    calm(app.selectbox(key=key).set_value(2).run())

    assert "2" == parameters(app)["conversation"]
    assert 2 == app.selectbox(key=key).value
