"""What a raw identifier looks like: the detectors of the leak scan, as data, and the patterns of a user.

A detector has a name and a function from a text to spans. `uuid` alone is on by default. `uuid_braced` and `uuid_urn`
are refinements: with them on, `{<uuid>}` and `urn:uuid:<uuid>` are one finding of that kind and their UUID is not
counted again. Nor is a UUID inside of a stored reference or of a URI that is a finding itself. A UUID inside a URL
stays one: the URL may be public while the id is not.

Patterns of a user run in the `regex` package, which can stop in the middle of a search: `limits.USER_PATTERN_SECONDS`
are for all patterns and all texts of one message together, and what was cut short is counted, never silently left out.

Named in `docs/leaks_report.md`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from time import monotonic
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from modelcontext_core import resources
from modelcontext_core.errors import ModelContextError
from modelcontext_core.grammar import LETTERS_DIGITS, WORD, find_links, find_uuids, free_before
from modelcontext_core.limits import USER_PATTERN_SECONDS

__all__ = [
    "DEFAULT_DETECTORS",
    "DETECTORS",
    "Detector",
    "Detectors",
    "Hit",
    "PatternError",
    "PatternTime",
    "UserPattern",
    "find_hits",
    "normalised",
]

_MAX_PATTERN_CHARACTERS: Final = 1000


class PatternError(ModelContextError):
    """A user pattern that cannot be used: the message says why."""


_new = tuple.__new__  # what the constructor of a named tuple does, without its call in between


class Hit(NamedTuple):
    """One finding in a text: its span, and its kind (the name of the detector, or of the user's pattern)."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """One built-in detector: `find` gives spans in the order of the text. `uri_scheme` is the pack's."""

    name: str
    title: str
    find: Callable[[str, str], Iterable[tuple[int, int]]]


_HEX32: Final = re.compile(r"[0-9a-fA-F]{32}")
_BRACED: Final = "{}"
_URN: Final = "urn:uuid:"


def _uuids(text: str, _scheme: str) -> Iterable[tuple[int, int]]:
    return find_uuids(text) if "-" in text else ()


def _unhyphenated(text: str, _scheme: str) -> Iterator[tuple[int, int]]:
    for match in _HEX32.finditer(text):
        start, end = match.span()
        if free_before(text, start, LETTERS_DIGITS) and (end == len(text) or text[end] not in LETTERS_DIGITS):
            yield start, end


def _braced(text: str, _scheme: str) -> Iterator[tuple[int, int]]:
    for start, end in _uuids(text, ""):
        if text[start - 1 : start] + text[end : end + 1] == _BRACED:
            yield start - 1, end + 1


def _urns(text: str, _scheme: str) -> Iterator[tuple[int, int]]:
    for start, end in _uuids(text, ""):
        begin = start - len(_URN)
        if begin >= 0 and text[begin:start].lower() == _URN and free_before(text, begin, WORD):
            yield begin, end


def _stored(text: str, scheme: str, *, short: bool) -> Iterator[tuple[int, int]]:
    found = resources.find(text, scheme)
    for start, end in found.references if found else ():
        if text.startswith(("resource://", "summary/"), start) is short:
            yield start, end


def _resources(text: str, scheme: str) -> Iterator[tuple[int, int]]:
    return _stored(text, scheme, short=True)


def _storage(text: str, scheme: str) -> Iterator[tuple[int, int]]:
    return _stored(text, scheme, short=False)


def _uris(text: str, scheme: str) -> Iterator[tuple[int, int]]:
    found = resources.find(text, scheme)
    return ((uri.start, uri.end) for uri in (found.uris if found else ()))


def _urls(text: str, _scheme: str) -> Iterator[tuple[int, int]]:
    return find_links(text)


# The more particular stand first: what lies inside a finding of theirs is not counted again (URLs aside).
DETECTORS: Final[Mapping[str, Detector]] = MappingProxyType(
    {
        each.name: each
        for each in (
            Detector(name="storage", title="Storage address", find=_storage),
            Detector(name="resource", title="Stored reference", find=_resources),
            Detector(name="uri", title="Durable URI", find=_uris),
            Detector(name="uuid_urn", title="UUID as URN", find=_urns),
            Detector(name="uuid_braced", title="UUID in braces", find=_braced),
            Detector(name="uuid", title="UUID", find=_uuids),
            Detector(name="uuid_hex", title="UUID without hyphens", find=_unhyphenated),
            Detector(name="url", title="URL", find=_urls),
        )
    }
)
_COVERING: Final = frozenset(DETECTORS) - {"url"}


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPattern:
    """A pattern of the user, in the syntax of the `regex` package, and the name that its findings carry."""

    name: str
    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectors:
    """Which detectors look, and the user's patterns. A value: it is compared, pickled and written into reports.

    Raises `PatternError` for a detector that does not exist and for a pattern that cannot be compiled.
    """

    kinds: Sequence[str] = ("uuid",)
    patterns: Sequence[UserPattern] = field(default=())

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in DETECTORS:
                raise PatternError(f"no detector is called {kind!r}: one of {', '.join(DETECTORS)}")
        object.__setattr__(self, "kinds", tuple(kind for kind in DETECTORS if kind in self.kinds))
        object.__setattr__(self, "patterns", tuple(self.patterns))
        for pattern in self.patterns:
            if not pattern.name or pattern.name in DETECTORS:
                raise PatternError(f"a pattern needs a name of its own: {pattern.name!r} is none")
            _compiled(pattern.pattern)

    @property
    def names(self) -> tuple[str, ...]:
        """The kinds that findings can have."""
        return (*self.kinds, *(pattern.name for pattern in self.patterns))


DEFAULT_DETECTORS: Final = Detectors()


@cache
def _compiled(pattern: str) -> Any:
    try:
        regex = import_module("regex")
    except ImportError:
        raise PatternError("own patterns need the package `regex`: install the extra `patterns`") from None
    if len(pattern) > _MAX_PATTERN_CHARACTERS:
        raise PatternError(f"a pattern has at most {_MAX_PATTERN_CHARACTERS} characters")
    try:
        return regex.compile(pattern)
    except (regex.error, OverflowError, RecursionError) as error:
        raise PatternError(f"not a valid pattern: {error}") from error


class PatternTime:
    """The time that the user's patterns may still take in one message. `spent` says that some search was cut short."""

    def __init__(self, seconds: float = USER_PATTERN_SECONDS) -> None:
        self._left = seconds
        self.spent = False

    def find(self, text: str, pattern: UserPattern) -> list[Hit]:
        """The findings of a pattern, as far as the time goes."""
        found: list[Hit] = []
        began = monotonic()
        try:
            if self._left <= 0:
                raise TimeoutError
            for match in _compiled(pattern.pattern).finditer(text, timeout=self._left):
                # Also between the matches: a short pattern may have a million of them.
                if monotonic() - began > self._left:
                    raise TimeoutError
                if match.end() > match.start():
                    found.append(Hit(match.start(), match.end(), pattern.name))
        except TimeoutError:
            self.spent = True
        self._left -= monotonic() - began
        return found


def find_hits(text: str, detectors: Detectors, uri_scheme: str, time: PatternTime | None = None) -> list[Hit]:
    """Every finding in a text, in its order. `time` is that of the message that the text belongs to."""
    if detectors.kinds == ("uuid",) and not detectors.patterns:
        return [_new(Hit, (start, end, "uuid")) for start, end in find_uuids(text)] if "-" in text else []
    hits: list[Hit] = []
    covered: set[int] = set()
    for kind in detectors.kinds:
        spans = list(DETECTORS[kind].find(text, uri_scheme))
        if kind in _COVERING:
            spans = [span for span in spans if covered.isdisjoint(_ends(span))]
            if len(detectors.kinds) > 1:
                covered.update(at for start, end in spans for at in range(start, end))
        hits += [Hit(start, end, kind) for start, end in spans]
    for pattern in detectors.patterns:
        hits += (time or PatternTime()).find(text, pattern)
    hits.sort()
    return hits


def _ends(span: tuple[int, int]) -> tuple[int, int]:
    return span[0], span[1] - 1


def normalised(value: str, kind: str) -> str:
    """What two spellings of one identifier have in common: a UUID in lower case and with hyphens, else the value."""
    if kind == "uuid":
        return value.lower()
    if not kind.startswith("uuid"):
        return value
    digits = value.lower().removeprefix(_URN).strip(_BRACED).replace("-", "")
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
