"""`encode_messages`: the order of the steps, what is replaced where, idempotence, and the report."""

from __future__ import annotations

import json

import pytest

from modelcontext_core import ChunkReference, Message, Part, Registry, ToolCall, ToolPolicies
from tests.core.making import A, B, assistant, call, contents, decoded, result, user


def known(*documents: str) -> Registry:
    """A registry that knows some documents."""
    registry = Registry()
    for document in documents:
        registry.register_document(document)
    return registry


# ------------------------------------------------------------------------------------------------ where


def test_results_of_tools_with_a_policy_are_compacted() -> None:
    """Source and compact ones; never opaque ones, directories, undeclared tools or other roles."""
    registry = known("doc-000001")

    for tool in ("grep_chunks", "read_file", "data_analysis"):
        assert ["doc://1"] == contents(registry, result("doc-000001", tool))
    for tool in ("call_mcp_tool", "discover_mcp_tools", "mcp_x", "unknown", ""):
        assert ["doc-000001"] == contents(registry, result("doc-000001", tool))
    for message in (user("doc-000001"), assistant("doc-000001"), Message(role="system", content="doc-000001")):
        assert [message] == registry.encode_messages([message])


def test_a_later_message_makes_an_earlier_id_known() -> None:
    """All registrations come before any replacement."""
    assert ["doc://1", '{"knowledge_id": "doc://1"}'] == contents(
        Registry(), result("doc-000001"), call("data_schema", {"knowledge_id": "doc-000001"})
    )


def test_a_label_decides_the_space() -> None:
    """A value under a label takes the label's space, in prose an id known in several is the first of them."""
    registry = Registry()
    registry.register_chunk(ChunkReference(chunk_id="same-01"))

    assert ["kb_id=\"kb://1\" knowledge_id='doc://1' chunk://1"] == contents(
        registry, result("kb_id=\"same-01\" knowledge_id='same-01' same-01")
    )


def test_short_ids_are_replaced_under_labels_and_in_fields_only() -> None:
    """`12345` in prose may be any number."""
    assert ['kb_id="kb://1" 12345', '{"knowledge_base_id": "kb://1", "n": "12345"}'] == contents(
        Registry(), result('kb_id="12345" 12345'), call("list_documents", {"knowledge_base_id": "12345", "n": "12345"})
    )


def test_an_id_that_equals_a_word_is_replaced_where_it_stands_free() -> None:
    """The rule is the gluing rule, also in JSON, where only strings can hold it."""
    registry = known("content")

    assert ['{"doc://1": "the content-type, doc://1"}'] == contents(
        registry, result('{"content": "the content-type, content"}', "read_file")
    )


def test_handles_in_the_text_are_copied_whole() -> None:
    """Known or not, nothing is matched inside them."""
    registry = known("77-000001")

    assert ["doc://77-000001 doc://1"] == contents(registry, result("doc://77-000001 77-000001"))


def test_all_texts_of_a_message_are_encoded() -> None:
    """Content and text parts; other parts carry their data along."""
    registry = known("doc-000001")
    message = Message(
        role="tool",
        name="read_file",
        content="doc-000001",
        parts=(Part(type="text", text="doc-000001"), Part(type="image", text="doc-000001", data={"a": "doc-000001"})),
    )

    [got] = registry.encode_messages([message])

    assert "doc://1" == got.content
    assert (Part(type="text", text="doc://1"), message.parts[1]) == got.parts


# ------------------------------------------------------------------------------------------------ arguments


def test_declared_fields_count_at_any_depth() -> None:
    """For their string or the strings of their arrays, not through objects, in any letter case."""
    arguments = {"x": {"Knowledge_IDs": [["d-01"], {"y": "d-02"}]}, "faq_ids": "f-01", "other": "d-01"}

    assert [
        '{"x": {"Knowledge_IDs": [["doc://1"], {"y": "d-02"}]}, "faq_ids": "chunk://1", "other": "d-01"}'
    ] == contents(Registry(), call("get_document_info", arguments))


@pytest.mark.parametrize("value", ["two words", "ab", "c1", "i1", "x" * 513, "a/doc://1", "---"])
def test_what_may_not_be_mined_stays(value: str) -> None:
    """Unless it is known: then it is replaced whatever its shape."""
    arguments = json.dumps({"knowledge_id": value})

    assert [arguments] == contents(Registry(), call("data_schema", arguments))
    registry = Registry()
    if registry.register_document(value):
        assert ['{"knowledge_id": "doc://1"}'] == contents(registry, call("data_schema", arguments))


def test_the_key_id_takes_what_is_known() -> None:
    """A chunk before a document; it registers nothing."""
    registry = Registry()
    registry.register_document("both-1")
    registry.register_chunk(ChunkReference(chunk_id="both-1"))

    assert ['{"id": "chunk://1"}'] == contents(registry, call("read_document", {"id": "both-1"}))
    assert ['{"id": "d-000009"}'] == contents(registry, call("read_document", {"id": "d-000009"}))


def test_of_a_reference_only_the_id_is_durable() -> None:
    """`id|title`: the title is text, whose own references and URIs come back, too."""
    registry = Registry()
    arguments = '{"source_refs": ["doc-000001|About weknora://doc/abc", "doc-000002"]}'
    [encoded] = contents(registry, call("wiki_write_page", arguments))

    assert '{"source_refs": ["doc://2|About doc://1", "doc://3"]}' == encoded
    assert (arguments, "resolved", []) == decoded(registry, "wiki_write_page", encoded)


def test_a_page_is_declared_by_its_url() -> None:
    """http(s) only; the first raw URL is what comes back."""
    registry = Registry()
    [encoded] = contents(
        registry, call("web_fetch", {"urls": ["https://e.com/a#1", "https://e.com/a#2", "ftp://e.com"]})
    )

    assert '{"urls": ["url://1", "url://1", "ftp://e.com"]}' == encoded
    assert (
        '{"urls": ["https://e.com/a#1", "https://e.com/a#1", "ftp://e.com"]}'
        == decoded(registry, "web_fetch", encoded)[0]
    )


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("id = 'doc-000001'", "id = 'doc://1'"),
        ("id = doc-000001", "id = doc://1"),
        ("'it''s doc-000001'", "'it''s doc://1'"),
        ("'o''id-001'", "'doc://2'"),
        ('"doc-000001" `doc-000001` -- doc-000001', '"doc://1" `doc://1` -- doc://1'),
        ("$$doc-000001$$", "$$doc-000001$$"),
        ("E'doc-000001'", "E'doc://1'"),
        ("E'\\n doc-000001'", "E'\\n doc-000001'"),
        ("o'id-001", "o'id-001"),
        ("'abc-1'", "'abc-1'"),
        ("a.b/c-01", "a.b/c-01"),
        ("'a.b/c-01'", "'doc://4'"),
        ("x_doc-000001", "x_doc-000001"),
        ("id = 'abc--001' -- abc--001", "id = 'doc://5' -- abc--001"),
        ("x --abcdef", "x --abcdef"),
        ("local://a/*b 'doc-000001'", "res://0001 'doc://1'"),
    ],
)
def test_sql_is_replaced_where_decoding_restores_it(sql: str, expected: str) -> None:
    """Inside a `'…'` literal any id in its doubled form, elsewhere only words; a dollar quote has no place for any."""
    registry = known("doc-000001", "o'id-001", "abc-1", "a.b/c-01", "abc--001", "--abcdef")
    [encoded] = contents(registry, call("database_query", {"sql": sql}))

    assert {"sql": expected} == json.loads(encoded)
    assert {"sql": sql} == json.loads(decoded(registry, "database_query", encoded)[0])


def test_sql_counts_at_the_top_level_only() -> None:
    """And `data_analysis.sql` carries no handles at all."""
    registry = known("doc-000001")

    for message in (call("database_query", {"x": {"sql": "doc-000001"}}), call("data_analysis", {"sql": "doc-000001"})):
        assert [message] == registry.encode_messages([message])


def test_an_undeclared_tool_has_no_fields() -> None:
    """A field name alone never means anything."""
    message = call("unknown", {"knowledge_id": "doc-000001", "sql": "doc-000001"})

    assert [message] == known("doc-000001").encode_messages([message])


# ------------------------------------------------------------------------------------------------ issues


def test_issue_ids_are_registered_from_three_places() -> None:
    """`id` of the object, of a top-level list, of a list under `issues`."""
    for content, expected in (
        ({"id": "issue-01"}, '{"id": "i1"}'),
        ([{"id": "issue-01"}, {"id": "issue-02"}], '[{"id": "i1"}, {"id": "i2"}]'),
        (
            {"issues": [{"id": "issue-01", "x": {"id": "issue-09"}}]},
            '{"issues": [{"id": "i1", "x": {"id": "issue-09"}}]}',
        ),
        ({"other": [{"id": "issue-01"}]}, '{"other": [{"id": "issue-01"}]}'),
    ):
        assert [expected] == contents(Registry(), result(content, "wiki_read_issue"))


def test_no_issue_id_takes_half_a_handle() -> None:
    """An id that ends inside a scheme handle stays there, in results and in prompts."""
    registry = Registry()
    registry.register_issue("bug doc")

    assert ["bug doc://7, i1"] == contents(registry, result("bug doc://7, bug doc", "wiki_update_issue"))
    assert "bug doc://7, i1" == registry.encode_known_issues("bug doc://7, bug doc")


def test_known_issue_ids_are_compacted_in_issue_tools_only() -> None:
    """In the results of both issue tools, by the gluing rule and outside URLs; later results make earlier ids known."""
    text = "issue-01 issue-01x https://e.com/issue-01"
    compacted = "i1 issue-01x https://e.com/issue-01"

    assert [compacted, compacted, text, '{"id": "i1"}'] == contents(
        Registry(),
        result(text, "wiki_update_issue"),
        result(text, "wiki_read_issue"),
        result(text, "wiki_read_page"),
        result({"id": "issue-01"}, "wiki_read_issue"),
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"knowledge_id": "wiki/issue-01", "source_refs": ["issue-01.pdf|The plan"]}',
        'knowledge_id="wiki/issue-01" <chunk chunk_id="wiki/issue-01">x</chunk>',
        '<kb doc="The plan" chunk_id="wiki/issue-01" />',
    ],
)
def test_an_id_with_the_id_of_an_issue_in_it_is_not_mined_without_it(text: str) -> None:
    """What is left of it (`wiki/i1`) is no durable id, and would be restored as one."""
    registry = Registry()
    registry.register_issue("issue-01")

    assert [text.replace("issue-01", "i1")] == contents(registry, result(text, "wiki_read_issue"))
    assert ["i1"] == [row.handle for row in registry.handles()]


@pytest.mark.parametrize("document", ["i1", "wiki/i1"])
def test_the_handle_of_an_issue_is_no_document_of_that_name(document: str) -> None:
    """A document may be called as an issue is numbered; what the issue left in a result is still the issue's."""
    registry = Registry()
    registry.register_document(document)
    registry.register_issue("issue-01")
    text = '{"id": "issue-01", "knowledge_id": "wiki/issue-01"}'

    encoded = contents(registry, result(text, "wiki_read_issue"))

    assert [text.replace("issue-01", "i1")] == encoded == contents(registry, result(encoded[0], "wiki_read_issue"))


def test_declared_issue_fields_come_back() -> None:
    """`issue_id`, `issue_ids`: known ones only."""
    registry = Registry()
    registry.register_issue("issue-01")
    [encoded] = contents(registry, call("wiki_read_issue", {"issue_id": "issue-01", "issue_ids": ["issue-01", "x-1"]}))

    assert '{"issue_id": "i1", "issue_ids": ["i1", "x-1"]}' == encoded
    assert (
        '{"issue_id": "issue-01", "issue_ids": ["issue-01", "x-1"]}' == decoded(registry, "wiki_read_issue", encoded)[0]
    )


def test_encode_known_issues() -> None:
    """Known issue ids of a text, nothing else."""
    registry = Registry()
    registry.register_issue("issue-000001")
    registry.register_document("doc-000001")

    assert "i1 doc-000001 issue-000001-x i1" == registry.encode_known_issues(
        "issue-000001 doc-000001 issue-000001-x i1"
    )


# ------------------------------------------------------------------------------------------------ bytes


def test_json_outside_replaced_strings_stays() -> None:
    """Big integers, `1.0`, duplicate keys, escapes, lone surrogates, spacing."""
    head = '{ "a":1.0,"a": 12345678901234567890,\t"\\u0062":"\\/\\ud800", "e":1E400,'

    for message in (
        call("data_schema", f'{head}"knowledge_id" : "doc-000001" }}'),
        result(f'{head}"knowledge_id" : "doc-000001" }}'),
    ):
        assert [f'{head}"knowledge_id" : "doc://1" }}'] == contents(Registry(), message)


def test_deep_and_large_arguments_are_ordinary() -> None:
    """Depth 1,500 and half a megabyte, in arguments and results."""
    deep = '{"a":' * 1500 + f'{{"knowledge_id":"{A}"}}' + "}" * 1500
    large = json.dumps({"knowledge_ids": [A] * 10_000, "x": "y\\" * 30_000})

    for tool, text in (("data_schema", deep), ("get_document_info", large)):
        for message in (call(tool, text), result(text, "list_documents")):
            assert [text.replace(A, "doc://1")] == contents(Registry(), message)


@pytest.mark.parametrize("text", ["\0", "\ud800", "\r\n", "<" * 3000, "://" * 1000, "\\", '"', "", "&#x41;", "\u2028"])
def test_odd_texts_are_copied(text: str) -> None:
    """In every role."""
    messages = [
        user(text),
        assistant(text),
        result(text),
        result(text, "wiki_read_issue"),
        result(text, "discover_mcp_tools"),
    ]

    assert messages == Registry().encode_messages(messages)


def test_the_input_is_not_touched() -> None:
    """Messages without a change are given back as they are."""
    messages = [user("hello"), result('kb_id="k-000001"')]
    before = list(messages)

    encoded = Registry().encode_messages(messages)

    assert before == messages
    assert messages[0] is encoded[0]
    assert messages[1] is not encoded[1]


# ------------------------------------------------------------------------------------------------ the report


def test_the_report_gives_the_place_of_every_replacement() -> None:
    """Offsets on both sides, in order; for a citation the place of the whole tag."""
    registry = known(A)
    report = registry.encode_with_report(
        [assistant('a <kb chunk_id="c-000001"/>'), result(f"see {A}, local://b and {A}.")]
    )

    assert [
        (0, 2, 27, 2, 23, "chunk://1", "chunk"),
        (1, 4, 40, 4, 11, "doc://1", "document"),
        (1, 42, 51, 13, 23, "res://0001", "resource"),
        (1, 56, 92, 28, 35, "doc://1", "document"),
    ] == [(s.message, s.start, s.end, s.out_start, s.out_end, s.handle, s.space) for s in report.spans]


def test_spans_of_arguments_point_into_the_raw_json() -> None:
    """Escapes before and in the value are counted as they are written."""
    arguments = '{"\\u0041": "\\n", "knowledge_id": "d\\u002d\\"1", "q": "\\ud83d\\ude00 local://a"}'
    report = Registry().encode_with_report([call("data_schema", arguments)])
    after = report.messages[0].tool_calls[0].arguments

    assert '{"\\u0041": "\\n", "knowledge_id": "doc://1", "q": "😀 res://0001"}' == after
    assert [('d\\u002d\\"1', "doc://1"), ("local://a", "res://0001")] == [
        (arguments[span.start : span.end], after[span.out_start : span.out_end]) for span in report.spans
    ]
    assert {"tool_calls[0].arguments"} == {span.path for span in report.spans}


def test_a_place_that_two_steps_rewrite_is_one_span() -> None:
    """A page's URL inside of a citation, a reference inside of an id: from the first text to the last."""
    registry = Registry()
    registry.register_document("a/res://0001")
    text = '{"url": "https://e.com/local://a"}'
    report = registry.encode_with_report([result(text)])

    for span in report.spans:
        assert span.handle in report.messages[0].content[span.out_start : span.out_end]


def test_a_handle_that_was_there_has_no_span() -> None:
    """It is copied, known or not."""
    registry = known("doc-000001")

    assert () == registry.encode_with_report([user("doc://1 doc://7"), result("doc://1")]).spans


# ------------------------------------------------------------------------------------------------ idempotence


def test_encoding_twice_changes_nothing() -> None:
    """Nor does it issue a handle: one of everything."""
    registry = Registry()
    registry.register_web("https://e.com/a")
    messages = [
        user(f'doc://5 local://a weknora://doc/x server_id="server-01" {A}'),
        assistant(f'<kb chunk_id="c-000001"/><kb chunk_id="c-000002"/><web url="https://e.com/b"/> {B}'),
        call("data_schema", {"knowledge_id": A, "q": "kb://3 s3://b/k"}),
        result(f'kb_id="k-000001" <chunk chunk_id="{B}"/> {A} https://e.com/a. doc://9'),
        result({"knowledge_id": "doc-000001", "x": ["doc-000001", "文档编号一文档编号一"], "kb_id": "文档编号一"}),
        result("server-01 tool-01", "discover_mcp_tools"),
        result({"server_id": "server-01", "tool_ref": "tool-01"}, "discover_mcp_tools"),
        result({"issues": [{"id": "issue-01"}]}, "wiki_read_issue"),
        call("database_query", {"sql": f"select '{A}', '文档编号一' -- {B}"}),
        Message(
            role="assistant", reasoning=A, reasoning_signature="s", tool_calls=(ToolCall(name="x", arguments="{"),)
        ),
    ]

    once = registry.encode_messages(messages)
    issued = registry.handles()

    assert once == registry.encode_messages(once)
    assert issued == registry.handles()


def test_another_scheme_is_text() -> None:
    """With a pack's own scheme, URIs of the default one are left alone."""
    registry = Registry(policies=ToolPolicies.loads('name = "own"\nextends = "builtin"\nuri_scheme = "shop"\n'))

    assert ["weknora://doc/a doc://1"] == contents(registry, user("weknora://doc/a shop://doc/a"))


@pytest.mark.parametrize("value", ['"doc-0001"', 'a","doc-0001', 'doc-0001"', "\\doc-0001", "doc-0001\\"])
def test_an_id_that_would_take_a_mark_of_json_with_it_is_not_looked_for(value: str) -> None:
    """The quotation mark around a string, or half of an escape, is no part of a known id, whatever ids there are."""
    registry = Registry()
    registry.register_document(value)
    result = json.dumps([value, "doc-0001", "a", {"knowledge_id": value, "x": f"see {value} "}])

    [encoded] = registry.encode_messages([Message(role="tool", name="grep_chunks", content=result)])

    assert 4 == len(json.loads(encoded.content))
