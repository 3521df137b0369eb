"""Words of the Decode panel."""

from __future__ import annotations

from typing import Final

__all__ = [
    "ALL_RESTORED",
    "BLOCK_ANSWER",
    "BLOCK_CALL",
    "DECODE_ANSWER",
    "DECODE_ANSWER_HINT",
    "DECODE_CALL",
    "DECODE_CALL_HINT",
    "DECODE_EMPTY",
    "DECODE_EMPTY_CALL",
    "DECODE_KIND",
    "DECODE_KINDS",
    "DECODE_REGION",
    "DECODE_TOOL",
    "DECODE_TOOL_HINT",
    "ITEM_COLUMNS",
    "NOT_RESTORED",
    "NOT_RESTORED_HINT",
    "RESOLUTION",
    "RESOLUTION_COLUMNS",
    "TITLES_CALL",
    "TITLES_DECODE",
    "UNRESOLVED_HANDLE",
    "item_meaning",
    "item_outcome",
    "items_note",
    "resolution",
]
TITLES_DECODE: Final = ("Model wrote", "handles", "Reader sees", "restored")
TITLES_CALL: Final = ("Model wrote", "handles", "Tool gets", "restored")
DECODE_KIND: Final = "What the model wrote"
DECODE_KINDS: Final = {"answer": "Answer", "call": "Tool call"}
DECODE_ANSWER: Final = "Model answer"
DECODE_ANSWER_HINT: Final = 'Type or paste an answer with handles, such as chunk://1 or <ref id="chunk://1"/>'
DECODE_CALL: Final = "Arguments of the call"
DECODE_CALL_HINT: Final = 'Arguments as JSON, such as {"id": "doc://1"}, or a whole call with "name" and "arguments"'
DECODE_TOOL: Final = "Tool"
DECODE_TOOL_HINT: Final = "Name of the tool"
DECODE_EMPTY: Final = "Write or paste an answer: it is decoded with the handles of the open trace."
DECODE_EMPTY_CALL: Final = "Write or paste a call: its arguments are decoded with the rules of its tool."
BLOCK_ANSWER: Final = "answer"
BLOCK_CALL: Final = "arguments"
DECODE_REGION: Final = "What the model wrote and what it is restored to."
NOT_RESTORED: Final = "Not restored"
NOT_RESTORED_HINT: Final = "nothing is guessed; the nearest handle is only a hint"
ALL_RESTORED: Final = "Nothing that looks like a handle is left."
ITEM_COLUMNS: Final = (
    ("As written", "22%"),
    ("What it is", "40%"),
    ("Nearest issued", "16%"),
    ("What happened", "22%"),
)
RESOLUTION: Final = "Argument resolution"
RESOLUTION_COLUMNS: Final = (("Handle", "30%"), ("What it means", "70%"))
_RESOLUTIONS: Final = {
    "unchanged": "unchanged: the arguments hold no handle",
    "resolved": "resolved: every handle was restored",
    "partially_resolved": "partially resolved: some handles are unknown, the call must not run",
    "unresolved": "unresolved: nothing could be restored, the call must not run",
}
UNRESOLVED_HANDLE: Final = "not issued in this request, or of a space that this field does not take"


def resolution(value: str) -> str:
    """What the resolution of a call's arguments means."""
    return _RESOLUTIONS.get(value, value)


def items_note(restored: int, kept: int, dropped: int) -> list[list[str]]:
    """The counts above a decoded answer, each with its tone."""
    notes = [["muted", f"{restored:,} restored"]]
    if kept:
        notes.append(["warning", f"{kept:,} left as text"])
    if dropped:
        notes.append(["fault", f"{dropped:,} dropped"])
    return notes


_ITEM_REASONS: Final = {
    "never_issued": "unknown: this request issued none of this space",
    "never_written_so": "unknown: no handle is written so",
    "not_citable": "known, but nothing that was retrieved here may be cited for it",
    "not_a_source": "only chunks and web pages can be cited",
    "citations_off": "citations are switched off",
    "no_handle": "a citation without a handle",
    "output_only": "only the application writes this tag",
    "closing_tag": "a closing tag: only the application writes one",
    "unclosed": "a tag that never ends",
    "bare_scheme": "a handle that breaks off",
    "would_forge_a_tag": "would complete a tag that only the application writes",
    "wrong_slashes": "malformed: not two slashes",
    "too_long": "malformed: more digits than any handle has",
    "glued": "malformed: glued to a letter, digit or underscore",
    "escaped": "look-alike: escaped characters",
    "percent_encoded": "look-alike: percent-encoded",
    "full_width": "look-alike: characters that only look the same",
}


def item_meaning(reason: str, issued: int, first: str, last: str) -> str:
    """What an item of the decode report is. `first` and `last` are the issued handles of its space."""
    if reason == "never_issued" and issued:
        return f"unknown: this request issued {first}" + (f" to {last}" if issued > 1 else "")
    return _ITEM_REASONS.get(reason, reason)


def item_outcome(left_in_text: bool, is_tag: bool) -> str:
    """What happened to it."""
    if left_in_text:
        return "left in the text"
    return "the citation was dropped" if is_tag else "dropped"
