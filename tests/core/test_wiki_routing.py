"""Tests of wiki routing: only the caller's scope, and never the first of two."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from modelcontext_core.wiki_routing import (
    PageLookup,
    WikiCreateTarget,
    WikiPageAmbiguous,
    WikiPageFound,
    WikiPageNotFound,
    WikiRouteError,
    WikiRouteResolver,
    WikiScope,
    page_in_scope,
    wiki_scopes,
)

A, B, C = (WikiScope(knowledge_base_id=name) for name in ("kb-a", "kb-b", "kb-c"))


def wiki(*pages: tuple[str, str], asked: list[str] | None = None) -> PageLookup:
    """A look-up over pages given as (slug, knowledge base); `asked` collects the knowledge bases it is asked for."""

    def lookup(slug: str, knowledge_base_id: str) -> dict[str, str] | None:
        if asked is not None:
            asked.append(knowledge_base_id)
        found = (slug, knowledge_base_id) in pages
        return {"slug": slug, "knowledge_base_id": knowledge_base_id} if found else None

    return lookup


def remembered(resolver: WikiRouteResolver, slug: str, *scopes: WikiScope) -> list[str]:
    """The knowledge bases remembered for a slug within some scopes."""
    return [scope.knowledge_base_id for scope in resolver.scopes_for(slug, scopes)]


def test_only_owners_in_scope_come_back_in_scope_order() -> None:
    """What was remembered outside the scope stays unseen."""
    resolver = WikiRouteResolver()
    for owner in ("kb-c", "kb-x", "kb-a"):
        resolver.remember("topic/a", owner)

    assert remembered(resolver, "topic/a", A, B, C) == ["kb-a", "kb-c"]
    assert remembered(resolver, "topic/a", C, A) == ["kb-c", "kb-a"]
    assert remembered(resolver, "topic/b", A, B, C) == []


def test_limits_of_a_scope_are_kept() -> None:
    """The caller gets its own scope back, with documents and tags."""
    resolver = WikiRouteResolver()
    resolver.remember("s", "kb-a")
    limited = WikiScope(knowledge_base_id="kb-a", knowledge_ids=("d-1",))

    assert resolver.scopes_for("s", [limited]) == [limited]


def test_forgetting_takes_one_owner() -> None:
    """A deleted page leaves the other owners; forgetting the unknown is nothing."""
    resolver = WikiRouteResolver()
    resolver.remember("s", "kb-a")
    resolver.remember("s", "kb-b")
    resolver.forget("s", "kb-a")
    resolver.forget("s", "kb-a")
    resolver.forget("t", "kb-a")

    assert remembered(resolver, "s", A, B) == ["kb-b"]


def test_blank_slugs_and_owners_are_not_remembered() -> None:
    """Nothing is learnt from an empty name."""
    resolver = WikiRouteResolver()
    resolver.remember(" ", "kb-a")
    resolver.remember("s", "")

    assert remembered(resolver, "", A) == remembered(resolver, "s", A) == []


def test_a_page_teaches_its_links() -> None:
    """Links stay in their wiki, so every linked slug is remembered with the page."""
    resolver = WikiRouteResolver()
    resolver.remember_page({"slug": "s", "in_links": ["in"], "out_links": ["out", "", None]}, "kb-a")

    assert [remembered(resolver, slug, A, B) for slug in ("s", "in", "out")] == [["kb-a"]] * 3


def test_pages_may_be_objects() -> None:
    """A page is read by attribute as well as by key."""

    @dataclass
    class Page:
        slug: str
        out_links: tuple[str, ...]

    resolver = WikiRouteResolver()
    resolver.remember_page(Page("s", ("t",)), "kb-a")
    resolver.remember_page(None, "kb-b")

    assert remembered(resolver, "t", A, B) == ["kb-a"]


def test_one_owner_is_found_and_remembered() -> None:
    """The single page comes back with its knowledge base."""
    resolver = WikiRouteResolver()

    found = resolver.resolve_unique(" s ", [A, B], wiki(("s", "kb-b")))

    assert found == WikiPageFound(slug="s", knowledge_base_id="kb-b", page={"slug": "s", "knowledge_base_id": "kb-b"})
    assert remembered(resolver, "s", A, B) == ["kb-b"]


def test_every_legal_knowledge_base_is_asked_remembered_ones_first() -> None:
    """What is remembered must not hide a second owner."""
    resolver, asked = WikiRouteResolver(), list[str]()
    resolver.remember("s", "kb-c")
    resolver.remember("s", "kb-x")

    found = resolver.resolve_unique("s", [A, B, C], wiki(("s", "kb-c"), ("s", "kb-a"), ("s", "kb-x"), asked=asked))

    assert found == WikiPageAmbiguous(slug="s", knowledge_base_ids=("kb-c", "kb-a"))
    assert asked == ["kb-c", "kb-a", "kb-b"]


def test_no_owner_in_scope_is_not_found() -> None:
    """A page of a foreign knowledge base does not exist; nor does a page without a slug."""
    resolver = WikiRouteResolver()
    resolver.remember("s", "kb-x")

    assert resolver.resolve_unique("s", [A, B], wiki(("s", "kb-x"))) == WikiPageNotFound(slug="s")
    assert resolver.resolve_unique("", [A, B], wiki(("", "kb-a"))) == WikiPageNotFound(slug="")


def test_a_knowledge_base_named_twice_is_one_owner() -> None:
    """Two scopes of one wiki do not make its pages ambiguous."""
    found = WikiRouteResolver().resolve_unique("s", [A, A], wiki(("s", "kb-a")))

    assert isinstance(found, WikiPageFound)


def test_a_page_that_claims_another_knowledge_base_is_an_error() -> None:
    """The error names both, and nothing is remembered of the page."""
    resolver = WikiRouteResolver()

    with pytest.raises(WikiRouteError, match="asked knowledge base 'kb-a', the page says 'kb-x'"):
        resolver.resolve_unique("s", [A], lambda slug, kb: {"slug": slug, "knowledge_base_id": "kb-x"})

    assert remembered(resolver, "s", A, WikiScope(knowledge_base_id="kb-x")) == []


def test_reading_gives_every_owner() -> None:
    """A read may show the page of each wiki."""
    found = WikiRouteResolver().read_all("s", [A, B, C], wiki(("s", "kb-a"), ("s", "kb-c")))

    assert [hit.knowledge_base_id for hit in found] == ["kb-a", "kb-c"]


def test_an_error_of_the_lookup_goes_through() -> None:
    """A failed look-up is no "not found"."""

    def broken(slug: str, knowledge_base_id: str) -> None:
        raise TimeoutError(slug)

    with pytest.raises(TimeoutError):
        WikiRouteResolver().resolve_unique("s", [A], broken)


@pytest.mark.parametrize(
    ("owners", "scopes", "hints", "expected"),
    [
        (["kb-b"], [A, B], [], "kb-b"),
        ([], [A, B], ["kb-a"], "kb-a"),
        (["kb-a"], [A, B], ["kb-a", "kb-x", ""], "kb-a"),
        ([], [A], [], "kb-a"),
        (["kb-x"], [A], ["kb-x"], "kb-a"),
        (["kb-a"], [A, B], ["kb-b"], ["kb-a", "kb-b"]),
        (["kb-a", "kb-b"], [A, B], [], ["kb-a", "kb-b"]),
        ([], [A, B], [], ["kb-a", "kb-b"]),
        ([], [], ["kb-a"], []),
    ],
)
def test_a_new_page_needs_one_possible_home(
    owners: list[str], scopes: list[WikiScope], hints: list[str], expected: str | list[str]
) -> None:
    """The single remembered or hinted owner in scope, else the single scope, else ambiguous."""
    resolver = WikiRouteResolver()
    for owner in owners:
        resolver.remember("s", owner)

    target = resolver.resolve_create("s", scopes, hints)

    if isinstance(expected, str):
        assert target == WikiCreateTarget(slug="s", knowledge_base_id=expected)
    else:
        assert target == WikiPageAmbiguous(slug="s", knowledge_base_ids=tuple(expected))


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ([{"type": "knowledge_base", "knowledge_base_id": "kb-a"}], [A]),
        ([{"knowledge_base_id": "kb-a"}], [A]),
        ([{"type": "knowledge_base", "knowledge_base_id": "kb-x"}], []),
        ([{"type": "knowledge", "knowledge_base_id": "kb-a", "knowledge_ids": []}], []),
        ([{"type": "knowledge", "knowledge_base_id": "kb-a", "tag_ids": ["t-1"]}], []),
        ([{"knowledge_base_id": "kb-a", "knowledge_ids": []}], []),
        (
            [
                {"type": "knowledge", "knowledge_base_id": "kb-b", "knowledge_ids": ["d-1", "d-2"]},
                {"type": "knowledge_base", "knowledge_base_id": "kb-a"},
                {"type": "knowledge", "knowledge_base_id": "kb-b", "knowledge_ids": ["d-2", "d-3"]},
                {"type": "knowledge_base", "knowledge_base_id": "kb-b", "tag_ids": ["t-1"]},
                {"type": "knowledge", "knowledge_base_id": "kb-b", "knowledge_ids": []},
            ],
            [WikiScope(knowledge_base_id="kb-b", knowledge_ids=("d-1", "d-2", "d-3"), tag_ids=("t-1",)), A],
        ),
        (
            [
                {"type": "knowledge", "knowledge_base_id": "kb-a", "knowledge_ids": ["d-1"]},
                {"type": "knowledge_base", "knowledge_base_id": "kb-a"},
            ],
            [A],
        ),
        ([WikiScope(knowledge_base_id="kb-a"), WikiScope(knowledge_base_id="kb-a", tag_ids=("t",))], [A]),
        ([None, 3, {"knowledge_base_id": 7}], []),
    ],
)
def test_targets_merge_into_one_scope_a_wiki(targets: Iterable[Any], expected: list[WikiScope]) -> None:
    """Documents and tags add up, a whole knowledge base lifts the limit, an empty document target grants nothing."""
    assert wiki_scopes(targets, ["kb-a", "kb-b"]) == expected


DOCUMENTS = WikiScope(knowledge_base_id="kb-a", knowledge_ids=("d-1",))
TAGS = WikiScope(knowledge_base_id="kb-a", tag_ids=("t-1",))


@pytest.mark.parametrize(
    ("page", "scope", "expected"),
    [
        ({"slug": "s"}, A, True),
        ({"slug": "index", "page_type": "index"}, A, True),
        ({"slug": "s", "knowledge_base_id": "kb-b"}, A, False),
        (None, A, False),
        ({"slug": "s", "source_refs": ["d-1|Title"]}, DOCUMENTS, True),
        ({"slug": "s", "source_refs": ["d-9", "d-1"]}, DOCUMENTS, True),
        ({"slug": "s", "source_refs": ["d-9"]}, DOCUMENTS, False),
        ({"slug": "s", "source_refs": []}, DOCUMENTS, False),
        ({"slug": "s", "source_refs": ["|d-1"]}, DOCUMENTS, False),
        ({"slug": "s"}, TAGS, False),
        ({"slug": "s", "page_type": "index", "source_refs": ["d-1"]}, DOCUMENTS, False),
        ({"slug": "s", "page_type": "Log", "source_refs": ["d-1"]}, DOCUMENTS, False),
        ({"slug": "s", "source_refs": ["d-2"]}, TAGS, True),
        ({"slug": "s", "source_refs": ["d-3"]}, TAGS, False),
        ({"slug": "s", "source_refs": ["d-3"], "tag_ids": ["t-1"]}, TAGS, True),
    ],
)
def test_under_a_limit_a_page_must_prove_where_it_comes_from(page: object, scope: WikiScope, expected: bool) -> None:
    """Whole wikis show everything; otherwise index pages and pages without sources fail closed."""
    tags = {"d-2": ["t-1", "t-2"], "d-3": ["t-3"]}

    assert page_in_scope(page, scope, lambda document: tags.get(document, [])) is expected


def test_tags_that_nobody_can_look_up_prove_nothing() -> None:
    """Without a look-up, a tag limit refuses."""
    no_lookup: Callable[[str], Iterable[str]] | None = None

    assert not page_in_scope({"slug": "s", "source_refs": ["d-2"]}, TAGS, no_lookup)
