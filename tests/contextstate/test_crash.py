"""A process is killed while it commits: the old or the new state is there, and every acknowledged commit."""

from __future__ import annotations

import os
import random
import time

import pytest

from modelcontext_core.contextstate import CommitRequest, MemoryStore, Revision
from tests.contextstate.conftest import Place, PlaceMaker
from tests.contextstate.workers import commit_forever, numbered, processes, revision_of

# With `make fuzz`, which chooses tests by this mark, many more.
pytestmark = pytest.mark.hypothesis
KILLS = 100 if os.environ.get("HYPOTHESIS_PROFILE") == "fuzz" else 20


def run_and_kill(place: Place, session_id: str, commits: int, seconds: float) -> int:
    """Let a process commit so often and a little longer, then kill it; the last revision it acknowledged."""
    context = processes()
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=commit_forever, args=(place.url, session_id, theirs))
    process.start()
    theirs.close()
    for _ in range(1 + commits):
        acknowledged = int(ours.recv())
    time.sleep(seconds)
    process.kill()
    process.join()
    # What was still on its way when the process died had been acknowledged too.
    try:
        while True:
            acknowledged = int(ours.recv())
    except EOFError:
        ours.close()
    return acknowledged


def last_request(session_id: str, revision: int) -> CommitRequest:
    """The request that brought the session to `revision`."""
    before = revision - 1
    return numbered(session_id, Revision(session=before, durable=before, source=3 * before))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_killed_process_leaves_the_old_or_the_new_state(place_maker: PlaceMaker, kind: str) -> None:
    """After each kill the store opens, verifies, is at the acknowledged revision or one on, and knows the retry."""
    place = place_maker(kind)
    place.open().close()
    chance = random.Random(os.environ.get("PYTEST_XDIST_WORKER", "") + kind)
    for kill in range(KILLS):
        # A new session now and then, so that checking it stays quick.
        session_id = f"s{kill // 10}"
        acknowledged = run_and_kill(place, session_id, chance.randrange(3), chance.uniform(0, 0.01))

        # A reader comes first, as the browser would: an interrupted commit must not keep it out.
        reader = place.open(read_only=True)
        now = revision_of(reader, session_id)
        assert acknowledged <= now.session <= acknowledged + 1
        if now.session:
            assert reader.verify(session_id).ok
            assert 3 * now.session == len(reader.session(session_id).source) == now.source
        reader.close()
    store = place.open()
    heads = store.sessions(contexts=False)
    for head in heads:
        store.checkpoint(last_request(head.session_id, head.revision.session))
        assert head.revision == store.head(head.session_id).revision
    assert sum(head.revision.session for head in heads) >= KILLS // 2


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_survives_is_what_was_committed(place_maker: PlaceMaker, kind: str) -> None:
    """The session that a kill leaves equals the same commits made in memory."""
    place = place_maker(kind)
    place.open().close()
    run_and_kill(place, "s", 5, 0.002)
    store = place.open()

    revision = revision_of(store, "s").session

    model = MemoryStore()
    for number in range(1, revision + 1):
        model.checkpoint(last_request("s", number))
    assert revision >= 5
    assert model.session("s") == store.session("s")
    assert list(model.export("s")) == list(store.export("s"))
