"""What the name of a key says about its values. The names are guesses, so each rule errs towards doing nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

from modelcontext_core.grammar import find_uuids, has_handle, is_free_text_id, may_be_mined

__all__ = ["SourceSpace", "is_declarable", "may_be_seen_again", "space_of", "trusts"]

SourceSpace = Literal["chunk", "document", "knowledge_base", "web"]
"""A space that a key can be declared for."""

_MAX_KEY_CHARACTERS: Final = 128

_CHUNK_WORDS: Final = frozenset({"chunk", "passage", "node", "segment"})
_BASE_WORDS: Final = frozenset({"kb", "base", "collection", "index", "dataset", "library", "knowledgebase"})
_PLURALS: Final = {"libraries": "library", "indices": "index", "indexes": "index"}
_ID_WORDS: Final = frozenset({"id", "uuid", "guid", "ref", "reference", "key", "identifier", "pk", "urn"})

# Keys that hold words for people, or anything. A UUID may stand there, but to declare such a key as an ID field would
# turn every "done" and "Alice" under it into a handle.
# fmt: off
_FREE_TEXT_KEYS: Final = frozenset({
    "answer", "args", "arguments", "body", "code", "command", "comment", "content", "contents", "data",
    "description", "detail", "details", "error", "format", "input", "keyword", "keywords", "kind", "label",
    "lang", "language", "message", "messages", "name", "names", "note", "notes", "output", "prompt", "q",
    "query", "question", "reason", "response", "result", "results", "role", "state", "status", "summary", "tag",
    "tags", "text", "title", "type", "value", "values",
})
# fmt: on

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Ids that a vendor's protocol gives to calls, messages and requests: plumbing, not resources.
_PLUMBING: Final = re.compile(
    r"(?:call|toolu|srvtoolu|msg|run|resp|chatcmpl|gen|cmpl|fc|rs|req|request|thread|asst|step|trace|span)[_-]",
    re.IGNORECASE,
)

# How many of a key's strings must be identities: of a key that is named like an id, and of any other.
_ENOUGH_FOR_ID_KEYS: Final = 0.5
_ENOUGH_FOR_OTHERS: Final = 0.9


@lru_cache(maxsize=4096)
def _words(spelling: str) -> tuple[str, ...]:
    """The words of a key in singular: `chunkIds`, `chunk_ids` and `chunkids` all give chunk, id."""
    words: list[str] = []
    for part in _WORD.findall(spelling):
        word = part.lower()
        for ending in ("uuids", "uuid", "ids", "id"):
            stem = word.removesuffix(ending)
            if stem != word and _singular(stem) in _CHUNK_WORDS | _BASE_WORDS:
                words += [_singular(stem), "id"]
                break
        else:
            words.append(_singular(word))
    return tuple(words)


def _singular(word: str) -> str:
    return _PLURALS.get(word) or word.removesuffix("s")


def space_of(spelling: str) -> SourceSpace:
    """The space of a key whose values are ids, by its words; document when they say nothing."""
    words = _words(spelling)
    if not _CHUNK_WORDS.isdisjoint(words):
        return "chunk"
    if not _BASE_WORDS.isdisjoint(words):
        return "knowledge_base"
    return "document"


def trusts(spelling: str, identities: int, strings: int) -> bool:
    """Whether a key can be declared as an ID field, when so many of its strings are identities."""
    if not identities or spelling.lower() in _FREE_TEXT_KEYS:
        return False
    words = _words(spelling)
    named = bool(words) and (words[-1] in _ID_WORDS or space_of(spelling) != "document")
    return identities >= strings * (_ENOUGH_FOR_ID_KEYS if named else _ENOUGH_FOR_OTHERS)


@lru_cache(maxsize=4096)
def is_declarable(name: str) -> bool:
    """Whether a tool or key of this name can stand in a pack: no ids used as keys, nothing that cannot be printed."""
    return (
        0 < len(name) <= _MAX_KEY_CHARACTERS
        and name.isprintable()
        and bool(name.strip())
        and not has_handle(name)
        and next(find_uuids(name), None) is None
    )


def may_be_seen_again(value: str) -> bool:
    """Whether a value without the shape of an id is telling enough to be recognised under another key."""
    return (
        is_free_text_id(value)
        and any(map(str.isdigit, value))
        and may_be_mined(value)
        and _PLUMBING.match(value) is None
    )
