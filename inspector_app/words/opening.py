"""Words for opening a trace, and for what goes wrong then."""

from __future__ import annotations

from typing import Final

from inspector_app.words.common import OurName, plural

__all__ = [
    "BAD_LINK",
    "DAMAGED_TITLE",
    "DISMISS",
    "EMPTY_FILE",
    "EMPTY_FOLDER",
    "EMPTY_TEXT",
    "EMPTY_TITLE",
    "EXPIRED",
    "EXPIRED_TITLE",
    "FORGET_PASTED",
    "FORMAT",
    "KEPT_OPEN",
    "LINK_TITLE",
    "NOTHING_TO_READ",
    "NOTICES_TITLE",
    "NOTICE_COLUMNS",
    "NO_MESSAGES",
    "NO_NOTICES",
    "NO_SUCH_FILE",
    "OPEN",
    "PASTE",
    "PASTED_NAME",
    "PASTE_HINT",
    "PATH",
    "PATHS_ARE_OFF",
    "PATH_HINT",
    "READ",
    "SAMPLES",
    "STOPPED",
    "STOPPED_TITLE",
    "UNKNOWN_SAMPLE",
    "UNREADABLE_TITLE",
    "UPLOAD",
    "damaged_title",
    "format_choice",
    "link_problem_title",
    "notice_kind",
    "notices_hint",
    "open_rest",
    "pasted",
    "too_large",
]
EMPTY_TITLE: Final = "See a conversation as the model sees it"
EMPTY_TEXT: Final = (
    "Open one and both views stand side by side: what your application stores, and the short handles the model reads. "
    "Nothing leaves this machine."
)
OPEN: Final = "Open…"
PASTE: Final = "Paste"
PASTE_HINT: Final = "Paste messages, a request body, JSON Lines, an SSE capture, or plain text"
READ: Final = "Read"
UPLOAD: Final = "Files or a zip"
PASTED_NAME: Final = "pasted text"
FORGET_PASTED: Final = "Forget what was pasted"
LINK_TITLE: Final = "This link is not whole"
EXPIRED_TITLE: Final = "This trace is no longer here"
PATH: Final = "Path"
PATH_HINT: Final = "Or a file or folder on this machine"
FORMAT: Final = "Format"
SAMPLES: Final = "**Or open a sample**"
KEPT_OPEN: Final = "What was open before stays open below."
EXPIRED: Final = (
    "The address names a pasted or uploaded trace that the inspector does not hold, or not any more: such traces are "
    "kept for 15 minutes after they were last looked at, while it runs. Your options are as they were; open the trace "
    "again below."
)
NOTHING_TO_READ: Final = "There is nothing to read yet: paste something, choose a file, or open a sample."
UNREADABLE_TITLE: Final = "This cannot be read"
DAMAGED_TITLE: Final = "Not all of this could be read"
DISMISS: Final = "Dismiss"
STOPPED_TITLE: Final = "Reading was stopped"
STOPPED: Final = "Nothing new was opened. What was open before is as it was; the same source can be opened again."
NO_SUCH_FILE: Final = "There is no such file on this machine, or it may not be read."
EMPTY_FOLDER: Final = "There is no file in this folder."
PATHS_ARE_OFF: Final = "Paths are off, because this server can be reached from other machines."
EMPTY_FILE: Final = "The file is empty: there is nothing to read in it."
NO_MESSAGES: Final = "It was recognised, but it holds no messages."
UNKNOWN_SAMPLE: Final = "The link names a sample that does not exist. Choose one below."
BAD_LINK: Final = "Part of the link could not be understood; the rest was used."


def link_problem_title(problem: str) -> str:
    """The title of what is wrong with a link."""
    return EXPIRED_TITLE if problem == EXPIRED else LINK_TITLE


def format_choice(name: OurName, title: OurName) -> str:
    """The label of a format in the choice; "" is recognition by content."""
    return f"Format: {title}" if name else "Format: recognise by content"


def pasted(characters: int) -> str:
    """What is said about a long text that was pasted and waits to be read."""
    return f"{characters:,} characters pasted"


def too_large(megabytes: int) -> str:
    """What is said about an upload above the limit."""
    return f"This is larger than {megabytes} MB, the limit of an upload. Open it by its path instead."


NOTICES_TITLE: Final = "What was noticed while reading"
NOTICE_COLUMNS: Final = (("Where", "28%"), ("What", "56%"), ("Kind", "16%"))
NO_NOTICES: Final = "Nothing: every part of the source was understood."
_NOTICE_KINDS: Final = {
    "unknown": "not understood",
    "skipped": "left out",
    "merged": "merged",
    "fallback": "guessed",
    "damaged": "damaged",
    "orphan": "without its partner",
    "limit": "limit met",
    "error": "error in the trace",
}


def notice_kind(kind: str) -> str:
    """What a notice is about."""
    return _NOTICE_KINDS.get(kind, kind)


def notices_hint(number: int) -> str:
    """How many notices there are."""
    return f"{number:,} {plural(number, 'notice')}"


def damaged_title(line: int) -> str:
    """The title of a source that broke off; `line` is 0 where it is not known."""
    return f"Reading stopped at line {line:,}" if line else DAMAGED_TITLE


def open_rest(messages: int) -> str:
    """The button that opens what could be read of a damaged source."""
    return f"Open what could be read: {messages:,} {plural(messages, 'message')}"
