"""The timeline of a stream: bars up for text sent on, hatched bars down for text held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from inspector_app import words
from inspector_app.views.stream_bars import Bar

__all__ = ["step_of_click", "timeline"]

HEIGHT: Final = 165
_UP: Final = 1.0
_DOWN: Final = 1.15
_LIGHT: Final = {"sent": "#33485E", "held": "#7A4B00", "here": "#DDE2E8", "text": "#59636E", "line": "#1B2127"}
_DARK: Final = {"sent": "#9FB4C9", "held": "#EFB75A", "here": "#2A333D", "text": "#9BA6B2", "line": "#E4E8EC"}


def timeline(drawn: Sequence[Bar], number: int, theme: str) -> go.Figure:
    """Return the timeline of `bars` with the step `number` marked. Both directions have a scale of their own: the
    labels tell.

    It is made anew for each step, so everything is given at once: adding shapes and notes one by one takes longer than
    all the rest of a step.
    """
    colors = _DARK if theme == "dark" else _LIGHT
    most_sent, most_held = max(bar.sent for bar in drawn), max(bar.held for bar in drawn)
    sent = [_UP * bar.sent / (most_sent or 1) for bar in drawn]
    held = [-_DOWN * bar.held / (most_held or 1) for bar in drawn]
    hover = [words.streams.timeline_hover(bar.first, bar.last, bar.sent, bar.held) for bar in drawn]
    traces = [_trace(drawn, sent, colors["sent"], "", hover), _trace(drawn, held, colors["held"], "/", hover)]
    labels = [
        _label(_UP * 0.92, words.streams.timeline_sent(most_sent), colors["text"]),
        _label(-_DOWN * 0.92, words.streams.timeline_held(most_held), colors["text"]),
    ]
    layout = _layout(drawn, colors["text"])
    return go.Figure(traces, layout | {"shapes": _here(drawn, number, colors), "annotations": labels})


def _here(drawn: Sequence[Bar], number: int, colors: Mapping[str, str]) -> list[dict[str, Any]]:
    here = next((at for at, bar in enumerate(drawn) if bar.first <= number <= bar.last), 0)
    whole = {"y0": 0, "y1": 1, "yref": "y domain"}
    band = {"type": "rect", "x0": here - 0.5, "x1": here + 0.5, "fillcolor": colors["here"], "line": {"width": 0}}
    line = {"type": "line", "x0": here, "x1": here, "line": {"width": 1, "color": colors["line"]}}
    return [band | whole | {"layer": "below"}, line | whole]


def _label(at: float, text: str, color: str) -> dict[str, Any]:
    font = {"size": 12, "color": color, "family": "Source Sans, sans-serif"}
    place = {"x": 0, "y": at, "xref": "paper", "xanchor": "right", "xshift": -10}
    return place | {"text": text, "showarrow": False, "font": font}


def step_of_click(event: Any) -> int | None:
    """Return the step of a bar that was clicked, from what the chart reports; None when nothing was."""
    points = event["selection"]["points"] if event else []
    if not points:
        return None
    data = points[0].get("customdata")
    first = data[0] if isinstance(data, list | tuple) else data
    return int(first) if first is not None else None


def _trace(
    drawn: Sequence[Bar], heights: Sequence[float], color: str, shape: str, hover: Sequence[str]
) -> dict[str, Any]:
    hatched = {"shape": shape, "fgcolor": color, "bgcolor": "rgba(0,0,0,0)", "size": 5, "solidity": 0.45}
    return {
        "type": "bar",
        "x": list(range(len(drawn))),
        "y": list(heights),
        "customdata": [[bar.first] for bar in drawn],
        "marker": {"color": color, "pattern": hatched if shape else {}, "line": {"width": 0}},
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
        "hovertext": hover,
        "hoverinfo": "text",
    }


def _layout(drawn: Sequence[Bar], color: str) -> dict[str, Any]:
    shown = [at for at, bar in enumerate(drawn) if _is_tick(drawn, at, bar)]
    return {
        "template": {},
        "height": HEIGHT,
        "barmode": "overlay",
        "bargap": 0.08,
        "showlegend": False,
        # Streamlit would set these two only after the bars are there: a click in between would choose nothing.
        "clickmode": "event+select",
        "hovermode": "closest",
        "dragmode": "zoom",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": color},
        "margin": {"l": 104, "r": 12, "t": 8, "b": 22},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "Source Code Pro, monospace", "size": 11, "color": color},
        "yaxis": {"visible": False, "fixedrange": True, "range": [-_DOWN * 1.04, _UP * 1.06]},
        "xaxis": {
            "range": [-0.6, len(drawn) - 0.4],
            "tickvals": shown,
            "ticktext": [f"{drawn[at].first:,}" for at in shown],
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
        },
    }


def _is_tick(drawn: Sequence[Bar], at: int, bar: Bar) -> bool:
    every = max(1, len(drawn) // 12)
    if drawn[-1].last != len(drawn):  # several steps a bar: numbers are what they are
        return at % every == 0
    every = next((size for size in (1, 2, 5, 10, 20, 50) if len(drawn) / size <= 14), 50)
    return bar.first == 1 or bar.first % every == 0
