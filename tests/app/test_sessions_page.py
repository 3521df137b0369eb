"""The Sessions page's states, without a browser."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from inspector_app import stores, words
from modelcontext_core.contextstate import MemoryStore, SQLiteStore, StoreError
from modelcontext_core.contextstate.stores import sqlite
from tests.app.running import MAIN, calm, parameters
from tests.contextstate.builders import grow


def page(**query: str) -> AppTest:
    """The page, opened with these query parameters."""
    app = AppTest.from_file(MAIN, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return calm(app.switch_page("app_pages/sessions.py").run())


def is_open(app: AppTest) -> bool:
    """Whether a store is shown."""
    return any(button.key == "sessions_close" for button in app.button)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A SQLite store with two sessions."""
    path = tmp_path / "contextstate.db"
    store = SQLiteStore(path)
    grow(store, "alpha")
    grow(store, "beta", commits=1)
    store.close()
    return path


def test_the_empty_page_says_what_to_do_first() -> None:
    """Without a store there are the ways to one; the sample is one click."""
    app = page()

    assert app.title[0].value == words.sessions.EMPTY_TITLE
    app.button(key="sessions_sample").click()
    assert is_open(calm(app.run()))
    assert parameters(app)["sample"] == "1"


@pytest.mark.parametrize("view", ["checkpoint", "diff", "events", "payloads", "operations", "try"])
def test_every_view_of_the_sample_opens_by_its_link(view: str) -> None:
    """A link names store, view and checkpoints, and is followed as it stands."""
    app = page(sample="1", view=view, revision="16", base="13")

    assert is_open(app)
    assert {"revision": "16", "base": "13"}.items() <= parameters(app).items()


def test_a_database_is_opened_by_its_path(database: Path) -> None:
    """The path stands in the address; the list can be narrowed."""
    app = page()
    app.text_input(key="sessions_path").set_value(str(database))
    calm(app.run())

    assert parameters(app)["path"] == str(database)
    assert len(app.dataframe[0].value) == 2
    app.text_input(key="sessions_prefix").set_value("be")
    assert len(calm(app.run()).dataframe[0].value) == 1


def test_a_session_of_one_checkpoint_is_shown_without_a_diff(database: Path) -> None:
    """There is nothing to compare it with."""
    app = page(path=str(database))
    app.text_input(key="sessions_prefix").set_value("be")

    assert not calm(app.run()).number_input


def test_what_is_no_store_is_said_and_a_dead_link_too(tmp_path: Path) -> None:
    """The page stays usable, and says what was wrong."""
    (tmp_path / "x.db").write_bytes(b"nonsense")

    assert not is_open(page(path=str(tmp_path / "x.db")))
    assert not is_open(page(path=str(tmp_path / "missing.db")))
    assert not is_open(page(key="0" * 32))


def test_a_damaged_head_hides_no_other_session(database: Path) -> None:
    """The session is in the list with a mark for its revision, can be verified, and the others are shown as ever."""
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("UPDATE cs_session SET binding = x'00' WHERE id = 'alpha'")
    connection.close()

    opened = stores.open_file(database)

    app = page(key=opened.key)
    listed = app.dataframe[0].value
    assert not app.get("plotly_chart")
    app.button(key="sessions_verify").click()
    calm(app.run())

    assert is_open(app)
    assert ["alpha", "beta"] == list(listed[words.sessions.COLUMN_SESSION])
    assert ["✕", "1"] == list(listed[words.sessions.COLUMN_REVISION])
    assert [["head"]] == [[found.where for found in report.breaks] for report in opened.reports.values()]
    app.text_input(key="sessions_prefix").set_value("be")
    assert calm(app.run()).get("plotly_chart")


def test_a_damaged_checkpoint_and_a_verification_that_failed_are_both_said(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The head is read, the timeline is not: each fault stands there once."""
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("UPDATE cs_commit SET details = x'00' WHERE operation_id = 'alpha-op-1'")
    connection.close()
    opened = stores.open_file(database)
    app = page(key=opened.key)

    def gone(*_: object, **__: object) -> None:
        raise StoreError("store.db", "it is gone")

    monkeypatch.setattr(stores, "open_store", gone)
    app.button(key="sessions_verify").click()

    assert is_open(calm(app.run()))
    assert opened.verification is not None
    assert "it is gone" in opened.verification.error


def test_a_store_that_goes_away_is_said_and_can_be_tried_again(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locked by somebody, or gone: a sentence with what to do, no traceback; afterwards the button shows it again."""
    monkeypatch.setattr(sqlite, "_READER_BUSY_SECONDS", 0.1)
    app = page(path=str(database))
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN EXCLUSIVE")

    calm(app.run())

    assert not is_open(app)
    other.close()
    app.button(key="sessions_again").click()
    assert is_open(calm(app.run()))
    database.unlink()
    calm(app.run())
    app.button(key="sessions_close_failed").click()
    assert calm(app.run()).title[0].value == words.sessions.EMPTY_TITLE


def test_an_uploaded_export_is_opened_as_a_copy() -> None:
    """It is held under a random key, which is no part of a link to pass on."""
    store = MemoryStore()
    grow(store, "alpha")
    app = page()
    content = b"".join(store.export("alpha"))
    app.file_uploader(key="sessions_file").set_value([("alpha.jsonl", content, "application/jsonl")])
    calm(app.run())

    key = parameters(app)["key"]
    assert is_open(app)
    assert stores.shelf().get(key) is not None
    assert all(key not in code.value for code in app.code)


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    """No session is no error."""
    SQLiteStore(tmp_path / "empty.db").close()
    app = page(path=str(tmp_path / "empty.db"))

    assert words.sessions.EMPTY_STORE in [info.value for info in app.info]


def test_the_sandbox_names_the_rule(database: Path) -> None:
    """A commit to the copy is answered; the database stays as it was."""
    before = database.read_bytes()
    app = page(path=str(database), view="try")
    app.button(key="sandbox_commit").click()
    calm(app.run())
    app.segmented_control(key="sandbox_preset").set_value("stale_binding")
    calm(app.run())
    app.button(key="sandbox_commit").click()
    calm(app.run())

    held = [each for _, each in stores.shelf()._held.values() if each.url.endswith(str(database))]
    assert held[-1].sandbox is not None
    assert [tried.rule for tried in held[-1].sandbox.tried] == ["binding", None]
    assert database.read_bytes() == before


def test_paths_and_databases_are_off_where_others_reach_the_server(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the fields nor a link open a file of this machine."""
    monkeypatch.setattr("inspector_app.launch.local_files_allowed", lambda: False)
    app = page(path=str(database))

    assert not is_open(app)
    assert [field.key for field in app.text_input] == []
