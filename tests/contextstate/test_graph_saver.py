"""LangGraph's public conformance suite, over our store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate  # type: ignore[import-untyped]

from modelcontext_core.contextstate import MemoryStore, SQLiteStore
from tests.contextstate.graph_saver import StoreSaver


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_saver_over_the_store_passes_the_base_suite(kind: str, tmp_path: Path) -> None:
    """What LangGraph asks of every saver holds for one that keeps its checkpoints in a context store."""
    made = 0

    @checkpointer_test(name=f"store-{kind}")  # type: ignore[untyped-decorator]
    async def saver() -> AsyncGenerator[StoreSaver, None]:
        nonlocal made
        made += 1
        store = MemoryStore() if kind == "memory" else SQLiteStore(tmp_path / f"{made}.db")
        yield StoreSaver(store)
        store.close()

    report = asyncio.run(validate(saver))

    assert made > 0
    assert report.passed_all_base(), report.to_dict()
