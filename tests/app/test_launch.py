"""Starting the app: its settings, its address and port, and what the running server lets nobody do."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Request, expect
from streamlit import config, runtime
from streamlit.testing.v1 import AppTest

from inspector_app import launch, places, security, started, words
from inspector_app.launch import LaunchError, LaunchOptions
from tests.browser import AppServer, OpenPage, settle, start_server, stop_server, wait_until_ready

# --- where things are


def test_a_checkout_uses_the_folders_at_its_top() -> None:
    """Settings and samples are the top-level ones; the package holds no copy of its own."""
    top = Path(__file__).parents[2]

    assert top / ".streamlit" / "config.toml" == places.settings_file()
    assert top / "sample_sessions" == places.samples_dir()
    assert places.settings_file().is_file()


def test_an_installed_package_uses_the_folders_inside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the wheel bundles wins over whatever happens to lie beside the package."""
    for folder in (".streamlit", "package/.streamlit", "package/_bundled/sample_sessions", "sample_sessions"):
        (tmp_path / folder).mkdir(parents=True)
    for settings in (tmp_path, tmp_path / "package"):
        (settings / ".streamlit" / "config.toml").touch()
    monkeypatch.setattr(places, "_PACKAGE", tmp_path / "package")
    monkeypatch.setattr(places, "_BUNDLED", tmp_path / "package" / "_bundled")

    assert tmp_path / "package" / ".streamlit" / "config.toml" == places.settings_file()
    assert tmp_path / "package" / "_bundled" / "sample_sessions" == places.samples_dir()


def test_what_stands_beside_the_entry_is_what_the_settings_say() -> None:
    """Streamlit acts on a few before the entry runs: where it listens, whom it asks and tells."""
    beside = tomllib.loads(Path(launch.__file__).with_name(".streamlit").joinpath("config.toml").read_text())
    first = {f"{section}.{name}": value for section, values in beside.items() for name, value in values.items()}

    assert {"server.address", "server.headless", "browser.gatherUsageStats"} <= first.keys()
    assert first.items() <= places.file_settings().items()


# --- settings


def test_every_setting_is_one_that_streamlit_knows() -> None:
    """A misspelt setting would protect nothing."""
    known = config.get_config_options()

    assert [] == [name for name in launch.settings(address="127.0.0.1", port=1) if name not in known]


def test_the_settings_close_what_streamlit_leaves_open() -> None:
    """No telemetry, no links with error texts, no agent interface, loopback names only, and the given address."""
    settings = launch.settings(address="127.0.0.1", port=8765)

    assert settings["browser.gatherUsageStats"] is False
    assert settings["client.showErrorLinks"] is False
    assert settings["server.enableAgentApi"] is False
    assert settings["server.enableXsrfProtection"] is True
    assert ["127.0.0.1", "localhost", "::1"] == settings["server.allowedHosts"]
    assert ("127.0.0.1", 8765) == (settings["server.address"], settings["server.port"])


def test_another_address_is_reached_under_any_name() -> None:
    """A server that was opened to a network cannot know its names."""
    assert [] == launch.settings(address="192.168.1.5", port=1)["server.allowedHosts"]


# --- what the pages ask


def test_the_path_of_the_command_line_reaches_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing named means None, not an empty path (which would be the current folder)."""
    monkeypatch.delenv(started.OPEN_VARIABLE, raising=False)
    assert launch.preload_path() is None
    monkeypatch.setenv(started.OPEN_VARIABLE, "")
    assert launch.preload_path() is None
    monkeypatch.setenv(started.OPEN_VARIABLE, "/traces/one.json")
    assert Path("/traces/one.json") == launch.preload_path()


@pytest.mark.parametrize(
    ("address", "switch", "allowed"),
    [("127.0.0.1", "", True), ("0.0.0.0", "", False), ("0.0.0.0", "1", True), (None, "", False)],
)
def test_local_files_are_open_to_this_machine_only(
    address: str | None, switch: str, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On an address that others reach, path inputs need the switch; no address means all interfaces."""
    monkeypatch.setenv(started.LOCAL_FILES_VARIABLE, switch)
    monkeypatch.setattr(config, "get_option", {"server.address": address}.__getitem__)

    assert allowed is launch.local_files_allowed()


# --- starting


def test_a_taken_port_gives_the_next_one() -> None:
    """The search goes upwards from the wanted port."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        wanted = taken.getsockname()[1]

        assert wanted < launch.free_port("127.0.0.1", wanted) < wanted + launch.PORTS_TRIED


def test_an_address_of_another_machine_is_refused_in_one_sentence() -> None:
    """What cannot be bound is said, with the address."""
    with pytest.raises(LaunchError, match=r"203\.0\.113\.7"):
        launch.free_port("203.0.113.7", 8501)
    for wrong in ("\udcff", "a" * 300, "a..b"):
        with pytest.raises(LaunchError, match="is not an address of this machine"):
            launch.free_port(wrong, 8501)


def test_a_missing_extra_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Streamlit the app does not start, and the message is enough to go on."""
    monkeypatch.setitem(sys.modules, "streamlit", None)

    with pytest.raises(LaunchError, match=r"needs streamlit: .*pip install 'modelcontext-inspector\[app\]'"):
        launch.serve(LaunchOptions())


def test_another_address_is_warned_about(capsys: pytest.CaptureFixture[str]) -> None:
    """The warning says who can reach the app and whether local files are open."""
    launch._announce(LaunchOptions(address="0.0.0.0"), 8501, "http://127.0.0.1:8501")

    warning = capsys.readouterr().err
    assert "can be reached from other machines" in warning
    assert "closed" in warning


@pytest.mark.parametrize(
    ("address", "arguments", "said", "local_files"),
    [
        ("127.0.0.1", [], "", True),
        ("0.0.0.0", [], "stores are closed", False),
        ("0.0.0.0", ["--allow-local-files"], "stores are open", True),
    ],
)
def test_a_start_by_hand_is_held_to_the_same_rules(
    address: str,
    arguments: list[str],
    said: str,
    local_files: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The entry warns of other machines and takes the switch; what another start left in the environment is dropped."""
    monkeypatch.setenv(started.LOCAL_FILES_VARIABLE, "1")
    monkeypatch.setenv(started.OPEN_VARIABLE, "/traces/one.json")
    monkeypatch.setattr(config, "get_option", {"server.address": address}.__getitem__)
    monkeypatch.setattr(config, "set_option", lambda *_: None)
    monkeypatch.setattr(sys, "argv", [str(Path(launch.__file__).with_name("entry.py")), *arguments])
    monkeypatch.setattr(started, "_by_launch", False)

    started.by_hand(places.file_settings())

    assert said in capsys.readouterr().err
    assert local_files is launch.local_files_allowed()
    assert launch.preload_path() is None


def test_another_server_gets_the_settings_but_not_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an ASGI server listens is its own affair, and not known: it is not taken for this machine alone."""
    given: dict[str, object] = {}
    monkeypatch.setattr(config, "set_option", given.__setitem__)
    monkeypatch.setattr(config, "get_option", given.__getitem__)
    monkeypatch.setattr(sys, "argv", ["uvicorn", "inspector_app.entry:app"])
    monkeypatch.setattr(started, "_by_launch", False)

    started.by_hand(places.file_settings())

    assert places.file_settings() | {"server.address": None} == given
    assert not launch.local_files_allowed()


def test_the_pages_are_not_drawn_without_the_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that runs `main.py` alone has neither headers nor checks, and shows how to start instead."""
    assert launch.is_guarded()
    with monkeypatch.context() as alone:
        alone.setattr(runtime, "get_instance", lambda: object.__new__(runtime.Runtime))
        alone.setattr(runtime, "exists", lambda: True)
        alone.setattr(security, "_active", False)
        assert not launch.is_guarded()

    app = AppTest.from_file(str(Path(launch.__file__).with_name("main.py")))
    monkeypatch.setattr(launch, "is_guarded", lambda: False)
    app.run()
    assert [words.common.NOT_GUARDED] == [error.value for error in app.error]
    assert not app.button


# --- the running server


@pytest.fixture(scope="module")
def hostile_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """The app, started by somebody whose own Streamlit settings undo every protection."""
    home = tmp_path_factory.mktemp("home")
    (home / ".streamlit").mkdir()
    (home / ".streamlit" / "config.toml").write_text(
        "[server]\naddress = '0.0.0.0'\nallowedHosts = ['*']\nenableCORS = false\n[browser]\ngatherUsageStats = true\n"
    )
    folders = {"HOME": str(home), "TMPDIR": str(tmp_path_factory.mktemp("temporary"))}
    server = start_server(environment=folders | {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"})
    yield server
    stop_server(server)
    server.log.unlink()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server answered; the names of headers in small letters."""

    status: int
    headers: dict[str, str]


def _answer(
    server: AppServer,
    method: str,
    path: str,
    headers: Mapping[str, str] | None = None,
    body: Iterable[bytes] | None = None,
) -> Answer:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    try:
        # A server that refuses a body answers before it has read all of it.
        with suppress(ConnectionError):
            connection.request(method, path, body=body, headers=dict(headers or {}), encode_chunked=body is not None)
        response = connection.getresponse()
        return Answer(status=response.status, headers={name.lower(): value for name, value in response.getheaders()})
    finally:
        connection.close()


def _status(server: AppServer, method: str, path: str, **headers: str) -> int:
    return _answer(server, method, path, {name.replace("_", "-"): value for name, value in headers.items()}).status


HEADERS = {
    "content-security-policy", "x-content-type-options", "referrer-policy", "x-frame-options",
    "cross-origin-opener-policy", "cross-origin-resource-policy",
}  # fmt: skip
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


def test_only_this_machine_reaches_the_server(hostile_server: AppServer) -> None:
    """The port is not open on another address of the machine, whatever the user's own settings say."""
    assert ["0100007F"] == _listening(urlsplit(hostile_server.url).port or 0)


def _listening(port: int) -> list[str]:
    """The addresses, as the system writes them, on which somebody listens at a port."""
    lines = [
        line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    return [line[1].partition(":")[0] for line in lines if line[1].endswith(f":{port:04X}") and line[3] == "0A"]


def test_streamlit_run_of_the_entry_is_as_safe(tmp_path: Path) -> None:
    """Called by hand, from any folder, it listens on this machine only and sends the headers."""
    port = launch.free_port("127.0.0.1", 0)
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    entry = Path(launch.__file__).with_name("entry.py")
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(entry), "--server.port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tmp_path,
        env=environment,
    )
    server = AppServer(url=f"http://127.0.0.1:{port}", process=process, log=tmp_path / "log")
    try:
        wait_until_ready(server)
        assert ["0100007F"] == _listening(port)
        assert 403 == _status(server, "GET", "/", Host="evil.test")
        assert HEADERS <= _answer(server, "GET", "/").headers.keys()
    finally:
        stop_server(server)
        process.communicate()


@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/_stcore/host-config", "/static/index.html"])
def test_pages_are_refused_under_a_foreign_name(hostile_server: AppServer, path: str) -> None:
    """DNS rebinding gets no page; the own name does."""
    assert 403 == _status(hostile_server, "GET", path, Host="evil.test")
    assert 403 != _status(hostile_server, "GET", path)


def test_web_sockets_are_refused_to_foreign_pages(hostile_server: AppServer) -> None:
    """Neither another host nor another port of this machine opens a session; the own page does."""
    own = urlsplit(hostile_server.url).netloc

    assert 403 == _status(hostile_server, "GET", "/_stcore/stream", Origin="http://evil.test", **UPGRADE)
    assert 403 == _status(hostile_server, "GET", "/_stcore/stream", Origin="http://127.0.0.1:3000", **UPGRADE)
    assert 403 == _status(hostile_server, "GET", "/_stcore/stream", Host="evil.test", **UPGRADE)
    assert 101 == _status(hostile_server, "GET", "/_stcore/stream", Origin=f"http://{own}", **UPGRADE)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("HEAD", "/"),
        ("GET", "/leaks"),
        ("GET", "/nothing/here.js"),
        ("GET", "/static/nothing.js"),
        ("GET", "/../../etc/passwd"),
        ("GET", "/media/nothing.png"),
        ("GET", "/component/nothing/x.js"),
        ("GET", "/_stcore/bidi-components/nothing/x.js"),
        ("GET", "/_stcore/health"),
        ("GET", "/_stcore/script-health-check"),
        ("GET", "/_stcore/metrics"),
        ("GET", "/_stcore/host-config"),
        ("OPTIONS", "/_stcore/upload_file/a/b"),
        ("PUT", "/_stcore/upload_file/a/b"),
        ("DELETE", "/_stcore/upload_file/a/b"),
        ("POST", "/"),
    ],
)
def test_every_answer_carries_the_headers(hostile_server: AppServer, method: str, path: str) -> None:
    """Pages, files, what is not there and what is refused: the browser is told the same."""
    assert HEADERS <= _answer(hostile_server, method, path).headers.keys()
    assert HEADERS <= _answer(hostile_server, method, path, {"Host": "evil.test"}).headers.keys()


def test_files_of_the_app_carry_the_headers(hostile_server: AppServer) -> None:
    """The scripts that the start page names, and a refused handshake."""
    page = urllib.request.urlopen(hostile_server.url).read().decode()
    scripts = re.findall(r'(?:src|href)="\./(static/[^"]+\.(?:js|css))"', page)

    assert scripts
    assert HEADERS <= _answer(hostile_server, "GET", f"/{scripts[0]}").headers.keys()
    refused = _answer(hostile_server, "GET", "/_stcore/stream", UPGRADE | {"Origin": "http://evil.test"})
    assert (403, True) == (refused.status, HEADERS <= refused.headers.keys())


def test_uploads_are_refused_to_foreign_pages(hostile_server: AppServer) -> None:
    """A form of another page cannot put a file into a session."""
    assert 403 == _status(hostile_server, "PUT", "/_stcore/upload_file/a/b", Origin="http://evil.test")


def test_a_taken_port_is_said_and_the_next_one_used(hostile_server: AppServer) -> None:
    """A second start finds its own port."""
    wanted = str(urlsplit(hostile_server.url).port)
    process = subprocess.Popen(
        [sys.executable, "-m", "inspector_app", "--no-browser", "--port", wanted],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
    finally:
        process.terminate()
        process.communicate(timeout=20)

    assert f"Port {wanted} is taken" in lines[0]
    assert "runs at http://127.0.0.1:" in lines[1]


def test_visitors_see_only_their_own_and_leave_nothing(hostile_server: AppServer, open_page: OpenPage) -> None:
    """Two people at one server: neither finds what the other pasted or uploaded, by any address but the one with its
    key; an upload is bounded and needs the token of its page; after the visits no file is left."""
    environment = Path(f"/proc/{hostile_server.process.pid}/environ").read_bytes().split(b"\0")
    home, temporary = (
        Path(next(each for each in environment if each.startswith(name)).split(b"=", 1)[1].decode())
        for name in (b"HOME=", b"TMPDIR=")
    )
    first, second = open_page(hostile_server.url), open_page(hostile_server.url)
    first.get_by_placeholder(words.opening.PASTE_HINT).fill('[{"role": "user", "content": "only the first knows"}]')
    first.get_by_role("button", name=words.opening.READ).click()
    expect(first.get_by_text("only the first knows").first).to_be_visible()

    large = json.dumps([{"role": "user", "content": "only the second knows " + "x " * 1_500_000}]).encode()
    uploads: list[Request] = []
    second.on("request", lambda request: uploads.append(request) if request.method == "PUT" else None)
    second.locator('input[type="file"]').set_input_files(
        {"name": "../../tmp/<img src=x onerror=alert(1)>.json", "mimeType": "text/html", "buffer": large}
    )
    expect(second.get_by_text("only the second knows").first).to_be_visible()
    settle(second)
    expect(second.get_by_text("only the first knows")).to_have_count(0)

    sent = uploads[0].all_headers()
    given = {name: sent[name] for name in ("cookie", "x-xsrftoken", "content-type")}
    place = urlsplit(uploads[0].url).path
    boundary = given["content-type"].partition("boundary=")[2]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n'.encode()
    too_large = chain([head], repeat(b"x" * 1_000_000, 107))
    answers = [
        _answer(hostile_server, "PUT", place, given | {"content-length": str(101 * 1024 * 1024)}),
        _answer(hostile_server, "PUT", place, given | {"transfer-encoding": "chunked"}, too_large),
        _answer(hostile_server, "PUT", place, given | {"origin": "http://evil.test"}),
        _answer(hostile_server, "PUT", place, given | {"x-xsrftoken": "0"}),
    ]
    assert [413, 413, 403, 403] == [answer.status for answer in answers]

    key = parse_qs(urlsplit(first.url).query)["key"][0]
    assert key != parse_qs(urlsplit(second.url).query)["key"][0]
    for guess in ("0" * 32, f"{int(key, 16) ^ 1:032x}"):
        second.goto(f"{hostile_server.url}/?key={guess}")
        settle(second)
        expect(second.get_by_placeholder(words.opening.PASTE_HINT)).to_be_visible()
        expect(second.get_by_text("only the first knows")).to_have_count(0)
    first.reload()
    expect(first.get_by_text("only the first knows").first).to_be_visible()

    assert [] == list(temporary.iterdir())
    assert [home / ".streamlit", home / ".streamlit" / "config.toml"] == sorted(home.rglob("*"))


def test_the_page_opens_and_asks_no_other_host(app_server: AppServer, open_page: OpenPage) -> None:
    """The first page draws, under the policy, without a request to another host and without an error."""
    page = open_page(app_server.url)

    assert page.locator('[data-testid="stMain"]').inner_text().strip()


def test_the_browser_refuses_what_the_policy_forbids(app_server: AppServer, chromium: Browser) -> None:
    """Should trace text ever become markup: no script in it runs, nothing is fetched, no other page frames ours."""
    context = chromium.new_context()
    page = context.new_page()
    asked: list[str] = []
    stopped: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: stopped.append(request.url) if request.failure == "csp" else None)
    page.goto(app_server.url)
    settle(page)
    outcome = page.evaluate(
        """async () => {
            const tries = {};
            window.ran = false;
            const script = document.createElement('script');
            script.textContent = 'window.ran = true';
            document.body.append(script);
            tries.inline = window.ran;
            const image = document.createElement('img');
            image.setAttribute('onerror', 'window.ran = true');
            image.src = 'http://evil.test/x.png';
            document.body.append(image);
            // In a call of its own: a debugger's evaluation is exempt from the policy.
            const evaluate = () => { try { return Function('return true')() } catch { return false } };
            tries.eval = await new Promise(done => setTimeout(() => done(evaluate()), 0));
            try { await fetch('http://evil.test/'); tries.fetch = true } catch { tries.fetch = false }
            await new Promise(done => setTimeout(done, 200));
            tries.handler = window.ran;
            return tries;
        }"""
    )
    framing = context.new_page()
    framing.set_content(f'<iframe src="{app_server.url}"></iframe>')
    framed = framing.frames[1].url
    context.close()

    assert {"inline": False, "eval": False, "fetch": False, "handler": False} == outcome
    assert [] == [url for url in asked if "evil.test" in url and url not in stopped]
    assert framed.startswith("chrome-error:")
