"""docs/from_go.md names every function, type, method and constant of the Go package, and what it is called here."""

from __future__ import annotations

import re

import modelcontext_core
from modelcontext_core import Registry, ToolCall
from tests.documents import ROOT, table_rows

PAGE = (ROOT / "docs" / "from_go.md").read_text(encoding="utf-8")

# The index of the Go package, v0.9.0: types with their constructors and methods.
GO_INDEX = {
    "": "HasToolPolicy SummarizeLeaks ArgumentResolutionUnchanged ArgumentResolutionResolved "
    "ArgumentResolutionPartiallyResolved ArgumentResolutionUnresolved ChunkReference HandleStreamDecoder "
    "NewHandleStreamDecoder HandleTable NewHandleTable IdentifierLeak Registry NewRegistry StreamDecoder",
    "HandleStreamDecoder": "Feed Flush",
    "HandleTable": "DecodeKnownText Empty EncodeKnownText Handle Len Register Resolve",
    "Registry": "ChunkHandle CompactKnownText DecodeOutputText DecodeResponse DecodeToolCalls EncodeKnownIssues "
    "EncodeMessages EncodeTools ImageSourcesNote LeakedIdentifiers ModelToolResult ModelToolResultForTool "
    "OrphanResourceHandles ProtocolPrompt RegisterChunk RegisterContextChunk RegisterDocument RegisterIssue "
    "RegisterKnowledgeBase RegisterSearchResults RegisterWeb StreamDecoder ToolImageSourcesNote",
    "StreamDecoder": "Feed Flush",
}
GO_NAMES = [f"{owner}.{name}".lstrip(".") for owner, names in GO_INDEX.items() for name in names.split()]

# What is no name of this package, because Python has a word for it.
PYTHON_WORDS = {"HandleTable.Empty": "not table", "HandleTable.Len": "len(table)"}


def named_here() -> dict[str, str]:
    """What the tables of the page say: the Go name, and the first code of the other column."""
    rows = [(row[0].strip("`"), re.search(r"`([^`]+)`", row[1])) for row in table_rows(PAGE)]
    return {go: here[1] for go, here in rows if here is not None}


def test_every_name_of_the_index_has_its_row() -> None:
    """Nothing is left out, nothing is made up, nothing stands twice."""
    assert sorted(GO_NAMES) == sorted(row[0].strip("`") for row in table_rows(PAGE))


def test_every_name_given_for_it_exists() -> None:
    """The other column holds public names of this package (with what is given to them, perhaps)."""
    for go, here in named_here().items():
        if go.startswith("ArgumentResolution"):
            continue
        if go in PYTHON_WORDS:
            assert here == PYTHON_WORDS[go]
            continue
        first, *rest = here.partition("(")[0].split(".")
        value = getattr(modelcontext_core, first)
        for name in rest:
            value = getattr(value, name)
        assert first in modelcontext_core.__all__


def test_the_constants_are_the_values_that_decoding_gives() -> None:
    """Each of the four resolutions, by a call that has it."""
    registry = Registry()
    registry.register_document("document-1")
    arguments = ["{}", '{"id": "doc://1"}', '{"id": "doc://1", "text": "doc://9"}', '{"id": "doc://9"}']
    calls = registry.decode_tool_calls(ToolCall(name="read_document", arguments=each) for each in arguments)
    said = [here for go, here in named_here().items() if go.startswith("ArgumentResolution")]

    assert [f'"{call.argument_resolution}"' for call in calls] == said
