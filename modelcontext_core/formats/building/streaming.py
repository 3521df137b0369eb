"""What all captured streams share: pieces are logged as they came, and joined to the turn that they make.

A reader of a stream keeps one `StreamLog` for the source and one `StreamedTurn` for each turn. Both hold texts and the
first node of each block only, so that events can be let go while the stream is read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from modelcontext_core.formats.base import Channel
from modelcontext_core.formats.building.builder import Builder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.containers.jsonload import BadJson, loads
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Sample

__all__ = [
    "Block",
    "StreamLog",
    "StreamedTurn",
    "events_of",
    "first_events",
    "is_json",
    "raw_text",
    "seconds_of",
]

_TIME_KEYS: Final = ("created_at", "timestamp", "time", "ts", "received_at", "created")


def first_events(sample: Sample, count: int = 4) -> list[Node]:
    """What could be the first events of a stream: the first records, and what a record holds if it is a list (of the
    events that answer a request). The elements of an array that is the whole source are records by themselves."""
    nodes = list(sample.nodes[:count])
    if sample.container == "json" and len(nodes) == 1 and nodes[0].is_list:
        return []
    return [node.at(0) if node.is_list else node for node in nodes]


def events_of(nodes: Iterable[Node]) -> Iterator[Node]:
    """The records one by one, and those that stand in a list."""
    for node in nodes:
        if node.is_list:
            yield from node
        else:
            yield node


def seconds_of(node: Node) -> float | None:
    """When an event came, if it or a wrapper around it says so: an ISO time, or a number of (milli, micro…) seconds."""
    current: Node | None = node
    while current is not None:
        value = current.get(*_TIME_KEYS).value
        seconds = _seconds(value)
        if seconds is not None:
            return seconds
        current = current.parent
    return None


def _seconds(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if not abs(value) < 1e20:  # also for NaN
            return None
        seconds = float(value)
        while abs(seconds) >= 1e11:  # later than the year 5000: a finer unit
            seconds /= 1000
        return seconds
    if isinstance(value, str) and 8 <= len(value) <= 40:
        try:
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    return None


def raw_text(node: Node) -> str:
    """The exact source text of a value; a string that holds JSON text is that text."""
    if node.is_text:
        return node.text
    path = node.steps_from(None) or ()
    return node.document.slices([path]).get(path, "") if node.exists else ""


def is_json(text: str) -> bool:
    """Is this the text of one JSON value?"""
    try:
        loads(text.encode("utf-8", "surrogatepass"))
    except BadJson:
        return False
    return True


class StreamLog:
    """The pieces of a stream in the order they came. Their times are told only when they differ: many APIs write the
    time of the response into every event, which is no time of a piece."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._pieces: list[tuple[Channel, str, int, float | None, str]] = []
        self._times: tuple[float, float] | None = None
        self._indices: dict[tuple[int, int], int] = {}
        self._taken: set[int] = set()
        self._free = 0
        self._turns = 0

    def begin_turn(self) -> int:
        """A number for a new turn."""
        self._turns += 1
        return self._turns

    def index(self, turn: int, number: int) -> int:
        """The index of the pieces that a turn numbers so: the same, unless another turn has it already."""
        found = self._indices.get((turn, number))
        if found is None:
            found = self._free if number in self._taken else number
            self._indices[(turn, number)] = found
            self._taken.add(found)
            self._free = max(self._free, found + 1)
        return found

    def add(self, channel: Channel, text: str, node: Node, *, index: int = 0, name: str = "") -> None:
        """One piece that stands at (or below) the event `node`."""
        time = seconds_of(node)
        if time is not None:
            low, high = self._times or (time, time)
            self._times = min(low, time), max(high, time)
        self._pieces.append((channel, text, index, time, name))

    def tell(self) -> None:
        """Give all pieces to the builder."""
        timed = self._times is not None and self._times[0] != self._times[1]
        first = next((time for *_, time, _ in self._pieces if time is not None), 0.0)
        for channel, text, index, time, name in self._pieces:
            seconds = round(time - first, 6) if timed and time is not None else None
            self.builder.chunk(channel, text, index=index, time=seconds, name=name)
        self._pieces.clear()


class Block:
    """A text, a reasoning or a call in the making, or something that came whole (`whole` tells it)."""

    __slots__ = ("channel", "complete", "id", "name", "node", "number", "pieces", "signature", "whole")

    def __init__(self, channel: Channel, node: Node, number: int) -> None:
        self.channel = channel
        self.node = node
        self.number = number  # the index of its pieces in the log
        self.pieces: list[str] = []
        self.id = ""
        self.name = ""
        self.signature: list[str] = []
        self.complete = False  # a call whose end was seen, or whose arguments came whole
        self.whole: Callable[[Turn], None] | None = None

    @property
    def text(self) -> str:
        """All pieces so far."""
        return "".join(self.pieces)


class StreamedTurn:
    """The blocks of one turn, in the order in which they began."""

    def __init__(self, log: StreamLog) -> None:
        self._log = log
        self._number = log.begin_turn()
        self._blocks: dict[Hashable, Block] = {}

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def get(self, key: Hashable) -> Block | None:
        """The block that was begun under `key`."""
        return self._blocks.get(key)

    def block(self, key: Hashable, channel: Channel, node: Node, number: int = 0) -> Block:
        """The block under `key`, begun at `node` if it is new."""
        found = self._blocks.get(key)
        if found is None:
            found = self._blocks[key] = Block(channel, node, self._log.index(self._number, number))
        return found

    def add(self, key: Hashable, channel: Channel, node: Node, text: str, number: int = 0) -> None:
        """One piece of the block under `key`. An empty one is left out."""
        if text:
            self.append(self.block(key, channel, node, number), node, text)

    def append(self, block: Block, node: Node, text: str) -> None:
        """One piece of a block."""
        block.pieces.append(text)
        self._log.add(block.channel, text, node, index=block.number, name=block.name)

    def whole(self, node: Node, tell: Callable[[Turn], None]) -> None:
        """Something that came complete: `tell` gets the turn when its place in the order comes."""
        block = self._blocks[object()] = Block("text", node, 0)
        block.whole = tell

    def blocks(self) -> list[Block]:
        """All blocks in order."""
        return list(self._blocks.values())

    def tell(self, turn: Turn, *, cut: bool = False) -> None:
        """Tell the turn all blocks. `cut`: the stream broke off, so arguments may be incomplete."""
        for block in self._blocks.values():
            if block.whole is not None:
                block.whole(turn)
            elif block.channel == "text":
                turn.text(block.node, block.text)
            elif block.channel == "reasoning":
                turn.reasoning(block.node, block.text, signature="".join(block.signature))
            else:
                self._tell_call(turn, block, cut=cut)

    def _tell_call(self, turn: Turn, block: Block, *, cut: bool) -> None:
        arguments = block.text
        if not block.complete and (not is_json(arguments) if arguments else cut):
            text = "a streamed call whose arguments are incomplete: they are kept as far as they came"
            self._log.builder.notice("damaged", block.node, text)
        turn.call(block.node, id=block.id, name=block.name, arguments=arguments)
