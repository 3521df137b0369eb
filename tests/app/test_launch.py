"""Starting the app: its settings, its address and port, and what the running server lets nobody do."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser
from streamlit import config

from inspector_app import launch
from inspector_app.launch import LaunchError, LaunchOptions
from tests.browser import AppServer, OpenPage, settle, start_server, stop_server

# --- where things are


def test_a_checkout_uses_the_folders_at_its_top() -> None:
    """Settings and samples are the top-level ones; the package holds no copy of its own."""
    top = Path(__file__).parents[2]

    assert top / ".streamlit" / "config.toml" == launch.settings_file()
    assert top / "sample_sessions" == launch.samples_dir()
    assert launch.settings_file().is_file()


def test_an_installed_package_uses_the_folders_inside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the wheel bundles wins over whatever happens to lie beside the package."""
    (tmp_path / "streamlit").mkdir()
    (tmp_path / "sample_sessions").mkdir()
    monkeypatch.setattr(launch, "_BUNDLED", tmp_path)

    assert tmp_path / "streamlit" / "config.toml" == launch.settings_file()
    assert tmp_path / "sample_sessions" == launch.samples_dir()


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
    monkeypatch.delenv(launch.OPEN_VARIABLE, raising=False)
    assert launch.preload_path() is None
    monkeypatch.setenv(launch.OPEN_VARIABLE, "")
    assert launch.preload_path() is None
    monkeypatch.setenv(launch.OPEN_VARIABLE, "/traces/one.json")
    assert Path("/traces/one.json") == launch.preload_path()


@pytest.mark.parametrize(
    ("address", "switch", "allowed"),
    [("127.0.0.1", "", True), ("0.0.0.0", "", False), ("0.0.0.0", "1", True), (None, "", False)],
)
def test_local_files_are_open_to_this_machine_only(
    address: str | None, switch: str, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On an address that others reach, path inputs need the switch; no address means all interfaces."""
    monkeypatch.setenv(launch.LOCAL_FILES_VARIABLE, switch)
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


# --- the running server


@pytest.fixture(scope="module")
def hostile_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """The app, started by somebody whose own Streamlit settings undo every protection."""
    home = tmp_path_factory.mktemp("home")
    (home / ".streamlit").mkdir()
    (home / ".streamlit" / "config.toml").write_text(
        "[server]\naddress = '0.0.0.0'\nallowedHosts = ['*']\nenableCORS = false\n[browser]\ngatherUsageStats = true\n"
    )
    server = start_server(environment={"HOME": str(home), "STREAMLIT_SERVER_ADDRESS": "0.0.0.0"})
    yield server
    stop_server(server)
    server.log.unlink()


def _status(server: AppServer, method: str, path: str, **headers: str) -> int:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    try:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        return connection.getresponse().status
    finally:
        connection.close()


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


def test_only_this_machine_reaches_the_server(hostile_server: AppServer) -> None:
    """The port is not open on another address of the machine, whatever the user's own settings say."""
    port = urlsplit(hostile_server.url).port
    listening = [
        line.split()[1]
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
        if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"
    ]

    assert [f"0100007F:{port:04X}"] == listening


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
