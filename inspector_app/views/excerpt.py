"""The lines around the place where a source could not be read."""

from __future__ import annotations

import re
from typing import Any, Final

from inspector_app.views.hidden import displayable

__all__ = ["excerpt", "line_of", "sentence"]

_LINE: Final = re.compile(r"\bline ([0-9]{1,9})\b")
_LONGEST_LINE: Final = 160
_LINES_BEFORE: Final = 2


def excerpt(source: bytes, position: str) -> tuple[dict[str, Any], ...]:
    """Return the line that `position` names and two before it; nothing when it names none or the source is no text."""
    number = line_of(position)
    if not number or b"\x00" in source[:1024]:
        return ()
    lines = source.decode("utf-8", errors="replace").split("\n")
    if not 1 <= number <= len(lines):
        return ()
    first = max(1, number - _LINES_BEFORE)
    return tuple(
        {"number": line, "text": _short(lines[line - 1]), "bad": line == number} for line in range(first, number + 1)
    )


def line_of(position: str) -> int:
    """Return the line that a position names; 0 when it names none."""
    named = _LINE.search(position)
    return int(named[1]) if named else 0


def sentence(text: str) -> str:
    """Return a reason as a sentence: a capital first, a full stop last."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _short(line: str) -> str:
    text = displayable(line.rstrip("\r"))
    return text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 1] + "…"
