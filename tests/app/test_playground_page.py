"""The Playground's states, without a browser: empty, sample, link, options, rubbish."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from inspector_app import data, words
from inspector_app.opening import FILE_FIELD, PASTE_FIELD, PATH_FIELD
from tests.app.running import MAIN, calm, parameters

CHAT = json.dumps([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}])


def page(**query: str) -> AppTest:
    """The app, opened with these query parameters."""
    app = AppTest.from_file(MAIN, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return calm(app.run())


def is_open(app: AppTest) -> bool:
    """Whether a trace is shown: then there is a view switch."""
    return any(button.key == "close" for button in app.button)


def test_the_empty_page_says_what_to_do_first() -> None:
    """Without a trace there are the inputs and the samples, and no proof line."""
    app = page()

    assert app.title[0].value == words.opening.EMPTY_TITLE
    assert app.text_area(key=PASTE_FIELD).placeholder == words.opening.PASTE_HINT
    assert not is_open(app)


def test_a_pasted_conversation_is_opened_under_a_random_key() -> None:
    """Paste and read: the trace is open, its key is in the address, the field is empty again."""
    app = page()

    app.text_area(key=PASTE_FIELD).set_value(CHAT)
    calm(app.button(key="open_read").click().run())

    assert is_open(app)
    assert data.shelf().get(parameters(app)["key"]) is not None
    assert app.text_area(key=PASTE_FIELD).value == ""


def test_an_uploaded_file_is_opened() -> None:
    """One file, read as it is uploaded."""
    app = page()

    calm(app.file_uploader(key=FILE_FIELD).set_value([("chat.json", CHAT.encode(), "application/json")]).run())

    assert is_open(app)


def test_a_file_of_this_machine_is_opened_by_its_path(tmp_path: Path) -> None:
    """The path stands in the address, so that the link opens it again."""
    (tmp_path / "chat.json").write_text(CHAT)
    app = page()

    calm(app.text_input(key=PATH_FIELD).set_value(str(tmp_path / "chat.json")).run())

    assert is_open(app)
    assert parameters(app)["path"] == str(tmp_path / "chat.json")


def test_a_link_opens_sample_message_and_view() -> None:
    """A permalink is followed as it stands."""
    app = page(sample="rag_citations", message="3", view="decode")

    assert is_open(app)
    assert parameters(app) == {"sample": "rag_citations", "message": "3", "view": "decode"}
    assert any(area.label == words.decoding.DECODE_ANSWER for area in app.text_area)


def test_a_link_to_a_trace_that_is_gone_says_so_and_keeps_the_options() -> None:
    """After 15 minutes the page names the reason; price and rules stay as they were."""
    app = page(key="0" * 32, price="7")

    assert not is_open(app)
    assert parameters(app) == {"price": "7"}
    calm(app.button(key="dismiss_link").click().run())
    assert not [button for button in app.button if button.key == "dismiss_link"]


def test_a_reload_finds_the_pasted_trace_for_15_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key in the tab's address opens it again, each look for as long again; then it is gone, and work goes on."""
    app = page(price="7")
    app.text_area(key=PASTE_FIELD).set_value(CHAT)
    calm(app.button(key="open_read").click().run())
    address = parameters(app)
    now = time.monotonic()
    for minutes in (14, 28):
        monkeypatch.setattr(data.shelf(), "_clock", lambda late=minutes: now + 60 * late)

        assert is_open(page(**address))

    monkeypatch.setattr(data.shelf(), "_clock", lambda: now + 60 * 44)
    app = page(**address)

    assert not is_open(app)
    assert parameters(app) == {"price": "7"}
    app.text_area(key=PASTE_FIELD).set_value(CHAT)
    assert is_open(calm(app.button(key="open_read").click().run()))


@pytest.mark.parametrize(
    "rubbish",
    ["{" * 10_000, '{"messages": [{"role": "user", "content": "half', "   "],
    ids=["brackets", "half a JSON", "blank"],
)
def test_rubbish_leaves_open_what_was_open(rubbish: str) -> None:
    """What cannot be read is said in a sentence; the open trace stays."""
    app = page(sample="rag_citations")

    app.text_area(key=PASTE_FIELD).set_value(rubbish)
    calm(app.button(key="open_read").click().run())

    assert is_open(app)
    assert parameters(app)["sample"] == "rag_citations"
    assert any(button.key == "dismiss" for button in app.button)


@pytest.mark.parametrize(
    ("name", "content"), [("x.png", b"\x89PNG\r\n\x1a\n" + b"\x00" * 99), ("empty.json", b"")], ids=["picture", "empty"]
)
def test_a_file_that_is_no_trace_gets_a_sentence(name: str, content: bytes) -> None:
    """A picture and an empty file are named as such, and nothing is opened."""
    app = page()

    calm(app.file_uploader(key=FILE_FIELD).set_value([(name, content, "application/octet-stream")]).run())

    assert not is_open(app)
    assert any(button.key == "dismiss" for button in app.button)


def test_what_could_be_read_of_a_damaged_source_is_opened_on_demand() -> None:
    """The button opens the whole messages, and the address says that they are a part."""
    app = page()
    app.text_area(key=PASTE_FIELD).set_value(CHAT[:-12])
    calm(app.button(key="open_read").click().run())
    assert not is_open(app)

    calm(app.button(key="open_rest").click().run())

    assert is_open(app)
    assert parameters(app)["partial"] == "1"


def test_closing_forgets_the_trace_at_once() -> None:
    """“Close trace” empties the page and the shelf."""
    app = page()
    app.text_area(key=PASTE_FIELD).set_value(CHAT)
    calm(app.button(key="open_read").click().run())
    key = parameters(app)["key"]

    calm(app.button(key="close").click().run())

    assert not is_open(app)
    assert data.shelf().get(key) is None
    assert parameters(app) == {}


def test_the_handle_table_lists_every_handle() -> None:
    """One row a handle; a search keeps those that hold it."""
    app = page(sample="rag_citations", view="handles")
    assert len(app.dataframe[0].value) == 9

    calm(app.text_input(key="search").set_value("url://").run())

    assert list(app.dataframe[0].value[words.common.HANDLE_COLUMNS["handle"]]) == ["url://1"]


def test_the_decode_panel_says_what_was_restored() -> None:
    """An answer is decoded with the handles of the trace; a call names what could not be resolved."""
    app = page(sample="rag_citations", view="decode")
    area = next(area for area in app.text_area if area.label == words.decoding.DECODE_ANSWER)

    calm(area.set_value("nothing here").run())

    assert words.decoding.ALL_RESTORED in [caption.value for caption in app.caption]


def test_options_are_kept_in_the_address() -> None:
    """Citations, pack and tokenizer are part of the link."""
    app = page(sample="leaking_agent")

    calm(app.toggle[0].set_value(False).run())
    calm(app.selectbox[-1].set_value("cl100k_base").run())

    assert parameters(app) == {"sample": "leaking_agent", "citations": "0", "encoding": "cl100k_base"}


def test_a_path_is_refused_where_paths_are_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a server that others can reach there is no path field, and a link with a path opens nothing."""
    (tmp_path / "chat.json").write_text(CHAT)
    monkeypatch.setattr("inspector_app.launch.local_files_allowed", lambda: False)

    app = page(path=str(tmp_path / "chat.json"))

    assert not is_open(app)
    assert not any(field.key == PATH_FIELD for field in app.text_input)
