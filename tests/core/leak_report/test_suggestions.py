"""What to do about leaks: the rule, and that it does what was predicted."""

from __future__ import annotations

import random

from modelcontext_core.leak_report.measure import Effect
from modelcontext_core.leak_report.report import merged, scan
from modelcontext_core.leak_report.suggestions import advice_for, apply, combine, compare, propose, suggest
from modelcontext_core.messages import Message
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies
from tests.core.leak_report.leaking import A, B, C, call, orders, result, trace

TRACES = [orders(), orders((C, A)), orders((B,))]


def test_the_effect_is_what_applying_the_suggestion_gives() -> None:
    """The predicted number of leaks is the number after the rule was applied, on the same traces."""
    report = merged(map(scan, TRACES))
    (first, *_) = suggest(lambda: TRACES, report, DEFAULT_POLICIES)
    after = merged(scan(each, apply(DEFAULT_POLICIES, first)) for each in TRACES)

    assert "crm_lookup" == first.tool
    assert report.totals.leaks == first.effect.all_before
    assert after.totals.leaks == first.effect.all_after
    assert 0 == first.effect.after


def test_the_applied_pack_says_the_same_from_a_file() -> None:
    """The exported pack, read back, leaves exactly the leaks that were predicted."""
    report = merged(map(scan, TRACES))
    (first, *_) = suggest(lambda: TRACES, report, DEFAULT_POLICIES)
    again = ToolPolicies.loads(apply(DEFAULT_POLICIES, first).dumps())

    assert first.effect.all_after == merged(scan(each, again) for each in TRACES).totals.leaks


def test_a_declared_tool_with_raw_ids_is_to_be_mined() -> None:
    """Discovery proposes nothing for a tool that the pack knows: there the ids of plain text are mined."""
    found = [trace(result("shell_exec", f"{A}\n{B}"))]
    (only,) = suggest(lambda: found, scan(found[0]), DEFAULT_POLICIES)

    assert ("shell_exec", "mine", Effect(2, 0, 2, 0, 1)) == (only.tool, only.action, only.effect)
    assert 0 == scan(found[0], apply(DEFAULT_POLICIES, only)).totals.leaks


def test_rules_of_many_traces_add_up_in_any_order() -> None:
    """Proposals of several traces are put together by tool, place, key, kind and space."""
    proposals = [propose(each, DEFAULT_POLICIES) for each in TRACES]
    mixed = proposals[:]
    random.Random(1).shuffle(mixed)
    key = ("crm_lookup", "result", "order_id", "uuid", "document")

    assert combine(*proposals) == combine(*mixed) == combine(combine(*mixed[:1]), combine(*mixed[1:]))
    assert 5 == combine(*proposals)[key].count


def test_few_values_make_no_sure_rule() -> None:
    """A rule is sure when everything under its keys was an id, a few times."""
    once = [trace(result("crm", {"owner": A, "x": 1}))]
    mixed = [trace(result("crm", {"owner": [A, B, C, "nobody", "somebody", "anybody"]}))]
    sure = []
    for found in (TRACES, once, mixed):
        sure += [each.sure for each in suggest(found.copy, merged(map(scan, found)), DEFAULT_POLICIES)][:1]

    assert "high" == sure[0]
    assert "high" not in sure[1:]


def test_what_no_rule_helps_gets_a_reason() -> None:
    """A missed id is the codec's, signed reasoning and opaque tools are left on purpose."""
    found = trace(
        call("get_document_info", knowledge_ids=[A]),
        Message(role="assistant", reasoning=A, reasoning_signature="s"),
        result("call_mcp_tool", {"id": B}),
    )

    assert {("assistant", "signed"), ("call_mcp_tool", "opaque")} == {
        (each.producer, each.why) for each in advice_for(scan(found), [])
    }


def test_two_packs_are_compared_on_the_same_traces() -> None:
    """Each producer with its leaks under both packs, the largest difference first."""
    report = merged(map(scan, TRACES))
    (first, *_) = suggest(lambda: TRACES, report, DEFAULT_POLICIES)
    rows = compare(DEFAULT_POLICIES, apply(DEFAULT_POLICIES, first), TRACES)

    assert ("crm_lookup", 5, 0) == rows[0]
    assert first.effect.all_after == sum(row.second for row in rows)
