"""Several traces as one, for those who want a whole file at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from modelcontext_core.formats.base import Conversation, Scalar, StreamChunk, Trace
from modelcontext_core.formats.building.notices import NoticeList

__all__ = ["merged"]


def merged(traces: Iterable[Trace]) -> Trace:
    """One trace with all conversations, under ids of their own. Its format is the one that most records have.

    Of a key of `meta` the first value counts.
    """
    formats: Counter[str] = Counter()
    conversations: list[Conversation] = []
    stream: list[StreamChunk] = []
    notices = NoticeList()
    meta: dict[str, Scalar] = {}
    taken: set[str] = set()
    number = 0
    for number, trace in enumerate(traces, 1):
        if trace.format:
            formats[trace.format] += max(1, len(trace.conversations))
        conversations += _with_own_ids(trace.conversations, taken, number)
        stream += trace.stream
        for notice in trace.notices:
            notices.add(notice.kind, notice.where, notice.text)
        for key, value in trace.meta.items():
            meta.setdefault(key, value)
    if len(formats) > 1:
        names = ", ".join(f"{name} ({count:,})" for name, count in formats.most_common())
        notices.add("fallback", "", f"the records are of several formats: {names}")
    return Trace(
        format=formats.most_common(1)[0][0] if formats else "",
        conversations=tuple(conversations),
        stream=tuple(stream),
        notices=notices.all(),
        meta=meta,
    )


def _with_own_ids(conversations: Iterable[Conversation], taken: set[str], number: int) -> list[Conversation]:
    """The conversations of one trace; an id that another trace has already is made different, for parents too."""
    renamed: dict[str, str] = {}
    result = []
    for conversation in conversations:
        fresh = conversation.id
        suffix = number
        while fresh in taken:
            fresh = f"{conversation.id}#{suffix}"
            suffix += 1
        taken.add(fresh)
        renamed[conversation.id] = fresh
        result.append((conversation, fresh))
    return [
        replace(conversation, id=fresh, parent=renamed.get(conversation.parent, conversation.parent))
        if fresh != conversation.id or conversation.parent in renamed
        else conversation
        for conversation, fresh in result
    ]
