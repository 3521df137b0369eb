"""What other processes do to a store while a test watches, and a server that makes such processes quickly."""

from __future__ import annotations

import multiprocessing
import signal
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext

from modelcontext_core.contextstate import (
    CommitRequest,
    ContextStore,
    Revision,
    SessionNotFoundError,
    StaleRevisionError,
    open_store,
)
from tests.contextstate.builders import commit, payload

__all__ = ["commit_forever", "processes", "race"]

# One payload that every commit shares, and a context that crosses the pages of a database.
SHARED = b"shared payload " * 400


def processes() -> ForkServerContext:
    """A context whose processes start with everything imported, and share no connection with the test."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.contextstate.workers", "modelcontext_core.contextstate.stores.postgres"])
    return context


def revision_of(store: ContextStore, session_id: str) -> Revision:
    """Where the session is; zero before its first commit."""
    try:
        return store.head(session_id, contexts=False).revision
    except SessionNotFoundError:
        return Revision()


def numbered(session_id: str, at: Revision, worker: str = "") -> CommitRequest:
    """The commit that follows `at`: the same for the same arguments."""
    number = at.session + 1
    own = payload(f"{worker} payload {number}".encode() * 50, session_id)
    return commit(
        f"{session_id}{worker}-op-{number}",
        session_id,
        expected=at,
        events=3,
        payloads=[payload(SHARED, session_id), own],
        context=f"{worker} context {number} ".encode() * 500,
        turn=number,
    )


def commit_forever(url: str, session_id: str, acknowledged: Connection) -> None:
    """Commit one checkpoint after the other; send each revision that was acknowledged. Ends by being killed."""
    store = open_store(url)
    at = revision_of(store, session_id)
    acknowledged.send(at.session)
    while True:
        request = numbered(session_id, at)
        store.checkpoint(request)
        at = request.checkpoint.revision
        acknowledged.send(at.session)


def race(url: str, session_id: str, worker: str, commits: int, result: Connection) -> None:
    """Commit until the session has so many checkpoints; send the revisions won and anything unexpected."""
    # Nothing of the test runner's own handling of signals.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    won: list[int] = []
    problem = ""
    try:
        store = open_store(url)
        while (at := revision_of(store, session_id)).session < commits:
            try:
                store.checkpoint(numbered(session_id, at, worker))
            except StaleRevisionError:
                continue
            won.append(at.session + 1)
        store.close()
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    result.send((won, problem))
