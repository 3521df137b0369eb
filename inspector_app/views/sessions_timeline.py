"""The timeline of a session: a row per checkpoint with the events that it covers, and what was tried in between.

Plotly reads a little markup in its texts, so nothing of a store is written into a figure: numbers, times and words of
our own only. Names (operations, models) stand in the tables beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from inspector_app import words
from modelcontext_core.contextstate import HistoryEntry

__all__ = ["CHECKPOINT_HEIGHT", "HEAD_HEIGHT", "Palette", "chosen_revision", "palette", "timeline", "timeline_head"]

CHECKPOINT_HEIGHT: Final = 27
HEAD_HEIGHT: Final = 30
_SMALL_HEIGHT: Final = 24

# Where the columns begin, as parts of the width.
_REVISION: Final = 0.058
_TIME: Final = 0.07
_TURN: Final = 0.2
_EVENTS: Final = (0.235, 0.645)
_CONTEXT: Final = (0.68, 0.80)
_OUTCOME: Final = 0.852
_SANS: Final = "Source Sans, sans-serif"
_MONO: Final = "Source Code Pro, monospace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colours of one theme."""

    page: str
    panel: str
    text: str
    muted: str
    line: str
    selection: str
    accent: str
    pale: str
    good: str
    warning: str
    fault: str


_LIGHT: Final = Palette(
    page="#FFFFFF", panel="#F4F5F7", text="#1B2127", muted="#59636E", line="#D7DCE1", selection="#E4EAF0",
    accent="#33485E", pale="#D7DCE1", good="#0B5E49", warning="#7A4B00", fault="#B3261E",
)  # fmt: skip
_DARK: Final = Palette(
    page="#14171B", panel="#1D2126", text="#E4E8EC", muted="#9BA6B2", line="#343A41", selection="#2A333D",
    accent="#9FB4C9", pale="#343A41", good="#5BD0A6", warning="#EFB75A", fault="#FF8A7A",
)  # fmt: skip


def palette(theme: str | None) -> Palette:
    """Return the colours of a theme; anything but "dark" is light."""
    return _DARK if theme == "dark" else _LIGHT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    kind: str
    top: int
    height: int
    entry: HistoryEntry
    number: int = 0

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


def _rows(entries: Sequence[HistoryEntry], before: HistoryEntry | None) -> list[_Row]:
    rows: list[_Row] = []
    top = 2

    def add(kind: str, height: int, entry: HistoryEntry, number: int = 0) -> None:
        nonlocal top
        rows.append(_Row(kind=kind, top=top, height=height, entry=entry, number=number))
        top += height

    for entry in entries:
        if before is not None and before.checkpoint.binding != entry.checkpoint.binding:
            add("binding", _SMALL_HEIGHT, entry, before.checkpoint.binding.generation)
        add("checkpoint", CHECKPOINT_HEIGHT, entry)
        for number in range(len(entry.attempts)):
            add("attempt", _SMALL_HEIGHT, entry, number)
        before = entry
    return rows


def timeline(
    entries: Sequence[HistoryEntry],
    colours: Palette,
    *,
    before: HistoryEntry | None,
    total: int,
    revision: int,
    base: int,
) -> go.Figure:
    """Return the chart of some checkpoints in order.

    `before` is the one ahead of the first, `total` the number of events of the whole session, `revision` the chosen
    checkpoint and `base` the one that it is compared with.
    """
    rows = _rows(entries, before)
    height = rows[-1].top + rows[-1].height + 2 if rows else CHECKPOINT_HEIGHT
    figure = _figure(height, colours)
    for row in rows:
        _shade(figure, row, colours, revision, base)
    checkpoints = [row for row in rows if row.kind == "checkpoint"]
    _rules(figure, rows, colours)
    _bars(figure, checkpoints, colours, max(total, 1))
    _texts(figure, rows, colours, revision)
    _targets(figure, checkpoints)
    return figure


def timeline_head(colours: Palette, total: int) -> go.Figure:
    """Return the heads of the columns, laid out as the chart below them."""
    figure = _figure(HEAD_HEIGHT, colours, background=colours.panel)
    revision, time, turn, event, context, outcome = words.sessions.TIMELINE_HEADS
    middle = HEAD_HEIGHT / 2
    bold = {"size": 12, "weight": 600, "color": colours.muted, "family": _SANS}
    for x, text, anchor in (
        (_REVISION, revision, "right"),
        (_TIME, time, "left"),
        (_TURN, turn, "right"),
        (_CONTEXT[0], context, "left"),
        (_OUTCOME, outcome, "left"),
    ):
        figure.add_annotation(x=x, y=middle, text=text, xanchor=anchor, showarrow=False, font=bold)
    ticks = {"size": 12, "color": colours.muted, "family": _MONO}
    for part in range(5):
        number = max(1, round(total * part / 4))
        text = f"{event} {number:,}" if part == 0 else f"{number:,}"
        anchor = "left" if part == 0 else "right" if part == 4 else "center"
        figure.add_annotation(
            x=_event_x(number if part else 0, total), y=middle, text=text, xanchor=anchor, showarrow=False, font=ticks
        )
    return figure


def chosen_revision(event: Any) -> int | None:
    """Return the revision that was clicked in the chart, from what Streamlit tells of its selection."""
    points = event.get("selection", {}).get("points", []) if isinstance(event, dict) else []
    for point in points:
        value = point.get("customdata")
        number = value[0] if isinstance(value, list | tuple) and value else value
        if isinstance(number, int | float) and number >= 1:
            return int(number)
    return None


# --- parts of the figure


def _figure(height: int, colours: Palette, background: str = "") -> go.Figure:
    figure = go.Figure()
    axis = {"visible": False, "fixedrange": True}
    figure.update_layout(
        height=height,
        margin={"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0},
        paper_bgcolor=background or colours.page,
        plot_bgcolor=background or colours.page,
        xaxis={**axis, "range": [0, 1]},
        yaxis={**axis, "range": [height, 0]},
        barmode="overlay",
        showlegend=False,
        # Streamlit would set these three only after the rows are there: a click in between would choose nothing.
        clickmode="event+select",
        hovermode="closest",
        dragmode="pan",
        font={"family": _SANS, "size": 13, "color": colours.text},
        hoverlabel={"font": {"family": _SANS, "size": 13}},
    )
    return figure


def _event_x(sequence: float, total: int) -> float:
    return _EVENTS[0] + (_EVENTS[1] - _EVENTS[0]) * sequence / max(total, 1)


def _box(figure: go.Figure, row: _Row, left: float, right: float, colour: str) -> None:
    figure.add_shape(
        type="rect",
        x0=left,
        x1=right,
        y0=row.top,
        y1=row.top + row.height,
        fillcolor=colour,
        line_width=0,
        layer="below",
    )


def _shade(figure: go.Figure, row: _Row, colours: Palette, revision: int, base: int) -> None:
    number = row.entry.checkpoint.revision.session
    if row.kind == "binding":
        _box(figure, row, 0, 1, colours.panel)
    elif row.kind == "checkpoint" and number == revision:
        _box(figure, row, 0, 1, colours.selection)
        _box(figure, row, 0, 0.0035, colours.accent)
    elif row.kind == "checkpoint" and number == base:
        figure.add_shape(
            type="line", x0=0.0017, x1=0.0017, y0=row.top, y1=row.top + row.height,
            line={"color": colours.accent, "width": 3, "dash": "dot"},
        )  # fmt: skip


def _rules(figure: go.Figure, rows: Sequence[_Row], colours: Palette) -> None:
    height = rows[-1].top + rows[-1].height if rows else 0
    for part in range(5):
        x = _EVENTS[0] + (_EVENTS[1] - _EVENTS[0]) * part / 4
        figure.add_shape(
            type="line", x0=x, x1=x, y0=0, y1=height, line={"color": colours.line, "width": 1}, layer="below"
        )


def _bars(figure: go.Figure, rows: Sequence[_Row], colours: Palette, total: int) -> None:
    starts = [row.entry.checkpoint.id.source_range.start.sequence for row in rows]
    ends = [row.entry.checkpoint.id.source_range.end.sequence for row in rows]
    new = [row.entry.new_events for row in rows]
    middles = [row.middle for row in rows]
    unit = (_EVENTS[1] - _EVENTS[0]) / total
    largest = max((row.entry.context_bytes for row in rows), default=1) or 1
    context = [(_CONTEXT[1] - _CONTEXT[0]) * 0.6 * row.entry.context_bytes / largest for row in rows]
    for base, width, thick, colour in (
        # The range that the checkpoint covers, pale; the events that it added, dark.
        ([_event_x(max(start - 1, 0), total) for start in starts],
         [unit * max(end - max(start - 1, 0), 0) for start, end in zip(starts, ends, strict=True)], 13, colours.pale),
        ([_event_x(end - added, total) for end, added in zip(ends, new, strict=True)],
         [max(unit * added, 0.002 if added else 0) for added in new], 13, colours.accent),
        ([_CONTEXT[0]] * len(rows), context, 5, colours.muted),
    ):  # fmt: skip
        figure.add_trace(
            go.Bar(
                orientation="h", y=middles, x=width, base=base, width=thick, marker={"color": colour, "line_width": 0},
                hoverinfo="skip", selected={"marker": {"opacity": 1}}, unselected={"marker": {"opacity": 1}},
            )
        )  # fmt: skip


def _texts(figure: go.Figure, rows: Sequence[_Row], colours: Palette, revision: int) -> None:
    """Texts by column; those of the chosen checkpoint are bold, those of attempts muted."""
    largest = max((row.entry.context_bytes for row in rows), default=1) or 1
    places: list[tuple[float, float, str, str, str, str, bool]] = []
    for row in rows:
        checkpoint = row.entry.checkpoint
        bold = checkpoint.revision.session == revision
        if row.kind == "binding":
            text = words.sessions.binding_change(row.number, checkpoint.binding.generation)
            places.append((_TIME, row.middle, words.sessions.FACT_BINDING, "left", colours.text, _SANS, True))
            places.append((_EVENTS[0], row.middle, text, "left", colours.muted, _MONO, False))
        elif row.kind == "attempt":
            attempt = row.entry.attempts[row.number]
            said = words.sessions.outcome(attempt.outcome.value)
            colour = colours.warning if attempt.outcome == "replayed" else colours.fault
            places.append((_TIME, row.middle, f"{attempt.at:%H:%M:%S}", "left", colours.muted, _SANS, False))
            places.append((_OUTCOME, row.middle, said, "left", colour, _SANS, False))
        else:
            at = f"{row.entry.committed_at:%H:%M:%S}"
            size = words.common.bytes_text(row.entry.context_bytes)
            after = _CONTEXT[0] + (_CONTEXT[1] - _CONTEXT[0]) * 0.6 * row.entry.context_bytes / largest + 0.007
            said = words.sessions.outcome("committed")
            places += [
                (_REVISION, row.middle, f"{checkpoint.revision.session:,}", "right", colours.text, _SANS, bold),
                (_TIME, row.middle, at, "left", colours.muted, _SANS, bold),
                (_TURN, row.middle, f"{checkpoint.turn_id:,}", "right", colours.muted, _SANS, bold),
                (after, row.middle, size, "left", colours.text, _SANS, bold),
                (_OUTCOME, row.middle, said, "left", colours.good, _SANS, bold),
            ]
    for style in dict.fromkeys(place[3:] for place in places):
        side, colour, family, bold = style
        chosen = [place for place in places if place[3:] == style]
        font = {
            "size": 13 if family == _SANS else 12.5,
            "color": colour,
            "family": family,
            "weight": 600 if bold else 400,
        }
        figure.add_trace(
            go.Scatter(
                mode="text", x=[place[0] for place in chosen], y=[place[1] for place in chosen],
                text=[place[2] for place in chosen], hoverinfo="skip", cliponaxis=False,
                textposition="middle right" if side == "left" else "middle left", textfont=font,
                selected={"textfont": {"color": colour}}, unselected={"textfont": {"color": colour}},
            )
        )  # fmt: skip


def _targets(figure: go.Figure, rows: Sequence[_Row]) -> None:
    """A row is clicked anywhere: an unseen bar as wide as the chart says which it is."""
    clear = {"color": "rgba(0,0,0,0)", "line": {"width": 0}}
    figure.add_trace(
        go.Bar(
            orientation="h",
            y=[row.middle for row in rows],
            x=[1] * len(rows),
            base=[0] * len(rows),
            width=[row.height for row in rows],
            marker=clear,
            customdata=[[row.entry.checkpoint.revision.session] for row in rows],
            hovertext=[_hover(row.entry) for row in rows],
            hoverinfo="text",
            selected={"marker": {"opacity": 0}},
            unselected={"marker": {"opacity": 0}},
        )
    )


def _hover(entry: HistoryEntry) -> str:
    checkpoint = entry.checkpoint
    where = checkpoint.id.source_range
    return words.sessions.timeline_hover(
        checkpoint.revision.session,
        where.start.sequence,
        where.end.sequence,
        entry.context_bytes,
        checkpoint.turn_id,
    )
