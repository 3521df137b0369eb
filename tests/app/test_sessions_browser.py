"""What a person does on the Sessions page, in a real browser."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from inspector_app import words
from modelcontext_core.contextstate import SQLiteStore
from tests.browser import AppServer, OpenPage, settle, still_box
from tests.contextstate.builders import commit, grow, payload

SECRET = b"the bytes that are revoked"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A SQLite store with one session and one payload."""
    path = tmp_path / "contextstate.db"
    store = SQLiteStore(path)
    last = grow(store, "support-1")[-1]
    record = payload(SECRET, "support-1")
    store.checkpoint(
        commit("op-4", "support-1", expected=last.checkpoint.revision, payloads=[record], context=b'{"a": 1}', turn=4)
    )
    store.close()
    return path


def address(server: AppServer, **query: str) -> str:
    """A link to the page."""
    return f"{server.url}/sessions?{urlencode(query)}"


def no_sideways_scroll(page: Page) -> bool:
    """Whether the page fits its window."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def test_a_click_in_the_timeline_shows_what_changed_there(app_server: AppServer, open_page: OpenPage) -> None:
    """The chosen checkpoint is compared with the one before it; the address follows; any two can be compared."""
    page = open_page(address(app_server, sample="1"))
    expect(page.locator(".row.diff").first).to_be_visible()
    expect(page.locator(".head b").nth(1)).to_have_text(words.sessions.revision_title(20))
    bars = page.locator(".st-key-sessions_timeline .js-plotly-plot").first
    expect(bars.locator(".bars").first).to_be_attached()
    settle(page)
    place = still_box(page.locator(".st-key-sessions_timeline"))

    # The newest checkpoints are in sight: the last row is 20, and a click anywhere in a row is one.
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] - 18 - 27)

    page.wait_for_url(re.compile("revision=19"))
    expect(page.locator(".head b").nth(0)).to_have_text(words.sessions.revision_title(18))
    expect(page.locator(".head b").nth(1)).to_have_text(words.sessions.revision_title(19))
    expect(page.locator(".row.diff .came").first).to_be_visible()

    # By keyboard from one to the next, each compared with the one before it.
    page.get_by_label(words.sessions.NUMBERS["revision"]).press("ArrowDown")
    expect(page.locator(".head b").nth(1)).to_have_text(words.sessions.revision_title(18))
    expect(page.locator(".head b").nth(0)).to_have_text(words.sessions.revision_title(17))
    settle(page)

    field = page.get_by_label(words.sessions.NUMBERS["base"])
    field.fill("13")
    field.press("Enter")
    expect(page.locator(".cell.l .gone", has_text="-mini").first).to_be_visible()
    assert no_sideways_scroll(page)


def test_verify_names_what_is_damaged_and_the_rest_stays_readable(
    app_server: AppServer, open_page: OpenPage, database: Path
) -> None:
    """Not green before it was asked; one changed byte of a payload is a break with its place."""
    connection = sqlite3.connect(database)
    connection.execute("UPDATE cs_bytes SET data = CAST(replace(data, 'revoked', 'revoKed') AS BLOB)")
    connection.commit()
    connection.close()
    page = open_page(address(app_server, path=str(database)))
    verify = page.locator("button.fact")
    expect(verify).to_contain_text(words.sessions.NOT_CHECKED)
    # All of the page is there: what is drawn anew beneath a click never gets it.
    expect(page.locator(".row.diff").first).to_be_visible()
    expect(page.locator(".st-key-sessions_timeline .js-plotly-plot .bars").first).to_be_attached()
    settle(page)

    verify.click()

    expect(verify).to_contain_text(words.sessions.breaks(1))
    # Drawn anew with the answer, it keeps the keyboard.
    expect(verify).to_be_focused()
    expect(page.locator("td.mono", has_text="payload sha256:")).to_be_visible()
    expect(page.locator(".row.diff").first).to_be_visible()


def confirm(page: Page, session_id: str, now: str) -> None:
    """Type the session id; the button stays off until then."""
    button = page.get_by_role("button", name=now)
    expect(button).to_be_disabled()
    field = page.get_by_label(words.sessions.TYPE_ID)
    field.fill(session_id)
    field.press("Enter")
    button.click()


def test_what_changes_a_store_asks_first(app_server: AppServer, open_page: OpenPage, database: Path) -> None:
    """Revoking and deleting want the session id typed, importing a second button; only then the file changes."""
    reader = SQLiteStore(database, read_only=True)
    export = b"".join(reader.export("support-1"))
    reader.close()
    page = open_page(address(app_server, path=str(database), view="payloads"))
    table = page.locator(".st-key-sessions_table .dvn-scroller").first
    expect(table).to_be_visible()
    table.click(position={"x": 16, "y": 48})
    page.get_by_role("button", name=words.sessions.REVOKE).click()
    assert SECRET in database.read_bytes()
    confirm(page, "support-1", words.sessions.REVOKE_NOW)
    expect(page.locator(".fact", has_text=words.sessions.FACT_PAYLOADS)).to_contain_text("1 revoked")
    settle(page)
    assert SECRET not in database.read_bytes()

    # Opened by key, the menu takes the keyboard.
    page.locator(".st-key-sessions_menu button").press("Enter")
    menu = page.get_by_test_id("stPopoverBody")
    expect(menu).to_be_focused()
    page.keyboard.press("Tab")
    expect(menu.get_by_role("button", name=words.sessions.VERIFY)).to_be_focused()
    page.get_by_role("button", name=words.sessions.DELETE).click()
    confirm(page, "support-1", words.sessions.DELETE_NOW)
    expect(page.get_by_text(words.sessions.EMPTY_STORE)).to_be_visible()

    page.locator(".st-key-sessions_menu button").click()
    page.get_by_role("button", name=words.sessions.IMPORT).click()
    page.locator(".st-key-sessions_import_file input[type=file]").set_input_files(
        {"name": "s.jsonl", "mimeType": "application/jsonl", "buffer": export}
    )
    page.get_by_role("button", name=words.sessions.IMPORT_NOW).click()
    expect(page.locator(".fact", has_text=words.sessions.FACT_REVISION)).to_contain_text("durable 4")
    settle(page)
    # A revocation outlives its session: the bytes of the export do not come back.
    assert SECRET not in database.read_bytes()


def test_the_sandbox_names_the_rule_that_answers(app_server: AppServer, open_page: OpenPage) -> None:
    """A try is answered beside its fields; another kind of try by another rule; then back to the session."""
    page = open_page(address(app_server, sample="1", view="try"))
    for preset, said in (
        ("stale_binding", "generation 2"),
        ("over_limit", "at most 16 allowed"),
        ("repeat", words.sandbox.RULE_REPLAY),
    ):
        page.get_by_role("radio", name=words.sandbox.TRY_PRESETS[preset]).click(force=True)
        settle(page)
        page.get_by_role("button", name=words.sandbox.TRY_COMMIT).click()
        expect(page.locator(".st-key-sandbox_answer td", has_text=said)).to_be_visible()

    page.get_by_role("button", name=words.sandbox.TRY_BACK).click()
    expect(page.locator(".row.diff").first).to_be_visible()
    assert no_sideways_scroll(page)
