"""Attributes of spans and log records, however an exporter writes them, as one map from full names to values.

OTLP lists `{key, value: {stringValue}}`; consoles write flat objects; others nest objects by the dots of the names.
Indexed names (`gen_ai.prompt.0.role`) become lists and objects again; each leaf keeps its own place in the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from modelcontext_core.formats.containers.jsonload import JSON_STEP, BadJson, loads
from modelcontext_core.formats.nodes import MISSING, Node

__all__ = ["Attributes", "Tree", "decoded", "regrown", "typed_value"]

_TYPED: Final = ("stringValue", "string_value", "intValue", "int_value", "doubleValue", "double_value", "boolValue")
_TYPED_LISTS: Final = ("arrayValue", "array_value")
_TYPED_MAPS: Final = ("kvlistValue", "kvlist_value")
_DEPTH: Final = 12
_MEMBERS: Final = 50_000


class Tree(Node):
    """An object or list put together of values that stand at different places of one document.

    Its `key` must be none that the document has there: the tree has no source text of its own.
    """

    __slots__ = ("_inside",)

    def __init__(self, inside: dict[str, Node] | list[Node], parent: Node, key: str) -> None:
        value: Any
        if isinstance(inside, dict):
            self._inside: dict[str, Node] | list[Node] = {name: node for name, node in inside.items() if node.exists}
            value = {name: node.value for name, node in self._inside.items()}
        else:
            self._inside = [node for node in inside if node.exists]
            value = [node.value for node in self._inside]
        super().__init__(value, parent, key, parent.document)

    def get(self, *keys: str) -> Node:
        """As `Node.get`; members keep their own places."""
        if isinstance(self._inside, dict):
            for key in keys:
                node = self._inside.get(key)
                if node is not None and node.value is not None:
                    return node
        return Node(MISSING, self, keys[0], self.document)

    def at(self, *steps: str | int) -> Node:
        """As `Node.at`."""
        if not steps:
            return self
        step, *rest = steps
        if isinstance(step, str):
            return self.get(step).at(*rest)
        inside = self._inside if isinstance(self._inside, list) else []
        if -len(inside) <= step < len(inside):
            return inside[step].at(*rest)
        return Node(MISSING, self, step, self.document)

    def __iter__(self) -> Iterator[Node]:
        return iter(self._inside if isinstance(self._inside, list) else ())

    def members(self) -> Iterator[tuple[str, Node]]:
        """As `Node.members`."""
        return iter(self._inside.items() if isinstance(self._inside, dict) else ())


def typed_value(node: Node, depth: int = 0) -> Node:
    """The value inside OTLP's `{stringValue: …}` and its kin; any other value as it is."""
    if not node.is_object or len(node.value) > 2 or depth > _DEPTH:
        return node
    for key in _TYPED:
        if node.has(key):
            return node.get(key)
    for key in _TYPED_LISTS:
        if node.has(key):
            return Tree([typed_value(item, depth + 1) for item in node.get(key).get("values")], node, f"{key}*")
    for key in _TYPED_MAPS:
        if node.has(key):
            pairs = node.get(key).get("values")
            return Tree(
                {pair.get("key").text: typed_value(pair.get("value"), depth + 1) for pair in pairs}, node, f"{key}*"
            )
    values = node.get("values")
    if values.is_list and all(item.has_any(frozenset(_TYPED)) for item in values):
        return Tree([typed_value(item, depth + 1) for item in values], node, "values*")
    return node


def decoded(node: Node) -> Node:
    """The value that JSON text stands for, a string too; text that is no JSON is itself."""
    if not node.is_text:
        return node
    try:
        value = loads(node.text.encode("utf-8", "surrogatepass"))
    except BadJson:
        return node
    return Node(value, node, JSON_STEP, node.document)


class Attributes:
    """The attributes of one span or record by their full names."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.flat: dict[str, Node] = {}
        attributes = node.unpacked()
        if attributes.is_list:
            for pair in attributes:
                key = pair.get("key").text
                if key:
                    self.flat[key] = typed_value(pair.get("value"))
        else:
            self._spread(attributes)

    def _spread(self, attributes: Node) -> None:
        """Take an object apart; its nested objects too (a list stays one value)."""
        stack = [("", attributes, 0)]
        while stack and len(self.flat) < _MEMBERS:
            prefix, current, depth = stack.pop()
            for key, member in current.members():
                value = typed_value(member)
                name = f"{prefix}{key}"
                self.flat[name] = value
                if value.is_object and depth < _DEPTH and not isinstance(value, Tree):
                    stack.append((name + ".", value, depth + 1))

    def get(self, *names: str) -> Node:
        """The first of these attributes that is there and not empty."""
        for name in names:
            node = self.flat.get(name)
            if node is not None and node:
                return node
        return Node(MISSING, self.node, names[0], self.node.document)

    def has_prefix(self, *prefixes: str) -> bool:
        """Is there an attribute that begins so?"""
        return any(name.startswith(prefixes) for name in self.flat)

    def tree(self, prefix: str) -> Node:
        """What stands under a name: the value itself (JSON text unpacked), or a tree of all names below."""
        direct = self.flat.get(prefix)
        if direct is not None and not direct.is_object:
            return direct.unpacked()
        start = prefix + "."
        inside = {name[len(start) :]: node for name, node in self.flat.items() if name.startswith(start)}
        if not inside:
            return direct if direct is not None else Node(MISSING, self.node, prefix, self.node.document)
        return _grown(inside.items(), self.node, prefix)

    def all(self) -> Node:
        """All attributes as one tree."""
        return _grown(self.flat.items(), self.node, "")


def regrown(node: Node) -> Node:
    """An object whose keys hold dots as a tree."""
    if not node.is_object or not any("." in key for key in node.value):
        return node
    return _grown(node.members(), node, "")


def _grown(members: Iterable[tuple[str, Node]], parent: Node, key: str) -> Node:
    root: dict[str, Any] = {}
    for name, node in members:
        place = root
        *path, last = name.split(".")[:_DEPTH]
        for step in path:
            inner = place.setdefault(step, {})
            if not isinstance(inner, dict):
                inner = place[step] = {}
            place = inner
        if not isinstance(place.get(last), dict):
            place[last] = node
    return _planted(root, parent, key)


def _planted(branch: dict[str, Any], parent: Node, key: str) -> Node:
    """Nested dicts as trees; a level whose keys are all numbers is a list in their order."""
    made: dict[str, Node] = {}
    for name, inner in branch.items():
        made[name] = _planted(inner, parent, f"{key}.{name}") if isinstance(inner, dict) else inner
    if made and all(name.isdigit() and len(name) < 9 for name in made):
        return Tree([made[name] for name in sorted(made, key=int)], parent, key)
    return Tree(made, parent, key)
