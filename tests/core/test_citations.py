"""Citations: canonical tags of history become references, references of the model become canonical tags."""

from __future__ import annotations

import pytest

from modelcontext_core import ChunkReference, Message, Registry
from tests.core.making import assistant, contents, result, user


def encoded(text: str) -> str:
    """An assistant's text, encoded in a new registry."""
    return contents(Registry(), assistant(text))[0]


@pytest.mark.parametrize(
    "tag",
    [
        '<kb doc="T" chunk_id="c-000001" kb_id="k-1" />',
        "<kb chunk_id='c-000001'/>",
        '<kb doc="a > b" chunk_id="c-000001">',
        '<kb\n  chunk_id = "c-000001"\n/>',
        '<kb x=1 chunk_id="c-000001"/>',
    ],
)
def test_a_kb_tag_becomes_a_chunk_reference(tag: str) -> None:
    """Attributes in either quote, which may hold `>`; unquoted ones are passed over."""
    assert 'see <ref id="chunk://1"/>.' == encoded(f"see {tag}.")


def test_a_web_tag_becomes_a_page_reference() -> None:
    """Its `url` and `title`, HTML-unescaped."""
    registry = Registry()

    assert ['<ref id="url://1"/>'] == contents(
        registry, assistant('<web url="https://e.com/?a=1&amp;b=2" title="A &lt; B"/>')
    )
    registry.register_web("https://e.com/?a=1&b=2")
    assert '<web url="https://e.com/?a=1&amp;b=2" title="A &lt; B" />' == registry.decode_output_text(
        "<ref id='url://1'>"
    )


@pytest.mark.parametrize(
    "tag",
    [
        "<kb>",
        '<kb doc="T"/>',
        '<kb chunk_id=""/>',
        '<kb chunk_id="two words"/>',
        '<kb chunk_id="ab"/>',
        '<kb chunk_id="chunk://7"/>',
        '<kb chunk_id="doc://1"/>',
        '<kb Chunk_ID="c-000001"/>',
        '<kb data-chunk_id="c-000001"/>',
        '<KB chunk_id="c-000001"/>',
        '<kbd chunk_id="c-000001"/>',
        '<web url="ftp://e.com"/>',
        '<web href="https://e.com"/>',
        '<kb chunk_id="c-000001" <x>',
        '<kb chunk_id="c-000001"',
    ],
)
def test_a_tag_without_a_usable_id_stays(tag: str) -> None:
    """Exact names, an id that may be mined, a whole tag."""
    assert tag == encoded(tag)


def test_tags_may_follow_each_other_directly() -> None:
    """Every one of them becomes a reference."""
    assert '<ref id="chunk://1"/><ref id="chunk://2"/>' == encoded('<kb chunk_id="c-000001"/><kb chunk_id="c-000002"/>')


def test_a_known_id_is_compacted_whatever_its_shape() -> None:
    """The mining rules are for what is not known yet."""
    registry = Registry()
    registry.register_chunk(ChunkReference(chunk_id="ab"))

    assert ['<ref id="chunk://1"/>'] == contents(registry, assistant('<kb chunk_id="ab"/>'))
    assert ['<ref id="chunk://1"/>'] == contents(registry, assistant('<kb chunk_id="chunk://1"/>'))


def test_an_address_that_nobody_escaped_is_taken_as_it_is() -> None:
    """`&region` is a parameter, not the sign that HTML reads in its first letters."""
    registry = Registry()
    registry.encode_messages([assistant('<web url="https://e.com/?a=1&region=eu" title="T"/>')])

    assert "https://e.com/?a=1&region=eu" == registry.decode_output_text("url://1")


def test_a_known_knowledge_base_is_taken_whatever_its_shape() -> None:
    """Its handle stands for it; what may not be mined and is not known is left out of the citation."""
    for value, expected in (("kb", ' kb_id="kb"'), ("kb://1", ' kb_id="kb"'), ("ab", ""), ("kb://2", "")):
        registry = Registry()
        registry.register_knowledge_base("kb")
        registry.encode_messages([assistant(f'<kb chunk_id="c-000001" kb_id="{value}"/>')])
        registry.register_chunk(ChunkReference(chunk_id="c-000001"))

        assert f'<kb doc="" chunk_id="c-000001"{expected} />' == registry.decode_output_text("chunk://1")


def test_only_assistants_and_source_tools_cite() -> None:
    """In a user's text, a system text, or a result of another tool the tag stays, but for known ids in compact ones."""
    tag = '<kb chunk_id="c-000001"/>'
    reference = '<ref id="chunk://1"/>'

    assert [tag] == contents(Registry(), user(tag))
    assert [tag] == contents(Registry(), Message(role="system", content=tag))
    assert [tag] == contents(Registry(), result(tag, "read_file"))
    assert [tag] == contents(Registry(), result(tag, "unknown"))
    assert [reference] == contents(Registry(), result(tag, "grep_chunks"))


def test_in_json_a_reference_keeps_the_string_whole() -> None:
    """Its quotes are escaped; a tag that begins in one string and ends in another is none."""
    assert ['{"a": "<ref id=\\"chunk://1\\"/>"}'] == contents(
        Registry(), result('{"a": "<kb chunk_id=\'c-000001\'/>"}')
    )
    for text in ('{"a":"<kb ","b":"chunk_id=\'c-000001\'>"}', '["<kb chunk_id=\'a","b\'/>"]'):
        assert [text] == contents(Registry(), result(text))


@pytest.fixture
def registry() -> Registry:
    """A citable chunk with all metadata, one that is not citable, a citable page."""
    made = Registry()
    made.register_chunk(ChunkReference(chunk_id="c-1", document_title='A "B" <C>', knowledge_base_id="k&1"))
    made.register_context_chunk(ChunkReference(chunk_id="c-2"))
    made.register_web("https://e.com/?a=1&b=2", "it's")
    return made


CHUNK = '<kb doc="A &quot;B&quot; &lt;C&gt;" chunk_id="c-1" kb_id="k&amp;1" />'
PAGE = '<web url="https://e.com/?a=1&amp;b=2" title="it&#x27;s" />'


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ('<ref id="chunk://1"/>', CHUNK),
        ("<ref id='chunk://1'>", CHUNK),
        ('<REF x="y" ID=" Chunk://1 " z />', CHUNK),
        ('<ref id="c1"/>', CHUNK),
        ('<ref\tid="chunk://1"/>', CHUNK),
        ('<ref/id="chunk://1"/>', CHUNK),
        ('<ref id="url://1"/>', PAGE),
        ('<ref id="W1"/>', PAGE),
        ('<ref id="chunk://2"/>', ""),
        ('<ref id="chunk://9"/>', ""),
        ('<ref id="chunk://01"/>', ""),
        ('<ref id="doc://1"/>', ""),
        ('<ref id="c-1"/>', ""),
        ('<ref id="chunk://1 chunk://1"/>', ""),
        ("<ref id=chunk://1/>", ""),
        ('<ref data-id="chunk://1"/>', ""),
        ("<ref>", ""),
        ("<ref/>", ""),
    ],
)
def test_a_reference_is_restored_when_its_source_is_citable(registry: Registry, tag: str, expected: str) -> None:
    """Escaped as attributes are; any other reference disappears."""
    assert f"a{expected}b" == registry.decode_output_text(f"a{tag}b")


def test_a_tag_leaves_out_what_is_not_known() -> None:
    """`kb_id` only when known; the title may be empty."""
    registry = Registry()
    registry.register_chunk(ChunkReference(chunk_id="c-1"))

    assert '<kb doc="" chunk_id="c-1" />' == registry.decode_output_text('<ref id="chunk://1"/>')


@pytest.mark.parametrize(
    "text",
    [
        '<chunk chunk_id="c-000001" doc="minio://b/plan.pdf of weknora://doc/d-1">30 days</chunk>',
        '<kb doc="minio://b/plan.pdf of weknora://doc/d-1" chunk_id="c-000001"/>',
    ],
)
def test_a_title_is_shown_to_readers_without_handles(text: str) -> None:
    """What encoding wrote into it before the source was registered is undone: a stored citation holds no handle."""
    registry = Registry()
    registry.encode_messages([result(text, "knowledge_search")])
    registry.register_chunk(ChunkReference(chunk_id="c-000001"))

    assert '<kb doc="minio://b/plan.pdf of weknora://doc/d-1" chunk_id="c-000001" />' == registry.decode_output_text(
        "chunk://1"
    )


def test_without_citations_every_reference_disappears() -> None:
    """And a bare chunk becomes a URI."""
    registry = Registry(citations_enabled=False)
    registry.register_chunk(ChunkReference(chunk_id="c-1"))
    registry.register_web("https://e.com")

    assert "ab weknora://chunk/c-1 https://e.com" == registry.decode_output_text(
        'a<ref id="chunk://1"/>b chunk://1 url://1'
    )
