"""How long the stores take, and how large they get.

`make bench` prints a table. What is asserted are the bounds that the stores promise: the first page of a session with
1,000,000 events below 50 ms and at most 1.5 times that of one with 100, and 1,000 checkpoints that share a payload of
1 MB below 3 MB.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from modelcontext_core.contextstate import CommitRequest, ContextStore, Revision, open_store
from tests.contextstate.builders import commit, event, payload
from tests.postgres import postgres_server

LONG, SHORT = "long", "short"
EVENTS_A_COMMIT = 50_000
COMMITS = 20
RUNS = 15


def milliseconds(work: Callable[[], object], runs: int = RUNS) -> float:
    """The best of a few runs, by the clock (a page is waited for): other work on the machine counts little."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1000)
    return min(times)


def report(title: str, rows: list[tuple[str, str]]) -> None:
    """One table."""
    width = max(len(name) for name, _ in rows)
    print(f"\n{title}\n" + "\n".join(f"  {name:<{width}}  {value:>12}" for name, value in rows))


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """The address of a server of its own."""
    with postgres_server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty place of each kind that keeps."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    address = request.getfixturevalue("postgres")
    schema = f"bench_{abs(hash(request.node.name)):x}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    return f"{address}&options=-csearch_path%3D{schema}"


def grown(session_id: str, commits: int, events: int) -> Iterator[CommitRequest]:
    """Requests that make a session of so many commits and events a commit."""
    at = Revision()
    for number in range(1, commits + 1):
        request = commit(f"{session_id}-{number}", session_id, expected=at, events=0, turn=number)
        last = at.source + events
        revision = replace(request.checkpoint.revision, source=last)
        covered = request.checkpoint.id.source_range
        start = replace(covered.start, sequence=at.source + 1)
        identity = replace(
            request.checkpoint.id, source_range=replace(covered, start=start, end=replace(start, sequence=last))
        )
        yield replace(
            request,
            new_source_events=tuple(event(at.source + 1 + index, session_id) for index in range(events)),
            new_source_sequence=last,
            checkpoint=replace(request.checkpoint, id=identity, revision=revision),
        )
        at = revision


def first_page(store: ContextStore, session_id: str) -> None:
    """What a browser reads to show a session: head, totals, and the first rows of each table."""
    store.head(session_id)
    store.payload_totals(session_id)
    store.history(session_id, limit=50, contexts=False)
    store.events(session_id, limit=50)
    store.payloads(session_id, limit=50)


@pytest.mark.timeout(900)
def test_a_long_session_opens_like_a_short_one(url: str) -> None:
    """The first page of 1,000,000 events, beside that of 100, and pages further on."""
    store = open_store(url)
    began = time.perf_counter()
    for request in grown(LONG, COMMITS, EVENTS_A_COMMIT):
        store.checkpoint(request)
    filled = time.perf_counter() - began
    for request in grown(SHORT, COMMITS, 5):
        store.checkpoint(request)

    long, short = milliseconds(lambda: first_page(store, LONG)), milliseconds(lambda: first_page(store, SHORT))
    deep = milliseconds(lambda: store.events(LONG, 900_000, 50))
    listing = milliseconds(lambda: store.sessions(limit=50, contexts=False))

    report(
        f"{store.info().kind}: a session with {COMMITS * EVENTS_A_COMMIT:,} events",
        [
            ("commit them", f"{filled:.1f} s"),
            ("first page", f"{long:.1f} ms"),
            ("first page of 100 events", f"{short:.1f} ms"),
            ("50 events after 900,000", f"{deep:.1f} ms"),
            ("list sessions", f"{listing:.1f} ms"),
            ("size", f"{store.info().bytes / 1e6:.0f} MB"),
        ],
    )
    store.close()
    assert long < 50
    assert long < 1.5 * short + 1


def test_checkpoints_share_an_unchanged_payload(url: str) -> None:
    """1,000 commits of one payload of 1 MB: time a commit, and the size of what is kept."""
    store = open_store(url)
    record = payload(random.Random(1).randbytes(1_000_000))
    requests = []
    at = Revision()
    for number in range(1000):
        requests.append(commit(f"op-{number}", expected=at, payloads=[record], context=b"short", turn=number + 1))
        at = requests[-1].checkpoint.revision
    began = time.perf_counter()
    for request in requests:
        store.checkpoint(request)
    each = (time.perf_counter() - began) / len(requests) * 1000
    size = store.info().bytes

    report(
        f"{store.info().kind}: 1,000 checkpoints with one payload of 1 MB",
        [("a commit", f"{each:.2f} ms"), ("size", f"{size / 1e6:.2f} MB")],
    )
    store.close()
    assert size < 3_000_000


def test_small_commits_and_reads(url: str) -> None:
    """What one turn of an agent costs: a commit of three events and a payload of 4 KB, and reading it back."""
    store = open_store(url)
    requests = []
    at = Revision()
    for number in range(300):
        record = payload(number.to_bytes(4) * 1000)
        requests.append(commit(f"op-{number}", expected=at, events=3, payloads=[record], context=b"c" * 4000))
        at = requests[-1].checkpoint.revision
    began = time.perf_counter()
    for request in requests:
        store.checkpoint(request)
    each = (time.perf_counter() - began) / len(requests) * 1000
    ref = requests[7].payloads[0].ref

    report(
        f"{store.info().kind}: small commits",
        [
            ("commit", f"{each:.2f} ms"),
            ("repeat a commit", f"{milliseconds(lambda: store.checkpoint(requests[9])):.2f} ms"),
            ("get a payload", f"{milliseconds(lambda: store.get(ref)):.2f} ms"),
            ("session with 900 events", f"{milliseconds(lambda: store.session('s')):.1f} ms"),
            ("verify 300 checkpoints", f"{milliseconds(lambda: store.verify('s'), 3):.0f} ms"),
            ("export", f"{milliseconds(lambda: list(store.export('s')), 3):.0f} ms"),
        ],
    )
    store.close()
