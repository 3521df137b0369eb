"""LangSmith runs: a tree by `parent_run_id`, exported one by one, nested in `child_runs`, or as batches of the SDK that
split a run into its start (`post`, no outputs yet) and its end (`patch`): merged by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from modelcontext_core.formats import openai_messages
from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Piece, Reader, Sample
from modelcontext_core.formats.tracing.spans import SpanKind, SpanRecord, SpanStory

__all__ = ["READER"]

_KINDS: Final[dict[str, SpanKind]] = {"llm": "model", "chat_model": "model", "tool": "tool"}
_RUNS: Final = 200_000


def detect(sample: Sample) -> bool:
    """Runs with `run_type`, alone, in a list, under `runs`, or in a batch."""
    return sample.container != "text" and any(_known(node) for node in sample.nodes[:2])


def _known(node: Node) -> bool:
    lists = (node, node.get("runs"), node.get("post"), node.get("patch"))
    return _is_run(node) or any(_is_run(inner.at(0)) for inner in lists)


def _is_run(node: Node) -> bool:
    named = node.has("run_type") and node.has_any(frozenset({"dotted_order", "trace_id", "inputs", "child_runs"}))
    return named or node.has("dotted_order", "trace_id", "id")


def _topmost(node: Node) -> list[Node]:
    """The run records in a batch, a list or a page of an export, without those inside of them."""
    return [*node.get("patch"), *node.get("post"), *node.get("runs"), *node] or [node]


def _records(node: Node) -> Iterator[Node]:
    """All run records, in trees too."""
    stack = _topmost(node)[::-1]
    given = 0
    while stack and given < _RUNS:
        run = stack.pop()
        if _is_run(run):
            given += 1
            yield run
            stack += list(run.get("child_runs"))[::-1]


def pieces(node: Node) -> Iterator[Piece]:
    """The runs of a record, each with those inside of it."""
    for run in _topmost(node):
        if _is_run(run):
            trace = run.get("trace_id").label or run.get("id").label
            yield Piece(node=run, trace=trace, session=_thread(run.get("extra")))


def _thread(extra: Node) -> str:
    return extra.get("metadata").get("thread_id", "session_id", "conversation_id").label


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation an agent of a trace (or thread), built of its model calls."""
    runs: dict[str, list[Node]] = {}
    for node in nodes:
        for run in _records(node):
            runs.setdefault(run.get("id").label or run.where, []).append(run)
    if any(len(parts) > 1 for parts in runs.values()):
        builder.notice("merged", "$", "records of one run (its start and its end) are read as one")
    SpanStory(builder).tell([_span(key, parts) for key, parts in runs.items()])


def _span(key: str, parts: list[Node]) -> SpanRecord:
    def best(name: str) -> Node:
        return next((part.get(name) for part in reversed(parts) if part.get(name)), parts[-1].get(name))

    tools = best("extra").get("invocation_params")
    given = best("inputs")

    def tell_tools(conversation: ConversationBuilder) -> None:
        openai_messages.tell_tools(conversation, tools)

    return SpanRecord(
        node=parts[-1],
        kind=_KINDS.get(best("run_type").text, "other"),
        group=_thread(best("extra")) or best("trace_id").label or key,
        id=key,
        parent=best("parent_run_id").label,
        name=best("name").text,
        start=best("start_time").label,
        call_id=best("inputs").get("tool_call_id").label,
        input=given,
        output=best("outputs"),
        error=best("error"),
        tools=tell_tools if tools.get("tools") else None,
    )


READER = Reader(
    name="langsmith_run",
    title="LangSmith runs",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"run_type", "dotted_order", "parent_run_id", "child_runs", "post", "patch"}),
    pieces=pieces,
)
