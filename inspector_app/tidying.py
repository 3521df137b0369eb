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

__all__ = ["give_back", "soon"]

_SECONDS_UNTIL: Final = 2.0  # several things go together, and the page that closed one is drawn first

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
    """Return freed memory to the system, where the C library can (glibc); elsewhere nothing happens."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # another C library, or none that can be asked
        return
