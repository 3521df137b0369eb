"""Giving memory back after something large was let go.

What leaves a shelf is freed at once, but the room stays with the process: the C library keeps freed pieces for the next
request. Sessions of closed tabs are circles of objects, which only a full search for garbage finds, and with large
traces around the automatic one hardly ever comes. So both are asked for, a moment after the last thing was let go.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from typing import Final

__all__ = ["give_back", "keep_little", "soon"]

_SECONDS_UNTIL: Final = 2.0  # several things go together, and the page that closed one is drawn first
_M_TRIM_THRESHOLD: Final = -1  # of mallopt(3)
_BYTES_KEPT: Final = 1_000_000

_lock = threading.Lock()
_timer: threading.Timer | None = None


def soon() -> None:
    """Give memory back in a moment; when that is asked for already, nothing more happens."""
    global _timer
    with _lock:
        if _timer is None:
            _timer = threading.Timer(_SECONDS_UNTIL, _now)
            _timer.daemon = True
            _timer.start()


def _now() -> None:
    global _timer
    with _lock:
        _timer = None
    gc.collect()
    give_back()


def give_back() -> None:
    """Return freed memory to the system."""
    _ask("malloc_trim", 0)


def keep_little() -> None:
    """Let each thread's heap keep a megabyte of freed memory at its end, not up to 64 of them.

    Left alone, the C library keeps the more the larger what was freed, and `malloc_trim` shortens the first heap only.
    """
    _ask("mallopt", _M_TRIM_THRESHOLD, _BYTES_KEPT)


def _ask(name: str, *values: int) -> None:
    """Call a function of the C library, where it has one of that name (glibc)."""
    try:
        getattr(ctypes.CDLL(None), name)(*values)
    except (AttributeError, OSError, TypeError):
        return
