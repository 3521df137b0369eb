"""The MCP bridge: routing ids in definitions, directories and replayed calls, and the links of external results."""

from __future__ import annotations

from typing import Any

import pytest

from modelcontext_core import Message, Registry, Tool, ToolResult
from tests.core.making import call, contents, decoded, result, user

SERVER, REF = "server-000001", "tool-000001"


def directory(content: object) -> str:
    """A directory result, encoded in a new registry."""
    return contents(Registry(), result(content, "discover_mcp_tools"))[0]


def test_top_level_ids_and_those_of_rows_become_handles() -> None:
    """`server_id` and `tool_ref` of the object, and of the rows in `servers` and `tools`."""
    assert (
        '{"server_id": "ms1", "servers": [{"server_id": "ms2"}], "tools": [{"tool_ref": "mt1", "server_id": "ms1"}]}'
    ) == directory(
        {"server_id": SERVER, "servers": [{"server_id": "srv-2"}], "tools": [{"tool_ref": REF, "server_id": SERVER}]}
    )


@pytest.mark.parametrize(
    "content",
    [
        {"tools": [{"input_schema": {"tool_ref": REF}}]},
        {"tools": {"server_id": SERVER}},
        {"other": [{"server_id": SERVER}]},
        {"servers": [[{"server_id": SERVER}]]},
        {"server_id": [SERVER]},
        {"server_id": "two words"},
        {"name": SERVER},
    ],
)
def test_deeper_places_belong_to_the_server(content: object) -> None:
    """A schema is opaque, and so is everything that is no row."""
    registry = Registry()
    message = result(content, "discover_mcp_tools")

    assert [message.content] == contents(registry, message)
    assert () == registry.handles()


def test_a_result_that_is_no_object_has_known_ids_compacted() -> None:
    """Whichever message makes them known, by the gluing rule and outside URLs."""
    text = f"use {SERVER} (https://e.com/{SERVER}), not {SERVER}-x"
    registry = Registry()

    assert [text.replace(f"use {SERVER}", "use ms1"), '{"server_id": "ms1"}'] == contents(
        registry, result(text, "discover_mcp_tools"), result({"server_id": SERVER}, "discover_mcp_tools")
    )


def test_no_routing_id_takes_half_a_handle() -> None:
    """An id that ends inside a scheme handle stays there."""
    text = "see server:doc://1"

    assert [text, '{"server_id": "ms1"}'] == contents(
        Registry(), result(text, "discover_mcp_tools"), result({"server_id": "server:doc"}, "discover_mcp_tools")
    )


def test_encoded_directories_stay() -> None:
    """A handle in the place of an id registers nothing."""
    assert '{"server_id": "ms1", "tool_ref": "mt7"}' == directory({"server_id": "ms1", "tool_ref": "mt7"})


def test_bytes_outside_the_ids_stay() -> None:
    """Numbers, escapes and spacing of a directory."""
    text = '{ "n":1.0, "\\u0061": "\\/", "server_id" :"server-000001"}'

    assert text.replace(SERVER, "ms1") == directory(text)


def test_routing_keys_of_replayed_calls_come_back() -> None:
    """Registered and replaced at the top level only; the arguments of the external tool are its own."""
    arguments = {"tool_ref": REF, "arguments": {"tool_ref": REF, "server_id": SERVER}}
    registry = Registry()
    [encoded] = contents(registry, call("call_mcp_tool", arguments))

    assert f'{{"tool_ref": "mt1", "arguments": {{"tool_ref": "{REF}", "server_id": "{SERVER}"}}}}' == encoded
    assert f'{{"tool_ref": "{REF}"' in decoded(registry, "call_mcp_tool", encoded)[0]


def test_system_and_user_texts_compact_labels_only() -> None:
    """`server_id="<known id>"`; the bare id is the user's own word."""
    registry = Registry()
    text = f'server_id="{SERVER}" {SERVER} server_id="other" my_server_id="{SERVER}" server_id=\'{SERVER}\''

    assert (
        text.replace(f'server_id="{SERVER}" {SERVER}', f'server_id="ms1" {SERVER}', 1)
        == contents(registry, user(text), result({"server_id": SERVER}, "discover_mcp_tools"))[0]
    )


def tool(name: str, description: str = "", **properties: Any) -> Tool:
    """A definition with a JSON schema of `properties`."""
    return Tool(name=name, description=description, parameters={"type": "object", "properties": properties})


def test_enums_of_routing_properties_are_encoded_first() -> None:
    """Then directory lines, then the prefixes of external tools; the input stays as it was."""
    registry = Registry()
    tools = [
        tool("mcp_a", f'[MCP service server_id="{SERVER}" (external)] uses server_id="{SERVER}"'),
        tool("discover_mcp_tools", f'Servers:\n{{"server_id": "{SERVER}", "name": "x"}}\nnot json {SERVER}'),
        tool("call_mcp_tool", tool_ref={"enum": [REF, 1, "two words"]}, other={"enum": [REF]}),
        tool("discover_mcp_tools", server_id={"enum": ["srv-2"]}),
    ]

    mcp, listing, caller, finder = registry.encode_tools(tools)

    assert {"tool_ref": {"enum": ["mt1", 1, "two words"]}, "other": {"enum": [REF]}} == caller.parameters["properties"]
    assert {"server_id": {"enum": ["ms1"]}} == finder.parameters["properties"]
    assert f'Servers:\n{{"server_id": "ms2", "name": "x"}}\nnot json {SERVER}' == listing.description
    assert f'[MCP service server_id="ms2" (external)] uses server_id="{SERVER}"' == mcp.description
    assert REF == tools[2].parameters["properties"]["tool_ref"]["enum"][0]
    assert [mcp, listing, caller, finder] == registry.encode_tools([mcp, listing, caller, finder])


def test_schemas_of_any_depth_are_copied() -> None:
    """Nobody's schema is too deep."""
    schema: dict[str, Any] = {}
    for _ in range(3000):
        schema = {"properties": schema}

    [copied] = Registry().encode_tools([Tool(name="mcp_a", parameters=schema)])

    assert copied.parameters is not schema
    assert ["properties"] == list(copied.parameters)


HEAD = (
    '\n\n<external_source_candidates>\nLinks seen in this result. Cite one as <ref id="url://N"/> only where this '
    "result supports the claim; being listed does not mean that it was read.\n"
)


def sidecar(output: str, *, name: str = "mcp_x", success: bool = True, citations: bool = True) -> str:
    """What follows an external result."""
    text = Registry(citations_enabled=citations).model_tool_result(ToolResult(success=success, output=output), name)
    assert text.startswith(output)
    return text[len(output) :]


def test_links_of_an_external_result_follow_it() -> None:
    """Each distinct page once, citable, its URL escaped; JSON escapes and entities are undone first."""
    assert (
        f'{HEAD}<source id="url://1" url="https://e.com/a"/>\n<source id="url://2" url="https://e.com/?x=1&amp;y=2"/>\n'
        "</external_source_candidates>"
    ) == sidecar("https://e.com/a, (https://e.com/a#b) https:\\/\\/e.com\\/?x=1&amp;y=2")


def test_a_parameter_of_a_link_is_no_entity() -> None:
    """`&times` is one in HTML even without its semicolon; the link would lead elsewhere."""
    assert 'url="https://e.com/?a=1&amp;timestamp=2"/>' in sidecar("https://e.com/?a=1&timestamp=2")


def test_no_sidecar_without_links_success_or_citations() -> None:
    """Nor for a tool that is not external, and none in a replay."""
    assert "" == sidecar("no link, https://user@e.com/ http://")
    assert "" == sidecar("https://e.com", citations=False)
    assert "" == sidecar("https://e.com", success=False)
    assert "" == sidecar("https://e.com", name="read_file")
    assert ["https://e.com"] == contents(Registry(), result("https://e.com", "mcp_x"))


def test_at_most_fifty_links_are_listed() -> None:
    """Counted after duplicates are left out."""
    text = sidecar(" ".join(f"https://e.com/{number} https://e.com/{number}#x" for number in range(80)))

    assert 50 == text.count("<source ")


def test_external_results_stay_as_they_are() -> None:
    """But for the stored references of step 1."""
    registry = Registry()
    registry.register_document("doc-000001")
    message = Message(role="tool", name="call_mcp_tool", content=f"doc-000001 {SERVER} local://a kb_id='kb-000001'")

    assert [f"doc-000001 {SERVER} res://0001 kb_id='kb-000001'"] == contents(registry, message)
