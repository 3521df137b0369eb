"""The contract of a store, held against every store: payloads, commits, sessions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from modelcontext_core.contextstate import (
    CheckpointConflictError,
    ContextStore,
    InvalidRecordError,
    Limits,
    OverLimitError,
    PayloadNotFoundError,
    PayloadRevokedError,
    Revision,
    Session,
    SessionNotFoundError,
    StaleBindingError,
    StaleRevisionError,
    StoreError,
)
from tests.contextstate.builders import GPT, GPT_NEXT, bare, commit, event, grow, payload
from tests.contextstate.conftest import Place

BIG = 2**64 - 1


# ---- payloads


def test_a_payload_comes_back_as_it_was_put(store: ContextStore) -> None:
    """`get` answers with the record and its bytes, `status` with the record alone."""
    record = payload(b"hello")

    store.put(record)

    assert record == store.get(record.ref)
    assert bare(record) == store.status(record.ref)


def test_a_payload_without_bytes_is_a_record_too(store: ContextStore) -> None:
    """Empty data counts as absent: such a record is kept and answered without bytes."""
    empty, absent = payload(b""), bare(payload(b"elsewhere"))

    store.put(empty)
    store.put(absent)

    assert empty == store.get(empty.ref)
    assert absent == store.get(absent.ref)


def test_an_invalid_payload_is_not_put(store: ContextStore) -> None:
    """`put` validates first and keeps nothing of what fails."""
    record = replace(payload(b"hello"), data=b"other")

    with pytest.raises(InvalidRecordError) as caught:
        store.put(record)

    assert "data" == caught.value.field
    with pytest.raises(PayloadNotFoundError):
        store.status(record.ref)


def test_unknown_payloads_are_not_found(store: ContextStore) -> None:
    """`get`, `status` and `revoke` of an unknown reference say so, also when it is no reference at all."""
    ref = payload(b"never put").ref
    for unknown in (ref, replace(ref, ref="nonsense"), replace(ref, ref="\ud800")):
        for ask in (store.get, store.status, store.revoke):
            with pytest.raises(PayloadNotFoundError):
                ask(unknown)


def test_each_holder_is_answered_with_its_own_fields(store: ContextStore) -> None:
    """Holders differ in namespace, workspace, session or subject; a stranger gets the fields of the last put."""
    first = payload(b"x", retention="compliance")
    second = payload(b"x", session_id="t", subject="v")
    third = payload(b"x", namespace="other", retention="mine")
    for record in (first, second, third):
        store.put(record)

    assert first == store.get(first.ref)
    assert second == store.get(second.ref)
    assert third == store.get(third.ref)
    assert third == store.get(replace(first.ref, session_id="stranger"))
    assert third == store.get(replace(first.ref, session_id="\ud800"))


def test_the_last_put_of_a_holder_counts(store: ContextStore) -> None:
    """Putting again under the same owners replaces the retention and makes this the last put."""
    first, second = payload(b"x", retention="session"), payload(b"x", session_id="t")
    store.put(first)
    store.put(second)

    store.put(replace(first, retention="compliance"))

    assert "compliance" == store.get(first.ref).retention
    assert "compliance" == store.get(replace(first.ref, session_id="stranger")).retention


def test_a_put_without_data_drops_no_bytes(store: ContextStore) -> None:
    """Neither a later put without data nor a commit without data loses what is stored."""
    record = payload(b"hello")
    store.put(record)

    store.put(bare(record))
    store.checkpoint(commit(payloads=[bare(record)]))

    assert b"hello" == store.get(record.ref).data


def test_known_bytes_decide_the_size(store: ContextStore) -> None:
    """A put without data cannot give a payload another length than its bytes have."""
    record = payload(b"hello")
    wrong = replace(bare(record), ref=replace(record.ref, size=99))
    store.put(wrong)
    assert 99 == store.status(record.ref).ref.size

    store.put(payload(b"hello", session_id="t"))

    assert record == store.get(wrong.ref)


def test_retention_is_any_text(store: ContextStore) -> None:
    """A caller's own class survives, with characters that databases dislike."""
    for retention in ("mine", "a\0b", "\ud800", " ", "長い", "x" * 5000):
        record = payload(b"hello", retention=retention)

        store.put(record)

        assert retention == store.get(record.ref).retention


def test_revocation_denies_the_bytes_to_all_holders(store: ContextStore) -> None:
    """`get` is denied to every holder, `status` still answers with each one's own fields; again is a no-op."""
    first, second = payload(b"x"), payload(b"x", session_id="t", retention="compliance")
    store.put(first)
    store.put(second)

    store.revoke(replace(first.ref, session_id="stranger"))
    store.revoke(first.ref)

    for record in (first, second):
        with pytest.raises(PayloadRevokedError):
            store.get(record.ref)
        assert replace(bare(record), revoked=True) == store.status(record.ref)


def test_what_is_put_under_a_revoked_digest_changes_nothing(store: ContextStore) -> None:
    """Neither a put nor a commit revives it, changes its retention or adds a holder."""
    record = payload(b"x")
    store.put(record)
    store.revoke(record.ref)

    store.put(replace(record, retention="compliance"))
    store.put(payload(b"x", session_id="t", retention="compliance"))
    store.checkpoint(commit(payloads=[replace(record, retention="compliance")]))

    assert replace(bare(record), revoked=True) == store.status(record.ref)
    assert "s" == store.status(replace(record.ref, session_id="t")).ref.session_id
    with pytest.raises(PayloadRevokedError):
        store.get(record.ref)


def test_a_record_put_as_revoked_revokes(store: ContextStore) -> None:
    """It is kept without its data and takes the bytes from earlier holders."""
    store.put(payload(b"x", session_id="t"))

    store.put(payload(b"x", revoked=True))

    assert replace(bare(payload(b"x")), revoked=True) == store.status(payload(b"x").ref)
    with pytest.raises(PayloadRevokedError):
        store.get(payload(b"x", session_id="t").ref)


# ---- commits


def test_a_commit_is_read_back_whole(store: ContextStore) -> None:
    """`session` gives revision, binding, active checkpoint and every event, in order."""
    first = commit("op-1", events=2, payloads=[payload(b"a"), payload(b"b")])
    second = commit(
        "op-2",
        expected=first.checkpoint.revision,
        events=1,
        new_binding=GPT_NEXT,
        turn=BIG,
        covers=2,
        context=bytes(range(256)),
    )
    store.checkpoint(first)
    store.checkpoint(second)

    assert Session(
        revision=Revision(session=2, durable=2, source=3),
        binding=GPT_NEXT,
        active=second.checkpoint,
        source=first.new_source_events + second.new_source_events,
    ) == store.session("s")
    assert b"b" == store.get(payload(b"b").ref).data


def test_an_event_survives_exactly(store: ContextStore) -> None:
    """Optional fields, sizes up to 2^63-1 and texts of other scripts come back as they were."""
    odd = event(1, kind="外部", tool_call_id="call_1", payload_ref="any:thing", size=2**63 - 1)
    plain = event(2)
    request = replace(commit(events=2), new_source_events=(odd, plain))

    store.checkpoint(request)

    assert (odd, plain) == store.session("s").source


def test_a_commit_without_events_only_moves_the_revision(store: ContextStore) -> None:
    """An empty commit is valid: it ends where the source log ended."""
    store.checkpoint(commit("op-1", events=0))
    store.checkpoint(commit("op-2", events=0, expected=Revision(session=1, durable=1)))

    assert Revision(session=2, durable=2, source=0) == store.session("s").revision
    assert () == store.session("s").source


def test_sequences_given_as_lists_are_kept_as_tuples(store: ContextStore) -> None:
    """A request built with lists is the same request as one built with tuples."""
    request = commit(payloads=[payload()])
    listed = replace(request, new_source_events=[*request.new_source_events], payloads=[*request.payloads])  # type: ignore[arg-type]

    store.checkpoint(listed)
    store.checkpoint(request)

    assert request.new_source_events == store.session("s").source


def test_an_equal_request_under_a_used_key_is_a_no_op(store: ContextStore) -> None:
    """Repeating any earlier commit succeeds and changes nothing, whatever came after it."""
    requests = grow(store, commits=3)
    before = store.session("s")

    for request in requests:
        store.checkpoint(request)

    assert before == store.session("s")


def test_a_repeat_still_counts_as_equal_after_a_revocation(store: ContextStore) -> None:
    """The bytes of a revoked payload are gone, yet the request that brought them is still known."""
    request = commit(payloads=[payload(b"x")])
    store.checkpoint(request)
    store.revoke(payload(b"x").ref)

    store.checkpoint(request)

    with pytest.raises(CheckpointConflictError):
        store.checkpoint(replace(request, payloads=(bare(payload(b"x")),)))


@pytest.mark.parametrize(
    "changes",
    [
        {"turn_id": 2},
        {"session_id": "other"},
        {"session_id": ""},
        {"new_session": 7},
        {"new_session": True},
        {"new_session": 1.0},
        {"payloads": (payload(b"more"),)},
        {"payloads": (replace(payload(b"hello"), data=b"jello"),)},
        {"new_source_events": ()},
        {"new_source_events": None},
        {"expected_binding": GPT_NEXT},
        {"expected": Revision(session=5, durable=5, source=5)},
        {"checkpoint": None},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_another_request_under_a_used_key_is_a_conflict_before_all_else(
    store: ContextStore, changes: dict[str, object]
) -> None:
    """Even a request that is invalid, stale or above a limit is first of all a conflict."""
    request = commit(payloads=[payload(b"hello")])
    store.checkpoint(request)

    with pytest.raises(CheckpointConflictError) as caught:
        store.checkpoint(replace(request, **changes))  # type: ignore[arg-type]

    assert "op-1" == caught.value.operation_id


def test_operation_keys_are_unique_in_a_store(store: ContextStore) -> None:
    """A key that one session used conflicts in another one."""
    store.checkpoint(commit("op-1", "s"))

    with pytest.raises(CheckpointConflictError):
        store.checkpoint(commit("op-1", "t"))


def test_an_invalid_request_stores_nothing(store: ContextStore) -> None:
    """Validation comes before limits and staleness, and neither session, payload nor key is left behind."""
    request = commit(payloads=[payload(b"x")])

    for wrong in (replace(request, turn_id=2), replace(request, operation_id="\ud800"), replace(request, turn_id=True)):
        with pytest.raises(InvalidRecordError):
            store.checkpoint(wrong)

    with pytest.raises(SessionNotFoundError):
        store.session("s")
    with pytest.raises(PayloadNotFoundError):
        store.status(payload(b"x").ref)
    store.checkpoint(request)


def test_an_unknown_session_begins_at_zero(store: ContextStore) -> None:
    """A first commit that expects anything else is stale; its expected binding is not compared."""
    for expected in (Revision(session=1), Revision(durable=1), Revision(source=1)):
        with pytest.raises(StaleRevisionError) as caught:
            store.checkpoint(commit(expected=expected))
        assert caught.value.actual is None
    store.checkpoint(commit(binding=GPT, new_binding=GPT_NEXT))

    assert GPT_NEXT == store.session("s").binding


@pytest.mark.parametrize(
    "expected",
    [
        Revision(),
        Revision(session=1, durable=1, source=1),
        Revision(session=2, durable=2, source=3),
        Revision(session=2, durable=3, source=4),
        Revision(session=3, durable=3, source=5),
    ],
    ids=str,
)
def test_a_moved_revision_is_stale(store: ContextStore, expected: Revision) -> None:
    """All three counters must be the session's, and a stale commit stores nothing."""
    grow(store, commits=2, events=2)
    before = store.session("s")

    with pytest.raises(StaleRevisionError) as caught:
        store.checkpoint(commit("late", expected=expected, payloads=[payload(b"x")]))

    assert before.revision == caught.value.actual
    assert before == store.session("s")
    with pytest.raises(PayloadNotFoundError):
        store.status(payload(b"x").ref)


def test_a_moved_binding_is_stale_after_the_revision(store: ContextStore) -> None:
    """The binding is compared only when the revision is right."""
    grow(store, commits=1, events=1)

    with pytest.raises(StaleRevisionError):
        store.checkpoint(commit("late", expected=Revision(), binding=GPT_NEXT))
    with pytest.raises(StaleBindingError) as caught:
        store.checkpoint(commit("late", expected=store.session("s").revision, binding=GPT_NEXT))

    assert (GPT_NEXT, GPT) == (caught.value.expected, caught.value.actual)


def test_limits_refuse_only_above_their_bound(place: Place) -> None:
    """Context bytes, number of events and sum of event sizes may reach their bound, not pass it."""
    store = place.open(limits=Limits(checkpoint_bytes=4, commit_events=2, commit_event_bytes=20))

    store.checkpoint(commit("op-1", events=2, context=b"four"))

    at = store.session("s").revision
    for limit, request in (
        ("checkpoint_bytes", commit("op-2", expected=at, context=b"fives")),
        ("commit_events", commit("op-2", expected=at, events=3)),
        (
            "commit_event_bytes",
            replace(commit("op-2", expected=at), new_source_events=(event(3, size=21),)),
        ),
        # The limit is looked at before staleness.
        ("checkpoint_bytes", commit("op-2", context=b"fives")),
    ):
        with pytest.raises(OverLimitError) as caught:
            store.checkpoint(request)
        assert limit == caught.value.limit
    assert at == store.session("s").revision


def test_negative_limits_make_no_store(place: Place) -> None:
    """A store is not opened under limits that are none."""
    with pytest.raises(InvalidRecordError) as caught:
        place.open(limits=Limits(commit_events=-1))

    assert "commit_events" == caught.value.field


def test_sessions_do_not_see_each_other(store: ContextStore) -> None:
    """Two sessions with alike ids keep apart revisions, events and contexts."""
    grow(store, "a", commits=2, events=1)
    grow(store, "a ", commits=1, events=3)
    grow(store, "A", commits=1, events=0)

    assert [2, 1, 1] == [store.session(name).revision.session for name in ("a", "a ", "A")]
    assert {"a "} == {item.id.session_id for item in store.session("a ").source}


def test_an_unknown_session_is_not_found(store: ContextStore) -> None:
    """Every read of a session says so, also for what can be no id."""
    for unknown in ("nobody", "", "\ud800", "a\0b"):
        for ask in (store.session, store.head, store.history, store.events, store.payloads, store.payload_totals):
            with pytest.raises(SessionNotFoundError):
                ask(unknown)
        for act in (store.verify, store.export, store.delete_session):
            with pytest.raises(SessionNotFoundError):
                act(unknown)


def test_a_closed_store_says_so(place: Place) -> None:
    """Using a store after `close` is a `StoreError`, not a crash of the driver."""
    store = place.open()
    store.close()

    with pytest.raises(StoreError):
        store.session("s")
