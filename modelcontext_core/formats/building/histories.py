"""Histories that repeat themselves: each span, state or log record tells the whole conversation again, told once here.

A reader tells the turns of one record to a scratch conversation and gives them to `Histories.add`, together with the
group (trace, session) they belong to. The turns go on with the conversation of which they repeat the beginning, open a
branch where they differ from it, or begin a conversation of their own. Turns are compared by what they say
(`Turn.marks`), not by how a source writes it; reasoning is not compared, since histories leave it out.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Mark, Turn
from modelcontext_core.formats.nodes import Node

__all__ = ["Histories", "Thread"]

_SYSTEM: Final = frozenset({"system", "developer"})
_CANDIDATES: Final = 50  # threads with the same beginning that are compared
_REPEATED: Final = "messages that several records repeat are told once"


class _OpenCalls:
    """Calls that no tool's span has answered yet, found by id, by what they call, or by name."""

    def __init__(self) -> None:
        self._calls: dict[int, tuple[str, int]] = {}
        self._by: defaultdict[Mark, deque[int]] = defaultdict(deque)
        self._number = 0

    def add(self, mark: Mark, call_id: str, turn: int) -> None:
        """A call with its id and the number of its turn."""
        self._number += 1
        self._calls[self._number] = call_id, turn
        for key in (("id", call_id), mark, ("name", mark[1])):
            self._by[key].append(self._number)

    def find(self, keys: Iterable[Mark]) -> tuple[str, int] | None:
        """The first open call under the first of `keys` that has one: its id and turn. It is open no more."""
        for key in keys:
            queue = self._by.get(key)
            while queue:
                number = queue.popleft()
                if number in self._calls:
                    return self._calls.pop(number)
        return None

    def shift(self, index: int) -> None:
        """A turn was put in at `index`."""
        self._calls = {key: (call_id, turn + (turn >= index)) for key, (call_id, turn) in self._calls.items()}


class Thread:
    """One conversation and what was said in it so far. `said` pairs each mark with the number of its turn."""

    def __init__(self, conversation: ConversationBuilder, group: str) -> None:
        self.conversation = conversation
        self.group = group
        self.agent = ""
        self.said: list[tuple[Mark, int]] = []
        self.marks: set[Mark] = set()
        self.system: set[Mark] = set()
        self.weak: set[Mark] = set()
        self.answered: set[str] = set()
        self.results: set[int] = set()  # the numbers of turns that hold a result
        self._open = _OpenCalls()

    def take(self, turn: Turn, index: int | None = None, *, waiting: bool = True) -> None:
        """Add a turn: at the end, or as the turn of number `index`. Its calls are `waiting` for a tool's span."""
        conversation = self.conversation
        place = conversation.turns if index is None else index
        if index is not None:
            self.said = [(mark, number + (number >= index)) for mark, number in self.said]
            self.results = {number + (number >= index) for number in self.results}
            self._open.shift(index)
        for mark, call_id in zip(turn.marks(), turn.call_ids(), strict=True):
            if mark[0] == "call" and waiting:
                self._open.add(mark, call_id, place)
            elif mark[0] == "result":
                self.results.add(place)
                self.answered.add(call_id)
            self.heard(mark, place)
        conversation.put(turn, index)

    def heard(self, mark: Mark, place: int) -> None:
        """Remember what was said in the turn of this number."""
        if is_system(mark):
            self.system.add(mark)
        elif mark[0] == "weak":
            self.weak.add(mark)
        else:
            self.said.append((mark, place))
            self.marks.add(mark)

    def turn_of_call(self, called: Sequence[Mark], call_id: str, *, by_name: bool) -> tuple[str, int] | None:
        """The call with this id, else the first that calls the same (`by_name`: else the first of the same name); only
        calls that were not asked for before. Gives its id and the number of its turn."""
        keys: list[Mark] = [("id", call_id)] if call_id else []
        keys += called
        return self._open.find([*keys, ("name", called[0][1])] if by_name else keys)


def is_system(mark: Mark) -> bool:
    """True for a text of the system prompt."""
    return mark[0] == "text" and mark[1] in _SYSTEM


class Histories:
    """All conversations of a source. `across`: records of different groups may go on with the same conversation, when
    they repeat all of it with an answer in it."""

    def __init__(self, builder: Builder, *, across: bool = False) -> None:
        self.builder = builder
        self.across = across
        self.threads: list[Thread] = []
        self._by_start: dict[tuple[str, Mark], list[Thread]] = {}
        self._latest: dict[str, Thread] = {}
        self._side: ConversationBuilder | None = None

    def side(self, title: str) -> ConversationBuilder:
        """The conversation for what stands beside the messages."""
        if self._side is None:
            self._side = self.builder.conversation(title=f"beside {title}")
        return self._side

    def latest(self, group: str) -> Thread | None:
        """The conversation of a group that was added to last."""
        return self._latest.get(group)

    def groups(self, group: str) -> Iterator[Thread]:
        """The conversations of a group, the latest first."""
        return (thread for thread in reversed(self.threads) if thread.group == group)

    def add(
        self, turns: Sequence[Turn], group: str = "", *, agent: str = "", title: str = "", where: Node | None = None
    ) -> Thread:
        """Tell the turns of one record: what is new of them is added to the conversation that they go on with."""
        marks = [mark for turn in turns for mark in turn.marks()]
        compared = [mark for mark in marks if mark[0] != "weak" and not is_system(mark)]
        system = {mark for mark in marks if is_system(mark)}
        thread = self._find(compared, system, group, agent)
        if thread is None and turns and not any(mark[:1] == ("text",) and mark[1] != "assistant" for mark in compared):
            thread = self._latest.get(group)  # an answer alone: there is no history that could tell
        if thread is None:
            thread = self._new(group, title)
            thread.agent = agent
            for turn in turns:
                thread.take(turn)
            self._index(thread, compared)
        else:
            thread = self._go_on(thread, turns, compared, title, where)
        self._latest[thread.group] = self._latest[group] = thread
        return thread

    def answer(self, thread: Thread, turns: Sequence[Turn], since: int) -> None:
        """Add turns that are known to answer the first `since` marks of a conversation."""
        self._latest[thread.group] = thread
        self._add_new(thread, turns, since)

    def insert(self, thread: Thread, turn: Turn, index: int) -> None:
        """Put a turn into the middle of a conversation; its branches move with what they come after."""
        if index >= thread.conversation.turns:
            thread.take(turn)
            return
        thread.take(turn, index)
        for other in self.threads:
            branch = other.conversation
            if branch.parent and branch.parent == thread.conversation.id and branch.after > index:
                branch.after += 1

    def _new(self, group: str, title: str, parent: Thread | None = None, after: int = 0) -> Thread:
        if parent is not None:
            parent.conversation.id = parent.conversation.id or f"history-{self.threads.index(parent) + 1}"
            name = f"history-{len(self.threads) + 1}"
            made = self.builder.conversation(id=name, title=title, parent=parent.conversation.id, after=after)
        else:
            made = self.builder.conversation(title=title)
        thread = Thread(made, group)
        self.threads.append(thread)
        return thread

    def _index(self, thread: Thread, compared: Sequence[Mark]) -> None:
        if compared:
            for group in {thread.group, "*"} if self.across else {thread.group}:
                self._by_start.setdefault((group, compared[0]), []).append(thread)

    def _find(self, compared: Sequence[Mark], system: set[Mark], group: str, agent: str) -> Thread | None:
        """The conversation with the longest common beginning; another agent's (other system prompt) does not count."""
        if not compared:
            return self._latest.get(group)
        best: tuple[int, int, Thread] | None = None
        for thread in self._by_start.get((group, compared[0]), [])[-_CANDIDATES:]:
            if thread.agent and agent and thread.agent != agent:
                continue
            other_agent = bool(thread.system and system and not thread.system & system)
            length = _common(thread.said, compared)
            if not (other_agent and length < 3) and (best is None or (length, -len(thread.said)) > best[:2]):
                best = (length, -len(thread.said), thread)
        if best is None and self.across:
            for thread in self._by_start.get(("*", compared[0]), [])[-_CANDIDATES:]:
                length = _common(thread.said, compared)
                answered = any(mark[0] == "call" or mark[1] == "assistant" for mark, _ in thread.said[:length])
                if answered and (best is None or length > best[0]):
                    best = (length, 0, thread)
        return best[2] if best else None

    def _go_on(
        self, thread: Thread, turns: Sequence[Turn], compared: Sequence[Mark], title: str, where: Node | None
    ) -> Thread:
        length = _common(thread.said, compared)
        said = Counter(mark for mark, _ in thread.said[length:])
        rest = Counter(compared[length:])
        if length and said - rest and rest - said:
            after = 1 + max(number for _, number in thread.said[:length])
            return self._branch(thread, turns, compared, length, after, title)
        if self._add_new(thread, turns, 0) and where is not None:
            self.builder.notice("merged", where, _REPEATED)
        return thread

    def _add_new(self, thread: Thread, turns: Sequence[Turn], since: int) -> bool:
        """Add what was not said from the mark `since` on. True when some of it was."""
        position = thread.conversation.turns
        repeated = False
        told = Counter(mark for mark, _ in thread.said[since:])
        for turn in turns:
            wanted, again = _new_items(turn, told, thread)
            repeated = repeated or again
            turn.keep(wanted)
            if not any(wanted) and (wanted or not turn.is_error):
                continue
            if position and not thread.system and any(is_system(mark) for mark in turn.marks()):
                self.insert(thread, turn, 0)
            else:
                thread.take(turn)
        return repeated

    def _branch(
        self, thread: Thread, turns: Sequence[Turn], compared: Sequence[Mark], length: int, after: int, title: str
    ) -> Thread:
        """A conversation of what comes after the common beginning."""
        branch = self._new(thread.group, title, thread, after)
        branch.agent = thread.agent
        branch.system = set(thread.system)
        branch.weak = set(thread.weak)
        for mark, _ in thread.said[:length]:
            branch.heard(mark, -1)
        told = Counter(mark for mark, _ in thread.said[:length])
        for turn in turns:
            wanted, _ = _new_items(turn, told, branch)
            turn.keep(wanted)
            if any(wanted):
                branch.take(turn)
        self._index(branch, compared)
        return branch


def _common(said: Sequence[tuple[Mark, int]], compared: Sequence[Mark]) -> int:
    """How many marks two histories share from their beginning."""
    length = 0
    for (mark, _), other in zip(said, compared, strict=False):
        if mark != other:
            break
        length += 1
    return length


def _new_items(turn: Turn, told: Counter[Mark], thread: Thread) -> tuple[list[bool], bool]:
    """Which items of a turn were not told yet, and whether some were. Counts down what is repeated."""
    wanted = []
    again = False
    for mark in turn.marks():
        if mark[0] == "weak":
            wanted.append(mark not in thread.weak)
            continue
        if is_system(mark):
            known = mark in thread.system
        else:
            known = told[mark] > 0
            told[mark] -= known
        again = again or known
        wanted.append(not known)
    if again and not any(new for new, mark in zip(wanted, turn.marks(), strict=True) if mark[0] != "weak"):
        wanted = [False] * len(wanted)
    return wanted, again
