"""Two checkpoints compared: their fields, and their active contexts line by line."""

from __future__ import annotations

import difflib
import json
from dataclasses import asdict
from typing import Any

from modelcontext_core.contextstate import Checkpoint

__all__ = ["context_diff", "context_lines", "context_text", "field_changes"]


def context_diff(before: Checkpoint, after: Checkpoint) -> list[str]:
    """The active contexts as a unified diff, empty when they are the same bytes."""
    old, new = _comparable(before.active_context, after.active_context)
    names = (f"revision {before.revision.session}", f"revision {after.revision.session}")
    return list(difflib.unified_diff(old, new, *names, lineterm=""))


def field_changes(before: Checkpoint, after: Checkpoint) -> dict[str, dict[str, Any]]:
    """What differs besides the context, by field; counters and keys always do and are left out."""

    def facts(checkpoint: Checkpoint) -> dict[str, Any]:
        covered = checkpoint.id.source_range
        return {
            "binding": "{provider}/{model} generation {generation}".format(**asdict(checkpoint.binding)),
            "algorithm": checkpoint.id.algorithm,
            "schema_version": checkpoint.id.schema_version,
            "events": f"{covered.start.sequence}-{covered.end.sequence}",
            "turn_id": checkpoint.turn_id,
        }

    old, new = facts(before), facts(after)
    return {name: {"from": old[name], "to": new[name]} for name in old if old[name] != new[name]}


def _comparable(old: bytes, new: bytes) -> tuple[list[str], list[str]]:
    """Both contexts as lines; as they are where laying them out as JSON would hide a difference."""
    first, second = context_lines(old), context_lines(new)
    if first == second and old != new:
        return _raw_lines(old), _raw_lines(new)
    return first, second


def context_lines(context: bytes) -> list[str]:
    """The lines of a context: JSON laid out, other text as it is, else hexadecimal."""
    try:
        value = json.loads(context)
    except (ValueError, RecursionError):
        return _raw_lines(context)
    return json.dumps(value, ensure_ascii=False, indent=1).split("\n")


def _raw_lines(context: bytes) -> list[str]:
    text = context_text(context)
    return [context[at : at + 32].hex(" ") for at in range(0, len(context), 32)] if text is None else text.split("\n")


def context_text(context: bytes) -> str | None:
    """The context as text, None when it is no UTF-8."""
    try:
        return context.decode("utf-8")
    except UnicodeDecodeError:
        return None
