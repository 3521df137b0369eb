"""Words of the fields that sift a list, by the list."""

from __future__ import annotations

from typing import Final

__all__ = ["FIELDS"]

FIELDS: Final = {
    "findings": "Find an id, place or trace",
    "tools": "Find a tool or field",
    "sessions": "Session id starts with",
}
