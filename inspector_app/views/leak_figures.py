"""The charts of the Leaks page: leaks along the messages, and the identifiers that are left most often."""

from __future__ import annotations

import plotly.graph_objects as go

from inspector_app import words
from inspector_app.views.hidden import one_line
from modelcontext_core.leak_report.rows import LeakReport

__all__ = ["along", "top"]

# Of unregistered and of registered ids, on a light and on a dark page.
_COLOURS = {False: ("#B3261E", "#DF7F6B"), True: ("#F08A78", "#8F4236")}
_MOST_SHOWN = 12
_HEIGHT = 268  # as the panel beside it


def along(report: LeakReport, known: str, *, dark: bool = False) -> go.Figure:
    """How many raw ids stand in the first message, the second, and so on, of all conversations together."""
    figure = go.Figure()
    unregistered, missed = _COLOURS[dark]
    for registered, name, colour in (
        (False, words.leaks.KNOWNS["unregistered"], unregistered),
        (True, words.leaks.KNOWNS["registered"], missed),
    ):
        if known in ("both", "registered" if registered else "unregistered"):
            at = [(message, times) for (message, yes), times in report.along.items() if yes is registered]
            figure.add_bar(x=[each[0] for each in at], y=[each[1] for each in at], name=name, marker_color=colour)
    figure.update_layout(barmode="stack", xaxis_title=words.leaks.ALONG_AXIS, yaxis_title=words.leaks.COUNT_AXIS)
    return _framed(figure)


def top(report: LeakReport, known: str, *, dark: bool = False) -> go.Figure:
    """The identifiers that are left most often, by their beginnings."""
    found = []
    for key, count in report.identities.items():
        parts = {"registered": count.registered, "unregistered": count.unregistered}
        times = parts.get(known, count.registered + count.unregistered)
        if times:
            found.append((times, key.shown, key.identity))
    found.sort(key=lambda each: (-each[0], each[2]))
    # Two ids may begin alike: the hash keeps their bars apart. The chart would take tags in a label for its own markup.
    names = [f"{one_line(shown).replace('<', '‹')} ({identity[:4]})" for _, shown, identity in found[:_MOST_SHOWN]]
    figure = go.Figure(go.Bar(x=[times for times, *_ in found[:_MOST_SHOWN]], y=names, orientation="h"))
    figure.update_traces(marker_color=_COLOURS[dark][0])
    figure.update_layout(xaxis_title=words.leaks.COUNT_AXIS)
    figure.update_yaxes(autorange="reversed", type="category", dtick=1)
    return _framed(figure, height=_HEIGHT - 30)  # a note stands below it


def _framed(figure: go.Figure, height: int = _HEIGHT) -> go.Figure:
    figure.update_layout(height=height, margin={"l": 10, "r": 10, "t": 10, "b": 10}, legend={"orientation": "h"})
    return figure
