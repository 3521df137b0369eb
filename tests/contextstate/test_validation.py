"""The rules about records, where the vectors leave off: bounds, order, paths, and values of wrong types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from modelcontext_core.contextstate import (
    BindingRevision,
    CommitRequest,
    ContextStateError,
    InvalidRecordError,
    Limits,
    PayloadRecord,
    Revision,
    SourceID,
    SourceRange,
    new_commit_request,
    reassemble,
)
from tests.contextstate.builders import GPT, GPT_NEXT, commit, event, payload

TOP = 2**64 - 1


def field_of(check: Callable[[], object]) -> str:
    """The field that the check names."""
    with pytest.raises(InvalidRecordError) as caught:
        check()
    assert caught.value.reason
    assert f"invalid context record: {caught.value.field}: {caught.value.reason}" == str(caught.value)
    return caught.value.field


@pytest.mark.parametrize(
    "text",
    ["", " ", "\u3000\u00a0", "\t", "a\x00b", "a\x1f", "a\x7f", "\ud800", "x" * 129, "é" * 65, None, 7, b"bytes"],
)
def test_what_is_no_identifier(text: Any) -> None:
    """Blank, control characters, lone surrogates, more than 128 bytes of UTF-8, and everything that is no text."""
    assert "session_id" == field_of(SourceID(session_id=text, sequence=0).validate)


@pytest.mark.parametrize("text", ["x", " x ", "x" * 128, "é" * 64, "\u0080", "\u200b", "\U0001f600", "a b"])
def test_what_is_an_identifier(text: str) -> None:
    """Anything else, up to 128 bytes, zero-width and C1 characters included."""
    SourceID(session_id=text, sequence=TOP).validate()


@pytest.mark.parametrize("value", [-1, TOP + 1, True, False, 1.0, "1", None, float("nan")])
def test_what_is_no_counter(value: Any) -> None:
    """Outside of 64 bits, or of another type, whatever it equals."""
    assert "sequence" == field_of(SourceID(session_id="s", sequence=value).validate)


def test_the_first_wrong_field_in_order_of_declaration_is_named() -> None:
    """With every field wrong it is the first one, then the second, and so on."""
    wrong = replace(
        event(1), kind="", role="", tool_call_id="\0", payload_ref="\0", provenance="", redaction_status="", size=-1
    )
    good = event(1)
    order = []
    for name in ("kind", "role", "tool_call_id", "payload_ref", "provenance", "redaction_status", "size"):
        order.append(field_of(wrong.validate))
        wrong = replace(wrong, **{name: getattr(good, name)})
    assert ["kind", "role", "tool_call_id", "payload_ref", "provenance", "redaction_status", "size"] == order
    wrong.validate()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"ref": "sha256:0"}, "ref"),
        ({"ref": None}, "ref"),
        ({"namespace": " "}, "namespace"),
        ({"sha256": "0" * 64}, "sha256"),
        ({"workspace_id": ""}, "workspace_id"),
        ({"session_id": ""}, "session_id"),
        ({"subject_id": ""}, "subject_id"),
        ({"size": -1}, "size"),
        ({"size": 2**63}, "size"),
        ({"size": True}, "size"),
    ],
)
def test_a_reference_agrees_with_itself(changes: dict[str, Any], field: str) -> None:
    """Each field of a `ContentRef` has its rule."""
    record = payload(b"x")

    assert field == field_of(replace(record.ref, **changes).validate)
    assert f"ref.{field}" == field_of(replace(record, ref=replace(record.ref, **changes)).validate)


WRONG_PAYLOADS: list[tuple[dict[str, Any], str]] = [
    ({"retention": ""}, "retention"),
    ({"retention": None}, "retention"),
    ({"revoked": 1}, "revoked"),
    ({"data": "text"}, "data"),
    ({"data": b"y"}, "data"),
    ({"data": b"xx"}, "data"),
    ({"data": bytearray(b"x")}, "data"),
]


@pytest.mark.parametrize(("changes", "field"), WRONG_PAYLOADS, ids=str)
def test_a_payload_has_a_class_and_the_bytes_of_its_reference(changes: dict[str, Any], field: str) -> None:
    """Only bytes are data: what could still change would not stay what it was checked to be."""
    assert field == field_of(replace(payload(b"x"), **changes).validate)


def test_reassembling_needs_every_byte() -> None:
    """Chunks may be cut anywhere; lost or changed bytes fail, also when nothing at all is left."""
    record = payload(b"hello")

    assert record == reassemble(record.ref, "session", b"he", b"", b"llo")
    for chunks in ([b"hell"], [b"jello"], []):
        assert "data" == field_of(lambda chunks=chunks: reassemble(record.ref, "session", *chunks))  # type: ignore[misc]
    assert "retention" == field_of(lambda: reassemble(record.ref, "", b"hello"))
    assert b"" == reassemble(payload(b"").ref, "session").data


def test_a_range_is_ordered_and_bounded() -> None:
    """At most 100,000 events of one session, both ends included."""

    def check(start: int, end: int, other: str = "s") -> Callable[[], None]:
        return SourceRange(
            start=SourceID(session_id="s", sequence=start), end=SourceID(session_id=other, sequence=end)
        ).validate

    check(TOP, TOP)()
    check(TOP - 99_999, TOP)()
    assert "end.sequence" == field_of(check(1, 100_001))
    assert "end.sequence" == field_of(check(2, 1))
    assert "end.session_id" == field_of(check(2, 1, "t"))
    assert "start.sequence" == field_of(check(-1, -2))


TEXT: Any = "text"

CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"session_id": "", "operation_id": ""}, "session_id"),
    ({"operation_id": "", "expected_binding": replace(GPT, generation=0)}, "operation_id"),
    (
        {"expected_binding": replace(GPT, provider=""), "new_binding": replace(GPT, model="")},
        "expected_binding.provider",
    ),
    ({"new_binding": replace(GPT, model=""), "new_session": 9}, "new_binding.model"),
    ({"expected": Revision(session=-1)}, "expected.session"),
    ({"expected": Revision(durable=True)}, "expected.durable"),
    ({"new_source_events": None}, "new_source_events"),
    ({"new_session": 2, "new_durable": 2}, "new_session"),
    ({"new_durable": 2, "new_source_sequence": 2}, "new_durable"),
    ({"new_source_sequence": 2, "new_source_events": (event(7),)}, "new_source_sequence"),
    ({"new_source_events": (event(1, "t"),)}, "new_source_events[0].id.session_id"),
    ({"new_source_events": (event(2),)}, "new_source_events[0].id.sequence"),
    ({"payloads": 5}, "payloads"),
    ({"payloads": (payload(b"x"), payload(b"x", "t"))}, "payloads[1].ref.session_id"),
    ({"payloads": (replace(payload(b"x"), data=b"y"),), "turn_id": 0}, "payloads[0].data"),
    ({"turn_id": 0}, "turn_id"),
    ({"turn_id": 2}, "checkpoint.turn_id"),
    ({"new_binding": GPT_NEXT}, "checkpoint.binding"),
    ({"checkpoint": commit(session_id="t").checkpoint}, "checkpoint.id.session_id"),
    ({"checkpoint": replace(commit().checkpoint, active_context=b"")}, "checkpoint.active_context"),
    ({"checkpoint": replace(commit().checkpoint, active_context=TEXT)}, "checkpoint.active_context"),
    ({"checkpoint": replace(commit().checkpoint, revision=Revision(session=1, durable=1))}, "checkpoint.revision"),
    ({"checkpoint": replace(commit().checkpoint, binding=replace(GPT, generation=0))}, "checkpoint.binding.generation"),
]


@pytest.mark.parametrize(("changes", "field"), CHANGES, ids=[field for _, field in CHANGES])
def test_a_commit_is_checked_in_the_order_of_the_contract(changes: dict[str, Any], field: str) -> None:
    """Identity, revision, events, payloads, checkpoint: of two faults the earlier one is named."""
    assert field == field_of(replace(commit(), **changes).validate)


def test_the_range_of_a_checkpoint_covers_the_new_events() -> None:
    """It may begin before them, not after; it ends with the last, or where an empty commit found the log."""
    at = Revision(session=3, durable=3, source=6)

    def request(start: int, end: int, events: int) -> CommitRequest:
        made = commit(expected=at, events=events)
        covered = SourceRange(
            start=SourceID(session_id="s", sequence=start), end=SourceID(session_id="s", sequence=end)
        )
        identity = replace(made.checkpoint.id, source_range=covered)
        return replace(made, checkpoint=replace(made.checkpoint, id=identity))

    for start, end, events in ((7, 8, 2), (1, 8, 2), (0, 8, 2), (6, 6, 0), (2, 6, 0)):
        request(start, end, events).validate()
    base = "checkpoint.id.source_range."
    assert f"{base}start.sequence" == field_of(request(8, 8, 2).validate)
    assert f"{base}end.sequence" == field_of(request(7, 7, 2).validate)
    assert f"{base}end.sequence" == field_of(request(7, 9, 2).validate)
    assert f"{base}end.sequence" == field_of(request(1, 5, 0).validate)


@pytest.mark.parametrize(
    ("expected", "field"),
    [
        (Revision(session=TOP), "new_session"),
        (Revision(durable=TOP), "new_durable"),
        (Revision(source=TOP), "new_source_sequence"),
        (Revision(session="1"), "expected.session"),  # type: ignore[arg-type]
        (Revision(session=None), "expected.session"),  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_a_counter_at_its_maximum_has_no_successor(expected: Revision, field: str) -> None:
    """Nothing wraps around to zero, whether the request was made by hand or by the helper."""
    made = commit()

    def build() -> CommitRequest:
        return new_commit_request(
            "s", expected, GPT, made.new_source_events, (), made.checkpoint, made.new_binding, made.turn_id
        )

    assert field == field_of(build)
    if isinstance(expected.session, int):
        wrapped = replace(made, expected=expected, new_session=0, new_durable=0, new_source_sequence=0)
        assert field_of(wrapped.validate).startswith("new_")


def test_the_helper_makes_the_request_that_it_validates() -> None:
    """Operation key from the checkpoint, counters from what was expected; sequences become tuples."""
    made = commit(payloads=[payload(b"x")])

    built = new_commit_request(
        "s", Revision(), GPT, [*made.new_source_events], [*made.payloads], made.checkpoint, GPT, 1
    )

    assert made == built
    assert isinstance(built.new_source_events, tuple)
    with pytest.raises(InvalidRecordError) as caught:
        new_commit_request("", Revision(session=TOP), GPT, [], [], made.checkpoint, GPT, 1)
    assert "session_id" == caught.value.field


@pytest.mark.parametrize("value", [True, 1.5, None, 2**63])
def test_limits_are_sizes(value: Any) -> None:
    """A bound is a number of bytes or events."""
    assert "checkpoint_bytes" == field_of(Limits(checkpoint_bytes=value).validate)


def test_schema_versions_and_algorithms_have_narrower_bounds() -> None:
    """32 bits and 64 bytes."""
    identity = commit().checkpoint.id
    replace(identity, schema_version=2**32 - 1, algorithm="a" * 64).validate()

    assert "schema_version" == field_of(replace(identity, schema_version=2**32).validate)
    assert "algorithm" == field_of(replace(identity, algorithm="a" * 65).validate)
    assert "generation" == field_of(BindingRevision(provider="p", model="m", generation=0).validate)


def test_records_are_values() -> None:
    """They can be compared and used as keys, not changed, and are built by keyword only."""
    record = payload(b"x")

    assert {record: 1}[replace(record)] == 1
    with pytest.raises(AttributeError):
        record.retention = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        PayloadRecord(record.ref, "session")  # type: ignore[call-arg]


def test_every_error_is_one_tree() -> None:
    """A caller can catch them all; an error of an import says its line first."""
    error = InvalidRecordError("kind", "must not be blank")
    assert isinstance(error, ContextStateError)
    error.line = 7

    assert "line 7: invalid context record: kind: must not be blank" == str(error)
