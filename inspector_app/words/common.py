"""Words that several pages and components share."""

from __future__ import annotations

from typing import Final, NewType

# A name that this project gives: of a format, a space, a view. Text of a trace must never be made one.
OurName = NewType("OurName", str)

__all__ = [
    "APP_TITLE",
    "COLUMN_MESSAGE",
    "COLUMN_NUMBER",
    "COLUMN_RAW",
    "COLUMN_REPLACED",
    "HANDLE_COLUMNS",
    "LINKED_VIEW",
    "NEXT_RAW",
    "NOT_GUARDED",
    "PAGE_PLAYGROUND",
    "RAIL",
    "OurName",
    "bytes_text",
    "citable",
    "first_seen",
    "hidden_characters",
    "left_on_purpose",
    "page_title",
    "piece_of",
    "plural",
    "raw_ids_left",
    "replaced",
    "section_label",
    "space_name",
    "used",
]
APP_TITLE: Final = "Model-context inspector"
NOT_GUARDED: Final = (
    "This is the script of the pages alone, without what keeps strangers out. Start it with  modelcontext-inspector"
)
PAGE_PLAYGROUND: Final = "Playground"


def page_title(page: str) -> str:
    """What the browser's tab and its history call a page."""
    return f"{page} · {APP_TITLE}"


def bytes_text(size: int) -> str:
    """A size for people."""
    for unit, name in ((1024 * 1024, "MB"), (1024, "KB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} {plural(size, 'byte')}"


NEXT_RAW: Final = "Next raw id (X)"
LINKED_VIEW: Final = {
    "hint": "Point at an identity to light both sides. Click to keep it and see where else it occurs.",
    "fold": "{n} unchanged lines — show",
    "before": "Show what stands before",
    "after": "Show what follows",
    "handle": "Handle",
    "durable": "Stands for",
    "space": "Space",
    "citable": "Citable",
    "first": "First seen",
    "used": "Used",
    "copy": "copy",
    "copyPath": "copy path",
    "copyMessage": "copy JSON",
    "copied": "copied",
    "k": "kept",
    "d": "dropped",
    "u": "left on purpose: what a person writes is passed on as it is",
    "region": "Both forms of the conversation. N and P go from identity to identity, Enter keeps one, Escape clears.",
}
RAIL: Final = {
    "all": "Messages",
    "replaced": "With replacements",
    "raw": "With raw ids",
    "found": "Found",
    "filter": "Which messages are listed",
    "none": "No message fits this filter. Choose “Messages” above to see all.",
    "about": "{r} replaced, {x} raw ids",
    "region": "Messages. Arrow keys move.",
}
COLUMN_NUMBER: Final = "#"
COLUMN_MESSAGE: Final = "Message"
COLUMN_REPLACED: Final = "Replaced"
COLUMN_RAW: Final = "Raw ids"
_SPACES: Final = {
    "chunk": "chunk",
    "document": "document",
    "knowledge_base": "knowledge base",
    "web": "web",
    "resource": "resource",
    "issue": "issue",
    "mcp": "MCP",
    "mcp_server": "MCP server",
    "mcp_tool": "MCP tool",
    "raw": "raw id left",
}
_SECTIONS: Final = {
    "signed": "reasoning · signed, left as it is",
    "reasoning": "reasoning",
    "arguments": "arguments",
    "placeholder": "",
    "part": "",
    "content": "",
}


def space_name(space: str) -> str:
    """The name of a handle space or family."""
    return _SPACES.get(space, space)


def section_label(kind: str) -> str:
    """The label above one text of a message."""
    return _SECTIONS.get(kind, "")


def citable(yes: bool, space: str) -> str:
    """Whether an answer may cite this identity."""
    if space not in ("chunk", "web"):
        return "no: navigable only"
    return "yes" if yes else "no: navigable only"


def first_seen(message: int, line: int) -> str:
    """Where an identity was first met."""
    if message < 0:
        return "outside the messages"
    return f"message {message}, line {line}" if line else f"message {message}"


def used(times: int, messages: int) -> str:
    """How often a handle stands in the encoded conversation."""
    return f"{times:,} {plural(times, 'time')} in {messages:,} {plural(messages, 'message')}"


def replaced(number: int) -> str:
    """How many identifiers of a message were replaced."""
    return f"{number:,} replaced"


def hidden_characters(number: int) -> str:
    """How many characters of a message cannot be seen."""
    return f"{number:,} hidden {plural(number, 'character')}"


def left_on_purpose(number: int) -> str:
    """How many ids of a message stay because the user wrote them."""
    return f"{number:,} {plural(number, 'id')} left on purpose"


def raw_ids_left(number: int) -> str:
    """How many raw ids of a message still reach the model."""
    return f"{number:,} raw {plural(number, 'id')} left"


def piece_of(piece: int, pieces: int) -> str:
    """Which piece of a message that is too long to be shown at once."""
    return f"Piece {piece} of {pieces} of this message"


HANDLE_COLUMNS: Final = {
    "handle": "Handle",
    "durable": "Stands for",
    "space": "Space",
    "citable": "Citable",
    "first": "First message",
    "path": "First path",
    "uses": "Uses",
}


def plural(number: int, one: str, many: str = "") -> str:
    """One or many."""
    return one if number == 1 else many or one + "s"
