"""Conversations that are kept as trees: the path that the user saw, and every other branch with its parent.

Apps keep each edit and each regenerated answer. A node of the tree names its parent; where a node has several
children the conversation forks. Agents that begin other agents make trees, too (`Subagents`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder

__all__ = ["Branch", "Subagents", "branches", "tell_tree"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A path through the tree: its own `nodes` in order, and the node that it forks after (`""`: the very beginning).

    `parent` is the index of the branch that holds the fork, -1 for the first branch.
    """

    nodes: tuple[str, ...]
    fork: str = ""
    parent: int = -1


def branches(parents: Mapping[str, str], leaf: str = "") -> list[Branch]:
    """Every path of a tree: first the one that ends in `leaf`, then what forks off.

    `parents` maps each node to its parent, in the order of the source; a parent that is not in the tree makes a root.
    Without a (known) `leaf` the latest child is followed everywhere. Circles are cut where they are met first.
    """
    children: dict[str, list[str]] = {}
    for node, parent in parents.items():
        children.setdefault(parent if parent in parents and parent != node else "", []).append(node)
    chosen = _path_to(parents, leaf)
    found: list[Branch] = []
    placed: dict[str, int] = {}
    # Each entry is a node that begins a branch. Taken from the end, so pushed in reverse.
    open_ends: list[tuple[str, str]] = []

    def walk(start: str, fork: str) -> None:
        path = []
        node = start
        while node and node not in placed:
            placed[node] = len(found)
            path.append(node)
            following = children.get(node, [])
            onward = next((child for child in following if child in chosen), following[-1] if following else "")
            open_ends.extend((child, node) for child in reversed(following) if child != onward)
            node = onward
        if path:
            found.append(Branch(nodes=tuple(path), fork=fork, parent=placed.get(fork, 0) if found else -1))

    roots = children.get("", [])
    first = next((root for root in roots if root in chosen), roots[-1] if roots else "")
    open_ends.extend((root, "") for root in reversed(roots) if root != first)
    walk(first, "")
    while open_ends:
        walk(*open_ends.pop())
    for node in parents:  # what no root leads to: circles
        if node not in placed:
            walk(node, "")
            while open_ends:
                walk(*open_ends.pop())
    return found


def _path_to(parents: Mapping[str, str], leaf: str) -> set[str]:
    path: set[str] = set()
    node = leaf
    while node in parents and node not in path:
        path.add(node)
        node = parents[node]
    return path


def tell_tree(
    builder: Builder,
    parents: Mapping[str, str],
    tell: Callable[[ConversationBuilder, str], None],
    *,
    leaf: str = "",
    id: str = "",  # noqa: A002
    title: str = "",
    begin: Callable[[ConversationBuilder], None] | None = None,
) -> ConversationBuilder:
    """Tell a tree as a conversation and its branches: `tell(conversation, node)` for each node, in order.

    `begin` tells what stands before the first node (a system prompt). Gives the conversation of the first branch.
    """
    main = builder.conversation(id=id, title=title)
    if begin is not None:
        begin(main)
    found = branches(parents, leaf)
    if len(found) > 1 and not main.id:
        main.id = "1"
    told: list[ConversationBuilder] = []
    turns_after: dict[str, int] = {"": main.turns}
    for number, branch in enumerate(found):
        conversation = main
        if number:
            parent = told[branch.parent]
            name = f"{main.id}/branch-{number}"
            conversation = builder.conversation(id=name, title=title, parent=parent.id, after=turns_after[branch.fork])
        told.append(conversation)
        for node in branch.nodes:
            tell(conversation, node)
            turns_after[node] = conversation.turns
    if len(found) > 1:
        builder.notice("merged", "$", "edits and repeated answers are branches: conversations with a parent")
    return main


class Subagents:
    """The main conversation of an agent, and one for each call with which it began a subagent."""

    def __init__(self, builder: Builder) -> None:
        self.main = builder.conversation()
        self._builder = builder
        self._of_call: dict[str, ConversationBuilder] = {}

    def conversation(self, call_id: str) -> ConversationBuilder:
        """The conversation of the subagent that this call began; without a call the main one."""
        if not call_id:
            return self.main
        if call_id not in self._of_call:
            self.main.id = self.main.id or "main"
            made = self._builder.conversation(id=f"agent-{call_id}", parent=self.main.id, after=self.main.turns)
            self._of_call[call_id] = made
        return self._of_call[call_id]
