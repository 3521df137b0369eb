"""Files of other people's stores, with wrong values in any cell: the Sessions page shows them or says what is wrong."""

from __future__ import annotations

import contextlib
import json
import random
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from inspector_app import stores
from inspector_app.session_list import list_sessions
from inspector_app.views import sessions, sessions_diff, sessions_timeline
from modelcontext_core.contextstate import ContextStateError, SessionHead, open_store
from tests.contextstate.builders import Clock
from tests.formats.traces import FIXTURES
from tests.fuzz import databases, imports, mutations

__all__ = ["own_store", "run"]

_MOST: Final = 4
_COLOURS: Final = sessions_timeline.palette("light")


@cache
def own_store() -> bytes:
    """A database with the sessions of the store import's cases."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder, "store.db")
        store = open_store(f"sqlite:///{path}", clock=Clock())
        for name in ("whole", "small"):
            store.import_(imports.exports()[name])
        store.close()
        return path.read_bytes()


@cache
def _files() -> list[bytes]:
    savers = [path.read_bytes() for path in sorted((FIXTURES / "langgraph_checkpoint").glob("*.sqlite"))]
    return [*savers, *[own_store()] * len(savers)]


def run(number: int) -> None:
    """Runs one case; raises whatever the page would not have expected."""
    rng = random.Random(f"stores {number}")
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        path = Path(folder, "store.db")
        data = rng.choice(_files())
        if rng.random() < 0.85:
            data = databases.rewritten(rng, data)
        if rng.random() < 0.25:
            data = mutations.damaged(rng, data)
        path.write_bytes(data)
        _looked_at(rng, path)
        assert data == path.read_bytes(), "looking at a store changed it"
        assert [path] == list(Path(folder).iterdir()), "looking at a store made a file beside it"


def _looked_at(rng: random.Random, path: Path) -> None:
    """Everything that the page reads, in its order; a session that cannot be shown does not keep others away."""
    with contextlib.suppress(ContextStateError):
        stores.needs_migration(path)
        opened = stores.open_file(path)
        try:
            opened.store.info()
            listed = list_sessions(opened.store, limit=_MOST)
            sessions.session_rows(listed)
            for name in [each.session_id for each in listed]:
                with contextlib.suppress(ContextStateError):
                    _session(rng, opened, opened.store.head(name, contexts=rng.random() < 0.5))
        finally:
            stores.shelf().forget(opened.key)


def _session(rng: random.Random, opened: stores.OpenStore, head: SessionHead) -> None:
    store, name = opened.store, head.session_id
    reading: list[Callable[[], object]] = [
        lambda: sessions.session_facts(head, store.payload_totals(name), None, verifiable=True),
        lambda: _history(opened, head, drawn=rng.random() < 0.05),
        lambda: _contexts(opened, head),
        lambda: sessions.event_rows(store.events(name, 0, 100)),
        lambda: sessions.payload_rows(store.payloads(name, 0, 100)),
        lambda: opened.full and sessions.break_rows(opened.full.verify(name)),
        lambda: opened.full and list(opened.full.export(name)),
    ]
    rng.shuffle(reading)
    for read in reading:
        with contextlib.suppress(ContextStateError):
            json.dumps(read(), default=repr)


def _history(opened: stores.OpenStore, head: SessionHead, *, drawn: bool) -> object:
    entries = opened.store.history(head.session_id, 0, _MOST, contexts=False)
    if drawn:  # what takes long is the drawing, whatever is drawn
        total, revision = head.revision.source, head.revision.session
        sessions_timeline.timeline(entries, _COLOURS, before=None, total=total, revision=revision, base=1).to_json()
        sessions_timeline.timeline_head(_COLOURS, total)
    return sessions.operation_rows(entries)


def _contexts(opened: stores.OpenStore, head: SessionHead) -> object:
    newest = opened.store.checkpoint_at(head.session_id, head.revision.session)
    return sessions_diff.one_view(newest), sessions_diff.diff_view(
        opened.store.checkpoint_at(head.session_id, max(1, head.revision.session - 1)), newest
    )
