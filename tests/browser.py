"""The app in a real Chromium.

    app_server   a running app, one a test module
    open_page    opens a page in Chromium; whatever it may not do fails the test at its end

There is no way to skip: without a browser these tests fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    FloatRect,
    Locator,
    Page,
    Request,
    WebSocket,
    expect,
    sync_playwright,
)

from inspector_app.launch import free_port

__all__ = [
    "AppServer",
    "OpenPage",
    "app_server",
    "chromium",
    "open_page",
    "settle",
    "start_server",
    "still_box",
    "wait_until_ready",
]

SECONDS_TO_START = 60
# Long: a slow machine is no wrong one, and what comes is not waited for.
MILLISECONDS_TO_WAIT = 60_000

# --no-sandbox: the suite also runs as root, where Chromium refuses its sandbox. The proxy does not exist: no request
# leaves for another host, only our own goes past it. (Stopping them one by one in the test would keep Chromium from
# caching anything.) Drawing is left to the processor, without an imitated graphics card.
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--proxy-server=http://127.0.0.1:1",
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)

_OWN_HOSTS = {"127.0.0.1", "localhost"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AppServer:
    """A running app: its address, and what it wrote to its standard output and error."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def output(self) -> str:
        """Everything that the server wrote so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")


@dataclass  # no slots: playwright hangs its wrappers on the object whose methods it calls
class Watch:
    """What a page did that it may not do, one sentence each."""

    violations: list[str] = field(default_factory=list)

    def attach(self, context: BrowserContext) -> None:
        """Watch every page of the context."""
        context.on("request", self._request)
        context.on("page", lambda page: page.on("websocket", self._request))
        context.on("console", self._console)
        context.on("weberror", lambda error: self.violations.append(f"page error: {error.error}"))
        context.on("requestfailed", self._failed)
        context.add_init_script(
            "document.addEventListener('securitypolicyviolation', event =>"
            " console.error('CSP violation: ' + event.violatedDirective + ' ' + event.blockedURI));"
        )

    def _request(self, request: Request | WebSocket) -> None:
        if _is_foreign(request.url):
            self.violations.append(f"request to another host: {request.url}")

    def _failed(self, request: Request) -> None:
        if _is_foreign(request.url) or "csp" in (request.failure or "").lower():
            self.violations.append(f"blocked request: {request.url}")

    def _console(self, message: ConsoleMessage) -> None:
        text = message.text
        if "Content Security Policy" in text or text.startswith("CSP violation"):
            self.violations.append(f"policy: {text}")


def _is_foreign(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname not in _OWN_HOSTS


OpenPage = Callable[..., Page]
"""`open_page(url, width=1280, height=800, color_scheme="light", permissions=(), **context_options) -> Page`."""


def settle(page: Page) -> None:
    """Wait until the script has run and nothing on the page is stale."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=MILLISECONDS_TO_WAIT)
    page.wait_for_function("() => !document.querySelector('[data-stale=\"true\"]')", timeout=MILLISECONDS_TO_WAIT)


def still_box(locator: Locator) -> FloatRect:
    """Return where an element is, once it moves no more: a click at a place must not be made while the page grows."""
    before = None
    while (box := locator.bounding_box()) is None or box != before:
        before = box
        locator.page.wait_for_timeout(150)
    return box


def start_server(*arguments: str, environment: dict[str, str] | None = None) -> AppServer:
    """Start the app as a user does, on a free port, and wait until it answers.

    The caller stops it with `stop_server`. Raises `RuntimeError` with the server's output when it does not start.
    """
    port = free_port("127.0.0.1", 0)
    handle, name = tempfile.mkstemp(prefix="inspector-", suffix=".log")
    with os.fdopen(handle, "wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "inspector_app", "--no-browser", "--port", str(port), *arguments],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=tempfile.gettempdir(),  # the app must not depend on the folder that it is started from
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **(environment or {})},
        )
    server = AppServer(url=f"http://127.0.0.1:{port}", process=process, log=Path(name))
    wait_until_ready(server)
    return server


def wait_until_ready(server: AppServer) -> None:
    """Wait until a server answers. Raises `RuntimeError` when it does not in time, and stops it."""
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline and server.process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    stop_server(server)
    raise RuntimeError(f"the app did not start:\n{server.output()}")


def stop_server(server: AppServer) -> None:
    """Stop a server of `start_server`."""
    server.process.terminate()
    try:
        server.process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        server.process.kill()
        server.process.wait()


@pytest.fixture(scope="module")
def app_server() -> Iterator[AppServer]:
    """The running app. A traceback in its output fails the module: an error that no page shows is still an error."""
    server = start_server()
    yield server
    stop_server(server)
    output = server.output()
    server.log.unlink()
    assert "Traceback" not in output, output


# Not for the whole session: while playwright runs, its event loop is the thread's, and `asyncio.run` elsewhere fails.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Chromium: `CHROMIUM_PATH`, else one on the PATH, else the one that playwright installed, else an error."""
    named = os.environ.get("CHROMIUM_PATH")
    expect.set_options(timeout=MILLISECONDS_TO_WAIT)
    found = named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[OpenPage]:
    """A function that opens a settled page in a fresh profile.

    At the end of the test every watched page must have made no request to another host, broken no rule of the
    Content-Security-Policy and thrown no error.
    """
    contexts: list[tuple[BrowserContext, Watch]] = []

    def open_one(
        url: str,
        *,
        width: int = 1280,
        height: int = 800,
        color_scheme: Literal["light", "dark"] = "light",
        permissions: Sequence[str] = (),
        **options: Any,
    ) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme=color_scheme,
            permissions=list(permissions),
            **options,
        )
        watch = Watch()
        contexts.append((context, watch))
        watch.attach(context)
        page = context.new_page()
        page.set_default_timeout(MILLISECONDS_TO_WAIT)
        page.goto(url)
        settle(page)
        return page

    yield open_one
    for context, _ in contexts:
        context.close()
    assert [] == [violation for _, watch in contexts for violation in watch.violations]
