"""What a person does on the Leaks page, in a real browser."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from inspector_app import words
from tests.browser import AppServer, OpenPage, settle


def leaking(app_server: AppServer, open_page: OpenPage) -> Page:
    """The leaking sample."""
    page = open_page(f"{app_server.url}/leaks?sample=leaking_agent")
    page.locator(".cell").first.wait_for()
    settle(page)
    return page


def test_from_a_cell_to_the_marked_message(app_server: AppServer, open_page: OpenPage) -> None:
    """Enter on the hottest cell lists its findings and shows the message with the raw id marked, at 1,280 px
    without sideways scrolling; the address leads back to the same place."""
    page = leaking(app_server, open_page)
    page.locator(".cell.heat-2, .cell.heat-3, .cell.heat-4").first.press("Enter")
    expect(page.locator(".cell.on")).to_have_count(1)
    expect(page.locator(".cell.on")).to_be_focused()
    expect(page.locator(".raw").first).to_be_visible()
    settle(page)

    assert "row=" in page.url
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    again = open_page(page.url)
    expect(again.locator(".cell.on")).to_have_count(1)
    expect(again.locator(".raw").first).to_be_visible()


def test_one_click_on_a_suggestion_removes_its_leaks(app_server: AppServer, open_page: OpenPage) -> None:
    """After the first card is clicked the heat map shows what the card predicted for its tool."""
    page = leaking(app_server, open_page)
    card = page.locator(".action").first
    tool, effect = card.locator("b").text_content() or "", card.locator(".effect").text_content() or ""
    row = page.locator("tr", has=page.locator("th.name button", has_text=tool))
    before, after = effect.replace("✓", "").replace("!", "").split(" → ")
    after = after.strip()
    expect(row.locator(".all b")).to_have_text(before)
    card.get_by_role("button").click()
    expect(page.get_by_text(words.leaks.RESET)).to_be_visible()
    settle(page)

    if after == "0":
        expect(row).to_have_count(0)
    else:
        expect(row.locator(".all b")).to_have_text(after)
