"""The report as one HTML file: both forms of every message, the handle table, what was proven.

Everything of the trace is escaped, and the file carries a policy that forbids scripts and any request, so that it can
be sent on and opened anywhere. It is a download; no page of the app shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from inspector_app import words
from inspector_app.views.alignment import DROPPED, HIDDEN_CHARACTER, IDENTITY, KEPT, LEFT, MISSED, RAW, Segment
from inspector_app.views.analysis import Analysis, Proof
from inspector_app.views.facts import proof_facts
from inspector_app.views.hidden import displayable
from inspector_app.views.linked import plan, view_part
from inspector_app.views.spaces import family

__all__ = ["html_report"]

_HEAD: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer"><title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 14px/20px sans-serif; margin: 24px; max-width: 1900px;
  background: light-dark(#fff, #14171B); color: light-dark(#1B2127, #E4E8EC) }}
dl {{ display: flex; flex-wrap: wrap; gap: 8px 32px }}
dt {{ font-size: 12px; opacity: .75 }} dd {{ margin: 0; font-weight: 600 }}
table {{ border-collapse: collapse; width: 100%; table-layout: fixed; margin-bottom: 20px }}
td, th {{ text-align: left; vertical-align: top; padding: 1px 10px; overflow-wrap: anywhere }}
.text td {{ font: 12.5px/20px monospace; white-space: pre-wrap; width: 50% }}
h2 {{ font-size: 14px; margin: 18px 0 4px; border-top: 1px solid light-dark(#D7DCE1, #343A41); padding-top: 8px }}
mark {{ background: light-dark(#E0EBFC, #16344A); color: inherit; text-decoration: underline }}
mark.raw {{ background: light-dark(#B3261E, #FF8A7A); color: light-dark(#fff, #14171B) }}
mark.missed {{ outline: 1px dashed }} mark.hidden {{ outline: 1px solid }}
</style></head><body><h1>{title}</h1>
"""
_CLASSES: Final = {
    IDENTITY: "id",
    RAW: "raw",
    MISSED: "missed",
    LEFT: "own",
    HIDDEN_CHARACTER: "hidden",
    KEPT: "kept",
    DROPPED: "kept",
}


def html_report(analysis: Analysis, proof: Proof, *, name: str, price: float, currency: str) -> bytes:
    """Return the report as UTF-8 HTML. `name` is the name of the trace, which may be anything."""
    parts = [_HEAD.format(title=escape(words.playground.REPORT_TITLE)), f"<p>{escape(displayable(name))}</p>", "<dl>"]
    for fact in proof_facts(analysis, proof, price=price, currency=currency):
        value = " ".join(filter(None, (fact["value"], fact.get("sub", ""))))
        parts.append(f"<div><dt>{escape(fact['label'])}</dt><dd>{escape(value)}</dd></div>")
    parts.append("</dl>")
    parts.extend(_messages(analysis))
    parts.extend(_handles(analysis))
    parts.append("</body></html>\n")
    return "".join(parts).encode("utf-8", errors="backslashreplace")


def _messages(analysis: Analysis) -> Iterator[str]:
    pieces = plan(analysis.messages)
    for number in range(len(pieces)):
        for one in view_part(analysis, pieces, number)["blocks"]:
            heading = " ".join(filter(None, (str(one["index"]), one["role"], one["name"], one["id"], one["piece"])))
            yield f"<h2>{escape(displayable(heading))}</h2>"
            for section in one["sections"]:
                label = f"<caption>{escape(section['label'])}</caption>" if section["label"] else ""
                yield f'<table class="text">{label}'
                for row in _unfolded(section["rows"]):
                    left = _cell(row[1])
                    yield f"<tr><td>{left}</td><td>{_cell(row[2]) if row[2] else left}</td></tr>"
                yield "</table>"


def _handles(analysis: Analysis) -> Iterator[str]:
    names = words.common.HANDLE_COLUMNS
    columns = ("handle", "durable", "space", "uses")
    yield "<h2>" + escape(words.playground.VIEWS["handles"]) + "</h2><table><tr>"
    yield "".join(f"<th>{escape(names[key])}</th>" for key in columns) + "</tr>"
    for row in analysis.handles:
        values = (row.handle, displayable(row.durable), words.common.space_name(family(row.space)), str(row.uses))
        yield "<tr>" + "".join(f"<td>{escape(value)}</td>" for value in values) + "</tr>"
    yield "</table>"


def _unfolded(rows: list[object]) -> Iterator[list[list[Segment]]]:
    for row in rows:
        if isinstance(row, dict):
            yield from row["fold"]
        elif isinstance(row, list):
            yield row


def _cell(segments: list[Segment]) -> str:
    return "".join(
        escape(part)
        if isinstance(part, str)
        else f'<mark class="{_CLASSES[str(part[0])]}">{escape(str(part[1]))}</mark>'
        for part in segments
    )
