"""Two checkpoints side by side, as the linked view takes them: what went on the left, what came on the right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from inspector_app import words
from inspector_app.views.alignment import HIDDEN_CHARACTER, fold
from inspector_app.views.hidden import code_point, pieces
from inspector_app.views.sessions import checkpoint_text, context_text
from modelcontext_core.contextstate import Checkpoint

__all__ = ["ADDED", "REMOVED", "diff_rows", "diff_view", "one_view"]

REMOVED: Final = "-"
ADDED: Final = "+"
# Beyond this, lines in the middle are taken for replaced as a whole: comparing them all would take too long.
_MOST_PAIRS: Final = 4_000_000
_LONGEST_LINE: Final = 2_000
# Lines less alike than this are not compared word by word.
_ALIKE: Final = 0.5
_WORD: Final = re.compile(r"\w+|\s+|.", re.DOTALL)


def diff_view(before: Checkpoint, after: Checkpoint) -> dict[str, Any]:
    """Return both checkpoints as one block with two sections: what they say of themselves, and the active contexts."""
    return _content(
        [
            _section("", checkpoint_text(before), checkpoint_text(after)),
            _section(
                words.sessions.CONTEXT_TITLE, context_text(before.active_context), context_text(after.active_context)
            ),
        ]
    )


def one_view(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return one checkpoint in the same form: what it says of itself on the left, its active context on the right."""
    left, right = checkpoint_text(checkpoint).split("\n"), context_text(checkpoint.active_context).split("\n")
    rows = [
        [
            number + 1 if number < len(left) else 0,
            _plain(left[number]) if number < len(left) else None,
            _plain(right[number]) if number < len(right) else None,
            2,
            number + 1 if number < len(right) else 0,
        ]
        for number in range(max(len(left), len(right)))
    ]
    return _content([{"path": "", "kind": "", "label": "", "name": "", "mono": True, "rows": rows}])


def _content(sections: list[dict[str, Any]]) -> dict[str, Any]:
    block = {
        "index": 0,
        "role": "",
        "name": "",
        "id": "",
        "notes": [],
        "sections": sections,
        "value": None,
        "piece": "",
    }
    return {"part": 0, "parts": 1, "blocks": [block], "identities": {}, "diff": True}


def _section(label: str, left: str, right: str) -> dict[str, Any]:
    rows = fold(diff_rows(left.split("\n"), right.split("\n")))
    return {"path": "", "kind": "", "label": label, "name": "", "mono": True, "rows": rows}


def diff_rows(left: Sequence[str], right: Sequence[str]) -> list[list[object]]:
    """Return a row per pair of lines: `[left number, left, right, changed, right number]`.

    A side that has no line there is None; `right` is 0 where both are the same. What changed inside a pair of lines
    that are alike is a segment of kind `REMOVED` or `ADDED`.
    """
    rows: list[list[object]] = []
    for kind, start, end, out_start, out_end in _blocks(left, right):
        if kind == "equal":
            rows.extend(
                [start + at + 1, _plain(left[start + at]), 0, 0, out_start + at + 1] for at in range(end - start)
            )
            continue
        for at in range(max(end - start, out_end - out_start)):
            old = left[start + at] if start + at < end else None
            new = right[out_start + at] if out_start + at < out_end else None
            old_parts, new_parts = _pair(old, new)
            rows.append(
                [
                    start + at + 1 if old is not None else 0,
                    old_parts,
                    new_parts,
                    1,
                    out_start + at + 1 if new is not None else 0,
                ]
            )
    return rows


def _blocks(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Equal and differing runs of lines; what both begin and end with needs no search."""
    least = min(len(left), len(right))
    head = next((at for at in range(least) if left[at] != right[at]), least)
    tail = next((at for at in range(least - head) if left[-1 - at] != right[-1 - at]), least - head)
    middle, out_middle = left[head : len(left) - tail], right[head : len(right) - tail]
    if head:
        yield "equal", 0, head, 0, head
    if len(middle) * len(out_middle) > _MOST_PAIRS:
        yield "replace", head, head + len(middle), head, head + len(out_middle)
    else:
        for kind, start, end, out_start, out_end in SequenceMatcher(None, middle, out_middle, False).get_opcodes():
            yield kind, head + start, head + end, head + out_start, head + out_end
    if tail:
        yield "equal", len(left) - tail, len(left), len(right) - tail, len(right)


def _pair(old: str | None, new: str | None) -> tuple[list[object] | None, list[object] | None]:
    if old is None or new is None or max(len(old), len(new)) > _LONGEST_LINE:
        return None if old is None else _plain(old), None if new is None else _plain(new)
    old_words, new_words = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, old_words, new_words, False)
    if not _are_alike(matcher, old_words, new_words):
        return _plain(old), _plain(new)
    left: list[object] = []
    right: list[object] = []
    for kind, start, end, out_start, out_end in matcher.get_opcodes():
        before, after = "".join(old_words[start:end]), "".join(new_words[out_start:out_end])
        left.extend(_plain(before) if kind == "equal" else _marked(before, REMOVED))
        right.extend(_plain(after) if kind == "equal" else _marked(after, ADDED))
    return left, right


def _are_alike(matcher: SequenceMatcher[str], old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether enough of the words are the same; blanks and punctuation, which every line has, do not count."""
    whole = sum(len(word) for word in (*old, *new) if word[0].isalnum())
    same = sum(
        len(word)
        for block in matcher.get_matching_blocks()
        for word in old[block.a : block.a + block.size]
        if word[0].isalnum()
    )
    return 2 * same >= _ALIKE * whole


def _plain(text: str) -> list[object]:
    return [[HIDDEN_CHARACTER, code_point(piece), -1, piece] if hidden else piece for piece, hidden in pieces(text)]


def _marked(text: str, kind: str) -> list[object]:
    return [[kind, code_point(piece) if hidden else piece, -1] for piece, hidden in pieces(text)]
