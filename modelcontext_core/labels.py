"""Where the result of a source tool names identities: labels, chunk tags, and the keys of JSON results.

`find_labels` only looks: for what step 4 of `encode` registers, and where step 5 replaces. It changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from modelcontext_core import jsontext
from modelcontext_core.grammar import (
    ATTRIBUTE,
    GLUE,
    LABEL,
    LABEL_BY_ENDING,
    LABEL_IN_JSON,
    SOURCE_TAG,
    Space,
    attributes,
    find_links,
    find_uuids,
    free_before,
    html_unescaped,
    is_http_url,
)
from modelcontext_core.messages import ChunkReference
from modelcontext_core.policies import KeyKind, ToolPolicy

_IDENTITIES: Final = ("chunk_id", "faq_id")
_new = tuple.__new__  # what the constructor of a named tuple does, without its call in between


class Label(NamedTuple):
    """A value under a label: its span in the text, its space, and the durable value that the span spells.

    `mine` is false for values that are only replaced when known. Of a chunk tag, `tag` is the match: its other
    attributes are read when something wants them.
    """

    start: int
    end: int
    space: Space
    value: str
    mine: bool = True
    tag: re.Match[str] | None = None


def looks_like_json(text: str) -> bool:
    """Whether `text` is a whole JSON object or array."""
    return text.lstrip(" \t\r\n")[:1] in ("{", "[") and jsontext.is_valid(text)


def find_labels(text: str, keys: Mapping[str, KeyKind], *, is_json: bool) -> list[Label]:
    """Every labelled value of a source tool's result, in the order of the text. In JSON, what begins in one string
    and ends in another is no label."""
    found: list[Label] = []
    if "_id" in text:
        _add_attributes(text, found, is_json=is_json)
        if "<chunk" in text or "<faq" in text:
            _add_chunk_tags(text, found, is_json=is_json)
    if is_json:
        _add_keys(text, keys, found)
    found.sort(key=label_order)
    return found


def find_mined(text: str, policy: ToolPolicy) -> list[Label]:
    """The UUIDs and links that a policy mines from plain text, in the order of the text."""
    found: list[Label] = []
    if "uuid" in policy.mine:
        found += [Label(start, end, "document", text[start:end]) for start, end in find_uuids(text)]
    if "url" in policy.mine:
        found += [Label(start, end, "web", text[start:end]) for start, end in find_links(text)]
    found.sort(key=label_order)
    return found


def label_order(label: Label) -> tuple[int, int]:
    """By position: the order in which identities are registered."""
    return label.start, label.end


def _add_attributes(text: str, found: list[Label], *, is_json: bool) -> None:
    for match in (LABEL_IN_JSON if is_json else LABEL).finditer(text):
        group = match.lastindex
        if group is None:
            continue
        at = match.start()
        length, space = LABEL_BY_ENDING[text[at - 2 : at]]
        begin = at + 3 - length
        if not free_before(text, begin, GLUE):
            continue
        if group != 3 or (text[begin - 1] == "<" and text.startswith(text[begin : at + 3] + ">", match.end())):
            raw = match[group]
            if "\\" not in raw:
                start, end = match.span(group)
                found.append(_new(Label, (start, end, space, _plain(raw), True, None)))


def _add_chunk_tags(text: str, found: list[Label], *, is_json: bool) -> None:
    for tag in SOURCE_TAG.finditer(text):
        if is_json and jsontext.leaves_string(tag[0]):
            continue
        span = _identity(text, tag)
        if span is None:
            continue
        start, end = span
        raw = text[start:end]
        if "\\" not in raw:
            found.append(_new(Label, (start, end, "chunk", _plain(raw), True, tag)))


def _identity(text: str, tag: re.Match[str]) -> tuple[int, int] | None:
    """Where the value of the tag's first `chunk_id` stands, or else of its first `faq_id`; a blank one is none."""
    faq = None
    seen: set[str] = set()
    for attribute in ATTRIBUTE.finditer(text, tag.end(1), tag.end()):
        name = attribute[1]
        if name not in _IDENTITIES or name in seen:
            continue
        seen.add(name)
        start, end = attribute.span(attribute.lastindex or 0)
        if text[start:end].strip():
            if name == "chunk_id":
                return start, end
            faq = start, end
    return faq


def tag_reference(
    chunk_id: str,
    tag: re.Match[str] | None,
    restored: Callable[[str], str],
    identity: Callable[[Space, str], str],
) -> ChunkReference:
    """The chunk that a tag names, with the metadata of its attributes; the first of each name counts. `restored` gives
    the title without handles, `identity` an id if it may be taken from text."""
    values: dict[str, str] = {}
    if tag is not None:
        for name, start, end in attributes(tag.string, tag.end(1), tag.end()):
            values.setdefault(name, tag.string[start:end])

    def id_of(space: Space, name: str) -> str:
        raw = values.get(name, "")
        return identity(space, _plain(raw)) if raw and "\\" not in raw else ""

    return ChunkReference(
        chunk_id=chunk_id,
        knowledge_id=id_of("document", "knowledge_id"),
        knowledge_base_id=id_of("knowledge_base", "knowledge_base_id") or id_of("knowledge_base", "kb_id"),
        document_title=restored(_plain(values.get("knowledge_title", "")) or _plain(values.get("doc", ""))),
    )


def _plain(raw: str) -> str:
    return html_unescaped(raw).strip()


def _add_keys(text: str, keys: Mapping[str, KeyKind], found: list[Label]) -> None:
    for item in jsontext.key_values(text, frozenset(keys)):
        label = key_label(keys[item.key], item.start, text[item.start : item.end])
        if label is not None:
            found.append(label)


def key_label(kind: KeyKind, start: int, literal: str) -> Label | None:
    """The label of a JSON string under a key of the key table; `start` is where its literal begins."""
    written = literal[1:-1].partition("|")[0] if kind == "document_ref" else literal[1:-1]
    value = jsontext.unquote(f'"{written}"') if "\\" in written else written
    return value_label(kind, start + 1, start + 1 + len(written), value)


def value_label(kind: KeyKind, start: int, end: int, value: str) -> Label | None:
    """The label of a value under a key of some kind; None when the key does not take such a value."""
    value = value.strip()
    if kind == "web" and not is_http_url(value):
        return None
    space: Space = "document" if kind == "document_ref" or kind == "known" else kind
    return Label(start, end, space, value, mine=kind != "known")
