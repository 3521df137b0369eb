"""LangChain messages that were pasted as text: `pretty_print` (headings between rules) and Python's `repr`."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final

from modelcontext_core.formats.building.builder import ConversationBuilder
from modelcontext_core.formats.nodes import Document, Node
from modelcontext_core.limits import MIB

__all__ = ["ReprError", "document_of", "looks_pasted", "message_values", "tell_pretty"]

_HEADING = re.compile(
    r"^={3,} (Human|Ai|AI|System|Tool|Function|Chat|Developer|Remove) ?Message(?: ?Chunk)? ={3,}[ \t]*\r?$",
    re.MULTILINE,
)
_CONSTRUCTOR = re.compile(r"\b(?:Human|AI|System|Tool|Function|Chat|Developer)Message(?:Chunk)?\((?:content|role)=")
_CALL = re.compile(r"^  (\S.*?) \((.*)\)$")
_CALL_ID = re.compile(r"^ Call ID: (.*)$")
_ARGUMENT = re.compile(r"^    ([^\s:][^:]*): ?(.*)$")
_ROLES: Final = {"human": "user", "ai": "assistant", "tool": "tool", "function": "tool"}
_LONGEST_REPR: Final = 8 * MIB
_DEEPEST: Final = 60
_BROKEN: Final = 200  # after so many broken messages the rest is not tried
_TOKEN = re.compile(
    r"""\s*(?:(?P<string>[bruBRU]{0,2}(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"))|(?P<number>-?\d[\w.+-]*)"""
    r"""|(?P<name>[A-Za-z_][\w.]*)|(?P<mark>[\[\](){},:=])|(?P<object><[^<>\n]{0,200}>))""",
    re.DOTALL,
)


def looks_pasted(text: str) -> bool:
    """True for text with a heading of `pretty_print`, or that begins (near the top) with the `repr` of a message."""
    return bool(_HEADING.search(text) or _CONSTRUCTOR.search(text[:4000]))


# --- pretty_print ----------------------------------------------------------------------------------------------------


@dataclass
class _Call:
    name: str
    id: str = ""
    arguments: dict[str, str] = field(default_factory=dict)
    plain: str = ""


def tell_pretty(conversation: ConversationBuilder, node: Node, text: str) -> bool:
    """Tell what `pretty_print` wrote. False when there is no heading."""
    headings = list(_HEADING.finditer(text))
    for heading, following in zip_longest(headings, headings[1:]):
        body = text[heading.end() : following.start() if following else len(text)]
        _tell_block(conversation, node, heading.group(1).lower(), body.strip("\r\n"))
    if headings and text[: headings[0].start()].strip():
        conversation.builder.notice("skipped", node, "the text before the first heading is not read")
    return bool(headings)


def _tell_block(conversation: ConversationBuilder, node: Node, kind: str, body: str) -> None:
    lines = body.splitlines()
    name = ""
    if lines and lines[0].startswith("Name: "):
        name, lines = lines[0].removeprefix("Name: ").strip(), lines[1:]
    start = len(lines)
    if kind == "ai":
        start = next((number for number, line in enumerate(lines) if _starts_calls(lines, number, line)), len(lines))
    said = "\n".join(lines[:start]).strip("\n")
    if _ROLES.get(kind) == "tool":
        turn = conversation.result(node, name=name)
    else:
        turn = conversation.turn(_ROLES.get(kind, kind), node, name=name)
    turn.text(node, said)
    for call in _calls(lines[start + 1 :]):
        arguments = call.plain
        if not arguments:
            arguments = json.dumps({k: _guess(v) for k, v in call.arguments.items()}, ensure_ascii=False)
        turn.call(node, id=call.id, name=call.name, arguments=arguments)
        conversation.builder.notice("fallback", node, "the arguments of a call are made of its printed lines")


def _starts_calls(lines: list[str], number: int, line: str) -> bool:
    following = lines[number + 1] if number + 1 < len(lines) else ""
    return line.strip() in ("Tool Calls:", "Invalid Tool Calls:") and _CALL.match(following) is not None


def _calls(lines: list[str]) -> Iterator[_Call]:
    call: _Call | None = None
    key = ""
    for line in lines:
        begin, made, argument = _CALL.match(line), _CALL_ID.match(line), _ARGUMENT.match(line)
        if begin and not line.startswith("   "):
            if call:
                yield call
            call, key = _Call(begin.group(1), begin.group(2)), ""
        elif call is None or line.strip() in ("Args:", "Invalid Tool Calls:"):
            continue
        elif made:
            call.id = made.group(1).strip()
        elif argument:
            key = argument.group(1)
            call.arguments[key] = argument.group(2)
        elif key:
            call.arguments[key] += "\n" + line
        elif line.strip():
            call.plain += line.strip()
    if call:
        yield call


def _guess(text: str) -> Any:
    """The value that Python printed: a number, list, object, `True`, `None`, else the text itself."""
    try:
        return _Literals(text).whole()
    except ReprError:
        return text


# --- repr ------------------------------------------------------------------------------------------------------------


class ReprError(ValueError):
    """Text that is not the `repr` of plain values and calls of classes with them."""


def message_values(text: str) -> tuple[list[dict[str, Any]], int]:
    """The messages in a `repr`, as flat dumps (`type`, `content`, …), and how many were broken.

    What stands between them is passed over. Raises `ReprError` for a text above the limit.
    """
    if len(text) > _LONGEST_REPR:
        raise ReprError(f"a pasted repr is read up to {_LONGEST_REPR // MIB} MB")
    found: list[dict[str, Any]] = []
    position = broken = 0
    while (match := _CONSTRUCTOR.search(text, position)) and broken < _BROKEN:
        literals = _Literals(text, match.start())
        try:
            value = literals.value()
        except ReprError:
            position = match.end()
            broken += 1
            continue
        position = max(literals.position, match.end())
        if isinstance(value, dict):
            found.append(value)
    return found, broken


class _Literals:
    """Reads Python literals, and calls of classes with keywords as objects with the class's kind as `type`."""

    def __init__(self, text: str, position: int = 0) -> None:
        self.text = text
        self.position = position

    def whole(self) -> Any:
        """The value of the whole text."""
        value = self.value()
        if self.text[self.position :].strip():
            raise ReprError("more than one value")
        return value

    def _next(self) -> tuple[str, str]:
        match = _TOKEN.match(self.text, self.position)
        if match is None or match.lastgroup is None:
            raise ReprError(f"no Python literal at {self.position}")
        self.position = match.end()
        return match.lastgroup, match.group(match.lastgroup)

    def _peek(self) -> str:
        position = self.position
        try:
            return self._next()[1]
        except ReprError:
            return ""
        finally:
            self.position = position

    def value(self, depth: int = 0) -> Any:
        """One value."""
        if depth > _DEEPEST:
            raise ReprError("nested too deep")
        kind, word = self._next()
        if kind in ("string", "number"):
            return _scalar(word)
        if kind == "object":
            return word
        if kind == "name":
            return self._call(word, depth) if self._peek() == "(" else _NAMES.get(word, word)
        if word == "{":
            return self._mapping(depth)
        if word in "[(":
            return self._sequence("]" if word == "[" else ")", depth)
        raise ReprError(f"{word!r} where a value should stand")

    def _call(self, name: str, depth: int) -> dict[str, Any]:
        self._next()
        values: dict[str, Any] = {}
        while self._peek() != ")":
            kind, key = self._next()
            if kind != "name" or self._next()[1] != "=":
                raise ReprError("a call without keywords")
            values[key] = self.value(depth + 1)
            if self._peek() == ",":
                self._next()
        self._next()
        kind = name.rsplit(".", 1)[-1]
        values.setdefault("type", kind.removesuffix("Chunk").removesuffix("Message").lower())
        return values

    def _mapping(self, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while self._peek() != "}":
            key = self.value(depth + 1)
            if self._next()[1] != ":":
                raise ReprError("an object without a colon")
            values[str(key)] = self.value(depth + 1)
            if self._peek() == ",":
                self._next()
        self._next()
        return values

    def _sequence(self, end: str, depth: int) -> list[Any]:
        values = []
        while self._peek() != end:
            values.append(self.value(depth + 1))
            if self._peek() == ",":
                self._next()
        self._next()
        return values


_NAMES: Final[dict[str, Any]] = {"True": True, "False": False, "None": None, "nan": None, "inf": None}


def _scalar(word: str) -> Any:
    try:
        value = ast.literal_eval(word)  # one string or number only: nothing is nested or run
    except (ValueError, SyntaxError, MemoryError) as error:
        raise ReprError(str(error)) from None
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def document_of(values: list[dict[str, Any]], node: Node) -> Node:
    """A document that holds the messages read from a `repr`, at the place of the text."""
    data = json.dumps(values, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")
    return Document(data, values, where=node.document.where).root
