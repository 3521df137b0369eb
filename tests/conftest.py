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

_MAIN = sys.modules["__main__"]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """A page that a test draws takes the place of `__main__`; processes started by later tests would begin with it."""
    sys.modules["__main__"] = _MAIN
