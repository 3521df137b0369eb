"""Writing the elements that a model reads: one child a line, two spaces a level, blank attributes and texts left out.

An element is built in the order in which it is written (attributes, then children), because every text is compacted
when it is added, and compacting numbers the stored resources that it meets.
"""

from __future__ import annotations

import html
from collections.abc import Mapping

from modelcontext_core.toolresults import fields
from modelcontext_core.toolresults.context import RenderContext

__all__ = ["Element"]


class Element:
    """One element under construction. Values are given raw; compacting and escaping happen here, in that order."""

    __slots__ = ("_attributes", "_children", "_context", "_name", "_text")

    def __init__(self, name: str, context: RenderContext) -> None:
        self._name = name
        self._context = context
        self._attributes: list[str] = []
        self._children: list[Element] = []
        self._text = ""

    def literal(self, name: str, value: str | None) -> None:
        """Add an attribute of our own making (a handle, a fixed word), unless it is empty. It is not compacted."""
        if value:
            self._attributes.append(f' {name}="{html.escape(value)}"')

    def attribute(self, name: str, value: object) -> None:
        """Add an attribute from a row, unless it is blank."""
        if text := fields.shown(value):
            self.literal(name, self._context.compact(text))

    def text(self, value: object) -> None:
        """Set the text from a row, unless it is blank."""
        if text := fields.shown(value):
            self.raw_text(self._context.compact(text))

    def raw_text(self, compacted: str) -> None:
        """Set a text that is compacted already."""
        self._text = html.escape(compacted, quote=False)

    def child(self, name: str) -> Element:
        """Open a child; what is added to it afterwards is written in its place."""
        element = Element(name, self._context)
        self._children.append(element)
        return element

    def line(self, name: str, value: object) -> None:
        """Add a child that holds a text from a row, unless it is blank."""
        if fields.shown(value):
            self.child(name).text(value)

    def metadata(self, value: object) -> None:
        """Add a `metadata` child: an object as `key: value; …` in the order of its keys, or a text as it is."""
        if isinstance(value, Mapping):
            compact = self._context.compact
            entries = [f"{compact(key)}: {compact(text)}" for key, text in fields.pairs(value)]
            if entries:
                self.child("metadata").raw_text("; ".join(entries))
        else:
            self.line("metadata", value)

    @property
    def blank(self) -> bool:
        """True while nothing was added."""
        return not (self._attributes or self._children or self._text)

    def render(self, level: int = 0) -> str:
        """The element as text, without a line end. Children that stayed blank are left out."""
        indent = "  " * level
        head = f"{indent}<{self._name}{''.join(self._attributes)}"
        children = [child.render(level + 1) for child in self._children if not child.blank]
        if children:
            return "\n".join([f"{head}>", *children, f"{indent}</{self._name}>"])
        return f"{head}>{self._text}</{self._name}>" if self._text else f"{head} />"
