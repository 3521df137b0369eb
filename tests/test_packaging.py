"""The distribution: what is in the wheel, what the locks pin, what works without the extras."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.lock", ".ci/requirements-run.lock")
APP_PARTS = ("streamlit", "pandas", "plotly", "toktok_rs", "psycopg")


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


def test_without_the_extras_the_core_imports_and_encode_works() -> None:
    """Library and command line need orjson only; the app says in one sentence what to install."""
    program = (
        f"import sys; sys.modules |= dict.fromkeys({APP_PARTS!r})\n"
        "import modelcontext_core\n"
        "from inspector_app.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    conversation = '[{"role": "user", "content": "hello"}]'

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            input=conversation,
            text=True,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )

    encoded, app = run("encode", "-"), run("--no-browser")

    assert (0, "") == (encoded.returncode, encoded.stderr)
    assert '"hello"' in encoded.stdout
    assert 2 == app.returncode
    assert "pip install 'modelcontext-inspector[app]'" in app.stderr
    assert 1 == len(app.stderr.splitlines())
