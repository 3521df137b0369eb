"""Makes the sample sessions: `python -m tests.make_samples` writes the same files each time.

What they say stands in `tests/sample_making`; everything in it is made up.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from modelcontext_core.messages import Message
from tests.sample_making import desks, hostile, leaking, offices
from tests.sample_making.recorders import langfuse, otel
from tests.sample_making.writers import anthropic, gemini, openai_chat, responses, written

FOLDER: Final = Path(__file__).parents[1] / "sample_sessions"


def conversations() -> dict[str, Sequence[Message]]:
    """The conversations by the name of their sample."""
    return {
        "mcp_agent": desks.mcp_agent(),
        "wiki_agent": desks.wiki_agent(),
        "sql_agent": offices.sql_agent(),
        "parallel_tools": offices.parallel_tools(),
        "chinese": offices.chinese(),
        "leaking_agent": leaking.leaking(),
    }


def files() -> dict[str, bytes]:
    """The files by their path in the folder of samples."""
    said = conversations()
    made = {
        "mcp_agent": anthropic(said["mcp_agent"], desks.MCP_TOOLS, "claude-example"),
        "wiki_agent": responses(said["wiki_agent"], desks.WIKI_TOOLS, "gpt-example"),
        "sql_agent": otel(said["sql_agent"], offices.SQL_TOOLS, "gpt-example"),
        "parallel_tools": gemini(said["parallel_tools"], offices.PARALLEL_TOOLS),
        "chinese": openai_chat(said["chinese"], offices.CHINESE_TOOLS, "example-plus"),
        "leaking_agent": langfuse(said["leaking_agent"], leaking.LEAKING_TOOLS, "gpt-example-mini"),
    }
    found = {f"{name}/{name}.json": written(document) for name, document in made.items()}
    return found | {"damaged_file/damaged_file.jsonl": leaking.damaged()}


def main() -> None:
    """Write the files."""
    # Apart: what a packer makes of the same bytes differs by its version.
    for name, content in (files() | {"hostile/hostile.json.gz": hostile.packed()}).items():
        path = FOLDER / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main()
