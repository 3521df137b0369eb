"""Several processes, or threads, at one store: one winner a revision, nothing lost or doubled, no lock error."""

from __future__ import annotations

import threading
from collections import Counter
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import pytest

from modelcontext_core.contextstate import (
    CheckpointConflictError,
    ContextStore,
    Revision,
    StaleRevisionError,
)
from tests.contextstate.builders import commit, grow, payload
from tests.contextstate.conftest import Place, PlaceMaker
from tests.contextstate.workers import processes, race, revision_of

PROCESSES = 4
PATIENCE = 120


def run_race(place: Place, sessions: list[str], commits: int) -> dict[str, list[int]]:
    """Let four processes commit, each to its session of the list; the revisions won a session."""
    context = processes()
    started = []
    won: dict[str, list[int]] = {}
    try:
        for number, session_id in enumerate(sessions):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=race, args=(place.url, session_id, f"-w{number}", commits, theirs))
            process.start()
            started.append((process, ours))
            # A process that dies ends its pipe only when nobody else holds the other end.
            theirs.close()
        for (process, ours), session_id in zip(started, sessions, strict=True):
            won.setdefault(session_id, []).extend(answer_of(process, ours))
    finally:
        for process, ours in started:
            process.kill()
            process.join()
            ours.close()
    return won


def answer_of(process: BaseProcess, ours: Connection) -> list[int]:
    """What a process sends at its end; fails when it dies before, or does not come to an end."""
    assert ours.poll(PATIENCE), f"a process gave no answer in {PATIENCE} s"
    try:
        revisions, problem = ours.recv()
    except EOFError:
        process.join()
        pytest.fail(f"a process ended with {process.exitcode} and gave no answer")
    assert problem == ""
    return list(revisions)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_processes_at_one_session_win_each_revision_once(place_maker: PlaceMaker, kind: str) -> None:
    """Four processes race: each revision has one winner, the others are told that theirs is stale."""
    place = place_maker(kind)
    # Made by the processes themselves, at the same moment: that is a race too.
    won = run_race(place, ["s"] * PROCESSES, 30)

    store = place.open()
    assert list(range(1, 31)) == sorted(won["s"])
    assert [1 + index for index in range(90)] == [item.id.sequence for item in store.session("s").source]
    report = store.verify("s")
    assert report.ok
    assert (30, 90) == (report.checkpoints, report.events)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_processes_at_many_sessions_do_not_disturb_each_other(place_maker: PlaceMaker, kind: str) -> None:
    """Each process gets every revision of its own session, although all put the same payload."""
    place = place_maker(kind)
    place.open()
    names = [f"s{number}" for number in range(PROCESSES)]

    won = run_race(place, names, 12)

    store = place.open()
    assert {name: list(range(1, 13)) for name in names} == won
    assert all(store.verify(name).ok for name in names)


def in_threads(actions: list[Any]) -> Counter[str]:
    """Run all at once; how often each outcome came."""
    outcomes: Counter[str] = Counter()
    gate = threading.Barrier(len(actions))

    def run(action: Any) -> None:
        gate.wait()
        try:
            action()
            outcomes["done"] += 1
        except Exception as error:
            outcomes[type(error).__name__] += 1

    threads = [threading.Thread(target=run, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def test_threads_at_one_handle_take_turns(store: ContextStore) -> None:
    """A handle may be shared by threads: of 16 commits to one revision one wins, the other 15 are stale."""
    grow(store, commits=1, events=1)
    at = store.head("s").revision

    outcomes = in_threads(
        [lambda number=number: store.checkpoint(commit(f"t-{number}", expected=at)) for number in range(16)]
    )

    assert {"done": 1, StaleRevisionError.__name__: 15} == outcomes
    assert Revision(session=2, durable=2, source=2) == store.head("s").revision


def test_handles_at_one_place_race_for_an_operation_key(place: Place) -> None:
    """One key used at once for two sessions, through two handles, is won by one of them."""
    first, second = place.open(), place.open()

    outcomes = in_threads(
        [lambda: first.checkpoint(commit("op", "s")), lambda: second.checkpoint(commit("op", "t"))] * 4
    )

    assert 0 < outcomes["done"] < 8
    assert outcomes["done"] + outcomes[CheckpointConflictError.__name__] == 8
    assert 1 == len(first.sessions())


def test_a_revocation_and_puts_of_the_same_bytes_end_revoked(place: Place) -> None:
    """Whatever order they come in, the payload is denied and its bytes are gone at the end."""
    first, second = place.open(), place.open()
    record = payload(b"contested")
    first.put(record)

    outcomes = in_threads([lambda: second.put(record)] * 3 + [lambda: first.revoke(record.ref)])

    assert {"done": 4} == outcomes
    assert second.status(record.ref).revoked
    assert [False] == [row.stored for row in first.payloads("s")]


def test_a_retry_after_a_lost_answer_has_one_effect(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit took place but its answer did not arrive: repeated, also by a new handle, it counts once."""
    store = place.open()
    request = commit(payloads=[payload(b"x")])

    def lost(*_: object) -> None:
        raise ConnectionError("the answer was lost")

    with monkeypatch.context() as broken:
        # The transaction ends first, then the log would be written and the answer given.
        broken.setattr(store, "_scrub", lost)
        broken.setattr(store, "_log", lost)
        store.checkpoint(request)
        with pytest.raises(ConnectionError):
            store.checkpoint(request)
    store.checkpoint(request)
    again = place.open()
    again.checkpoint(request)

    assert revision_of(again, "s") == Revision(session=1, durable=1, source=1)
    assert request.new_source_events == again.session("s").source
    assert 1 == again.payloads("s")[0].uses
