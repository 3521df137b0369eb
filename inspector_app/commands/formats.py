"""`formats`: what files were recognised as, how much is in them, and what was noticed while reading them."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from inspector_app.commands.base import EXIT_OK, EXIT_USAGE, Command, Source, count, expand, warn
from inspector_app.commands.output import print_json, print_text
from inspector_app.commands.traces import add_format_argument
from inspector_app.views.hidden import one_line
from modelcontext_core import formats
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.base import Notice

__all__ = ["COMMAND"]


@dataclass(slots=True, kw_only=True)
class Seen:
    """What is known of one file; its records are counted and let go, so that it need not fit into memory."""

    source: str
    formats: Counter[str] = field(default_factory=Counter)
    conversations: list[dict[str, Any]] = field(default_factory=list)
    chunks: int = 0
    notices: list[Notice] = field(default_factory=list)
    error: UnreadableTrace | OSError | None = None

    @property
    def format(self) -> str:
        """The format of most records, or ""."""
        return self.formats.most_common(1)[0][0] if self.formats else ""

    @property
    def messages(self) -> int:
        """The messages of all conversations."""
        return sum(each["messages"] for each in self.conversations)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="*", metavar="FILE", help="files, folders, globs, or - for standard input")
    parser.add_argument("--list", action="store_true", help="list the formats that are known, and read nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    add_format_argument(parser)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.list or not arguments.inputs:
        _print_known(as_json=arguments.json)
        return EXIT_OK
    unreadable, files = [], 0
    documents = []
    for seen in (_look(source, arguments.format) for source in expand(arguments.inputs)):
        files += 1
        if seen.error is not None:
            unreadable.append(seen.source)
        if arguments.json:
            documents.append(_document(seen))
        else:
            print_text("".join(f"{line}\n" for line in _lines(seen)))
    if arguments.json:
        print_json({"files": documents}, indent=2)
    if unreadable:
        # What is wrong with each stands in the output; this is for whoever looks at the exit code only.
        warn(f"error: {len(unreadable):,} of {count(files, 'file')} cannot be read: {', '.join(unreadable[:5])}")
    return EXIT_USAGE if unreadable else EXIT_OK


def _print_known(*, as_json: bool) -> None:
    known = formats.format_names()
    if as_json:
        print_json({"formats": known}, indent=2)
        return
    width = max(map(len, known))
    print_text("".join(f"{name:<{width}}  {title}\n" for name, title in known.items()))


def _look(source: Source, format_name: str | None) -> Seen:
    """Read one file to its end. What makes it unreadable is kept, so that it stops no other file."""
    seen = Seen(source=source.name)
    try:
        for trace in formats.iter_traces(source.opened(), name=source.name, format=format_name):
            if trace.format and trace.conversations:
                seen.formats[trace.format] += 1
            seen.chunks += len(trace.stream)
            seen.notices += trace.notices
            seen.conversations += [
                {
                    "id": each.id,
                    "title": each.title,
                    "parent": each.parent,
                    "messages": len(each.messages),
                    "tools": len(each.tools),
                }
                for each in trace.conversations
            ]
    except (UnreadableTrace, OSError) as error:
        seen.error = error
    return seen


def _lines(seen: Seen) -> Iterator[str]:
    name = one_line(seen.source)
    if seen.formats:
        yield f"{name}: {_names(seen.formats)}"
        counted = [
            count(len(seen.conversations), "conversation"),
            count(seen.messages, "message"),
            *([count(seen.chunks, "stream chunk")] if seen.chunks else []),
            count(len(seen.notices), "notice"),
        ]
        yield f"  {', '.join(counted)}"
    if seen.error is not None:
        yield f"{name}: cannot be read: {one_line(_reason(seen.error))}"
    for notice in seen.notices:
        where = f"{notice.where}: " if notice.where else ""
        yield one_line(f"  {notice.kind}: {where}{notice.text}")


def _names(found: Counter[str]) -> str:
    titles = formats.format_names()
    names = [f"{titles.get(name, name)} [{name}]" for name, _ in found.most_common()]
    return " and ".join(names) if len(names) == 1 else f"records of several formats: {', '.join(names)}"


def _reason(error: UnreadableTrace | OSError) -> str:
    return str(error) if isinstance(error, UnreadableTrace) else error.strerror or str(error)


def _document(seen: Seen) -> dict[str, Any]:
    return {
        "source": seen.source,
        "format": seen.format,
        "title": formats.format_names().get(seen.format, ""),
        "records": dict(seen.formats),
        "messages": seen.messages,
        "chunks": seen.chunks,
        "conversations": seen.conversations,
        "notices": _notices(seen.notices),
        "error": _error(seen.error),
    }


def _notices(notices: Iterable[Notice]) -> list[dict[str, str]]:
    return [asdict(notice) for notice in notices]


def _error(error: UnreadableTrace | OSError | None) -> dict[str, str] | None:
    if error is None:
        return None
    if isinstance(error, UnreadableTrace):
        return {"reason": error.reason, "position": error.position, "nearest": error.nearest}
    return {"reason": _reason(error), "position": "", "nearest": ""}


COMMAND = Command(
    name="formats",
    summary="say what files were recognised as, what is in them, and what was noticed while reading",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "trace.json",
        "traces/ --json",
        "capture.txt --format openai_chat_stream",
        "--list",
    ),
)
