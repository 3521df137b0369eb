"""What a person does on the Policies page, in a real browser."""

from __future__ import annotations

from playwright.sync_api import expect

from inspector_app import words
from tests.browser import AppServer, OpenPage, settle, still_box


def test_a_pack_is_edited_checked_and_tried(app_server: AppServer, open_page: OpenPage) -> None:
    """The example call stands on both sides; a ticked row shows its issues, a wrong cell its fault and its place in
    the TOML; undo takes it back; nothing scrolls sideways."""
    page = open_page(f"{app_server.url}/policies")
    expect(page.get_by_text(words.policies.SOUND)).to_be_visible(timeout=30_000)
    expect(page.locator(".cell.l .id.sp-document").first).to_be_visible(timeout=30_000)
    expect(page.locator(".cell.r .id.sp-document").first).to_be_visible()
    expect(page.get_by_text(words.policies.DETAILS_NONE)).to_be_visible()
    settle(page)
    box = still_box(page.get_by_test_id("stDataFrame").first)
    x, y = box["x"], box["y"] + 47  # the middle of the first row

    page.mouse.click(x + 64, y)
    expect(page.get_by_text(words.policies.DETAILS_NONE)).not_to_be_visible(timeout=30_000)
    settle(page)
    page.mouse.dblclick(x + 380, y)
    expect(page.locator("#portal").get_by_role("textbox")).to_be_visible(timeout=30_000)
    page.keyboard.type("ordr_id", delay=20)
    page.keyboard.press("Enter")
    expect(page.get_by_text("tools.search_knowledge.ids[0]")).to_be_visible(timeout=30_000)
    expect(page.get_by_role("button", name=words.policies.SAVE)).to_be_disabled()

    page.get_by_role("button", name=words.policies.UNDO).click()
    expect(page.get_by_text(words.policies.SOUND)).to_be_visible(timeout=30_000)
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
