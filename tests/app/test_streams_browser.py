"""What a person does on the Streams page, in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from inspector_app import words
from tests.browser import AppServer, OpenPage, settle, still_box

CUT_HANDLES = "/streams?sample=stream_cut_handles"


def band(page: Page, title: str) -> Locator:
    """One of the three bands."""
    return page.locator(".band", has=page.locator("header b", has_text=re.compile(f"^{title}$"))).locator(".inside")


def reader(page: Page) -> Locator:
    """What the reader sees."""
    return page.locator(".pane").nth(1).locator(".flow").first


def at_step(page: Page, number: int) -> None:
    """Wait until the page is at a step, in its field and in its address."""
    expect(page.get_by_label(words.streams.STEP, exact=True)).to_have_value(str(number))
    expect(page).to_have_url(re.compile(rf"[?&]step={number}(&|$)" if number > 1 else r"^((?!step=).)*$"))
    settle(page)


def fact(page: Page, label: str) -> Locator:
    """The value of a fact in the line of facts."""
    return page.locator(".fact", has=page.locator(".label", has_text=re.compile(f"^{label}$"))).locator(".value")


def test_steps_show_what_is_held_and_what_went_out(app_server: AppServer, open_page: OpenPage) -> None:
    """Three steps of a citation that comes in pieces, by key; a reload comes back to the same step."""
    page = open_page(f"{app_server.url}{CUT_HANDLES}&step=3")
    sent = "Yes: the north loop opens on Friday "
    at_step(page, 3)
    expect(band(page, words.streams.HELD_BACK)).to_contain_text('<ref id="chunk://')
    expect(band(page, words.streams.HELD_BACK)).to_contain_text(words.streams.WHY["tag"])
    expect(reader(page)).to_have_text(sent)

    page.keyboard.press("ArrowRight")
    at_step(page, 4)
    expect(band(page, words.streams.CAME_IN)).to_have_text('1"')
    expect(band(page, words.streams.HELD_BACK)).to_contain_text('<ref id="chunk://1')
    expect(reader(page)).to_have_text(sent)

    page.keyboard.press("ArrowRight")
    at_step(page, 5)
    expect(reader(page).locator(".id.sp-chunk")).to_contain_text('<kb doc="North loop, winter rules"')
    expect(reader(page)).to_contain_text("The bridge stays closed")
    expect(band(page, words.streams.HELD_BACK)).to_contain_text('<ref id="u')

    page.reload()
    at_step(page, 5)
    expect(reader(page)).to_contain_text("The bridge stays closed")


def test_keys_jump_and_play_but_not_in_a_field(app_server: AppServer, open_page: OpenPage) -> None:
    """Home, End, jumps to what is held, replaced, dropped; Space plays and pauses; typing moves nothing."""
    page = open_page(f"{app_server.url}{CUT_HANDLES}&step=6")
    at_step(page, 6)
    for key, number in (("n", 8), ("x", 22), ("End", 30), ("Home", 1), ("h", 5)):
        page.keyboard.press(key)
        at_step(page, number)

    page.get_by_label(words.streams.SEARCH, exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    page.get_by_label(words.streams.SEARCH, exact=True).blur()
    settle(page)
    at_step(page, 5)

    page.keyboard.press("Space")
    expect(page.get_by_role("button", name=words.streams.PAUSE)).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]step=([7-9]|[12][0-9]|30)(&|$)"))
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name=words.streams.PLAY)).to_be_visible()


def test_the_timeline_is_there_and_a_click_on_a_bar_goes_to_its_step(
    app_server: AppServer, open_page: OpenPage
) -> None:
    """Bars up and hatched bars down, one of each a step."""
    page = open_page(f"{app_server.url}{CUT_HANDLES}")
    bars = page.locator(".js-plotly-plot .trace.bars .point path")
    expect(bars).to_have_count(60)

    box = still_box(bars.nth(4))
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    at_step(page, 5)


def test_every_cut_is_proven_and_a_broken_decoder_is_caught(app_server: AppServer, open_page: OpenPage) -> None:
    """Green counts for ours; for the example that forgets word boundaries the smallest cut, and the way to it."""
    page = open_page(f"{app_server.url}{CUT_HANDLES}")
    expect(fact(page, words.streams.FACT_SINGLE)).to_have_text(words.streams.NOT_CHECKED)
    page.get_by_role("button", name=words.streams.CHECK).click()
    expect(fact(page, words.streams.FACT_SINGLE)).to_have_text("✓ 484 of 484 equal")
    expect(fact(page, words.streams.FACT_MULTI)).to_have_text("✓ 200 of 200 equal")
    expect(fact(page, words.streams.FACT_BYTES)).to_contain_text("✓")

    page = open_page(f"{app_server.url}{CUT_HANDLES}&decoder=broken")
    page.get_by_role("button", name=words.streams.CHECK).click()
    expect(fact(page, words.streams.FACT_SINGLE)).to_contain_text("✕")
    expect(page.get_by_text(words.streams.FAILED_TITLE)).to_be_visible()
    expect(page.get_by_text("feed('res://0')")).to_be_visible()
    expect(page.get_by_text("feed('1')")).to_be_visible()
    # The stepper stays in sight.
    box = page.locator(".stepper").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 800
    page.get_by_role("button", name=words.streams.GO_TO_CUT).click()
    expect(page).to_have_url(re.compile(r"places=[0-9.]+&channel=text0"))


def test_a_capture_of_5000_chunks_is_usable(app_server: AppServer, open_page: OpenPage, tmp_path: Path) -> None:
    """It opens by its path, goes to its end by a key, does not scroll sideways; a long check can be stopped."""
    texts = [f" {word}" for word in ("see", "doc://1", "and", "kb://1.", "Then", "plain", "words", "follow")]
    ends = [*[None] * 4999, "stop"]
    chunks = (
        {"choices": [{"index": 0, "delta": {"content": texts[number % 8]}, "finish_reason": end}]}
        for number, end in enumerate(ends)
    )
    file = tmp_path / "long.sse"
    file.write_text("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n")
    page = open_page(f"{app_server.url}/streams?path={file}", width=1920, height=1080, color_scheme="dark")
    expect(page.get_by_text(words.streams.of_steps(5001))).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_be_visible()

    page.keyboard.press("End")
    at_step(page, 5001)
    expect(reader(page)).to_contain_text("weknora://kb/")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    page.get_by_role("button", name=words.streams.CHECK).click()
    # The frame of Streamlit has a button of this name, too, while a script runs.
    page.get_by_test_id("stMainBlockContainer").get_by_role("button", name=words.streams.STOP).click()
    expect(page.get_by_role("button", name=words.streams.CHECK)).to_be_visible()
    expect(fact(page, words.streams.FACT_SINGLE)).not_to_contain_text("✓")
