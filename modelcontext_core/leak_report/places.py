"""How a leak is named without showing it: its place in words, a fingerprint of the place, a shortened value.

A producer emits other ids in every run, so nothing here that is compared between runs depends on a value: the place is
a JSON path without positions (`$.results[].id`), or the label in front of the value (`order_id`), with `*` for keys
that are ids themselves. A fingerprint says who produced what kind of thing where, and whether the codec knew it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from modelcontext_core import jsontext
from modelcontext_core.detectors import Hit
from modelcontext_core.grammar import UUID
from modelcontext_core.labels import looks_like_json

__all__ = ["fingerprint", "masked", "places", "short_hash", "shortened"]

_POSITION: Final = re.compile(r"\[\d+\]")
# A key that holds an id, a date or a number is data: `$.users["9f3c…"].name` is one place for all users.
_ODD_KEY: Final = re.compile(r'\["(?:[^"\\]|\\.)*"\]|\.\w*\d{4}\w*|\.[0-9a-fA-F]{16,}')
_DATA_IN_KEY: Final = re.compile(r"\d{3}|[0-9a-fA-F]{8}|.{61}")
_LABEL: Final = re.compile(r"""([^\W\d][\w.-]{0,40})(?:\\?["'])?[ \t]*(?:[=:][ \t]*|>)(?:\\?["'])?[<({\[]?\Z""")
_LONG_NUMBER: Final = re.compile(r"\d{4}")
_LOOK_BACK: Final = 64
_SHOWN: Final = 8


def places(text: str, hits: Sequence[Hit]) -> list[tuple[str, str]]:
    """For each hit in a text, where it stands and its place: `("$.results[3].id", "$.results[].id")`.

    In a text that is not JSON the first is empty and the second is the label right before the value, if any.
    """
    if not looks_like_json(text):
        return [("", _label(text, hit.start)) for hit in hits]
    found = []
    for hit, path in zip(hits, jsontext.paths_of(text, [hit.start for hit in hits]), strict=True):
        path, place = _place_of(path)
        label = "" if text[hit.start - 1 : hit.start] == '"' else _label(text, hit.start)
        found.append((path, f"{place}::{label}" if label else place))
    return found


@lru_cache(maxsize=4096)
def _place_of(path: str) -> tuple[str, str]:
    """A path as it may be shown, and without positions. Most traces of a source have the same paths."""
    path = _ODD_KEY.sub(_masked_key, path)
    return path, _POSITION.sub("[]", path)


def _masked_key(match: re.Match[str]) -> str:
    return ".*" if match[0][0] == "." or _DATA_IN_KEY.search(match[0]) else match[0]


def _label(text: str, start: int) -> str:
    match = _LABEL.search(text, max(0, start - _LOOK_BACK), start)
    return masked(match[1]) if match and not _LONG_NUMBER.search(match[1]) else ""


def masked(text: str) -> str:
    """`text` with every UUID in it as `*`: names of tools and keys may hold one."""
    return UUID.sub("*", text) if "-" in text else text


def shortened(value: str) -> str:
    """The beginning of a value, enough to tell it from its neighbours and never enough to use it."""
    return value[: min(_SHOWN, len(value) // 3)] + "…"


def short_hash(*values: object) -> str:
    """16 hex digits that stand for some values, the same on every machine."""
    written = "\x1f".join(map(str, values))
    return blake2b(written.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def fingerprint(producer: str, field: str, place: str, kind: str, *, registered: bool) -> str:
    """What a baseline and SARIF call a leak by: the same for one place in every run, wherever the message stands."""
    return short_hash("leak/1", producer, field, place, kind, "registered" if registered else "unregistered")
