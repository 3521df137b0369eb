"""The report as one HTML file: both forms of every message, the handle table, what was proven.

Everything of the trace is escaped, and the file carries a policy that forbids scripts and any request, so that it can
be sent on and opened anywhere. It is a download; no page of the app shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

from inspector_app import words
from inspector_app.views.alignment import DROPPED, HIDDEN_CHARACTER, IDENTITY, KEPT, LEFT, MISSED, RAW, Segment
from inspector_app.views.analysis import Analysis, Proof
from inspector_app.views.facts import proof_facts
from inspector_app.views.hidden import displayable
from inspector_app.views.linked import plan, view_part
from inspector_app.views.spaces import family

__all__ = ["html_report"]

# The one sheet of colours: the report looks as the pages do.
_COLOURS: Final = (Path(__file__).parents[1] / "components" / "tokens.css").read_text(encoding="utf-8")
_STYLE: Final = """
:root { color-scheme: light dark }
body { font: 14px/20px var(--sans); margin: 24px; max-width: 1900px; background: var(--page); color: var(--text) }
h1 { font-size: 18px; line-height: 24px; margin: 0 } p { margin: 2px 0 14px; overflow-wrap: anywhere }
dl { display: flex; flex-wrap: wrap; gap: 8px 32px; margin: 0 0 12px } dd { margin: 0; font-weight: 600 }
dt { font-size: 12px; color: var(--muted) } dd i { font-style: normal; font-weight: 400; color: var(--muted) }
table { border-collapse: collapse; width: 100%; table-layout: fixed }
td, th { text-align: left; vertical-align: top; padding: 1px 12px 1px 0; overflow-wrap: anywhere }
caption { text-align: left; font-size: 12px; color: var(--muted) }
.text { margin-bottom: 6px } .text td { font: 12.5px/20px var(--mono); white-space: pre-wrap; width: 50% }
.text td.muted { color: var(--muted) } .list th { font-size: 12px; color: var(--muted) }
.list td { font: 12.5px/20px var(--mono); border-top: 1px solid var(--line) }
.heads { position: sticky; top: 0; background: var(--panel); border: 1px solid var(--line); z-index: 1 }
.heads th { padding: 5px 12px; font-weight: 600 } .heads i { font-style: normal; font-weight: 400; color: var(--muted) }
h2 { font-size: 14px; margin: 14px 0 2px; border-top: 1px solid var(--line); padding-top: 8px; overflow-wrap: anywhere }
.heads + h2 { border-top: 0 }
mark { background: none; color: inherit; cursor: auto } .hid { white-space: normal }
@media print {
  :root { color-scheme: light } body { margin: 0 } .heads { position: static }
  mark, mark::before { print-color-adjust: exact; -webkit-print-color-adjust: exact }
  h2 { break-after: avoid } tr { break-inside: avoid }
}
"""
_HEAD: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer"><title>{title}</title>
<style>
{style}</style></head><body><h1>{title}</h1>
"""
_CLASSES: Final = {
    IDENTITY: "id",
    RAW: "raw",
    MISSED: "missed",
    LEFT: "own",
    HIDDEN_CHARACTER: "hid",
    KEPT: "no",
    DROPPED: "no",
}


def html_report(analysis: Analysis, proof: Proof, *, name: str, price: float, currency: str) -> bytes:
    """Return the report as UTF-8 HTML. `name` is the name of the trace, which may be anything."""
    head = _HEAD.format(title=escape(words.playground.REPORT_TITLE), style=_COLOURS + _STYLE)
    parts = [head, f"<p>{escape(displayable(name))}</p>", "<dl>"]
    for fact in proof_facts(analysis, proof, price=price, currency=currency):
        beside = f" <i>{escape(fact['sub'])}</i>" if fact.get("sub") else ""
        tone = f' class="{fact["tone"]}"' if fact.get("tone") else ""
        parts.append(f"<div><dt>{escape(fact['label'])}</dt><dd{tone}>{escape(fact['value'])}{beside}</dd></div>")
    parts.append("</dl>")
    parts.extend(_legend())
    parts.extend(_messages(analysis))
    parts.extend(_handles(analysis))
    parts.append("</body></html>\n")
    return "".join(parts).encode("utf-8", errors="backslashreplace")


def _legend() -> Iterator[str]:
    raw, missed = words.common.space_name("raw"), words.leaks.HEAT_MAP["missed"]
    marks = (("raw", raw), ("missed", str(missed)), ("own", words.common.LINKED_VIEW["u"]))
    yield "<p>" + " ".join(f'<mark class="{name}">{escape(said)}</mark>' for name, said in marks) + "</p>"
    durable, of_durable, handle, of_handle = map(escape, words.leaks.MESSAGE_TITLES)
    yield f'<table class="heads"><tr><th>{durable} <i>{of_durable}</i></th><th>{handle} <i>{of_handle}</i></th></tr>'
    yield "</table>"


def _messages(analysis: Analysis) -> Iterator[str]:
    pieces = plan(analysis.messages)
    for number in range(len(pieces)):
        part = view_part(analysis, pieces, number)
        for one in part["blocks"]:
            heading = " ".join(filter(None, (str(one["index"]), one["role"], one["name"], one["id"], one["piece"])))
            yield f"<h2>{escape(displayable(heading))}</h2>"
            for section in one["sections"]:
                label = f"<caption>{escape(section['label'])}</caption>" if section["label"] else ""
                yield f'<table class="text">{label}'
                for row in _unfolded(section["rows"]):
                    left = _cell(row[1], part["identities"])
                    right = f"<td>{_cell(row[2], part['identities'])}" if row[2] else f'<td class="muted">{left}'
                    yield f"<tr><td>{left}</td>{right}</td></tr>"
                yield "</table>"


def _handles(analysis: Analysis) -> Iterator[str]:
    names = words.common.HANDLE_COLUMNS
    columns = ("handle", "durable", "space", "uses")
    yield f'<h2>{escape(words.playground.VIEWS["handles"])}</h2><table class="list"><tr>'
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


def _cell(segments: list[Segment], identities: Mapping[int, Mapping[str, Any]]) -> str:
    return "".join(escape(part) if isinstance(part, str) else _mark(part, identities) for part in segments)


def _mark(segment: list[str | int], identities: Mapping[int, Mapping[str, Any]]) -> str:
    kind, text = str(segment[0]), str(segment[1])
    identity = identities.get(int(segment[2])) if kind == IDENTITY and len(segment) > 2 else None
    space = f" sp-{identity['space']}" if identity else ""
    return f'<mark class="{_CLASSES[kind]}{space}">{escape(text)}</mark>'
