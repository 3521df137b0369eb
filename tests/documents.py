"""Reading our own documentation: its pages, their code blocks with the output they promise, their links and tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUTPUT_MARKER = "<!-- output -->"

_FENCE = re.compile(r"^(```+)\s*(\w*)\s*$")
_LINK = re.compile(r"(?<!!)\[[^]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block: its language, the line of its first line of text, and the output promised below it."""

    language: str
    line: int
    text: str
    is_output: bool = False
    output: str | None = None


def pages() -> list[Path]:
    """Every page of the documentation, the README first."""
    readme = ROOT / "README.md"
    return ([readme] if readme.is_file() else []) + sorted((ROOT / "docs").rglob("*.md"))


def name_of(page: Path) -> str:
    """The path of a page below the root."""
    return page.relative_to(ROOT).as_posix()


def blocks(markdown: str) -> list[Block]:
    """The fenced blocks of a page. One below the output marker belongs to the block before it.

    Raises `ValueError` for a fence that is never closed, and for a marker without a block on both sides.
    """
    found: list[Block] = []
    lines = markdown.split("\n")
    at, marked = 0, False
    while at < len(lines):
        line = lines[at]
        fence = _FENCE.match(line)
        if fence is None:
            if marked and line.strip():
                raise ValueError(f"line {at + 1}: the output marker must stand directly above a block")
            marked = marked or line.strip() == OUTPUT_MARKER
            at += 1
            continue
        end = next((k for k in range(at + 1, len(lines)) if lines[k].strip() == fence[1]), None)
        if end is None:
            raise ValueError(f"line {at + 1}: a block that is never closed")
        text = "".join(f"{each}\n" for each in lines[at + 1 : end])
        if marked:
            if not found or found[-1].is_output or found[-1].language != "python":
                raise ValueError(f"line {at + 1}: output without the Python block that prints it")
            shown = found[-1]
            found[-1] = Block(language=shown.language, line=shown.line, text=shown.text, output=text)
        found.append(Block(language=fence[2], line=at + 2, text=text, is_output=marked))
        at, marked = end + 1, False
    if marked:
        raise ValueError("an output marker at the end of the page")
    return found


def prose(markdown: str) -> str:
    """A page without its fenced blocks."""
    kept, fence = [], ""
    for line in markdown.split("\n"):
        match = _FENCE.match(line)
        if match is not None and not fence:
            fence = match[1]
        elif fence:
            fence = "" if line.strip() == fence else fence
        else:
            kept.append(line)
    return "\n".join(kept)


def links(markdown: str) -> list[str]:
    """The targets of the page's links to files and headings of this project."""
    plain = re.sub(r"`[^`\n]*`", "", prose(markdown))
    return [target for target in _LINK.findall(plain) if not re.match(r"[a-z]+:", target)]


def anchors(markdown: str) -> set[str]:
    """The anchors that a renderer makes of the page's headings."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in _HEADING.findall(prose(markdown))
    }


def table_rows(markdown: str) -> list[list[str]]:
    """The cells of every table row of a page, headers and rules left out."""
    rows: list[list[str]] = []
    lines = prose(markdown).split("\n")
    for number, line in enumerate(lines):
        if not line.startswith("|") or set(line) <= set("|-: "):
            continue
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if following.startswith("|") and set(following) <= set("|-: "):
            continue
        rows.append([cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))])
    return rows
