"""The leak report: what is counted and where, and that reports merge in any order."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from modelcontext_core.formats.base import Conversation, Notice, Trace
from modelcontext_core.leak_report import report as counting
from modelcontext_core.leak_report.report import Collector, merge, merged, scan
from modelcontext_core.leak_report.report_json import SavedReport, dump_report, load_report
from modelcontext_core.leak_report.rows import LeakReport
from modelcontext_core.messages import Message, Part, Tool
from tests.core.leak_report.leaking import A, B, C, call, orders, result, trace


def rows(report: LeakReport) -> set[tuple[str, str, str, bool, str, int]]:
    """The rows of a report, without what most tests do not look at."""
    return {
        (key.producer, key.field, key.place, key.registered, key.reason, counts.occurrences)
        for key, counts in report.rows.items()
    }


def test_every_leak_has_a_producer_a_field_and_a_place() -> None:
    """JSON paths come without positions, so that a list is one place; calls belong to their tool."""
    assert {
        ("crm_lookup", "content", "$.orders[].order_id", False, "opaque", 2),
        ("crm_cancel", "arguments", "$.order_id", False, "", 1),
        ("assistant", "content", "", False, "", 1),
    } == rows(scan(orders()))


def test_a_label_before_the_value_is_its_place() -> None:
    """In plain text the word before `=` or `:` says where an id stands; in a JSON string it is added to the path."""
    plain = trace(result("shell_exec", f"order_id={A}\nowner: {B}\n{C}"))
    inside = trace(result("shell_exec", {"out": f"order_id={A}"}))

    assert {"order_id", "owner", ""} == {place for _, _, place, *_ in rows(scan(plain))}
    assert {"$.out::order_id"} == {place for _, _, place, *_ in rows(scan(inside))}


def test_user_text_is_no_leak() -> None:
    """What the user typed is left on purpose: it is counted apart."""
    report = scan(trace(Message(role="user", content=A)))

    assert (0, 1, 0) == (report.totals.leaks, report.totals.on_purpose, report.totals.leaking_traces)


def test_what_the_registry_knows_is_a_missed_id() -> None:
    """An id with a handle that still stands there, here in signed reasoning, is registered, with the reason."""
    found = trace(
        call("get_document_info", knowledge_ids=[A]),
        Message(role="assistant", reasoning=f"see {A.upper()}", reasoning_signature="s"),
    )

    assert {("assistant", "reasoning", "", True, "signed", 1)} == rows(scan(found))


def test_an_id_inside_a_url_says_so() -> None:
    """The codec leaves URLs whole: the reason is given."""
    report = scan(trace(Message(role="assistant", content=f"https://example.org/{A}")))

    assert {"inside_url"} == {key.reason for key in report.rows}


def test_tool_definitions_are_scanned() -> None:
    """Descriptions and schemas are sent to the model as well."""
    tools = (Tool(name="move", description=f"the root is {A}", parameters={"enum": [B]}),)
    report = scan(Trace(format="x", conversations=(Conversation(tools=tools),)))

    assert {("move", "schema", "", False, "", 1), ("move", "schema", "$.enum[]", False, "", 1)} == rows(report)
    assert 2 == report.coverage["tool_schemas"].left


def test_a_branch_knows_what_its_parent_registered() -> None:
    """A branch is encoded behind the messages it continues, and only its own are counted."""
    parent = Conversation(id="p", messages=(call("get_document_info", knowledge_ids=[A]),))
    branch = Conversation(id="b", parent="p", after=1, messages=(result("shell_exec", f"{A} {B}"),))
    report = scan(Trace(format="x", conversations=(parent, branch)))

    assert {("shell_exec", "content", "", False, "", 1)} == rows(report)
    assert 2 == report.totals.messages


def test_offsets_are_those_of_the_encoded_text() -> None:
    """An occurrence can be marked in the message as the model sees it."""
    found = trace(call("get_document_info", knowledge_ids=[A]), result("shell_exec", f"{A} {B}"))
    (one,) = scan(found).occurrences

    assert (1, "content", len("doc://1 "), len("doc://1 ") + 36) == (one.message, one.path, one.start, one.end)


def test_a_fingerprint_stays_when_messages_come_before() -> None:
    """The fingerprint is that of a place: neither the position of a message nor the value matters."""
    before = Message(role="user", content="Hello")
    moved = trace(before, before, *orders((C, B)).conversations[0].messages)

    assert {key.fingerprint for key in scan(orders()).rows} == {key.fingerprint for key in scan(moved).rows}


def test_keys_that_are_ids_are_one_place() -> None:
    """`{"<uuid>": …}` is one place for all users, and shows no id."""
    report = scan(trace(result("crm", {A: {"id": B}, C: {"id": B}})))

    assert {"$.*", "$.*.id"} == {key.place for key in report.rows}


def test_no_whole_identifier_unless_asked_for() -> None:
    """Values are shortened everywhere in the report file; with `values` they are there."""
    without = dump_report(SavedReport(report=scan(orders())))
    asked = dump_report(SavedReport(report=scan(orders(), values=True)))

    assert A not in without
    assert A[:8] in without
    assert A in asked


def test_coverage_counts_what_was_replaced_and_left() -> None:
    """Every position says how many texts were scanned, how many ids were replaced, left, and left on purpose."""
    found = trace(
        Message(role="user", content=A),
        call("get_document_info", knowledge_ids=[B]),
        result("shell_exec", f"{B} {C}"),
    )
    coverage = scan(found).coverage

    assert (1, 1) == (coverage["user"].texts, coverage["user"].on_purpose)
    assert (1, 1) == (coverage["arguments"].texts, coverage["arguments"].replaced)
    assert (1, 1) == (coverage["results"].replaced, coverage["results"].left)


def test_a_saved_report_opens_again() -> None:
    """A report file holds everything: read back, the report is the same value."""
    report = merge(scan(orders(), name="a.json"), scan(orders((C,)), name="b.json#2"))

    assert report == load_report(dump_report(SavedReport(report=report))).report


# --- merging

IDS = [f"{n:08x}-0000-4000-8000-{n:012x}" for n in range(12)]
PLACES = ["order_id", "user", "ref"]
TOOLS = ["crm", "shell_exec"]


@st.composite
def reports(draw: st.DrawFn) -> LeakReport:
    """Reports of small traces that share tools, places, ids and notices."""
    keys = draw(st.dictionaries(st.sampled_from(PLACES), st.lists(st.sampled_from(IDS), max_size=4), max_size=3))
    message = result(draw(st.sampled_from(TOOLS)), dict(keys))
    notices = draw(st.lists(st.sampled_from("abc"), max_size=2))
    name = f"t{draw(st.integers(0, 10**6))}"
    one = trace(message)
    return scan(
        Trace(
            format="x",
            conversations=one.conversations,
            notices=tuple(Notice(kind="unknown", where=each, text=each) for each in notices),
        ),
        name=name,
    )


@settings(max_examples=15)
@given(found=st.lists(reports(), min_size=3, max_size=6))
def test_merging_is_associative_and_commutative(found: list[LeakReport]) -> None:
    """Any order and any grouping give the same report, also when everything that is capped overflows."""
    before = counting.MAX_OCCURRENCES, counting.MAX_ROWS, counting.MAX_IDENTITIES, counting.MAX_NOTICES
    caps = ("MAX_OCCURRENCES", 5), ("MAX_ROWS", 2), ("MAX_IDENTITIES", 3), ("MAX_NOTICES", 1)
    for name, value in caps:
        setattr(counting, name, value)
    try:
        expected = merged(found)
        first, second, *rest = found
        assert expected == merged(reversed(found))
        assert expected == merge(first, merge(second, merged(rest)))
        assert expected == merge(merge(first, merged(rest)), second)
        assert all(expected == merged(order) for order in permutations(found) if order[0] is found[-1])
    finally:
        for (name, _), value in zip(caps, before, strict=True):
            setattr(counting, name, value)


def test_folded_rows_are_still_counted() -> None:
    """What does not fit is counted as one row, so that the totals add up."""
    before = counting.MAX_ROWS
    counting.MAX_ROWS = 1  # type: ignore[misc]
    try:
        report = scan(trace(result("crm", {"a": A, "b": B, "c": C})))
    finally:
        counting.MAX_ROWS = before  # type: ignore[misc]

    assert 1 == len(report.rows)
    assert report.totals.leaks == report.more_rows.occurrences + sum(each.occurrences for each in report.rows.values())


def test_the_sample_keeps_an_example_of_a_rare_row() -> None:
    """One leak beside thousands of another row is in the sample."""
    before = counting.MAX_OCCURRENCES
    counting.MAX_OCCURRENCES = 10  # type: ignore[misc]
    try:
        collector = Collector()
        many = [f"{n:08x}-0000-4000-8000-000000000000" for n in range(50)]
        collector.add(scan(trace(result("crm", {"many": many, "rare": A}))))
        report = collector.report()
    finally:
        counting.MAX_OCCURRENCES = before  # type: ignore[misc]

    assert 10 == len(report.occurrences)
    assert 41 == report.more_occurrences
    assert "$.rare" in {each.place for each in report.occurrences}


def test_the_empty_report_changes_nothing() -> None:
    """The empty report is the neutral element of merging."""
    report = scan(orders())

    assert report == merge(report, LeakReport()) == merge(LeakReport(), report)


def test_citations_and_file_names_are_counted_as_positions_of_their_own() -> None:
    """A tag that became a reference, one that was left with its id, a provider's citation part, and a named file."""
    answer = f'Yes <kb doc="Rules" chunk_id="{A}" />, no <kb doc="" chunk_id="not an id {B}" />.'
    parts = (
        Part(type="file", data={"name": f"{A}.pdf", "length": 4}),
        Part(type="image", data={"length": 4}),
        Part(type="citation", text="page 3"),
    )
    found = Trace(
        format="x",
        conversations=(
            Conversation(messages=(Message(role="assistant", content=answer), Message(role="user", parts=parts))),
        ),
    )
    coverage = scan(found).coverage

    assert (2, 1, 1, 1) == (
        coverage["citations"].texts,
        coverage["citations"].replaced,
        coverage["citations"].left,
        coverage["citations"].skipped,
    )
    assert 1 == coverage["assistant"].left
    assert (1, 40, 1, 1) == (
        coverage["file_names"].texts,
        coverage["file_names"].characters,
        coverage["file_names"].on_purpose,
        coverage["file_names"].skipped,
    )
