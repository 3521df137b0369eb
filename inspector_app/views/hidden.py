"""Draw what cannot be seen, or hides what stands beside it: zero-width, bidi and control characters, lone surrogates,
piles of combining marks.

Text of a trace may hold characters that change what a reader sees without showing themselves. Everything that the app
shows goes through `displayable` or `pieces`, so that such a character appears as its code point, and a pile of marks,
which would be drawn over its neighbours and lines, as the number of them.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["HIDDEN", "code_point", "displayable", "hidden_count", "json_escaped", "one_line", "pieces"]

# Controls but tab and line feed; soft hyphen; zero-width, bidi and line/paragraph separators; invisible operators and
# joiners; fillers; byte-order mark; lone surrogates; invisible controls of notations; tag characters and the
# supplementary variation selectors.
_CHARACTERS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
# Marks that pile up over or under a letter. No language needs eight of them on one.
_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f7e\u0f80-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0"
    "\ufe00-\ufe0f\ufe20-\ufe2f"
)
_CHARACTER: Final = re.compile(f"[{_CHARACTERS}]")
_PILE: Final = re.compile(f"[{_MARKS}][{_MARKS}]{{7,}}")
HIDDEN: Final = re.compile(f"{_PILE.pattern}|{_CHARACTER.pattern}")


def code_point(piece: str) -> str:
    """Return how what is hidden is written: `U+200B`, `\\uD83D` for half of a surrogate pair, `9 combining marks`."""
    if len(piece) > 1:
        return f"{len(piece):,} combining marks"
    number = ord(piece)
    return f"\\u{number:04X}" if 0xD800 <= number <= 0xDFFF else f"U+{number:04X}"


def _pattern(text: str) -> re.Pattern[str]:
    # Looking for both at once takes twice as long as one after the other, and piles are rare.
    return HIDDEN if not text.isascii() and _PILE.search(text) else _CHARACTER


def displayable(text: str) -> str:
    """Return `text` with every hidden character replaced by its code point in brackets, safe for any widget."""
    return _pattern(text).sub(lambda match: f"[{code_point(match[0])}]", text)


def one_line(text: str) -> str:
    """Return `text` as `displayable` does, for a name or a line of a terminal: line ends and tabs are shown, too."""
    return displayable(text).replace("\n", "[U+000A]").replace("\t", "[U+0009]")


def json_escaped(text: str) -> str:
    """Return JSON text with every hidden character written as an escape: it means the same, and steers no terminal."""
    return _CHARACTER.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", errors="surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def hidden_count(text: str) -> int:
    """Return how many hidden characters `text` holds."""
    return 0 if text.isascii() and text.isprintable() else sum(len(found[0]) for found in _pattern(text).finditer(text))


def pieces(text: str) -> list[tuple[str, bool]]:
    """Split `text` into (piece, is it hidden), in order; joined they give `text`."""
    if text.isascii() and text.isprintable():
        return [(text, False)] if text else []
    result: list[tuple[str, bool]] = []
    cursor = 0
    for match in _pattern(text).finditer(text):
        if match.start() > cursor:
            result.append((text[cursor : match.start()], False))
        result.append((match[0], True))
        cursor = match.end()
    if cursor < len(text):
        result.append((text[cursor:], False))
    return result
