"""Export and import of every store: exact, atomic, and through the checks of a commit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from modelcontext_core.contextstate import (
    CheckpointConflictError,
    ContextStateError,
    ContextStore,
    InvalidRecordError,
    Limits,
    MemoryStore,
    OverLimitError,
    PayloadRevokedError,
    SessionNotFoundError,
    StaleRevisionError,
)
from modelcontext_core.contextstate.stores.transfer import ChainWriter
from tests.contextstate.builders import Clock, bare, commit, fill, grow, payload
from tests.contextstate.conftest import Place, PlaceMaker


def exported(store: ContextStore) -> list[bytes]:
    """The export of the session that has everything."""
    fill(store)
    return list(store.export("s"))


def items(lines: list[bytes]) -> list[dict[str, object]]:
    """The items of an export."""
    return [json.loads(line)["item"] for line in lines]


def rechained(changed: list[dict[str, object]]) -> list[bytes]:
    """Lines with a right chain over changed items: what somebody who knows the format could write."""
    writer = ChainWriter()
    return [writer.line(str(item["type"]), **{k: v for k, v in item.items() if k != "type"}) for item in changed]


def contents(store: ContextStore) -> object:
    """All that the contract says of the session."""
    rows = store.payloads("s")
    return (
        store.session("s"),
        [(entry.checkpoint, entry.operation_id, entry.payloads) for entry in store.history("s")],
        {(row.record, row.stored) for row in rows},
    )


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_an_export_imports_into_any_store(store: ContextStore, place_maker: PlaceMaker, kind: str) -> None:
    """What is read from the copy is what is read from the original, and its export is the same to the byte."""
    lines = exported(store)
    copy = place_maker(kind).open()

    report = copy.import_(lines)

    assert (True, 3, 3) == (report.imported, report.checkpoints, report.events)
    assert contents(store) == contents(copy)
    assert lines == list(copy.export("s"))
    assert copy.verify("s").ok
    with pytest.raises(PayloadRevokedError):
        copy.get(payload(b"secret").ref)


def test_a_retry_is_a_no_op_in_the_copy_too(store: ContextStore, place_maker: PlaceMaker) -> None:
    """The imported operation keys know their requests, also those whose payload was revoked before the export."""
    request = commit(payloads=[payload(b"secret"), payload(b"open")])
    store.checkpoint(request)
    store.revoke(payload(b"secret").ref)
    copy = place_maker("memory").open()
    copy.import_(store.export("s"))

    copy.checkpoint(request)

    with pytest.raises(CheckpointConflictError):
        copy.checkpoint(replace(request, payloads=request.payloads[1:]))


def test_a_revoked_payload_leaves_without_its_data(store: ContextStore) -> None:
    """Its reference and `revoked` are exported, its bytes nowhere, not even inside the commit that brought it."""
    lines = exported(store)

    revoked = payload(b"secret").ref
    records = [item["record"] for item in items(lines) if item["type"] == "payload"]
    assert [True] == [record["revoked"] for record in records if record["ref"]["ref"] == revoked.ref]  # type: ignore[index]
    assert not any(b"c2VjcmV0" in line for line in lines)
    assert not any('"data"' in json.dumps(record) for record in records)


def test_bytes_are_exported_once(store: ContextStore) -> None:
    """A payload that every commit shares, and a context that does not change, are in the file one time."""
    shared = payload(b"p" * 3000)
    expected = None
    for number in range(1, 6):
        request = commit(f"op-{number}", expected=expected, payloads=[shared], context=b"c" * 3000)
        store.checkpoint(request)
        expected = request.checkpoint.revision

    kinds = [item["type"] for item in items(list(store.export("s")))]

    assert 2 == kinds.count("bytes")


def test_importing_the_same_session_again_is_a_no_op(store: ContextStore) -> None:
    """Whether from a list, from the store itself, as one value, or after a payload was revoked meanwhile."""
    lines = exported(store)
    before = contents(store)

    for source in (lines, store.export("s"), b"".join(lines), [line.replace(b"\n", b"\r\n") for line in lines]):
        assert not store.import_(source).imported
    store.revoke(payload(b"put alone").ref)
    assert not store.import_(lines).imported

    assert before != contents(store)
    assert store.verify("s").ok


def test_a_longer_or_shorter_or_other_session_is_a_conflict_at_its_line(
    store: ContextStore, place_maker: PlaceMaker
) -> None:
    """The first line that differs from the stored session is named."""
    other = place_maker("memory").open()
    requests = grow(other, commits=2)
    short = list(other.export("s"))
    other.checkpoint(commit("op-3", expected=requests[-1].checkpoint.revision))
    longer = list(other.export("s"))
    store.import_(short)

    with pytest.raises(CheckpointConflictError) as caught:
        store.import_(longer)
    # session, then bytes and commit of each checkpoint
    assert 7 == caught.value.line
    store.checkpoint(commit("op-3", expected=requests[-1].checkpoint.revision))
    assert not store.import_(longer).imported
    with pytest.raises(CheckpointConflictError) as caught:
        store.import_(short)
    assert len(short) == caught.value.line
    different = place_maker("memory").open()
    different.checkpoint(commit("s-op-1"))
    with pytest.raises(CheckpointConflictError) as caught:
        store.import_(different.export("s"))
    assert 3 == caught.value.line


def test_payloads_that_differ_are_a_conflict(store: ContextStore, place_maker: PlaceMaker) -> None:
    """A payload that the stored session lacks, keeps otherwise, or did not revoke is named with its line."""
    changes: list[Callable[[ContextStore], None]] = [
        lambda other: other.put(payload(b"more")),
        lambda other: other.put(payload(b"kept", retention="compliance")),
        lambda other: other.revoke(payload(b"kept").ref),
    ]
    for change in changes:
        origin, other = place_maker("memory").open(), place_maker("memory").open()
        origin.checkpoint(commit(payloads=[payload(b"kept")]))
        if not store.sessions():
            store.import_(origin.export("s"))
        other.import_(origin.export("s"))
        change(other)

        with pytest.raises(CheckpointConflictError) as caught:
            store.import_(other.export("s"))

        assert caught.value.line >= 4


def test_a_key_that_another_session_used_is_a_conflict(store: ContextStore) -> None:
    """Operation keys stay unique in a store through an import, and nothing of the file is kept."""
    origin = MemoryStore()
    grow(origin, commits=2)
    store.checkpoint(commit("s-op-2", "elsewhere"))

    with pytest.raises(CheckpointConflictError) as caught:
        store.import_(origin.export("s"))

    assert (5, "s-op-2") == (caught.value.line, caught.value.operation_id)
    with pytest.raises(SessionNotFoundError):
        store.session("s")


def test_an_import_obeys_the_limits_of_the_store(place: Place) -> None:
    """A commit that this store would not take is refused at its line."""
    origin = MemoryStore()
    grow(origin, commits=2, events=3)
    store = place.open(limits=Limits(commit_events=2))

    with pytest.raises(OverLimitError) as caught:
        store.import_(origin.export("s"))

    assert 3 == caught.value.line
    assert () == store.sessions()


def _flip(line: bytes, at: int) -> bytes:
    return line[:at] + bytes([line[at] ^ 1]) + line[at + 1 :]


DAMAGES: dict[str, Callable[[list[bytes], int], list[bytes]]] = {
    "flipped": lambda lines, n: [*lines[:n], _flip(lines[n], len(lines[n]) // 2), *lines[n + 1 :]],
    "left out": lambda lines, n: lines[:n] + lines[n + 1 :],
    "doubled": lambda lines, n: lines[: n + 1] + lines[n:],
    "cut": lambda lines, n: [*lines[:n], lines[n][: len(lines[n]) // 2]],
    "blank": lambda lines, n: [*lines[:n], b"\n", *lines[n:]],
    "foreign": lambda lines, n: [*lines[:n], b'{"some":"json"}\n', *lines[n:]],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_refused_at_its_line_and_nothing_is_stored(
    store: ContextStore, damage: Callable[[list[bytes], int], list[bytes]]
) -> None:
    """Wherever the damage is, the line is named and neither session, payload nor revocation is left behind."""
    origin = MemoryStore()
    lines = exported(origin)
    for number in range(0, len(lines), 2):
        with pytest.raises(InvalidRecordError) as caught:
            store.import_(damage(lines, number))

        # Taking out or doubling a line shows at the line that follows.
        assert number + 1 <= caught.value.line <= number + 2
        assert str(caught.value).startswith(f"line {caught.value.line}: ")
    assert () == store.sessions()
    assert store.import_(lines).imported


def test_a_file_without_its_end_is_refused(store: ContextStore) -> None:
    """A file that was cut between two lines is not taken for a shorter session."""
    lines = exported(MemoryStore())
    for cut in ([], lines[:1], lines[:-1]):
        with pytest.raises(InvalidRecordError) as caught:
            store.import_(cut)
        assert len(cut) + 1 == caught.value.line
    assert () == store.sessions()


def _changed(lines: list[bytes], kind: str, change: Callable[[dict[str, object]], object]) -> list[bytes]:
    """The export with the first item of a kind changed, under a chain that is right."""
    all_items = items(lines)
    change(next(item for item in all_items if item["type"] == kind))
    return rechained(all_items)


def _in(item: object, *path: object) -> dict[str, object]:
    for key in path:
        item = item[key]  # type: ignore[index]
    return item  # type: ignore[return-value]


CHANGES: dict[str, tuple[str, Callable[[dict[str, object]], object], type[ContextStateError]]] = {
    "format": ("session", lambda item: item.update(format="other"), InvalidRecordError),
    "version": ("session", lambda item: item.update(version=2), InvalidRecordError),
    "session id": ("session", lambda item: item.update(session_id="t"), InvalidRecordError),
    "no id": ("session", lambda item: item.update(session_id=7), InvalidRecordError),
    "unknown key": ("commit", lambda item: item.update(more=1), InvalidRecordError),
    "unknown type": ("commit", lambda item: item.update(type="comet"), InvalidRecordError),
    "wrong digest": ("bytes", lambda item: item.update(sha256="0" * 64), InvalidRecordError),
    "bad base64": ("bytes", lambda item: item.update(data="*"), InvalidRecordError),
    "other context": ("commit", lambda item: item.update(context="0" * 64), InvalidRecordError),
    "no given": ("commit", lambda item: item.update(given=[]), InvalidRecordError),
    "given what": ("commit", lambda item: item.update(given=[{"data": 1}, {}]), InvalidRecordError),
    "blank kind": (
        "commit",
        lambda item: _in(item, "request", "new_source_events", 0).update(kind=" "),
        InvalidRecordError,
    ),
    "wrong turn": ("commit", lambda item: _in(item, "request").update(turn_id=5), InvalidRecordError),
    "payload size": (
        "commit",
        lambda item: _in(item, "request", "payloads", 0, "ref").update(size=7),
        InvalidRecordError,
    ),
    "not zero": (
        "commit",
        lambda item: (
            _in(item, "request").update(expected={"session": 1, "durable": 0, "source": 0}, new_session=2),
            _in(item, "request", "checkpoint").update(revision={"session": 2, "durable": 1, "source": 2}),
        ),
        StaleRevisionError,
    ),
    "retention": ("payload", lambda item: _in(item, "record").update(retention=""), InvalidRecordError),
    "data": ("payload", lambda item: _in(item, "record").update(data="YWJj"), InvalidRecordError),
    "stored": ("payload", lambda item: item.update(stored="yes"), InvalidRecordError),
    "counts": ("end", lambda item: item.update(commits=2), InvalidRecordError),
}


@pytest.mark.parametrize(("kind", "change", "error"), CHANGES.values(), ids=CHANGES)
def test_a_rewritten_file_meets_the_same_checks_as_a_commit(
    store: ContextStore,
    kind: str,
    change: Callable[[dict[str, object]], object],
    error: type[ContextStateError],
) -> None:
    """A right chain proves nothing: records, bytes, counters and counts are checked all the same."""
    origin = MemoryStore()
    origin.checkpoint(commit(events=2, payloads=[payload(b"a"), bare(payload(b"b"))]))

    with pytest.raises(error) as caught:
        store.import_(_changed(list(origin.export("s")), kind, change))

    assert caught.value.line
    assert () == store.sessions()


def test_bytes_that_the_file_never_gives_are_missed(store: ContextStore) -> None:
    """A commit or payload that says it had data needs the line with it."""
    origin = MemoryStore()
    origin.checkpoint(commit(payloads=[payload(b"a")]))
    kept = [item for item in items(list(origin.export("s"))) if item["type"] != "bytes" or item["data"] != "YQ=="]

    with pytest.raises(InvalidRecordError) as caught:
        store.import_(rechained(kept))

    assert "item.request.payloads[0].ref" == caught.value.field


def test_an_export_reads_one_state_while_others_commit(place: Place) -> None:
    """Lines are made when asked for; a commit in between belongs to the next export, a deletion ends this one."""
    store = place.open()
    requests = grow(store, commits=2)
    lines = store.export("s")
    first = next(lines)
    store.checkpoint(commit("op-3", expected=requests[-1].checkpoint.revision))

    copied = MemoryStore(clock=Clock())
    copied.import_([first, *lines])
    assert 2 == copied.head("s").revision.session
    lines = store.export("s")
    next(lines)
    store.delete_session("s")
    with pytest.raises(SessionNotFoundError):
        list(lines)
