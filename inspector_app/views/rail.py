"""The list of messages beside the texts: one row a message, a bar for what was replaced in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from inspector_app import words
from inspector_app.views.analysis import Analysis
from inspector_app.views.hidden import one_line
from inspector_app.views.spaces import FAMILIES
from modelcontext_core.messages import Message

__all__ = ["MOST_ROWS", "label", "rail_rows", "rail_table"]

# Above this many messages a table takes the place of the rail.
MOST_ROWS: Final = 2_000
_LONGEST_LABEL: Final = 60


def rail_rows(analysis: Analysis, found: Mapping[int, int] | None = None) -> list[dict[str, Any]]:
    """Return a row per message: number, label, depth sign, replacements by family, raw ids left, search hits."""
    return [_row(analysis, index, message, found) for index, message in enumerate(analysis.messages)]


def rail_table(analysis: Analysis, found: Mapping[int, int] | None = None) -> list[dict[str, Any]]:
    """Return the same as rows of a table, for conversations that are too long for the rail."""
    return [
        {
            words.common.COLUMN_NUMBER: row["index"],
            words.common.COLUMN_MESSAGE: f"{row['sign']} {row['label']}".strip(),
            words.common.COLUMN_REPLACED: row["replaced"],
            words.common.COLUMN_RAW: row["raw"],
        }
        for row in rail_rows(analysis, found)
        if not found or row["hits"]
    ]


def label(message: Message) -> tuple[str, str]:
    """Return the sign (a call, a result, or none) and the label of a message: its tool's name, or its role."""
    if message.role in ("tool", "function"):
        return "↳", _short(message.name or message.role)
    if message.tool_calls:
        names = list(dict.fromkeys(call.name for call in message.tool_calls))
        return "→", _short(", ".join(names) or message.role)
    return "", _short(message.role)


def _row(analysis: Analysis, index: int, message: Message, found: Mapping[int, int] | None) -> dict[str, Any]:
    counts = analysis.replaced.get(index, {})
    sign, text = label(message)
    return {
        "index": index,
        "sign": sign,
        "label": text,
        "replaced": sum(counts.values()),
        "raw": len(analysis.leaks_by_message.get(index, {})),
        "bars": [[name, counts[name]] for name in FAMILIES if counts.get(name)],
        "hits": (found or {}).get(index, 0),
    }


def _short(text: str) -> str:
    shown = one_line(text)
    return shown if len(shown) <= _LONGEST_LABEL else shown[: _LONGEST_LABEL - 1] + "…"
