"""The fewest and shortest chunks with which a decoder still fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

__all__ = ["smallest"]

_TRIES: Final = 3000


def smallest(chunks: Sequence[str], fails: Callable[[Sequence[str]], bool]) -> Sequence[str]:
    """Joins chunks, then leaves out parts of them, the largest first, for as long as `fails` is true of what is left.

    `chunks` fail already. `fails` is asked at most 3,000 times, so that a slow decoder keeps nobody waiting; what is
    smallest by then is given back. What `fails` raises goes through.
    """
    shrinking = _Shrinking(chunks, fails)
    before: Sequence[str] = ()
    while shrinking.best != before and shrinking.tries > 0:
        before = shrinking.best
        shrinking.join_chunks()
        shrinking.leave_out()
    return shrinking.best


class _Shrinking:
    def __init__(self, chunks: Sequence[str], fails: Callable[[Sequence[str]], bool]) -> None:
        self.best: Sequence[str] = tuple(chunks)
        self.tries = _TRIES
        self._fails = fails

    def _improves(self, chunks: Sequence[str]) -> bool:
        """Whether these chunks fail as well: then they are the best so far."""
        self.tries -= 1
        if self.tries < 0 or not self._fails(chunks):
            return False
        self.best = tuple(chunks)
        return True

    def join_chunks(self) -> None:
        """Fewer chunks of the same text."""
        size = len(self.best) // 2
        while size:
            at = 0
            while at + 1 < len(self.best):
                now = self.best
                if not self._improves([*now[:at], "".join(now[at : at + size + 1]), *now[at + size + 1 :]]):
                    at += 1
            size //= 2

    def leave_out(self) -> None:
        """Shorter chunks, as many."""
        size = max(map(len, self.best), default=0)
        while size:
            for number in range(len(self.best)):
                at = 0
                while at < len(self.best[number]):
                    now = self.best
                    shorter = now[number][:at] + now[number][at + size :]
                    if not self._improves([*now[:number], shorter, *now[number + 1 :]]):
                        at += size
            size //= 2
