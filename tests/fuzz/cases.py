"""Numbered cases: the number is the seed, so that a failing case is named by it and can be run again alone.

Of sixteen cases, thirteen are an answer and a cut, compared with the plain reference, too; two are a text and a cut for
a stand-alone table, and one is a whole conversation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

from modelcontext_core import HandleStreamDecoder, Registry
from tests.fuzz import conversations, laws, texts, worlds
from tests.fuzz.reference import Reference

_REGISTRIES: Final = [worlds.registry(citations=c, issues=i) for c in (True, False) for i in (True, False)]
_REFERENCES: Final = [
    Reference(
        known,
        {chunk.chunk_id: chunk for chunk in worlds.CHUNKS},
        {url.strip(): title for url, title in worlds.HOSTILE_PAGES},
    )
    for known in _REGISTRIES
]
_TABLES: Final = worlds.tables()
_NEW: Final[Sequence[Callable[[], Registry]]] = (
    Registry,
    lambda: Registry(policies=worlds.POLICIES),
    lambda: worlds.registry(citations=True, issues=True),
    lambda: worlds.registry(citations=False, issues=True, pack=True),
)


def run(number: int) -> None:
    """Runs one case; raises `AssertionError` when a law is broken."""
    rng = random.Random(number)
    kind, variant = number % 16, number // 16 % 4
    if kind == 15:
        laws.encode_laws(conversations.conversation(rng), _NEW[variant])
        return
    if kind >= 13:
        table = _TABLES[variant]
        whole = texts.text(rng, texts.TABLE_TOKENS)
        laws.stream_law(
            whole, table.decode_known_text(whole), lambda: HandleStreamDecoder(table), [texts.cut(rng, whole)]
        )
        return
    whole = texts.text(rng)
    got = laws.decode_laws(_REGISTRIES[variant], whole, [texts.cut(rng, whole)])
    expected = _REFERENCES[variant].decode(whole)
    assert expected == got, f"{whole!r}: expected {expected!r}, got {got!r}"
