"""The sample sessions: a folder each, with the trace and a few words about it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from inspector_app import places

__all__ = ["ABOUT_FILE", "Sample", "find", "sample_pack", "samples"]

ABOUT_FILE: Final = "about.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sample: the name of its folder, what its card says, and its file. `order` is its place among the cards."""

    name: str
    title: str
    shows: str
    contents: str
    file: Path
    order: int


@lru_cache(maxsize=1)
def samples() -> tuple[Sample, ...]:
    """Return the samples in the order of their cards; folders without `about.toml` are no samples."""
    found = [_read(about) for about in places.samples_dir().glob(f"*/{ABOUT_FILE}")]
    return tuple(sorted(found, key=lambda sample: (sample.order, sample.name)))


def find(name: str) -> Sample | None:
    """Return the sample of this name, or None."""
    return next((sample for sample in samples() if sample.name == name), None)


def sample_pack() -> Path:
    """Return the pack of policies that comes with the samples."""
    return places.samples_dir() / "packs" / "northwind.toml"


def _read(about: Path) -> Sample:
    values = tomllib.loads(about.read_text(encoding="utf-8"))
    return Sample(
        name=about.parent.name,
        title=values["title"],
        shows=values["shows"],
        contents=values["contents"],
        file=about.parent / values["file"],
        order=values["order"],
    )
