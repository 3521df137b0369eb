"""Durable session state: sessions, checkpoints, commit validation, content-addressed payloads, and stores for them.

Start with `open_store`; `docs/sessions.md` explains the rules, and `stores/base.py` is the contract of a store.
`PostgresStore` is loaded when it is first asked for, since its driver is an optional part.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from modelcontext_core.contextstate.errors import (
    CheckpointConflictError,
    ContextStateError,
    DamagedStoreError,
    InvalidRecordError,
    OverLimitError,
    PayloadNotFoundError,
    PayloadRevokedError,
    SessionNotFoundError,
    StaleBindingError,
    StaleRevisionError,
    StoreError,
)
from modelcontext_core.contextstate.jsonio import from_json, to_json
from modelcontext_core.contextstate.listings import (
    Attempt,
    Break,
    BreakKind,
    HistoryEntry,
    ImportReport,
    Outcome,
    PayloadRow,
    PayloadTotals,
    SessionHead,
    StoreInfo,
    VerifyReport,
)
from modelcontext_core.contextstate.records import (
    RETENTION_COMPLIANCE,
    RETENTION_SESSION,
    BindingRevision,
    Checkpoint,
    CheckpointID,
    CommitRequest,
    ContentRef,
    Limits,
    PayloadRecord,
    Revision,
    Session,
    SourceEvent,
    SourceID,
    SourceRange,
    new_commit_request,
    new_content_ref,
    reassemble,
)
from modelcontext_core.contextstate.refs import HASH_PREFIX, digest, is_ref, mint
from modelcontext_core.contextstate.stores import ContextStore, MemoryStore, SQLiteStore, open_store
from modelcontext_core.contextstate.validation import (
    MAX_IDENTIFIER_BYTES,
    MAX_PAYLOAD_REFERENCE_BYTES,
    MAX_SOURCE_RANGE_EVENTS,
)

if TYPE_CHECKING:
    from modelcontext_core.contextstate.stores.postgres import PostgresStore

__all__ = [
    "HASH_PREFIX",
    "MAX_IDENTIFIER_BYTES",
    "MAX_PAYLOAD_REFERENCE_BYTES",
    "MAX_SOURCE_RANGE_EVENTS",
    "RETENTION_COMPLIANCE",
    "RETENTION_SESSION",
    "Attempt",
    "BindingRevision",
    "Break",
    "BreakKind",
    "Checkpoint",
    "CheckpointConflictError",
    "CheckpointID",
    "CommitRequest",
    "ContentRef",
    "ContextStateError",
    "ContextStore",
    "DamagedStoreError",
    "HistoryEntry",
    "ImportReport",
    "InvalidRecordError",
    "Limits",
    "MemoryStore",
    "Outcome",
    "OverLimitError",
    "PayloadNotFoundError",
    "PayloadRecord",
    "PayloadRevokedError",
    "PayloadRow",
    "PayloadTotals",
    "PostgresStore",
    "Revision",
    "SQLiteStore",
    "Session",
    "SessionHead",
    "SessionNotFoundError",
    "SourceEvent",
    "SourceID",
    "SourceRange",
    "StaleBindingError",
    "StaleRevisionError",
    "StoreError",
    "StoreInfo",
    "VerifyReport",
    "digest",
    "from_json",
    "is_ref",
    "mint",
    "new_commit_request",
    "new_content_ref",
    "open_store",
    "reassemble",
    "to_json",
]


def __getattr__(name: str) -> object:
    if name == "PostgresStore":
        return importlib.import_module("modelcontext_core.contextstate.stores.postgres").PostgresStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
