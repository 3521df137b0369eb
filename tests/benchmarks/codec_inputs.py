"""Made-up conversations of half a megabyte, the same bytes every time: tool results full of ids, and an answer."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from modelcontext_core import ChunkReference, Message, Registry, ToolCall

IdKind = Literal["uuid", "word", "hex", "path"]

WORDS = [
    *("the", "store", "keeps", "every", "chunk", "of", "a", "document", "with", "its", "title", "and", "index"),
    *("beside", "other", "sources", "when", "tenant", "asks", "for", "review", "policy", "section", "figure"),
    *("budget", "contract", "invoice", "latency", "gateway", "replica", "schema", "rollout", "知识库"),
]
TOOLS = ("knowledge_search", "grep_chunks", "list_knowledge_chunks", "web_search", "wiki_read_page", "database_query")
RESULTS = 19
PIECES = 68  # so many ids in a result, one every 330 characters: about 27 KB


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is registered before the conversation: 2 in 100 knowledge bases, 20 documents, 20 pages, the rest chunks."""

    bases: Sequence[str]
    documents: Sequence[str]
    pages: Sequence[str]
    chunks: Sequence[ChunkReference]


def known_ids(count: int, kind: IdKind = "uuid") -> Known:
    """`count` ids of one kind."""
    source = random.Random(7)

    def made(space: str, number: int) -> str:
        bits = source.getrandbits(128)
        if kind == "uuid":
            return str(uuid.UUID(int=bits, version=4))
        if kind == "hex":
            return f"{bits:032x}"[:24]
        return f"{space}-{number:05d}-{bits % 65536:04x}" if kind == "word" else f"wiki/{space}-{number:05d}"

    few = max(1, count // 50)
    some = max(1, count // 5)
    bases = [made("base", number) for number in range(few)]
    documents = [made("document", number) for number in range(some)]
    pages = [f"https://site{number % 20}.example.com/articles/{number}?ref={number * 37}" for number in range(some)]
    chunks = [
        ChunkReference(
            chunk_id=made("chunk", number),
            knowledge_id=documents[number % some],
            knowledge_base_id=bases[number % few],
            document_title=f"Report {number % some}",
            chunk_index=number,
        )
        for number in range(count - few - 2 * some)
    ]
    return Known(bases=bases, documents=documents, pages=pages, chunks=chunks)


def registry_of(known: Known, *, issues: int = 0) -> Registry:
    """A new registry that has issued a handle for each id."""
    registry = Registry()
    for base in known.bases:
        registry.register_knowledge_base(base)
    for document in known.documents:
        registry.register_document(document)
    for page in known.pages:
        registry.register_web(page, "A page")
    for chunk in known.chunks:
        registry.register_chunk(chunk)
    for number in range(issues):
        registry.register_issue(f"issue-{number:06d}")
    return registry


def conversation(known: Known, note: str, *, as_json: bool = False, resources: int = 0) -> list[Message]:
    """A question, then calls with their results; `note` makes the texts of one run differ from those of all others."""
    source = random.Random(11)
    listing = "\n".join(f"resource://{source.getrandbits(130):033x}"[:33] for _ in range(resources))
    messages = [
        Message(role="system", content=f"{_prose(source, 600)}\n{note}"),
        Message(role="user", content=f"{_prose(source, 40)}\n{listing}\n{note}"),
    ]
    for number in range(RESULTS):
        cited = source.choice(known.chunks)
        arguments = {"query": _prose(source, 10), "limit": 20, "knowledge_id": source.choice(known.documents)}
        name = TOOLS[number % len(TOOLS)]
        call = ToolCall(id=f"call_{number}", name=name, arguments=json.dumps(arguments))
        said = f'{_prose(source, 40)} <kb doc="Report" chunk_id="{cited.chunk_id}" kb_id="{cited.knowledge_base_id}" />'
        result = _rows(source, known) if as_json else _text(source, known)
        messages.append(Message(role="assistant", content=f"{said}\n{note}", tool_calls=(call,)))
        # A note behind a JSON text would make it none: there it stands in front of the text of a row.
        content = result.replace('"content": "', f'"content": "{note} ', 1) if as_json else f"{result}\n{note}"
        messages.append(Message(role="tool", name=name, tool_call_id=call.id, content=content))
    return messages


def answer(known: Known, note: str, *, resources: int = 0) -> str:
    """What a model says: 100 KB with 200 citations, and with `resources` 20 handles of theirs."""
    source = random.Random(3)
    pieces = [note]
    for number in range(200):
        space, count = source.choice((("chunk", len(known.chunks)), ("url", len(known.pages))))
        pieces.append(f'{_prose(source, 75)} <ref id="{space}://{source.randint(1, count)}"/>.')
        if resources and number % 10 == 0:
            pieces.append(f"![figure](res://{source.randint(1, resources):04d})")
    return "\n".join(pieces)


def _prose(source: random.Random, words: int) -> str:
    return " ".join(source.choices(WORDS, k=words))


def _text(source: random.Random, known: Known) -> str:
    pieces = []
    for _ in range(PIECES):
        pieces.append(_prose(source, 51))
        if source.random() < 0.1:
            pieces.append(f"unknown {uuid.UUID(int=source.getrandbits(128), version=4)}")
        chunk, form = source.choice(known.chunks), source.random()
        if form < 0.25:
            pieces.append(
                f'<chunk chunk_id="{chunk.chunk_id}" knowledge_id="{chunk.knowledge_id}" '
                f'knowledge_base_id="{chunk.knowledge_base_id}" knowledge_title="{chunk.document_title}">'
            )
        elif form < 0.84:
            pieces.append(f"({source.choice((chunk.chunk_id, source.choice(known.documents)))})")
        elif form < 0.92:
            pieces.append(f"({source.choice(known.pages)})")
        else:
            pieces.append(f"![image](resource://{source.getrandbits(88):022x})")
    return "\n".join(pieces)


def _rows(source: random.Random, known: Known) -> str:
    rows = [
        {
            "knowledge_id": source.choice(known.documents),
            "score": 0.5,
            "content": f"{_prose(source, 51)} ({source.choice(known.chunks).chunk_id})",
        }
        for _ in range(PIECES)
    ]
    return json.dumps({"total": PIECES, "results": rows}, indent=1, ensure_ascii=False)
