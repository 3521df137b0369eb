"""What a browser asks of every store: heads, listings, history with times and attempts, payload rows, deletion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from modelcontext_core.contextstate import (
    CheckpointConflictError,
    ContextStateError,
    ContextStore,
    InvalidRecordError,
    Outcome,
    PayloadNotFoundError,
    PayloadRevokedError,
    PayloadTotals,
    Revision,
    SessionNotFoundError,
)
from modelcontext_core.contextstate.stores import engine
from tests.contextstate.builders import GPT, GPT_NEXT, bare, commit, grow, payload
from tests.contextstate.conftest import Place


def all_pages(read: Callable[[Any], Sequence[Any]], first: Any, key: Callable[[Any], Any]) -> list[Any]:
    """Every row of a listing, read page by page; the last page is the only one that may be short."""
    rows: list[Any] = []
    while page := read(key(rows[-1]) if rows else first):
        rows.extend(page)
    return rows


# ---- heads and listings


def test_a_head_says_where_the_session_is_without_its_events(store: ContextStore) -> None:
    """Revision, binding, active checkpoint, counts and time of the last commit."""
    requests = grow(store, commits=3, events=2)
    store.put(payload(b"one"))
    store.put(payload(b"one", namespace="other"))

    head = store.head("s")

    assert requests[-1].checkpoint == head.active
    assert (Revision(session=3, durable=3, source=6), GPT) == (head.revision, head.binding)
    assert (6, 2, len(b"context 3")) == (head.event_count, head.payload_count, head.context_bytes)
    assert head == store.sessions()[0]
    assert head == store.sessions("s")[0]
    light = store.head("s", contexts=False)
    assert replace(head, active=replace(head.active, active_context=b"")) == light
    assert (light,) == store.sessions(contexts=False)


def test_sessions_come_in_code_point_order_by_prefix_and_page(store: ContextStore) -> None:
    """Any store sorts alike, whatever the language of its database; a prefix is no pattern."""
    names = ["b", "a", "a%", "a_", "ab", "Z", "ä", "名前", "a\U0010ffff", "a\ud7ff", "\U0010ffff\U0010ffff", "a b"]
    for name in names:
        store.checkpoint(commit(f"op {name}", name))

    def ids(prefix: str, limit: int) -> list[str]:
        rows = all_pages(lambda after: store.sessions(prefix, after, limit), "", lambda head: head.session_id)
        return [head.session_id for head in rows]

    for prefix in ("", "a", "a%", "a_", "a\ud7ff", "名", "\U0010ffff", "zz", "A", "\ud800", "a\0", "x" * 200):
        expected = sorted(name for name in names if name.startswith(prefix))
        assert expected == ids(prefix, 100)
        assert expected == ids(prefix, 1)
        assert expected == ids(prefix, 3)


def test_events_and_history_are_paged_by_their_own_counters(store: ContextStore) -> None:
    """Pages join without gap or double, and a page after the last row is empty."""
    requests = grow(store, commits=5, events=3)

    events = all_pages(lambda after: store.events("s", after, 4), 0, lambda item: item.id.sequence)
    entries = all_pages(lambda after: store.history("s", after, 2), 0, lambda entry: entry.checkpoint.revision.session)

    assert list(store.session("s").source) == events
    assert [request.checkpoint for request in requests] == [entry.checkpoint for entry in entries]
    assert () == store.events("s", 15)
    assert () == store.history("s", 5)
    assert events[6:9] == list(store.events("s", 6, 3))


def test_history_tells_what_each_commit_brought(store: ContextStore) -> None:
    """Operation, expected binding, number of events, payloads without bytes, context size, and the store's time."""
    first = commit("op-1", events=2, payloads=[payload(b"x")], context=b"one")
    second = commit("op-2", expected=first.checkpoint.revision, events=0, new_binding=GPT_NEXT, context=b"two!")
    store.checkpoint(first)
    store.checkpoint(second)

    one, two = store.history("s")

    assert ("op-1", GPT, 2, (bare(payload(b"x")),), 3) == (
        one.operation_id,
        one.expected_binding,
        one.new_events,
        one.payloads,
        one.context_bytes,
    )
    assert ("op-2", GPT, 0, (), 4) == (
        two.operation_id,
        two.expected_binding,
        two.new_events,
        two.payloads,
        two.context_bytes,
    )
    assert GPT_NEXT == two.checkpoint.binding
    assert two.committed_at - one.committed_at == timedelta(seconds=1)
    assert UTC == one.committed_at.tzinfo
    assert b"" == store.history("s", contexts=False)[1].checkpoint.active_context
    assert one.context_sha256 == store.history("s", contexts=False)[0].context_sha256


def test_one_checkpoint_can_be_read_alone(store: ContextStore) -> None:
    """`checkpoint_at` gives any committed checkpoint, and names a revision that never was."""
    requests = grow(store, commits=3)

    assert requests[1].checkpoint == store.checkpoint_at("s", 2)
    for revision in (0, -1, 4, True, 2**70):
        with pytest.raises(InvalidRecordError) as caught:
            store.checkpoint_at("s", revision)
        assert "revision" == caught.value.field


def test_times_come_from_the_clock_that_was_given_in_utc(place: Place) -> None:
    """A local time is kept as the moment it means, to the microsecond."""
    moment = datetime.fromisoformat("2026-03-05T10:00:00.123456+05:30")
    place.clock = lambda: moment
    store = place.open()

    store.checkpoint(commit())

    assert moment == store.head("s").committed_at
    assert UTC == store.head("s").committed_at.tzinfo


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, None, 2**63])
def test_a_page_has_a_positive_limit(store: ContextStore, limit: Any) -> None:
    """A limit that is none is named, in every listing."""
    grow(store, commits=1)
    for read in (
        lambda: store.sessions(limit=limit),
        lambda: store.history("s", limit=limit),
        lambda: store.events("s", limit=limit),
        lambda: store.payloads("s", limit=limit),
    ):
        with pytest.raises(InvalidRecordError) as caught:
            read()
        assert "limit" == caught.value.field


def test_a_key_to_go_on_after_must_be_one(store: ContextStore) -> None:
    """A key of another kind is named instead of being taken for the start."""
    grow(store, commits=1)
    for read in (
        lambda: store.sessions(after="\ud800"),
        lambda: store.history("s", -1),
        lambda: store.events("s", 2**64),
        lambda: store.payloads("s", True),
    ):
        with pytest.raises(InvalidRecordError) as caught:
            read()
        assert "after" == caught.value.field


# ---- attempts


def _fails(store: ContextStore, request: Any) -> None:
    with pytest.raises(ContextStateError):
        store.checkpoint(request)


def test_attempts_stand_beside_the_checkpoint_that_they_met(store: ContextStore) -> None:
    """Replays and rejections are logged with outcome and time; what was committed is in the history already."""
    first = commit("op-1")
    store.checkpoint(first)
    at = first.checkpoint.revision
    store.checkpoint(first)
    _fails(store, replace(first, turn_id=9))
    _fails(store, commit("late"))
    _fails(store, commit("wrong-binding", expected=at, binding=GPT_NEXT))
    store.checkpoint(commit("op-2", expected=at))
    _fails(store, commit("invalid", expected=at, context=b""))

    one, two = store.history("s")

    assert [
        ("op-1", Outcome.REPLAYED),
        ("op-1", Outcome.CONFLICT),
        ("late", Outcome.STALE_REVISION),
        ("wrong-binding", Outcome.STALE_BINDING),
    ] == [(item.operation_id, item.outcome) for item in one.attempts]
    assert [("invalid", Outcome.INVALID)] == [(item.operation_id, item.outcome) for item in two.attempts]
    times = [one.committed_at, *(item.at for item in one.attempts), two.committed_at, two.attempts[0].at]
    assert sorted(times) == times


def test_attempts_that_have_no_session_or_no_key_are_not_logged(store: ContextStore) -> None:
    """The log belongs to a session, and a key that cannot be stored is no key."""
    _fails(store, commit("early", expected=Revision(session=4, durable=4, source=4)))
    grow(store, commits=1)
    _fails(store, commit("", expected=Revision(session=1, durable=1, source=2)))

    assert () == store.history("s")[0].attempts


def test_only_the_newest_attempts_are_kept(store: ContextStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log of a session is bounded, the oldest go first, and other sessions keep theirs."""
    monkeypatch.setattr(engine, "MAX_ATTEMPTS", 3)
    grow(store, "other", commits=1)
    _fails(store, commit("kept", "other"))
    grow(store, commits=1)
    for number in range(5):
        _fails(store, commit(f"late-{number}"))

    assert ["late-2", "late-3", "late-4"] == [item.operation_id for item in store.history("s")[0].attempts]
    assert ["kept"] == [item.operation_id for item in store.history("other")[0].attempts]


# ---- payload rows


def test_payload_rows_say_who_shares_what(store: ContextStore) -> None:
    """Rows come in order of first put, with state, uses and how many hold the same bytes."""
    shared, own = payload(b"shared"), payload(b"own", retention="compliance")
    store.put(shared)
    store.put(own)
    store.put(shared)
    store.put(payload(b"shared", session_id="t"))
    store.put(bare(payload(b"gone")))
    store.put(payload(b"revoked"))
    store.revoke(payload(b"revoked").ref)

    rows = store.payloads("s")

    assert [bare(shared), bare(own), bare(payload(b"gone")), replace(bare(payload(b"revoked")), revoked=True)] == [
        row.record for row in rows
    ]
    assert [(True, 2, 2, 2), (True, 1, 1, 1), (False, 1, 1, 1), (False, 1, 1, 1)] == [
        (row.stored, row.uses, row.holders, row.sessions) for row in rows
    ]
    assert list(rows) == all_pages(lambda after: store.payloads("s", after, 1), 0, lambda row: row.number)


def test_payload_totals_tell_what_sharing_saves(store: ContextStore) -> None:
    """Bytes are stored once a digest; every further put of this session is saved."""
    for record in (payload(b"12345"), payload(b"12345"), payload(b"12345", namespace="n2"), payload(b"123")):
        store.put(record)
    store.put(payload(b"123", session_id="t"))
    store.put(payload(b"1234567"))
    store.revoke(payload(b"1234567").ref)

    assert PayloadTotals(rows=4, revoked=1, shared=1, stored_bytes=8, saved_bytes=10) == store.payload_totals("s")


def test_a_session_that_only_holds_payloads_lists_them(store: ContextStore) -> None:
    """Payloads may be put before the first commit; such a session has rows, but no head."""
    store.put(payload(b"early"))

    assert 1 == len(store.payloads("s"))
    assert 1 == store.payload_totals("s").rows
    assert () == store.sessions()
    with pytest.raises(SessionNotFoundError):
        store.head("s")


# ---- deletion


def test_deleting_a_session_forgets_it(store: ContextStore) -> None:
    """Nothing of it is left, its operation keys are free, and a new session of this id begins at zero."""
    grow(store, "s", commits=2)
    before = grow(store, "t", commits=2)

    store.delete_session("s")

    for ask in (store.session, store.head, store.history, store.events, store.verify, store.export):
        with pytest.raises(SessionNotFoundError):
            ask("s")
    assert ["t"] == [head.session_id for head in store.sessions()]
    assert before[-1].checkpoint == store.session("t").active
    again = grow(store, "s", commits=1, events=1)
    assert again[-1].new_source_events == store.session("s").source
    assert () == store.history("s")[0].attempts


def test_deletion_takes_session_payloads_that_nobody_else_holds(store: ContextStore) -> None:
    """Shared bytes stay for the others; other classes stay; session-class bytes of this session alone go."""
    grow(store, "s", commits=1)
    alone, shared, kept, own_class = (
        payload(b"alone"),
        payload(b"shared"),
        payload(b"kept", retention="compliance"),
        payload(b"own", retention="mine"),
    )
    for record in (alone, shared, payload(b"shared", session_id="t"), kept, own_class):
        store.put(record)

    store.delete_session("s")

    with pytest.raises(PayloadNotFoundError):
        store.get(alone.ref)
    assert payload(b"shared", session_id="t") == store.get(shared.ref)
    assert kept == store.get(kept.ref)
    assert own_class == store.get(own_class.ref)
    assert ["compliance", "mine"] == [row.record.retention for row in store.payloads("s")]


def test_a_revocation_outlives_its_session(store: ContextStore) -> None:
    """The digest stays denied; who held it is forgotten, so `status` echoes the question's owners."""
    record = payload(b"secret")
    store.checkpoint(commit(payloads=[record]))
    store.revoke(record.ref)

    store.delete_session("s")

    store.put(record)
    with pytest.raises(PayloadRevokedError):
        store.get(record.ref)
    asked = replace(record.ref, subject_id="somebody", size=0)
    assert replace(bare(record), ref=replace(asked, size=6), revoked=True) == replace(
        store.status(asked), ref=replace(asked, size=6)
    )
    store.revoke(record.ref)


def test_payloads_without_a_session_can_be_deleted(store: ContextStore) -> None:
    """A session id that only holds payloads can be forgotten like a session."""
    store.put(payload(b"early"))

    store.delete_session("s")

    with pytest.raises(PayloadNotFoundError):
        store.status(payload(b"early").ref)


def test_a_deleted_operation_key_is_free_elsewhere(store: ContextStore) -> None:
    """Keys are unique among what is stored, not among what ever was."""
    store.checkpoint(commit("op-1", "s"))
    with pytest.raises(CheckpointConflictError):
        store.checkpoint(commit("op-1", "t"))

    store.delete_session("s")

    store.checkpoint(commit("op-1", "t"))


def test_info_names_the_store(place: Place) -> None:
    """Kind, number of sessions and schema version; the address never shows a password."""
    store = place.open()
    grow(store, "s", commits=1)
    grow(store, "t", commits=1)

    info = store.info()

    assert (place.kind, 2, 1, False) == (info.kind, info.sessions, info.schema_version, info.read_only)
    assert (info.bytes > 0) == (place.kind != "memory")
