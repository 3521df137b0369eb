"""Small conversations and what the app finds out about them, for the tests of views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector_app import data
from inspector_app.views.analysis import Analysis, Proof
from modelcontext_core.formats.base import Conversation, Trace
from modelcontext_core.messages import Message, ToolCall

CHUNK = "7f3c2a10-94be-4a7d-8f21-0d6c5be19a44"
DOCUMENT = "90ab34ef-6c12-4d7f-b8e5-a7d3f0c1e264"
BASE = "a3c5e7f9-1b2d-4f6a-8c0e-d9b7f5a3c1e2"
RAW = "b7d1c0de-3f42-4e19-9a6b-7c55e0f8a921"

CONVERSATION = (
    Message(role="system", content="You help.\nBe short."),
    Message(role="user", content=f"What about {RAW}?"),
    Message(
        role="assistant",
        tool_calls=(
            ToolCall(id="c1", name="search_knowledge", arguments=f'{{"query": "x", "knowledge_base_ids": ["{BASE}"]}}'),
        ),
    ),
    Message(
        role="tool",
        name="search_knowledge",
        tool_call_id="c1",
        content=f'<chunk chunk_id="{CHUNK}" knowledge_id="{DOCUMENT}">\nText\n</chunk>\nshipment {RAW}',
    ),
    Message(role="assistant", content=f'See <kb doc="D" chunk_id="{CHUNK}" kb_id="{BASE}" />.'),
)


def held(messages: Sequence[Message] = CONVERSATION) -> data.Held:
    """A trace in memory that is on no shelf."""
    trace = Trace(format="openai_chat", conversations=(Conversation(messages=tuple(messages)),))
    return data.Held(trace=trace, data=b"{}", name="made.json", key="0" * 32, digest="0")


def analysis(messages: Sequence[Message] = CONVERSATION, **options: object) -> Analysis:
    """What is found out about `messages`."""
    return data.analyse(held(messages), data.Options(**options))  # type: ignore[arg-type]


def both(messages: Sequence[Message] = CONVERSATION, **options: object) -> tuple[Analysis, Proof]:
    """What is found out and what is proven about `messages`."""
    one, chosen = held(messages), data.Options(**options)  # type: ignore[arg-type]
    return data.analyse(one, chosen), data.prove(one, chosen)


def left_text(rows: Sequence[object]) -> str:
    """The left side of rows, put together as the browser does for “copy JSON”."""
    text = ""
    for number, row in enumerate(unfolded(rows)):
        text += "\n" if number and row[0] else ""
        text += "".join(
            part if isinstance(part, str) else str(part[3] if len(part) > 3 else part[1]) for part in row[1]
        )
    return text


def unfolded(rows: Sequence[Any]) -> list[list[list[str | list[str | int]]]]:
    """All rows, those in folds too."""
    result: list[list[list[str | list[str | int]]]] = []
    for row in rows:
        result.extend(row["fold"] if isinstance(row, dict) else [row])
    return result
