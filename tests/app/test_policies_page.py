"""The Policies page: a pack as tables and back, checked after every edit, and calls tried against it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from inspector_app import words
from inspector_app.pack_drafts import Draft, same_pack, try_call, try_result
from inspector_app.page_state.policies import PoliciesState
from inspector_app.views import policies
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies
from tests.core.leaking import A

MAIN = str(Path(__file__).parents[2] / "inspector_app" / "main.py")
OWN = ToolPolicies.loads(
    'name = "mine"\nextends = "builtin"\n[keys]\norder_id = "document"\n'
    '[tools.find_order]\nids = ["order_id"]\noutput = "source"\n'
)
# No pack of a sensible person: names that end a cell, turn it round, or cannot be seen.
ODD = ToolPolicies.loads(
    'name = "odd"\nextends = "builtin"\n[keys]\n"a,b" = "document"\n" \\u202ek" = "document"\n'
    '[tools." =1+1\\u200b"]\nids = ["a,b", " \\u202ek"]\nrouting = { "x,y" = "server" }\n'
)
TOOLS = words.policies.TOOLS


@pytest.mark.parametrize("pack", [DEFAULT_POLICIES, OWN, ODD])
def test_the_tables_hold_the_whole_pack(pack: ToolPolicies) -> None:
    """Read back without an edit, every table gives the same pack."""
    through, twice = policies.with_tools(pack, policies.tool_rows(pack))
    through = policies.with_keys(policies.with_more(through, policies.more_rows(through)), policies.key_rows(through))

    assert same_pack(pack, through)
    assert [] == twice


def edited(**cells: Any) -> list[dict[str, Any]]:
    """The rows of the own pack with one more: cells by the names of our own."""
    empty = {"tool": None, "from": None, "ids": None, "sql": None, "output": None, "mine": None, "sensitive": None}
    return [*policies.tool_rows(OWN), {TOOLS[name]: value for name, value in (empty | cells).items()}]


def test_an_edit_becomes_a_rule() -> None:
    """Fields are separated by commas; a changed built-in tool says that it is changed."""
    pack, _ = policies.with_tools(
        OWN, edited(tool="new_tool", ids=" order_id , chunk_id", mine="uuid", output="source")
    )

    assert (("order_id", "chunk_id"), ("uuid",)) == (pack.tools["new_tool"].ids, pack.tools["new_tool"].mine)
    assert [] == pack.faults()


def test_a_row_without_a_name_is_being_written() -> None:
    """An empty row changes nothing yet."""
    pack, _ = policies.with_tools(OWN, edited(ids="order_id"))

    assert same_pack(OWN, pack)


def test_a_wrong_cell_is_named_with_its_place_and_the_nearest_key() -> None:
    """The panel says what is wrong and where, as it would stand in the TOML."""
    pack, _ = policies.with_tools(OWN, edited(tool="track", ids="ordr_id"))
    ((reason, path),) = policies.fault_rows(pack.faults())

    assert "order_id" in reason["text"]
    assert path["text"].startswith("tools.track.ids")


def test_a_name_that_stands_twice_is_a_fault() -> None:
    """Two rows for one tool: the first counts, and it is said."""
    pack, twice = policies.with_tools(OWN, edited(tool="find_order", ids="chunk_id"))

    assert ["find_order"] == twice
    assert ("order_id",) == pack.tools["find_order"].ids
    assert words.policies.TWICE in policies.fault_rows([], twice)[0][0]["text"]


def test_a_changed_built_in_pack_gets_a_name_of_its_own() -> None:
    """The name of the built-in pack is taken, so that the changed one can be saved."""
    rows = policies.tool_rows(DEFAULT_POLICIES)
    rows[0][TOOLS["sensitive"]] = True
    pack, _ = policies.with_tools(DEFAULT_POLICIES, rows)

    assert words.policies.NEW_NAME == ToolPolicies.loads(pack.dumps()).name


def test_undo_goes_back_one_edit() -> None:
    """Every edit can be taken back, down to what was opened."""
    draft = Draft()
    draft.open(OWN)
    pack, _ = policies.with_tools(OWN, edited(tool="new_tool"))
    draft.edit(pack)
    draft.edit(pack)
    assert draft.is_changed
    draft.undo()

    assert same_pack(OWN, draft.current)
    assert not draft.is_changed


def test_a_faulty_file_leaves_the_pack_as_it_was() -> None:
    """All faults of the file are given, and nothing is opened."""
    draft = Draft()
    faults = draft.load('name = "x"\n[tools.a]\nids = ["nope", "nix"]\n', "x.toml")

    assert 2 == len(faults)
    assert same_pack(DEFAULT_POLICIES, draft.current)


def test_a_call_is_tried_against_the_pack() -> None:
    """A declared field gets the bare id, a handle elsewhere its durable text form; a result is shown as handles."""
    _, call = try_call(OWN, "find_order", '{"order_id": "doc://1"}')
    _, other = try_call(DEFAULT_POLICIES, "find_order", '{"order_id": "doc://1"}')
    analysis = try_result(OWN, "find_order", f'{{"order_id": "{A}"}}')

    assert "resolved" == call.argument_resolution
    assert "://" not in call.arguments
    assert "weknora://doc/" in other.arguments
    assert '{"order_id": "doc://1"}' == analysis.encoded[0].content


@pytest.mark.parametrize("view", ["tools", "more", "keys"])
def test_every_table_is_drawn(view: str) -> None:
    """The page opens with the built-in pack, which is sound, in each of its views."""
    app = AppTest.from_file(MAIN, default_timeout=60)
    app.run()
    app.switch_page("app_pages/policies.py")
    app.query_params["view"] = view
    app.run()

    assert [] == [error.message for error in app.exception]
    assert [words.policies.SOUND] == [each.value for each in app.success]


def test_a_link_brings_the_view_back() -> None:
    """Query parameters and state are two forms of one thing; wrong ones fall back."""
    state = PoliciesState(view="keys", way="result")

    assert state == PoliciesState.from_query(state.to_query())
    assert PoliciesState() == PoliciesState.from_query({"view": "x"})
