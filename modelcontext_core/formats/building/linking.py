"""Which result answers which call: by id, else by name and order, else by position. What stays alone is reported."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from modelcontext_core.formats.base import NoticeKind
from modelcontext_core.formats.building.turns import CallDraft, Draft, Turn

if TYPE_CHECKING:
    from modelcontext_core.formats.nodes import Node

__all__ = ["link"]

Notify = Callable[[NoticeKind, "Node | str", str], None]


def link(drafts: list[Draft], last: Turn | None, notice: Notify) -> None:
    """Give every result the id and the name of its call, and make ids where the source has none. `last` is the turn
    with which the conversation ends.

    An id that several calls use belongs to the first of them that has no result yet; a result that stands before its
    call belongs to it when nothing after the call answers it. Names that the source gives are kept.
    """
    taken = {call.id for draft in drafts for call in draft.calls} | {draft.call_id for draft in drafts}
    calls = _Calls()
    early: list[Draft] = []
    made = 0
    for draft in drafts:
        for call in draft.calls:
            if not call.id:
                made += 1
                while f"made-{made}" in taken:
                    made += 1
                call.id, call.made = f"made-{made}", True
            elif calls.knows(call.id):
                notice("fallback", draft.where, "a call id is used again: results go to the first call without one")
            calls.add(call, draft)
        if draft.role == "tool" and not _answer(draft, calls, notice):
            early.append(draft)
    for draft in early:
        _answer_late(draft, calls, notice)
    for draft in calls.open():
        if draft.turn is last:
            notice("orphan", draft.where, "a call has no result: the conversation ends with it")
        else:
            notice("orphan", draft.where, "a call has no result")


class _Calls:
    """Calls in order, with those that wait for a result. Each question costs the same, however many calls there are."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[CallDraft, Draft]] = {}
        self._last: dict[str, CallDraft] = {}
        # Answered calls are dropped from the front of a queue when somebody looks.
        self._by_id: defaultdict[str, deque[CallDraft]] = defaultdict(deque)
        self._by_name: defaultdict[str, deque[CallDraft]] = defaultdict(deque)
        self._in_order: deque[CallDraft] = deque()

    def add(self, call: CallDraft, draft: Draft) -> None:
        """A call was made."""
        self._waiting[id(call)] = (call, draft)
        self._last[call.id] = call
        for queue in (self._by_id[call.id], self._by_name[call.name], self._in_order):
            queue.append(call)

    def knows(self, call_id: str) -> bool:
        """Was there a call with this id?"""
        return call_id in self._last

    def with_id(self, call_id: str) -> tuple[CallDraft | None, bool]:
        """The call that a result with this id answers, and whether that call has a result already."""
        if call_id not in self._last:
            return None, False
        first = self._first(self._by_id[call_id])
        return (self._last[call_id], True) if first is None else (first, False)

    def waiting(self, name: str) -> CallDraft | None:
        """The first call without a result, of this name if one is given."""
        if not name:
            return self._first(self._in_order)
        return self._first(self._by_name[name]) if name in self._by_name else None

    def answered(self, call: CallDraft) -> None:
        """A call has its result."""
        self._waiting.pop(id(call), None)

    def open(self) -> list[Draft]:
        """The messages of the calls without a result."""
        return [draft for _, draft in self._waiting.values()]

    def _first(self, queue: deque[CallDraft]) -> CallDraft | None:
        while queue and id(queue[0]) not in self._waiting:
            queue.popleft()
        return queue[0] if queue else None


def _answer(draft: Draft, calls: _Calls, notice: Notify) -> bool:
    """Link one result to a call before it; false when there is none."""
    call: CallDraft | None
    if draft.call_id:
        call, again = calls.with_id(draft.call_id)
        if again:
            notice("fallback", draft.where, "a second result with the id of one call")
    else:
        call = calls.waiting(draft.name)
        if call is not None:
            known = "of its name" if draft.name else "at all (it has no name either)"
            notice("fallback", draft.where, f"a result without an id: linked to the first open call {known}")
            draft.call_id, draft.made_id = call.id, True
    if call is None:
        return False
    calls.answered(call)
    draft.name = draft.name or call.name or draft.turn.fallback_name
    return True


def _answer_late(draft: Draft, calls: _Calls, notice: Notify) -> None:
    """Link a result that no call before it explains to one behind it that nothing answers, by its id."""
    call, again = calls.with_id(draft.call_id) if draft.call_id else (None, False)
    if call is None or again:
        draft.name = draft.name or draft.turn.fallback_name
        notice("orphan", draft.where, "a result without its call")
        return
    calls.answered(call)
    draft.name = draft.name or call.name or draft.turn.fallback_name
    notice("fallback", draft.where, "a result stands before its call")
