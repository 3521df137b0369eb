"""Tags of answers and of tool results, their attributes, and labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from html.entities import html5
from typing import Final

from modelcontext_core.grammar.handles import Space
from modelcontext_core.limits import MAX_TAG_CHARACTERS

# Output tags, as the model may write them: at most 512 characters with both brackets.
_TAG_SPACE: Final = r"[ \t\r\f\v/]"
TAG: Final = re.compile(
    rf"<(/?)(ref|kb|web)(?:>|{_TAG_SPACE}[^<>\n]{{0,{MAX_TAG_CHARACTERS}}}>)", re.IGNORECASE | re.ASCII
)
# What may still become a tag when more text comes: a beginning of its name, or a name with an open end.
OPEN_TAG: Final = re.compile(rf"</?(?:ref|kb|web){_TAG_SPACE}[^<>\n]*\Z", re.IGNORECASE | re.ASCII)
TAG_BEGINNING: Final = re.compile(r"</?(?:r(?:ef?)?|kb?|w(?:eb?)?)?\Z", re.IGNORECASE | re.ASCII)
# A tag of this grammar at the end of what was written so far, but for its closing bracket.
UNCLOSED_TAG: Final = re.compile(rf"</?(?:ref|kb|web)(?:{_TAG_SPACE}[^<>\n]*)?\Z", re.IGNORECASE | re.ASCII)
MAX_OPENER_CHARACTERS: Final = len("</web")

# A name begins where a run of its characters begins and takes all of it, or a long run would be tried at each place.
ATTRIBUTE: Final = re.compile(r"""(?<![^\s"'<>/=])([^\s"'<>/=]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)')""")
# Tags of tool results and of history: quoted attributes may hold `>`; a `<` outside quotes ends the attempt.
_QUOTED_TAG_BODY: Final = r"""(?=[\s/>])[^<>"']*+(?:(?:"[^"]*+"|'[^']*+')[^<>"']*+)*+>"""
CITATION_TAG: Final = re.compile(rf"<(kb|web){_QUOTED_TAG_BODY}")
SOURCE_TAG: Final = re.compile(rf"<(chunk|faq){_QUOTED_TAG_BODY}")
_LABEL_NAMES: Final[tuple[tuple[str, Space], ...]] = (
    ("knowledge_base_id", "knowledge_base"),
    ("knowledge_id", "document"),
    ("kb_id", "knowledge_base"),
)
# The two letters before `_id` tell them apart: the length of the name, and its space.
LABEL_BY_ENDING: Final = {name[:-3][-2:]: (len(name), space) for name, space in _LABEL_NAMES}


def _behind(prefix: str) -> str:
    return "|".join(f"(?<={prefix}{name})" for name, _ in _LABEL_NAMES)


# Searched from the rare `_id`. Other names must match nothing: they would swallow a label that follows. An element's
# text counts behind its opening tag only, or each `_id>` would look for the next `<`.
LABEL: Final = re.compile(
    rf"""_id(?=[=>])(?:(?:{_behind("")})=(?:"([^"]*)"|'([^']*)')|(?:{_behind("<")})>([^<]*+)</)"""
)
# The same in JSON text, where a bare quote ends the string that the label stands in.
LABEL_IN_JSON: Final = re.compile(
    rf"""_id(?=[=>])(?:(?:{_behind("")})=(?:(?!)()|'([^'"]*)')|(?:{_behind("<")})>([^<"]*+)</)"""
)
SERVER_LABEL: Final = re.compile(r'server_id="([^"]*)"')
_CHARACTER_REFERENCE: Final = re.compile(r"&(?:#(?:[0-9]+|[xX][0-9a-fA-F]+)|[A-Za-z][A-Za-z0-9]*);")


def attributes(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """The quoted attributes between `start` and `end`: `(name, start of the raw value, its end)`; unquoted ones are
    passed over."""
    for match in ATTRIBUTE.finditer(text, start, end):
        at, stop = match.span(2)
        if at < 0:
            at, stop = match.span(3)
        yield match[1], at, stop


def html_unescaped(text: str) -> str:
    """`text` with its HTML character references read, where a semicolon ends them.

    HTML also knows some without (`&times`), but here texts hold links: `?id=1&timestamp=2` has a parameter.
    """
    return _CHARACTER_REFERENCE.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    name = reference[0][1:]
    return unescape(reference[0]) if name[0] == "#" or name in html5 else reference[0]


def open_tag_end(tail: str | None, piece: str) -> str | None:
    """The end of what was written (`tail`, then `piece`) as long as it may still become a tag of the grammar."""
    start = piece.rfind("<")
    if start >= 0:
        tail = piece[start:]
    elif tail is None:
        return None
    else:
        tail += piece
    if len(tail) >= MAX_TAG_CHARACTERS or not (TAG_BEGINNING.match(tail) or OPEN_TAG.match(tail)):
        return None
    return tail
