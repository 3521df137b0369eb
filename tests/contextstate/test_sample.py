"""The sample exports: made by a script, complete, and importable into one store."""

from __future__ import annotations

from modelcontext_core.contextstate import MemoryStore
from tests.make_session_sample import FOLDER, SUPPORT, WIKI, files


def test_the_samples_are_what_their_script_makes() -> None:
    """A changed format or script needs the samples made anew."""
    assert {name: (FOLDER / name).read_bytes() for name in files()} == files()


def test_the_sample_shows_what_a_session_can_have() -> None:
    """Twenty checkpoints, a change of binding, a revoked payload, shared bytes, both retention classes."""
    store = MemoryStore()
    for name in ("session_store.jsonl", "session_store_wiki.jsonl"):
        store.import_((FOLDER / name).read_bytes())

    totals, history, rows = store.payload_totals(SUPPORT), store.history(SUPPORT), store.payloads(SUPPORT)

    assert 20 == len(history) == store.head(SUPPORT).revision.session
    assert 1 < len({entry.checkpoint.binding for entry in history})
    assert 1 == totals.revoked == sum(row.record.revoked for row in rows)
    assert totals.shared
    assert totals.saved_bytes
    assert {"session", "compliance"} <= {row.record.retention for row in rows}
    assert store.verify(SUPPORT).ok
    assert store.verify(WIKI).ok
