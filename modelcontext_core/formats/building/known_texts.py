"""Which texts a record holds, and which were told already, so that records which only repeat them can be left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from modelcontext_core.formats.building.turns import Mark, Turn
from modelcontext_core.formats.nodes import Node, parsed

__all__ = ["KnownTexts", "sentences_in", "texts_in"]

_NAME: Final = re.compile(r"[!-~]*\Z")
_SHORT: Final = 20  # shorter texts are compared as a whole only
_PACKED: Final = 3
_SCANNED: Final = 300_000_000  # characters searched for parts of texts, for a whole source
_VALUES: Final = 200_000  # values looked at in one body
_NODES: Final = 200  # values looked at in one record that no rule is about


class KnownTexts:
    """Texts of messages, as they are and taken apart where they hold JSON."""

    def __init__(self) -> None:
        self._others: set[Mark] = set()
        self._whole: set[str] = set()
        self._long: list[str] = []
        self._length = 0
        self._scanned = 0

    def add(self, turns: Iterable[Turn]) -> None:
        """Keep what these turns say."""
        for turn in turns:
            for mark in turn.marks():
                if mark[0] in ("media", "call"):
                    self._others.add(mark)
                for text in mark[1:]:
                    for piece in text.split("\0"):
                        self._keep(piece)

    def _keep(self, text: str) -> None:
        for inner in texts_in(text):
            words = " ".join(inner.split())
            if words not in self._whole:
                self._whole.add(words)
                if len(words) > _SHORT:
                    self._long.append(words)
                    self._length += len(words)

    def knows(self, mark: Mark, *, prose: bool = False) -> bool:
        """True when everything that a mark says was told, by itself or inside a longer text. Names and ids inside JSON
        are no texts; with `prose` they are none anywhere."""
        if mark[0] in ("media", "call"):
            return mark in self._others
        for words in mark[2:] if mark[0] == "text" else mark[1:]:
            for piece in words.split("\0"):
                inner = list(texts_in(piece))
                packed = prose or inner != [piece]
                short = _SHORT if prose else 0
                said = [text for text in inner if len(text) > short and not (packed and _NAME.match(text))]
                if not all(self._told(" ".join(text.split())) for text in said):
                    return False
        return True

    def _told(self, text: str) -> bool:
        if not text or text in self._whole:
            return True
        if len(text) <= _SHORT or self._scanned > _SCANNED:
            return False
        self._scanned += self._length
        return any(text in longer for longer in self._long)


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a value; a text that holds JSON is taken apart."""
    stack = [(value, 0)]
    looked = 0
    while stack and looked < _VALUES:
        current, packed = stack.pop()
        looked += 1
        if isinstance(current, dict):
            stack += [(member, packed) for member in current.values()]
        elif isinstance(current, list):
            stack += [(member, packed) for member in current]
        elif isinstance(current, str):
            inner = parsed(current) if packed < _PACKED else None
            if inner is None:
                yield current
            else:
                stack.append((inner, packed + 1))


def sentences_in(record: Node, plumbing: frozenset[str]) -> list[Node]:
    """The texts of several words in a record, outermost first, wherever they stand but under the keys of `plumbing`
    (ids, times, settings)."""
    queue = [member for key, member in record.members() if key not in plumbing]
    found = []
    for node in queue:  # grows while it is walked
        if node.is_text and len(node.text.split(None, 2)) > 1:
            found.append(node)
        elif len(queue) < _NODES:
            queue += [member for key, member in node.members() if key not in plumbing]
            queue += list(node)[:_NODES]
    return found
