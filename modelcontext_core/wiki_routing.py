"""Which knowledge base a wiki page belongs to.

A model names a page by its slug, and the same slug may exist in several knowledge bases. This module keeps what reads
have shown (`WikiRouteResolver`) and what the caller may touch (`WikiScope`), and only ever answers with a knowledge
base of the caller's scope. It is routing state of the application: it has no handles, and nothing of it is an
authorisation. What was remembered changes the order of look-ups, never their number: a remembered owner must not hide
a second one.

Pages and search targets come from the caller as mappings or as objects; these fields are read:

    page            slug, knowledge_base_id, page_type, source_refs, in_links, out_links, tag_ids
    search target   type ("knowledge_base" or "knowledge"), knowledge_base_id, knowledge_ids, tag_ids
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from modelcontext_core.errors import ModelContextError
from modelcontext_core.wrong_types import check_type, checked

__all__ = [
    "PageLookup",
    "WikiCreateTarget",
    "WikiPageAmbiguous",
    "WikiPageFound",
    "WikiPageNotFound",
    "WikiRouteError",
    "WikiRouteResolver",
    "WikiScope",
    "page_in_scope",
    "wiki_scopes",
]

PageLookup = Callable[[str, str], Any]
"""`lookup(slug, knowledge_base_id)`: the page, or None when that knowledge base has none of that slug."""

# Pages made from the whole wiki: no document or tag vouches for them.
_STRUCTURAL_PAGES: Final = frozenset({"index", "log"})
_DOCUMENT_TARGET: Final = "knowledge"


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiScope:
    """What a caller may see of one wiki: all of it, or the pages made from these documents or from documents with one
    of these tags."""

    knowledge_base_id: str
    knowledge_ids: Sequence[str] = ()
    tag_ids: Sequence[str] = ()

    @property
    def limited(self) -> bool:
        """Whether only a part of the wiki may be seen."""
        return bool(self.knowledge_ids or self.tag_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiPageFound:
    """The one page of that slug, and the knowledge base that it is in."""

    slug: str
    knowledge_base_id: str
    page: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiPageNotFound:
    """No knowledge base of the scope has a page of that slug."""

    slug: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiPageAmbiguous:
    """Several knowledge bases could be meant. None of them is chosen; they are named in the order of the look-up."""

    slug: str
    knowledge_base_ids: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiCreateTarget:
    """The knowledge base in which a new page of that slug belongs."""

    slug: str
    knowledge_base_id: str


class WikiRouteError(ModelContextError):
    """A look-up gave a page of another knowledge base than the one that was asked.

    Going on would let a page outside the scope be read or changed.
    """

    def __init__(self, slug: str, *, asked: str, claimed: str) -> None:
        self.slug = slug
        self.asked = asked
        self.claimed = claimed
        super().__init__(f"wiki page {slug!r}: asked knowledge base {asked!r}, the page says {claimed!r}")


class WikiRouteResolver:
    """Remembers where slugs were seen, and resolves a slug within a scope. One per request, like a registry."""

    __slots__ = ("_owners",)

    def __init__(self) -> None:
        self._owners: dict[str, dict[str, None]] = {}

    def remember(self, slug: str, knowledge_base_id: str) -> None:
        """Note that this knowledge base knows the slug. Blank values are ignored."""
        slug, knowledge_base_id = _word(slug), _word(knowledge_base_id)
        if slug and knowledge_base_id:
            self._owners.setdefault(slug, {})[knowledge_base_id] = None

    def forget(self, slug: str, knowledge_base_id: str) -> None:
        """Undo `remember`, for a page that was deleted or renamed. What was never remembered is ignored."""
        slug = _word(slug)
        owners = self._owners.get(slug, {})
        owners.pop(_word(knowledge_base_id), None)
        if not owners:
            self._owners.pop(slug, None)

    def remember_page(self, page: Any, knowledge_base_id: str) -> None:
        """Note the page and every page that it links to or is linked from: wiki links stay in their wiki."""
        for slug in (_word(_get(page, "slug")), *_words(page, "out_links"), *_words(page, "in_links")):
            self.remember(slug, knowledge_base_id)

    def scopes_for(self, slug: str, scopes: Iterable[WikiScope]) -> list[WikiScope]:
        """The scopes whose knowledge base is remembered for the slug, in the order of `scopes`.

        Empty means: search all of them.
        """
        owners = self._owners.get(_word(slug), {})
        return [scope for scope in checked("scopes", scopes, WikiScope) if scope.knowledge_base_id in owners]

    def resolve_unique(
        self, slug: str, scopes: Iterable[WikiScope], lookup: PageLookup
    ) -> WikiPageFound | WikiPageNotFound | WikiPageAmbiguous:
        """The one page of that slug, for a change that must hit the right one.

        Every knowledge base of the scope is asked, remembered ones first. Raises `WikiRouteError` when a page claims
        another knowledge base; an error of `lookup` goes through.
        """
        found = self.read_all(slug, scopes, lookup)
        if not found:
            return WikiPageNotFound(slug=_word(slug))
        if len(found) > 1:
            return WikiPageAmbiguous(
                slug=_word(slug), knowledge_base_ids=tuple(page.knowledge_base_id for page in found)
            )
        return found[0]

    def resolve_create(
        self, slug: str, scopes: Iterable[WikiScope], hints: Iterable[str] = ()
    ) -> WikiCreateTarget | WikiPageAmbiguous:
        """The knowledge base for a new page: the single remembered or hinted owner in scope, else the single scope.

        `hints` are knowledge bases that the application derives itself (the owners of the page's source documents).
        Anything else is ambiguous; a model is never asked for a durable id.
        """
        slug = _word(slug)
        allowed = _distinct(scopes)
        remembered = [scope.knowledge_base_id for scope in self.scopes_for(slug, allowed.values())]
        candidates = list(dict.fromkeys([*remembered, *(hint for hint in map(_word, hints) if hint in allowed)]))
        if not candidates:
            candidates = list(allowed)
        if len(candidates) == 1:
            return WikiCreateTarget(slug=slug, knowledge_base_id=candidates[0])
        return WikiPageAmbiguous(slug=slug, knowledge_base_ids=tuple(candidates))

    def read_all(self, slug: str, scopes: Iterable[WikiScope], lookup: PageLookup) -> list[WikiPageFound]:
        """Every page of that slug in the scope, remembered owners first. What is found is remembered.

        The look-up sees whole knowledge bases; show a page of a limited scope only after `page_in_scope`.
        Raises as `resolve_unique` does.
        """
        slug = _word(slug)
        if not slug:
            return []
        allowed = _distinct(scopes)
        remembered = [scope.knowledge_base_id for scope in self.scopes_for(slug, allowed.values())]
        found = []
        for knowledge_base_id in dict.fromkeys([*remembered, *allowed]):
            page = lookup(slug, knowledge_base_id)
            if page is None:
                continue
            claimed = _word(_get(page, "knowledge_base_id"))
            if claimed and claimed != knowledge_base_id:
                raise WikiRouteError(slug, asked=knowledge_base_id, claimed=claimed)
            found.append(WikiPageFound(slug=slug, knowledge_base_id=knowledge_base_id, page=page))
        for hit in found:
            self.remember(slug, hit.knowledge_base_id)
            self.remember_page(hit.page, hit.knowledge_base_id)
        return found


def wiki_scopes(search_targets: Iterable[Any], wiki_kb_ids: Iterable[str]) -> list[WikiScope]:
    """One scope for each wiki that the search targets reach, in the order of the targets.

    Targets are alternatives, so their documents and tags add up, and a target for the whole knowledge base lifts the
    limit. A document target without documents grants nothing. Targets outside `wiki_kb_ids` are no wikis.
    """
    wikis = {_word(kb) for kb in checked("wiki_kb_ids", wiki_kb_ids, str)}
    documents: dict[str, dict[str, None]] = {}
    tags: dict[str, dict[str, None]] = {}
    whole: set[str] = set()
    order: dict[str, None] = {}
    for target in search_targets:
        knowledge_base_id = _word(_get(target, "knowledge_base_id"))
        target_documents, target_tags = _words(target, "knowledge_ids"), _words(target, "tag_ids")
        if not knowledge_base_id or knowledge_base_id not in wikis:
            continue
        if not target_documents and _is_document_target(target):
            continue
        if not target_documents and not target_tags:
            whole.add(knowledge_base_id)
        order[knowledge_base_id] = None
        documents.setdefault(knowledge_base_id, {}).update(dict.fromkeys(target_documents))
        tags.setdefault(knowledge_base_id, {}).update(dict.fromkeys(target_tags))
    return [
        WikiScope(knowledge_base_id=kb)
        if kb in whole
        else WikiScope(knowledge_base_id=kb, knowledge_ids=tuple(documents[kb]), tag_ids=tuple(tags[kb]))
        for kb in order
    ]


def page_in_scope(page: Any, scope: WikiScope, document_tags: Callable[[str], Iterable[str]] | None = None) -> bool:
    """Whether the caller may see this page.

    Without a limit every page of the knowledge base may be seen. Under one, a page must prove where it comes from: a
    source document of the scope, or one with a tag of the scope (`document_tags(document_id)`, or the page's own
    tags). Index pages and pages without source references prove nothing and are refused, and so is a page that
    claims another knowledge base.
    """
    check_type("scope", scope, WikiScope)
    claimed = _word(_get(page, "knowledge_base_id"))
    if page is None or (claimed and claimed != scope.knowledge_base_id):
        return False
    if not scope.limited:
        return True
    sources = [source for source in (ref.partition("|")[0].strip() for ref in _words(page, "source_refs")) if source]
    if not sources or _is_structural(page):
        return False
    if not set(scope.knowledge_ids).isdisjoint(sources):
        return True
    allowed_tags = set(scope.tag_ids)
    if not allowed_tags:
        return False
    if not allowed_tags.isdisjoint(_words(page, "tag_ids")):
        return True
    return document_tags is not None and any(
        not allowed_tags.isdisjoint(document_tags(source)) for source in dict.fromkeys(sources)
    )


def _is_document_target(target: Any) -> bool:
    """Whether a target means documents. Without a type, a list of documents (even an empty one) says so."""
    if isinstance(target, WikiScope):
        return bool(target.knowledge_ids)
    kind = _word(_get(target, "type"))
    return kind == _DOCUMENT_TARGET if kind else _get(target, "knowledge_ids") is not None


def _is_structural(page: Any) -> bool:
    return _word(_get(page, "page_type")).lower() in _STRUCTURAL_PAGES or _word(_get(page, "slug")) in _STRUCTURAL_PAGES


def _distinct(scopes: Iterable[WikiScope]) -> dict[str, WikiScope]:
    """The scopes by knowledge base, each once: one wiki asked twice would look like two owners."""
    allowed: dict[str, WikiScope] = {}
    for scope in checked("scopes", scopes, WikiScope):
        if scope.knowledge_base_id:
            allowed.setdefault(scope.knowledge_base_id, scope)
    return allowed


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _word(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _words(value: Any, name: str) -> list[str]:
    members = _get(value, name)
    if not isinstance(members, (list, tuple, set, frozenset)):
        return []
    # Sets have no order of their own; results must not depend on hashes.
    ordered = sorted(members, key=str) if isinstance(members, (set, frozenset)) else members
    return [word for word in map(_word, ordered) if word]
