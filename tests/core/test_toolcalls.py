"""Decoding tool calls: declared fields, SQL, issues, routing, free text, what is unresolved, and which bytes stay."""

from __future__ import annotations

import json

import pytest

from modelcontext_core import ChunkReference, Registry, ToolCall
from tests.core.making import A, call, contents, decoded, result, user


@pytest.fixture
def registry() -> Registry:
    """One of everything, with ids that need escaping."""
    made = Registry()
    made.register_chunk(ChunkReference(chunk_id="c-1"))
    made.register_document("d-1")
    made.register_document("o'd 2")
    made.register_document('q"\\\n3')
    made.register_knowledge_base("k-1")
    made.register_web("https://e.com/a#b")
    made.register_issue("issue-1")
    contents(made, user("local://a"), result({"server_id": "srv-1", "tool_ref": "ref-1"}, "discover_mcp_tools"))
    return made


def value(registry: Registry, tool: str, key: str, given: object) -> object:
    """The decoded value of one key; the call must be resolved."""
    text, resolution, unresolved = decoded(registry, tool, {key: given})
    assert ("resolved", []) == (resolution, unresolved)
    return json.loads(text)[key]


@pytest.mark.parametrize(
    ("tool", "key", "given", "expected"),
    [
        ("list_knowledge_chunks", "knowledge_id", "doc://1", "d-1"),
        ("list_knowledge_chunks", "knowledge_id", " DOC://1\n", "d-1"),
        ("list_knowledge_chunks", "knowledge_id", "D1", "d-1"),
        ("list_knowledge_chunks", "faq_id", "chunk://1", "c-1"),
        ("list_knowledge_chunks", "chunk_id", "c1", "c-1"),
        ("list_documents", "knowledge_base_id", "b1", "k-1"),
        ("get_document_info", "knowledge_ids", ["doc://1", ["d2"]], ["d-1", ["o'd 2"]]),
        ("get_document_info", "KNOWLEDGE_IDS", {"x": 0, "Knowledge_Ids": "doc://1"}, {"x": 0, "Knowledge_Ids": "d-1"}),
        ("read_document", "id", "chunk://1", "c-1"),
        ("read_document", "id", "doc://1", "d-1"),
        ("web_fetch", "url", "url://1", "https://e.com/a#b"),
        ("web_fetch", "urls", ["w1"], ["https://e.com/a#b"]),
        (
            "wiki_write_page",
            "source_refs",
            ["doc://1", "doc://1|T", "d1|see doc://1"],
            ["d-1", "d-1|T", "d-1|see weknora://doc/d-1"],
        ),
    ],
)
def test_a_declared_field_gets_the_bare_id(
    registry: Registry, tool: str, key: str, given: object, expected: object
) -> None:
    """For one whole handle, of a scheme or of the legacy form, in any case, spaces aside."""
    assert expected == value(registry, tool, key, given)


@pytest.mark.parametrize(
    ("tool", "key", "given", "unresolved"),
    [
        ("list_knowledge_chunks", "knowledge_id", "doc://9", "doc://9"),
        ("list_knowledge_chunks", "knowledge_id", " d9 ", "d9"),
        ("list_knowledge_chunks", "knowledge_id", "d007", "d007"),
        ("list_knowledge_chunks", "knowledge_id", "doc://01", "doc://01"),
        ("list_knowledge_chunks", "knowledge_id", "chunk://1", "chunk://1"),
        ("list_knowledge_chunks", "chunk_id", "d1", "d1"),
        ("read_document", "id", "kb://1", "kb://1"),
        ("wiki_write_page", "source_refs", ["chunk://1|T"], "chunk://1"),
        ("wiki_write_page", "source_refs", ["doc://1|see kb://7"], "kb://7"),
        ("web_fetch", "url", "doc://1", "doc://1"),
        ("wiki_read_issue", "issue_id", " I9 ", "I9"),
        ("call_mcp_tool", "tool_ref", "ms1", "ms1"),
        ("call_mcp_tool", "tool_ref", "mt9", "mt9"),
        ("discover_mcp_tools", "server_id", "mt1", "mt1"),
        ("any", "text", "see doc://9 there", "doc://9"),
        ("any", "text", "res://9", "res://9"),
        ("database_query", "sql", "id = doc://2", "doc://2"),
        ("database_query", "sql", "id = 'doc://9'", "doc://9"),
    ],
)
def test_what_cannot_be_restored_is_unresolved(
    registry: Registry, tool: str, key: str, given: object, unresolved: str
) -> None:
    """Unknown, of a space that the field does not take, or where no such id may stand: the call must not run."""
    assert [unresolved] == decoded(registry, tool, {key: given})[2]


def test_a_field_that_is_not_one_whole_handle_is_text(registry: Registry) -> None:
    """Its handles become the durable text form."""
    assert "weknora://doc/d-1 weknora://kb/k-1" == value(registry, "data_schema", "knowledge_id", "doc://1 kb://1")
    assert ("unchanged", []) == decoded(registry, "data_schema", {"knowledge_id": "d1 d9"})[1:]


def test_other_values_get_the_durable_text_form(registry: Registry) -> None:
    """Of every tool, at any depth: URIs, URLs and references; legacy and word handles are prose."""
    given = {"a": ["doc://1的", {"b": "url://1, res://0001"}], "c": "d1 i1 ms1", "n": 1}

    assert (
        '{"a": ["weknora://doc/d-1的", {"b": "https://e.com/a#b, local://a"}], "c": "d1 i1 ms1", "n": 1}',
        "resolved",
        [],
    ) == decoded(registry, "mcp_anything", given)


def test_a_uri_that_would_be_read_on_is_bracketed(registry: Registry) -> None:
    """As in answers."""
    assert "<weknora://doc/d-1>-x weknora://doc/d-1. https://e.com/a#b-x" == value(
        registry, "any", "q", "doc://1-x doc://1. url://1-x"
    )


def test_resources_are_restored_in_every_string(registry: Registry) -> None:
    """In declared and SQL fields, too."""
    assert "local://a" == value(registry, "data_schema", "knowledge_id", "res://0001")
    assert "x = 'local://a'" == value(registry, "database_query", "sql", "x = 'res://0001'")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("id = 'doc://1'", "id = 'd-1'"),
        ("id = doc://1", "id = d-1"),
        ("id = 'doc://2'", "id = 'o''d 2'"),
        ("in ('doc://1', 'x''doc://2')", "in ('d-1', 'x''o''d 2')"),
        ("-- it's\n 'doc://2'", "-- it's\n 'o''d 2'"),
        ("/* ' /* ' */ */ 'doc://2'", "/* ' /* ' */ */ 'o''d 2'"),
        ("\"it's\" = 'doc://2'", "\"it's\" = 'o''d 2'"),
        ("`it's` = 'doc://2'", "`it's` = 'o''d 2'"),
        ("E'\\'doc://2'", "E'\\'o''d 2'"),
        ("'\\' = 'doc://2'", "'\\' = 'o''d 2'"),
        ("'open doc://2", "'open o''d 2"),
        ("x = 'doc://3'", "x = 'q\"\\\n3'"),
        ("x = E'doc://3'", "x = E'q\"\\\\\n3'"),
    ],
)
def test_sql_gets_bare_ids(registry: Registry, sql: str, expected: str) -> None:
    """With `'` doubled in a literal; comments and quoted names open none; a backslash escapes in `E'…'` only."""
    assert expected == value(registry, "database_query", "sql", sql)


@pytest.mark.parametrize("sql", ["doc://2", '"doc://2"', "`doc://2`", "-- doc://2", "$$doc://1$$", "$a$ 'doc://1' $a$"])
def test_sql_has_places_for_no_id_or_only_for_words(registry: Registry, sql: str) -> None:
    """Outside literals only ids of letters, digits, `_` and single `-`; inside a dollar quote none."""
    text, resolution, unresolved = decoded(registry, "database_query", {"sql": sql})

    assert {"sql": sql} == json.loads(text)
    assert "unresolved" == resolution
    assert 1 == len(unresolved)


def test_nothing_is_read_in_a_restored_reference() -> None:
    """A stored reference may hold what looks like a handle: it is what the application stored."""
    registry = Registry()
    registry.register_document("d-1")
    message = call("data_schema", {"x": "local://a/doc://1", "knowledge_id": "local://b/doc://7"})
    [encoded] = contents(registry, message)

    assert {"x": "res://0001", "knowledge_id": "res://0002"} == json.loads(encoded)
    assert (message.tool_calls[0].arguments, "resolved", []) == decoded(registry, "data_schema", encoded)


@pytest.mark.parametrize("durable", ["all--1", "-abc", "abc-"])
def test_no_id_in_sql_begins_a_comment(durable: str) -> None:
    """Two `-`, or one at an end that another may touch: what follows in the statement would not count."""
    registry = Registry()
    registry.register_document(durable)
    sql = "id = 'doc://1' OR id = doc://1 AND owner = 7"
    text, resolution, unresolved = decoded(registry, "database_query", {"sql": sql})

    assert {"sql": f"id = '{durable}' OR id = doc://1 AND owner = 7"} == json.loads(text)
    assert ("partially_resolved", ["doc://1"]) == (resolution, unresolved)


def test_sql_counts_at_the_top_level_only(registry: Registry) -> None:
    """Elsewhere, and in `data_analysis`, it is text."""
    assert {"sql": "weknora://doc/d-1"} == value(registry, "database_query", "x", {"sql": "doc://1"})
    assert "weknora://doc/d-1" == value(registry, "data_analysis", "sql", "doc://1")


def test_issue_fields(registry: Registry) -> None:
    """A whole `iN` in any case; anything else is text."""
    assert "issue-1" == value(registry, "wiki_read_issue", "issue_id", " I1 ")
    assert ["issue-1"] == value(registry, "wiki_read_issue", "issue_ids", ["i1"])
    assert ("unchanged", []) == decoded(registry, "wiki_read_issue", {"issue_id": "i1 i9", "x": "i1"})[1:]


def test_routing_fields_count_on_the_envelope_only(registry: Registry) -> None:
    """What the external tool is given is its own: there, scheme handles become text forms, word handles stay."""
    given = {"tool_ref": "MT1", "arguments": {"tool_ref": "mt1", "server_id": "ms1", "q": "doc://1"}}
    text, resolution, unresolved = decoded(registry, "call_mcp_tool", given)

    assert {
        "tool_ref": "ref-1",
        "arguments": {"tool_ref": "mt1", "server_id": "ms1", "q": "weknora://doc/d-1"},
    } == json.loads(text)
    assert ("resolved", []) == (resolution, unresolved)


@pytest.mark.parametrize(
    ("tool", "key", "wrapped", "expected"),
    [
        ("call_mcp_tool", "arguments", '{"q": "doc://1", "n": 1.0}', '{"q": "weknora://doc/d-1", "n": 1.0}'),
        ("call_mcp_tool", "arguments", " {} ", "{}"),
        ("call_mcp_tool", "arguments", '{"arguments": "{}"}', '{"arguments": "{}"}'),
        ("web_fetch", "items", '[{"url": "url://1"}]', '[{"url": "https://e.com/a#b"}]'),
    ],
)
def test_envelopes_are_unwrapped_once(registry: Registry, tool: str, key: str, wrapped: str, expected: str) -> None:
    """An object or a non-empty array that was encoded as a string once too often; what is inside is decoded."""
    text, resolution, _ = decoded(registry, tool, f'{{ "{key}" :{json.dumps(wrapped)}}}')

    assert f'{{ "{key}" :{expected}}}' == text
    assert "resolved" == resolution


@pytest.mark.parametrize(
    ("tool", "key", "wrapped"),
    [
        ("call_mcp_tool", "arguments", "[1]"),
        ("call_mcp_tool", "arguments", "null"),
        ("call_mcp_tool", "arguments", '{"a": 1'),
        ("call_mcp_tool", "arguments", '"{}"'),
        ("call_mcp_tool", "other", "{}"),
        ("web_fetch", "items", "[]"),
        ("web_fetch", "items", " [ ] "),
        ("web_fetch", "items", "{}"),
        ("web_fetch", "items", "[1] x"),
        ("any", "items", "[1]"),
    ],
)
def test_anything_else_stays_wrapped(registry: Registry, tool: str, key: str, wrapped: str) -> None:
    """Null, arrays for objects, scalars, malformed text, a second layer, other keys and tools."""
    arguments = json.dumps({key: wrapped})

    assert (arguments, "unchanged", []) == decoded(registry, tool, arguments)


def test_handles_in_keys_are_unresolved_even_if_known(registry: Registry) -> None:
    """Keys are never rewritten; unresolved ones are sorted, each once, as they are written."""
    text, resolution, unresolved = decoded(
        registry, "any", '{"doc://1": "kb://9", "x": "KB://8 kb://9", "y": "doc://1"}'
    )

    assert '{"doc://1": "kb://9", "x": "KB://8 kb://9", "y": "weknora://doc/d-1"}' == text
    assert ("partially_resolved", ["KB://8", "doc://1", "kb://9"]) == (resolution, unresolved)


@pytest.mark.parametrize(
    "arguments",
    ['{"a": "doc://1"', "doc://1", "{'a': 'doc://1'}", '{"a": NaN, "b": "doc://1"}', '\ufeff{"a": "doc://1"}'],
)
def test_what_is_not_json_is_never_rewritten(registry: Registry, arguments: str) -> None:
    """NaN and a byte order mark are no JSON; any handle in it is unresolved."""
    assert (arguments, "unresolved", ["doc://1"]) == decoded(registry, "any", arguments)


def test_only_the_replaced_strings_change(registry: Registry) -> None:
    """Key order, numbers, escapes, spacing and duplicate keys elsewhere come out byte for byte."""
    head = '{ "b" : 1.0,"b":12345678901234567890,\t"\\u0061":"\\/\\ud83d\\u0041", "e":-0.0e+5, "x": '

    assert f'{head}"weknora://doc/d-1 A/"}}' == decoded(registry, "any", f'{head}"doc://1 \\u0041\\/"}}')[0]


def test_a_replaced_string_has_minimal_escapes(registry: Registry) -> None:
    """Quotes, backslashes and controls; a lone surrogate as `\\uXXXX`; nothing else."""
    assert (
        '{"knowledge_id": "q\\"\\\\\\n3", "q": "文\\ud800/weknora://doc/d-1"}'
        == decoded(registry, "data_schema", '{"knowledge_id": "doc://3", "q": "\\u6587\\ud800\\/doc://1"}')[0]
    )


def test_nothing_changed_means_the_same_string(registry: Registry) -> None:
    """And a call that was decoded before is returned as it is."""
    arguments = '{"a": "\\u0041"}'
    [done] = registry.decode_tool_calls([ToolCall(id="1", name="any", arguments=arguments)])

    assert arguments is done.arguments
    assert ("1", "any", arguments, "unchanged", ()) == (
        done.id, done.name, done.model_arguments, done.argument_resolution, done.unresolved_handles,
    )  # fmt: skip
    assert done is registry.decode_tool_calls([done])[0]
    again = ToolCall(name="any", arguments='{"a": "doc://1"}', model_arguments="{}")
    assert [again] == registry.decode_tool_calls([again])


def test_deep_and_large_arguments_do_not_crash(registry: Registry) -> None:
    """Depth 100,000 and five megabytes."""
    deep = "[" * 100_000 + '"doc://1"' + "]" * 100_000
    large = json.dumps({"x": ["doc://1", "y" * 5_000_000]})

    assert deep.replace("doc://1", "weknora://doc/d-1") == decoded(registry, "any", deep)[0]
    assert large.replace("doc://1", "weknora://doc/d-1") == decoded(registry, "any", large)[0]
    assert deep == decoded(registry, "web_fetch", json.dumps({"items": deep}))[0][10:-1].replace(
        "weknora://doc/d-1", "doc://1"
    )


def test_a_uuid_is_what_comes_back() -> None:
    """The everyday case."""
    registry = Registry()
    registry.register_document(A)

    assert A == value(registry, "data_schema", "knowledge_id", "doc://1")
