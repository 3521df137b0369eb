"""The page about formats lists what there is."""

from __future__ import annotations

import re
from pathlib import Path

from modelcontext_core import limits
from modelcontext_core.formats import READERS

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text("utf-8")


def test_every_reader_is_documented_in_its_order() -> None:
    """The table has a row for each reader, in the order in which they are asked."""
    table = PAGE.split("## Readers")[1].split("## Adding")[0]

    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [reader.name for reader in READERS]


def test_every_limit_of_reading_is_documented() -> None:
    """Each limit is named, with its number."""
    section = PAGE.split("## Limits")[1].split("## Readers")[0]
    numbers = {
        "MAX_JSON_DEPTH": f"{limits.MAX_JSON_DEPTH:,}",
        "MAX_RECORD_BYTES": f"{limits.MAX_RECORD_BYTES // limits.MIB} MB",
        "MAX_HELD_SPAN_BYTES": f"{limits.MAX_HELD_SPAN_BYTES // limits.MIB} MB",
        "MAX_UPLOAD_BYTES": f"{limits.MAX_UPLOAD_BYTES // limits.MIB} MB",
        "MAX_ZIP_MEMBERS": f"{limits.MAX_ZIP_MEMBERS:,}",
        "MAX_ZIP_DIRECTORY_BYTES": f"{limits.MAX_ZIP_DIRECTORY_BYTES // limits.MIB} MB",
        "MAX_UNPACKED_BYTES": f"{limits.MAX_UNPACKED_BYTES // limits.MIB} MB",
        "MAX_UNPACK_RATIO": f"{limits.MAX_UNPACK_RATIO} times",
        "MAX_MESSAGES_PER_CONVERSATION": f"{limits.MAX_MESSAGES_PER_CONVERSATION:,}",
        "MAX_META_BYTES": "1 KB",
    }

    for name, number in numbers.items():
        assert any(f"`{name}`" in row and number in row for row in section.splitlines()), name
