"""Read traces of many vendors and frameworks: bytes in, messages out.

- `iter_traces(source)` gives one `Trace` a record, holding one record at a time.
- `read(data)` gives everything as one `Trace`.
- `detect(data)` names the format.

A source that cannot be read raises `UnreadableTrace`; everything that is not read as it stands is a `Notice`.
A new format is one module with a `READER`, and one line in `READERS`.

What is read, what always holds, and every limit: `docs/formats.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats import (
    adk_session,
    ag_ui,
    anthropic_messages,
    anthropic_stream,
    atif,
    autogen,
    bedrock_converse,
    chatbotui_export,
    chatgpt_export,
    claude_agent_sdk,
    claude_ai_export,
    claude_code_jsonl,
    codex_jsonl,
    cohere,
    copilot_cli,
    gemini,
    gemini_cli,
    gemini_stream,
    generic_messages,
    inspect_log,
    kimi_cli,
    langchain_messages,
    langfuse_export,
    langgraph_checkpoint,
    langsmith_run,
    librechat_export,
    litellm_log,
    managed_agent_events,
    mcp_jsonrpc,
    microsoft_extensions_ai,
    mistral,
    mlflow_trace,
    ollama,
    openai_chat,
    openai_chat_stream,
    openai_responses,
    openai_responses_stream,
    openhands,
    openinference,
    openllmetry,
    openwebui_export,
    opik,
    otel_genai,
    pydantic_ai_messages,
    sharegpt,
    swe_agent,
    text,
    vercel_data_stream,
    vercel_ui_messages,
    vercel_ui_stream,
)
from modelcontext_core.formats.base import Conversation, Notice, Origin, StreamChunk, Trace
from modelcontext_core.formats.building.merging import merged
from modelcontext_core.formats.containers.framing import look
from modelcontext_core.formats.containers.sources import open_members
from modelcontext_core.formats.dispatch import iterate, recognise
from modelcontext_core.formats.reader import Reader, Sample

__all__ = [
    "READERS",
    "Conversation",
    "Notice",
    "Origin",
    "Reader",
    "Sample",
    "StreamChunk",
    "Trace",
    "UnreadableTrace",
    "detect",
    "format_names",
    "iter_traces",
    "read",
]

# The first reader that recognises a source takes it: the more particular formats stand before the more general.
READERS: Final[tuple[Reader, ...]] = (
    mcp_jsonrpc.READER,
    openinference.READER,
    openllmetry.READER,
    vercel_ui_messages.READER,
    mlflow_trace.READER,
    otel_genai.READER,
    langfuse_export.READER,
    langsmith_run.READER,
    opik.READER,
    litellm_log.READER,
    inspect_log.READER,
    microsoft_extensions_ai.READER,
    chatgpt_export.READER,
    openwebui_export.READER,
    librechat_export.READER,
    claude_ai_export.READER,
    chatbotui_export.READER,
    claude_code_jsonl.READER,
    claude_agent_sdk.READER,
    managed_agent_events.READER,
    codex_jsonl.READER,
    atif.READER,
    adk_session.READER,
    swe_agent.READER,
    openhands.READER,
    ag_ui.READER,
    gemini_cli.READER,
    kimi_cli.READER,
    copilot_cli.READER,
    pydantic_ai_messages.READER,
    langgraph_checkpoint.READER,
    langchain_messages.READER,
    autogen.READER,
    sharegpt.READER,
    vercel_ui_stream.READER,
    vercel_data_stream.READER,
    openai_responses_stream.READER,
    mistral.READER,
    openai_chat_stream.READER,
    anthropic_stream.READER,
    gemini_stream.READER,
    gemini.READER,
    openai_responses.READER,
    bedrock_converse.READER,
    anthropic_messages.READER,
    cohere.READER,
    ollama.READER,
    openai_chat.READER,
    generic_messages.READER,
    text.READER,
)


def format_names() -> dict[str, str]:
    """The name and the title of every format, for a choice by hand."""
    return {reader.name: reader.title for reader in READERS}


def iter_traces(source: bytes | str | Path | BinaryIO, name: str = "", format: str | None = None) -> Iterator[Trace]:  # noqa: A002
    """The traces of a path (`str` or `Path`), an open binary file, or bytes, one record at a time.

    Close the iterator to stop. `name` is only for messages; `format` overrules detection. Raises `UnreadableTrace`
    when nothing can be read, `ValueError` for an unknown format.
    """
    return iterate(source, name, READERS, _by_name(format))


def read(data: bytes | str | Path | BinaryIO, name: str = "", format: str | None = None) -> Trace:  # noqa: A002
    """Everything in a source as one trace. Takes and raises what `iter_traces` does."""
    return merged(iter_traces(data, name, format))


def detect(data: bytes | str | Path | BinaryIO, name: str = "") -> str:
    """The name of the format of a source (of the first file that is recognised in a zip).

    Raises `UnreadableTrace` when there is none.
    """
    error: UnreadableTrace | None = None
    for member in open_members(data, name, lambda _kind, _where, _text: None):
        try:
            found = recognise(look(member, lambda _kind, _where, _text: None), member.name, READERS)
        except UnreadableTrace as unreadable:
            error = error or unreadable
            continue
        if found is not None:
            return found.reader.name
    raise error or UnreadableTrace("no format was recognised", position="byte 0")


def _by_name(name: str | None) -> Reader | None:
    if not name:
        return None
    for reader in READERS:
        if reader.name == name:
            return reader
    raise ValueError(f"unknown format {name!r}: one of {', '.join(reader.name for reader in READERS)}")
