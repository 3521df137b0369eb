"""Search in a stream: the steps in which words came in whole, or went out whole."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import accumulate

from inspector_app.views.streamed import Streamed

__all__ = ["steps_with"]


def steps_with(streamed: Streamed, query: str) -> list[int]:
    """Return the steps, in order, with whose chunk `query` is complete on either side, ignoring case; of every channel.

    What the model wrote is searched, and what the reader sees: an id is found where it was restored.
    """
    wanted = re.compile(re.escape(query.strip()), re.IGNORECASE)
    if not wanted.pattern:
        return []
    found: set[int] = set()
    for key, text in streamed.simulation.inputs.items():
        chunks = streamed.chunks_of(key)
        ends = [chunk.end for chunk in chunks]
        found.update(chunks[bisect_left(ends, match.end())].number for match in wanted.finditer(text))
        sent = streamed.sent_of(key)
        seen = list(accumulate(len(piece.text) for _, piece in sent))
        written = "".join(piece.text for _, piece in sent)
        found.update(sent[bisect_left(seen, match.end())][0] for match in wanted.finditer(written))
    return sorted(found)
