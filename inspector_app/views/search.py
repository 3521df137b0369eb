"""Search in a trace: where a word stands, in either form of the conversation."""

from __future__ import annotations

from inspector_app.views.analysis import Analysis
from inspector_app.views.texts import texts

__all__ = ["find"]


def find(analysis: Analysis, query: str) -> dict[int, int]:
    """Return how often `query` stands in each message, ignoring case; messages without it are left out.

    The durable form is searched, then the handle form for what it alone holds (a handle). Names of tools count too.
    """
    wanted = query.strip().lower()
    if not wanted:
        return {}
    result: dict[int, int] = {}
    for index, (before, after) in enumerate(zip(analysis.messages, analysis.encoded, strict=True)):
        durable = sum(item.text.lower().count(wanted) for item in texts(before))
        handle = 0 if durable else sum(item.text.lower().count(wanted) for item in texts(after))
        named = int(wanted in before.name.lower() or any(wanted in call.name.lower() for call in before.tool_calls))
        if durable + handle + named:
            result[index] = durable + handle + named
    return result
