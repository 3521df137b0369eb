"""Parcel operations: two tools that forget a field, a shell whose output nobody mines, and a log that was cut."""

from __future__ import annotations

import json
from typing import Any

from modelcontext_core.messages import Message
from tests.sample_making.chat import Chat, uid
from tests.sample_making.writers import openai_message

__all__ = ["LEAKING_TOOLS", "damaged", "leaking"]

LEAKING_TOOLS = {
    "search_knowledge": "Searches the handbooks.",
    "database_query": "Runs one SQL query, reading only.",
    "shipping_tracker": "Says where a parcel is.",
    "crm_lookup": "Finds customers and their orders.",
    "shell_exec": "Runs a command on the sorter's machine.",
}
HANDBOOK, CUSTOMER, TENANT = uid("hub handbook base"), uid("customer outdoor"), uid("tenant")
MANIFEST = uid("chunk manifest")
HUBS = ("LYS", "BRE", "OSL", "GRZ")


def _order(number: int) -> str:
    return uid(f"order {number}")


def _retried(number: int) -> tuple[str, dict[str, Any], object]:
    job, run = uid(f"job {number}"), uid(f"run {number}")
    return "shell_exec", {"command": f"sorterctl retry {job}"}, f"queued {run}"


def _tracked(number: int) -> dict[str, Any]:
    return {
        "parcel": f"P-{4400 + number}",
        "order_id": _order(number),
        "manifest": {"knowledge_ids": [uid("hub handbook"), uid(f"manifest {number}")]},
        "events": [{"hub": HUBS[number % 4], "job": uid(f"job {number // 3}"), "state": "waiting"}],
    }


def leaking() -> list[Message]:
    """41 messages: `shipping_tracker` and `crm_lookup` are declared nowhere, and hand on ids that nobody registered."""
    chat = Chat("You are the operations agent of a made-up parcel service. Use the tools; keep answers short.")
    chat.user(f"Parcels of customer {CUSTOMER} are stuck since Friday. Find out why.")
    orders = [{"order_id": _order(number), "state": "in hub"} for number in range(6)]
    chat.step(
        ("crm_lookup", {"customer_id": CUSTOMER, "include": ["orders"]},
         {"customer_id": CUSTOMER, "tenant": TENANT, "name": "Example Outdoor Ltd", "orders": orders,
          "portal": f"https://crm.example.com/customers/{CUSTOMER}"}),
        ("search_knowledge", {"query": "parcel stuck in hub", "knowledge_base_ids": [HANDBOOK]},
         (f'<retrieval type="knowledge" mode="semantic">\n  <document knowledge_id="{uid("hub handbook")}" '
         f'knowledge_base_id="{HANDBOOK}" title="Hub handbook">\n    <chunk chunk_id="{MANIFEST}" index="7">'
         "A parcel stays in the hub when its manifest is missing. Ask the sorter for the job id.</chunk>\n"
         "  </document>\n</retrieval>")),
    )  # fmt: skip
    for first in (0, 3):
        chat.step(
            *(
                ("shipping_tracker", {"order_id": _order(number)}, _tracked(number))
                for number in range(first, first + 3)
            )
        )
    rows = "\n".join(f"{_order(number)} | {HUBS[number % 4]} | 2026-11-2{number % 3 + 6}" for number in range(8))
    chat.step(
        ("database_query", {"sql": "SELECT order_id, hub, scanned FROM scans\nWHERE scanned > '2026-11-25'"},
         f"order_id                             | hub | scanned\n{rows}"),
    )  # fmt: skip
    jobs = "\n".join(f"{uid(f'job {number}')}  stalled  {number + 1}d" for number in range(3))
    chat.step(
        (
            "shell_exec",
            {"command": "sorterctl jobs --stalled"},
            f"JOB                                   STATE    AGE\n{jobs}",
        )
    )
    chat.says(
        f"Three jobs of the sorter are stalled, the oldest is {uid('job 2')}. "
        f'The handbook asks for the manifest <kb doc="Hub handbook" chunk_id="{MANIFEST}" kb_id="{HANDBOOK}" />.'
    )
    chat.user("Restart them, then check the parcels again.")
    chat.step(
        *map(_retried, range(3)),
        says="I restart all three.",
    )  # fmt: skip
    for first in (0, 3):
        chat.step(
            *(
                ("shipping_tracker", {"order_id": _order(number)}, _tracked(number))
                for number in range(first, first + 3)
            )
        )
    chat.says(f"Five of six move again. {_order(4)} still waits for its manifest {uid('manifest 4')}.")
    chat.user("Is anybody else affected?")
    others = [{"customer_id": uid(f"customer {number}"), "open": number + 1} for number in range(4)]
    chat.step(
        ("crm_lookup", {"hub": "LYS", "since": "2026-11-25"}, {"tenant": TENANT, "customers": others}),
        ("shipping_tracker", {"order_id": _order(7)}, _tracked(7)),
    )
    chat.says("Yes: four customers wait for ten parcels. All of them were sorted by the jobs that stalled.")
    chat.user("Who is the contact of the largest one?")
    contact = {"customer_id": uid("customer 3"), "contact_id": uid("contact 3"), "name": "A. Example", "open": 4}
    chat.step(("crm_lookup", {"customer_id": uid("customer 3"), "include": ["contacts"]}, contact))
    chat.says(f"A. Example (contact {uid('contact 3')}), with four open parcels.")
    return chat.messages


def damaged() -> bytes:
    """214 lines of a log with one message a line; the last was being written when the machine went down."""
    chat = Chat("You look up orders for a made-up garden centre.")
    number = 0
    while len(chat.messages) < 209:
        number += 1
        order, customer = uid(f"garden order {number % 40}"), uid(f"garden customer {number % 12}")
        chat.user(f"Customer {number % 12 + 1} asks about order {number % 40 + 1}.")
        found = {"knowledge_id": order, "title": f"Order {number % 40 + 1}", "owner": {"knowledge_id": customer}}
        chat.step(("get_document_info", {"knowledge_ids": [order]}, found))
        chat.says(f"It was sent on day {number % 28 + 1}: weknora://doc/{order}.")
    chat.user("Are there open orders of the first customer?")
    chat.step(("get_document_info", {"knowledge_ids": [uid("garden customer 1")]}, {"rows": []}))
    chat.says("No open orders were found for this customer.")
    lines = [
        json.dumps(openai_message(message), ensure_ascii=False, separators=(",", ":")) for message in chat.messages
    ]
    cut = '{"role":"tool","tool_call_id":"call_a0","con'
    return ("\n".join([*lines, cut])).encode()
