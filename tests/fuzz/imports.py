"""Exported sessions, damaged as bytes and rewritten by somebody who knows the format, imported into every store.

A store takes the whole session or raises an error of the contract that names the line, and then is as it was; all
stores answer alike; what was taken verifies and leaves again as an export.
"""

from __future__ import annotations

import contextlib
import json
import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import psycopg

from modelcontext_core.contextstate import (
    ContextStateError,
    ContextStore,
    DamagedStoreError,
    ImportReport,
    MemoryStore,
    open_store,
)
from modelcontext_core.contextstate.stores.transfer import ChainWriter
from tests.contextstate.builders import Clock, commit, fill, grow, payload
from tests.fuzz import mutations
from tests.fuzz.readers import SAMPLES
from tests.fuzz.running import SHARED
from tests.postgres import postgres_server

__all__ = ["exports", "run"]

_EXTRA: Final = ("s", "t", "op-1", "key of op-1", "compliance", 1, 2, 3, 2**63, 2**64 - 1, 2**64, "a" * 129, True, "")
_server: list[str] = []


def _filled() -> ContextStore:
    """A store with a session that has everything, and another one that shares a payload with it."""
    store = MemoryStore(clock=Clock())
    fill(store)
    grow(store, "t", commits=2)
    store.put(payload(b"a" * 100, "t"))
    return store


@cache
def exports() -> dict[str, list[bytes]]:
    """Sound exports by name; `longer` is `whole` with one commit more, `other` another session of that name."""
    filled = _filled()
    made = {"whole": list(filled.export("s")), "small": list(filled.export("t"))}
    last = filled.session("s")
    filled.checkpoint(commit("op-4", expected=last.revision, binding=last.binding, turn=9))
    made["longer"] = list(filled.export("s"))
    other = MemoryStore(clock=Clock())
    grow(other, "s", commits=2)
    made["other"] = list(other.export("s"))
    for path in sorted(SAMPLES.glob("session_store*.jsonl")):
        made[path.name] = path.read_bytes().splitlines(keepends=True)
    return made


def _rewritten(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    """Lines with a right chain over items of which one or more are mutated, moved, doubled or gone."""
    items: list[dict[str, Any]] = [json.loads(line)["item"] for line in lines]
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(items))
        kind = rng.random()
        if kind < 0.1:
            del items[at]
        elif kind < 0.2:
            items.insert(rng.randint(0, len(items)), items[at])
        elif kind < 0.3:
            items.insert(rng.randint(0, len(items)), items.pop(at))
        else:
            changed = mutations.mutated(rng, items[at], _EXTRA)
            items[at] = changed if isinstance(changed, dict) else {"type": "bytes"}
        if not items:
            return []
    writer = ChainWriter()
    written = []
    for item in items:
        # The writer is ours, not the attacker's: what it cannot write would not arrive either.
        with contextlib.suppress(ValueError, TypeError):
            rest = {key: value for key, value in item.items() if key != "type"}
            written.append(writer.line(str(item.get("type")), **rest))
    return written


def _file(rng: random.Random) -> bytes:
    name = rng.choice(("whole", "whole", "whole", "longer", "small", "other", *exports()))
    lines = exports()[name]
    kind = rng.random()
    if kind < 0.65:
        lines = _rewritten(rng, lines)
    data = b"".join(lines)
    if kind > 0.95 or not data:
        return data
    return data if kind < 0.6 else mutations.damaged(rng, data)


def _state(store: ContextStore) -> object:
    """All that a store holds, as the contract shows it."""
    found: list[object] = []
    for name in ("s", "t"):
        try:
            found.append((name, store.payloads(name, limit=1000), store.payload_totals(name)))
        except ContextStateError as error:
            found.append((name, str(error)))
    for head in store.sessions(limit=1000):
        assert store.verify(head.session_id).ok
        found.append((replace(head, committed_at=Clock().now), list(store.export(head.session_id))))
    return found


@contextlib.contextmanager
def _postgres() -> Iterator[str]:
    """An empty place in a server that this process started for its cases."""
    if not _server:
        _server.append(SHARED.enter_context(postgres_server()))
        SHARED.callback(_server.clear)
    with psycopg.connect(_server[0], autocommit=True) as connection:
        connection.execute("CREATE SCHEMA fuzz")
        try:
            yield f"{_server[0]}&options=-csearch_path%3Dfuzz"
        finally:
            connection.execute("DROP SCHEMA fuzz CASCADE")


def run(number: int) -> None:
    """Runs one case; raises `AssertionError` when a store takes half, breaks, or answers otherwise than the others."""
    rng = random.Random(f"imports {number}")
    data = _file(rng)
    before = rng.choice(("", "", "whole", "longer", "small", "revoked"))
    with contextlib.ExitStack() as stack:
        urls = ["memory:"]
        if number % 3 == 0:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fuzz-")))
            urls.append(f"sqlite:///{folder / 'store.db'}")
        if number % 12 == 0:
            urls.append(stack.enter_context(_postgres()))
        answers = [_imported(url, before, data) for url in urls]
    for url, answer in zip(urls, answers, strict=True):
        assert answer == answers[0], f"{url} answers {answer!r}, memory: {answers[0]!r}"


def _imported(url: str, before: str, data: bytes) -> str:
    store = open_store(url, clock=Clock())
    with contextlib.closing(store):
        if before and before != "revoked":
            store.import_(exports()[before])
        elif before:
            store.put(payload(b"a" * 100, "u"))
            store.revoke(payload(b"a" * 100, "u").ref)
        was = _state(store)
        try:
            report = store.import_(data)
        except DamagedStoreError:
            raise
        except ContextStateError as error:
            assert error.line, f"without a line: {error!r}"
            assert was == _state(store), f"half of it was taken: {error!r}"
            return f"{type(error).__name__}: {error}"
        now = _state(store)
        assert report.imported or was == now, "an import of nothing changed something"
        _comes_out_again(store, report)
        return repr(report)


def _comes_out_again(store: ContextStore, report: ImportReport) -> None:
    """An imported session can be exported, and that export imported into an empty store, which exports the same.

    A commit of what was revoked before kept no holder; a copy of it lists one, so that the copy's copy is the same.
    """
    lines = list(store.export(report.session_id))
    assert not store.import_(lines).imported
    for _ in range(2):
        copy = MemoryStore(clock=Clock())
        assert copy.import_(lines).imported
        before, lines = lines, list(copy.export(report.session_id))
    assert before == lines
