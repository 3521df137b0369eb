"""What a person does on the Policies page, in a real browser."""

from __future__ import annotations

from playwright.sync_api import expect

from inspector_app import words
from tests.browser import AppServer, OpenPage, settle


def test_a_call_is_tried_and_shown_on_both_sides(app_server: AppServer, open_page: OpenPage) -> None:
    """The pack is drawn and sound, a call with a handle is restored beside it, nothing scrolls sideways."""
    page = open_page(f"{app_server.url}/policies")
    expect(page.get_by_text(words.policies.SOUND)).to_be_visible(timeout=30_000)
    page.get_by_placeholder(words.policies.TRY_TOOL_HINT).fill("database_query")
    page.get_by_placeholder(words.policies.TRY_CALL_HINT).fill('{"sql": "SELECT 1 WHERE doc_id = \'doc://1\'"}')
    page.get_by_placeholder(words.policies.TRY_CALL_HINT).press("Control+Enter")
    expect(page.locator(".cell.l .id.sp-document").first).to_be_visible(timeout=30_000)
    settle(page)

    expect(page.locator(".cell.r .id.sp-document").first).to_be_visible()
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
