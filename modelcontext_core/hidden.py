"""What cannot be seen in a text, or hides what stands beside it.

Zero-width, bidi and control characters, lone surrogates, piles of combining marks: whatever shows text of a trace to
people draws these in some visible way.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["HIDDEN", "HIDDEN_CHARACTER", "PILE_OF_MARKS"]

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
HIDDEN_CHARACTER: Final = re.compile(f"[{_CHARACTERS}]")
PILE_OF_MARKS: Final = re.compile(f"[{_MARKS}][{_MARKS}]{{7,}}")
HIDDEN: Final = re.compile(f"{PILE_OF_MARKS.pattern}|{HIDDEN_CHARACTER.pattern}")
