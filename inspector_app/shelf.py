"""What the server holds for a tab: by a key that nobody can guess, for a quarter of an hour after it was last used.

All tabs share a shelf on purpose: the key tells them apart, and a reload must find again what its address names.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

__all__ = ["SECONDS_HELD", "Shelf", "new_key"]

SECONDS_HELD: Final = 15 * 60

_Item = TypeVar("_Item")


def new_key() -> str:
    """A random key of 128 bits."""
    return secrets.token_hex(16)


class Shelf(Generic[_Item]):
    """Items by key, each for `seconds` after it was last put or got. Safe to use from several threads.

    `fits` says of all items, the oldest first, whether they may stay together; else the oldest goes, but never the
    newest. `close` is called with every item that leaves, when others may use the shelf again: it may take its time.
    """

    def __init__(
        self,
        *,
        seconds: float = SECONDS_HELD,
        clock: Callable[[], float] = time.monotonic,
        fits: Callable[[list[_Item]], bool] = lambda _: True,
        close: Callable[[_Item], None] = lambda _: None,
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._fits = fits
        self._close = close
        self._held: OrderedDict[str, tuple[float, _Item]] = OrderedDict()
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def put(self, key: str, item: _Item) -> _Item:
        """Hold an item under its key, and return it."""
        with self._lock:
            gone = self._drop_old()
            self._held[key] = self._clock(), item
            self._held.move_to_end(key)
            while len(self._held) > 1 and not self._fits([each for _, each in self._held.values()]):
                gone.append(self._held.popitem(last=False)[1][1])
            self._wake()
        self._close_all(gone)
        return item

    def get(self, key: str) -> _Item | None:
        """Return the item of a key and hold it for another while; None when there is none, or no longer."""
        with self._lock:
            gone = self._drop_old()
            item = self._held[key][1] if key in self._held else None
            if item is not None:
                self._held[key] = self._clock(), item
                self._held.move_to_end(key)
        self._close_all(gone)
        return item

    def forget(self, key: str) -> None:
        """Drop the item of a key at once."""
        with self._lock:
            held = self._held.pop(key, None)
        self._close_all([held[1]] if held is not None else [])

    def __len__(self) -> int:
        return len(self._held)

    def _drop_old(self) -> list[_Item]:
        oldest = self._clock() - self._seconds
        old = [key for key, (used, _) in self._held.items() if used <= oldest]
        return [self._held.pop(key)[1] for key in old]

    def _close_all(self, gone: list[_Item]) -> None:
        for item in gone:
            self._close(item)

    def _wake(self) -> None:
        # Dropped in time even when nobody asks any more.
        if self._timer is None:
            self._timer = threading.Timer(self._seconds + 1, self._sweep)
            self._timer.daemon = True
            self._timer.start()

    def _sweep(self) -> None:
        with self._lock:
            self._timer = None
            gone = self._drop_old()
            if self._held:
                self._wake()
        self._close_all(gone)
