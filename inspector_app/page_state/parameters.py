"""The query parameters of an address, read: a wrong value falls back to its default, and is remembered."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

__all__ = ["Parameters"]

_Value = TypeVar("_Value")
_KEY: Final = re.compile(r"[0-9a-f]{32}")
_NAME: Final = re.compile(r"[a-z0-9_]{1,60}")
_LONGEST_PATH: Final = 4_096
_NUMBERS: Final = re.compile(r"[0-9]{1,5}(\.[0-9]{1,5}){0,999}")


class Parameters:
    """The parameters of an address; `wrong` says whether any had to be replaced by its default."""

    def __init__(self, query: Mapping[str, str]) -> None:
        self._query = query
        self.wrong = False

    def text(self, name: str, valid: Callable[[str], bool]) -> str:
        """Return a text that `valid` accepts, or ""."""
        value = self._query.get(name, "")
        return value if not value or valid(value) else self._fall_back("")

    def name(self, name: str) -> str:
        """Return a name of our own, of a sample or a format, or ""."""
        return self.text(name, lambda value: bool(_NAME.fullmatch(value)))

    def path(self, name: str) -> str:
        """Return a path of this machine, or "". Nothing says that it is there, or may be read."""
        return self.text(name, lambda value: len(value) <= _LONGEST_PATH and value.isprintable())

    def key(self, name: str) -> str:
        """Return the key of something that the server holds, or ""."""
        return self.text(name, lambda value: bool(_KEY.fullmatch(value)))

    def source(self) -> dict[str, str]:
        """Return `sample`, `path` and `key`. One source at a time: the first that is given counts, others are ""."""
        source = {"sample": self.name("sample"), "path": self.path("path"), "key": self.key("key")}
        first = next((name for name, value in source.items() if value), "")
        return {name: value if name == first else "" for name, value in source.items()}

    def choice(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        """Return one of `allowed`."""
        value = self._query.get(name, default)
        return value if value in allowed else self._fall_back(default)

    def flag(self, name: str, default: bool) -> bool:
        """Return a switch, written as 1 or 0."""
        return self.choice(name, ("0", "1"), str(int(default))) == "1"

    def number(self, name: str, low: float, high: float, default: float) -> float:
        """Return a number from `low` to `high`."""
        value = self._query.get(name)
        if value is None:
            return default
        try:
            number = float(value)
        except ValueError:
            return self._fall_back(default)
        return number if low <= number <= high else self._fall_back(default)

    def numbers(self, name: str) -> tuple[int, ...]:
        """Return different whole numbers in order, written with dots between them."""
        value = self._query.get(name, "")
        if not value:
            return ()
        if not _NUMBERS.fullmatch(value):
            return self._fall_back(())
        return tuple(sorted({int(part) for part in value.split(".")}))

    def _fall_back(self, default: _Value) -> _Value:
        self.wrong = True
        return default
