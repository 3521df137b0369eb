"""Discovery on any input: every choice of proposals is a pack, and no text is too deep, too broken or too large."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core.messages import Message, ToolCall
from modelcontext_core.policies import ToolPolicies

A = "0d3f1c5e-7a2b-4c8d-9e10-1f2a3b4c5d6e"
B = "b7a9c1d2-3e4f-4a5b-8c6d-7e8f90a1b2c3"
C = "11111111-2222-4333-8444-555555555555"
LINK = "https://example.com/a/b?x=1"


def call(arguments: object, tool: str = "find") -> Message:
    """An assistant turn with one call; arguments are JSON text, or a value to be written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Message(role="assistant", tool_calls=(ToolCall(id="call_1", name=tool, arguments=text),))


def result(content: object, tool: str = "find") -> Message:
    """A tool's result; text, or a value to be written as JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    return Message(role="tool", name=tool, tool_call_id="call_1", content=text)


def rules(*messages: Message) -> list[tuple[str, str]]:
    """Place and key of each proposal."""
    return [(item.where, item.key) for item in ToolPolicies.discover(messages).proposals]


STRINGS = st.sampled_from(
    [
        A,
        B,
        C,
        LINK,
        f"https://h.example/{A}",
        "Alice",
        "ORD-7731",
        f"see {A}.",
        "doc://1",
        "\ud800",
        json.dumps({"k_id": C}),
    ]
)
JSON = st.recursive(
    STRINGS | st.none() | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "url", "order_id", "orderId", "text", "node", "kb_id", "k k", A]), inner
        )
    ),
    max_leaves=12,
)
MESSAGES = st.lists(
    st.builds(call, JSON | st.text(max_size=20), st.sampled_from(["find", "read_document", "o'k"]))
    | st.builds(result, JSON | st.text(max_size=60), st.sampled_from(["find", "read_document", "o'k"])),
    max_size=6,
)


@given(MESSAGES)
def test_every_choice_of_proposals_is_a_pack(messages: list[Message]) -> None:
    """Whatever was found and accepted: the pack is sound, reads back, and the same input gives the same proposals."""
    found = ToolPolicies.discover(messages)
    chosen = [item for number, item in enumerate(found.proposals) if (number * 7 + len(messages)) % 3]

    for pack in (found.policies, found.policies_for(chosen)):
        assert pack.faults() == []
        again = ToolPolicies.loads(pack.dumps())
        assert dict(again.tools) == dict(pack.tools)
        assert again.keys == pack.keys
    assert ToolPolicies.discover(messages).proposals == found.proposals
    assert all(1 <= len(item.examples) <= min(3, item.distinct) for item in found.proposals)
    assert all(item.distinct <= item.count <= item.strings or not item.key for item in found.proposals)
    assert len({(item.tool, item.where, item.key, item.kind) for item in found.proposals}) == len(found.proposals)


def test_deep_json_does_not_crash() -> None:
    """Depth 1,000 and more is read like any other."""
    deep = '{"a":' * 3000 + f'{{"order_id":"{A}"}}' + "}" * 3000

    assert [("arguments", "order_id"), ("result", "order_id")] == rules(call(deep), result(deep))


@pytest.mark.parametrize("text", ['{"order_id": "' + A, '{"order_id": NaN, "x": "' + A + '"}', "[" * 10_000 + A])
def test_invalid_json_is_plain_text(text: str) -> None:
    """Arguments that are no JSON are left alone, results are read as text."""
    assert [] == rules(call(text))
    assert [("result", "")] == rules(result(text))


def test_large_texts_are_counted_whole() -> None:
    """Of thousands of rows every one is counted, in the arguments and in the result."""
    data = [{"order_id": f"{n:08x}-2222-4333-8444-555555555555", "note": f"row {n} {LINK}"} for n in range(5_000)]

    found = ToolPolicies.discover([call({"rows": data}), result(data)]).proposals

    assert [item.count for item in found] == [5_000, 5_000, 5_000]
