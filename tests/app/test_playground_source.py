"""What the Playground opens: many files, folders and zips, conversations, formats by hand, own packs."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from inspector_app import data, opening, own_pack, places, words
from tests.app.running import calm, parameters
from tests.app.test_playground_page import CHAT, is_open, page

OTHER = json.dumps({"messages": [{"role": "user", "content": "Good day"}]})
NORTHWIND = places.samples_dir() / "packs" / "northwind.toml"
PACK = (
    'name = "own"\nextends = "builtin"\n[tools.crm_lookup]\nids = ["customer_id"]\n[keys]\ncustomer_id = "document"\n'
)


def shown(app: AppTest) -> data.Held:
    """The trace that is open, by its key in the address."""
    held = data.shelf().get(parameters(app)["key"])
    assert held is not None
    return held


def upload(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    """The app after these files were uploaded together and read."""
    values = [(name, content, "application/octet-stream") for name, content in files]
    calm(app.file_uploader(key=opening.FILE_FIELD).set_value(values).run())
    return calm(app.run())


def zipped(**files: str) -> bytes:
    """A zip of these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, content in files.items():
            made.writestr(f"{name}.json", content)
    return out.getvalue()


def test_several_files_are_one_trace_with_a_conversation_each() -> None:
    """Their names stand in the titles; a file that cannot be read is a notice and stops no other."""
    app = upload(page(), ("a.json", CHAT.encode()), ("b.json", OTHER.encode()), ("x.png", b"\x89PNG\r\n\x1a\n\x00"))

    held = shown(app)
    assert [(each.title, len(each.messages)) for each in held.trace.conversations] == [("a.json", 2), ("b.json", 1)]
    assert [(notice.kind, notice.where) for notice in held.trace.notices] == [("skipped", "x.png")]
    assert held.name == words.sources.files_name(3)


def test_a_zip_is_opened_like_a_folder() -> None:
    """Each file in it is a conversation or more."""
    app = upload(page(), ("traces.zip", zipped(a=CHAT, b=OTHER)))

    assert [len(each.messages) for each in shown(app).trace.conversations] == [2, 1]


def test_a_folder_is_opened_by_its_path(tmp_path: Path) -> None:
    """The address keeps the path; the link to a conversation of it opens that one."""
    (tmp_path / "a.json").write_text(CHAT)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.json").write_text(OTHER)

    app = calm(page(path=str(tmp_path), conversation="2", view="conversations").run())

    assert is_open(app)
    names = words.sources.CONVERSATION_COLUMNS
    table = next(each.value for each in app.dataframe if names["title"] in each.value)
    assert list(table[names["title"]]) == ["a.json", "sub/b.json"]
    assert list(table[names["first"]]) == ["Hi", "Good day"]
    assert parameters(app)["conversation"] == "2"


def test_an_empty_folder_is_said_in_a_sentence(tmp_path: Path) -> None:
    """Nothing is opened."""
    app = page()

    calm(app.text_input(key=opening.PATH_FIELD).set_value(str(tmp_path)).run())

    assert not is_open(app)
    assert any(button.key == "dismiss" for button in app.button)


def test_what_is_open_can_be_read_as_another_format() -> None:
    """The choice shows what was recognised; another one reads the same bytes again."""
    app = page(sample="wiki_agent")
    choice = app.selectbox(key=opening.READ_AS_FIELD)
    assert choice.options[0] == words.sources.read_as(words.common.OurName(""), words.common.OurName(TITLE))

    calm(choice.set_value("text").run())

    assert is_open(app)
    assert parameters(app) == {"sample": "wiki_agent", "format": "text"}


TITLE = "OpenAI Responses API"


def test_a_format_that_does_not_fit_leaves_open_what_was_open() -> None:
    """The reason is said; format and trace stay as they were."""
    app = page(sample="wiki_agent")

    calm(app.selectbox(key=opening.READ_AS_FIELD).set_value("inspect_log").run())

    assert is_open(app)
    assert parameters(app) == {"sample": "wiki_agent"}
    assert any(button.key == "dismiss" for button in app.button)


def test_an_own_pack_is_pasted_and_counts_as_declared() -> None:
    """Its rules replace; what is left under it is what counts."""
    app = page(sample="leaking_agent", pack="own")
    assert words.sources.OWN_NONE in [caption.value for caption in app.caption]

    app.text_area(key=own_pack.PASTE_FIELD).set_value(PACK)
    calm(app.button(key="pack_use").click().run())

    assert words.sources.OWN_LOADED in [caption.value for caption in app.caption]
    assert [each.value for each in app.text if each.value == "own"] == ["own"]
    sample = next(path for path in places.samples_dir().glob("leaking_agent/*.json"))
    held = data.open_path(sample)
    without, own = data.Options(pack="builtin"), data.Options(pack="own", own=PACK)
    assert data.analyse(held, own).raw_left < data.analyse(held, without).raw_left
    assert data.prove(held, own).declared_leaks == data.analyse(held, own).leaks
    data.shelf().forget(held.key)


@pytest.mark.parametrize("wrong", ["name = ", 'name = "x"\n[tools.a]\nidz = []\n[tools.b]\nsqk = []\n'])
def test_a_pack_with_faults_keeps_the_one_that_was_loaded(wrong: str, tmp_path: Path) -> None:
    """Every fault is named with its key; the pack before stays in use."""
    app = page(sample="rag_citations", pack="own")
    calm(app.text_input(key=own_pack.PATH_FIELD).set_value(str(NORTHWIND)).run())
    assert [each.value for each in app.text if each.value == "northwind"] == ["northwind"]
    (tmp_path / "wrong.toml").write_text(wrong)

    calm(app.text_input(key=own_pack.PATH_FIELD).set_value(str(tmp_path / "wrong.toml")).run())

    assert [each.value for each in app.text if each.value == "northwind"] == ["northwind"]
    assert len(app.session_state["inspector:kept:own_pack_faults"]) == (wrong.count("[tools") or 1)
