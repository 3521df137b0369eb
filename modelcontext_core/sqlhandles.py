"""Identities in SQL text, both ways: what may stand where.

Inside a `'…'` literal any id can stand, its apostrophes doubled. Anywhere else only an id that no dialect can read as
more than letters, digits, `_` and single `-` between them: two would begin a comment, and what follows (the rest of a
`WHERE`) would not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from modelcontext_core.grammar import HandleToken, handle_tokens
from modelcontext_core.handles import Place, replace_places
from modelcontext_core.sources import HandleSpaces
from modelcontext_core.sqltext import Region, quote_inner, region_at, regions, unquote_inner

_BARE: Final = re.compile(r"[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*")


def encode_sql(sql: str, spaces: HandleSpaces) -> tuple[str, list[Place]]:
    """`sql` with every known id replaced where decoding restores it."""
    places: list[Place] = []
    for region in regions(sql):
        if region.kind == "literal":
            places += _in_literal(sql, region, spaces)
        elif region.kind != "dollar":
            found, keep = spaces.known_places(sql[region.start : region.end])
            _, written = replace_places(sql[region.start : region.end], found, keep)
            places += [
                Place(place.start + region.start, place.end + region.start, place.handle)
                for place in written
                if _BARE.fullmatch(sql, place.start + region.start, place.end + region.start)
            ]
    return replace_places(sql, places)


def _in_literal(sql: str, region: Region, spaces: HandleSpaces) -> list[Place]:
    start, end = region.start + 1, region.end
    if end > start and sql[end - 1] == "'":
        end -= 1
    inner = sql[start:end]
    if region.backslash and "\\" in inner:
        return []
    value = unquote_inner(inner)
    found, keep = spaces.known_places(value)
    _, written = replace_places(value, found, keep)
    if value == inner:
        return [Place(place.start + start, place.end + start, place.handle) for place in written]
    shifted = []
    done, at = 0, start  # a prefix of the value, and where it ends in the SQL
    for place in written:
        begin = at + len(quote_inner(value[done : place.start]))
        at = begin + len(quote_inner(value[place.start : place.end]))
        done = place.end
        shifted.append(Place(begin, at, place.handle))
    return shifted


def decode_sql(sql: str, durable: Callable[[HandleToken], str | None]) -> tuple[str, list[Place]]:
    """`sql` with the handles restored that can be: an id goes into a literal in its quoted form, elsewhere only when
    it cannot begin a comment or a name of its own (`_BARE`). What is not restored stays, for the caller to report."""
    tokens = list(handle_tokens(sql))
    if not tokens:
        return sql, []
    found = regions(sql)
    places = []
    for token in tokens:
        value = durable(token)
        if value is None:
            continue
        region = region_at(found, token.start)
        if token.space == "resource":
            # Replaced in every text, whatever that is: no sign that could end a literal is in it.
            places.append(Place(token.start, token.end, value))
        elif region.kind == "literal":
            places.append(Place(token.start, token.end, quote_inner(value, backslash=region.backslash)))
        elif region.kind != "dollar" and _BARE.fullmatch(value):
            places.append(Place(token.start, token.end, value))
    return _write(sql, places), places


def _write(text: str, places: list[Place]) -> str:
    pieces: list[str] = []
    pos = 0
    for place in places:
        pieces += (text[pos : place.start], place.handle)
        pos = place.end
    return "".join(pieces) + text[pos:]
