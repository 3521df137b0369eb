"""Random JSON as text, written by a program that knows where everything is, and a clock for slow inputs."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import strategies as st

from modelcontext_core.jsonvalue import quote, unquote


class Members(list[tuple[str, Any]]):
    """The members of an object as pairs, so that keys may repeat."""


# Short texts of the signs that matter meet every rule sooner than long natural ones.
TRICKY_TEXT = st.text(alphabet='ab"\\:,[]{} \n\t/é漢😀\ud800\udc00\u212a\x7f', max_size=6)
KEYS = st.sampled_from(["id", "ID", "Id", "\u212ad", "kd", "url", "urls", "a", "", ":", ",", '"', "\\", "x id", '"id'])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TRICKY_TEXT | KEYS,
    lambda inner: st.lists(inner, max_size=4) | st.lists(st.tuples(KEYS | TRICKY_TEXT, inner), max_size=4).map(Members),
    max_leaves=12,
)


class Writer:
    """Writes a value as JSON with random spacing and escapes, and notes every string as a plain reader sees it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.text = ""
        self.strings: list[tuple[int, int, bool, str | None, int]] = []
        self.paths: list[str] = []
        self.raw_keys: list[str | None] = []

    def _space(self) -> None:
        self.text += self.random.choice(["", "", " ", "\n\t", "\r "])

    def _literal(self, value: str) -> str:
        if self.random.random() < 0.6:
            return quote(value)
        return json.dumps(value) if self.random.random() < 0.7 else "".join(['"', *map(self._escape, value), '"'])

    def _escape(self, char: str) -> str:
        return json.dumps(char)[1:-1] if self.random.random() < 0.5 or ord(char) > 0xFFFF else f"\\u{ord(char):04X}"

    def _string(self, value: str, is_key: bool, key: str | None, depth: int, path: str, raw: str | None) -> str:
        literal = self._literal(value)
        start = len(self.text)
        self.text += literal
        self.strings.append((start, len(self.text), is_key, key, depth))
        self.paths.append(path)
        self.raw_keys.append(literal[1:-1] if is_key else raw)
        return literal[1:-1]

    def _write(
        self, value: Any, key: str | None = None, depth: int = 0, path: str = "$", raw: str | None = None
    ) -> None:
        self._space()
        if isinstance(value, Members):
            self.text += "{"
            for index, (name, inner) in enumerate(value):
                self.text += "," if index else ""
                self._space()
                read = unquote(quote(name))  # two surrogates of a pair are one character to a reader
                inner_path = f"{path}.{read}" if read.isidentifier() else f"{path}[{quote(read)}]"
                spelt = self._string(name, True, read, depth + 1, inner_path, None)
                self._space()
                self.text += ":"
                self._write(inner, read, depth + 1, inner_path, spelt)
            self._space()
            self.text += "}"
        elif isinstance(value, list):
            self.text += "["
            for index, inner in enumerate(value):
                self.text += "," if index else ""
                self._write(inner, key, depth + 1, f"{path}[{index}]", raw)
            self._space()
            self.text += "]"
        elif isinstance(value, str):
            self._string(value, False, key, depth, path, raw)
        else:
            self.text += json.dumps(value)
        self._space()


def written(value: Any, seed: int) -> Writer:
    """A value as JSON text, spelt as the seed has it."""
    writer = Writer(seed)
    writer._write(value)
    return writer
