"""Arguments that come as values with JSON paths (`$.a.b[0]`): written as JSON text while they come.

The model writes its arguments from left to right, so each path either goes on inside what is open or closes some of it.
A path that goes back into something closed cannot be written any more; then the text is made anew from all values.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

__all__ = ["PartialArguments"]

_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d{1,6})\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]""")
_MOST_STEPS: Final = 200


def steps_of(path: str) -> tuple[str | int, ...] | None:
    """The keys and indices of a path; `None` when it is not understood."""
    steps: list[str | int] = []
    position = 1 if path.startswith("$") else 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None or len(steps) >= _MOST_STEPS:
            return None
        position = match.end()
        name, index, single, double = match.groups()
        steps.append(int(index) if index is not None else next(x for x in (name, single, double) if x is not None))
    return tuple(steps)


class _Open:
    """A container that is being written."""

    def __init__(self, is_object: bool) -> None:
        self.is_object = is_object
        self.last: str | int = -1
        self._keys: set[str | int] = set()

    def begin(self, step: str | int) -> bool:
        """A member or element begins. False when it does not fit what is written already."""
        fits = self.is_object == isinstance(step, str) and step not in self._keys
        if not self.is_object:
            fits = fits and step == len(self._keys)
        self._keys.add(step)
        self.last = step
        return fits


def _dumped(node: Any) -> str:
    """The JSON text of a tree of values: dictionaries by keys or indices, and (kind, pieces) pairs."""
    if isinstance(node, tuple):
        kind, pieces = node
        return json.dumps("".join(pieces), ensure_ascii=False) if kind == "text" else "".join(pieces)
    if not isinstance(node, dict):
        return "{}"
    if node and all(isinstance(key, int) for key in node):
        return "[" + ", ".join(_dumped(node[key]) for key in sorted(node)) + "]"
    return "{" + ", ".join(f"{json.dumps(str(key), ensure_ascii=False)}: {_dumped(node[key])}" for key in node) + "}"


class PartialArguments:
    """The JSON text so far. `text` gives the whole of it, closed; `rewritten` says that it is no longer what was given
    piece by piece."""

    def __init__(self) -> None:
        self.rewritten = False
        self._pieces: list[str] = []
        self._open: list[_Open] = []
        self._string: tuple[str | int, ...] | None = None
        self._tree: Any = None

    def add(self, path: str, value: str, *, text: bool, goes_on: bool) -> str | None:
        """One value: a piece of a string (`text`), or the JSON text of a scalar. Gives what it adds to the JSON text;
        `None` for a path that is not understood."""
        steps = steps_of(path)
        if not steps:
            return None
        before = len(self._pieces)
        same = self._string == steps
        self._remember(steps, value, text=text, same=same)
        if not same:
            self._close_string()
            if not self._go_to(steps):
                self.rewritten = True
            if text:
                self._pieces.append('"')
        self._pieces.append(json.dumps(value, ensure_ascii=False)[1:-1] if text else value)
        self._string = steps if text else None
        if text and not goes_on:
            self._close_string()
        return "".join(self._pieces[before:])

    def close(self) -> str:
        """Close all that is open. Gives what that adds."""
        before = len(self._pieces)
        self._close_string()
        while self._open:
            self._pieces.append("}" if self._open.pop().is_object else "]")
        return "".join(self._pieces[before:])

    @property
    def text(self) -> str:
        """The whole text; made anew when the paths went back."""
        return _dumped(self._tree) if self.rewritten else "".join(self._pieces)

    def _close_string(self) -> None:
        if self._string is not None:
            self._pieces.append('"')
            self._string = None

    def _go_to(self, steps: tuple[str | int, ...]) -> bool:
        """Close what the path is not in, and open what it is in. False when it goes back or does not fit."""
        common = 0
        while common < min(len(self._open), len(steps)) - 1 and self._open[common].last == steps[common]:
            common += 1
        while len(self._open) > common + 1:
            self._pieces.append("}" if self._open.pop().is_object else "]")
        fits = True
        for depth in range(common, len(steps)):
            if depth == len(self._open):
                self._open.append(_Open(isinstance(steps[depth], str)))
                self._pieces.append("{" if self._open[depth].is_object else "[")
            else:
                self._pieces.append(", ")
            fits = self._open[depth].begin(steps[depth]) and fits
            if isinstance(steps[depth], str):
                self._pieces.append(json.dumps(steps[depth], ensure_ascii=False) + ": ")
        return fits

    def _remember(self, steps: tuple[str | int, ...], value: str, *, text: bool, same: bool) -> None:
        """Keep the value in a tree of dictionaries (keys and indices alike)."""
        if not isinstance(self._tree, dict):
            self._tree = {}
        node = self._tree
        for step in steps[:-1]:
            inner = node.get(step)
            if not isinstance(inner, dict):
                inner = node[step] = {}
            node = inner
        old = node.get(steps[-1])
        if text and same and isinstance(old, tuple):
            old[1].append(value)
        elif text:
            node[steps[-1]] = ("text", [value])
        else:
            node[steps[-1]] = ("json", [value])
