"""Draw what cannot be seen: zero-width, bidi and control characters, lone surrogates.

Text of a trace may hold characters that change what a reader sees without showing themselves. Everything that the app
shows goes through `displayable` or `pieces`, so that such a character appears as its code point.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["HIDDEN", "code_point", "displayable", "hidden_count", "pieces"]

# Controls but tab and line feed; soft hyphen; zero-width, bidi and line/paragraph separators; invisible operators;
# fillers; byte-order mark; lone surrogates; tag characters and the supplementary variation selectors.
HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e01ef]"
)


def code_point(character: str) -> str:
    """Return how a hidden character is written: `U+200B`, or `\\uD83D` for half of a surrogate pair."""
    number = ord(character)
    return f"\\u{number:04X}" if 0xD800 <= number <= 0xDFFF else f"U+{number:04X}"


def displayable(text: str) -> str:
    """Return `text` with every hidden character replaced by its code point in brackets, safe for any widget."""
    return HIDDEN.sub(lambda match: f"[{code_point(match[0])}]", text)


def hidden_count(text: str) -> int:
    """Return how many hidden characters `text` holds."""
    return 0 if text.isascii() and text.isprintable() else sum(1 for _ in HIDDEN.finditer(text))


def pieces(text: str) -> list[tuple[str, bool]]:
    """Split `text` into (piece, is it one hidden character), in order; joined they give `text`."""
    if text.isascii() and text.isprintable():
        return [(text, False)] if text else []
    result: list[tuple[str, bool]] = []
    cursor = 0
    for match in HIDDEN.finditer(text):
        if match.start() > cursor:
            result.append((text[cursor : match.start()], False))
        result.append((match[0], True))
        cursor = match.end()
    if cursor < len(text):
        result.append((text[cursor:], False))
    return result
