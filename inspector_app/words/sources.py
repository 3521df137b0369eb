"""Words for what a trace consists of: its format, its conversations; for reading many files, and for own packs."""

from __future__ import annotations

from typing import Final

from inspector_app.words.common import OurName, plural

__all__ = [
    "CONVERSATION_COLUMNS",
    "ENCODING",
    "FAULTS_TITLE",
    "FAULT_COLUMNS",
    "GIVE_UP",
    "ONE_CONVERSATION",
    "OWN_LOADED",
    "OWN_NONE",
    "OWN_PACK",
    "PACK_FILE",
    "PACK_PASTE",
    "PACK_PASTE_HINT",
    "PACK_PATH",
    "PACK_PATH_HINT",
    "PACK_USE",
    "PASTED_PACK",
    "READ_AS",
    "READ_AS_HELP",
    "STOP",
    "branch",
    "branch_line",
    "conversations_hint",
    "faults_hint",
    "files_name",
    "pack_tools",
    "read_as",
    "reading",
]
READ_AS: Final = "Read as"
READ_AS_HELP: Final = (
    "The format was recognised by the content. Another choice reads the same source again; when that fails, what is "
    "open stays open."
)
CONVERSATION_COLUMNS: Final = {
    "number": "#",
    "title": "Conversation",
    "messages": "Messages",
    "branch": "Branches off",
    "first": "Begins with",
}
ONE_CONVERSATION: Final = "This trace holds one conversation."
STOP: Final = "Stop"
GIVE_UP: Final = "Give up"
OWN_PACK: Final = "Own pack"
OWN_LOADED: Final = "Own pack in use:"
OWN_NONE: Final = "No own pack is loaded yet: the built-in pack counts. Upload or paste a TOML file, or name its path."
PACK_FILE: Final = "Policy pack (TOML)"
PACK_PASTE: Final = "Or paste it"
PACK_PASTE_HINT: Final = (
    'name = "my-app"\nextends = "builtin"\n\n[tools.orders_get]\nids = ["order_id"]\noutput = "source"'
)
PACK_PATH: Final = "Path of a pack"
PACK_PATH_HINT: Final = "Or a pack on this machine"
PACK_USE: Final = "Use this pack"
PASTED_PACK: Final = "pasted pack"
FAULTS_TITLE: Final = "This pack cannot be used"
FAULT_COLUMNS: Final = (("Where", "34%"), ("What is wrong", "66%"))


def read_as(name: OurName, title: OurName) -> str:
    """A format in the choice of what the open source is read as; "" is recognition by content."""
    return str(title) if name else f"recognised: {title}"


def conversations_hint(number: int) -> str:
    """What the list of conversations is for."""
    return f"{number:,} {plural(number, 'conversation')}. Choose a row to see it."


def branch_line(parent: int, after: int) -> str:
    """What is said beside the name of a trace when a branch is shown: only its own messages are."""
    return f"branch of #{parent:,}, read behind its first {after:,} {plural(after, 'message')}"


def branch(parent: int, after: int) -> str:
    """Where a conversation leaves its parent."""
    return f"#{parent:,} after {after:,} {plural(after, 'message')}"


def files_name(number: int) -> str:
    """The name of many files that were uploaded together."""
    return f"{number:,} {plural(number, 'file')}"


ENCODING: Final = "Encoding"


def reading(done: int, files: int, messages: int) -> str:
    """How far reading is."""
    where = f"{done:,} of {files:,} files, " if files > 1 else ""
    return f"Reading: {where}{messages:,} {plural(messages, 'message')} so far"


def pack_tools(tools: int, own: int) -> str:
    """How much an own pack declares."""
    return f"{tools:,} {plural(tools, 'tool')}, {own:,} of them its own. Reports count under this pack."


def faults_hint(number: int, kept: bool) -> str:
    """How many faults a pack has, and what counts meanwhile."""
    text = f"{number:,} {plural(number, 'fault')}"
    return f"{text}; the pack that was loaded before stays in use" if kept else text
