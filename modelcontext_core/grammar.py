"""Every pattern of the codec: handles, tags, URIs, links, UUIDs. Nothing else in the package describes their shape.

The rules are those of a model's text as it arrives: "letter", "digit" and "word" always mean ASCII, so that
`doc://1的` is a handle followed by a Chinese character. Where a rule asks for the character *before* something, the
letter of a backslash escape (`\\n \\r \\t \\b \\f`) counts as a space, because tool results are often JSON text.

Searching starts from a rare literal (`://`, `-`, `<`) and looks around each hit: that costs about a nanosecond a
character, where a pattern that begins with a character class costs ten.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple
from urllib.parse import quote, unquote_to_bytes

from modelcontext_core.limits import (
    MAX_MINED_CHARACTERS,
    MAX_TAG_CHARACTERS,
    MIN_FREE_TEXT_ID_CHARACTERS,
    MIN_MINED_CHARACTERS,
)

Space = Literal["chunk", "document", "knowledge_base", "web", "resource", "issue", "mcp_server", "mcp_tool"]
WordSpace = Literal["issue", "mcp_server", "mcp_tool"]

SCHEMES: Final[dict[Space, str]] = {
    "chunk": "chunk",
    "document": "doc",
    "knowledge_base": "kb",
    "web": "url",
    "resource": "res",
}
WORD_PREFIXES: Final[dict[WordSpace, str]] = {"issue": "i", "mcp_server": "ms", "mcp_tool": "mt"}
LEGACY_PREFIXES: Final[dict[str, Space]] = {"c": "chunk", "d": "document", "b": "knowledge_base", "w": "web"}

LETTERS_DIGITS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
WORD: Final = LETTERS_DIGITS | {"_"}
GLUE: Final = WORD | {"-"}
ASCII_SPACES: Final = " \t\n\r\f\v"
ESCAPE_LETTERS: Final = frozenset("nrtbf")
CJK_PUNCTUATION: Final = "。，；：！？、（）【】《》“”"
TRAILING_SIGNS: Final = ".,;:!?"

MAX_HANDLE_DIGITS: Final = 18


def free_before(text: str, at: int, glue: frozenset[str]) -> bool:
    """Whether nothing in `glue` stands directly before `at`; the letter of a backslash escape counts as a space."""
    if at <= 0:
        return True
    char = text[at - 1]
    return char not in glue or (char in ESCAPE_LETTERS and at > 1 and text[at - 2] == "\\")


def free_after(text: str, at: int, glue: frozenset[str]) -> bool:
    """Whether nothing in `glue` stands at `at`."""
    return at >= len(text) or text[at] not in glue


# ---------------------------------------------------------------------------------------------- scheme handles


def _spellings(word: str) -> Iterator[str]:
    return map("".join, itertools.product(*((letter.lower(), letter.upper()) for letter in word)))


# Keyed by every spelling, so that no Unicode letter that merely folds to an ASCII one (Kelvin sign, long s) gets in.
_SCHEME_SPACES: Final[dict[str, Space]] = {
    spelling: space for space, scheme in SCHEMES.items() for spelling in _spellings(scheme)
}
_SCHEME_LENGTHS: Final[dict[str, int]] = {spelling[-1]: len(spelling) for spelling in _SCHEME_SPACES}
_DIGITS: Final = re.compile(rf"[0-9]{{1,{MAX_HANDLE_DIGITS + 1}}}")

# An ending that may still become a scheme handle: a scheme cut anywhere before its second slash.
_BEGINNINGS: Final = "|".join(
    sorted(
        {(scheme + ":/")[:k] for scheme in SCHEMES.values() for k in range(1, len(scheme) + 3)}, key=len, reverse=True
    )
)
SCHEME_BEGINNING: Final = re.compile(
    rf"(?:(?<![A-Za-z0-9_])|(?<=\\[nrtbf]))(?:{_BEGINNINGS})\Z", re.IGNORECASE | re.ASCII
)
SCHEME_BEGINNING_ENDS: Final = frozenset(
    letter for scheme in SCHEMES.values() for letter in scheme + scheme.upper() + ":/"
)

BEGINS_WITH_SCHEME: Final = re.compile(rf"(?:{'|'.join(SCHEMES.values())})://", re.IGNORECASE | re.ASCII)
LEGACY_HANDLE: Final = re.compile(rf"([cdbw])([0-9]{{1,{MAX_HANDLE_DIGITS}}})", re.IGNORECASE | re.ASCII)
WORD_HANDLE: Final = re.compile(rf"(i|ms|mt)([0-9]{{1,{MAX_HANDLE_DIGITS}}})", re.IGNORECASE | re.ASCII)
_WORD_SPACES: Final[dict[str, WordSpace]] = {prefix: space for space, prefix in WORD_PREFIXES.items()}


class HandleToken(NamedTuple):
    """A handle-shaped token in a text: `[start, end)`, its space, and its number (None: never a known one)."""

    start: int
    end: int
    space: Space
    number: int | None


def scheme_before(text: str, slashes: int) -> Space | None:
    """The space whose scheme stands whole before the `://` at `slashes`, or None."""
    length = _SCHEME_LENGTHS.get(text[slashes - 1]) if slashes else None
    if length is None or length > slashes:
        return None
    start = slashes - length
    space = _SCHEME_SPACES.get(text[start:slashes])
    return space if space is not None and free_before(text, start, WORD) else None


def handle_at(text: str, slashes: int) -> HandleToken | None:
    """The scheme handle whose `://` stands at `slashes`, or None when it is no handle."""
    space = scheme_before(text, slashes)
    if space is None:
        return None
    digits = _DIGITS.match(text, slashes + 3)
    if digits is None:
        return None
    end = digits.end()
    if end - slashes - 3 > MAX_HANDLE_DIGITS or not free_after(text, end, WORD):
        return None
    return HandleToken(slashes - len(SCHEMES[space]), end, space, canonical_number(space, digits[0]))


def canonical_number(space: Space, digits: str) -> int | None:
    """The number that `digits` spell, or None when no handle is ever written that way (`007`, `0`)."""
    if digits[0] != "0" and (space != "resource" or len(digits) >= 4):
        return int(digits)
    if space == "resource" and len(digits) == 4 and digits != "0000":
        return int(digits)
    return None


def format_handle(space: Space, number: int) -> str:
    """The handle of a scheme space, as it is written."""
    if space == "resource":
        return f"res://{number:04d}"
    return f"{SCHEMES[space]}://{number}"


def handle_tokens(text: str) -> Iterator[HandleToken]:
    """Every scheme handle of a text, in order, known or not."""
    at = text.find("://")
    while at >= 0:
        token = handle_at(text, at)
        if token is not None:
            yield token
        at = text.find("://", at + 3)


def handle_spans(text: str) -> list[tuple[int, int]]:
    """`(start, end)` of every scheme handle of a text: where it must not be cut."""
    return [(token.start, token.end) for token in handle_tokens(text)]


def has_handle(text: str) -> bool:
    """Whether a text holds any scheme handle."""
    return "://" in text and next(handle_tokens(text), None) is not None


def whole_handle(value: str) -> HandleToken | None:
    """`value` read as one whole scheme handle, ASCII spaces around it aside."""
    value = value.strip(ASCII_SPACES)
    slashes = value.find("://")
    if slashes < 0:
        return None
    token = handle_at(value, slashes)
    return token if token is not None and token.start == 0 and token.end == len(value) else None


def whole_legacy_handle(value: str) -> tuple[Space, int] | None:
    """`value` read as one whole handle of the legacy form (`c1`, `d2`), ASCII spaces around it aside."""
    match = LEGACY_HANDLE.fullmatch(value.strip(ASCII_SPACES))
    if match is None or match[2][0] == "0":
        return None
    return LEGACY_PREFIXES[match[1].lower()], int(match[2])


def whole_word_handle(value: str) -> tuple[WordSpace, str] | None:
    """`value` read as one whole `iN`, `msN` or `mtN` in any case: its space and canonical spelling."""
    match = WORD_HANDLE.fullmatch(value.strip(ASCII_SPACES))
    return None if match is None else (_WORD_SPACES[match[1].lower()], match[0].lower())


# ------------------------------------------------------------------------------------------------------- UUIDs

_UUID_TAIL: Final = re.compile(r"-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_UUID_HEAD: Final = re.compile(r"[0-9a-fA-F]{8}")
UUID: Final = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")


def is_uuid(value: str) -> bool:
    """Whether `value` is UUID-shaped, in any case and with its four hyphens."""
    return len(value) == 36 and value[8] == "-" and UUID.fullmatch(value) is not None


def find_uuids(text: str) -> Iterator[tuple[int, int]]:
    """Every UUID-shaped place with neither neighbour an ASCII letter or digit. Searched from the first dash."""
    head, length = _UUID_HEAD.match, len(text)
    for tail in _UUID_TAIL.finditer(text):
        start, end = tail.span()
        start -= 8
        if start < 0 or head(text, start) is None or (end < length and text[end] in LETTERS_DIGITS):
            continue
        if start and text[start - 1] in LETTERS_DIGITS and not free_before(text, start, LETTERS_DIGITS):
            continue
        yield start, end


# ------------------------------------------------------------------------------------------------------- links

_LINK_END: Final = rf"\s<>\"'\\|`{CJK_PUNCTUATION}"
LINK_RUN: Final = re.compile(rf"[^{_LINK_END}]*")
LINK_END: Final = re.compile(rf"[{_LINK_END}]")
_HTTP: Final[dict[str, int]] = {
    spelling: len(spelling) for scheme in ("http", "https") for spelling in _spellings(scheme)
}
_CLOSERS: Final = {")": "(", "]": "[", "}": "{"}


def http_start(text: str, slashes: int) -> int | None:
    """Where the http(s) URL begins whose `://` stands at `slashes`, or None when it is none."""
    for length in (5, 4):
        start = slashes - length
        if start >= 0 and text[start:slashes] in _HTTP and free_before(text, start, WORD):
            return start
    return None


def link_end(text: str, slashes: int) -> int:
    """Where the link ends whose `://` stands at `slashes`; trailing signs are still part of it."""
    match = LINK_RUN.match(text, slashes)
    assert match is not None
    return match.end()


def trim_link(link: str) -> str:
    """`link` without the signs that end a sentence and without closing brackets that it does not open."""
    end = len(link)
    extra: dict[str, int] | None = None
    while end:
        char = link[end - 1]
        if char in TRAILING_SIGNS:
            end -= 1
            continue
        if char not in _CLOSERS:
            break
        if extra is None:
            extra = {close: link.count(close) - link.count(open_) for close, open_ in _CLOSERS.items()}
        if extra[char] <= 0:
            break
        extra[char] -= 1
        end -= 1
    return link[:end]


def is_http_url(value: str) -> bool:
    """Whether `value` begins like a web page's address (`http://` or `https://`, any case)."""
    slashes = value.find("://")
    return slashes in (4, 5) and value[:slashes] in _HTTP


def has_plain_host(link: str) -> bool:
    """Whether an http(s) link names a host and carries no user info."""
    authority = re.split(r"[/?#]", link[link.find("://") + 3 :], maxsplit=1)[0]
    return bool(authority) and not authority.startswith(":") and "@" not in authority


def without_fragment(url: str) -> str:
    """What identifies a web page: its URL up to the first `#`."""
    return url.partition("#")[0]


def find_links(text: str) -> Iterator[tuple[int, int]]:
    """Every http(s) link that names a plain host, trimmed, as `(start, end)`."""
    at = text.find("://")
    while at >= 0:
        begin = http_start(text, at)
        stop = at + 3
        if begin is not None:
            stop = link_end(text, at + 3)
            link = trim_link(text[begin:stop])
            if len(link) > at + 3 - begin and has_plain_host(link):
                yield begin, begin + len(link)
        at = text.find("://", stop)


# -------------------------------------------------------------------------------------------------------- URIs

URI_KINDS: Final[dict[str, Space]] = {"kb": "knowledge_base", "doc": "document", "chunk": "chunk"}
_URI_KIND_OF: Final = {space: kind for kind, space in URI_KINDS.items()}
_URI_TAIL: Final = re.compile(r"(kb|doc|chunk)/([A-Za-z0-9._~%-]*)")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
READS_ON: Final = re.compile(r"[-~%]|\.{1,8}[A-Za-z0-9_~%-]")
MAY_READ_ON: Final = re.compile(r"\.{0,8}\Z")


class UriToken(NamedTuple):
    """A durable URI in a text: `[start, end)` when it can be read, else `id` is None and `[start, end)` is the run
    that stays text as a whole."""

    start: int
    end: int
    space: Space
    id: str | None


def uri_at(text: str, slashes: int, scheme: str) -> UriToken | None:
    """The URI whose `://` stands at `slashes`, or None when no URI begins there."""
    start = slashes - len(scheme)
    if start < 0 or not text.startswith(scheme, start) or not free_before(text, start, WORD):
        return None
    tail = _URI_TAIL.match(text, slashes + 3)
    if tail is None:
        return None
    space = URI_KINDS[tail[1]]
    written = tail[2].rstrip(".")
    durable = None if text.startswith("://", tail.end()) else read_percent(written)
    if durable is None or durable != durable.strip() or has_handle(durable):
        return UriToken(start, tail.end(), space, None)
    return UriToken(start, tail.start(2) + len(written), space, durable)


def read_percent(written: str) -> str | None:
    """`written` percent-decoded, or None when it is empty, malformed or not UTF-8."""
    if not written or _BAD_ESCAPE.search(written):
        return None
    if "%" not in written:
        return written
    try:
        return unquote_to_bytes(written).decode("utf-8")
    except UnicodeDecodeError:
        return None


def format_uri(scheme: str, space: Space, durable: str) -> str:
    """The durable text form of an id: `weknora://doc/<id>`, percent-encoded so that it reads back as itself."""
    encoded = quote(durable.encode("utf-8", "surrogatepass"), safe="")
    bare = encoded.rstrip(".")
    return f"{scheme}://{_URI_KIND_OF[space]}/{bare}{'%2E' * (len(encoded) - len(bare))}"


# ---------------------------------------------------------------------------------------------- stored references

STORAGE_SCHEMES: Final = ("local", "minio", "cos", "tos", "s3", "oss", "ks3", "obs")
_STORAGE_CHARS: Final = rf"[^\s)\]><\"'\\`{CJK_PUNCTUATION}]"
RESOURCE_TAIL: Final = re.compile(r"[0-9A-Za-z_-]{22}(?![0-9A-Za-z_-])")
STORAGE_RUN: Final = re.compile(rf"{_STORAGE_CHARS}+")
STORAGE_PREFIX_TAIL: Final = re.compile(
    rf"(?:(?!/){_STORAGE_CHARS}){{1,{MAX_MINED_CHARACTERS}}}/(?:{'|'.join(STORAGE_SCHEMES)})://"
)


# -------------------------------------------------------------------------------------------------------- tags

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

_ATTRIBUTE: Final = re.compile(r"""([^\s"'<>/=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
# Tags of tool results and of history: quoted attributes may hold `>`; a `<` outside quotes ends the attempt.
_QUOTED_TAG_BODY: Final = r"""(?=[\s/>])(?:[^<>"']|"[^"]*"|'[^']*')*+>"""
CITATION_TAG: Final = re.compile(rf"<(kb|web){_QUOTED_TAG_BODY}")
SOURCE_TAG: Final = re.compile(rf"<(chunk|faq){_QUOTED_TAG_BODY}")
LABEL: Final = re.compile(r"""_id(?:="([^"]*)"|='([^']*)'|>([^<]*)</)""")
LABEL_NAMES: Final[tuple[tuple[str, Space], ...]] = (
    ("knowledge_base_id", "knowledge_base"),
    ("knowledge_id", "document"),
    ("kb_id", "knowledge_base"),
)
SERVER_LABEL: Final = re.compile(r'server_id="([^"]*)"')


def attributes(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """The quoted attributes between `start` and `end`: `(name, start of the raw value, its end)`; unquoted ones are
    passed over."""
    for match in _ATTRIBUTE.finditer(text, start, end):
        at, stop = match.span(2)
        if at < 0:
            at, stop = match.span(3)
        yield match[1], at, stop


# ------------------------------------------------------------------------------------------------ near misses


def _any_width(scheme: str) -> str:
    return "".join(
        f"[{letter}{letter.upper()}{chr(ord(letter) + 0xFEE0)}{chr(ord(letter) + 0xFEC0)}]" for letter in scheme
    )


# What a model wrote in place of a handle, scheme handles themselves included: other slashes, full-width characters,
# escapes, a number that is too long. Only for reports: nothing is ever restored by it.
LOOK_ALIKE: Final = re.compile(
    rf"(?:{'|'.join(map(_any_width, SCHEMES.values()))})"
    r"(?:[:\uff1a][/\uff0f]{0,3}|[:]\\?/\\?/|%3[aA](?:%2[fF]|/){2}|:(?:%2[fF]){2}|[/\uff0f]{2})"
    r"[0-9\uff10-\uff19]+"
)


# ------------------------------------------------------------------------------------------------ mining rules


def may_be_mined(value: str) -> bool:
    """Whether an identity may be taken from `value` when it is not known yet: no placeholder, no handle, no prose."""
    return (
        MIN_MINED_CHARACTERS <= len(value) <= MAX_MINED_CHARACTERS
        and value.isprintable()
        and " " not in value
        and any(map(str.isalnum, value))
        and LEGACY_HANDLE.fullmatch(value) is None
        and WORD_HANDLE.fullmatch(value) is None
        and not has_handle(value)
    )


def is_free_text_id(value: str) -> bool:
    """Whether a known id is telling enough to be replaced outside labels and declared fields."""
    return len(value) >= MIN_FREE_TEXT_ID_CHARACTERS and not (value.isascii() and value.isdigit())
