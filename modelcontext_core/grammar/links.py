"""Links of web pages, and the durable text form of ids (`weknora://doc/<id>`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import quote, unquote_to_bytes

from modelcontext_core.grammar.characters import CJK_PUNCTUATION, TRAILING_SIGNS, WORD, free_before, spellings
from modelcontext_core.grammar.handles import Space, has_handle

_LINK_END: Final = rf"\s<>\"'\\|`{CJK_PUNCTUATION}"
LINK_RUN: Final = re.compile(rf"[^{_LINK_END}]*")
LINK_END: Final = re.compile(rf"[{_LINK_END}]")
_HTTP: Final = frozenset(spelling for scheme in ("http", "https") for spelling in spellings(scheme))
_CLOSERS: Final = {")": "(", "]": "[", "}": "{"}


def http_start(text: str, slashes: int) -> int | None:
    """Where the http(s) URL begins whose `://` stands at `slashes`, or None when it is none."""
    start = slashes - (5 if text[slashes - 1] in "sS" else 4)
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
    extra: dict[str, int] = {}
    while end:
        char = link[end - 1]
        if char in TRAILING_SIGNS:
            end -= 1
            continue
        if char not in _CLOSERS:
            break
        if char not in extra:  # how many more there are in the whole link: counted once, or many would be quadratic
            extra[char] = link.count(char) - link.count(_CLOSERS[char])
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


URI_KINDS: Final[dict[str, Space]] = {"kb": "knowledge_base", "doc": "document", "chunk": "chunk"}
_URI_KIND_OF: Final = {space: kind for kind, space in URI_KINDS.items()}
_URI_TAIL: Final = re.compile(rf"({'|'.join(URI_KINDS)})/([A-Za-z0-9._~%-]*)")
# The durable text form of an id under any scheme that a pack may choose; its group is the id as it is written.
ANY_URI: Final = re.compile(rf"[A-Za-z0-9_-]+://(?:{'|'.join(URI_KINDS)})/([A-Za-z0-9._~%-]+)")
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
