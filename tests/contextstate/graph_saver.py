"""A LangGraph saver over a context store, thin on purpose: the store's rules are what is tested through it.

A thread is a session. Each checkpoint and each set of pending writes is one commit, whose active context is the record
in JSON; a thread is read back from its history. What LangGraph overwrites is committed again: the last record counts.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.base import Checkpoint as GraphCheckpoint

from modelcontext_core.contextstate import (
    BindingRevision,
    Checkpoint,
    CheckpointID,
    ContextStore,
    Revision,
    SessionNotFoundError,
    SourceEvent,
    SourceID,
    SourceRange,
    new_commit_request,
)

BINDING = BindingRevision(provider="langgraph", model="graph", generation=1)
PAGE = 100


@dataclass(slots=True)
class Saved:
    """One checkpoint of a thread with its pending writes, by (task, index)."""

    record: dict[str, Any]
    writes: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)


class StoreSaver(BaseCheckpointSaver[int]):
    """The five methods that a graph needs, over any `ContextStore`."""

    def __init__(self, store: ContextStore) -> None:
        super().__init__()
        self.store = store

    # ---- records

    def _commit(self, thread: str, kind: str, record: dict[str, Any]) -> None:
        expected = Revision()
        with suppress(SessionNotFoundError):
            expected = self.store.head(thread, contexts=False).revision
        number = expected.source + 1
        place = SourceID(session_id=thread, sequence=number)
        context = json.dumps({"kind": kind, **record}).encode()
        event = SourceEvent(
            id=place, kind=kind, role="graph", provenance="langgraph", redaction_status="none", size=len(context)
        )
        checkpoint = Checkpoint(
            id=CheckpointID(
                session_id=thread,
                source_range=SourceRange(start=place, end=place),
                algorithm="langgraph",
                schema_version=1,
                idempotency_key=f"{thread}:{number}",
            ),
            revision=Revision(session=expected.session + 1, durable=expected.durable + 1, source=number),
            binding=BINDING,
            active_context=context,
            turn_id=number,
        )
        self.store.checkpoint(
            new_commit_request(thread, expected, BINDING, [event], [], checkpoint, BINDING, turn_id=number)
        )

    def _thread(self, thread: str) -> dict[tuple[str, str], Saved]:
        """Everything of a thread, by (namespace, checkpoint id)."""
        found: dict[tuple[str, str], Saved] = {}
        with suppress(SessionNotFoundError):
            after = 0
            while page := self.store.history(thread, after, PAGE):
                for entry in page:
                    self._take(found, json.loads(entry.checkpoint.active_context))
                after = page[-1].checkpoint.revision.session
        return found

    @staticmethod
    def _take(found: dict[tuple[str, str], Saved], record: dict[str, Any]) -> None:
        key = (record["ns"], record["id"])
        if record["kind"] == "checkpoint":
            found.setdefault(key, Saved({})).record = record
            return
        saved = found.setdefault(key, Saved({}))
        for write in record["writes"]:
            place = (record["task"], write["index"])
            # Ordinary writes are kept as they were first; those of special channels are replaced.
            if write["index"] < 0 or place not in saved.writes:
                saved.writes[place] = {**write, "task": record["task"]}

    def _dump(self, value: Any) -> list[str]:
        kind, data = self.serde.dumps_typed(value)
        return [kind, base64.b64encode(data).decode()]

    def _load(self, value: Sequence[str]) -> Any:
        return self.serde.loads_typed((value[0], base64.b64decode(value[1])))

    def _tuple(self, thread: str, saved: Saved) -> CheckpointTuple:
        record = saved.record

        def config(checkpoint_id: str) -> RunnableConfig:
            place = {"thread_id": thread, "checkpoint_ns": record["ns"], "checkpoint_id": checkpoint_id}
            return {"configurable": place}

        return CheckpointTuple(
            config=config(record["id"]),
            checkpoint=self._load(record["checkpoint"]),
            metadata=self._load(record["metadata"]),
            parent_config=config(record["parent"]) if record["parent"] else None,
            pending_writes=[
                (write["task"], write["channel"], self._load(write["value"])) for write in saved.writes.values()
            ],
        )

    # ---- what a graph calls

    def put(
        self,
        config: RunnableConfig,
        checkpoint: GraphCheckpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Commit a checkpoint."""
        given = config["configurable"]
        thread, namespace = given["thread_id"], given.get("checkpoint_ns", "")
        record = {
            "ns": namespace,
            "id": checkpoint["id"],
            "parent": given.get("checkpoint_id"),
            "checkpoint": self._dump(checkpoint),
            "metadata": self._dump(get_checkpoint_metadata(config, metadata)),
        }
        self._commit(thread, "checkpoint", record)
        return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint["id"]}}

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Commit the pending writes of a task."""
        given = config["configurable"]
        record = {
            "ns": given.get("checkpoint_ns", ""),
            "id": given["checkpoint_id"],
            "task": task_id,
            "writes": [
                {"index": WRITES_IDX_MAP.get(channel, index), "channel": channel, "value": self._dump(value)}
                for index, (channel, value) in enumerate(writes)
            ],
        }
        self._commit(given["thread_id"], "writes", record)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The named checkpoint, else the newest of the namespace."""
        given = config["configurable"]
        thread, namespace = given["thread_id"], given.get("checkpoint_ns", "")
        found = self._thread(thread)
        ids = [name for place, name in found if place == namespace and found[place, name].record]
        wanted = given.get("checkpoint_id") or max(ids, default=None)
        saved = found.get((namespace, str(wanted)))
        return self._tuple(thread, saved) if saved is not None and saved.record else None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, the newest first."""
        given = config["configurable"] if config else {}
        threads = [given["thread_id"]] if "thread_id" in given else self._threads()
        last = before["configurable"].get("checkpoint_id") if before else None
        left = limit
        for thread in threads:
            found = self._thread(thread)
            for namespace, name in sorted(found, key=lambda place: place[1], reverse=True):
                if left is not None and left <= 0:
                    return
                saved = found[namespace, name]
                if not saved.record or namespace != given.get("checkpoint_ns", namespace):
                    continue
                if name != (given.get("checkpoint_id") or name) or (last and name >= last):
                    continue
                each = self._tuple(thread, saved)
                if all(each.metadata.get(key) == value for key, value in (filter or {}).items()):
                    left = None if left is None else left - 1
                    yield each

    def _threads(self) -> Sequence[str]:
        names: list[str] = []
        while page := self.store.sessions(after=names[-1] if names else "", limit=PAGE, contexts=False):
            names += [head.session_id for head in page]
        return names

    def delete_thread(self, thread_id: str) -> None:
        """Delete the session."""
        with suppress(SessionNotFoundError):
            self.store.delete_session(thread_id)

    # ---- the same, for graphs that await

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: GraphCheckpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """As `put`."""
        return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """As `put_writes`."""
        self.put_writes(config, writes, task_id, task_path)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As `get_tuple`."""
        return self.get_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """As `list`."""
        for each in self.list(config, filter=filter, before=before, limit=limit):
            yield each

    async def adelete_thread(self, thread_id: str) -> None:
        """As `delete_thread`."""
        self.delete_thread(thread_id)
