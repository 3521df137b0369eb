"""The sample sessions open, show what their cards say, and hold nothing real."""

from __future__ import annotations

import gzip
import re

import pytest

from inspector_app import data, places
from inspector_app.samples import ABOUT_FILE, Sample, find, samples
from modelcontext_core import formats

ALL = pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)


def test_every_folder_with_a_description_is_a_sample() -> None:
    """The cards are the folders, in their order."""
    folders = {path.parent.name for path in places.samples_dir().glob(f"*/{ABOUT_FILE}")}

    assert {sample.name for sample in samples()} == folders
    assert [sample.order for sample in samples()] == sorted(sample.order for sample in samples())
    assert len({sample.order for sample in samples()}) == len(samples())
    assert find("no_such_sample") is None


@ALL
def test_a_sample_opens_and_holds_what_its_card_says(sample: Sample) -> None:
    """The format and the number on the card are those of the trace."""
    held = data.open_path(sample.file)
    said = re.search(r"([0-9]+) (?:messages?|of [0-9]+)", sample.contents)

    assert said is None or int(said[1]) == len(held.conversation.messages)
    assert formats.format_names()[held.trace.format]
    data.shelf().forget(held.key)


@ALL
def test_a_sample_shows_handles_and_proves_them(sample: Sample) -> None:
    """Every sample has something to replace, and its round trip holds."""
    held = data.open_path(sample.file)
    analysis, proof = data.analyse(held, data.Options()), data.prove(held, data.Options())
    data.shelf().forget(held.key)

    assert analysis.spans
    assert proof.round_trip.ok
    assert proof.changed_twice == 0
    assert proof.after.tokens < proof.before.tokens


@ALL
def test_a_sample_names_made_up_hosts_only(sample: Sample) -> None:
    """Every address in a sample is of example.com."""
    content = sample.file.read_bytes()
    text = gzip.decompress(content) if sample.file.suffix == ".gz" else content
    hosts = re.findall(rb"https?://([A-Za-z0-9.-]+)", text)

    assert [host for host in hosts if not re.fullmatch(rb"(?:[a-z0-9-]+\.)*example\.(?:com|org|net)", host)] == []


def test_the_readme_describes_every_sample() -> None:
    """A sample that nobody explains is not finished."""
    text = (places.samples_dir() / "README.md").read_text(encoding="utf-8")

    assert [sample.name for sample in samples() if f"`{sample.name}`" not in text] == []
