"""Step 4: where results of source tools name identities, what is mined from them, and in which space."""

from __future__ import annotations

import pytest

from modelcontext_core import ChunkReference, Registry, ToolPolicies
from modelcontext_core.labels import find_labels
from modelcontext_core.policies import DEFAULT_POLICIES
from tests.core.making import A, B, call, contents, result


def encoded(text: str, tool: str = "grep_chunks") -> str:
    """A tool result, encoded in a new registry."""
    return contents(Registry(), result(text, tool))[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('knowledge_id="d-000001"', 'knowledge_id="doc://1"'),
        ("knowledge_id='d-000001'", "knowledge_id='doc://1'"),
        ("<knowledge_id>d-000001</knowledge_id>", "<knowledge_id>doc://1</knowledge_id>"),
        ('knowledge_base_id="k-000001"', 'knowledge_base_id="kb://1"'),
        ("kb_id='k-000001'", "kb_id='kb://1'"),
        ("<kb_id>k-000001</kb_id>", "<kb_id>kb://1</kb_id>"),
        ('kb_id="a&amp;b-1"', 'kb_id="kb://1"'),
        ('kb_id=" k-1 "', 'kb_id="kb://1"'),
        ('x.kb_id="k-1"', 'x.kb_id="kb://1"'),
        ('\\nkb_id="k-1"', '\\nkb_id="kb://1"'),
        ('kb_id="k-1" kb_id="k-2" kb_id="k-1"', 'kb_id="kb://1" kb_id="kb://2" kb_id="kb://1"'),
    ],
)
def test_three_names_label_an_id(text: str, expected: str) -> None:
    """As an attribute in either quote, or as an element; HTML-unescaped and trimmed."""
    assert expected == encoded(text)


@pytest.mark.parametrize(
    "text",
    [
        'my_kb_id="k-000001"',
        'my-kb_id="k-000001"',
        'KB_ID="k-000001"',
        'kb_id = "k-000001"',
        "kb_id=k-000001",
        "<kb_id>k-000001</knowledge_id>",
        "kb_id>k-000001</kb_id>",
        "<kb_id>k<b>-000001</kb_id>",
        'chunk_id="c-000001"',
        'kb_id="k\\-000001"',
        'kb_id=""',
        'kb_id="two words"',
        'kb_id="kb://7"',
        'kb_id="b1"',
        'kb_id="…"',
    ],
)
def test_what_is_no_label_or_no_id(text: str) -> None:
    """Glued, other case, spaces, no quotes, elements that do not close; values that are escaped or no identities."""
    assert text == encoded(text)


def test_another_name_swallows_no_label() -> None:
    """Whatever stands under names that are none of the three, a label inside or behind it counts."""
    assert '<doc_id>see kb_id="kb://1"</doc_id>' == encoded('<doc_id>see kb_id="k-000001"</doc_id>')
    assert "user_id=\"5' kb_id='kb://1'" == encoded("user_id=\"5' kb_id='k-000001'")


@pytest.mark.parametrize("name", ["chunk", "faq"])
def test_chunk_tags_register_their_chunk(name: str) -> None:
    """`chunk_id` or `faq_id`, in either quote."""
    for key in ("chunk_id", "faq_id"):
        assert f"<{name} {key}='chunk://1' x=\"a > b\">" == encoded(f"<{name} {key}='c-000001' x=\"a > b\">")
    assert f'<{name} chunk_id="" faq_id="chunk://1"/>' == encoded(f'<{name} chunk_id="" faq_id="c-000001"/>')


def test_chunk_tags_fill_metadata() -> None:
    """Document, knowledge base and title; the ids among them are labels of their own, too."""
    registry = Registry()
    tag = '<chunk chunk_id="c-000001" knowledge_id="d-000001" kb_id="k-000001" doc="T &amp; U"/>'

    assert ['<chunk chunk_id="chunk://1" knowledge_id="doc://1" kb_id="kb://1" doc="T &amp; U"/>'] == contents(
        registry, result(tag)
    )
    assert "weknora://doc/d-000001" == registry.decode_output_text("chunk://1")
    registry.register_chunk(ChunkReference(chunk_id="c-000001"))
    assert '<kb doc="T &amp; U" chunk_id="c-000001" kb_id="k-000001" />' == registry.decode_output_text("chunk://1")


@pytest.mark.parametrize("value", ["...", "ab", "a b", "i12", "d12", "x doc://5", "d\\u0041-01"])
def test_metadata_is_filled_by_ids_only(value: str) -> None:
    """What may not be mined is no document and no knowledge base of a chunk either; another name may still be one."""
    registry = Registry()
    text = f"<chunk chunk_id='c-000001' knowledge_id='{value}' knowledge_base_id='{value}' kb_id='k-000001'/>"
    registry.encode_messages([result(text)])
    registry.register_chunk(ChunkReference(chunk_id="c-000001"))

    assert '<kb doc="" chunk_id="c-000001" kb_id="k-000001" />' == registry.decode_output_text("chunk://1")
    assert "](weknora://chunk/c-000001" == registry.decode_output_text("](chunk://1")


def test_metadata_may_be_a_known_id_of_any_shape() -> None:
    """The mining rules are for what is not known yet."""
    registry = Registry()
    registry.register_document("ab")
    registry.encode_messages([result("<chunk chunk_id='c-000001' knowledge_id='ab'/>")])

    assert "weknora://doc/ab" == registry.decode_output_text("chunk://1")


def test_json_keys_name_ids_at_any_depth() -> None:
    """For their string or the strings of their arrays, not through objects; compared in lower case."""
    assert (
        '{"a": [{"Knowledge_ID": "doc://1"}], "kb_ids": [["kb://1"], {"x": "k-9"}], "chunk_id": {"y": "c-9"}}'
    ) == encoded(
        '{"a": [{"Knowledge_ID": "d-000001"}], "kb_ids": [["k-000001"], {"x": "k-9"}], "chunk_id": {"y": "c-9"}}'
    )


def test_a_key_spelt_with_escapes_is_none() -> None:
    """`kb\\u005fid` is another key."""
    text = '{"kb\\u005fid": "k-000001"}'

    assert text == encoded(text)


def test_only_a_whole_json_result_has_keys() -> None:
    """JSON with anything around it is text."""
    for text in ('x {"kb_id": "k-000001"}', '{"kb_id": "k-000001"} x', '{"kb_id": "k-000001"'):
        assert text == encoded(text)
    assert ' \n[{"kb_id": "kb://1"}]\n' == encoded(' \n[{"kb_id": "k-000001"}]\n')


def test_keys_take_what_their_space_takes() -> None:
    """`url` http(s) only; `id` a known chunk before a known document; of `source_refs` what stands before the bar."""
    registry = Registry()
    registry.register_document("d-000001")
    text = (
        '{"url": "ftp://e.com/a", "urls": ["https://e.com/a#b"], "id": "d-000001", "source_refs": ["d-000002|Title"]}'
    )

    assert [
        '{"url": "ftp://e.com/a", "urls": ["url://1"], "id": "doc://1", "source_refs": ["doc://2|Title"]}'
    ] == contents(registry, result(text))
    assert '{"id": "d-000009"}' == encoded('{"id": "d-000009"}')


def test_escaped_json_values_are_read() -> None:
    """The value is what the literal means; the rest of the JSON keeps its bytes."""
    registry = Registry()

    assert ['{"kb_id":"kb://1",  "n":1.0}'] == contents(registry, result('{"kb_id":"k\\u002d\\"1",  "n":1.0}'))
    assert ['k-"1'] == [row.durable for row in registry.handles()]


@pytest.mark.parametrize(
    "text",
    [
        '{"a":"it kb_id=\'","b":"x\'"}',
        '{"a":"<kb_id>","b":"</kb_id>"}',
        '{"a":"<chunk ","b":"chunk_id=\'xyz-01\' >"}',
        '["kb_id=",123456,"x"]',
    ],
)
def test_in_json_a_label_ends_with_its_string(text: str) -> None:
    """What begins in one string and ends in another would take the JSON apart."""
    assert text == encoded(text)


def test_in_json_labels_inside_a_string_count() -> None:
    """With single quotes or as an element."""
    assert '{"a": "kb_id=\'kb://1\' <knowledge_id>doc://1</knowledge_id>"}' == encoded(
        '{"a": "kb_id=\'k-000001\' <knowledge_id>d-000001</knowledge_id>"}'
    )


@pytest.mark.parametrize(
    "tool", ["read_file", "data_analysis", "discover_mcp_tools", "call_mcp_tool", "mcp_x", "unknown", ""]
)
def test_only_source_tools_are_mined(tool: str) -> None:
    """A field name alone never means anything."""
    text = 'kb_id="k-000001" <chunk chunk_id="c-000001"/>'

    assert text == encoded(text, tool)


def test_registrations_follow_the_position() -> None:
    """Labels, tags and keys in the order of the text, whatever their kind; arguments as they come."""
    registry = Registry()
    contents(
        registry,
        result("<kb_id>k-2</kb_id> kb_id='k-1'"),
        call("list_documents", {"knowledge_base_id": "k-3"}),
        result({"kb_ids": ["k-5", "k-4"]}),
    )

    assert ["k-2", "k-1", "k-3", "k-5", "k-4"] == [row.durable for row in registry.handles()]


PACK = ToolPolicies.loads(
    'name = "own"\nextends = "builtin"\nuri_scheme = "shop"\n[keys]\norder_id = "document"\n'
    '[tools.find]\nids = ["order_id"]\noutput = "source"\nmine = ["uuid", "url"]\n'
)


def test_a_pack_adds_keys_and_a_uri_scheme() -> None:
    """`[keys]` extends the key table, `uri_scheme` names the durable text form."""
    registry = Registry(policies=PACK)

    assert ['{"order_id": "doc://2"}', '{"order_id": "doc://2", "q": "doc://1"}'] == contents(
        registry, result({"order_id": "o-000001"}, "find"), call("find", {"order_id": "o-000001", "q": "shop://doc/x"})
    )
    assert "shop://doc/o-000001" == registry.decode_output_text("doc://2")


def test_a_pack_may_mine_uuids_and_links() -> None:
    """By position; a URL as a link, a UUID wherever its handle can be read back."""
    registry = Registry(policies=PACK)
    text = f"{A}, (https://e.com/x). x-{B}-y _{A}_ https://user@e.com/"

    assert [f"doc://1, (url://1). x-doc://2-y _{A}_ https://user@e.com/"] == contents(registry, result(text, "find"))


def test_find_labels_only_looks() -> None:
    """Places, spaces and values, in the order of the text."""
    found = find_labels('kb_id="k-1" <chunk chunk_id="c-1"/>', DEFAULT_POLICIES.keys, is_json=False)

    assert [(7, 10, "knowledge_base", "k-1"), (29, 32, "chunk", "c-1")] == [tuple(label[:4]) for label in found]
