"""The rules of a commit in their order, and which of them answered."""

from __future__ import annotations

from typing import Final

from inspector_app import words
from inspector_app.views.hidden import displayable

__all__ = ["rule_rows"]

_ORDER: Final = ("key", "record", "limits", "revision", "binding")


def rule_rows(answered: str | None, *, replay: bool, text: str) -> list[list[dict[str, str]]]:
    """Return a row per rule: passed, the one that answered with its sentence, or not reached. None: all passed."""
    rows = []
    reached = len(_ORDER) if answered is None else _ORDER.index(answered)
    for number, rule in enumerate(_ORDER):
        name = {"text": words.sandbox.rule_name(rule)}
        if number < reached:
            rows.append([name, {"tone": "good", "text": words.sandbox.RULE_PASSED}])
        elif number > reached:
            rows.append([name, {"tone": "muted", "text": words.sandbox.RULE_NOT_REACHED}])
        elif replay:
            rows.append([name, {"tone": "warning", "text": words.sandbox.RULE_REPLAY}])
        else:
            rows.append([name, {"tone": "fault", "text": displayable(text)}])
    return rows
