"""Registering sources: numbers, echoes, refusals, metadata, and what becomes citable."""

from __future__ import annotations

import pytest

from modelcontext_core import ChunkReference, Registry, SearchResult
from tests.core.making import A, B, C, assistant, call, contents, result, user


def citable(registry: Registry) -> list[str]:
    """The handles that may be cited."""
    return [row.handle for row in registry.handles() if row.citable]


def test_numbers_follow_first_registration_in_each_space() -> None:
    """From 1, each space for itself; the same value keeps its handle."""
    registry = Registry()

    assert "doc://1" == registry.register_document("a-1")
    assert "doc://2" == registry.register_document("b-1")
    assert "doc://1" == registry.register_document(" a-1 ")
    assert "kb://1" == registry.register_knowledge_base("a-1")
    assert "chunk://1" == registry.register_chunk(ChunkReference(chunk_id="a-1"))
    assert "url://1" == registry.register_web("https://e.com")
    assert "i1" == registry.register_issue("a-1")


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "ftp://e.com/a", "file:///etc/hosts", "e.com/a"]
)
def test_only_http_addresses_are_web_pages(address: str) -> None:
    """A page's address is written into an answer as a link, so one that could run or read something gets no handle."""
    registry = Registry()

    assert registry.register_web(address, "A title") is None
    assert () == registry.handles()


@pytest.mark.parametrize(
    "value", ["", "  ", "doc://1", "doc://9", "DOC://x", "chunk://1", "res://0001", "kb://", "d1", "C12", "w007"]
)
def test_handles_and_blanks_are_refused(value: str) -> None:
    """Anything that begins with a scheme of handles, or has a legacy shape, is no durable id."""
    registry = Registry()

    assert registry.register_document(value) is None
    assert registry.register_knowledge_base(value) is None
    assert registry.register_web(value) is None
    assert registry.register_chunk(ChunkReference(chunk_id=value)) is None
    assert () == registry.handles()


def test_a_known_handle_of_the_same_space_is_echoed() -> None:
    """In its canonical form; a handle of another space is refused."""
    registry = Registry()
    registry.register_document("a-1")
    registry.register_issue("issue-1")

    assert "doc://1" == registry.register_document(" Doc://1 ")
    assert registry.register_knowledge_base("doc://1") is None
    assert "i1" == registry.register_issue("I1")
    assert registry.register_issue("i2") is None


def test_an_issue_has_refusals_of_its_own() -> None:
    """The shape of its own handle, of scheme handles and of legacy ones; `ms1` is an id like any other."""
    registry = Registry()

    for value in ("i7", "I7", "doc://1", "c1", ""):
        assert registry.register_issue(value) is None
    assert "i1" == registry.register_issue("ms1")


def test_search_results_register_document_base_and_chunk() -> None:
    """In that order for each result; the chunk handles are returned, and all are known afterwards."""
    registry = Registry()
    results = [
        SearchResult(id="c-1", knowledge_id="d-1", knowledge_base_id="k-1", knowledge_title="T"),
        SearchResult(
            id="c-2", knowledge_id="d-2", knowledge_base_id="k-1", knowledge_title=" ", knowledge_filename="f.pdf"
        ),
        SearchResult(id="", knowledge_id="d-3"),
    ]

    assert ["chunk://1", "chunk://2", None] == registry.register_search_results(results)
    assert ["c-1", "c-2", "d-1", "d-2", "d-3", "k-1"] == [row.durable for row in registry.handles()]
    assert '<kb doc="f.pdf" chunk_id="c-2" kb_id="k-1" />' == registry.decode_output_text("chunk://2")


def test_chunk_handle_only_looks_up() -> None:
    """A durable id or a known handle; nothing is registered."""
    registry = Registry()
    registry.register_chunk(ChunkReference(chunk_id="c-1"))

    assert "chunk://1" == registry.chunk_handle(" c-1 ")
    assert "chunk://1" == registry.chunk_handle("CHUNK://1")
    assert registry.chunk_handle("chunk://2") is None
    assert registry.chunk_handle("c-2") is None
    assert 1 == len(registry.handles())


def test_registering_a_chunk_again_fills_only_what_was_empty() -> None:
    """The first title stays, a knowledge base that was unknown is added."""
    registry = Registry()
    registry.register_chunk(ChunkReference(chunk_id="c-1", document_title="First"))
    registry.register_chunk(ChunkReference(chunk_id="c-1", document_title="Second", knowledge_base_id="k-1"))

    assert '<kb doc="First" chunk_id="c-1" kb_id="k-1" />' == registry.decode_output_text("chunk://1")


def test_ids_in_metadata_are_trimmed() -> None:
    """A blank one says nothing, so that a later registration can fill it."""
    registry = Registry()
    registry.register_chunk(ChunkReference(chunk_id="c-1", knowledge_id=" d-1 ", knowledge_base_id="  "))
    registry.register_chunk(ChunkReference(chunk_id="c-1", knowledge_base_id=" k-1\n"))

    assert '<kb doc="" chunk_id="c-1" kb_id="k-1" />' == registry.decode_output_text("chunk://1")
    assert "](weknora://doc/d-1" == registry.decode_output_text("](chunk://1")


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ("see doc", "see doc://9"),
        ("see weknora", "see weknora://doc/%zz"),
        ("see https", "see https://e.com/a"),
    ],
)
def test_no_id_takes_half_a_unit(known: str, text: str) -> None:
    """A known id that ends inside a handle, a URI or a URL is not replaced there."""
    registry = Registry()
    registry.register_document(known)

    assert text == registry.compact_known_text(text)


def test_a_handle_as_metadata_stands_for_its_id() -> None:
    """A producer that has a handle already: no citation and no URI holds it; an unknown one says nothing."""
    registry = Registry()
    registry.register_document("d-000001")
    registry.register_knowledge_base("k-000001")
    registry.register_chunk(ChunkReference(chunk_id="c-1", knowledge_id="DOC://1", knowledge_base_id="kb://9"))
    tag = '<chunk chunk_id="c-2" knowledge_id="doc://1" kb_id="kb://1">30 days</chunk>'
    registry.encode_messages([result(tag, "knowledge_search")])
    registry.register_chunk(ChunkReference(chunk_id="c-2"))
    registry.register_chunk(ChunkReference(chunk_id="c-3", knowledge_id="kb://1", knowledge_base_id="s3://b/base"))

    decoded = registry.decode_output_text("](chunk://1) chunk://1 ](chunk://2) chunk://2 ](chunk://3) chunk://3")

    assert decoded == (
        '](weknora://doc/d-000001) <kb doc="" chunk_id="c-1" /> '
        '](weknora://doc/d-000001) <kb doc="" chunk_id="c-2" kb_id="k-000001" /> '
        '](weknora://chunk/c-3) <kb doc="" chunk_id="c-3" kb_id="s3://b/base" />'
    )


def test_a_page_is_one_identity_without_its_fragment() -> None:
    """The first raw URL seen is what the handle restores; a title that was missing is added."""
    registry = Registry()

    assert "url://1" == registry.register_web("https://e.com/a#top")
    assert "url://1" == registry.register_web("https://e.com/a", "Title")
    assert "url://1" == registry.register_web("https://e.com/a#end", "Other")
    assert "url://2" == registry.register_web("https://e.com/A")
    assert '<web url="https://e.com/a#top" title="Title" />' == registry.decode_output_text('<ref id="url://1"/>')


def test_retrieval_makes_citable_and_context_does_not() -> None:
    """`register_chunk`, `register_web` and search results do; context chunks, documents and bases never are."""
    registry = Registry()
    registry.register_chunk(ChunkReference(chunk_id="c-1"))
    registry.register_context_chunk(ChunkReference(chunk_id="c-2"))
    registry.register_search_results([SearchResult(id="c-3", knowledge_id="d-1")])
    registry.register_web("https://e.com")

    assert ["chunk://1", "chunk://3", "url://1"] == citable(registry)


def test_replayed_history_makes_navigable_only() -> None:
    """Citations, tool results, arguments and URIs of history are no current evidence."""
    registry = Registry()
    contents(
        registry,
        assistant('<kb chunk_id="c-000001" /><web url="https://e.com/1" />'),
        result('<chunk chunk_id="c-000002"/>'),
        call("list_knowledge_chunks", {"chunk_id": "c-000003"}),
        call("web_fetch", {"url": "https://e.com/2"}),
        user("weknora://chunk/c-000004"),
    )

    assert [] == citable(registry)
    assert 4 == len([row for row in registry.handles() if row.space == "chunk"])


def test_a_later_retrieval_promotes_the_same_handle() -> None:
    """And nothing demotes it again."""
    registry = Registry()
    assert "chunk://1" == registry.register_context_chunk(ChunkReference(chunk_id="c-1"))
    assert "chunk://1" == registry.register_chunk(ChunkReference(chunk_id="c-1"))
    assert "chunk://1" == registry.register_context_chunk(ChunkReference(chunk_id="c-1"))

    assert ["chunk://1"] == citable(registry)


def test_echoing_a_handle_promotes_too() -> None:
    """A retrieval that names a chunk by its handle is evidence for it."""
    registry = Registry()
    registry.register_context_chunk(ChunkReference(chunk_id="c-1"))
    registry.register_chunk(ChunkReference(chunk_id="chunk://1"))

    assert ["chunk://1"] == citable(registry)


def test_a_reserved_number_is_never_given_out() -> None:
    """A handle that stands in the input and is not known keeps its number from meaning something else."""
    registry = Registry()
    contents(registry, user("doc://1, DOC://3 and doc://007; res://0002"))

    assert ["doc://2", "doc://4"] == [registry.register_document("a-1"), registry.register_document("b-1")]
    assert ["res://0001 res://0003"] == contents(registry, user("local://a local://b"))


def test_reservation_comes_before_registration() -> None:
    """A handle in the last message is reserved before the first message registers anything."""
    registry = Registry()

    assert ["doc://2", "doc://1"] == contents(registry, user("weknora://doc/a"), user("doc://1"))


@pytest.mark.parametrize("place", ["key", "invalid", "signed", "escaped"])
def test_keys_broken_arguments_and_signed_reasoning_reserve_too(place: str) -> None:
    """Wherever a handle stands in the input."""
    registry = Registry()
    message = {
        "key": call("any", '{"doc://1": 0}'),
        "invalid": call("any", '{"a": "doc://1"'),
        "escaped": call("any", '{"a": "doc:\\/\\/1"}'),
        "signed": assistant(""),
    }[place]
    if place == "signed":
        message = type(message)(role="assistant", reasoning="doc://1", reasoning_signature="s")
    registry.encode_messages([message])

    assert "doc://2" == registry.register_document("a-1")


def test_a_known_handle_reserves_nothing() -> None:
    """Its number is taken by what it means."""
    registry = Registry()
    registry.register_document("a-1")
    contents(registry, user("doc://1"))

    assert "doc://1" == registry.register_document("a-1")
    assert "doc://2" == registry.register_document("b-1")


def test_huge_reserved_numbers_cost_nothing() -> None:
    """Eighteen digits are a number like any other."""
    registry = Registry()
    contents(registry, user("doc://999999999999999999 doc://1"))

    assert "doc://2" == registry.register_document("a-1")


def test_an_id_known_in_several_spaces_stands_for_the_first_of_them() -> None:
    """Chunk, document, knowledge base, web; whatever was registered first."""
    registry = Registry()
    registry.register_knowledge_base("same-01")
    registry.register_document(A)
    assert "see kb://1, doc://1" == registry.compact_known_text(f"see same-01, {A}")

    registry.register_document("same-01")
    registry.register_chunk(ChunkReference(chunk_id=A))
    assert "see doc://2, chunk://1" == registry.compact_known_text(f"see same-01, {A}")


def test_known_text_follows_the_gluing_rule() -> None:
    """A UUID of the four source spaces may touch `-`; other ids may not."""
    registry = Registry()
    for durable in (A, "doc-000001"):
        registry.register_document(durable)

    assert "x-doc://1-y" == registry.compact_known_text(f"x-{A}-y")
    for text in (f"_{A}", f"{A}_", f"x{A}", f"{A}0", "doc-000001-b", "a-doc-000001", "doc-0000012"):
        assert text == registry.compact_known_text(text)


def test_short_ids_and_numbers_stay_in_prose() -> None:
    """Fewer than six characters, or only ASCII digits."""
    registry = Registry()
    for durable in ("doc-1", "1234567", "doc-01"):
        registry.register_document(durable)

    assert "doc-1 1234567 doc://3" == registry.compact_known_text("doc-1 1234567 doc-01")


def test_a_url_is_one_unit() -> None:
    """Replaced when it, or it without trailing signs, is a known page's raw URL; else left whole, ids inside too."""
    registry = Registry()
    registry.register_document(A)
    registry.register_web("https://e.com/a#top")

    for text, expected in (
        ("see https://e.com/a#top.", "see url://1."),
        ("(https://e.com/a#top)", "(url://1)"),
        ("https://e.com/a", "https://e.com/a"),
        ("https://e.com/a#top/b", "https://e.com/a#top/b"),
        (f"https://e.com/{A}", f"https://e.com/{A}"),
        (f"https://e.com/x|{A}", "https://e.com/x|doc://1"),
        (f"ftp://e.com/{A}", "ftp://e.com/doc://1"),
        (f"xhttps://e.com/{A}", "xhttps://e.com/doc://1"),
    ):
        assert expected == registry.compact_known_text(text)


def test_a_uri_is_one_unit() -> None:
    """It becomes its handle or stays whole; a known id inside a broken one is not replaced."""
    registry = Registry()
    registry.register_document("doc-000001")

    assert "doc://1" == registry.compact_known_text("weknora://doc/doc-000001")
    assert "weknora://doc/%zz-doc-000001" == registry.compact_known_text("weknora://doc/%zz-doc-000001")


def test_handles_are_listed_with_what_they_stand_for() -> None:
    """Source spaces and resources by number, then issues and MCP ids, with the place where each was first needed."""
    registry = Registry()
    registry.register_knowledge_base(C)
    registry.register_issue("issue-1")
    registry.encode_with_report([user(f"local://a {B}"), result(f'knowledge_id="{B}" {B}')])

    assert [
        ("doc://1", B, "document", False, 1, "content", 2),
        ("kb://1", C, "knowledge_base", False, -1, "", 0),
        ("res://0001", "local://a", "resource", False, 0, "content", 1),
        ("i1", "issue-1", "issue", False, -1, "", 0),
    ] == [
        (row.handle, row.durable, row.space, row.citable, row.first_message, row.first_path, row.uses)
        for row in registry.handles()
    ]
