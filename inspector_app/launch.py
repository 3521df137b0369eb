"""Starts the app: passes every safe setting as a flag, opens the browser, and answers what pages ask about the start.

It imports Streamlit only when the server starts, so the command line works without it.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from inspector_app import places, started
from inspector_app.security import is_active, is_loopback

__all__ = [
    "DEFAULT_ADDRESS",
    "DEFAULT_PORT",
    "LaunchError",
    "LaunchOptions",
    "free_port",
    "has_display",
    "is_guarded",
    "local_files_allowed",
    "missing_parts",
    "preload_path",
    "serve",
    "settings",
]

DEFAULT_ADDRESS = "127.0.0.1"
DEFAULT_PORT = 8501
PORTS_TRIED = 100
SECONDS_UNTIL_READY = 30

_MAIN = Path(__file__).resolve().with_name("main.py")
_APP_PARTS = ("streamlit", "pandas", "plotly")


class LaunchError(Exception):
    """The app cannot be started; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """What the command line decides about the server.

    `path` is a trace file or a folder that the app opens with, `port` the first port to try (0: any free one),
    `browser` whether to open one, `allow_local_files` whether path and store inputs stay open on an address that
    others can reach.
    """

    path: Path | None = None
    address: str = DEFAULT_ADDRESS
    port: int = DEFAULT_PORT
    browser: bool = True
    allow_local_files: bool = False


# --- what the pages ask


def preload_path() -> Path | None:
    """The trace file or folder named on the command line, or None."""
    named = os.environ.get(started.OPEN_VARIABLE, "")
    return Path(named) if named else None


def local_files_allowed() -> bool:
    """Whether pages may offer inputs that name files or stores of this machine.

    On a loopback address they may: whoever reaches the server can read the files anyway. On any other address
    only with `--allow-local-files`. The address is the one that the server was really given, so that a start by
    hand (`streamlit run`) is held to the same rule.
    """
    return os.environ.get(started.LOCAL_FILES_VARIABLE) == "1" or is_loopback(started.address())


def is_guarded() -> bool:
    """Whether the pages may be drawn: not in a server that runs their script without the entry, whose headers and
    checks of host and origin then are missing."""
    from streamlit import runtime

    # By its very type: what stands for a runtime in a test says that it is one.
    return is_active() or not (runtime.exists() and type(runtime.get_instance()) is runtime.Runtime)


# --- the settings of the server


def settings(*, address: str, port: int) -> dict[str, object]:
    """Every setting of `config.toml` by its dotted name, with the address and port of this start.

    Passed as flags they win over the user's own Streamlit settings and environment variables.
    """
    found = places.file_settings() | {
        "server.address": address,
        "server.port": port,
        "server.baseUrlPath": "",
        "browser.serverAddress": "localhost" if is_loopback(address) else address,
        "browser.serverPort": port,
    }
    if not is_loopback(address):
        found["server.allowedHosts"] = []
    return found


# --- starting


def missing_parts() -> list[str]:
    """The packages of the extra `app` that are not installed."""
    return [name for name in _APP_PARTS if importlib.util.find_spec(name) is None]


def free_port(address: str, wanted: int) -> int:
    """The first free port from `wanted` on, or one that the system chooses when `wanted` is 0.

    Raises `LaunchError` when none of the next ones is free or the address is not one of this machine.
    """
    last = wanted if wanted == 0 else min(wanted + PORTS_TRIED, 65536) - 1
    for port in range(wanted, last + 1):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family) as probe:
            if os.name != "nt":
                # As the server does; on Windows the option would hide that a port is taken.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address.strip("[]"), port))
            except (socket.gaierror, TypeError, UnicodeError) as error:  # the last two: it is no name of a host
                raise LaunchError(f"{address} is not an address of this machine.") from error
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise LaunchError(f"No port from {wanted} to {last} is free on {address}.")


def has_display() -> bool:
    """Whether a browser opened here could be seen."""
    if sys.platform in {"win32", "darwin"}:
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def serve(options: LaunchOptions) -> None:
    """Start the server and stay until it is stopped (Ctrl+C).

    Raises `LaunchError` when a package is missing or no port is free.
    """
    missing = missing_parts()
    if missing:
        raise LaunchError(
            f"The app needs {', '.join(missing)}: install them with  pip install 'modelcontext-inspector[app]'"
        )
    port = free_port(options.address, options.port)
    url = _url(options.address, port)
    _announce(options, port, url)

    started.by_launch(options.path, allow_local_files=options.allow_local_files)
    if options.browser and has_display():
        threading.Thread(target=_open_when_ready, args=(url,), daemon=True).start()

    from inspector_app import entry

    # The server looks beside its "script" for more settings and puts that folder on the path.
    sys.argv = [str(_MAIN)]
    entry.app.run(config=settings(address=options.address, port=port))


def _url(address: str, port: int) -> str:
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(address, address)  # noqa: S104 - only compared
    return f"http://[{name}]:{port}" if ":" in name and not name.startswith("[") else f"http://{name}:{port}"


def _announce(options: LaunchOptions, port: int, url: str) -> None:
    if options.port not in {0, port}:
        print(f"Port {options.port} is taken, so the app uses {port}.", file=sys.stderr)
    started.warn_of_others(options.address, allow_local_files=options.allow_local_files)
    print(f"The model-context inspector runs at {url} (Ctrl+C stops it).", flush=True)


def _open_when_ready(url: str) -> None:
    deadline = time.monotonic() + SECONDS_UNTIL_READY
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):  # noqa: S310 - our own http address
                webbrowser.open(url)
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
