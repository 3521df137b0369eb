"""Calls into the core for the pages: traces that are held in memory, and what was found out about them.

Nothing here imports Streamlit. A trace that was pasted or uploaded lives in the server's memory, under a random key of
128 bits that only the tab of its user has, for 15 minutes after it was last looked at; whoever has the key has the
trace, and nobody can guess one. What was computed about a trace lives and goes with it.
"""

from __future__ import annotations

import hashlib
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

from inspector_app import tidying
from inspector_app.encoding import encode
from inspector_app.shelf import Shelf, new_key
from inspector_app.views.analysis import Analysis, Proof
from inspector_app.views.linked import Part, plan, view_part
from inspector_app.views.texts import all_texts
from inspector_app.views.write_back import can_write_back
from modelcontext_core import formats, tokens
from modelcontext_core.formats.base import Conversation, Trace
from modelcontext_core.grammar import find_uuids
from modelcontext_core.leak_report.encoded import Preceding, preceding
from modelcontext_core.leaks import IdentifierLeak
from modelcontext_core.messages import ChunkReference, Message
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies
from modelcontext_core.registry import EncodeReport, Registry
from modelcontext_core.roundtrip import check_round_trip

__all__ = [
    "Held",
    "Options",
    "analyse",
    "can_be_written_back",
    "hold",
    "open_bytes",
    "open_path",
    "part",
    "parts",
    "prove",
    "shelf",
]

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_ANALYSES_HELD: Final = 3
# Of memory, by `Held.weight`: the traces of all tabs together. One that is larger is held alone.
_MOST_HELD_BYTES: Final = 768 * 1024 * 1024
# Its texts, the same with handles, and about as much again for what was found in them and is drawn of them (measured).
_TIMES_ITS_TEXTS: Final = 3
_EMPTY: Final = Trace(format="", conversations=(Conversation(),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What an analysis depends on: the conversation, citations, the pack, the rules switched off, the encoding of the
    token count.

    `conversation` counts from 1; 0 is the first that holds messages. `own` is the reader's own pack as TOML, as
    `ToolPolicies.dumps` writes it; it counts where `pack` is "own".
    """

    citations: bool = True
    pack: str = "auto"
    off: frozenset[int] = frozenset()
    encoding: str = tokens.ENCODINGS[0]
    as_result: bool = False
    conversation: int = 0
    own: str = ""


@dataclass(slots=True, kw_only=True)
class Held:
    """A trace in memory: what was read, the bytes it came from, its name, and the analyses made of it."""

    trace: Trace
    data: bytes
    name: str
    key: str
    digest: str
    analyses: OrderedDict[Options, Analysis] = field(default_factory=OrderedDict)
    proofs: OrderedDict[Options, Proof] = field(default_factory=OrderedDict)
    plans: OrderedDict[tuple[bool, int], list[Part]] = field(default_factory=OrderedDict)
    size: int = 0  # of all that was read, where `data` is not kept
    drawn: OrderedDict[tuple[Options, int], dict[str, Any]] = field(default_factory=OrderedDict)
    streams: OrderedDict[object, object] = field(default_factory=OrderedDict)  # of `stream_runs`
    checks: dict[object, object] = field(default_factory=dict)
    writable: bool | None = None  # of `can_be_written_back`
    proving: dict[Options, object] = field(default_factory=dict)  # of `proving`
    lock: threading.Lock = field(default_factory=threading.Lock)
    weight: int = 0  # about how many bytes of memory it takes
    gone: bool = False

    def let_go(self) -> None:
        """Drop everything large. What was drawn of it in a tab may still name it, and a thread may work on it."""
        self.gone = True
        self.trace, self.data = _EMPTY, b""
        for known in (self.analyses, self.proofs, self.plans, self.drawn, self.streams, self.checks, self.proving):
            known.clear()

    @property
    def conversation(self) -> Conversation:
        """The conversation that is shown: the first that holds messages."""
        found = self.trace.conversations
        return next((each for each in found if each.messages), found[0])

    def number(self, wanted: int) -> int:
        """The number of the conversation that `shown` gives."""
        found = self.trace.conversations
        first = next((number for number, each in enumerate(found, 1) if each.messages), 1)
        return wanted if 0 < wanted <= len(found) else first

    def shown(self, number: int) -> Conversation:
        """One conversation by its number, counted from 1; 0 and a number that does not exist: the first.

        Of a branch these are its own messages.
        """
        return self.trace.conversations[self.number(number) - 1]

    def before(self, number: int) -> Preceding:
        """What a branch continues."""
        by_id = {each.id: each for each in self.trace.conversations if each.id}
        return preceding(self.shown(number), by_id)


def _fit(held: list[Held]) -> bool:
    return sum(one.weight for one in held) <= _MOST_HELD_BYTES


def _let_go(held: Held) -> None:
    held.let_go()
    tidying.soon()


_SHELF: Final[Shelf[Held]] = Shelf(fits=_fit, close=_let_go)


def shelf() -> Shelf[Held]:
    """The traces of this server."""
    return _SHELF


def hold(trace: Trace, data: bytes, name: str, size: int = 0) -> Held:
    """Hold a trace under a new key; the oldest go when all together are too large.

    `size` is that of the source where its bytes are not kept.
    """
    key, digest = new_key(), hashlib.sha256(data).hexdigest()[:16]
    held = Held(trace=trace, data=data, name=name, key=key, digest=digest, size=size or len(data))
    held.weight = _weight(held)
    return _SHELF.put(key, held)


def _weight(held: Held) -> int:
    messages = (message for conversation in held.trace.conversations for message in conversation.messages)
    spoken = sum(sys.getsizeof(text) for message in messages for text in all_texts([message]))
    streamed = sum(sys.getsizeof(chunk.text) for chunk in held.trace.stream)
    return len(held.data) + _TIMES_ITS_TEXTS * (spoken + streamed)


def open_bytes(data: bytes, name: str, format_name: str = "") -> Held:
    """Read `data` and hold the trace. Raises `UnreadableTrace` with place and reason."""
    return hold(formats.read(data, name=name, format=format_name or None), data, name)


def open_path(path: Path, format_name: str = "") -> Held:
    """Read a file of this machine and hold the trace. Raises `OSError` and `UnreadableTrace`."""
    return open_bytes(path.read_bytes(), path.name, format_name)


def analyse(held: Held, options: Options) -> Analysis:
    """Return a trace encoded under `options`; the last few are remembered with the trace."""
    with held.lock:
        return _remembered(held.analyses, replace(options, encoding=""), lambda: _analyse(held, options))


def prove(held: Held, options: Options, step: Callable[[float], None] = lambda _: None) -> Proof:
    """Return what is proven about a trace under `options`; the last few are remembered with the trace.

    `step` is told after each step how much is done, from 0 to 1; what it raises ends the proof.
    """
    analysis = analyse(held, options)
    with held.lock:
        known = held.proofs.get(options)
    # Not under the lock: what takes so long may not keep the pages waiting.
    proof = known or _prove(analysis, options, step)
    with held.lock:
        return _remembered(held.proofs, options, lambda: proof)


def parts(held: Held, options: Options) -> list[Part]:
    """Return how the linked view cuts a trace."""
    analysis = analyse(held, options)
    with held.lock:
        return _remembered(held.plans, (options.as_result, options.conversation), lambda: plan(analysis.messages))


def part(held: Held, options: Options, number: int) -> dict[str, Any]:
    """Return one part of a trace as the linked view takes it; the last few are remembered with the trace."""
    analysis, cut = analyse(held, options), parts(held, options)
    with held.lock:
        key = (replace(options, encoding=""), number)
        return _remembered(held.drawn, key, lambda: view_part(analysis, cut, number))


def can_be_written_back(held: Held) -> bool:
    """Return whether the source of a trace can be written with handles for ids; all of it is looked at, once."""
    if held.writable is None:
        held.writable = can_write_back(held.trace, held.data)
    return held.writable


def _remembered(known: OrderedDict[_Key, _Value], key: _Key, make: Callable[[], _Value]) -> _Value:
    if key not in known:
        known[key] = make()
        while len(known) > _ANALYSES_HELD:
            known.popitem(last=False)
    known.move_to_end(key)
    return known[key]


def _analyse(held: Held, options: Options) -> Analysis:
    conversation, declared = held.shown(options.conversation), _declared(options)
    if options.as_result:
        pasted = tuple(replace(message, role="tool", name="pasted") for message in conversation.messages)
        conversation = replace(conversation, messages=pasted)
    before, messages = held.before(options.conversation), conversation.messages
    discovery = ToolPolicies.discover((*before.messages, *messages), base=declared)
    accepted = [rule for number, rule in enumerate(discovery.proposals) if number not in options.off]
    discovered = options.pack == "auto" and bool(accepted)
    policies = discovery.policies_for(accepted) if discovered else declared
    encoded = encode(conversation, before, policies, citations=options.citations)
    registry, report = encoded.registry, encoded.report
    _make_citable(registry, conversation, report)
    return Analysis(
        messages=messages,
        before=before,
        tools=conversation.tools,
        encoded=report.messages,
        spans=report.spans,
        handles=encoded.handles,
        leaks=tuple(registry.leaked_identifiers(report.messages)),
        user_ids=_user_ids(messages),
        registry=registry,
        discovered=discovered,
        proposals=discovery.proposals,
        off=options.off,
    )


def _declared(options: Options) -> ToolPolicies:
    """The pack under which reports count: the reader's own, else the built-in one."""
    return _own_pack(options.own) if options.pack == "own" and options.own else DEFAULT_POLICIES


@lru_cache(maxsize=8)
def _own_pack(text: str) -> ToolPolicies:
    return ToolPolicies.loads(text)


def _prove(analysis: Analysis, options: Options, step: Callable[[float], None]) -> Proof:
    registry, encoded = analysis.registry, analysis.encoded
    report = EncodeReport(messages=encoded, spans=analysis.spans)
    round_trip = check_round_trip(analysis.messages, report, registry)
    step(0.3)
    again = registry.encode_messages(encoded)
    changed_twice = sum(before != after for before, after in zip(encoded, again, strict=True))
    step(0.6)
    declared = _declared_leaks(analysis, options) if analysis.discovered else analysis.leaks
    step(0.9)
    before = tokens.count(all_texts(analysis.messages), options.encoding)
    after = tokens.count(all_texts(encoded), options.encoding)
    return Proof(
        round_trip=round_trip, changed_twice=changed_twice, declared_leaks=declared, before=before, after=after
    )


def _make_citable(registry: Registry, conversation: Conversation, report: EncodeReport) -> None:
    """Let answers cite what the tools of the trace returned.

    A replayed result alone makes its sources navigable only; when the tools ran, their results were the current ones,
    and the Decode panel shows an answer as it was decoded then. Numbers do not change by this.
    """
    returned = {
        span.handle
        for span in report.spans
        if report.messages[span.message].role == "tool" and not _failed(conversation, span.message)
    }
    for row in registry.handles():
        if row.handle in returned and row.space == "chunk":
            registry.register_chunk(ChunkReference(chunk_id=row.durable))
        elif row.handle in returned and row.space == "web":
            registry.register_web(row.durable)


def _failed(conversation: Conversation, message: int) -> bool:
    return message < len(conversation.origins) and conversation.origins[message].is_error


def _declared_leaks(analysis: Analysis, options: Options) -> tuple[IdentifierLeak, ...]:
    conversation = Conversation(messages=analysis.messages, tools=analysis.tools)
    encoded = encode(conversation, analysis.before, _declared(options), citations=options.citations)
    return tuple(encoded.registry.leaked_identifiers(encoded.report.messages))


def _user_ids(messages: Sequence[Message]) -> int:
    found = {
        text[start:end].lower()
        for message in messages
        if message.role == "user"
        for text in all_texts([message])
        for start, end in find_uuids(text)
    }
    return len(found)
