"""A help desk that reaches other systems over a bridge (MCP), and an agent that keeps a wiki tidy."""

from __future__ import annotations

from typing import Any

from modelcontext_core.messages import Message
from tests.sample_making.chat import Chat, hidden, resource, uid

__all__ = ["MCP_TOOLS", "WIKI_TOOLS", "mcp_agent", "wiki_agent"]

MCP_TOOLS = {
    "discover_mcp_tools": "Lists the servers behind the bridge, or the tools of one of them.",
    "call_mcp_tool": "Calls one tool of a server, named by its reference.",
    "search_knowledge": "Searches the handbooks.",
}
DESK, FLEET, MAIL = (f"{uid(name)}" for name in ("desk server", "fleet server", "mail server"))
HANDBOOK = uid("rental handbook base")


def _tool(server: str, name: str) -> str:
    return f"{server}:{name}:v2"


def _listing(server: str, *tools: tuple[str, str]) -> dict[str, Any]:
    rows = [
        {"tool_ref": _tool(server, name), "name": name, "description": text, "input_schema": {"type": "object"}}
        for name, text in tools
    ]
    return {"server_id": server, "tools": rows}


def _call(server: str, name: str, arguments: dict[str, Any], result: object) -> tuple[str, dict[str, Any], object]:
    return "call_mcp_tool", {"tool_ref": _tool(server, name), "arguments": arguments}, result


def _discover(server: str, *tools: tuple[str, str]) -> tuple[str, dict[str, Any], object]:
    return "discover_mcp_tools", {"server_id": server}, _listing(server, *tools)


def _chunks(base: str, document: str, title: str, *texts: str) -> str:
    chunks = "\n".join(
        f'    <chunk chunk_id="{uid(f"{title} {text}")}" index="{number}">{text}</chunk>'
        for number, text in enumerate(texts, start=1)
    )
    return (
        '<retrieval type="knowledge" mode="semantic">\n'
        f'  <document knowledge_id="{document}" knowledge_base_id="{base}" title="{title}">\n{chunks}\n'
        "  </document>\n</retrieval>"
    )


def _cite(title: str, text: str) -> str:
    return f'<kb doc="{title}" chunk_id="{uid(f"{title} {text}")}" kb_id="{HANDBOOK}" />'


BATTERY = "A battery that reports three faults within a week is taken out of the fleet, whatever its age."
REFUND = "A ride that ends because of a fault is free; rides under two minutes are never charged."
WINTER = "Below minus five degrees the range on the display is a third too high. Tell riders before they start."


def mcp_agent() -> list[Message]:
    """34 messages: three servers, their tools, tickets, bikes, and one signed thought."""
    chat = Chat(
        "You are the service desk agent of a made-up bicycle rental. Other systems are reached over a bridge: discover "
        "a server's tools before you call one. Cite the handbook.",
        prefix="toolu_",
    )
    chat.user("Three riders wrote about the same bike at Harbour Square. Sort it out, please.")
    servers = [
        {"server_id": DESK, "name": "Desk", "description": "Tickets of riders"},
        {"server_id": FLEET, "name": "Fleet", "description": "Bikes, batteries, docks"},
        {"server_id": MAIL, "name": "Mail", "description": "Letters to riders"},
    ]
    chat.step(
        ("discover_mcp_tools", {}, {"servers": servers}),
        says="I look what is connected.",
        thinks="Find the desk's server first, then the tickets, then the bike in the fleet system.",
        signature=hidden("mcp thought"),
    )
    chat.step(
        _discover(
            DESK, ("search_tickets", "Finds tickets."), ("read_ticket", "One ticket."), ("close_ticket", "Closes one.")
        ),
        _discover(
            FLEET, ("find_bike", "Finds a bike."), ("history", "What a bike went through."), ("take_out", "Takes out.")
        ),
    )
    tickets = [
        {
            "key": f"DESK-{number}",
            "rider": rider,
            "link": f"https://desk.example.com/t/{number}",
            "photo": resource(rider),
        }
        for number, rider in ((4182, "R-118"), (4185, "R-240"), (4190, "R-077"))
    ]
    chat.step(_call(DESK, "search_tickets", {"place": "Harbour Square", "days": 3}, {"tickets": tickets}))
    chat.step(
        *(
            _call(DESK, "read_ticket", {"key": ticket["key"]}, f"{text}\nPhoto: {ticket['photo']}\n{ticket['link']}")
            for ticket, text in zip(
                tickets,
                ("Stopped at the bridge, display dark.", "No power after 400 m.", "Display went dark twice."),
                strict=True,
            )
        ),
        says="Three tickets; I read them all.",
    )
    chat.step(
        _call(
            FLEET, "find_bike", {"place": "Harbour Square", "rider": "R-118"}, {"bike": "HB-0923", "battery": "B-5511"}
        ),
        _call(FLEET, "history", {"bike": "HB-0923", "days": 7}, "5 rides, 3 faults: power, power, display"),
    )
    rules = _chunks(HANDBOOK, uid("rental rules"), "Rules of the fleet", BATTERY, REFUND)
    chat.step(("search_knowledge", {"query": "faults of a battery", "knowledge_base_ids": [HANDBOOK]}, rules))
    chat.says(
        "It is bike HB-0923 with battery B-5511: three faults within a week, so the battery has to go "
        f"{_cite('Rules of the fleet', BATTERY)}. The photos {tickets[0]['photo']} and {tickets[1]['photo']} show the "
        "dark display. Shall I take it out and close the tickets?"
    )
    chat.user("Yes. And do not charge them.")
    chat.step(
        _call(FLEET, "take_out", {"bike": "HB-0923", "reason": "three faults"}, "done, dock 14 is free"),
        *(
            _call(DESK, "close_ticket", {"key": ticket["key"], "charge": 0}, f"closed {ticket['link']}")
            for ticket in tickets
        ),
    )
    chat.says(
        f"Done: the bike is out, all three tickets are closed, the rides free {_cite('Rules of the fleet', REFUND)}."
    )
    chat.user("Does the cold have to do with it?")
    winter = _chunks(HANDBOOK, uid("winter notes"), "Winter notes", WINTER)
    chat.step(("search_knowledge", {"query": "cold weather", "knowledge_base_ids": [HANDBOOK]}, winter))
    chat.says(f"No, it was mild. In frost only the display is wrong {_cite('Winter notes', WINTER)}.")
    chat.user("Then tell the next shift, please.")
    note = {"to": "shift@rental.example.com", "text": "HB-0923 is out because of battery B-5511."}
    chat.step(_call(MAIL, "send_letter", note, "sent, see https://mail.example.com/sent/88213"))
    chat.says("I wrote to them: the bike is out because of its battery, not of the cold.")
    return chat.messages


WIKI_TOOLS = {
    "wiki_search": "Searches the pages.",
    "wiki_read_page": "Reads a page.",
    "wiki_read_issue": "Reads the open issues of a page.",
    "wiki_update_issue": "Changes the state of an issue.",
    "wiki_replace_text": "Replaces a passage of a page.",
    "wiki_flag_issue": "Files an issue about a page.",
    "wiki_read_source_doc": "Reads the document that a page is based on.",
}
WIKI = uid("engineering wiki base")
RUNBOOK, CHECKLIST, ROTA = uid("rollback runbook"), uid("release checklist"), uid("on-call rota")
GONE, REGION, TYPO = uid("issue gone"), uid("issue region"), uid("issue typo")


def wiki_agent() -> list[Message]:
    """22 messages: pages, the documents behind them, issues that become i1, i2."""
    chat = Chat(
        "You keep the engineering wiki of a made-up company tidy. Read a page and its issues before you change it, and "
        "name the document that a change rests on."
    )
    chat.user("Which runbooks are out of date? Fix what is easy and update the issues.")
    found = (
        "<results>\n"
        f'  <page slug="runbooks/rollback" knowledge_id="{RUNBOOK}">Rollback runbook</page>\n'
        f'  <page slug="summary/{CHECKLIST}" knowledge_id="{CHECKLIST}">Release checklist, summary</page>\n'
        f'  <page slug="teams/on-call" knowledge_id="{ROTA}">On-call rota</page>\n</results>'
    )
    chat.step(("wiki_search", {"query": "runbook", "knowledge_base_id": WIKI}, found), thinks="List the pages first.")
    issues = [
        {"id": GONE, "title": "Step 4 names a command that is gone", "status": "open"},
        {"id": REGION, "title": "Says nothing about the new region", "status": "open"},
        {"id": TYPO, "title": "Typo in step 2", "status": "open"},
    ]
    page = (
        f"# Rollback runbook\nBased on weknora://doc/{RUNBOOK}.\n\n"
        "1. Stop the queue.\n2. Chose the last good release.\n"
        f"3. Compare it with summary/{CHECKLIST}.\n4. Run `release undo`.\n"
    )
    chat.step(
        ("wiki_read_page", {"slug": "runbooks/rollback"}, page),
        ("wiki_read_issue", {"page": "runbooks/rollback"}, {"issues": issues}),
        says="The rollback runbook has open issues; I read both.",
    )
    source = f'<document knowledge_id="{RUNBOOK}" title="Rollback">Since June the command is `release back`.</document>'
    checked = f'<document knowledge_id="{CHECKLIST}" title="Release checklist">Runs after every release.</document>'
    chat.step(
        ("wiki_read_source_doc", {"knowledge_id": RUNBOOK}, source),
        ("wiki_read_source_doc", {"knowledge_id": CHECKLIST}, checked),
    )
    chat.step(
        (
            "wiki_replace_text",
            {
                "slug": "runbooks/rollback",
                "old": "release undo",
                "new": "release back",
                "source_refs": [f"{RUNBOOK}|Rollback"],
            },
            "replaced 1",
        ),
        ("wiki_replace_text", {"slug": "runbooks/rollback", "old": "Chose", "new": "Choose"}, "replaced 1"),
    )
    chat.step(
        ("wiki_update_issue", {"issue_id": GONE, "status": "closed"}, f"issue {GONE} is closed"),
        ("wiki_update_issue", {"issue_id": TYPO, "status": "closed"}, f"issue {TYPO} is closed"),
        says="Two of the three are done.",
    )
    chat.says(
        "I corrected the command and the typo in the runbook and closed both issues. The change rests on "
        f"weknora://doc/{RUNBOOK}. The third issue needs somebody who knows the new region."
    )
    chat.user("Put that one on the on-call team, and look whether the rota has the same gap.")
    chat.step(
        (
            "wiki_update_issue",
            {"issue_id": REGION, "status": "assigned", "assignee": "on-call"},
            f"issue {REGION} is assigned",
        ),
        (
            "wiki_flag_issue",
            {
                "slug": "teams/on-call",
                "title": "No shift covers the new region",
                "suspected_knowledge_ids": [ROTA, RUNBOOK],
            },
            "filed",
        ),
    )
    chat.says(f"Assigned. The rota has the same gap, so I filed an issue about it; it rests on weknora://doc/{ROTA}.")
    return chat.messages
