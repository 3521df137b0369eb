"""The Policies page: a pack as tables and back, checked after every edit, and calls tried against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from inspector_app import words
from inspector_app.pack_drafts import Draft, same_pack, try_call, try_result
from inspector_app.page_state.policies import PoliciesState
from inspector_app.views import policies, policies_compare
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies
from tests.app.running import MAIN
from tests.core.leak_report.leaking import A

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
    edited = policies.with_tools(pack, policies.tool_rows(pack, pack.tools))
    through, unread = policies.with_details(edited.pack, policies.detail_rows(pack, pack.tools), list(pack.tools))
    through = policies.with_keys(through, policies.key_rows(through))

    assert same_pack(pack, through)
    assert [] == unread
    assert [] == edited.twice


def edited(**cells: Any) -> list[dict[str, Any]]:
    """The rows of the own pack with one more: cells by the names of our own."""
    empty = dict.fromkeys(TOOLS)
    return [*policies.tool_rows(OWN, OWN.tools), {TOOLS[name]: value for name, value in (empty | cells).items()}]


def test_an_edit_becomes_a_rule() -> None:
    """Fields are separated by commas; a changed built-in tool says that it is changed."""
    rows = edited(tool="new_tool", ids=" order_id , chunk_id", mine="uuid", output="source")
    pack = policies.with_tools(OWN, rows).pack

    assert (("order_id", "chunk_id"), ("uuid",)) == (pack.tools["new_tool"].ids, pack.tools["new_tool"].mine)
    assert [] == pack.faults()


def test_a_row_without_a_name_is_being_written() -> None:
    """An empty row changes nothing yet."""
    pack = policies.with_tools(OWN, edited(ids="order_id")).pack

    assert same_pack(OWN, pack)


def test_a_wrong_cell_is_named_with_its_place_and_the_nearest_key() -> None:
    """The panel says what is wrong and where, as it would stand in the TOML."""
    pack = policies.with_tools(OWN, edited(tool="track", ids="ordr_id")).pack
    ((cell,),) = policies.fault_rows(pack.faults())

    assert "order_id" in cell["text"]
    assert cell["under"].startswith("tools.track.ids")


def test_a_name_that_stands_twice_is_a_fault() -> None:
    """Two rows for one tool: the first counts, and it is said."""
    found = policies.with_tools(OWN, edited(tool="find_order", ids="chunk_id"))

    assert ["find_order"] == found.twice
    assert ("order_id",) == found.pack.tools["find_order"].ids
    assert words.policies.TWICE in policies.fault_rows([], found.twice)[0][0]["text"]


def test_tools_are_sifted_and_those_out_of_sight_stay() -> None:
    """Own tools, a word of a field, faults; an edit of what is listed leaves the rest, in its order."""
    assert ["find_order"] == policies.listed(OWN, "own", "")
    assert [] == policies.listed(OWN, "changed", "")
    assert "database_query" in policies.listed(OWN, "all", "SQL")
    faulty = policies.with_tools(OWN, edited(tool="track", ids="ordr_id")).pack
    assert ["track"] == policies.listed(faulty, "faults", "")

    rows = policies.tool_rows(OWN, ["find_order", "read_document"])
    rows[1][TOOLS["sensitive"]] = True
    found = policies.with_tools(OWN, rows[1:], base=OWN, shown=["find_order", "read_document"])

    assert [tool for tool in OWN.tools if tool != "find_order"] == list(found.pack.tools)
    assert found.pack.tools["read_document"].sensitive


def test_a_renamed_row_keeps_its_issues_and_its_place() -> None:
    """Twice in a row, and its ticked box goes with it."""
    rows = policies.tool_rows(DEFAULT_POLICIES, DEFAULT_POLICIES.tools, ["wiki_read_issue"])
    at = list(DEFAULT_POLICIES.tools).index("wiki_read_issue")
    pack = DEFAULT_POLICIES
    names: Mapping[str, str] = {}
    for name in ("flag", "flag_issue"):
        rows[at][TOOLS["tool"]] = name
        found = policies.with_tools(pack, rows, base=DEFAULT_POLICIES, names=names)
        pack, names = found.pack, found.names

    assert "flag_issue" == list(pack.tools)[at]
    assert DEFAULT_POLICIES.tools["wiki_read_issue"].issues_compact == pack.tools["flag_issue"].issues_compact
    assert DEFAULT_POLICIES.tools["wiki_read_issue"].issues_register == pack.tools["flag_issue"].issues_register
    assert ["flag_issue"] == found.ticked


def test_issues_and_routing_of_a_chosen_row_are_edited() -> None:
    """Lists by commas, a switch, pairs; a switch that is none is named with its place."""
    rows = policies.detail_rows(OWN, ["find_order"])
    for row, value in zip(rows, ("issue_id, other", "id", "maybe", "server_id = server"), strict=True):
        row[words.policies.DETAILS["value"]] = value
    pack, unread = policies.with_details(OWN, rows, ["find_order"])
    policy = pack.tools["find_order"]

    assert (("issue_id", "other"), ("id",), {"server_id": "server"}) == (
        policy.issues_decode,
        policy.issues_register,
        dict(policy.routing),
    )
    assert ["tools.find_order.issues.compact"] == [fault.path for fault in unread]


def test_the_space_of_an_id_field_and_where_it_comes_from_are_said() -> None:
    """A key of the pack, one of the shared table, and one that no table has."""
    pack = policies.with_tools(OWN, edited(tool="track", ids="order_id, chunk_id, ordr_id")).pack
    rows = policies.spaces_of(pack, ["track"])

    assert [
        ("order_id", "document", words.policies.KEY_FROM[True]),
        ("chunk_id", "chunk", words.policies.KEY_FROM[False]),
        ("ordr_id", words.policies.NO_SPACE, ""),
    ] == [tuple(cell["text"] for cell in row) for row in rows]


def test_two_packs_are_compared_rule_by_rule() -> None:
    """Without any trace: tools, settings and keys that one of them has, and nothing when both say the same."""
    rows = [tuple(cell["text"] for cell in row) for row in policies_compare.difference_rows(OWN, DEFAULT_POLICIES)]

    assert [
        ("keys.order_id", '"document"', words.policies.NOT_THERE),
        ("tools.find_order", words.policies.DECLARED, words.policies.NOT_THERE),
        ("tools.find_order.ids", '["order_id"]', "[]"),
        ("tools.find_order.output", '"source"', '"compact"'),
    ] == rows
    assert [] == policies_compare.difference_rows(OWN, OWN)


def test_a_changed_built_in_pack_gets_a_name_of_its_own() -> None:
    """The name of the built-in pack is taken, so that the changed one can be saved."""
    rows = policies.tool_rows(DEFAULT_POLICIES, DEFAULT_POLICIES.tools)
    rows[0][TOOLS["sensitive"]] = True
    pack = policies.with_tools(DEFAULT_POLICIES, rows).pack

    assert words.policies.NEW_NAME == ToolPolicies.loads(pack.dumps()).name


def test_undo_goes_back_one_edit() -> None:
    """Every edit can be taken back, down to what was opened."""
    draft = Draft()
    draft.open(OWN)
    pack = policies.with_tools(OWN, edited(tool="new_tool")).pack
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


def test_the_page_opens_with_the_built_in_pack_and_an_example() -> None:
    """It is sound; what the panel and the comparison need first is said; the sample pack is one click away."""
    app = AppTest.from_file(MAIN, default_timeout=60)
    app.run()
    app.switch_page("app_pages/policies.py")
    app.run()

    assert [] == [error.message for error in app.exception]
    assert {words.policies.SOUND, words.policies.SAME} == {each.value for each in app.success}
    assert {words.policies.ON_TRACES_NONE, words.policies.DETAILS_NONE} == {each.value for each in app.info}
    assert words.policies.TRY_EXAMPLES["call"] == app.text_area(key="try_text:call").value

    app.button(key="pack_sample").click().run()
    app.text_input(key="pack_search").set_value("shipment_ref").run()
    assert [] == [error.message for error in app.exception]
    assert "northwind" == app.session_state["inspector:kept:draft"].current.name


def test_a_link_brings_the_view_back() -> None:
    """Query parameters and state are two forms of one thing; wrong ones fall back."""
    state = PoliciesState(listed="own", way="result")

    assert state == PoliciesState.from_query(state.to_query())
    assert PoliciesState() == PoliciesState.from_query({"listed": "x"})
