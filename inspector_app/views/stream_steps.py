"""One step of a stream as the page draws it: what came in, what is held, what went out, and both texts.

Texts go to our own component as lists of segments `[kind, text, space, tag]`; it writes them through `textContent`.
Kinds: "" as it is, `alt` every second chunk, `now` the chunk of this step, `held`, `later`, `id` restored, `gone`
dropped, `no` unresolved, `hid` a hidden character.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, Final

from inspector_app import words
from inspector_app.views.hidden import code_point, displayable
from inspector_app.views.hidden import pieces as visible_pieces
from inspector_app.views.spaces import family, tag
from inspector_app.views.streamed import Streamed
from modelcontext_core.chunking import CHANNELS, ChannelKey
from modelcontext_core.limits import MAX_HELD_CHARACTERS
from modelcontext_core.simulate import Held, Piece, Step
from modelcontext_core.stream_check import CutFailure, CutReport

__all__ = ["failure_lines", "next_in", "step_view", "stream_facts"]

SHOWN_BEFORE: Final = 3000  # characters of a text shown before the step, and after it
SHOWN_AFTER: Final = 1500
MOST_SHOWN_HELD: Final = 600
_DEEPEST_SHOWN: Final = 2000  # of one piece that went out
Segment = list[str]


def step_view(streamed: Streamed, number: int) -> dict[str, Any]:
    """Return everything that the component draws of step `number`."""
    step = streamed.steps[number - 1]
    return {
        "came": _came(streamed, step),
        "held": _held(streamed, step),
        "out": _out(streamed, step),
        "whose": words.streams.whose_handles(streamed.subject.known, streamed.subject.registry_kind == "trace"),
        "texts": [_channel(streamed, key, step) for key in sorted(streamed.simulation.inputs, key=_order)],
    }


def next_in(numbers: Sequence[int], number: int) -> int | None:
    """Return the first of `numbers` above `number`, else the first of all (one goes round); None when there is none."""
    if not numbers:
        return None
    return numbers[bisect_right(numbers, number) % len(numbers)]


def _order(key: ChannelKey) -> tuple[int, int]:
    wanted = ("reasoning", "text", "arguments")
    assert set(wanted) == set(CHANNELS)
    return wanted.index(key[0]), key[1]


# --- the three bands


def _came(streamed: Streamed, step: Step) -> dict[str, Any]:
    if step.key is None:
        return {"sub": words.streams.AT_END, "groups": [], "empty": words.streams.NOTHING_CAME}
    text = streamed.simulation.came_in(step)
    timed = step.time is not None
    return {
        "sub": words.streams.chunk_line(step.number, len(text), step.time or 0.0, timed, streamed.assumed),
        "groups": [
            {
                "label": _channel_label(streamed, step.key),
                "segments": _never_blank(text, list(_visible("", text))),
            }
        ],
        "empty": words.streams.NOTHING_CAME,
    }


def _never_blank(text: str, segments: list[Segment]) -> list[Segment]:
    """Spaces and line ends alone are named: nobody would see them."""
    if not text or text.strip(" \n\t"):
        return segments
    lines = text.count("\n")
    return [["hid", words.streams.blanks(len(text) - lines, lines), "", ""]]


def _held(streamed: Streamed, step: Step) -> dict[str, Any]:
    steps = streamed.steps
    texts = [held for held in step.held if held.stage != "arguments"]
    since = min((held.since for held in texts or step.held), default=step.number)
    began, now = steps[since - 1].time, step.time
    timed = began is not None and now is not None
    wait = now - began if began is not None and now is not None else float(step.number - since)
    length = sum(held.end - held.start for held in step.held)
    return {
        "sub": words.streams.held_line(length, wait, timed),
        "holding": bool(step.held),
        "rows": [_held_row(streamed, held) for held in [*texts, *(h for h in step.held if h.stage == "arguments")]],
        "empty": words.streams.NOTHING_HELD,
    }


def _held_row(streamed: Streamed, held: Held) -> dict[str, Any]:
    text = streamed.simulation.source(held)
    cut = len(text) - MOST_SHOWN_HELD
    shown = list(_visible("held", text[max(cut, 0) :]))
    if cut > 0:
        shown.insert(0, ["", words.streams.left_out(cut), "", ""])
    name = displayable(streamed.names.get(held.key, ""))
    return {
        "stage": words.streams.STAGES[held.stage],
        "name": name if held.stage == "arguments" else "",
        "segments": shown,
        "why": words.streams.WHY[held.stage],
    }


def _out(streamed: Streamed, step: Step) -> dict[str, Any]:
    """What went out, channel by channel: at the end of a stream several may."""
    pieces: dict[ChannelKey, list[Piece]] = {}
    for piece in step.pieces:
        pieces.setdefault(piece.key, []).append(piece)
    groups = []
    for key in sorted(pieces, key=_order):
        segments = [segment for piece in pieces[key] for segment in _piece(streamed, piece, with_dropped=True)]
        written = "".join(piece.text or "x" for piece in pieces[key])
        groups.append({"label": _channel_label(streamed, key), "segments": _never_blank(written, segments)})
    return {
        "sub": words.streams.characters(step.sent),
        "groups": groups,
        "empty": words.streams.NOTHING_OUT if step.held else words.streams.NOTHING_HELD,
    }


def _piece(streamed: Streamed, piece: Piece, *, with_dropped: bool = False) -> Iterator[Segment]:
    source = streamed.simulation.source(piece)
    if piece.kind == "dropped":
        if with_dropped:
            yield from ([kind or "gone", *rest] for kind, *rest in _visible("", source))
        return
    text = piece.text if len(piece.text) <= _DEEPEST_SHOWN else piece.text[:_DEEPEST_SHOWN] + words.streams.UNTIL
    if piece.kind == "restored" and piece.rule == "arguments":
        yield from _restored_call(streamed, source, text)
    elif piece.kind == "restored":
        handle, space = streamed.handles.get((piece.key, piece.start), ("", ""))
        yield ["id", displayable(text), family(space) if space else "mcp", tag(handle, space) if handle else ""]
    else:
        yield from _visible("no" if piece.kind == "unresolved" else "", text)


def _restored_call(streamed: Streamed, source: str, text: str) -> Iterator[Segment]:
    """The arguments of a call with the ids marked whose handles the model wrote in it."""
    rows = {row.durable: row for row in streamed.subject.registry.handles() if row.handle in source}
    at = 0
    known = sorted(map(re.escape, rows), key=len, reverse=True)
    for match in re.finditer("|".join(known), text) if known else ():
        row = rows[match[0]]
        yield from _visible("", text[at : match.start()])
        yield ["id", displayable(match[0]), family(row.space), tag(row.handle, row.space)]
        at = match.end()
    yield from _visible("", text[at:])


def _visible(kind: str, text: str) -> Iterator[Segment]:
    for piece, hidden in visible_pieces(text):
        yield ["hid", code_point(piece), "", ""] if hidden else [kind, piece, "", ""]


# --- both texts


def _channel_label(streamed: Streamed, key: ChannelKey) -> dict[str, str]:
    """The channel, named where there are several; the tool's name is text of the trace."""
    several = len(streamed.simulation.inputs) > 1
    return {"text": words.streams.CHANNELS[key[0]] if several else "", "name": displayable(streamed.names.get(key, ""))}


def _channel(streamed: Streamed, key: ChannelKey, step: Step) -> dict[str, Any]:
    return {
        "label": _channel_label(streamed, key),
        "mono": key[0] == "arguments",
        "left": _written(streamed, key, step),
        "right": _seen(streamed, key, step),
    }


def _written(streamed: Streamed, key: ChannelKey, step: Step) -> list[Segment]:
    """The model's text of one channel around the step: chunk by chunk, what is held, what is still to come."""
    text, chunks = streamed.simulation.inputs[key], streamed.chunks_of(key)
    known = bisect_right(chunks, step.number, key=lambda each: each.number)
    until = chunks[known - 1].end if known else 0
    start, end = max(0, until - SHOWN_BEFORE), min(len(text), until + SHOWN_AFTER)
    held = next((held.start for held in step.held if held.key == key), until)
    segments: list[Segment] = []
    if start:
        segments.append(["later", words.streams.left_out(start), "", ""])
    first = bisect_right(chunks, start, key=lambda each: each.end)
    for number, chunk in enumerate(chunks[first:], first):
        if chunk.start >= end:
            break
        kinds = ["alt"] if number % 2 else []
        now = ["now"] if chunk.number == step.number else []
        border = min(max(chunk.start, held), chunk.end)
        for a, b in ((chunk.start, border), (border, chunk.end)):
            if b > a:
                state = ["later"] if a >= until else ["held"] if a >= held else []
                segments += _visible(" ".join(kinds + state + now), text[max(a, start) : min(b, end)])
    if end < len(text):
        segments.append(["later", words.streams.left_out(len(text) - end), "", ""])
    return segments


def _seen(streamed: Streamed, key: ChannelKey, step: Step) -> list[Segment]:
    """What the reader has of one channel after the step."""
    sent = streamed.sent_of(key)
    known = bisect_right(sent, step.number, key=lambda each: each[0])
    first, length = known, 0
    while first and length < SHOWN_BEFORE:
        first -= 1
        length += len(sent[first][1].text)
    left = sum(len(piece.text) for _, piece in sent[:first])
    segments: list[Segment] = [["later", words.streams.left_out(left), "", ""]] if left else []
    for _, piece in sent[first:known]:
        segments += _piece(streamed, piece)
    return segments


# --- the line of facts


def stream_facts(streamed: Streamed, report: CutReport) -> list[dict[str, str]]:
    """Return the facts of the proof line: what was checked, the most that was held, the longest wait."""
    facts = [
        _tally_fact("single", words.streams.FACT_SINGLE, report),
        _tally_fact("multi", words.streams.FACT_MULTI, report),
        _tally_fact("characters", words.streams.FACT_CHARACTERS, report),
    ]
    if len(streamed.simulation.inputs) > 1:
        facts.append(_tally_fact("interleaved", words.streams.FACT_INTERLEAVED, report))
    if "bytes" in report.tallies:
        facts.append(_tally_fact("bytes", words.streams.FACT_BYTES, report))
    facts.append(
        {
            "key": "held",
            "label": words.streams.FACT_HELD,
            "value": f"{streamed.simulation.most_held:,}",
            "sub": words.streams.limit(MAX_HELD_CHARACTERS, bool(streamed.names)),
        }
    )
    wait = streamed.simulation.longest_wait
    facts.append(
        {
            "key": "delay",
            "label": words.streams.FACT_DELAY,
            "value": words.streams.fact_delay(wait or 0.0, streamed.longest_wait, wait is not None),
            "sub": words.streams.ASSUMED_SHORT if streamed.assumed else words.streams.LONGEST_WAIT,
        }
    )
    return facts


def _tally_fact(kind: Any, label: str, report: CutReport) -> dict[str, str]:
    tally = report.tallies.get(kind)
    fact = {"key": str(kind), "label": label}
    if tally is None or not tally.done:
        return {**fact, "value": words.streams.NOT_CHECKED, "tone": "muted"}
    told = words.streams.equal(tally.equal, tally.done if tally.equal < tally.done else tally.total)
    beside = (
        words.streams.seed_line(report.seed) if kind == "multi" else words.streams.tried(tally.total, tally.possible)
    )
    if tally.equal < tally.done:
        return {**fact, "value": f"✕ {told}", "tone": "fault", "sub": beside}
    if tally.done < tally.total:
        return {**fact, "value": words.streams.so_far(tally.equal, tally.total), "tone": "muted", "sub": beside}
    return {**fact, "value": f"✓ {told}", "tone": "good", "sub": beside}


def failure_lines(failure: CutFailure) -> list[dict[str, Any]]:
    """Return the smallest failing cut as numbered lines; the last two say what came out and what should have."""
    lines = failure.as_text().splitlines()
    return [{"number": n, "text": line.strip(), "bad": n == len(lines) - 1} for n, line in enumerate(lines, 1)]
