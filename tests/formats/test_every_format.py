"""Every fixture of every format: it is recognised, it is read, and no damage makes it raise anything unexpected.

A few kinds of damage each; `python -m tests.fuzz readers` does thousands.
"""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats import READERS, detect, iter_traces, read
from tests.formats.traces import check
from tests.fuzz.mutations import documents, places
from tests.fuzz.running import bounded

FIXTURES = Path(__file__).parent / "fixtures"
FILES = sorted(path for path in FIXTURES.rglob("*") if path.is_file())
WHOLE = [path for path in FILES if not path.name.startswith("damaged_")]
LONGEST = 30.0  # seconds of the processor for what takes milliseconds
ODD_VALUES: list[Any] = [None, True, 0, -1.5, "", "text", [], {}, [None], {"type": "text"}, [[[]]], {"role": 7}, 2**70]


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def attempt(data: bytes, name: str) -> None:
    """Read damaged data: a trace that holds together, or `UnreadableTrace` with a reason."""
    refused: UnreadableTrace | None = None
    try:
        # The runner of the tests keeps its own watch over what waits.
        with bounded(LONGEST, waiting=False):
            for trace in iter_traces(data, name):
                check(trace)
    except UnreadableTrace as error:
        refused = error

    assert refused is None or (refused.reason and refused.position)


@pytest.mark.parametrize("path", WHOLE, ids=_name)
def test_fixture_is_recognised_and_read(path: Path) -> None:
    """A fixture has the format that its folder names, and gives messages or, for a lone header, at least notices."""
    data = path.read_bytes()

    assert detect(data, path.name) == path.parent.name
    trace = read(data, path.name)
    assert trace.format == path.parent.name
    check(trace)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_every_reader_has_fixtures_with_a_damaged_one(reader: Any) -> None:
    """No reader goes without fixtures of its own, one of them damaged."""
    names = [path.name for path in (FIXTURES / reader.name).glob("*")] if (FIXTURES / reader.name).is_dir() else []

    assert len(names) >= 2
    assert any(name.startswith("damaged_") for name in names)


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_cut_and_flipped_bytes_never_surprise(path: Path) -> None:
    """A file cut anywhere, or with wrong bytes, is read in part or refused with a reason."""
    data = path.read_bytes()
    dice = random.Random(path.name)

    attempt(data, path.name)
    for _ in range(3):
        attempt(data[: dice.randrange(len(data))], path.name)
    for _ in range(3):
        wrong = bytearray(data)
        for _ in range(dice.randrange(1, 6)):
            wrong[dice.randrange(len(wrong))] = dice.choice(
                (0, 10, 34, 44, 91, 92, 93, 123, 125, 128, 255, dice.randrange(256))
            )
        attempt(bytes(wrong), path.name)


@pytest.mark.parametrize("path", WHOLE, ids=_name)
def test_dropped_keys_and_changed_types_never_surprise(path: Path) -> None:
    """A document that misses any key, or has any type at any place, is read in part or refused with a reason."""
    whole = [document for document in documents(path.read_bytes()) if isinstance(document, dict | list)]
    dice = random.Random(path.name)
    frame = "data: {}\n" if b"\ndata:" in path.read_bytes() else "{}"

    for _ in range(8 if whole else 0):
        changed = json.loads(json.dumps(whole))
        for _ in range(dice.randrange(1, 4)):
            container, key = dice.choice(list(places(changed)))
            if isinstance(container, dict) and dice.random() < 0.4:
                del container[key]
            else:
                container[key] = copy.deepcopy(dice.choice(ODD_VALUES))
        attempt("\n".join(frame.format(json.dumps(document)) for document in changed).encode(), path.name)
