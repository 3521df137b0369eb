"""Registries to try the laws on: every space filled, with ids that hurt, in four variants."""

from __future__ import annotations

from modelcontext_core import ChunkReference, HandleTable, Message, Registry, ToolPolicies

UUID_A = "0d3f1c5e-7a2b-4c8d-9e10-1f2a3b4c5d6e"
UUID_B = "b7a9c1d2-3e4f-4a5b-8c6d-7e8f90a1b2c3"
UUID_C = "11111111-2222-4333-8444-555555555555"
RESOURCE = "local://tenant/images/figure.png"

# What restoring writes may itself look like tags, handles, openers, patterns or quotes.
HOSTILE_DOCUMENTS = (
    "doc-000001",
    "a<b>c-000002",
    '<ref id="x"/>',
    "x://y z\\n'q'",
    "文档一号文件",
    "$1\\1%s{0}",
    "ends-with-dot.",
    UUID_A,
)
HOSTILE_PAGES = (
    ("https://example.com/a?b=1", "A page"),
    ("https://example.com/<ref", "no end"),
    ("https://example.com/x<kb ", ""),
    ("https://example.com/doc://1#top", "<&>\"'"),
    ("https://example.com/)", "bracket"),
)
CHUNKS = (
    ChunkReference(chunk_id=UUID_B, knowledge_id=UUID_A, document_title='T "1" <x>'),
    ChunkReference(chunk_id="chunk-0002", document_title="not citable"),
    ChunkReference(chunk_id="c\"<>&'3.", knowledge_base_id="kb-000001"),
)
HOSTILE_ISSUES = ("issue-000001", "see https://x/i2", "<ref", "i9 and i1", "a\nb")

PACK = """
name = "laws"
extends = "builtin"
uri_scheme = "shop"
[keys]
order_id = "document"
shelf = "kb"
passage_id = "chunk"
link = "web"
[tools.find]
ids = ["order_id", "shelf", "passage_id", "link", "id"]
output = "source"
mine = ["uuid", "url"]
[tools.query]
ids = ["order_id"]
sql = ["sql"]
output = "compact"
[tools.raw]
output = "opaque"
[tools.scan]
output = "compact"
mine = ["url", "uuid"]
[tools.track]
ids = ["order_id"]
output = "source"
issues = { decode = ["ticket", "issue_id"], register = ["ticket", "id"], compact = true }
[tools.router]
sql = ["query"]
routing = { server_id = "server", tool_ref = "tool" }
output = "directory"
"""
POLICIES = ToolPolicies.loads(PACK)
SENSITIVE = ToolPolicies.loads('name = "vault"\n[tools.vault]\nsensitive = true\n')


def registry(*, citations: bool, issues: bool, pack: bool = False) -> Registry:
    """A registry whose first few numbers are known in every space, and the rest not."""
    made = Registry(citations_enabled=citations, **({"policies": POLICIES} if pack else {}))
    made.register_chunk(CHUNKS[0])
    made.register_context_chunk(CHUNKS[1])
    made.register_chunk(CHUNKS[2])
    for document in HOSTILE_DOCUMENTS:
        made.register_document(document)
    made.register_knowledge_base("kb-000001")
    made.register_knowledge_base(UUID_C)
    for url, title in HOSTILE_PAGES:
        made.register_web(url, title)
    made.encode_messages(
        [
            Message(role="user", content=f"{RESOURCE} summary/{UUID_C} s3://bucket/<x"),
            Message(role="tool", name="discover_mcp_tools", content='{"server_id": "server-1", "tool_ref": "tool>1"}'),
        ]
    )
    if issues:
        for issue in HOSTILE_ISSUES:
            made.register_issue(issue)
    return made


def tables() -> list[HandleTable]:
    """Stand-alone tables of different shapes, with values that look like handles of the table and like URLs."""
    plain, padded, odd = HandleTable("ref-", start=1), HandleTable("c", width=3, start=0), HandleTable("中i")
    for table in (plain, padded, odd):
        for value in ("alpha-000001", "c001", "ref-2", "https://e.com/c000", "a<b", "文档", "x y", "c00"):
            table.register(value)
    return [plain, padded, odd, HandleTable("none-")]
