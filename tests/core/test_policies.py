"""Tool policies: the built-in pack, what the encoder needs of a pack, extending and sharing packs."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Mapping

import pytest

from modelcontext_core.errors import PolicyError
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies, ToolPolicy, has_tool_policy

NO_SOURCE = {
    "data_analysis",
    "data_schema",
    "wiki_write_page",
    "wiki_replace_text",
    "wiki_flag_issue",
    "wiki_update_issue",
    "discover_mcp_tools",
    "call_mcp_tool",
}
EMPTY = {
    "read_file",
    "search_conversations",
    "search_memory",
    "thinking",
    "todo_write",
    "read_skill",
    "execute_skill_script",
    "shell_exec",
    "list_sandbox_files",
    "read_sandbox_file",
    "write_sandbox_file",
    "edit_sandbox_file",
    "write_skill_file",
    "edit_skill_file",
}
ID_FIELDS = {
    "search_knowledge": ("knowledge_base_ids",),
    "knowledge_search": ("knowledge_base_ids",),
    "query_knowledge_graph": ("knowledge_base_ids",),
    "read_document": ("id",),
    "list_documents": ("knowledge_base_id",),
    "list_knowledge_chunks": ("knowledge_id", "faq_id", "chunk_id"),
    "get_document_info": ("knowledge_ids", "faq_ids"),
    "data_analysis": ("knowledge_id",),
    "data_schema": ("knowledge_id",),
    "wiki_read_source_doc": ("knowledge_id",),
    "web_fetch": ("url", "urls"),
    "wiki_write_page": ("source_refs",),
    "wiki_replace_text": ("source_refs",),
    "wiki_flag_issue": ("suspected_knowledge_ids",),
    "wiki_search": ("knowledge_base_id", "knowledge_base_ids"),
    "get_learning_profile": ("knowledge_base_id",),
    "recommend_learning_topics": ("knowledge_base_id",),
    "prepare_learning_quiz": ("knowledge_base_id",),
}


def rules(pack: ToolPolicies) -> tuple[str, str, Mapping[str, str], Mapping[str, ToolPolicy]]:
    """What two packs must agree in to be the same rules."""
    return pack.name, pack.uri_scheme, dict(pack.keys), dict(pack.tools)


# --- the built-in pack


def test_builtin_id_fields() -> None:
    """Exactly the tools of the contract declare ID fields, with exactly these fields."""
    declared = {name: policy.ids for name, policy in DEFAULT_POLICIES.tools.items() if policy.ids}

    assert declared == ID_FIELDS


def test_builtin_outputs() -> None:
    """All tools but the writing ones, the MCP bridge and those without a policy of their own give sources."""
    outputs = {name: policy.output for name, policy in DEFAULT_POLICIES.tools.items()}

    assert {name for name, output in outputs.items() if output == "source"} == set(outputs) - NO_SOURCE - EMPTY
    assert outputs["discover_mcp_tools"] == "directory"
    assert outputs["call_mcp_tool"] == "opaque"
    assert all(outputs[name] == "compact" for name in EMPTY)


def test_builtin_empty_policies() -> None:
    """The empty policies declare nothing, yet the tools are declared."""
    assert all(DEFAULT_POLICIES.tools[name] == ToolPolicy(name=name) for name in EMPTY)
    assert all(has_tool_policy(name) for name in EMPTY)


def test_builtin_special_fields() -> None:
    """SQL, issues and routing stand at the tools that the contract names, and nowhere else."""
    tools = DEFAULT_POLICIES.tools

    assert {name: policy.sql for name, policy in tools.items() if policy.sql} == {"database_query": ("sql",)}
    assert {name: dict(policy.routing) for name, policy in tools.items() if policy.routing} == {
        "discover_mcp_tools": {"server_id": "server"},
        "call_mcp_tool": {"tool_ref": "tool"},
    }
    assert {name for name, policy in tools.items() if policy.issues_compact} == {"wiki_read_issue", "wiki_update_issue"}
    assert tools["wiki_read_issue"].issues_decode == ("issue_id", "issue_ids")
    assert tools["wiki_read_issue"].issues_register == ("id",)
    assert tools["wiki_update_issue"].issues_decode == ("issue_id",)
    assert tools["wiki_update_issue"].issues_register == ()


def test_builtin_mines_nothing() -> None:
    """Nothing of what is for other people's applications is active in the built-in pack."""
    assert DEFAULT_POLICIES.uri_scheme == "weknora"
    assert not any(policy.mine or policy.sensitive for policy in DEFAULT_POLICIES.tools.values())


def test_builtin_key_table() -> None:
    """The key table has the keys of the contract, each with one kind."""
    kinds: dict[str, set[str]] = {}
    for key, kind in DEFAULT_POLICIES.keys.items():
        kinds.setdefault(kind, set()).add(key)

    assert kinds == {
        "chunk": {"chunk_id", "chunk_ids", "faq_id", "faq_ids"},
        "document": {"knowledge_id", "knowledge_ids", "suspected_knowledge_ids"},
        "document_ref": {"source_refs"},
        "knowledge_base": {"knowledge_base", "knowledge_base_id", "knowledge_base_ids", "kb_id", "kb_ids"},
        "web": {"url", "urls"},
        "known": {"id"},
    }


def test_builtin_is_sound() -> None:
    """The built-in pack passes its own checks."""
    assert DEFAULT_POLICIES.faults() == []


@pytest.mark.parametrize(("name", "known"), [("todo_write", True), ("call_mcp_tool", True), ("mcp_x", False)])
def test_has_tool_policy(name: str, known: bool) -> None:
    """A tool is declared even when its policy is empty; the name is compared exactly."""
    assert has_tool_policy(name) is known
    assert (name in DEFAULT_POLICIES) is known
    assert (DEFAULT_POLICIES.get(name) is not None) is known
    assert not has_tool_policy(name.upper())


# --- what the encoder needs


def test_id_kinds_come_from_the_key_table() -> None:
    """A policy in a pack knows the kind of each of its ID fields."""
    policy = DEFAULT_POLICIES.tools["list_knowledge_chunks"]

    assert dict(policy.id_kinds) == {"knowledge_id": "document", "faq_id": "chunk", "chunk_id": "chunk"}


def test_result_keys_leave_out_known() -> None:
    """Results register every key of the table but `id`, which registers nothing."""
    assert set(DEFAULT_POLICIES.result_keys) == set(DEFAULT_POLICIES.keys) - {"id"}


def test_packs_cannot_be_changed() -> None:
    """A pack can be shared by many requests: nothing in it can be assigned."""
    for mapping in (DEFAULT_POLICIES.keys, DEFAULT_POLICIES.tools, DEFAULT_POLICIES.tools["call_mcp_tool"].routing):
        with pytest.raises(TypeError):
            mapping["x"] = "chunk"  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        DEFAULT_POLICIES.name = "x"  # type: ignore[misc]


def test_packs_hash_by_identity() -> None:
    """A pack can be the key of a cache, whatever it holds; equal contents are still two packs."""
    one, two = (ToolPolicies(name="a", tools={"t": ToolPolicy(name="t", routing={"r": "tool"})}) for _ in range(2))

    assert len({one, two}) == 2
    assert rules(one) == rules(two)
    assert len({one.tools["t"], two.tools["t"]}) == 1


def test_packs_go_to_other_processes() -> None:
    """Pickling keeps the rules; the built-in pack stays the one object that it is."""
    pack = ToolPolicies.loads('name = "a"\n[keys]\nsku = "kb"\n[tools.t]\nids = ["sku"]\nrouting = {r = "tool"}')
    copy = pickle.loads(pickle.dumps(pack))

    assert rules(copy) == rules(pack)
    assert dict(copy.tools["t"].id_kinds) == {"sku": "knowledge_base"}
    assert pickle.loads(pickle.dumps(DEFAULT_POLICIES)) is DEFAULT_POLICIES


def test_keys_ignore_case() -> None:
    """Keys are kept in lower case, in the table and in every list of fields."""
    pack = ToolPolicies.loads(
        'name = "a"\n[keys]\nOrderID = "document"\n'
        '[tools.T]\nids = ["ORDERID"]\nsql = ["Sql"]\nrouting = {Ref = "tool"}'
    )

    assert pack.keys["orderid"] == "document"
    assert pack.tools["T"].ids == ("orderid",)
    assert pack.tools["T"].sql == ("sql",)
    assert dict(pack.tools["T"].routing) == {"ref": "tool"}


# --- extending in memory


def test_extend_adds_and_replaces() -> None:
    """The other pack's tools replace those of the same name; keys of both count."""
    first = ToolPolicies(
        name="first", keys={"a": "web"}, tools={"t": ToolPolicy(name="t", ids=("a",)), "u": ToolPolicy(name="u")}
    )
    second = ToolPolicies(name="second", keys={"b": "chunk"}, tools={"t": ToolPolicy(name="t", ids=("b",))})

    both = first.extend(second)

    assert both.name == "second"
    assert first.extend(second, name="mine").name == "mine"
    assert (both.keys["a"], both.keys["b"]) == ("web", "chunk")
    assert (both.tools["t"].ids, list(both.tools)) == (("b",), ["t", "u"])
    assert first.tools["t"].ids == ("a",)


def test_origin_of_a_policy() -> None:
    """A tool's policy is the built-in one, a changed one, or the pack's own."""
    pack = ToolPolicies.loads('name = "a"\nextends = "builtin"\n[tools.x]\n[tools.read_document]\nsensitive = true')

    assert [pack.origin(name) for name in ("x", "read_document", "web_fetch")] == ["own", "changed", "built-in"]


def test_extend_keeps_a_scheme_of_its_own() -> None:
    """The default scheme of an extension does not undo a chosen one."""
    chosen, plain = ToolPolicies(name="a", uri_scheme="shop"), ToolPolicies(name="b")

    assert chosen.extend(plain).uri_scheme == "shop"
    assert plain.extend(chosen).uri_scheme == "shop"


def test_extend_refuses_two_spaces_for_one_key() -> None:
    """One key has one space, whichever pack comes first."""
    web, kb = ToolPolicies(name="one", keys={"k": "web"}), ToolPolicies(name="two", keys={"k": "knowledge_base"})

    with pytest.raises(PolicyError) as caught:
        web.extend(kb)

    assert (caught.value.source, caught.value.path) == ("two", "keys.k")
