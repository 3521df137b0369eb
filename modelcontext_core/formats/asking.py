"""Which keys a reader asks a document for: one that has none of them need not be shown to the reader.

`detect` answers from what it asks of its sample, and nothing else. So it is shown an object that has no key it is
asked for, and the keys are written down. Of any other object without these keys it would ask the same, hear the same,
and say no again: one look at the keys of a document passes over most readers, and what is recognised stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

from modelcontext_core.formats.nodes import MISSING, Node
from modelcontext_core.formats.reader import Sample

__all__ = ["lone_object", "may_take"]

_UNSAID: Final[Any] = None
"""What a reader that looks at it cannot be passed over by keys."""


def lone_object(sample: Sample) -> dict[str, Any] | None:
    """The members of a sample that is one JSON object, read as it stands; None for any other."""
    first = sample.first
    whole = sample.container == "json" and len(sample.nodes) == 1 and first.parent is None and not sample.partial
    return first.value if whole and first.is_object and first.value else None


def may_take(detect: Callable[[Sample], bool], members: dict[str, Any] | None) -> bool:
    """False when `detect` says no to every lone object with such keys; `None` stands for other samples."""
    if members is None:
        return True
    asked = _keys_asked_for(detect)
    return asked is None or not asked.isdisjoint(members)


@cache
def _keys_asked_for(detect: Callable[[Sample], bool]) -> frozenset[str] | None:
    """The keys; None for a reader that takes objects without them, or that looks at something else."""
    stranger = _Stranger()
    sample = Sample(container="json", nodes=[stranger], head=_UNSAID, name=_UNSAID)
    try:
        taken = detect(sample)
    except Exception:  # whatever it did with what is unsaid: it looked there
        return None
    return None if taken else frozenset(stranger.asked)


class _Stranger(Node):
    """The root of an object of which is known that it has members, but none that it is asked for.

    Its `value` is not set and its document is unsaid: who looks at them gets an error.
    """

    __slots__ = ("asked",)

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self.parent = None
        self.key = None
        self.document = _UNSAID

    def __bool__(self) -> bool:
        return True

    @property
    def exists(self) -> bool:
        return True

    @property
    def is_object(self) -> bool:
        return True

    @property
    def is_list(self) -> bool:
        return False

    @property
    def is_text(self) -> bool:
        return False

    @property
    def text(self) -> str:
        return ""

    @property
    def label(self) -> str:
        return ""

    def get(self, *keys: str) -> Node:
        self.asked.update(keys)
        return Node(MISSING, self, keys[0], _UNSAID)

    def at(self, *steps: str | int) -> Node:
        first, *others = steps
        member = self.get(first) if isinstance(first, str) else Node(MISSING, self, first, _UNSAID)
        return member.at(*others)

    def has(self, *keys: str) -> bool:
        self.asked.update(keys)
        return not keys

    def has_text(self, key: str) -> bool:
        self.asked.add(key)
        return False

    def has_list(self, key: str) -> bool:
        self.asked.add(key)
        return False

    def has_any(self, keys: frozenset[str]) -> bool:
        self.asked.update(keys)
        return False

    def __iter__(self) -> Iterator[Node]:
        return iter(())

    def unpacked(self) -> Node:
        return self
