"""Makes the sample store: `python -m tests.make_session_sample` writes the same files each time.

Two sessions as exports, and beside them what an export leaves out: when each checkpoint was committed, and what else
was tried in between. Everything in them is made up.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from modelcontext_core.contextstate import (
    RETENTION_COMPLIANCE,
    RETENTION_SESSION,
    BindingRevision,
    Checkpoint,
    CheckpointID,
    MemoryStore,
    PayloadRecord,
    Revision,
    SourceEvent,
    SourceID,
    SourceRange,
    new_commit_request,
    new_content_ref,
)

FOLDER: Final = Path(__file__).parents[1] / "sample_sessions"
START: Final = datetime(2026, 3, 5, 9, 31, 8, tzinfo=UTC)
SUPPORT: Final = "support-7741"
WIKI: Final = "wiki-agent-112"

SMALL: Final = BindingRevision(provider="openai", model="gpt-4.1-mini", generation=2)
LARGE: Final = BindingRevision(provider="openai", model="gpt-4.1", generation=3)
OTHER: Final = BindingRevision(provider="anthropic", model="claude-sonnet-4-5", generation=1)

# New events of each commit: 148 together, 92 of them before the larger model takes over.
SUPPORT_EVENTS: Final = (6, 7, 8, 6, 9, 7, 5, 8, 7, 6, 8, 8, 7, 7, 9, 8, 9, 8, 8, 7)
CHANGE: Final = 14
FACTS: Final = (
    ("order", "A-20417, two items, paid by card"),
    ("customer", "writes from Lyon, wants her answer in English"),
    ("item", "a desk lamp, arrived with a cracked shade"),
    ("photos", "two pictures, both show the crack"),
    ("wish", "a replacement, no refund"),
    ("stock", "the lamp is in stock in the Lille warehouse"),
    ("policy", "breakage within 14 days: replacement without return"),
    ("address", "unchanged, confirmed by the customer"),
    ("shipment", "a new parcel was announced for 4 March"),
    ("label", "asked for a prepaid label for the broken lamp"),
    ("carrier", "the parcel was not at the pick-up point"),
    ("search", "a tracing request was opened with the carrier"),
    ("open_question", "which carrier has the parcel"),
    ("decided", "prepaid label sent, parcel with carrier since 5 March"),
    ("goodwill", "a voucher of 10 euros was offered"),
    ("answer", "the customer accepted the voucher"),
    ("reminder", "ask again on 9 March whether the parcel arrived"),
    ("arrived", "the parcel arrived on 8 March"),
    ("rating", "five of five"),
    ("closed", "nothing is left to do"),
)
POLICY: Final = "".join(
    f"{number}. Goods that arrive damaged are replaced or refunded; the case number is RP-{number:04d}.\n"
    for number in range(1, 261)
).encode()


def context(number: int, session_turn: int, binding: BindingRevision, first: int) -> bytes:
    """The active context at one checkpoint, as indented JSON."""
    value: dict[str, Any] = {
        "summary": {name: text for name, text in FACTS[first:number] if name != "open_question" or number < CHANGE},
        "tools": ["search_orders", "get_shipment", "create_label", "send_mail"],
        "model": binding.model,
        "recent": [
            {"role": "user" if turn % 2 else "assistant", "content": f"Turn {turn}: {FACTS[turn % len(FACTS)][1]}."}
            for turn in range(max(1, session_turn - 3 * (number - first)), session_turn + 1)
        ],
        "last_turn": session_turn,
    }
    return json.dumps(value, indent=1, ensure_ascii=False).encode()


def events(session_id: str, first: int, number: int, refs: Sequence[str]) -> list[SourceEvent]:
    """So many events from `first` on: a user, an assistant, a tool call with its result, and so on."""
    kinds = (("message", "user"), ("message", "assistant"), ("tool_call", "assistant"), ("tool_result", "tool"))
    made = []
    for sequence in range(first, first + number):
        kind, role = kinds[(sequence - 1) % len(kinds)]
        is_tool = kind.startswith("tool")
        index = sequence - first
        made.append(
            SourceEvent(
                id=SourceID(session_id=session_id, sequence=sequence),
                kind=kind,
                role=role,
                tool_call_id=f"call_{(sequence + 1) // 4:03d}" if is_tool else "",
                payload_ref=refs[index % len(refs)] if kind == "tool_result" and refs else "",
                provenance="mail" if role == "user" else "agent",
                redaction_status="redacted" if sequence % 29 == 0 else "none",
                size=80 + sequence * 37 % 900,
            )
        )
    return made


def payload(session_id: str, subject: str, data: bytes, retention: str = RETENTION_SESSION) -> PayloadRecord:
    """A payload with its bytes."""
    ref = new_content_ref("tool-results", "shop", session_id, subject, data)
    return PayloadRecord(ref=ref, retention=retention, data=data)


def support_payloads(number: int) -> list[PayloadRecord]:
    """The payloads of one commit of the support session: the results of its tools, and now and then the policy."""
    made = [
        payload(
            SUPPORT,
            "customer-318",
            f"result {number}: {FACTS[(number - 1) % len(FACTS)][1]}\n".encode() * (12 + number * 7 % 30),
            RETENTION_COMPLIANCE if number % 9 == 0 else RETENTION_SESSION,
        )
    ]
    if number % 2 == 0 and number <= 20:
        made.append(payload(SUPPORT, "customer-318", f"picture {number} of the lamp\n".encode() * (40 + number)))
    if number % 3 == 1:
        made.append(payload(SUPPORT, "shop", POLICY))
    return made


def commit(store: MemoryStore, session_id: str, number: int, added: int, payloads: list[PayloadRecord]) -> None:
    """Commit one checkpoint to what is there."""
    expected, bound = Revision(), SMALL if session_id == SUPPORT else OTHER
    if number > 1:
        head = store.head(session_id)
        expected, bound = head.revision, head.binding
    binding = LARGE if session_id == SUPPORT and number >= CHANGE else bound
    turn = number * 2 + expected.source // 8
    covered = 93 if session_id == SUPPORT and number >= CHANGE else 1
    key = f"op-{session_id.rpartition('-')[2]}-{number}"
    checkpoint = Checkpoint(
        id=CheckpointID(
            session_id=session_id,
            source_range=SourceRange(
                start=SourceID(session_id=session_id, sequence=covered),
                end=SourceID(session_id=session_id, sequence=expected.source + added),
            ),
            algorithm="rolling-summary",
            schema_version=2 if binding == LARGE else 1,
            idempotency_key=key,
        ),
        revision=Revision(session=number, durable=number, source=expected.source + added),
        binding=binding,
        active_context=context(number, turn, binding, CHANGE - 2 if binding == LARGE else 0),
        turn_id=turn,
    )
    refs = [each.ref.ref for each in payloads]
    store.checkpoint(
        new_commit_request(
            session_id,
            expected,
            bound,
            events(session_id, expected.source + 1, added, refs),
            payloads,
            checkpoint,
            binding,
            turn,
        )
    )


def sample_store() -> MemoryStore:
    """Both sessions, and one payload revoked."""
    store = MemoryStore()
    for number, added in enumerate(SUPPORT_EVENTS, start=1):
        commit(store, SUPPORT, number, added, support_payloads(number))
    for number in range(1, 7):
        shared = [payload(WIKI, "editor", POLICY)] if number % 2 else []
        page = payload(WIKI, "editor", f"page {number} of the handbook\n".encode() * 30)
        commit(store, WIKI, number, 4 + number % 3, [page, *shared])
    revoked = next(row for row in store.payloads(SUPPORT) if row.number and b"picture 4 " in _data(store, row.record))
    store.revoke(revoked.record.ref)
    return store


def _data(store: MemoryStore, record: PayloadRecord) -> bytes:
    return store.get(record.ref).data


def times(number: int) -> list[str]:
    """When so many checkpoints were committed."""
    at, found = START, []
    for step in range(number):
        found.append(at.isoformat())
        at += timedelta(seconds=77 + step * 53 % 140)
    return found


def log() -> dict[str, Any]:
    """Times and attempts: `after` is the revision that an attempt met, `of` the commit whose request it was."""
    support = times(len(SUPPORT_EVENTS))

    def later(revision: int, seconds: int) -> str:
        return (datetime.fromisoformat(support[revision - 1]) + timedelta(seconds=seconds)).isoformat()

    return {
        SUPPORT: {
            "committed": support,
            "attempts": [
                {"after": 5, "of": 5, "kind": "stale_revision", "at": later(5, 12)},
                {"after": 9, "of": 9, "kind": "replay", "at": later(9, 5)},
                {"after": 13, "of": 14, "kind": "stale_binding", "at": later(13, 49)},
                {"after": 16, "of": 16, "kind": "replay", "at": later(16, 30)},
                {"after": 18, "of": 18, "kind": "conflict", "at": later(18, 21)},
            ],
        },
        WIKI: {"committed": times(6), "attempts": []},
    }


def files() -> dict[str, bytes]:
    """The files by name."""
    store = sample_store()
    return {
        "session_store.jsonl": b"".join(store.export(SUPPORT)),
        "session_store_wiki.jsonl": b"".join(store.export(WIKI)),
        "session_store_log.json": json.dumps(log(), indent=1).encode() + b"\n",
    }


def main() -> None:
    """Write the files."""
    for name, content in files().items():
        (FOLDER / name).write_bytes(content)


if __name__ == "__main__":
    main()
