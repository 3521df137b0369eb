"""What a discovered pack does: the codec works on tools that nobody declared."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from modelcontext_core.grammar import find_uuids
from modelcontext_core.messages import Message, ToolCall
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies
from modelcontext_core.registry import Registry

IDS = [f"{n:08x}-2222-4333-8444-555555555555" for n in range(6)]


def call(name: str, arguments: object) -> Message:
    """An assistant turn with one call."""
    return Message(role="assistant", tool_calls=(ToolCall(id="c", name=name, arguments=json.dumps(arguments)),))


def result(name: str, content: object) -> Message:
    """The result of a tool, written as JSON unless it is text."""
    text = content if isinstance(content, str) else json.dumps(content)
    return Message(role="tool", name=name, tool_call_id="c", content=text)


def raw_ids(messages: list[Message]) -> list[str]:
    """The UUIDs that still stand in results and arguments."""
    texts = [message.content for message in messages]
    texts += [each.arguments for message in messages for each in message.tool_calls]
    return [text[start:end] for text in texts for start, end in find_uuids(text)]


def test_a_foreign_conversation_is_encoded_and_restored() -> None:
    """Without a pack every id stays; with the discovered one none does, and calls come back byte for byte."""
    messages = [
        call("catalog.search", {"text": "tent", "datasetId": IDS[0]}),
        result("catalog.search", {"hits": [{"passage_id": IDS[1], "page": "https://shop.example/t"}, {"id": IDS[2]}]}),
        call("orders-get", {"id": IDS[2], "lines": [{"line_ref": IDS[3]}]}),
        result("orders-get", f"Order {IDS[2]}: line {IDS[3]} shipped, see https://shop.example/t."),
    ]
    declared, discovered = Registry(), Registry(policies=ToolPolicies.discover(messages).policies)

    assert raw_ids(list(declared.encode_messages(messages))) == raw_ids(messages)
    encoded = list(discovered.encode_messages(messages))
    assert raw_ids(encoded) == []
    assert '{"text": "tent", "datasetId": "kb://1"}' == encoded[0].tool_calls[0].arguments
    assert "see url://1." in encoded[3].content
    for before, after in zip(messages, encoded, strict=True):
        restored = discovered.decode_tool_calls(after.tool_calls)
        assert [each.arguments for each in before.tool_calls] == [each.arguments for each in restored]


VALUES = st.recursive(
    st.sampled_from([*IDS, "Alice", f"see {IDS[0]}.", json.dumps({"k_id": IDS[1]})]) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "url", "order_id", "orderId", "text", "node", "kb_id", IDS[5]]), inner)
    ),
    max_leaves=10,
)
TOOLS = st.sampled_from(["find", "other"])


@example([result("find", {"id": "00000000-2222-4333-8444-555555555555"})])
@example([result("find", {"order_id": '{"k_id": "00000001-2222-4333-8444-555555555555"}'})])
@given(st.lists(st.builds(call, TOOLS, VALUES) | st.builds(result, TOOLS, VALUES | st.text(max_size=40)), max_size=6))
def test_no_free_id_is_left_in_results(messages: list[Message]) -> None:
    """Under a discovered pack no UUID stays in a result of a tool that had no policy, whatever its shape."""
    pack = ToolPolicies.discover(messages).policies
    encoded = Registry(policies=pack).encode_messages(messages)

    assert raw_ids([message for message in encoded if message.role == "tool"]) == []
    assert all(pack.get(name) == policy for name, policy in DEFAULT_POLICIES.tools.items())
