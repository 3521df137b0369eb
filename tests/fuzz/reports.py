"""Damaged and hostile traces in all that is made of them: the views of the pages, the exports, the leak report.

Whatever is sent to a browser or written to a file must be text that can be sent and written, without characters that
steer who shows it; nothing is lost on the way through a file.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, Final

from inspector_app import data, stream_runs
from inspector_app.stream_subjects import choices
from inspector_app.views import decoded, facts, leak_figures, leaks, rail, search, stream_search, stream_steps, tables
from inspector_app.views.hidden import HIDDEN
from inspector_app.views.html_report import html_report
from modelcontext_core.detectors import DETECTORS, Detectors
from modelcontext_core.errors import PolicyError, UnreadableTrace
from modelcontext_core.formats import Trace, iter_traces
from modelcontext_core.leak_report import LeakReport, merge, scan
from modelcontext_core.leak_report.baseline import Baseline, judge
from modelcontext_core.leak_report.report_json import SavedReport, dump_report, load_report
from modelcontext_core.leak_report.sarif import sarif_log
from modelcontext_core.leak_report.suggestions import suggest
from modelcontext_core.messages import ToolCall
from modelcontext_core.policies import DEFAULT_POLICIES
from modelcontext_core.stream_check import CutReport
from tests.fuzz import conversations, mutations, readers, texts

__all__ = ["run"]

_DETECTORS: Final = Detectors(kinds=tuple(DETECTORS))
_CHUNKINGS: Final = ("captured", "characters", "size", "token", "words", "random", "worst", "places")
_MOST: Final = 3
_LARGEST: Final = 60_000
_TAGS: Final = frozenset(
    {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "dl", "div", "dt", "dd"}
    | {"table", "caption", "tr", "td", "th", "mark", "i"}
)
# What a reader may copy, which is not shown: of a block, and of an identity.
_COPIED: Final = frozenset({"value", "durable"})
_SEGMENT: Final = 3
_FORMULA: Final = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")


def run(number: int) -> None:
    """Runs one case; raises `AssertionError`, or what a page or a command would not have expected."""
    rng = random.Random(f"reports {number}")
    extra = (*mutations.HOSTILE, *conversations.IDS, conversations.prose(rng), texts.text(rng))
    name, source = rng.choice(readers.sources())
    if len(source) > _LARGEST:
        return
    if rng.random() < 0.9:
        source = mutations.rebuilt(rng, source, extra)
    name = rng.choice((name, name, rng.choice(mutations.HOSTILE)[:100], "a\r\nb](http://x)", "=1"))
    traces: list[Trace] = []
    try:
        for trace in iter_traces(source, name):
            traces.append(trace)
            if len(traces) == _MOST:
                break
    except UnreadableTrace as error:
        _shown(tables.notice_rows(()), error.reason.replace("\n", " "))
    for trace in traces[:1]:
        if any(each.messages for each in trace.conversations):
            _playground(rng, data.Held(trace=trace, data=source, name=name, key="", digest=""))
    _leaks(rng, traces, name)


# ------------------------------------------------------------------------------------------------------------ pages


def _playground(rng: random.Random, held: data.Held) -> None:
    options = data.Options(citations=rng.random() < 0.5, pack=rng.choice(("auto", "builtin")))
    analysis, proof = data.analyse(held, options), data.prove(held, options)
    assert proof.round_trip.ok, proof.round_trip.differences[0]
    assert not proof.changed_twice
    for number in range(len(data.parts(held, options))):
        _shown(data.part(held, options, number))
    _shown(facts.proof_facts(analysis, proof, price=2.0, currency="$"), facts.chip_rows(analysis))
    _shown(tables.handle_rows(analysis), tables.notice_rows(held.trace.notices))
    _shown(tables.conversation_rows(held.trace.conversations), tables.rule_rows(analysis.proposals, frozenset()))
    found = search.find(analysis, rng.choice(("a", "\ud800", *conversations.IDS)))
    _shown(rail.rail_rows(analysis, found), rail.rail_table(analysis, found))
    _html(html_report(analysis, proof, name=held.name, price=2.0, currency="$").decode())
    _csv(tables.handles_csv(analysis))
    text = rng.choice((decoded.last_answer(analysis), texts.text(rng), conversations.prose(rng)))
    report = analysis.registry.decode_with_report(text)
    _shown(decoded.answer_view(analysis, report, text), decoded.item_rows(analysis, report, text))
    typed = decoded.read_call(rng.choice((text, conversations.arguments(rng))), rng.choice(conversations.TOOLS))
    [call] = analysis.registry.decode_tool_calls([ToolCall(name=typed.name, arguments=typed.arguments)])
    _shown(decoded.call_view(analysis, call, typed.arguments), decoded.resolution_rows(call))
    streams = choices(held, options)
    if streams:
        _streams(rng, held, options, rng.choice(streams))


def _streams(rng: random.Random, held: data.Held, options: data.Options, answer: int) -> None:
    how = stream_runs.HowCut(
        answer=answer,
        made=rng.random() < 0.5,
        chunking=rng.choice(_CHUNKINGS),
        size=rng.randint(1, 9),
        seed=rng.randint(0, 9),
        places=tuple(sorted(rng.sample(range(40), rng.randint(0, 3)))),
        channel=rng.choice(("text0", "reasoning0", "arguments0")),
        assumed=rng.choice((0.0, 20.0)),
    )
    streamed = stream_runs.streamed(held, options, how)
    for number in {0, len(streamed.steps) // 2, len(streamed.steps) - 1}:
        if 0 <= number < len(streamed.steps):
            _shown(stream_steps.step_view(streamed, number))
    _shown(stream_steps.stream_facts(streamed, CutReport(tallies={})), list(streamed.bars))
    stream_search.steps_with(streamed, rng.choice(("a", *conversations.IDS)))


# ------------------------------------------------------------------------------------------------------------ leaks


def _leaks(rng: random.Random, traces: list[Trace], name: str) -> None:
    whole = LeakReport()
    for trace in traces:
        found = scan(trace, DEFAULT_POLICIES, _DETECTORS, name=name, values=rng.random() < 0.3)
        both = merge(whole, found)
        assert both == merge(found, whole), "the order of reports makes a difference"
        whole = both
    try:
        suggested = suggest(lambda: traces, whole, DEFAULT_POLICIES, _DETECTORS)
    except PolicyError as error:
        raise AssertionError(f"a suggestion that is no rule: {error}") from error
    saved = SavedReport(report=whole, suggestions=suggested)
    written = dump_report(saved)
    assert dump_report(load_report(written)) == written, "a saved report is another one"
    assert load_report(written).report == whole
    baseline = Baseline()
    for key in whole.rows:
        baseline = baseline.accept(key, "known")
    assert Baseline.loads(baseline.dumps()) == baseline
    judged = judge(whole, baseline, "2026-01-01")
    assert not judged.new_leaks
    for accepted in (None, baseline, Baseline()):
        log = sarif_log(whole, version="1.0.0", baseline=accepted, today="2026-01-01")
        _sent(log)
        messages = [each["message"]["text"] for each in log["runs"][0]["results"]]
        assert not any(HIDDEN.search(text) or "\n" in text or "](" in text for text in messages), messages
    chosen = leaks.Chosen(query=rng.choice(("", "a", *conversations.IDS)))
    _shown(leaks.heat_rows(whole, "both"), leaks.facts(whole, judged, baseline), leaks.coverage_rows(whole))
    _shown(leaks.finding_rows(leaks.findings(whole, chosen)[0]), leaks.action_rows(whole, suggested, can_apply=True))
    _csv(leaks.rows_csv(whole.rows))
    if whole.rows and rng.random() < 0.03:  # what takes long is the drawing, whatever is drawn
        _sent(json.loads(leak_figures.along(whole, "both").to_json()))
        _shown(json.loads(leak_figures.top(whole, "both").to_json()))


# ------------------------------------------------------------------------------------------------ what may be shown


def _sent(value: Any) -> None:
    """What goes to a browser or into a file is JSON that can be encoded."""
    json.dumps(value, ensure_ascii=False, allow_nan=False, default=vars).encode("utf-8")


def _shown(*values: Any) -> None:
    """And no text of it holds what cannot be seen."""
    for value in values:
        for text in _texts(value):
            found = HIDDEN.search(text)
            assert found is None, f"{found[0]!r} in {text[max(0, found.start() - 40) : found.end() + 40]!r}"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _texts(key)
            if key not in _COPIED:
                yield from _texts(each)
    elif isinstance(value, list | tuple):
        # The last of a segment's four is what is copied, not shown.
        is_segment = isinstance(value, list) and len(value) == _SEGMENT + 1 and isinstance(value[2], int)
        for each in value[:_SEGMENT] if is_segment else value:
            yield from _texts(each)


def _csv(content: bytes) -> None:
    for row in csv.reader(io.StringIO(content.decode(), newline="")):
        for cell in row:
            assert not _FORMULA.match(cell), f"a formula: {cell!r}"
            _shown(cell.replace("\r", ""))


class _Tags(HTMLParser):
    """Nothing but our own elements, without an address or a handler."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _TAGS, f"<{tag}> in the report"
        names = {name for name, _ in attrs}
        assert names <= {"class", "lang", "charset", "http-equiv", "content", "name"}, f"<{tag} {attrs}> in the report"


def _html(text: str) -> None:
    parser = _Tags()
    parser.feed(text)
    parser.close()
    _shown(text)
