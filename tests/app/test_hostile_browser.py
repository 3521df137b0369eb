"""All five pages with text of somebody who means harm, in a real browser: nothing runs, is fetched, hides or hangs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Dialog, Page, expect

from inspector_app import words
from modelcontext_core.contextstate import BindingRevision, SQLiteStore
from modelcontext_core.formats import read
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies
from tests.browser import AppServer, OpenPage, settle
from tests.contextstate.builders import commit, event, payload
from tests.sample_making.hostile import CODES, MARKUP, NAMES, TEXT, hostile

# What a store, a pack and a file can hold of the names: no control characters.
SHORT = [name for name in NAMES if len(name) < 100 and name.isprintable()]
ODD = "good\u202etset\u200b\x9b31m"

# Every text on the page that somebody can read, in shadow trees too, and what is said to those who cannot see.
SAID = """() => {
    const said = [];
    const walk = node => {
        if (node.nodeType === Node.TEXT_NODE) said.push(node.data);
        if (node.nodeType !== Node.ELEMENT_NODE && node.nodeType !== Node.DOCUMENT_FRAGMENT_NODE) return;
        if (['SCRIPT', 'STYLE', 'TEXTAREA'].includes(node.tagName)) return;
        for (const name of ['title', 'aria-label', 'placeholder', 'alt']) said.push(node.getAttribute?.(name) ?? '');
        if (node.shadowRoot) walk(node.shadowRoot);
        node.childNodes.forEach(walk);
    };
    walk(document.documentElement);
    return said.filter(text => HIDDEN.test(text));
}""".replace(
    "HIDDEN",
    r"/[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
    r"\u{e0000}-\u{e0fff}]/u",
)
TITLES = {
    words.common.page_title(name)
    for name in (
        words.common.PAGE_PLAYGROUND,
        words.streams.PAGE,
        words.leaks.PAGE,
        words.sessions.PAGE,
        words.policies.PAGE,
    )
}
# Elements that text of a trace would have to become to do anything.
MADE = (
    "iframe, object, embed, form[action], base, meta[http-equiv=refresh], a[href*='example.com'], [src*='example.com']"
)


@pytest.fixture
def check(open_page: OpenPage) -> Callable[[Page], None]:
    """Looks at a page when it has settled: nothing ran, nothing hides, nothing scrolls sideways, and it answers."""

    def look(page: Page) -> None:
        settle(page)
        assert page.title() in TITLES
        assert page.evaluate("() => window.__pwned === undefined")
        assert page.locator(MADE).count() == 0
        assert page.locator('[data-testid="stException"]').count() == 0
        assert page.evaluate(SAID) == []
        assert page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")

    return look


def watched(page: Page) -> Page:
    """A page on which a dialog is an error."""

    def shown(dialog: Dialog) -> None:
        dialog.dismiss()
        raise AssertionError(f"a script ran: {dialog.message}")

    page.on("dialog", shown)
    return page


def capture(path: Path) -> Path:
    """An SSE capture whose chunks are pieces of the hostile text, and calls of such names."""
    names = [SHORT[2], ODD]
    deltas: list[dict[str, object]] = [{"content": TEXT[at : at + 61]} for at in range(0, len(TEXT), 61)]
    deltas += [
        {"tool_calls": [{"index": at, "id": name, "function": {"name": name, "arguments": json.dumps({name: TEXT})}}]}
        for at, name in enumerate(names)
    ]
    deltas.append({})
    chunks = (
        {"model": NAMES[2], "choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else "tool_calls"}]}
        for delta in deltas
    )
    path.write_text("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n")
    return path


def store(path: Path) -> Path:
    """A store in which every name means harm."""
    made = SQLiteStore(path)
    binding = BindingRevision(provider=SHORT[2], model=ODD, generation=1)
    for number, name in enumerate([*SHORT, ODD]):
        first = commit(
            f"{name}:{number}",
            name,
            context=TEXT.encode("utf-8", "replace"),
            payloads=[payload(name.encode(), name, retention=SHORT[3], namespace=ODD, subject=SHORT[4])],
            binding=binding,
        )
        told = replace(event(1, name), kind=SHORT[5], role=ODD, provenance=SHORT[6], tool_call_id=ODD)
        first = replace(first, new_source_events=(told,))
        made.checkpoint(first)
        made.checkpoint(
            commit(
                f"{name}:{number}b",
                name,
                expected=first.checkpoint.revision,
                events=0,
                context=json.dumps({"__proto__": MARKUP, "codes": CODES}).encode(),
                binding=binding,
            )
        )
    made.close()
    return path


def pack(path: Path) -> Path:
    """The rules that are discovered in the sample, and a tool whose name hides what it is."""
    messages = read(json.dumps(hostile()).encode()).conversations[0].messages
    found = ToolPolicies.discover(messages, base=DEFAULT_POLICIES).policies.dumps()
    path.write_text(f'{found}\n[tools."{ODD}"]\nids = ["chunk_id"]\n')
    return path


def test_nothing_in_a_trace_acts_on_any_page(
    app_server: AppServer, open_page: OpenPage, check: Callable[[Page], None], tmp_path: Path
) -> None:
    """The sample is opened with one click and walked through on five pages, with a capture, a store and a pack made of
    the same text. The watch of `open_page` adds: no request to another host, no violation of the policy, no error."""
    page = watched(open_page(app_server.url))
    page.get_by_role("button", name="Hostile text").click()
    expect(page.get_by_text("U+202E").first).to_be_visible()
    check(page)

    def views(names: Mapping[str, str]) -> None:
        for view, name in names.items():
            page.get_by_role("radio", name=name, exact=True).click()
            expect(page).to_have_url(re.compile(rf"[?&]view={view}"))
            check(page)

    views({view: words.playground.VIEWS[view] for view in ("handles", "decode", "notices")})
    page.goto(f"{app_server.url}/?sample=hostile&message=5")
    check(page)
    page.goto(f"{app_server.url}/?sample=hostile&message=6")
    expect(page.get_by_text("4,000 combining marks").first).to_be_visible()
    for popover in (words.playground.OPTIONS, words.playground.DOWNLOAD):
        page.get_by_role("button", name=popover).click()
        check(page)
        page.keyboard.press("Escape")

    file = capture(tmp_path / "capture.sse")
    for source in ("sample=hostile", f"path={file}"):
        page.goto(f"{app_server.url}/streams?{source}&step=9999")
        expect(page.get_by_text("U+001B").first).to_be_visible()
        check(page)

    page.goto(f"{app_server.url}/leaks?sample=hostile")
    page.locator(".cell").first.click()
    expect(page.locator(".raw").first).to_be_visible()
    check(page)
    views({view: words.leaks.VIEWS[view] for view in ("coverage", "along", "top")})

    page.goto(f"{app_server.url}/sessions?path={store(tmp_path / 'store.db')}")
    expect(page.locator(".cell.l").first).to_be_visible()
    check(page)
    views({view: name for view, name in words.sessions.VIEWS.items() if view != "diff"})
    page.get_by_role("button", name=words.sandbox.TRY).click()
    expect(page).to_have_url(re.compile(r"[?&]view=try"))
    check(page)

    page.goto(f"{app_server.url}/policies")
    settle(page)
    page.get_by_role("button", name=words.policies.OPEN).click()
    page.locator('input[type="file"]').set_input_files(pack(tmp_path / "<img src=x onerror=alert(17)>.toml"))
    expect(page.get_by_text("discovered").first).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_placeholder(words.policies.TRY_TOOL_HINT).fill(SHORT[2])
    page.get_by_placeholder(words.policies.TRY_CALL_HINT).fill(json.dumps({"__proto__": TEXT, "ids": ["doc://1"]}))
    page.get_by_placeholder(words.policies.TRY_CALL_HINT).press("Control+Enter")
    expect(page.locator(".cell.l .id.sp-document").first).to_be_visible()
    check(page)
