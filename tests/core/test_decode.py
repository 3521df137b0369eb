"""Decoding an answer (tags, handles, what disappears) and the report of what became of each."""

from __future__ import annotations

import pytest

from modelcontext_core import ChunkReference, DecodeItem, Registry
from modelcontext_core.grammar import TAG
from tests.core.making import A, contents, result, user


@pytest.fixture
def registry() -> Registry:
    """One of everything: a citable chunk of a known document, one of an unknown, and one that is not citable."""
    made = Registry()
    made.register_chunk(ChunkReference(chunk_id="c-1", knowledge_id="d-1", document_title="T"))
    made.register_context_chunk(ChunkReference(chunk_id="c-2", knowledge_id="d 2"))
    made.register_context_chunk(ChunkReference(chunk_id="c-3"))
    made.register_document("d-1")
    made.register_knowledge_base("k-1")
    made.register_web("https://e.com/a?b=1#c", "W")
    made.register_issue("issue-1")
    contents(made, user("local://a"), result({"server_id": "srv-1", "tool_ref": "ref-1"}, "discover_mcp_tools"))
    return made


KB = '<kb doc="T" chunk_id="c-1" />'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("doc://1 kb://1", "weknora://doc/d-1 weknora://kb/k-1"),
        ("Doc://1", "weknora://doc/d-1"),
        ("doc://1的", "weknora://doc/d-1的"),
        ("url://1", "https://e.com/a?b=1#c"),
        ("res://0001", "local://a"),
        ("i1 ms1 mt1", "issue-1 srv-1 ref-1"),
        ("i1, (i1) 的i1的", "issue-1, (issue-1) 的issue-1的"),
        ("\\ndoc://1\\ni1", "\\nweknora://doc/d-1\\nissue-1"),
        ("![x](res://0001)", "![x](local://a)"),
    ],
)
def test_known_handles_are_restored(registry: Registry, text: str, expected: str) -> None:
    """Ids as URIs, pages as URLs, references, issues and routing ids as themselves."""
    assert expected == registry.decode_output_text(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a doc://9 b", "a  b"),
        ("a doc://007 b", "a  b"),
        ("a res://1 b", "a  b"),
        ("doc://0", ""),
        ("i9 ms9 mt9 i01", "i9 ms9 mt9 i01"),
        ("I1 xi1 i1x i1-a -i1 i1_ i12", "I1 xi1 i1x i1-a -i1 i1_ i12"),
        ("xdoc://1 doc://1x doc:/1", "xdoc://1 doc://1x doc:/1"),
        (f"doc://{'1' * 19}", f"doc://{'1' * 19}"),
        ("c1 d1 b1 w1", "c1 d1 b1 w1"),
    ],
)
def test_unknown_scheme_handles_disappear_and_words_stay(registry: Registry, text: str, expected: str) -> None:
    """`i9` may be a word; `doc://9` can only mislead. Legacy forms are never read in prose."""
    assert expected == registry.decode_output_text(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("… doc://", "… "),
        ("… <res://", "… "),
        ("doc:// x", "doc:// x"),
        ("doc:/", "doc:/"),
        ("re", "re"),
        ("xdoc://", "xdoc://"),
        ("https://", "https://"),
    ],
)
def test_a_bare_scheme_at_the_end_disappears(registry: Registry, text: str, expected: str) -> None:
    """With its slashes, at the very end of the text; shorter beginnings are prose."""
    assert expected == registry.decode_output_text(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see chunk://1", f"see {KB}"),
        ("(chunk://1)", f"({KB})"),
        ("[x](chunk://1)", "[x](weknora://doc/d-1)"),
        ("[x](<chunk://1>)", "[x](<weknora://doc/d-1>)"),
        ("<chunk://1>", "<weknora://doc/d-1>"),
        ('href="chunk://1"', 'href="weknora://doc/d-1"'),
        ("href='chunk://1'", "href='weknora://doc/d-1'"),
        ("chunk://2", "weknora://doc/d%202"),
        ("chunk://3", "weknora://chunk/c-3"),
    ],
)
def test_a_bare_chunk_is_a_citation_or_an_address(registry: Registry, text: str, expected: str) -> None:
    """Its tag when citable; where a link target or attribute stands, and else, its document's URI or its own."""
    assert expected == registry.decode_output_text(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("doc://1-x", "<weknora://doc/d-1>-x"),
        ("doc://1~", "<weknora://doc/d-1>~"),
        ("doc://1%41", "<weknora://doc/d-1>%41"),
        ("doc://1.a", "<weknora://doc/d-1>.a"),
        ("doc://1........a", "<weknora://doc/d-1>........a"),
        ("doc://1.........a", "weknora://doc/d-1.........a"),
        ("doc://1. a", "weknora://doc/d-1. a"),
        ("doc://1/x", "weknora://doc/d-1/x"),
        ("url://1-x", "https://e.com/a?b=1#c-x"),
        ("chunk://3-x", "<weknora://chunk/c-3>-x"),
        ("chunk://1-x", f"{KB}-x"),
    ],
)
def test_a_uri_that_would_be_read_on_is_bracketed(registry: Registry, text: str, expected: str) -> None:
    """So that it reads back as itself."""
    assert expected == registry.decode_output_text(text)


@pytest.mark.parametrize(
    "tag",
    [
        "<kb>",
        "<kb/>",
        '<kb chunk_id="c-1" />',
        "<WEB url='x'>",
        "</ref>",
        "</kb>",
        "</web >",
        "</REF x>",
        "<ref/>",
        "<web\tx>",
        "<kb/x>",
    ],
)
def test_output_only_and_closing_tags_disappear(registry: Registry, tag: str) -> None:
    """The model cannot write them."""
    assert "a b" == registry.decode_output_text(f"a {tag}b")


@pytest.mark.parametrize(
    "text",
    [
        "<refs>",
        "<reference>",
        "<kbd>",
        "<website>",
        "<ref",
        "<re",
        "<",
        "</",
        "< ref>",
        "<ref\n>",
        "<a ref>",
        "a < b > c",
        "<b>x</b>",
    ],
)
def test_other_brackets_are_prose(registry: Registry, text: str) -> None:
    """Another name, a line break, a space before the name, no end."""
    assert text == registry.decode_output_text(text)


def test_a_tag_has_512_characters_at_most(registry: Registry) -> None:
    """With its brackets; a longer one is prose, and is scanned on from its second character."""
    fits = f"<kb {'x' * 507}>"
    long = f"<kb {'x' * 500} doc://1>"

    assert 512 == len(fits)
    assert "" == registry.decode_output_text(fits)
    assert long.replace("doc://1", "weknora://doc/d-1") == registry.decode_output_text(long)


def test_an_inner_bracket_ends_the_attempt(registry: Registry) -> None:
    """What does not fit is prose; the inner tag counts, and one opener directly before it goes with it."""
    assert f"<ref x {KB}" == registry.decode_output_text('<ref x <ref id="chunk://1"/>')
    assert '<ref id="weknora://doc/d-1" <x' == registry.decode_output_text('<ref id="chunk://1" <x')


def test_an_unclosed_tag_at_the_end_disappears(registry: Registry) -> None:
    """Within the limit, once its name is complete."""
    assert "a " == registry.decode_output_text('a <ref id="chunk://1"')
    assert "a " == registry.decode_output_text("a <kb/")
    long = "a <ref " + "x" * 512
    assert long == registry.decode_output_text(long)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<<ref id="doc://1"/>ref id="x">', 'ref id="x">'),
        ("<re</ref>f x>", "f x>"),
        ("<<re</ref>ref x>", "<ref x"),
        ("<<doc://9/ref x>", "</ref x"),
        ("</<kb/>kb>", "kb>"),
        ("<k</ref></ref>b>", "b>"),
        ("<<<ref/>ref>", "<ref"),
        ("<doc://9>", ">"),
        ("<<re</ref>ref\n>", "<ref\n>"),
        ("<<re</ref>ref x>>", "<ref x"),
    ],
)
def test_nothing_can_be_forged_from_pieces(registry: Registry, text: str, expected: str) -> None:
    """One opener goes with what disappears; a `>` that would complete a tag in the text written so far is left out."""
    got = registry.decode_output_text(text)

    assert expected == got
    assert TAG.search(got) is None


def test_restored_text_is_never_scanned_again() -> None:
    """A title, a URL or an id that looks like a tag or a handle is inserted as it is."""
    made = Registry()
    made.register_chunk(ChunkReference(chunk_id="c-1", document_title="doc://1 </kb>"))
    made.register_document("d-1")
    made.register_web("https://e.com/doc://1")
    made.register_issue("i9 <ref/> doc://1")

    assert '<kb doc="doc://1 &lt;/kb&gt;" chunk_id="c-1" />' == made.decode_output_text("chunk://1")
    assert "https://e.com/doc://1 i9 <ref/> doc://1" == made.decode_output_text("url://1 i1")


def test_a_bracket_of_the_prose_completes_no_restored_opener() -> None:
    """Text that a restored value began is part of what was written so far."""
    made = Registry()
    made.register_web("https://e.com/<ref")

    assert "https://e.com/<ref x" == made.decode_output_text("url://1 x>")


def test_no_address_cites() -> None:
    """A page chooses its address; a tag in it is spelt as addresses spell it, in prose and as the target of a link."""
    made = Registry()
    made.register_web("https://e.com/<kb/chunk_id='c-1'/>?a<b>c", "W")

    assert "see https://e.com/%3Ckb/chunk_id='c-1'/%3E?a<b>c." == made.decode_output_text("see url://1.")
    assert "](https://e.com/%3Ckb/chunk_id='c-1'/%3E?a<b>c" == made.decode_output_text("](url://1")


def test_short_handles_are_not_read_in_urls(registry: Registry) -> None:
    """From a `://` that is no scheme handle's to the character that ends a link."""
    assert "https://e.com/i1 issue-1" == registry.decode_output_text("https://e.com/i1 i1")
    assert "https://e.com/i1)i1|issue-1" == registry.decode_output_text("https://e.com/i1)i1|i1")
    assert "weknora://doc/d-1/issue-1" == registry.decode_output_text("doc://1/i1")


def test_scheme_handles_are_read_in_urls(registry: Registry) -> None:
    """They are handles wherever they stand."""
    assert "https://e.com/weknora://doc/d-1" == registry.decode_output_text("https://e.com/doc://1")


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "a\r\nb", "<" * 2000, "://" * 2000, "😀" * 10, "\\"])
def test_odd_texts_are_copied(registry: Registry, text: str) -> None:
    """Nothing in them is a handle or a tag."""
    assert text == registry.decode_output_text(text)


def test_orphan_resources_are_listed(registry: Registry) -> None:
    """Unknown `res://` tokens, lower case, in order, once each."""
    text = "res://0009 RES://0007 res://0001 res://0009 res://7 doc://9 xres://0008"

    assert ["res://0009", "res://0007", "res://7"] == registry.orphan_resource_handles(text)


# ------------------------------------------------------------------------------------------------ the report


def item(registry: Registry, text: str) -> DecodeItem:
    """The one item of a text."""
    report = registry.decode_with_report(text)
    [only] = report.items
    assert text[: only.start] == report.text[: only.out_start]
    assert text[only.end :] == report.text[only.out_end :]
    return only


@pytest.mark.parametrize(
    ("text", "kind", "reason", "handle", "durable", "nearest"),
    [
        ("a doc://1 b", "restored", "handle", "doc://1", "d-1", ""),
        ("a Res://0001 b", "restored", "handle", "res://0001", "local://a", ""),
        ("a chunk://1 b", "restored", "handle", "chunk://1", "c-1", ""),
        ("a i1 b", "restored", "handle", "i1", "issue-1", ""),
        ('a <ref id="chunk://1"/> b', "restored", "citation", "chunk://1", "c-1", ""),
        ("a <ref id='w1'> b", "restored", "citation", "url://1", "https://e.com/a?b=1#c", ""),
        ("a doc://9 b", "unknown", "never_issued", "", "", "doc://1"),
        ("a doc://01 b", "unknown", "never_written_so", "", "", "doc://1"),
        ('a <ref id="chunk://9"/> b', "unknown", "never_issued", "", "", "chunk://3"),
        ('a <ref id="chunk://2"/> b', "dropped", "not_citable", "chunk://2", "c-2", ""),
        ('a <ref id="doc://1"/> b', "dropped", "not_a_source", "doc://1", "d-1", ""),
        ("a <ref/> b", "dropped", "no_handle", "", "", ""),
        ("a <kb> b", "dropped", "output_only", "", "", ""),
        ("a </ref> b", "dropped", "closing_tag", "", "", ""),
        ("a <ref x", "dropped", "unclosed", "", "", ""),
        ("a doc://", "dropped", "bare_scheme", "", "", ""),
        ("a doc:/1 b", "malformed", "wrong_slashes", "", "", "doc://1"),
        ("a doc:1 b", "malformed", "wrong_slashes", "", "", "doc://1"),
        (f"a doc://{'9' * 30} b", "malformed", "too_long", "", "", "doc://1"),
        ("a doc：//1 b", "look_alike", "full_width", "", "", "doc://1"),
        ("a doc%3A%2F%2F1 b", "look_alike", "percent_encoded", "", "", "doc://1"),
        ("a doc:\\/\\/1 b", "look_alike", "escaped", "", "", "doc://1"),
    ],
)
def test_the_report_says_what_became_of_each(
    registry: Registry, text: str, kind: str, reason: str, handle: str, durable: str, nearest: str
) -> None:
    """Kind and reason of every handle, tag and near miss; the nearest issued handle is a hint, nothing is guessed."""
    got = item(registry, text)

    assert (kind, reason, handle, durable, nearest) == (got.kind, got.reason, got.handle, got.durable, got.nearest)


def test_a_glued_handle_is_named(registry: Registry) -> None:
    """`xdoc://1` stays, and the report says that it was hardly meant so."""
    assert "glued" == item(registry, "a xdoc://1 b").reason


def test_a_dropped_bracket_is_named(registry: Registry) -> None:
    """With the removals that made it necessary, in the order of the text."""
    report = registry.decode_with_report("<<re</ref>ref x>")

    assert ["closing_tag", "would_forge_a_tag"] == [got.reason for got in report.items]
    assert "<ref x" == report.text


def test_with_citations_off_the_report_says_so() -> None:
    """A reference to a citable chunk is dropped for that reason only."""
    made = Registry(citations_enabled=False)
    made.register_chunk(ChunkReference(chunk_id="c-1"))

    assert "citations_off" == item(made, 'a <ref id="chunk://1"/>').reason


def test_nothing_is_nearest_where_nothing_was_issued() -> None:
    """Also for a number of ten thousand digits."""
    assert "" == item(Registry(), "doc://1 x").nearest
    made = Registry()
    made.register_document(A)
    assert "doc://1" == item(made, f"x doc:/{'9' * 10_000}").nearest


def test_the_nearest_handle_has_the_closest_number() -> None:
    """The lower one of two."""
    made = Registry()
    contents(made, user("doc://2 doc://3"))
    for number in range(4):
        made.register_document(f"d-{number}")

    assert ["doc://1", "doc://4", "doc://6"] == [
        item(made, f"{text} x").nearest for text in ("doc://2", "doc://3", "doc://99")
    ]
