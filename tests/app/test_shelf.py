"""What the server holds for a tab: under a key that nobody can guess, and not for long."""

from __future__ import annotations

import re

from inspector_app.shelf import Shelf, new_key


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_key_is_random_and_has_128_bits() -> None:
    """Two keys differ, and each is 32 hexadecimal digits."""
    first, second = new_key(), new_key()

    assert re.fullmatch("[0-9a-f]{32}", first)
    assert first != second


def test_an_item_goes_15_minutes_after_it_was_last_looked_at() -> None:
    """Looking at it keeps it for as long again; what goes is closed."""
    clock = Clock()
    closed: list[str] = []
    shelf: Shelf[str] = Shelf(clock=clock, close=closed.append)
    shelf.put("key", "item")

    clock.now += 14 * 60
    assert shelf.get("key") == "item"
    clock.now += 14 * 60
    assert shelf.get("key") == "item"
    assert closed == []
    clock.now += 15 * 60
    assert shelf.get("key") is None
    assert (len(shelf), closed) == (0, ["item"])


def test_what_is_forgotten_is_gone_at_once() -> None:
    """A key that was forgotten leads nowhere, like one that never was; closing happens once."""
    closed: list[str] = []
    shelf: Shelf[str] = Shelf(close=closed.append)
    shelf.put("key", "item")

    shelf.forget("key")
    shelf.forget("key")

    assert shelf.get("key") is None
    assert shelf.get("") is None
    assert closed == ["item"]


def test_the_oldest_go_when_all_do_not_fit() -> None:
    """What was used last stays longest, and the newest stays in any case."""
    shelf: Shelf[str] = Shelf(fits=lambda held: sum(map(len, held)) <= 5)
    shelf.put("a", "12")
    shelf.put("b", "34")
    shelf.get("a")

    shelf.put("c", "5")
    assert (shelf.get("a"), shelf.get("b"), shelf.get("c")) == ("12", "34", "5")
    shelf.put("d", "67")
    assert (shelf.get("a"), shelf.get("b"), shelf.get("c"), shelf.get("d")) == (None, "34", "5", "67")
    shelf.put("e", "too long for the shelf")
    assert [shelf.get(key) for key in "abcde"] == [None, None, None, None, "too long for the shelf"]


def test_the_shelf_can_be_used_while_an_item_is_closed() -> None:
    """Closing may take its time, or look for another item: others do not wait for it."""
    shelf: Shelf[str] = Shelf(close=lambda item: found.append((item, shelf.get("other"))))
    found: list[tuple[str, str | None]] = []
    shelf.put("other", "stays")
    shelf.put("key", "goes")

    shelf.forget("key")

    assert found == [("goes", "stays")]
