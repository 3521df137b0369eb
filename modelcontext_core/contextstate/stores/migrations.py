"""The tables, as an append-only list of migrations: the number of them is the schema version.

A released migration is never edited; a change is a new one at the end. The statements are the same for both SQL stores
but for a few words in braces, which each store fills in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from modelcontext_core.contextstate.errors import StoreError

__all__ = ["MIGRATIONS", "Execute", "migrate", "schema_version"]

# Runs one statement and gives its rows.
Execute = Callable[[str], Sequence[Sequence[Any]]]

MIGRATIONS: Final[list[tuple[str, ...]]] = [
    # 1: sessions and commits; payloads, their bytes apart (so that they can be removed for good) and their holders; the
    # store's own log.
    (
        """
        CREATE TABLE cs_session (
            no {serial},
            id {text} NOT NULL UNIQUE,
            session {int} NOT NULL,
            durable {int} NOT NULL,
            source {int} NOT NULL,
            binding {bytes} NOT NULL
        )
        """,
        # `details` is JSON of what the other columns and the commit rules do not already say.
        """
        CREATE TABLE cs_commit (
            session_no {int} NOT NULL,
            session {int} NOT NULL,
            durable {int} NOT NULL,
            source {int} NOT NULL,
            events {int} NOT NULL,
            operation_id {text} NOT NULL UNIQUE,
            fingerprint {bytes} NOT NULL,
            details {bytes} NOT NULL,
            context_sha256 {bytes} NOT NULL,
            context_bytes {int} NOT NULL,
            committed_at {int} NOT NULL,
            PRIMARY KEY (session_no, session)
        ) {clustered}
        """,
        """
        CREATE TABLE cs_event (
            session_no {int} NOT NULL,
            sequence {int} NOT NULL,
            body {bytes} NOT NULL,
            PRIMARY KEY (session_no, sequence)
        ) {clustered}
        """,
        """
        CREATE TABLE cs_context (
            session_no {int} NOT NULL,
            sha256 {bytes} NOT NULL,
            data {bytes} NOT NULL,
            PRIMARY KEY (session_no, sha256)
        )
        """,
        """
        CREATE TABLE cs_payload (
            no {serial},
            sha256 {bytes} NOT NULL UNIQUE,
            size {int},
            revoked {int} NOT NULL,
            retention {bytes} NOT NULL
        )
        """,
        # `padding` comes first, for a store that has to keep the data out of the pages that it rearranges.
        """
        CREATE TABLE cs_bytes (
            payload_no {key},
            padding {bytes} NOT NULL,
            data {bytes} NOT NULL
        )
        """,
        """
        CREATE TABLE cs_holder (
            no {serial},
            payload_no {int} NOT NULL,
            session_id {text} NOT NULL,
            namespace {text} NOT NULL,
            workspace_id {text} NOT NULL,
            subject_id {text} NOT NULL,
            size {int} NOT NULL,
            retention {bytes} NOT NULL,
            uses {int} NOT NULL,
            put {int} NOT NULL,
            seal {bytes} NOT NULL,
            UNIQUE (payload_no, session_id, namespace, workspace_id, subject_id)
        )
        """,
        "CREATE INDEX cs_holder_of_session ON cs_holder (session_id, no)",
        "CREATE INDEX cs_holder_by_put ON cs_holder (payload_no, put)",
        """
        CREATE TABLE cs_attempt (
            no {serial},
            session_no {int} NOT NULL,
            session {int} NOT NULL,
            operation_id {text} NOT NULL,
            outcome {text} NOT NULL,
            at {int} NOT NULL
        )
        """,
        "CREATE INDEX cs_attempt_of_session ON cs_attempt (session_no, no)",
    ),
]


def schema_version(execute: Execute, location: str) -> int:
    """The version in an existing `cs_schema` table; raises `StoreError` for one newer than this program."""
    rows = execute("SELECT version FROM cs_schema")
    version = rows[0][0] if len(rows) == 1 else None
    if not isinstance(version, int) or version < 1:
        raise StoreError(location, "its schema version cannot be read")
    if version > len(MIGRATIONS):
        raise StoreError(
            location, f"its schema version {version} is newer than this program, which knows {len(MIGRATIONS)}"
        )
    return version


def migrate(execute: Execute, words: Mapping[str, str], version: int) -> None:
    """Bring a store from `version` (0: no table yet) to the newest, within the caller's transaction."""
    if version == 0:
        execute("CREATE TABLE cs_schema (version {int} NOT NULL)".format_map(words))
        execute("INSERT INTO cs_schema (version) VALUES (0)")
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            execute(statement.format_map(words))
    execute(f"UPDATE cs_schema SET version = {len(MIGRATIONS)}")  # noqa: S608 a number of our own
