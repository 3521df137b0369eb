"""The documentation is true: every Python block runs, prints what the page shows, and every link leads somewhere.

The blocks of a page run in order and share their names, as a reader would type them. A block whose output the page
shows is followed by the marker `<!-- output -->` and a block with exactly that output.
"""

from __future__ import annotations

import contextlib
import io
import shlex
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import build_parser
from inspector_app.commands import COMMANDS, SERVE
from inspector_app.commands.base import PROGRAM
from tests import documents, recorded_clients
from tests.documents import ROOT, Block, anchors, blocks, links, name_of, pages

# What a page may use without defining it: the clients in the recipes replay recorded answers.
GIVEN: dict[str, dict[str, Any]] = {"docs/recipes.md": recorded_clients.NAMES}


def run(page: str, markdown: str, given: dict[str, Any]) -> list[str]:
    """Runs the Python blocks of a page; gives a sentence for every output that is not as shown."""
    names: dict[str, Any] = {"__name__": page, **given}
    wrong = []
    for block in blocks(markdown):
        if block.language != "python":
            continue
        printed = io.StringIO()
        # Empty lines before the code, so that errors name the line of the page.
        code = compile("\n" * (block.line - 1) + block.text, page, "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        if printed.getvalue() != (block.output or ""):
            wrong.append(f"{page}:{block.line} prints\n{printed.getvalue()}but shows\n{block.output or 'nothing'}")
    return wrong


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_the_code_of_a_page_runs_and_prints_what_is_shown(page: Path) -> None:
    """Every Python block of README and docs does what the page says."""
    assert [] == run(name_of(page), page.read_text(encoding="utf-8"), GIVEN.get(name_of(page), {}))


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    """Every link to a file or heading of the project has a target."""
    broken = []
    for target in links(page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
            broken.append(target)

    assert [] == broken


def test_every_page_can_be_reached_from_the_index() -> None:
    """A page that docs/README.md does not lead to, directly or through others, would never be found."""
    reached: set[Path] = set()
    todo = [ROOT / "docs" / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached or page.suffix != ".md" or not page.is_file():
            continue
        reached.add(page)
        targets = links(page.read_text(encoding="utf-8"))
        todo += [(page.parent / target.partition("#")[0]).resolve() for target in targets]

    assert [] == [name_of(page) for page in pages() if page not in reached and page.parent != ROOT]


def test_every_concept_has_its_page_with_code() -> None:
    """Lifecycle, spaces, policies, streaming, citations and leaks are each explained with code that ran."""
    concepts = [
        "policies",
        *(f"concepts/{name}" for name in ("lifecycle", "spaces", "streaming", "citations", "leaks")),
    ]

    for name in concepts:
        markdown = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        assert any(block.language == "python" for block in blocks(markdown)), name


def refused_command_lines(markdown: str) -> list[str]:
    """The lines of a page's console blocks that call our program as it cannot be called."""
    refused = []
    for block in blocks(markdown):
        for line in block.text.splitlines() if block.language in ("console", "sh", "bash", "shell") else ():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if not words or words[0] != PROGRAM:
                continue
            command = COMMANDS.get(words[1], SERVE) if len(words) > 1 else SERVE
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    build_parser(command).parse_args(words[1:] if command is SERVE else words[2:])
            except SystemExit as end:
                if end.code:
                    refused.append(line)
    return refused


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_the_command_lines_of_a_page_are_understood(page: Path) -> None:
    """Commands and options in console blocks exist; nothing is run."""
    assert [] == refused_command_lines(page.read_text(encoding="utf-8"))


# --- the runner itself can fail

SHOWN = "```python\nprint('a')\n```\n\n<!-- output -->\n```text\n{}\n```\n"


def test_output_as_shown_is_right_and_other_output_is_reported() -> None:
    """The output is compared exactly; what is printed but not shown is wrong too."""
    assert [] == run("p.md", SHOWN.format("a"), {})
    assert ["p.md:2 prints\na\nbut shows\nb\n"] == run("p.md", SHOWN.format("b"), {})
    assert ["p.md:2 prints\na\nbut shows\nnothing"] == run("p.md", "```python\nprint('a')\n```", {})


def test_blocks_share_names_and_errors_name_the_line_of_the_page() -> None:
    """A later block goes on where the former ended."""
    assert [] == run("p.md", "```python\nx = 1\n```\n```python\nassert x == 1\n```", {})
    with pytest.raises(ZeroDivisionError) as caught:
        run("p.md", "# page\n\n```python\nx = 1\n\n1 / 0\n```", {})
    assert ("p.md", 6) == (caught.traceback[-1].path, caught.traceback[-1].lineno + 1)


@pytest.mark.parametrize(
    "markdown",
    ["```python\nx = 1", "<!-- output -->\n```\na\n```", "```python\n```\n<!-- output -->\nwords\n```\n```",
     "```python\n```\n<!-- output -->"],
)  # fmt: skip
def test_a_page_that_cannot_be_read_is_refused(markdown: str) -> None:
    """A block that never ends would hide all that follow, and output must belong to code."""
    with pytest.raises(ValueError):
        blocks(markdown)


def test_a_command_line_that_is_not_understood_is_reported() -> None:
    """A misspelt option is found, other programs and comments are not looked at."""
    page = f"```console\n$ {PROGRAM} encode --nope x\n$ {PROGRAM} --help  # a word\n$ ls -l\n```\n"

    assert [f"$ {PROGRAM} encode --nope x"] == refused_command_lines(page)


def test_other_languages_are_read_and_not_run() -> None:
    """Shell, TOML and plain text stand for themselves."""
    assert [Block(language="toml", line=2, text="a = 1\n"), Block(language="", line=5, text="x\n")] == blocks(
        "```toml\na = 1\n```\n```\nx\n```\n"
    )


def test_links_and_anchors_are_those_of_a_renderer() -> None:
    """Code is no link, and a heading's anchor is its words."""
    page = "# A page, of *two*\n[a](b.md#c) [d](https://e.example) `[f](g)`\n```\n[h](i)\n```\n"

    assert ["b.md#c"] == links(page)
    assert {"a-page-of-two"} == anchors(page)
    assert [["a", "b|c"]] == documents.table_rows("| x | y |\n| - | - |\n| a | b\\|c |\n")
