"""The ways to look at a container: as it is, by its elements, or with a wrapper taken off.

A shape turns each document into groups of nodes. A group is what a reader takes at a time: one record, or a request
and its response.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from modelcontext_core.formats.containers.framing import Layout
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Container, Sample

__all__ = ["Shape", "shapes_of", "unwrapped"]

Groups = Callable[[Node], Iterator[list[Node]]]
_SAMPLE = 40
# A wrapper around one body, by the key that holds it.
_BODY_KEYS = ("body", "payload", "raw", "json", "data", "value", "message")
_PAIRS = (("request", "response"), ("req", "res"), ("input", "output"), ("request_body", "response_body"))

_WRAPPER_KEYS = frozenset(_BODY_KEYS).union(*_PAIRS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A sample for `detect`, and how every document is cut into groups."""

    sample: Sample
    groups: Groups


def _as_is(root: Node) -> Iterator[list[Node]]:
    yield [root.unpacked()]


def _elements(root: Node) -> Iterator[list[Node]]:
    for element in root.unpacked():
        yield [element.unpacked()]


def _without_wrapper(root: Node) -> Iterator[list[Node]]:
    yield unwrapped(root.unpacked()) or [root]


def _elements_without_wrapper(root: Node) -> Iterator[list[Node]]:
    for element in root.unpacked():
        yield unwrapped(element.unpacked()) or [element]


def _wrapped_elements(root: Node) -> Iterator[list[Node]]:
    for inner in unwrapped(root.unpacked())[:1]:
        yield from _elements(inner)


def unwrapped(node: Node) -> list[Node]:
    """What is inside a wrapper: `{request, response}` (both), `{path, body}`, `[name, payload]`; `[]` if it is none."""
    if node.is_object and not node.has_any(_WRAPPER_KEYS):
        return []
    for pair in _PAIRS:
        members = [_body_of(node.get(key).unpacked()) for key in pair]
        # A bare text is told too: an answer may be nothing else.
        inner = [member for member in members if member.is_object or member.is_list or member.text.strip()]
        if inner and any(member.is_object for member in inner):
            return inner
    if node.is_list and len(node.value) == 2 and node.at(0).is_text:
        payload = node.at(1).unpacked()
        return [payload] if payload.is_object or payload.is_list else []
    for key in _BODY_KEYS:
        inner_node = node.get(key).unpacked()
        if inner_node.is_object or inner_node.is_list:
            return [inner_node]
    return []


def _body_of(member: Node) -> Node:
    """The body of a request or response that is recorded with its method, address or status."""
    body = member.get("body").unpacked()
    return body if body.is_object or body.is_list else member


def shapes_of(layout: Layout, name: str) -> list[Shape]:
    """All shapes of a source, the plainest first."""
    roots = [document.root for document in layout.sample]
    container = layout.container
    head = layout.sample[0].data[:65536]
    found: list[Shape] = []

    def add(kind: Container, groups: Groups) -> None:
        nodes: list[Node] = []
        for root in roots:
            for group in groups(root):
                nodes += group
                if len(nodes) >= _SAMPLE:
                    break
            if len(nodes) >= _SAMPLE:
                break
        if nodes:
            sample = Sample(container=kind, nodes=nodes, head=head, name=name, partial=layout.partial)
            found.append(Shape(sample=sample, groups=groups))

    add("json" if container == "array" else container, _as_is)
    if container in ("json", "array"):
        root = roots[0].unpacked()
        named = root.is_list and root.at(0).is_text and bool(unwrapped(root))
        if root.is_list and not named:
            add("array", _elements)
        if unwrapped(root):
            add("json", _without_wrapper)
            if unwrapped(root)[0].is_list:
                add("array", _wrapped_elements)
        if named:  # a name and its payload rather than two records, if a reader takes it so
            add("array", _elements)
        if root.is_list and unwrapped(root.at(0).unpacked()):
            add("array", _elements_without_wrapper)
    elif container in ("lines", "sse", "documents") and any(unwrapped(root) for root in roots):
        add(container, _without_wrapper)
    return found
