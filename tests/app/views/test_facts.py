"""The proof line and the chips."""

from __future__ import annotations

from dataclasses import replace

from inspector_app import words
from inspector_app.views import tables
from inspector_app.views.facts import chip_rows, proof_facts, saved
from modelcontext_core.formats.base import Conversation
from modelcontext_core.messages import Message, ToolCall
from modelcontext_core.roundtrip import Difference, RoundTrip
from tests.app.making import RAW, both


def facts_of(*made: object) -> dict[str, dict[str, str]]:
    """The facts by their key."""
    return {fact["key"]: fact for fact in proof_facts(*made, price=2.5, currency="€")}  # type: ignore[arg-type]


def test_the_proof_line_counts_what_was_replaced_and_what_is_left() -> None:
    """Identifiers, handles, raw ids left and those in user text, each with its number."""
    facts = facts_of(*both())

    assert (facts["identifiers"]["value"], facts["identifiers"]["sub"]) == ("4", "3 handles")
    assert facts["round_trip"]["value"] == "✓ byte-identical"
    assert facts["twice"]["value"] == "✓ changes nothing"
    assert (facts["raw"]["value"], facts["raw"]["sub"]) == ("✕ 1", "in 1 message · 1 in user text")


def test_a_difference_of_the_round_trip_is_a_fault() -> None:
    """One planted difference turns the fact red and says how many places differ."""
    analysis, proof = both()
    difference = Difference(message=0, path="content", rule="text", expected="a", got="b")
    broken = replace(proof, round_trip=RoundTrip(ok=False, identical=0, accepted=0, differences=(difference,)))

    fact = facts_of(analysis, broken)["round_trip"]

    assert (fact["value"], fact["tone"]) == ("✕ 1 place differs", "fault")
    assert fact["note"].startswith("message 0, content: ")


def test_accepted_differences_are_counted_apart() -> None:
    """Exceptions that the rules allow are neither a plain yes nor a no."""
    analysis, proof = both()
    accepted = replace(proof, round_trip=RoundTrip(ok=True, identical=1, accepted=3, differences=()))

    assert facts_of(analysis, accepted)["round_trip"]["sub"] == "3 accepted differences"


def test_discovered_rules_show_both_numbers() -> None:
    """With discovered rules the count under the declared pack stands beside the other."""
    messages = [
        Message(role="assistant", tool_calls=[ToolCall(id="a", name="crm", arguments=f'{{"customer_id": "{RAW}"}}')]),
        Message(role="tool", name="crm", tool_call_id="a", content=f'{{"customer_id": "{RAW}"}}'),
    ]

    fact = facts_of(*both(messages))["raw"]

    assert (fact["value"], fact["sub"]) == ("✓ 0", "with the discovered rules (2 without)")
    assert facts_of(*both(messages, pack="builtin"))["raw"]["value"] == "✕ 2"


def test_money_is_the_difference_of_tokens_at_the_price() -> None:
    """Saved per call: tokens saved, times the price of a million."""
    _, proof = both()

    assert saved(proof, 2.0) == (proof.before.tokens - proof.after.tokens) * 2.0 / 1_000_000


def test_a_chip_for_each_family_and_one_for_raw_ids() -> None:
    """Families that do not occur stay, with a zero."""
    analysis, _ = both()

    chips = {chip["space"]: chip["count"] for chip in chip_rows(analysis)}

    assert chips == {
        "chunk": 2, "document": 1, "knowledge_base": 1, "web": 0, "resource": 0, "issue": 0, "mcp": 0, "raw": 1,
    }  # fmt: skip


def test_without_a_proof_the_line_says_that_it_is_being_checked() -> None:
    """The same facts at the same places; what is not known yet is neither good nor bad."""
    analysis, proof = both()
    unproven = proof_facts(analysis, None, price=2.5, currency="€", share=0.3)

    assert [fact["key"] for fact in unproven] == list(facts_of(analysis, proof))
    assert [(fact["value"], fact["tone"]) for fact in unproven[1:]] == [("checking", "muted"), *[("…", "muted")] * 4]
    assert unproven[1]["sub"] == "30 %"


def test_a_branch_names_what_it_branches_from() -> None:
    """The number of its parent and how many of its messages come before; a conversation of its own names none."""
    conversations = (Conversation(id="a"), Conversation(id="b", parent="a", after=5), Conversation(id="c", parent="x"))

    assert (1, 5) == tables.parent_of(conversations, 2)
    assert tables.parent_of(conversations, 1) is None
    assert tables.parent_of(conversations, 3) is None
    assert "branch of #1, read behind its first 5 messages" == words.sources.branch_line(1, 5)


def test_only_what_is_missing_or_guessed_warns() -> None:
    """Pieces that became one are told without a sign; anything else with one."""
    assert words.playground.notices_badge(0, 0, 11) == "11 notices"
    assert words.playground.notices_badge(0, 1, 11) == "! 12 notices"
    assert words.playground.notices_badge(1, 0, 0) == "! not fully read, 1 notice"
    assert words.playground.notices_badge(0, 0, 0) == ""
