"""What a rule does to leaks: measuring only what it can touch gives what encoding everything gives."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core.formats.base import Conversation, Trace
from modelcontext_core.leak_report.measure import measure
from modelcontext_core.leak_report.report import scan
from modelcontext_core.messages import Message, Part
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies, ToolPolicy
from tests.core.leak_report.leaking import A, B, C, call, result

IDS = (A, B, C, A.upper())
NEW_TOOLS = ("crm_lookup", "billing")
TOOLS = (*NEW_TOOLS, "knowledge_search", "get_document_info", "call_mcp_tool", "wiki_read_issue")
# Plain words, labels, and everything that may register an id in a text that no policy is about.
TEXTS = (
    "{id}",
    "order_id={id} and {id}",
    "knowledge_id: {id}",
    "https://example.org/{id}",
    '<kb doc="a" chunk_id="{id}" /> {id}',
    '<web url="https://example.org/{id}" title="x" />',
    "weknora://doc/{id}",
    "doc://1 and doc://2, {id}",
    "summary/{id}",
    '{{"order_id":"{id}","note":"{id}"}}',
    '{{"results":[{{"knowledge_id":"{id}","chunk_id":"{id}"}}]}}',
    '{{"link":"https:\\/\\/example.org\\/{id}","order_id":"{id}"}}',
)


def _pack(tool: str, policy: ToolPolicy) -> ToolPolicies:
    added = ToolPolicies(name="added", keys={"order_id": "document"}, tools={tool: policy})
    return DEFAULT_POLICIES.extend(added)


PACKS = {
    "crm_lookup": _pack("crm_lookup", ToolPolicy(name="crm_lookup", ids=("order_id",), output="source")),
    "billing": _pack("billing", ToolPolicy(name="billing", output="source", mine=("uuid",))),
    "get_document_info": _pack(
        "get_document_info", ToolPolicy(name="get_document_info", ids=("order_id",), mine=("uuid",), output="source")
    ),
}

texts = st.builds(lambda text, durable: text.format(id=durable), st.sampled_from(TEXTS), st.sampled_from(IDS))
messages = st.one_of(
    st.builds(lambda role, text: Message(role=role, content=text), st.sampled_from(("user", "assistant")), texts),
    st.builds(lambda text: Message(role="assistant", reasoning=text, reasoning_signature="s"), texts),
    st.builds(lambda text: Message(role="assistant", parts=(Part(type="text", text=text),)), texts),
    st.builds(result, st.sampled_from(TOOLS), texts),
    st.builds(lambda tool, one: call(tool, order_id=one, other=one), st.sampled_from(TOOLS), st.sampled_from(IDS)),
    st.builds(lambda tool, text: call(tool, text=text), st.sampled_from(TOOLS), texts),
)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """A conversation and perhaps a branch of it."""
    first = draw(st.lists(messages, min_size=1, max_size=7))
    branch = draw(st.lists(messages, max_size=3))
    after = draw(st.integers(0, len(first)))
    conversations = [
        Conversation(id="a", messages=first),
        Conversation(id="b", parent="a", after=after, messages=branch),
    ]
    return Trace(format="x", conversations=conversations[: 1 + bool(branch)])


def leaks_under(trace: Trace, pack: ToolPolicies) -> Counter[str]:
    """The leaks of each producer, counted by a whole scan."""
    found: Counter[str] = Counter()
    for key, counts in scan(trace, pack).rows.items():
        if key.counts:
            found[key.producer] += counts.occurrences
    return found


@given(trace=traces())
def test_measuring_gives_what_a_scan_of_everything_gives(trace: Trace) -> None:
    """The predicted numbers of the tool and of all producers are those of scans under both packs."""
    before = leaks_under(trace, DEFAULT_POLICIES)
    for tool, effect in measure(trace, DEFAULT_POLICIES, PACKS).items():
        after = leaks_under(trace, PACKS[tool])
        assert (before[tool], after[tool], before.total(), after.total()) == effect[:4]


def test_a_rule_for_one_tool_reaches_the_results_of_another() -> None:
    """A key of one tool is read from every source tool, and an id that it makes known is replaced there too."""
    trace = Trace(
        format="x",
        conversations=(
            Conversation(
                messages=(
                    result("crm_lookup", {"order_id": A}),
                    Message(role="assistant", content=f"see {A}"),
                    result("knowledge_search", {"order_id": B, "text": A}),
                )
            ),
        ),
    )
    effect = measure(trace, DEFAULT_POLICIES, PACKS)["crm_lookup"]

    assert (1, 0, 4, 1, 1) == effect


@pytest.mark.parametrize("text", [f'<kb doc="a" chunk_id="{A}" />', f"weknora://doc/{A}", f"weknora://chunk/{A}"])
def test_what_any_text_registers_is_not_forgotten(text: str) -> None:
    """A citation or URI in an answer makes an id known: it is then replaced in the results of a newly declared tool."""
    messages = (Message(role="assistant", content=text), result("crm_lookup", f"{A} {B}"), result("crm_lookup", B))
    trace = Trace(format="x", conversations=(Conversation(messages=messages),))

    assert (3, 2) == measure(trace, DEFAULT_POLICIES, PACKS)["crm_lookup"][:2]


def test_a_tool_that_is_not_there_has_no_effect() -> None:
    """Only the tools of a trace are measured, and only where something leaks."""
    quiet = Trace(format="x", conversations=(Conversation(messages=(result("crm_lookup", "nothing"),)),))
    other = Trace(format="x", conversations=(Conversation(messages=(result("billing", A),)),))

    assert {} == measure(quiet, DEFAULT_POLICIES, PACKS)
    assert {"billing"} == measure(other, DEFAULT_POLICIES, PACKS).keys()
