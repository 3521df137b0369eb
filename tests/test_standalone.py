"""The project stands alone: it names no place of the machine it was written on, and holds only what belongs to it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

TOP_LEVEL = {
    "CHANGELOG.md", "LICENSE", "Makefile", "README.md", "docs", "inspector_app", "modelcontext_core", "pyproject.toml",
    "requirements.lock", "sample_sessions", "tests",
}  # fmt: skip
LOCKS = [ROOT / "requirements.lock", ROOT / ".ci" / "requirements-run.lock"]

# What building and testing leave behind, for checkouts without Git.
LEFT_BEHIND = {"build", "dist", "htmlcov", "test-results", "__pycache__"}

# `[w]` is a `w`: so these patterns do not match themselves.
PLACES = [
    rb"(?<![\w./-])/[w]ork/(?:main|shared|notes|venv|\.library)\b",
    rb"\.\./[s]hared\b",
    rb"/[r]oot/",
    rb"/[t]mp/bash_jobs",
]
REGISTRIES = [rb"https?://", rb"file:", rb"--(?:extra-)?index-url", rb"--find-links", rb"pypi\.", rb"pythonhosted\."]


def project_files() -> list[Path]:
    """Every file that belongs to the project: tracked or about to be, or all of them where there is no Git."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
        files = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        files = [
            path
            for path in ROOT.rglob("*")
            if not LEFT_BEHIND.intersection(path.relative_to(ROOT).parts)
            and not path.relative_to(ROOT).parts[0].startswith(".")
        ]
    return [path for path in files if path.is_file()]


def mentions(text: bytes, patterns: list[bytes]) -> list[str]:
    """What of `text` matches one of the patterns."""
    return [match[0].decode(errors="replace") for pattern in patterns for match in re.finditer(pattern, text)]


def test_no_file_mentions_a_place_of_the_machine_it_was_written_on() -> None:
    """Whoever has the project has all of it: no path leads outside."""
    found = {path.relative_to(ROOT).as_posix(): mentions(path.read_bytes(), PLACES) for path in project_files()}

    assert {} == {name: each for name, each in found.items() if each}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_no_lock_names_a_registry(lock: Path) -> None:
    """Pins hold wherever packages come from."""
    assert [] == mentions(lock.read_bytes(), REGISTRIES)


def test_only_the_agreed_names_stand_at_the_top() -> None:
    """Something new at the top level is a decision, not an accident."""
    found = {path.relative_to(ROOT).parts[0] for path in project_files()}

    assert set() == {name for name in found if not name.startswith(".")} - TOP_LEVEL
    assert {"pyproject.toml", "modelcontext_core", "tests", "requirements.lock"} <= found


@pytest.mark.parametrize(
    ("patterns", "text"),
    [
        (PLACES, b"see /" + b"work/main/x"),
        (PLACES, b"open('../" + b"shared/spec')"),
        (PLACES, b"cd /" + b"root/.cache"),
        (REGISTRIES, b"--index-url https://example.com/simple"),
        (REGISTRIES, b"a @ file:///b"),
    ],
)
def test_a_planted_mention_is_found(patterns: list[bytes], text: bytes) -> None:
    """The patterns find what they are for."""
    assert mentions(text, patterns)


def test_other_paths_are_no_mention() -> None:
    """Words that only look like such a place are left alone."""
    assert [] == mentions(b"framework/main https://example.com/work/maintenance ../sharedlib a/root", PLACES)
