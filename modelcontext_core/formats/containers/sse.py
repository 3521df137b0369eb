"""Server-sent events: lines to events, as the HTML standard's event-stream rules say, and as captures really look."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from modelcontext_core.formats.base import NoticeKind
from modelcontext_core.formats.containers.splitting import Piece

__all__ = ["Event", "looks_like_sse", "split_events"]

Report = Callable[[NoticeKind, str, str], None]

_DATA_LINE = re.compile(rb"^data: ?(?:[{\[\"]|\[DONE\])", re.MULTILINE)
_EVENT_LINE = re.compile(rb"^event: ?[\w./:|-]+\r?\n(?:(?:id|retry):[^\n]*\n)*data:", re.MULTILINE)
_HEAD = 65536


def looks_like_sse(head: bytes) -> bool:
    """True when a line near the beginning is an event's data that could be JSON, or an event's name before its data."""
    start = head[:_HEAD]
    return bool(_DATA_LINE.search(start) or _EVENT_LINE.search(start))


@dataclass(slots=True, kw_only=True)
class Event:
    """One event: its number and first line, its name, its data lines. `last`: the source ends without an empty line."""

    number: int
    line: int
    name: str = ""
    data: list[bytes] = field(default_factory=list)
    last: bool = False


def split_events(lines: Iterable[Piece], report: Report) -> Iterator[Event]:
    """The events with data. A line `{…}` without a field name is taken as data; other stray lines are reported."""
    number = 0
    event: Event | None = None
    for piece in lines:
        line = piece.data
        if line is None:
            report("limit", f"line {piece.number}", "a line is larger than a record may be and is skipped")
            continue
        line = line.strip(b"\0")
        if not line:
            if event is not None and event.data:
                yield event
                event = None
            continue
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name not in (b"data", b"event", b"id", b"retry", b""):
            if line[:1] != b"{":
                report("skipped", f"line {piece.number}", "a line that is no field of an event is skipped")
                continue
            report("fallback", f"line {piece.number}", "a JSON line without a field name is taken as data")
            name, value = b"data", line
        if name not in (b"data", b"event"):
            continue
        if event is None:
            number += 1
            event = Event(number=number, line=piece.number)
        if name == b"data":
            event.data.append(value.rstrip(b"\r"))
        elif event.data:
            # A capture without empty lines: the next event's name ends this one.
            yield event
            number += 1
            event = Event(number=number, line=piece.number, name=value.decode("utf-8", "replace").strip())
        else:
            event.name = value.decode("utf-8", "replace").strip()
    if event is not None and event.data:
        event.last = True
        yield event
