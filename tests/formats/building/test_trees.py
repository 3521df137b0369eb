"""Trees of edits and repeated answers: the path on the screen first, every node once."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core.formats import read
from modelcontext_core.formats.building.trees import branches

PARENTS = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([*"abcdefgh", "", "?"]))


@given(PARENTS, st.sampled_from([*"abcdefgh", "", "?"]))
def test_every_node_is_on_one_branch(parents: dict[str, str], leaf: str) -> None:
    """Whatever the parents are (also circles and strangers), each node is told exactly once, after its fork."""
    found = branches(parents, leaf)

    told = [node for branch in found for node in branch.nodes]
    assert sorted(told) == sorted(parents)
    for number, branch in enumerate(found):
        assert branch.parent < number
        assert not branch.fork or branch.fork in found[branch.parent].nodes


@given(PARENTS, st.sampled_from("abcdefgh"))
def test_a_path_from_the_root_to_the_leaf_is_the_first_branch(parents: dict[str, str], leaf: str) -> None:
    """The first branch leads to the leaf whenever a root leads there."""
    path = []
    node = leaf
    while node in parents and node not in path:
        path.append(node)
        node = parents[node]
    if leaf in parents and node not in path:
        assert branches(parents, leaf)[0].nodes[: len(path)] == tuple(reversed(path))


def test_the_latest_child_is_followed_without_a_leaf() -> None:
    """An unknown leaf leaves the choice to the order: the latest child at every fork."""
    first, other = branches({"r": "", "a": "r", "b": "r", "c": "b"}, "unknown")

    assert first.nodes == ("r", "b", "c")
    assert (other.nodes, other.fork, other.parent) == (("a",), "r", 0)


def test_a_fork_counts_messages_and_not_turns() -> None:
    """A turn that becomes several messages (an answer with a result inside) counts as so many before the fork."""
    answer = [
        {"type": "tool_use", "id": "t", "name": "find", "input": {}},
        {"type": "tool_result", "tool_use_id": "t", "content": "found"},
        {"type": "text", "text": "Found."},
    ]
    messages = [
        {"uuid": "a", "sender": "human", "text": "Find it."},
        {"uuid": "b", "sender": "assistant", "text": "", "content": answer, "parent_message_uuid": "a"},
        {"uuid": "c", "sender": "human", "text": "Again.", "parent_message_uuid": "b"},
        {"uuid": "d", "sender": "human", "text": "Thanks.", "parent_message_uuid": "b"},
    ]
    main, branch = read(json.dumps({"uuid": "x", "chat_messages": messages}).encode()).conversations

    assert [message.role for message in main.messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert (branch.after, branch.messages[0].content) == (4, "Again.")
