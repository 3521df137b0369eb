"""Notices without floods: the first of each sentence with their places, the rest as a number."""

from __future__ import annotations

from collections import Counter
from typing import Final

from modelcontext_core.formats.base import Notice, NoticeKind

__all__ = ["NoticeList"]

_SHOWN: Final = 10


class NoticeList:
    """Collects notices; keeps ten of each kind and sentence, and counts the others."""

    def __init__(self) -> None:
        self._kept: list[Notice] = []
        self._count: Counter[tuple[NoticeKind, str]] = Counter()

    def __bool__(self) -> bool:
        return bool(self._kept)

    def add(self, kind: NoticeKind, where: str, text: str) -> None:
        """Take one."""
        self._count[(kind, text)] += 1
        if self._count[(kind, text)] <= _SHOWN:
            self._kept.append(Notice(kind=kind, where=where, text=text))

    def all(self) -> tuple[Notice, ...]:
        """What is kept, and one notice for each sentence that came more often."""
        more = [
            Notice(kind=kind, where="", text=f"{text} ({count - _SHOWN:,} more of these)")
            for (kind, text), count in self._count.items()
            if count > _SHOWN
        ]
        return (*self._kept, *more)
