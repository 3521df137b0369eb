"""The distribution: what is in the wheel, what the locks pin, what works without the extras."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
import venv
import zipfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import pytest

from inspector_app.launch import free_port
from tests.browser import AppServer, stop_server, wait_until_ready

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.lock", ".ci/requirements-run.lock")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of this checkout, built as a release would be."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_both_packages_with_their_settings_and_samples(wheel: zipfile.ZipFile) -> None:
    """An installed app has the one configuration and the samples; tests and caches stay out."""
    names = set(wheel.namelist())
    samples = {
        f"inspector_app/_bundled/sample_sessions/{path.relative_to(ROOT / 'sample_sessions').as_posix()}"
        for path in (ROOT / "sample_sessions").rglob("*")
        if path.is_file()
    }

    assert {"modelcontext_core/py.typed", "modelcontext_core/builtin_policies.toml", "inspector_app/main.py"} <= names
    assert [name for name in names if "/.streamlit/" in name] == ["inspector_app/.streamlit/config.toml"]
    assert samples
    assert samples <= names
    assert [] == [name for name in names if name.startswith("tests/") or "__pycache__" in name]


def test_the_base_installation_asks_for_orjson_only(wheel: zipfile.ZipFile) -> None:
    """Whoever uses the library gets no web server."""
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    required = re.findall(r"^Requires-Dist: (.*)$", wheel.read(name).decode(), re.MULTILINE)

    assert ["orjson"] == [re.split(r"[>=<; ]", each)[0] for each in required if "extra ==" not in each]


def _pins(lock: str) -> dict[str, str]:
    text = (ROOT / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_registry_and_hashes_every_file(lock: str) -> None:
    """Pins hold wherever the packages come from, and each has its hashes."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)

    assert not re.search(r"https?://|file:|--index|--find-links", text)
    assert [] == [block for block in blocks if "==" in block and "--hash=sha256:" not in block]


def test_the_app_runs_with_the_very_versions_that_are_tested() -> None:
    """The short lock of `make run` is a part of the long one of `make test`."""
    assert _pins(".ci/requirements-run.lock").items() <= _pins("requirements.lock").items()


# --- installed alone


def environment(folder: Path, wheel: zipfile.ZipFile, *, third_party: Sequence[Path]) -> Path:
    """A fresh environment in which the package itself comes from the wheel alone; its folder of programs.

    Other packages are those of the tests: whole, as a path, or one by one, as links. No network is needed.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    # The package that is installed beside the tests is not in the way: it would be found by a .pth file of its own.
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--python", str(programs / "python"), "--disable-pip-version-check"),
            *("install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel.filename)),
        ],
        check=True,
    )
    (packages,) = folder.glob("lib/python*/site-packages")
    for path in third_party:
        if path.name == "site-packages":
            (packages / "third_party.pth").write_text(f"{path}\n", encoding="utf-8")
        else:
            (packages / path.name).symlink_to(path)
    return programs


def isolated(programs: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of an environment in an empty folder, without paths of ours."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    name, *rest = arguments
    return subprocess.run(
        [str(programs / name), *rest], cwd=folder, env=clean | {"HOME": str(folder)}, text=True, capture_output=True
    )


def test_without_the_extra_every_command_but_the_app_works(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """With orjson alone each command reads a sample of the wheel; the app says in one sentence what to install."""
    orjson = metadata.distribution("orjson")
    parts = {Path(str(orjson.locate_file(file))).parent for file in orjson.files or () if len(file.parts) > 1}
    programs = environment(tmp_path / "env", wheel, third_party=sorted(parts))
    program = """
import json, sys
from inspector_app import cli, launch, places
samples = places.samples_dir()
trace = str(samples / "rag_citations" / "rag_citations.json")
capture = str(samples / "stream_cut_handles" / "stream_cut_handles.sse")
commands = {
    "encode": ["encode", "--json", trace],
    "decode": ["decode", "--trace", trace, "see chunk://1"],
    "formats": ["formats", trace],
    "leaks": ["leaks", trace],
    "stream-check": ["stream-check", capture],
    "policy": ["policy", "discover", trace],
    "sessions": ["sessions", "verify", str(samples / "session_store.jsonl")],
}
assert set(commands) == set(cli.COMMANDS), set(cli.COMMANDS)
if __name__ == "__main__":
    codes = {name: cli.main(arguments) for name, arguments in commands.items()}
    print(json.dumps([codes, launch.missing_parts(), cli.__file__]), file=sys.stderr)
"""
    (tmp_path / "program.py").write_text(program)

    ran = isolated(programs, tmp_path, "python", "program.py")
    app = isolated(programs, tmp_path, "modelcontext-inspector", "--no-browser")

    codes, missing, place = json.loads(ran.stderr.splitlines()[-1])
    assert {0} == set(codes.values())
    assert ["streamlit", "pandas", "plotly"] == missing
    assert Path(place).is_relative_to(tmp_path)
    assert 2 == app.returncode
    assert "pip install 'modelcontext-inspector[app]'" in app.stderr
    assert 1 == len(app.stderr.splitlines())


def test_the_wheel_alone_opens_the_app_with_samples_and_settings(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """Pages are drawn with the samples of the wheel, and the server starts with its settings."""
    programs = environment(tmp_path / "env", wheel, third_party=[Path(pytest.__file__).parents[1]])
    program = """
import json
from pathlib import Path
from streamlit.testing.v1 import AppTest
from inspector_app import launch, places, samples
main = Path(launch.__file__).with_name("main.py")
pages = ("playground", "sessions")
problems = []
for page in pages:
    app = AppTest.from_file(str(main), default_timeout=60)
    app.query_params["sample"] = "1" if page == "sessions" else "rag_citations"
    app.switch_page(f"app_pages/{page}.py")
    app.run()
    problems += [each.message for each in app.exception] + [each.value for each in app.error]
    problems += [] if app.button and len(list(app.main)) > 3 else [f"{page}: nothing is drawn"]
print(json.dumps([str(main), len(samples.samples()), str(places.settings_file()), problems]))
"""
    (tmp_path / "program.py").write_text(program)

    ran = isolated(programs, tmp_path, "python", "program.py")

    main, number, settings, problems = json.loads(ran.stdout)
    assert [] == problems
    assert len(list((ROOT / "sample_sessions").glob("*/about.toml"))) == number
    assert Path(main).is_relative_to(tmp_path)
    assert Path(settings).is_relative_to(tmp_path)
    port = free_port("127.0.0.1", 0)
    process = subprocess.Popen(
        [str(programs / "modelcontext-inspector"), "--no-browser", "--port", str(port)],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server = AppServer(url=f"http://127.0.0.1:{port}", process=process, log=tmp_path / "log")
    try:
        wait_until_ready(server)
        with urllib.request.urlopen(server.url) as page:
            assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    finally:
        stop_server(server)
