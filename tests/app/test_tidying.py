"""Giving memory back: asked for once, and without harm where the C library cannot."""

from __future__ import annotations

import ctypes
import threading

import pytest

from inspector_app import tidying


def test_several_things_are_tidied_up_after_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two requests one timer is made, and after it ended the next request makes another."""
    monkeypatch.setattr(tidying, "_SECONDS_UNTIL", 0.01)
    done = threading.Semaphore(0)
    monkeypatch.setattr(tidying, "give_back", done.release)

    tidying.soon()
    tidying.soon()
    assert done.acquire(timeout=20)
    assert not done.acquire(timeout=0.2)
    tidying.soon()
    assert done.acquire(timeout=20)


def test_another_c_library_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no such function, or no library to ask, nothing is said."""

    def no_library(name: object) -> object:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    tidying.give_back()
    monkeypatch.setattr(ctypes, "CDLL", no_library)
    tidying.keep_little()
