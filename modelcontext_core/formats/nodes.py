"""A JSON value that knows where it stands, and answers every question about its shape without raising.

Traces come from strangers: any key may be missing, any value may have another type. A `Node` of the wrong type gives
an empty answer (`""`, no children, a missing node), so that a reader needs no checks to be safe, only to be right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from modelcontext_core.formats.containers.jsonload import JSON_STEP, BadJson, JsonPath, loads, raw_slices

__all__ = ["MISSING", "Document", "Node", "parsed", "show_path"]


class _Missing:
    """The value of a node that is not there (`null` is there)."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)


class Document:
    """One record of a source: its UTF-8 bytes, its value, and what its container says about it.

    `where` names the record for people ("line 12", "event 3", "" for a whole file); `event` is the event name of an
    SSE record. The value is `MISSING` when the record is not JSON: then only `data` speaks.
    """

    __slots__ = ("data", "event", "value", "where")

    def __init__(self, data: bytes, value: Any = MISSING, *, where: str = "", event: str = "") -> None:
        self.data = data
        self.value = value
        self.where = where
        self.event = event

    @property
    def root(self) -> Node:
        """The node of the whole value."""
        return Node(self.value, None, None, self)

    @property
    def text(self) -> str:
        """The record as text; of a database that was to be read as text, what is none is U+FFFD."""
        try:
            return self.data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return self.data.decode("utf-8", "replace")

    def slices(self, paths: list[JsonPath]) -> dict[JsonPath, str]:
        """The source text of the values at `paths`."""
        return raw_slices(self.data, paths)


class Node:
    """A value in a document. `value` is the plain Python value; every method is safe for any type."""

    __slots__ = ("document", "key", "parent", "value")

    def __init__(self, value: Any, parent: Node | None, key: Any, document: Document) -> None:
        self.value = value
        self.parent = parent
        self.key = key
        self.document = document

    def __bool__(self) -> bool:
        """False for a missing node, `null`, `""`, `{}`, `[]`; true for every number and for `false`."""
        return self.value is not MISSING and self.value not in (None, "", {}, [])

    @property
    def exists(self) -> bool:
        """True unless the node is missing."""
        return self.value is not MISSING

    @property
    def is_object(self) -> bool:
        """True for a JSON object."""
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        """True for a JSON array."""
        return isinstance(self.value, list)

    @property
    def is_text(self) -> bool:
        """True for a string."""
        return isinstance(self.value, str)

    @property
    def text(self) -> str:
        """The string, or `""` for any other value."""
        return self.value if isinstance(self.value, str) else ""

    @property
    def label(self) -> str:
        """A string or number as text, for ids, names and times; `""` for anything else."""
        value = self.value
        if isinstance(value, str):
            return value
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""

    def get(self, *keys: str) -> Node:
        """The member under the first of `keys` that exists and is not `null`, else a missing (or null) node."""
        members = self.value
        if isinstance(members, dict):
            for key in keys:
                value = members.get(key)
                if value is not None:
                    return Node(value, self, key, self.document)
            for key in keys:
                if key in members:
                    return Node(None, self, key, self.document)
        return Node(MISSING, self, keys[0], self.document)

    def at(self, *steps: str | int) -> Node:
        """The value at the end of a path of keys and indices (a negative index counts from the end)."""
        node = self
        for step in steps:
            if isinstance(step, str):
                node = node.get(step)
            else:
                size = len(node.value) if isinstance(node.value, list) else 0
                index = step + size if step < 0 else step
                value = node.value[index] if 0 <= index < size else MISSING
                node = Node(value, node, index, node.document)
        return node

    def has(self, *keys: str) -> bool:
        """True for an object that has all of `keys`."""
        return isinstance(self.value, dict) and all(map(self.value.__contains__, keys))

    def has_text(self, key: str) -> bool:
        """True for an object with a string under `key`: `get(key).is_text` at a third of the cost."""
        return isinstance(self.value, dict) and isinstance(self.value.get(key), str)

    def has_list(self, key: str) -> bool:
        """True for an object with an array under `key`."""
        return isinstance(self.value, dict) and isinstance(self.value.get(key), list)

    def has_any(self, keys: frozenset[str]) -> bool:
        """True for an object that has one of `keys` with another value than `null`."""
        members = self.value
        if not isinstance(members, dict) or keys.isdisjoint(members):
            return False
        return any(members[key] is not None for key in members.keys() & keys)

    def __iter__(self) -> Iterator[Node]:
        """The elements of a list."""
        if isinstance(self.value, list):
            for index, value in enumerate(self.value):
                yield Node(value, self, index, self.document)

    def members(self) -> Iterator[tuple[str, Node]]:
        """The keys and values of an object."""
        if isinstance(self.value, dict):
            for key, value in self.value.items():
                yield key, Node(value, self, key, self.document)

    def unpacked(self) -> Node:
        """The document in a string that holds a JSON object or array (once or several times packed), else this node."""
        node = self
        for _ in range(3):
            value = parsed(node.value)
            if value is None:
                break
            node = Node(value, node, JSON_STEP, node.document)
        return node if isinstance(node.value, dict | list) else self

    def steps_from(self, base: Node | None) -> JsonPath | None:
        """The steps from `base` (`None`: from the root) to this node; `None` when `base` is not above it."""
        steps: list[Any] = []
        node = self
        while node is not base:
            if node.parent is None:
                if base is not None:
                    return None
                break
            steps.append(node.key)
            node = node.parent
        return tuple(reversed(steps))

    @property
    def path(self) -> str:
        """The path from the root: `$.messages[3].content`, `::json` where a string holds a document."""
        # Paths below one list are many: only what is shared by all is worth remembering.
        steps = self.steps_from(None) or ()
        return "$" + "".join([show_path((step,)) for step in steps])

    @property
    def where(self) -> str:
        """The record and the path, for a notice: `line 12: $.messages[3]`."""
        return f"{self.document.where}: {self.path}" if self.document.where else self.path


def parsed(text: Any) -> Any:
    """The value of a string that holds a JSON object, array or string, else `None`."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "[", '"'):
        return None
    try:
        return loads(text.encode("utf-8", "surrogatepass"))
    except BadJson:
        return None


@lru_cache(maxsize=4096)
def show_path(steps: JsonPath) -> str:
    """Steps as text that follows the path of what they start from."""
    shown = []
    for step in steps:
        if isinstance(step, int):
            shown.append(f"[{step}]")
        elif step is JSON_STEP:
            shown.append("::json")
        elif _IDENTIFIER.match(str(step)):
            shown.append(f".{step}")
        else:
            shown.append('["' + str(step).replace("\\", "\\\\").replace('"', '\\"') + '"]')
    return "".join(shown)
