"""The list of messages, and search in it."""

from __future__ import annotations

from inspector_app.views.rail import label, rail_rows, rail_table
from inspector_app.views.search import find
from inspector_app.views.spaces import tag
from modelcontext_core.messages import Message, ToolCall
from tests.app.making import CHUNK, analysis


def test_a_row_per_message_with_a_bar_for_each_family() -> None:
    """Number, label, sign of a call or result, replacements by family, raw ids."""
    rows = rail_rows(analysis())

    assert [(row["sign"], row["label"]) for row in rows][2:4] == [("→", "search_knowledge"), ("↳", "search_knowledge")]
    assert (rows[3]["bars"], rows[3]["raw"]) == ([["chunk", 1], ["document", 1]], 1)
    assert rows[0]["bars"] == []


def test_hidden_characters_in_a_label_are_shown() -> None:
    """A tool's name comes from the trace."""
    assert label(Message(role="tool", name="a\u202eb")) == ("↳", "a[U+202E]b")
    assert label(Message(role="assistant", tool_calls=(ToolCall(name="x"), ToolCall(name="y")))) == ("→", "x, y")


def test_search_finds_durable_values_handles_and_tool_names() -> None:
    """The durable form is searched first, then the handles, then names of tools."""
    made = analysis()

    assert set(find(made, CHUNK[:12].upper())) == {3, 4}
    assert set(find(made, "chunk://1")) == {3, 4}
    assert 2 in find(made, "SEARCH_know")
    assert find(made, "  ") == {}


def test_the_table_of_a_long_conversation_keeps_what_was_found() -> None:
    """Above the limit a table takes the place of the rail; a search leaves the rows that match."""
    made = analysis()

    assert [row["#"] for row in rail_table(made, find(made, "be short"))] == [0]
    assert len(rail_table(made)) == 5


def test_tags_hold_the_number_of_the_handle() -> None:
    """`ck2` stands for `chunk://2`; resources lose their zeros, MCP handles keep their form."""
    assert [tag("chunk://2", "chunk"), tag("res://0001", "resource"), tag("i3", "issue"), tag("ms1", "mcp_server")] == [
        "ck2",
        "rs1",
        "i3",
        "ms1",
    ]
