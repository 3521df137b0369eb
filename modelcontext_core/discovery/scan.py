"""The strings of tool arguments and tool results, each with the key that it stands under."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from modelcontext_core import jsontext
from modelcontext_core.discovery.words import is_declarable, may_be_seen_again
from modelcontext_core.grammar import (
    ASCII_SPACES,
    WORD,
    find_links,
    find_uuids,
    free_after,
    free_before,
    is_http_url,
    is_uuid,
    link_end,
    may_be_mined,
)
from modelcontext_core.messages import Message

__all__ = ["Kind", "KnownRules", "Sighting", "Where", "sightings"]

Where = Literal["arguments", "result"]
Kind = Literal["uuid", "url", "seen"]

_UUID_LENGTH: Final = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRules:
    """What discovery must know of the pack that it proposes additions to.

    `keys` is the key table with the kind of each key, `argument_keys` the declared ID fields of each declared tool,
    `source_tools` the tools from whose results keys are read.
    """

    keys: Mapping[str, str] = field(default_factory=dict)
    argument_keys: Mapping[str, frozenset[str]] = field(default_factory=dict)
    source_tools: frozenset[str] = frozenset()


class Sighting(NamedTuple):
    """One string of a tool that no pack knows, or one identity in such a string.

    `key` is in lower case, `spelling` as it was written; both are empty where the value stands in plain text or under
    a key that cannot be declared. `kind` is None for a string that is no identity by its shape. `nested` says that
    the key belongs to JSON inside a string. `declared` marks the value of a field that the known pack declares.
    """

    tool: str
    where: Where
    key: str
    spelling: str
    value: str
    kind: Literal["uuid", "url"] | None
    nested: bool = False
    declared: bool = False


def sightings(messages: Sequence[Message], rules: KnownRules) -> Iterator[Sighting]:
    """Everything to be judged, in the order of the text.

    Of tools that the rules know, only values of their declared fields are given. Call ids are left out: they are the
    plumbing of a conversation, whatever their shape. Arguments that are no valid JSON hold nothing to declare.
    """
    call_ids = {call.id for message in messages for call in message.tool_calls}
    call_ids |= {message.tool_call_id for message in messages}
    for message in messages:
        if message.role == "tool" and is_declarable(message.name):
            for text in (message.content, *(part.text for part in message.parts if part.type == "text")):
                yield from _Text(message.name, "result", rules, call_ids).read(text)
        for call in message.tool_calls:
            if is_declarable(call.name):
                yield from _Text(call.name, "arguments", rules, call_ids).read(call.arguments)


class _Text:
    """Reads one text of one tool."""

    def __init__(self, tool: str, where: Where, rules: KnownRules, call_ids: set[str]) -> None:
        self._tool = tool
        self._where = where
        self._call_ids = call_ids
        self._declared: frozenset[str] | None = None
        if tool in rules.argument_keys:
            readable = frozenset(rules.keys) - {"id"} if tool in rules.source_tools else frozenset[str]()
            self._declared = rules.argument_keys[tool] if where == "arguments" else readable

    def read(self, text: str) -> Iterator[Sighting]:
        if self._declared == frozenset():
            return
        if _looks_like_json(text) and jsontext.is_valid(text):
            yield from self._json(text, nested=False)
        elif self._declared is None:
            yield from self._plain(text)

    def _json(self, text: str, *, nested: bool) -> Iterator[Sighting]:
        # A key that is spelt with escapes counts as no key.
        escaped: set[str] = set()
        for item in jsontext.strings(text):
            literal = text[item.start : item.end]
            if item.is_key:
                if "\\" in literal and item.key is not None:
                    escaped.add(item.key)
                if self._declared is None:
                    yield from self._plain(literal)
                continue
            value = jsontext.unquote(literal)
            spelling = item.key if item.key is not None and item.key not in escaped else ""
            yield from self._value(value, spelling, nested=nested)

    def _value(self, value: str, spelling: str, *, nested: bool) -> Iterator[Sighting]:
        whole = value.strip(ASCII_SPACES)
        key = spelling.lower()
        if not whole or whole in self._call_ids:
            return
        if self._declared is not None:
            if key in self._declared and may_be_seen_again(whole):
                yield Sighting(self._tool, self._where, key, spelling, whole, None, nested, declared=True)
            return
        kind = _kind(whole)
        if key and not (is_declarable(spelling) and is_declarable(key)):
            key = spelling = ""
        if key:
            yield Sighting(self._tool, self._where, key, spelling, whole, kind, nested)
        if key and kind is not None:
            return
        # Every level of JSON inside strings at least doubles its backslashes, so this cannot go deep.
        if _looks_like_json(whole) and jsontext.is_valid(whole):
            yield from self._json(whole, nested=True)
        else:
            yield from self._plain(value)

    def _plain(self, text: str) -> Iterator[Sighting]:
        """Identities in plain text. Only results can be mined, so elsewhere there is nothing to look for."""
        if self._where != "result":
            return
        for start, end, kind in _identities(text):
            yield Sighting(self._tool, self._where, "", "", text[start:end], kind)


def _looks_like_json(text: str) -> bool:
    return text.lstrip(ASCII_SPACES)[:1] in ("{", "[", '"')


def _kind(value: str) -> Literal["uuid", "url"] | None:
    if is_uuid(value):
        return "uuid"
    return "url" if is_http_url(value) and may_be_mined(value) and len(value) > len("https://") else None


def _identities(text: str) -> Iterator[tuple[int, int, Literal["uuid", "url"]]]:
    """Links and UUIDs of a plain text that could be registered, in order.

    A UUID inside a URL or URI of any scheme, or behind `summary/`, is part of something else; one that touches `_` is
    part of a longer name. No encoder would replace those.
    """
    if "://" not in text:
        if len(text) >= _UUID_LENGTH:
            yield from ((start, end, "uuid") for start, end in _free_uuids(text))
        return
    runs = _url_runs(text)
    found: list[tuple[int, int, Literal["uuid", "url"]]] = [
        (start, end, "url") for start, end in find_links(text) if may_be_mined(text[start:end])
    ]
    run = 0
    for start, end in _free_uuids(text):
        while run < len(runs) and runs[run][1] <= start:
            run += 1
        if run == len(runs) or start < runs[run][0]:
            found.append((start, end, "uuid"))
    yield from sorted(found)


def _free_uuids(text: str) -> Iterator[tuple[int, int]]:
    for start, end in find_uuids(text):
        if free_before(text, start, WORD) and free_after(text, end, WORD) and not text.endswith("summary/", 0, start):
            yield start, end


def _url_runs(text: str) -> list[tuple[int, int]]:
    """From each `://` to where a link would end."""
    runs: list[tuple[int, int]] = []
    at = text.find("://")
    while at >= 0:
        stop = link_end(text, at + 3)
        runs.append((at, stop))
        at = text.find("://", stop)
    return runs
