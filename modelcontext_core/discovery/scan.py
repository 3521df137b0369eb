"""The strings of tool arguments and tool results, each with the key that it stands under."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from modelcontext_core import jsontext
from modelcontext_core.discovery.words import is_declarable
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

__all__ = ["Kind", "KnownRules", "Place", "Scanner", "Sighting", "Where"]

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

    @property
    def result_keys(self) -> frozenset[str]:
        """The keys that are read from results: all but those that register nothing."""
        return frozenset(key for key, kind in self.keys.items() if kind != "known")


@dataclass(slots=True, eq=False)
class Place:
    """A key in the arguments or in the results of one tool, and how many strings stood there.

    `key` is in lower case, `spelling` as it was written first; both are empty for plain text, and for keys that cannot
    be declared. `declared` marks a field that the known pack declares.
    """

    tool: str
    where: Where
    key: str = ""
    spelling: str = ""
    declared: bool = False
    strings: int = 0


_new = tuple.__new__  # what the constructor of a named tuple does, without its call in between


class Sighting(NamedTuple):
    """One string that is an identity by its shape (`kind`), or may be a value seen before (`kind` is None).

    `nested` says that the key belongs to JSON inside a string. In plain text every sighting has a kind.
    """

    place: Place
    value: str
    kind: Literal["uuid", "url"] | None
    nested: bool = False


class Scanner:
    """Finds what is to be judged in the tools of a conversation; `places` then tells where it looked.

    Of tools that the rules know, only values of their declared fields are given. Call ids are left out: they are the
    plumbing of a conversation, whatever their shape. Arguments that are no valid JSON hold nothing to declare.
    """

    def __init__(self, rules: KnownRules) -> None:
        self._rules = rules
        self._result_keys = rules.result_keys
        self._call_ids: set[str] = set()
        self._found: list[Sighting] = []
        self._places: dict[tuple[str, Where, str], Place] = {}

    @property
    def places(self) -> Collection[Place]:
        """Every place with a key of a tool that no pack knows, in the order of the text."""
        return [place for place in self._places.values() if place.key and not place.declared]

    def scan(self, messages: Sequence[Message]) -> Sequence[Sighting]:
        """Everything to be judged, in the order of the text."""
        self._call_ids = {call.id for message in messages for call in message.tool_calls}
        self._call_ids |= {message.tool_call_id for message in messages}
        self._found = []
        for message in messages:
            if message.role == "tool" and is_declarable(message.name):
                self._read(message.content, message.name, "result")
                for part in message.parts:
                    if part.type == "text":
                        self._read(part.text, message.name, "result")
            for call in message.tool_calls:
                if is_declarable(call.name):
                    self._read(call.arguments, call.name, "arguments")
        return self._found

    def _read(self, text: str, tool: str, where: Where) -> None:
        declared: frozenset[str] | None = None
        if tool in self._rules.argument_keys:
            readable = self._result_keys if tool in self._rules.source_tools else frozenset[str]()
            declared = self._rules.argument_keys[tool] if where == "arguments" else readable
            if not declared:
                return
        if _looks_like_json(text) and jsontext.is_valid(text):
            self._json(text, tool, where, declared, nested=False)
        elif where == "result" and declared is None:
            self._plain(text, self._place(tool, where, ""))

    def _place(self, tool: str, where: Where, spelling: str, *, declared: bool = False) -> Place:
        key = spelling.lower()
        if not declared and not (is_declarable(spelling) and is_declarable(key)):
            key = spelling = ""
        place = self._places.get((tool, where, key))
        if place is None:
            place = self._places[tool, where, key] = Place(tool, where, key, spelling, declared)
        return place

    def _json(self, text: str, tool: str, where: Where, declared: frozenset[str] | None, *, nested: bool) -> None:
        """The strings of valid JSON. Nearly all of them are counted and passed over here: this loop has to be quick."""
        unkeyed = None if declared else self._place(tool, where, "")
        places: dict[str | None, Place | None] = {None: unkeyed}
        call_ids, found = self._call_ids, self._found
        for spelling, raw_key, value in jsontext.keyed_strings(text):
            if raw_key is not None:
                if "\\" in raw_key:
                    places[spelling] = unkeyed  # a key that is spelt with escapes counts as none
                if unkeyed is not None and where == "result" and _may_hold_identity(raw_key):
                    self._plain(raw_key, unkeyed)
            if value is None:
                continue
            if spelling not in places:
                assert spelling is not None
                known = declared is None or spelling.lower() in declared
                places[spelling] = self._place(tool, where, spelling, declared=declared is not None) if known else None
            place = places[spelling]
            if place is None or not value:
                continue
            if "\\" in value:
                value = jsontext.unquote(f'"{value}"')
            if value in call_ids:
                continue
            place.strings += 1
            if len(value) < _UUID_LENGTH and value[0] not in _JSON_STARTS and "://" not in value:
                if _like_an_id(value):
                    self._judge(value, place, declared, nested=nested)
            elif declared is None and len(value) == _UUID_LENGTH and is_uuid(value) and place.key:
                found.append(_new(Sighting, (place, value, "uuid", nested)))  # nearly all that is ever found
            else:
                self._judge(value, place, declared, nested=nested)

    def _judge(self, value: str, place: Place, declared: frozenset[str] | None, *, nested: bool) -> None:
        whole = value.strip(ASCII_SPACES)
        if declared is not None:
            self._found.append(Sighting(place, whole, None, nested))
            return
        kind = _kind(whole)
        if place.key and kind is not None:
            self._found.append(Sighting(place, whole, kind, nested))
        # Every level of JSON inside strings at least doubles its backslashes, so this cannot go deep.
        elif _looks_like_json(whole) and jsontext.is_valid(whole):
            self._json(whole, place.tool, place.where, None, nested=True)
        else:
            if place.key and _like_an_id(whole):
                self._found.append(Sighting(place, whole, None, nested))
            if place.where == "result" and _may_hold_identity(value):
                self._plain(value, self._place(place.tool, place.where, ""))

    def _plain(self, text: str, place: Place) -> None:
        for start, end, kind in _identities(text):
            self._found.append(Sighting(place, text[start:end], kind))


_JSON_STARTS: Final = frozenset('{["' + ASCII_SPACES)
# A first look at a string that may be an id without the shape of one: `may_be_seen_again` decides. Most strings have
# a space soon and a digit late.
_like_an_id: Final = re.compile(r"(?=\S{6,512}+\Z)[^0-9]*+[0-9]").match


def _may_hold_identity(value: str) -> bool:
    return len(value) >= _UUID_LENGTH or "://" in value


def _looks_like_json(text: str) -> bool:
    return text.lstrip(ASCII_SPACES)[:1] in ("{", "[", '"')


def _kind(value: str) -> Literal["uuid", "url"] | None:
    if is_uuid(value):
        return "uuid"
    return "url" if is_http_url(value) and may_be_mined(value) and len(value) > len("https://") else None


_Identity = tuple[int, int, Literal["uuid", "url"]]


def _identities(text: str) -> list[_Identity]:
    """Links and UUIDs of a plain text that could be registered, in order.

    A UUID inside a URL or URI of any scheme, or behind `summary/`, is part of something else; one that touches `_` is
    part of a longer name. No encoder would replace those.
    """
    uuids = list(_free_uuids(text)) if len(text) >= _UUID_LENGTH else []
    if "://" not in text:
        return [(start, end, "uuid") for start, end in uuids]
    found: list[_Identity] = [(start, end, "url") for start, end in find_links(text) if may_be_mined(text[start:end])]
    runs = _url_runs(text) if uuids else []
    run = 0
    for start, end in uuids:
        while run < len(runs) and runs[run][1] <= start:
            run += 1
        if run == len(runs) or start < runs[run][0]:
            found.append((start, end, "uuid"))
    return sorted(found)


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
