"""Draw what cannot be seen, or hides what stands beside it: zero-width, bidi and control characters, lone surrogates,
piles of combining marks.

Text of a trace may hold characters that change what a reader sees without showing themselves. Everything that the app
shows goes through `displayable` or `pieces`, so that such a character appears as its code point, and a pile of marks,
which would be drawn over its neighbours and lines, as the number of them.
"""

from __future__ import annotations

import re

from modelcontext_core.hidden import HIDDEN, HIDDEN_CHARACTER, PILE_OF_MARKS

__all__ = ["HIDDEN", "code_point", "displayable", "hidden_count", "json_escaped", "one_line", "pieces"]


def code_point(piece: str) -> str:
    """Return how what is hidden is written: `U+200B`, `\\uD83D` for half of a surrogate pair, `9 combining marks`."""
    if len(piece) > 1:
        return f"{len(piece):,} combining marks"
    number = ord(piece)
    return f"\\u{number:04X}" if 0xD800 <= number <= 0xDFFF else f"U+{number:04X}"


def _pattern(text: str) -> re.Pattern[str]:
    # Looking for both at once takes twice as long as one after the other, and piles are rare.
    return HIDDEN if not text.isascii() and PILE_OF_MARKS.search(text) else HIDDEN_CHARACTER


def displayable(text: str) -> str:
    """Return `text` with every hidden character replaced by its code point in brackets, safe for any widget."""
    return _pattern(text).sub(lambda match: f"[{code_point(match[0])}]", text)


def one_line(text: str) -> str:
    """Return `text` as `displayable` does, for a name or a line of a terminal: line ends and tabs are shown, too."""
    return displayable(text).replace("\n", "[U+000A]").replace("\t", "[U+0009]")


def json_escaped(text: str) -> str:
    """Return JSON text with every hidden character written as an escape: it means the same, and steers no terminal."""
    return HIDDEN_CHARACTER.sub(_escape, text)


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
