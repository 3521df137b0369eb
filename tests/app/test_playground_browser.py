"""What a person does on the Playground, in a real browser.

The text of a handle's tag is drawn by the style sheet, so it is no part of what is read here.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from inspector_app import words
from tests.app.making import CHUNK, RAW
from tests.browser import AppServer, OpenPage, settle

CHAT = json.dumps(
    [
        {"role": "user", "content": "What does the handbook say?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "search_knowledge", "arguments": '{"query": "x"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": f'<chunk chunk_id="{CHUNK}">\nThirty days.\n</chunk>\n{RAW}'},
        {"role": "assistant", "content": f'Thirty days <kb doc="H" chunk_id="{CHUNK}" />.'},
    ]
)


def paste(page: Page, text: str) -> None:
    """Paste into the empty page and read."""
    page.get_by_placeholder(words.opening.PASTE_HINT).first.fill(text)
    page.get_by_role("button", name=words.opening.READ).first.click()


def file(name: str, content: bytes) -> FilePayload:
    """A file to upload."""
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def side(page: Page, which: str, index: int) -> Locator:
    """The cells of one side (`l` or `r`) of a message."""
    return page.locator(f'.msg[data-index="{index}"] .cell.{which}')


def identity(page: Page, which: str, text: str) -> Locator:
    """The first mark of an identity on one side."""
    return page.locator(f".cell.{which} .id", has_text=text).first


def no_sideways_scroll(page: Page) -> bool:
    """Whether the page fits its window."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def test_a_pasted_conversation_stands_side_by_side(app_server: AppServer, open_page: OpenPage) -> None:
    """Paste, read by Control and Enter; point at one side to light the other, click to keep and filter, Escape to
    clear."""
    page = open_page(app_server.url)
    field = page.get_by_placeholder(words.opening.PASTE_HINT).first
    field.fill(CHAT)
    field.press("Control+Enter")

    expect(side(page, "l", 2).first).to_have_text(f'<chunk chunk_id="{CHUNK}">')
    expect(side(page, "r", 2).first).to_have_text('<chunk chunk_id="chunk://1">')
    expect(page.locator(".fact").first).to_contain_text("1 handle")

    identity(page, "l", CHUNK).hover()
    expect(identity(page, "r", "chunk://1")).to_have_class(re.compile(r"\blit\b"))

    identity(page, "l", CHUNK).click()
    expect(page.locator(".detail")).to_contain_text("message 2, line 1")
    expect(page.locator(".item")).to_have_count(2)
    page.mouse.move(0, 0)
    expect(identity(page, "r", "chunk://1")).to_have_class(re.compile(r"\bkept\b"))

    page.keyboard.press("Escape")
    expect(page.locator(".item")).to_have_count(4)
    assert no_sideways_scroll(page)


def test_the_next_raw_id_and_the_rail_by_keyboard(app_server: AppServer, open_page: OpenPage) -> None:
    """X goes to the next raw id; arrows move in the list of messages; the address follows; no key acts in a field."""
    page = open_page(f"{app_server.url}/?sample=rag_citations")
    expect(page.locator(".msg").first).to_be_visible()

    page.keyboard.press("x")
    expect(page.locator(".item.here")).to_have_attribute("data-index", "5")

    # The line of facts, the chips, and the buttons of all messages but one are no stops of the Tab key.
    for where, stops in ((".proof button", 1), (".chips button", 1), (".msg button", 1)):
        page.locator(where).first.wait_for()
        assert page.locator(f"{where}:not([tabindex='-1'])").count() == stops
    page.locator(".list").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".item.here")).to_have_attribute("data-index", "6")
    page.wait_for_url(re.compile("message=6"))

    field = page.get_by_placeholder(words.playground.SEARCH_HINT)
    field.press_sequentially("xxx")
    expect(page.locator(".item.here")).to_have_attribute("data-index", "6")


def test_search_filters_the_messages_and_marks_the_words(app_server: AppServer, open_page: OpenPage) -> None:
    """Messages that hold the word are listed with the number of hits, and the word is marked in both forms."""
    page = open_page(f"{app_server.url}/?sample=rag_citations")
    field = page.get_by_placeholder(words.playground.SEARCH_HINT)

    field.fill("packaging")
    field.press("Enter")

    expect(page.locator(".item .hits").first).to_be_visible()
    assert page.locator(".item").count() < 13
    page.wait_for_function("() => CSS.highlights.get('inspector-search')?.size > 1")


def test_an_answer_is_decoded_and_what_is_unknown_is_named(app_server: AppServer, open_page: OpenPage) -> None:
    """A model answer is restored; an unknown handle is listed with the nearest one."""
    page = open_page(f"{app_server.url}/?sample=rag_citations&view=decode")
    area = page.get_by_label(words.decoding.DECODE_ANSWER)

    area.fill("See doc://1 and doc://99.")
    area.press("Control+Enter")

    expect(page.locator(".cell.r .id").first).to_have_text(re.compile("^[0-9a-f-]{36}$"))
    expect(page.locator("td", has_text="this request issued doc://1 to doc://2")).to_be_visible()


def test_a_sample_opens_by_one_click_and_its_link_opens_it_again(app_server: AppServer, open_page: OpenPage) -> None:
    """The card opens it, a reload the same message, Back the places before; of two quick clicks the last one counts."""
    page = open_page(app_server.url)
    page.locator("button.card", has_text="A leaking agent").click()
    page.locator('.item[data-index="6"]').click()
    page.wait_for_url(re.compile("sample=leaking_agent.*message=6"))

    page.reload()
    settle(page)

    expect(page.locator(".msg.here")).to_have_attribute("data-index", "6")

    page.go_back()
    expect(page.locator(".msg.here")).to_have_attribute("data-index", "0")
    page.go_back()
    cards = [page.locator("button.card", has_text=name).first for name in ("MCP agent", "Wiki agent")]
    expect(cards[0]).to_be_visible()
    page.evaluate(
        "([one, other]) => { one.click(); setTimeout(() => other.click(), 40); }",
        [card.element_handle() for card in cards],
    )
    expect(page.locator(".source .name")).to_have_text("wiki_agent.json")
    page.wait_for_url(re.compile("sample=wiki_agent"))
    settle(page)

    # To another page and back is one step each.
    page.get_by_role("link", name=words.leaks.PAGE).click()
    expect(page.get_by_text(words.leaks.EMPTY_TITLE)).to_be_visible()
    settle(page)
    page.get_by_role("link", name=words.common.PAGE_PLAYGROUND).click()
    page.wait_for_url(re.compile("/[?]sample=wiki_agent"))
    settle(page)
    page.go_back()
    expect(page.get_by_text(words.leaks.EMPTY_TITLE)).to_be_visible()
    settle(page)
    page.go_back()
    expect(page.locator(".source .name")).to_have_text("wiki_agent.json")


def test_rubbish_is_said_in_a_sentence_and_what_was_open_stays(app_server: AppServer, open_page: OpenPage) -> None:
    """Half a JSON, a picture and an empty file: one sentence each, and the trace below is still there."""
    page = open_page(f"{app_server.url}/?sample=wiki_agent")
    upload = page.locator("input[type=file]")
    for name, content, said in (
        ("half.json", b'[{"role": "user", "content": "hal', "The JSON text is cut"),
        ("x.png", b"\x89PNG\r\n\x1a\n" + b"\x00" * 99, "PNG"),
        ("empty.json", b"", "The file is empty"),
    ):
        settle(page)
        page.get_by_role("button", name=words.opening.OPEN).first.click()
        upload.first.set_input_files(file(name, content))
        expect(page.locator(".stop")).to_contain_text(said)
        page.keyboard.press("Escape")

    expect(page.locator(".source .name")).to_have_text("wiki_agent.json")


def test_a_megabyte_appears_and_the_rest_is_loaded_in_parts(app_server: AppServer, open_page: OpenPage) -> None:
    """A pasted megabyte is shown by its first 256 KB; a message far away is loaded when it is asked for."""
    filler = "Some words about an item. " * 120
    text = json.dumps([{"role": "user", "content": f"{number}: {filler}"} for number in range(330)])
    page = open_page(app_server.url)

    page.get_by_placeholder(words.opening.PASTE_HINT).fill(text)
    # A large text does not stay in the field, where it would be laid out with every change of the page.
    expect(page.locator(".pasted")).to_contain_text(words.opening.pasted(len(text)))
    expect(page.get_by_placeholder(words.opening.PASTE_HINT)).to_have_value("")
    page.get_by_role("button", name=words.opening.READ).click()

    expect(page.locator(".msg").first).to_be_visible()
    assert page.locator(".msg").count() < 330
    page.locator('.item[data-index="329"]').click()
    expect(page.locator(".msg.here")).to_have_attribute("data-index", "329")


def test_nothing_in_a_hostile_trace_runs_or_is_fetched(app_server: AppServer, open_page: OpenPage) -> None:
    """Markup, Markdown pictures and hidden characters are drawn as text, in every view and in the name of the file."""
    hostile = "<img src=x onerror=alert(1)> ![x](http://evil.example.com/x.png) <script>alert(2)</script> a\u202eb"
    chat = json.dumps(
        [
            {"role": hostile, "content": hostile},
            {"role": "assistant", "tool_calls": [{"id": hostile, "function": {"name": hostile, "arguments": hostile}}]},
            {"role": "tool", "tool_call_id": hostile, "content": hostile + RAW},
        ]
    )
    page = open_page(app_server.url)
    page.on("dialog", lambda dialog: pytest.fail("a script of the trace ran"))
    page.locator("input[type=file]").set_input_files(file(f"{hostile.replace('/', '_')}.json", chat.encode()))

    expect(page.locator(".msg").first).to_be_visible()
    expect(page.locator(".hid").first).to_have_text("U+202E")
    for view in ("handles", "decode", "messages"):
        page.get_by_role("radio", name=words.playground.VIEWS[view]).click(force=True)
        settle(page)
    assert page.locator("img[src='x']").count() == 0


def test_copying_and_downloading(app_server: AppServer, open_page: OpenPage) -> None:
    """A handle and a message as JSON go to the clipboard; the report and the trace are saved."""
    page = open_page(
        f"{app_server.url}/?sample=rag_citations&message=3", permissions=("clipboard-read", "clipboard-write")
    )
    identity(page, "l", "-").click()
    page.locator(".detail .copy").first.click()
    page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('://')")

    page.locator('.msg[data-index="3"] header .copy').click()
    page.wait_for_function("async () => JSON.parse(await navigator.clipboard.readText()).role === 'tool'")

    page.get_by_role("button", name=words.playground.DOWNLOAD).click()
    for label, beginning in ((words.playground.SAVE_REPORT, b"<!doctype html>"), (words.playground.SAVE_TRACE, b"{")):
        with page.expect_download() as saved:
            page.get_by_role("button", name=label).click()
        assert Path(saved.value.path()).read_bytes().startswith(beginning)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1920, "dark"), (1024, "light")])
def test_the_page_fits_and_the_work_area_fills_the_window(
    app_server: AppServer, open_page: OpenPage, width: int, scheme: str
) -> None:
    """No sideways scrolling, not even with an id of 300 characters, and the texts end where the window ends."""
    long = json.dumps(
        [{"role": "tool", "name": "read_document", "content": f"<knowledge_id>{'k' * 300}</knowledge_id>"}]
    )
    page = open_page(app_server.url, width=width, height=900, color_scheme=scheme)
    paste(page, long)
    expect(page.locator(".cell.r .id")).to_have_text("doc://1")

    box = page.locator(".lv").bounding_box()

    assert no_sideways_scroll(page)
    assert box is not None
    assert 840 <= box["y"] + box["height"] <= 900


def test_files_uploaded_together_are_conversations_to_choose_from(app_server: AppServer, open_page: OpenPage) -> None:
    """Two files at once are one trace; a file uploaded after them is a trace of its own, not one more of these."""
    page = open_page(app_server.url)
    files = [file(f"{name}.json", json.dumps([{"role": "user", "content": name}]).encode()) for name in ("one", "two")]

    page.locator("input[type=file]").first.set_input_files(files)
    expect(page.locator(".source .name")).to_have_text(words.sources.files_name(2))
    page.get_by_role("radio", name=words.playground.VIEWS["conversations"]).click()
    expect(page.get_by_text(words.sources.conversations_hint(2))).to_be_visible()
    # The table is a canvas: its second row, where the rows are chosen.
    page.locator(".st-key-conversation_table .dvn-scroller").click(position={"x": 16, "y": 80})
    expect(page.locator(".msg")).to_contain_text("two")
    page.wait_for_url(re.compile("conversation=2"))

    settle(page)
    page.get_by_role("button", name=words.opening.OPEN).first.click()
    page.locator("input[type=file]").first.set_input_files(files[:1])
    expect(page.locator(".source .name")).to_have_text("one.json")
