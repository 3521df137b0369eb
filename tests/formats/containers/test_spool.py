"""Spans that are too many to hold are read trace by trace, and say the same."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats import Trace, iter_traces
from modelcontext_core.formats.containers import spool

Json = dict[str, Any]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the first record is held in memory."""
    monkeypatch.setattr(spool, "MAX_HELD_SPAN_BYTES", 100)


def lines(records: Iterable[Any]) -> bytes:
    """JSON Lines."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def span(trace: str, number: int, said: list[str], answer: str, **more: Any) -> Json:
    """A model call that repeats the history of its trace."""

    def told(texts: list[str]) -> str:
        return json.dumps([{"role": "user", "parts": [{"type": "text", "content": text}]} for text in texts])

    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": told(said),
        "gen_ai.output.messages": told([answer]),
    }
    listed = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    return {
        "traceId": trace,
        "spanId": f"{trace}{number}",
        "startTimeUnixNano": str(number),
        "attributes": listed,
        **more,
    }


def export(*spans: Json) -> Json:
    """One line of an exporter."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def told(traces: Iterable[Trace]) -> list[list[str]]:
    """The texts of every conversation."""
    return sorted(
        [message.content for message in conversation.messages]
        for trace in traces
        for conversation in trace.conversations
        if conversation.messages
    )


SPANS = {
    name: [span(name, 1, ["q" + name], "a" + name), span(name, 2, ["q" + name, "a" + name], "z" + name)]
    for name in "bca"
}
FAR_APART = lines([export(*(SPANS[name][step] for name in "bca")) for step in (0, 1)])


@pytest.mark.usefixtures("small")
def test_spans_of_one_trace_that_stand_far_apart_come_together() -> None:
    """Lines that mix traces give one trace each, in the order in which they begin; no span is lost."""
    traces = list(iter_traces(FAR_APART))

    assert [["qb", "ab", "zb"], ["qc", "ac", "zc"], ["qa", "aa", "za"]] == [
        [message.content for message in trace.conversations[0].messages] for trace in traces
    ]
    assert [notice.kind for trace in traces for notice in trace.notices].count("limit") == 1


def test_what_is_read_trace_by_trace_is_what_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Putting spans aside changes neither messages nor their places."""
    at_once = list(iter_traces(FAR_APART))
    monkeypatch.setattr(spool, "MAX_HELD_SPAN_BYTES", 100)
    one_by_one = list(iter_traces(FAR_APART))

    def origins(traces: list[Trace]) -> list[Any]:
        found = [each for trace in traces for conversation in trace.conversations for each in conversation.origins]
        return sorted((origin.record, origin.path, origin.texts) for origin in found)

    assert 1 == len(at_once) < len(one_by_one)
    assert told(at_once) == told(one_by_one)
    assert origins(at_once) == origins(one_by_one)


@pytest.mark.usefixtures("small")
def test_arguments_keep_their_exact_text() -> None:
    """Arguments of a call in a span that was put aside are the bytes of the source."""
    call = (
        '{"traceId":"%s","spanId":"2","name":"t","attributes":{"gen_ai.operation.name":"execute_tool",'
        '"gen_ai.tool.name":"find","gen_ai.tool.call.arguments":{"n": 1.0,  "big": 18446744073709551616}}}'
    )
    both = f'{{"spans": [{call % "a"}, {call % "b"}]}}\n'
    alone = f"{call % 'c'}\n"

    calls = [
        call.arguments
        for trace in iter_traces((both + alone).encode())
        for conversation in trace.conversations
        for message in conversation.messages
        for call in message.tool_calls
    ]

    assert ['{"n": 1.0,  "big": 18446744073709551616}'] * 3 == calls


@pytest.mark.usefixtures("small")
def test_a_trace_that_is_too_large_itself_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace above the limit of a record is told in parts, and that is said."""
    monkeypatch.setattr(spool, "MAX_RECORD_BYTES", 900)
    source = lines([export(span("t", number, [f"q{number}"], f"a{number}")) for number in range(6)])

    traces = list(iter_traces(source))

    assert 1 < len(traces)
    assert [f"{kind}{number}" for number in range(6) for kind in "qa"] == [
        text for texts in told(traces) for text in texts
    ]
    assert any("read in parts" in notice.text for trace in traces for notice in trace.notices)


@pytest.mark.usefixtures("small")
def test_a_damaged_line_is_reported_once() -> None:
    """A cut line is read as far as it goes, also when it was put aside."""
    source = FAR_APART + lines([export(SPANS["a"][0])])[:-9]

    traces = list(iter_traces(source))

    assert told(iter_traces(FAR_APART)) == told(traces)
    assert [notice.kind for trace in traces for notice in trace.notices].count("damaged") == 1


@pytest.mark.usefixtures("small")
def test_what_is_no_span_or_broke_off_in_one_is_put_aside_too() -> None:
    """A batch of which one span is a number and the last has a quote too many: the trace is read, the break is told."""
    said = {"input": {"q": "Free?"}, "output": {"output": "Yes."}}
    batch = {"traces": [{"id": "t", "project_name": "p", "name": "n", "start_time": "1", **said}]}
    text = json.dumps({**batch, "spans": [7, {"id": "s", "trace_id": "t"}]}).replace('"id": "s"', '"id"": "s"')

    traces = list(iter_traces(text.encode(), "batch.json"))

    assert told(traces) == [["Yes."]]
    assert "damaged" in [notice.kind for trace in traces for notice in trace.notices]


@pytest.mark.usefixtures("small")
def test_the_end_of_a_span_is_told_when_it_stands_alone() -> None:
    """The end of a trace is a record of its own that nothing but its place in the batch tells from others."""
    start = {"id": "T", "project_name": "p", "name": "n", "start_time": "2026-01-02T03:04:05Z", "input": {"q": "Why?"}}
    end = {"id": "T", "project_name": "p", "output": {"output": "Because."}}

    traces = list(iter_traces(json.dumps({"traces": [start, end, {**start, "id": "U"}], "spans": []}).encode()))

    assert 2 == len(traces)
    assert ["Because."] == [message.content for message in traces[0].conversations[0].messages]


@pytest.mark.usefixtures("small")
def test_a_full_disk_is_a_source_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be put aside, one sentence says so."""
    monkeypatch.setattr(spool, "_TABLES", "PRAGMA max_page_count = 2; " + spool._TABLES)

    with pytest.raises(UnreadableTrace, match="cannot be put aside"):
        list(iter_traces(FAR_APART))


RUN = {"id": "r", "trace_id": "t", "run_type": "llm", "dotted_order": "1", "name": "model", "start_time": "2026-01-01"}
ASKED = {"messages": [{"role": "user", "content": "Where is it?"}]}
ANSWERED = {"choices": [{"message": {"role": "assistant", "content": "In the hall."}}]}
OPIK = {"id": "s", "trace_id": "t", "project_name": "p", "type": "llm", "name": "model", "start_time": "2026-01-01"}
OBSERVATION = {"id": "o", "traceId": "t", "type": "GENERATION", "startTime": "2026-01-01T00:00:00Z"}
LITELLM = {"call_type": "completion", "response_cost": 0.1, "status": "success"}
LONGER = {
    "messages": [
        *ASKED["messages"],
        {"role": "assistant", "content": "In the hall."},
        {"role": "user", "content": "Thanks"},
    ]
}
OTHER = {"messages": [{"role": "user", "content": "Something else."}]}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("name", "records"),
    [
        (
            "langsmith_run",
            [
                {**RUN, "inputs": ASKED},
                {**RUN, "id": "x", "trace_id": "u", "inputs": OTHER},
                {**RUN, "outputs": ANSWERED},
            ],
        ),
        (
            "opik",
            [
                {**OPIK, "input": ASKED},
                {**OPIK, "id": "x", "trace_id": "u", "input": OTHER},
                {**OPIK, "output": ANSWERED},
            ],
        ),
        (
            "langfuse_export",
            [
                [{**OBSERVATION, "input": ASKED}, {**OBSERVATION, "id": "x", "traceId": "u", "input": OTHER}],
                [{**OBSERVATION, "id": "p", "input": ASKED, "output": ANSWERED}],
            ],
        ),
        (
            "litellm_log",
            [
                {**LITELLM, **ASKED, "response": ANSWERED},
                {**LITELLM, **OTHER, "response": ANSWERED},
                {**LITELLM, **LONGER, "response": ANSWERED},
            ],
        ),
    ],
)
def test_records_of_one_trace_are_joined_wherever_they_stand(name: str, records: list[Any]) -> None:
    """Start and end of a run, repeated histories and other traces in between: told once, by their trace."""
    traces = list(iter_traces(lines(records)))

    assert {name} == {trace.format for trace in traces}
    assert 2 == len(traces) == len(told(traces))
    assert ["Where is it?", "In the hall."] in [texts[:2] for texts in told(traces)]


@pytest.mark.usefixtures("small")
def test_runs_of_one_thread_stay_together() -> None:
    """Traces that share a session are one conversation, though only one record of a trace may name it."""
    thread = {"extra": {"metadata": {"thread_id": "thread"}}}
    records = [
        {**RUN, **thread, "inputs": ASKED},
        {**RUN, "outputs": ANSWERED},
        {
            **RUN,
            **thread,
            "id": "s",
            "trace_id": "u",
            "start_time": "2026-01-02",
            "inputs": LONGER,
            "outputs": ANSWERED,
        },
    ]

    assert [["Where is it?", "In the hall.", "Thanks", "In the hall."]] == told(iter_traces(lines(records)))


@pytest.mark.usefixtures("small")
def test_one_large_document_is_read_trace_by_trace_too() -> None:
    """A document with the spans of many traces is let go before they are told."""
    document = json.dumps(export(*(span for spans in SPANS.values() for span in spans))).encode()

    assert told(iter_traces(FAR_APART)) == told(iter_traces(document))
    assert 3 == len(list(iter_traces(document)))
