"""Settings and fixtures of the whole suite. Browser fixtures live in `tests/browser.py`."""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import app_server, chromium, open_page

__all__ = ["app_server", "chromium", "open_page"]

# No deadline: the suite shares a small machine with a browser and a database, and a slow example is no wrong one.
settings.register_profile("default", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", settings.get_profile("default"), max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# What a module with a long wait asks for: a browser, or programs in a fresh process each.
_LONG = frozenset({"chromium", "wheel"})

_MAIN = sys.modules["__main__"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long modules come first: begun last, one of two processes would wait at the end for the other."""
    long = {item.path for item in items if not _LONG.isdisjoint(getattr(item, "fixturenames", ()))}
    items.sort(key=lambda item: item.path not in long)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """A page that a test draws takes the place of `__main__`; processes started by later tests would begin with it."""
    sys.modules["__main__"] = _MAIN
