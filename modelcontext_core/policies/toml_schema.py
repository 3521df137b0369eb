"""Reading the TOML of a pack: its shape and types. What the values mean together is checked in `checks`.

Every fault is a `PolicyError` that names the file, the key as it stands in the TOML, the wrong value and what is
allowed. All faults are collected, so that a check can show them at once; a loader raises the first.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, cast

from modelcontext_core.errors import PolicyError
from modelcontext_core.policies.rules import (
    BUILTIN_KINDS,
    KEY_SPACES,
    MINE_KINDS,
    OUTPUT_KINDS,
    ROUTING_KINDS,
    KeyKind,
)
from modelcontext_core.policies.toml_writer import dotted, quoted

__all__ = ["PackText", "ToolChanges", "allowed", "nearest", "read_pack", "read_pack_file"]

ToolChanges = Mapping[str, Any]
"""The fields of a `ToolPolicy` that a pack states for a tool; the rest is the base's, or the default."""

_PACK_KEYS: Final = ("name", "extends", "uri_scheme", "keys", "tools")
_TOOL_KEYS: Final = ("ids", "sql", "output", "issues", "routing", "mine", "sensitive")
_ISSUE_KEYS: Final = ("decode", "register", "compact")
_LONGEST_SHOWN: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class PackText:
    """A pack as it is written: before its base is looked up. `None` means: not stated."""

    name: str
    extends: str | None = None
    uri_scheme: str | None = None
    keys: Mapping[str, KeyKind] = field(default_factory=dict)
    tools: Mapping[str, ToolChanges] = field(default_factory=dict)


def read_pack(text: str, source: str = "", *, builtin: bool = False) -> tuple[PackText, list[PolicyError]]:
    """The pack that a TOML text describes, without what was wrong in it, and what was wrong.

    `builtin` allows the kinds of keys that only the built-in pack may declare.
    Raises `PolicyError` when the text is no TOML at all: the message tells the line.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # The parser names line and column, but not for what is missing at the very end.
        reason = str(error).replace("(at end of document)", f"(at the end, line {text.count(chr(10)) + 1})")
        raise PolicyError(f"is not valid TOML: {reason}", source=source) from error
    except ValueError as error:  # the parser reads whole numbers as Python does, which refuses thousands of digits
        raise PolicyError("is not valid TOML: a number in it has too many digits", source=source) from error
    except RecursionError:
        raise PolicyError("is not valid TOML: arrays or tables are nested too deeply", source=source) from None
    reader = _Reader(source=source, key_kinds={**KEY_SPACES, **BUILTIN_KINDS} if builtin else KEY_SPACES)
    return reader.pack(data), reader.faults


def read_pack_file(path: Path) -> str:
    """The text of a pack's file, a byte order mark aside. Raises `PolicyError` when it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise PolicyError(f"cannot be read: {error.strerror or error}", source=str(path)) from error
    except UnicodeDecodeError as error:
        raise PolicyError(f"is not UTF-8 text: byte {error.start} cannot be read", source=str(path)) from error


def nearest(word: str, words: Iterable[str]) -> str:
    """A hint for a misspelt word: `; nearest is "ids"`, or nothing."""
    close = get_close_matches(word.lower(), list(words), n=1, cutoff=0.6)
    return f"; nearest is {quoted(close[0])}" if close else ""


def allowed(words: Iterable[str]) -> str:
    """The words that are allowed, for a message."""
    return ", ".join(quoted(word) for word in words)


def _shown(value: object) -> str:
    """A wrong value, short enough for a message and on one line."""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, str):
        text = quoted(value)
    else:
        text = ascii(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


class _Reader:
    """Walks the tables of one pack and collects what is wrong."""

    def __init__(self, *, source: str, key_kinds: Mapping[str, KeyKind]) -> None:
        self.faults: list[PolicyError] = []
        self._source = source
        self._key_kinds = key_kinds

    def pack(self, data: Mapping[str, Any]) -> PackText:
        self._refuse_unknown(data, _PACK_KEYS, ())
        if "name" not in data:
            self._fault('a pack needs a name, as in name = "my-app"', ("name",))
        return PackText(
            name=self._text(data, "name") or "",
            extends=self._text(data, "extends"),
            uri_scheme=self._text(data, "uri_scheme"),
            keys=self._keys(self._table(data, ("keys",))),
            tools=self._tools(self._table(data, ("tools",))),
        )

    def _fault(self, reason: str, path: tuple[str, ...], index: int | None = None) -> None:
        where = dotted(*path) + ("" if index is None else f"[{index}]")
        self.faults.append(PolicyError(reason, source=self._source, path=where))

    def _refuse_unknown(self, table: Mapping[str, Any], known: tuple[str, ...], path: tuple[str, ...]) -> None:
        for key in table:
            if key not in known:
                self._fault(f"unknown key{nearest(key, known)}; allowed: {allowed(known)}", (*path, key))

    def _text(self, table: Mapping[str, Any], key: str) -> str | None:
        value = table.get(key)
        if value is None or isinstance(value, str):
            return value
        self._fault(f"must be a string, not {_shown(value)}", (key,))
        return None

    def _table(self, parent: Mapping[str, Any], path: tuple[str, ...]) -> Mapping[str, Any]:
        value = parent.get(path[-1], {})
        if isinstance(value, dict):
            return value
        self._fault(f"must be a table, not {_shown(value)}", path)
        return {}

    def _keys(self, table: Mapping[str, Any]) -> dict[str, KeyKind]:
        kinds: dict[str, KeyKind] = {}
        for key, word in table.items():
            kind = self._key_kinds.get(word) if isinstance(word, str) else None
            if kind is None:
                hint = nearest(word, self._key_kinds) if isinstance(word, str) else ""
                self._fault(f"{_shown(word)} is no space{hint}; allowed: {allowed(self._key_kinds)}", ("keys", key))
            elif kinds.setdefault(key.lower(), kind) != kind:
                self._fault("the same key in another letter case has another space; keys ignore case", ("keys", key))
        return kinds

    def _tools(self, table: Mapping[str, Any]) -> dict[str, ToolChanges]:
        tools: dict[str, ToolChanges] = {}
        for name in table:
            path = ("tools", name)
            tool = self._table(table, path)
            self._refuse_unknown(tool, _TOOL_KEYS, path)
            tools[name] = self._tool(tool, path)
        return tools

    def _tool(self, tool: Mapping[str, Any], path: tuple[str, ...]) -> ToolChanges:
        changes: dict[str, Any] = {}
        for key in ("ids", "sql"):
            if key in tool:
                changes[key] = self._texts(tool[key], (*path, key))
        if "output" in tool:
            changes["output"] = self._word(tool["output"], OUTPUT_KINDS, (*path, "output"))
        if "issues" in tool:
            changes.update(self._issues(self._table(tool, (*path, "issues")), (*path, "issues")))
        if "routing" in tool:
            changes["routing"] = self._routing(self._table(tool, (*path, "routing")), (*path, "routing"))
        if "mine" in tool:
            mine = self._texts(tool["mine"], (*path, "mine"))
            for index, kind in enumerate(mine):
                self._word(kind, MINE_KINDS, (*path, "mine"), index)
            changes["mine"] = tuple(kind for kind in mine if kind in MINE_KINDS)
        if "sensitive" in tool:
            changes["sensitive"] = self._switch(tool["sensitive"], (*path, "sensitive"))
        return {key: value for key, value in changes.items() if value is not None}

    def _issues(self, table: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        self._refuse_unknown(table, _ISSUE_KEYS, path)
        changes: dict[str, Any] = {}
        for key in ("decode", "register"):
            if key in table:
                changes[f"issues_{key}"] = self._texts(table[key], (*path, key))
        if "compact" in table:
            changes["issues_compact"] = self._switch(table["compact"], (*path, "compact"))
        return changes

    def _routing(self, table: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, str]:
        kinds = {key: self._word(kind, ROUTING_KINDS, (*path, key)) for key, kind in table.items()}
        return {key: kind for key, kind in kinds.items() if kind is not None}

    def _texts(self, value: object, path: tuple[str, ...]) -> tuple[str, ...]:
        if not isinstance(value, list):
            self._fault(f"must be a list of strings, not {_shown(value)}", path)
            return ()
        for index, item in enumerate(value):
            if not isinstance(item, str):
                self._fault(f"must be a string, not {_shown(item)}", path, index)
        return tuple(item for item in cast("list[object]", value) if isinstance(item, str))

    def _word(
        self, value: object, words: tuple[str, ...], path: tuple[str, ...], index: int | None = None
    ) -> str | None:
        if isinstance(value, str) and value in words:
            return value
        hint = nearest(value, words) if isinstance(value, str) else ""
        self._fault(f"{_shown(value)} is not allowed{hint}; allowed: {allowed(words)}", path, index)
        return None

    def _switch(self, value: object, path: tuple[str, ...]) -> bool | None:
        if isinstance(value, bool):
            return value
        self._fault(f"must be true or false, not {_shown(value)}", path)
        return None
