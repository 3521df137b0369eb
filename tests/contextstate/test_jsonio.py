"""Records as JSON and back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core.contextstate import (
    BindingRevision,
    Checkpoint,
    CheckpointID,
    CommitRequest,
    ContentRef,
    InvalidRecordError,
    Limits,
    PayloadRecord,
    Revision,
    Session,
    SourceEvent,
    SourceID,
    SourceRange,
    from_json,
    to_json,
)
from tests.contextstate.builders import commit, event, payload

# Any text, lone surrogates too: reading and writing do not validate.
texts = st.text(st.characters(exclude_categories=()), max_size=8)
counters = st.integers(0, 2**64 - 1)
sizes = st.integers(-(2**63), 2**63 - 1)
small_bytes = st.binary(max_size=9)

ids = st.builds(SourceID, session_id=texts, sequence=counters)
ranges = st.builds(SourceRange, start=ids, end=ids)
revisions = st.builds(Revision, session=counters, durable=counters, source=counters)
bindings = st.builds(BindingRevision, provider=texts, model=texts, generation=counters)
events = st.builds(
    SourceEvent,
    id=ids,
    kind=texts,
    role=texts,
    tool_call_id=texts,
    payload_ref=texts,
    provenance=texts,
    redaction_status=texts,
    size=sizes,
)
refs = st.builds(
    ContentRef,
    ref=texts,
    namespace=texts,
    sha256=texts,
    workspace_id=texts,
    session_id=texts,
    subject_id=texts,
    size=sizes,
)
payloads = st.builds(PayloadRecord, ref=refs, retention=texts, revoked=st.booleans(), data=small_bytes)
checkpoint_ids = st.builds(
    CheckpointID,
    session_id=texts,
    source_range=ranges,
    algorithm=texts,
    schema_version=st.integers(0, 2**32 - 1),
    idempotency_key=texts,
)
checkpoints = st.builds(
    Checkpoint, id=checkpoint_ids, revision=revisions, binding=bindings, active_context=small_bytes, turn_id=counters
)
requests = st.builds(
    CommitRequest,
    operation_id=texts,
    session_id=texts,
    expected=revisions,
    expected_binding=bindings,
    new_source_events=st.lists(events, max_size=2).map(tuple),
    payloads=st.lists(payloads, max_size=2).map(tuple),
    checkpoint=checkpoints,
    new_session=counters,
    new_durable=counters,
    new_source_sequence=counters,
    new_binding=bindings,
    turn_id=counters,
)
sessions = st.builds(
    Session,
    revision=revisions,
    binding=bindings,
    active=checkpoints,
    source=st.lists(events, max_size=2).map(tuple),
)
records = st.one_of(ids, ranges, revisions, bindings, events, refs, payloads, checkpoint_ids, checkpoints, requests)


def path_of(kind: type, data: bytes) -> str:
    """The path that reading names."""
    with pytest.raises(InvalidRecordError) as caught:
        from_json(kind, data)
    return caught.value.field


@given(st.one_of(records, sessions))
def test_the_round_trip_is_exact(value: Any) -> None:
    """Every value whose fields have their types comes back equal, in one line of ASCII."""
    data = to_json(value)

    assert value == from_json(type(value), data)
    assert data.isascii()
    assert b"\n" not in data
    assert data == to_json(from_json(type(value), data))


@given(requests, st.data())
def test_every_missing_key_is_named(request: CommitRequest, data: st.DataObject) -> None:
    """Only what is left out when empty may be missing."""
    tree = json.loads(to_json(request))
    key = data.draw(st.sampled_from(sorted(set(tree) - {"payloads"})))
    del tree[key]

    assert key == path_of(CommitRequest, json.dumps(tree).encode())


@given(requests, st.sampled_from([None, True, 1.5, [], {}, -1, 2**64]))
def test_every_wrong_type_is_named(request: CommitRequest, wrong: Any) -> None:
    """No field takes null, a number as text, or an object as array."""
    tree = json.loads(to_json(request))
    kinds = {"new_source_events": list, "payloads": list}
    for key in tree:
        if key in kinds and wrong == []:
            continue
        changed = json.dumps({**tree, key: wrong}).encode()
        assert path_of(CommitRequest, changed).startswith(key)


DAMAGES: list[tuple[type, str, str]] = [
    (Revision, "", ""),
    (Revision, "[]", ""),
    (Revision, "7", ""),
    (Revision, '{"session":1', ""),
    (Revision, '{"session":1,"durable":1,"source":1} x', ""),
    (Revision, '\ufeff{"session":1,"durable":1,"source":1}', ""),
    (Revision, '{"session":NaN,"durable":1,"source":1}', ""),
    (Revision, '{"session":1,"durable":1,"source":' + "9" * 5000 + "}", "source"),
    (Revision, '{"session":1,"durable":1,"source":1e0}', "source"),
    (Revision, '{"session":1,"durable":1,"source":"1"}', "source"),
    (Revision, '{"session":1,"session":1,"durable":1,"source":1}', "session"),
    (Revision, '{"session":1,"durable":1,"source":1,"Session":1}', "Session"),
    (SourceRange, '{"start":{"session_id":"s","sequence":1,"x":2},"end":{"session_id":"s","sequence":1}}', "start.x"),
    (SourceRange, '{"start":[],"end":{"session_id":"s","sequence":1}}', "start"),
    (SourceRange, "[" * 5000, ""),
]


@pytest.mark.parametrize(("kind", "text", "path"), DAMAGES)
def test_what_is_no_record_is_refused_with_its_path(kind: type, text: str, path: str) -> None:
    """Malformed, trailing, duplicate, unknown, out of range, of another type."""
    assert path == path_of(kind, text.encode())


def test_text_that_is_not_utf_8_is_refused() -> None:
    """Bytes of another encoding are no JSON."""
    assert "" == path_of(Revision, '{"session":"é"}'.encode("latin-1"))


@pytest.mark.parametrize("text", ["*", "YQ", "YQ=", "YR==", "YQ==\n", "Y Q==", "YQ==YQ==", "-_8=", 5, None])
def test_only_one_form_of_base64_is_read(text: Any) -> None:
    """Standard alphabet, padded, without spaces, without bits that no byte needs."""
    tree = json.loads(to_json(commit().checkpoint))
    tree["active_context"] = text

    assert "active_context" == path_of(Checkpoint, json.dumps(tree).encode())


def test_paths_lead_through_sequences() -> None:
    """The culprit inside the second event, or payload, is named with its index."""
    tree = json.loads(to_json(commit(events=2, payloads=[payload(b"x"), payload(b"y")])))
    del tree["new_source_events"][1]["id"]["sequence"]
    assert "new_source_events[1].id.sequence" == path_of(CommitRequest, json.dumps(tree).encode())

    tree = json.loads(to_json(commit(payloads=[payload(b"x"), payload(b"y")])))
    tree["payloads"][1]["ref"]["size"] = 2**63
    assert "payloads[1].ref.size" == path_of(CommitRequest, json.dumps(tree).encode())


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Revision(session=True), "session"),
        (Revision(source=2**64), "source"),
        (replace(event(1), kind=None), "kind"),  # type: ignore[arg-type]
        (replace(payload(b"x"), data="x"), "data"),  # type: ignore[arg-type]
        (replace(payload(b"x"), revoked=1), "revoked"),  # type: ignore[arg-type]
        (replace(commit(), new_source_events=7), "new_source_events"),  # type: ignore[arg-type]
        (replace(commit(), checkpoint=None), "checkpoint"),  # type: ignore[arg-type]
        (replace(commit(), payloads=[7]), "payloads[0]"),  # type: ignore[arg-type]
    ],
)
def test_what_could_not_be_read_back_is_not_written(value: object, path: str) -> None:
    """Writing names the field that is not of its type."""
    with pytest.raises(InvalidRecordError) as caught:
        to_json(value)

    assert path == caught.value.field


def test_only_records_of_the_contract_have_a_json_form() -> None:
    """Limits are a setting, not a record."""
    with pytest.raises(TypeError):
        to_json(Limits())
    with pytest.raises(TypeError):
        from_json(Limits, b"{}")


def test_empty_optional_keys_are_left_out_and_may_be_there() -> None:
    """`tool_call_id`, `payload_ref`, `payloads`, `data`: absent and empty are the same when read."""
    assert not {"tool_call_id", "payload_ref"} & set(json.loads(to_json(event(1))))
    tree = json.loads(to_json(replace(payload(b""), retention="x")))
    assert "data" not in tree

    assert payload(b"", retention="x") == from_json(PayloadRecord, json.dumps({**tree, "data": ""}).encode())
