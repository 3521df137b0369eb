"""Discovery: which rules are proposed for tools that no pack knows, why, and the packs made of them."""

from __future__ import annotations

import json

import pytest

from modelcontext_core.messages import Message, Part, ToolCall
from modelcontext_core.policies import DEFAULT_POLICIES, Proposal, ToolPolicies, ToolPolicy

A = "0d3f1c5e-7a2b-4c8d-9e10-1f2a3b4c5d6e"
B = "b7a9c1d2-3e4f-4a5b-8c6d-7e8f90a1b2c3"
LINK = "https://example.com/a/b?x=1"


def call(arguments: object, tool: str = "find") -> Message:
    """An assistant turn with one call; arguments are JSON text, or a value to be written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Message(role="assistant", tool_calls=(ToolCall(id="call_1", name=tool, arguments=text),))


def result(content: object, tool: str = "find") -> Message:
    """A tool's result; text, or a value to be written as JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    return Message(role="tool", name=tool, tool_call_id="call_1", content=text)


def proposals(*messages: Message, base: ToolPolicies = DEFAULT_POLICIES) -> tuple[Proposal, ...]:
    """What is proposed for these messages."""
    return ToolPolicies.discover(messages, base=base).proposals


def short(*messages: Message, base: ToolPolicies = DEFAULT_POLICIES) -> list[tuple[str, str, str, str]]:
    """The rules alone: where, key, kind, space."""
    return [(item.where, item.key, item.kind, item.space) for item in proposals(*messages, base=base)]


# --- what is proposed


def test_a_proposal_says_why() -> None:
    """A proposal names tool, place, key, kind, space, counts and at most three examples."""
    ids = [f"{n:08d}-2222-4333-8444-555555555555" for n in range(5)]

    (found,) = proposals(call({"order_id": ids[0], "related": {"order_id": [*ids, "ORD-1"]}}))

    assert found == Proposal(
        tool="find",
        where="arguments",
        key="order_id",
        kind="uuid",
        space="document",
        count=6,
        distinct=5,
        strings=7,
        examples=tuple(ids[:3]),
    )


@pytest.mark.parametrize(
    ("key", "space"),
    [
        ("chunk_id", "chunk"),
        ("passageId", "chunk"),
        ("node", "chunk"),
        ("nodeids", "chunk"),
        ("text_segment_uuid", "chunk"),
        ("kb", "knowledge_base"),
        ("kbId", "knowledge_base"),
        ("knowledge-base-ref", "knowledge_base"),
        ("CollectionID", "knowledge_base"),
        ("indexes", "knowledge_base"),
        ("dataset_ids", "knowledge_base"),
        ("library", "knowledge_base"),
        ("database_id", "document"),
        ("order_id", "document"),
        ("customer", "document"),
        ("link_id", "document"),
    ],
)
def test_the_space_of_ids_comes_from_the_words_of_the_key(key: str, space: str) -> None:
    """Key words name the space; a word inside another word does not; without one it is a document."""
    assert short(call({key: A})) == [("arguments", key.lower(), "uuid", space)]


@pytest.mark.parametrize("key", ["url", "source_url", "href", "link", "source", "query"])
def test_links_are_web_pages_under_any_key(key: str) -> None:
    """The web space takes links only, so a key that holds one can be declared whatever its name."""
    assert short(call({key: LINK})) == [("arguments", key, "url", "web")]
    assert short(call({key: f"https://example.com/{A}"})) == [("arguments", key, "url", "web")]


def test_keys_of_results_and_of_arguments_are_two_rules() -> None:
    """Arguments and results are proposed apart, in the order of the text."""
    assert short(call({"order_id": A}), result({"orders": [{"order_id": B, "page": LINK}]})) == [
        ("arguments", "order_id", "uuid", "document"),
        ("result", "order_id", "uuid", "document"),
        ("result", "page", "url", "web"),
    ]


def test_plain_text_is_mined() -> None:
    """Ids and links in the prose of a result make a proposal to mine it, with no key."""
    found = proposals(result(f"Order {A} was sent ({LINK}). Again: {A}, and {B}."))

    assert [(item.key, item.kind, item.space, item.count, item.distinct) for item in found] == [
        ("", "uuid", "document", 3, 2),
        ("", "url", "web", 1, 1),
    ]
    assert found[1].examples == (LINK,)


def test_text_parts_of_results_are_read() -> None:
    """Of a multimodal result the texts count, and nothing else."""
    parts = (Part(type="text", text=f"id {A}"), Part(type="image", text=f"id {B}"))

    (found,) = proposals(Message(role="tool", name="find", parts=parts))

    assert found.examples == (A,)


def test_json_inside_strings_is_read() -> None:
    """A key of JSON inside a string counts; in results, where an encoder reads only the outer JSON, it is mined too."""
    inner = json.dumps({"ticket_id": A})

    assert short(call({"payload": inner})) == [("arguments", "ticket_id", "uuid", "document")]
    assert short(result([{"type": "text", "text": inner}])) == [
        ("result", "ticket_id", "uuid", "document"),
        ("result", "", "uuid", "document"),
    ]
    assert short(result(json.dumps(inner)))[0] == ("result", "ticket_id", "uuid", "document")


def test_values_seen_before_under_such_a_key() -> None:
    """A value without the shape of an id is one where it stood before under a key of ids."""
    listing = result({"orders": [{"order_id": A}, {"order_id": B}, {"order_id": "ORD-7731"}]})

    assert short(listing, call({"target": "ORD-7731"})) == [
        ("result", "order_id", "uuid", "document"),
        ("arguments", "target", "seen", "document"),
    ]
    assert short(call({"target": "ORD-7731"}), listing) == [("result", "order_id", "uuid", "document")]
    assert short(listing, call({"target": "ORD-7732"})) == [("result", "order_id", "uuid", "document")]


def test_values_of_declared_fields_are_seen() -> None:
    """What a declared tool holds in its ID fields is known to be an id."""
    known = call({"knowledge_id": "doc-778812"}, tool="data_schema")

    assert short(known, call({"doc": "doc-778812"})) == [("arguments", "doc", "seen", "document")]
    assert short(call({"topic": "doc-778812"}, tool="data_schema"), call({"doc": "doc-778812"})) == []


def test_chance_meetings_do_not_spread() -> None:
    """Words, short values and vendors' plumbing are not recognised, and a recognised key vouches for no other."""
    listing = result([{"owner_id": A}, {"owner_id": B}, {"owner_id": "unassigned"}, {"owner_id": "call_77123"}])
    assert short(listing, call({"state": "unassigned", "ref": "call_77123"})) == [
        ("result", "owner_id", "uuid", "document")
    ]

    chain = result([{"owner_id": A}, {"owner_id": "ORD-7731"}, {"ref": "ORD-7731"}, {"ref": "ORD-9999"}])
    assert ("arguments", "other", "seen", "document") not in short(chain, call({"other": "ORD-9999"}))


def test_known_tools_are_left_alone() -> None:
    """Nothing is proposed for a tool that the base declares, even with an empty policy."""
    assert short(call({"order_id": A}, tool="todo_write"), result(f"{A} {LINK}", tool="read_file")) == []


def test_other_roles_are_no_results() -> None:
    """Only arguments and results of tools are looked at."""
    assert (
        short(Message(role="user", name="find", content=A), Message(role="assistant", content=f'{{"id": "{A}"}}')) == []
    )


# --- keys that are not declared


@pytest.mark.parametrize("key", ["text", "name", "query", "value", "status"])
def test_free_text_keys_are_mined_instead(key: str) -> None:
    """A key for words is never an ID field: its UUIDs are mined in results and left in arguments."""
    assert short(call({key: A})) == []
    assert short(result({key: A})) == [("result", "", "uuid", "document")]


def test_a_key_with_mostly_other_strings_is_mined_instead() -> None:
    """A key is trusted by the share of its strings that are ids, over all tools; a name like an id asks for less."""
    half = [{"customer": A}, {"customer": "Alice"}]
    assert short(result(half)) == [("result", "", "uuid", "document")]
    assert short(result([{"customer_id": A}, {"customer_id": "guest"}])) == [
        ("result", "customer_id", "uuid", "document")
    ]
    assert short(result({"customer": A}), result([{"customer": "Alice"}], tool="other")) == [
        ("result", "", "uuid", "document")
    ]


def test_the_key_table_keeps_its_spaces() -> None:
    """A key of the base keeps its space; what its space cannot take is mined."""
    assert short(call({"chunk_id": A, "kb_id": B})) == [
        ("arguments", "chunk_id", "uuid", "chunk"),
        ("arguments", "kb_id", "uuid", "knowledge_base"),
    ]
    assert short(call({"url": A}), result({"url": A})) == [("result", "", "uuid", "document")]


def test_the_key_id_is_declared_in_arguments_and_mined_in_results() -> None:
    """`id` registers nothing, so results are mined; arguments name it, for ids that are then known."""
    assert short(call({"id": A}), result({"id": A})) == [
        ("arguments", "id", "uuid", "document"),
        ("result", "", "uuid", "document"),
    ]


def test_one_key_has_one_space() -> None:
    """A key that holds links for one tool and ids for another is declared once, and the rest is mined."""
    links = result([{"ref": LINK}, {"ref": LINK + "2"}])

    assert short(links, result({"ref": A}, tool="other")) == [
        ("result", "ref", "url", "web"),
        ("result", "", "uuid", "document"),
    ]
    assert short(result([{"ref": A}, {"ref": B}]), result({"ref": LINK}, tool="other")) == [
        ("result", "ref", "uuid", "document"),
        ("result", "ref", "url", "document"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"https://example.com/{A}",
        f"weknora://doc/{A}",
        f"s3://bucket/{A}.pdf",
        f"summary/{A}",
        f"call_{A}",
        f"x{A}",
        f"{A}0",
    ],
)
def test_ids_inside_something_else_are_not_mined(text: str) -> None:
    """A UUID that is part of a URL, a URI, a stored reference or a longer word is no identity of its own."""
    assert [kind for _, _, kind, _ in short(result(text))] in ([], ["url"])


def test_ids_of_calls_are_plumbing() -> None:
    """The ids of the calls themselves are no resources, whatever their shape."""
    message = Message(role="assistant", tool_calls=(ToolCall(id=A, name="find", arguments=f'{{"parent_id": "{A}"}}'),))

    assert short(message, Message(role="tool", name="find", tool_call_id=A, content=f'{{"call_ref": "{A}"}}')) == []


@pytest.mark.parametrize("value", ["doc://1", "chunk://12", f"see doc://3 {A}"])
def test_handles_are_no_identities(value: str) -> None:
    """A text that was encoded before proposes nothing for its handles."""
    assert short(call({"order_id": value})) == []


def test_keys_spelt_with_escapes_are_no_keys() -> None:
    """A key with a backslash counts as none: its ids are mined."""
    assert short(result(f'{{"order\\u005fid": "{A}"}}')) == [("result", "", "uuid", "document")]


def test_ids_used_as_keys_are_mined() -> None:
    """An object keyed by ids: the keys are text, and so are values under a key that cannot be declared."""
    assert short(result({A: {"n": "x"}})) == [("result", "", "uuid", "document")]
    assert short(result({A: B}))[0] == ("result", "", "uuid", "document")


def test_names_that_no_pack_can_hold_are_passed_over() -> None:
    """Tools and keys that cannot be written in a pack are not proposed."""
    assert short(call({"order_id": A}, tool="a\x00b"), call({"order_id": A}, tool=""), result(A, tool=" ")) == []
    assert short(result({"\udc00_id": A})) == [("result", "", "uuid", "document")]


# --- packs


def test_the_whole_pack() -> None:
    """A discovered pack extends its base: new keys, ID fields, source output where results are read."""
    found = ToolPolicies.discover(
        [
            call({"orderId": A, "url": LINK}),
            result({"passage_id": B}),
            result(f"{A} {LINK}", tool="track"),
            call({"orderId": A}, tool="cancel"),
        ]
    )
    pack = found.policies

    assert pack.tools["find"] == ToolPolicy(name="find", ids=("orderid", "url"), output="source")
    assert pack.tools["track"] == ToolPolicy(name="track", output="source", mine=("uuid", "url"))
    assert pack.tools["cancel"] == ToolPolicy(name="cancel", ids=("orderid",))
    assert (pack.keys["orderid"], pack.keys["passage_id"]) == ("document", "chunk")
    assert pack.tools["read_document"] is not None
    assert (pack.name, pack.faults()) == ("discovered", [])


def test_each_rule_has_a_switch() -> None:
    """A pack is made of any of the proposals; of none it is the base itself."""
    found = ToolPolicies.discover([call({"order_id": A}), result({"passage_id": B}), result(LINK)])
    arguments, keys, text = found.proposals

    assert found.policies_for([]) is DEFAULT_POLICIES
    assert found.policies_for([arguments]).tools["find"] == ToolPolicy(name="find", ids=("order_id",))
    assert "passage_id" not in found.policies_for([arguments, text]).keys
    assert found.policies_for([text]).tools["find"].mine == ("url",)
    assert found.policies_for([keys]).result_keys["passage_id"] == "chunk"
    assert found.policies_for(reversed(found.proposals)).dumps() == found.policies.dumps()


def test_nothing_found_gives_the_base() -> None:
    """Without proposals the discovered pack is the base."""
    assert ToolPolicies.discover([result("all is well")]).policies is DEFAULT_POLICIES


def test_another_base() -> None:
    """Tools of the user's own pack are known, and its keys keep their spaces."""
    base = ToolPolicies.loads('name = "own"\nextends = "builtin"\n[keys]\norder_id = "kb"\n[tools.find]')

    found = ToolPolicies.discover([call({"order_id": A}), call({"order_id": A}, tool="other")], base=base)

    assert [(item.tool, item.space) for item in found.proposals] == [("other", "knowledge_base")]
    assert found.policies.tools["find"] == ToolPolicy(name="find")
