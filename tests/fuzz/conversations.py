"""Conversations that hurt an encoder: ids of every odd shape, where a policy looks and where none does."""

from __future__ import annotations

import json
import random
from html import escape
from typing import Final
from urllib.parse import quote

from modelcontext_core import Message, Part, ToolCall
from tests.fuzz.worlds import UUID_A, UUID_B, UUID_C

IDS: Final = (
    *(
        UUID_A,
        UUID_B,
        UUID_C,
        UUID_A.upper(),
        "doc-000001",
        "doc-000001-final",
        "doc-0000012",
        "5f3c9e8a7b6d5c4e3f2a1b0c",
    ),
    *(
        "wiki/document-00193",
        "wiki/document",
        "文档编号一",
        "文档编号一二三",
        "content",
        "title-1",
        "a|b-00001",
        'q"uote-01',
    ),
    *(
        "back\\slash-01",
        "less<than>-01",
        "amp&ersand-01",
        "new\nline-01",
        "$dollar-1\\1",
        "ap'os-00001",
        "dot.ending.",
        "a--b-cd01",
    ),
    *(
        "-dash-first",
        "dash-last-",
        "x y-000001",
        "12345678",
        "abc",
        "ab",
        "9",
        "i1",
        "ms12",
        "c1",
        "doc://77",
        "ünï-00001",
        "zéro",
    ),
    *(
        "https://e.com/p?q=1",
        "https://e.com/p?q=1#top",
        "https://e.com/p#end",
        "http://e.com/(a)",
        "jira://ABC-00001",
        "x" * 512,
    ),
    *(
        "y" * 513,
        "zero\u200bwidth-1",
        "nul\0byte-1",
        "lone\ud800-0001",
        "%41%zz-0001",
        "n-after-escape",
        "b7a9c1d2",
        "😀emoji-01",
        '"quoted-01"',
        'two","of-them-01',
        "\\first-0001",
        "last-00001\\",
    ),
    *(
        "E'x-00001",
        "``tick-01",
        "$$tag$$-01",
        "kb_id='x-01'",
        "(paren)-01",
        "a.b.c.d.e-1",
        "summary/" + UUID_A,
        "tail,",
    ),
)
RESOURCES: Final = (
    *(
        "resource://ABCDEFGHIJKLMNOPQRST12",
        f"summary/{UUID_C}",
        "local://t/img 1.png",
        "s3://bucket/k.pdf",
        "ks3://b/x",
    ),
    *(
        "storage://main/minio://b/o",
        "storage://a/b/minio://c",
        "obs://文/件。",
        "resource://short",
        "cos://a).",
        "oss://x/doc://3",
    ),
)
HANDLES: Final = (
    "doc://1",
    "chunk://2",
    "kb://9",
    "url://1",
    "res://0001",
    "DOC://5",
    "doc://007",
    "i1",
    "ms1",
    "doc://999999999",
)
PROSE: Final = (
    *(
        " ",
        "\n",
        ", ",
        "(",
        ")",
        "\\n",
        "\\u6587",
        "\\u003e",
        "\\",
        "-",
        "_",
        ".",
        "...",
        "的",
        "。",
        "'",
        '"',
        "a",
        "<",
        ">",
        "://",
        "http://e.com/",
        "`",
    ),
    *(
        "the content of ",
        "https://x.example/",
        "weknora://doc/",
        "shop://doc/",
        "E'",
        "--",
        "/*",
        "*/",
        "$$",
        "&amp;",
        "](",
    ),
)
HALVES: Final = ('kb_id="', "kb_id='", "<kb_id>", "</kb_id>", "<kb ", "<chunk ", "chunk_id='", 'user_id="', "'/>")
KEYS: Final = (
    *(
        "knowledge_id",
        "knowledge_ids",
        "knowledge_base_id",
        "kb_id",
        "kb_ids",
        "chunk_id",
        "faq_id",
        "url",
        "urls",
        "id",
    ),
    *(
        "source_refs",
        "issue_id",
        "issue_ids",
        "issues",
        "server_id",
        "tool_ref",
        "servers",
        "tools",
        "sql",
        "query",
        "title",
    ),
    *(
        "ticket",
        "order_id",
        "shelf",
        "passage_id",
        "link",
        "Knowledge_ID",
        "items",
        "arguments",
        "content",
        "doc://1",
        "doc-000001",
    ),
)
TOOLS: Final = (
    *("read_document", "list_documents", "list_knowledge_chunks", "get_document_info", "web_fetch"),
    "wiki_write_page",
    *(
        "wiki_flag_issue",
        "wiki_read_issue",
        "wiki_update_issue",
        "database_query",
        "data_analysis",
        "discover_mcp_tools",
    ),
    *(
        "call_mcp_tool",
        "mcp_other",
        "find",
        "query",
        "raw",
        "scan",
        "track",
        "router",
        "read_file",
        "nobody_knows",
        "grep_chunks",
        "web_search",
        "",
    ),
)


def uri(rng: random.Random, durable: str) -> str:
    """The URI of an id, spelt as the codec would or with needless escapes, of either scheme."""
    scheme, kind = rng.choice(("weknora", "shop")), rng.choice(("doc", "kb", "chunk", "page"))
    return f"{scheme}://{kind}/{quote(durable.encode('utf-8', 'surrogatepass'), safe=rng.choice(('', 'é/', '@')))}"


def labelled(rng: random.Random, durable: str) -> str:
    """An id under a label or in a tag, as the results of source tools write them."""
    value = escape(durable) if rng.random() < 0.7 else durable
    other = escape(rng.choice(IDS))
    return rng.choice(
        (
            f'knowledge_id="{value}"',
            f"kb_id='{value}'",
            f"<knowledge_base_id>{value}</knowledge_base_id>",
            f'my_kb_id="{value}"',
            f'<chunk chunk_id="{value}" knowledge_id="{other}" kb_id="{other}" doc="T > 1"/>',
            f"<faq faq_id='{value}' title=\"x\">",
            f'<kb doc="D" chunk_id="{value}" kb_id="{other}" />',
            f'<web url="{value}" title="W" />',
            f'server_id="{value}"',
            rng.choice(
                ('kb_id="', "kb_id='", "<kb_id>", "</kb_id>", "<kb ", "<chunk ", "chunk_id='", 'user_id="', "'/>")
            ),
        )
    )


def prose(rng: random.Random, longest: int = 8) -> str:
    """Text of ids, labels, references, URIs, handles, URLs and the signs between them."""
    made = []
    for _ in range(rng.randint(0, longest)):
        durable = rng.choice(IDS)
        kind = rng.randrange(9)
        if kind < 3:
            made.append(durable)
        elif kind == 3:
            made.append(labelled(rng, durable))
        elif kind == 4:
            made.append(rng.choice((rng.choice(RESOURCES), uri(rng, durable), rng.choice(HANDLES))))
        elif kind == 5:
            made.append(f"https://{rng.choice(('e.com', 'x.example'))}/{durable}")
        else:
            made.append(rng.choice(PROSE))
        if rng.random() < 0.6:
            made.append(rng.choice(PROSE))
        elif rng.random() < 0.2:
            made.append(made[-1])
    return "".join(made)


def sql(rng: random.Random) -> str:
    """SQL with ids in literals, outside of them, in comments, quoted names and dollar quotes; not always closed."""
    durable = rng.choice(IDS)
    doubled = durable.replace("'", "''")
    pieces = (
        *(
            f"'{doubled}'",
            f"'{durable}'",
            f"E'{doubled}'",
            f'"{durable}"',
            f"`{durable}`",
            f"$q${durable}$q$",
            f"-- {durable}\n",
        ),
        *(
            f"/* {durable} */",
            durable,
            "'",
            "it''s",
            " = ",
            " IN (",
            ")",
            "select ",
            "E'",
            "''",
            "$$",
            rng.choice(HANDLES),
        ),
        *(uri(rng, durable), f"'{uri(rng, durable)}'", rng.choice(RESOURCES), f"'a {doubled}, {doubled}'", "--", '"'),
    )
    return "".join(rng.choices(pieces, k=rng.randint(1, 6)))


def value(rng: random.Random, key: str, depth: int) -> object:
    """A JSON value for a key: mostly what belongs there, sometimes something else."""
    if depth < 3 and rng.random() < 0.3:
        return [value(rng, key, depth + 1) for _ in range(rng.randint(0, 3))]
    if depth < 3 and rng.random() < 0.15:
        return members(rng, depth + 1)
    if key == "sql":
        return sql(rng)
    if rng.random() < 0.1:
        return rng.choice((None, True, 1.0, 12345678901234567890, "", {}, []))
    if key in ("query", "title", "content", "items", "arguments") or rng.random() < 0.15:
        return prose(rng, 4)
    durable = rng.choice(IDS)
    if key == "source_refs" and rng.random() < 0.6:
        return f"{durable}|{prose(rng, 3)}"
    return rng.choice((durable, durable, durable, f" {durable} ", uri(rng, durable), rng.choice(HANDLES)))


def members(rng: random.Random, depth: int = 0) -> dict[str, object]:
    """A JSON object with keys that policies declare and others."""
    return {key: value(rng, key, depth) for key in rng.choices(KEYS, k=rng.randint(0, 4))}


def json_text(rng: random.Random, *, top: str = "any") -> str:
    """JSON text with random spacing, escapes and, at times, duplicate keys and numbers that parsers change."""
    made: object = members(rng) if top == "object" or rng.random() < 0.7 else [members(rng), prose(rng, 3)]
    text = json.dumps(made, ensure_ascii=rng.random() < 0.3, indent=rng.choice((None, None, 1)))
    text = text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")
    if rng.random() < 0.1 and text.startswith("{") and len(text) > 2:
        text = '{"id": 1.0, "n": 12345678901234567890, "id" :"doc-000001",' + text[1:]
    if rng.random() < 0.1:
        text = text.replace("/", "\\/")
    return text


def arguments(rng: random.Random) -> str:
    """The arguments of a call: mostly JSON, sometimes cut or no JSON at all."""
    text = json_text(rng, top="object")
    kind = rng.random()
    return prose(rng, 3) if kind < 0.03 else text[:-1] if kind < 0.06 else text


def message(rng: random.Random) -> Message:
    """One message of any role."""
    role = rng.choice(("system", "user", "assistant", "assistant", "tool", "tool", "tool"))
    if role == "tool":
        content = json_text(rng) if rng.random() < 0.5 else prose(rng)
        return Message(role="tool", name=rng.choice(TOOLS), tool_call_id="call", content=content)
    if role != "assistant":
        parts = (Part(type="text", text=prose(rng, 4)), Part(type="image_url", data={"url": RESOURCES[0]}))
        return Message(role=role, content=prose(rng), parts=parts if rng.random() < 0.3 else ())
    calls = tuple(
        ToolCall(id="call", name=rng.choice(TOOLS), arguments=arguments(rng)) for _ in range(rng.randint(0, 3))
    )
    signature = "signed" if rng.random() < 0.2 else ""
    return Message(
        role=role, content=prose(rng, 5), reasoning=prose(rng, 3), reasoning_signature=signature, tool_calls=calls
    )


def conversation(rng: random.Random) -> list[Message]:
    """A few messages in any order; results before their calls, too, since later messages make earlier ids known."""
    return [message(rng) for _ in range(rng.randint(1, 6))]
