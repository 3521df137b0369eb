"""`stream-check`: prove that a stream decoder gives the same however the stream is cut, or print the smallest cut."""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from inspector_app import data
from inspector_app.commands.base import EXIT_FOUND, EXIT_OK, Command, CommandError, Source, expand
from inspector_app.commands.handle_table import load_rows, registry_of
from inspector_app.commands.output import print_json, print_text
from inspector_app.commands.traces import add_format_argument
from inspector_app.stream_subjects import answers, byte_events, has_capture, subject_of
from inspector_app.views.hidden import one_line
from inspector_app.views.streamed import CAPTURE, Subject
from modelcontext_core import formats
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.base import Conversation
from modelcontext_core.registry import Registry
from modelcontext_core.stream_check import CutReport, MakeDecoder, Tally, watch_every_cut

__all__ = ["COMMAND"]

_OPTIONS = data.Options(pack="builtin")
_KINDS = {
    "single": "single cuts",
    "multi": "random multi-cuts",
    "characters": "one character at a time",
    "interleaved": "interleaved channels",
    "bytes": "cuts of the bytes",
}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="FILE",
        help="answers as plain text, traces, captured streams; folders, globs, or - for standard input",
    )
    parser.add_argument(
        "--decoder",
        metavar="MODULE:FACTORY",
        help="check your own decoder: FACTORY makes one with feed and flush, and is given the registry if it takes one",
    )
    parser.add_argument(
        "--handles",
        type=Path,
        metavar="FILE",
        help="a handle table, as printed by encode --json (default: the trace's own, or one made for the text)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="a number; other random cuts for another one (default: 0)"
    )
    parser.add_argument("--json", action="store_true", help="a report instead of sentences")
    add_format_argument(parser)


def _run(arguments: argparse.Namespace) -> int:
    given = registry_of(load_rows(arguments.handles), citations=True) if arguments.handles else None
    factory = _load(arguments.decoder) if arguments.decoder else None
    documents, ok = [], True
    for source in expand(arguments.inputs):
        for held, subject in _subjects(source, arguments.format):
            registry = given or subject.registry
            try:
                report = _watch(held, subject, registry, _bound(factory, registry), arguments.seed)
            except Exception as error:
                if factory is None:
                    raise
                said = f"{type(error).__name__}: {error}"
                raise CommandError(f"--decoder {arguments.decoder}: it raised {said}") from error
            ok = ok and report.ok
            if arguments.json:
                documents.append(_document(source, subject, report, given=given is not None))
            else:
                print_text(_sentences(source, subject, report, arguments.handles))
    if arguments.json:
        print_json(documents, indent=2)
    return EXIT_OK if ok else EXIT_FOUND


def _subjects(source: Source, format_name: str | None) -> Iterator[tuple[data.Held, Subject]]:
    """All that can be streamed in a source. Raises `CommandError` when it cannot be read or holds nothing to stream."""
    found = False
    try:
        content = source.path.read_bytes() if source.path is not None else sys.stdin.buffer.read()
        trace = formats.read(content, name=source.name, format=format_name)
    except UnreadableTrace as error:
        raise CommandError(f"{source.name}: {error}") from error
    except OSError as error:
        raise CommandError(f"{source.name}: {error.strerror or error}") from error
    conversations = trace.conversations or (Conversation(),)
    for number, conversation in enumerate(conversations):
        stream = trace.stream if number == 0 else ()
        each = formats.Trace(format=trace.format, conversations=(conversation,), stream=stream)
        held = data.Held(trace=each, data=content, name=source.name, key="", digest="")
        # The answer of a capture is the capture: it is not checked twice.
        for choice in [CAPTURE] if has_capture(held) else answers(held, _OPTIONS):
            found = True
            subject = subject_of(held, _OPTIONS, choice, made=True)
            yield held, subject
    if not found:
        raise CommandError(f"{source.name}: no answer and no captured stream in it")


def _load(named: str) -> Callable[..., Any]:
    module, colon, attribute = named.partition(":")
    if not colon or not module or not attribute:
        raise CommandError(f"--decoder {named}: give it as module:factory")
    # As with `python -m`: modules of the folder that one stands in can be named.
    sys.path.insert(0, str(Path.cwd()))
    try:
        factory = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever the module of the user does when it is imported
        raise CommandError(f"--decoder {named}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(Path.cwd()))
    if not callable(factory):
        raise CommandError(f"--decoder {named}: it is no factory, it cannot be called")
    made: Callable[..., Any] = factory
    return made


def _bound(factory: Callable[..., Any] | None, registry: Registry) -> MakeDecoder | None:
    """The factory as one without parameters: what takes a parameter without a default is given the registry."""
    if factory is None:
        return None
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return factory
    needed = [each for each in parameters if each.default is each.empty and each.kind <= each.POSITIONAL_OR_KEYWORD]
    return (lambda: factory(registry)) if needed else factory


def _watch(held: data.Held, subject: Subject, registry: Registry, decoder: MakeDecoder | None, seed: int) -> CutReport:
    # The bytes say something about a capture as it was received, not about one that was encoded afterwards.
    received = held.data if subject.choice == CAPTURE and decoder is None else b""
    split = byte_events(held) if received else None
    report = None
    for report in watch_every_cut(registry, subject.chunks, decoder=decoder, data=received, split=split, seed=seed):
        if sys.stderr.isatty():
            print(f"\r{report.share_done:4.0%} of the cuts", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r" + " " * 24 + "\r", end="", file=sys.stderr, flush=True)
    assert report is not None
    return report


def _sentences(source: Source, subject: Subject, report: CutReport, table: Path | None) -> str:
    what = "captured stream" if subject.choice == CAPTURE else f"answer in message {subject.choice}"
    whose = "handles of the trace" if subject.registry_kind == "trace" else "handles made for this text"
    if table is not None:
        whose = f"handles of {table}"
    if subject.made:
        what += ", as a model with handles would have streamed it"
    lines = [f"{source.name}: {what}, {subject.characters:,} characters, {whose}"]
    lines += [f"  {_tally(each)}" for each in report.tallies.values() if each.total]
    if report.failure is not None:
        lines += ["  the smallest cut that fails:", *(f"  {line}" for line in report.failure.as_text().splitlines())]
    return "".join(f"{one_line(line)}\n" for line in lines)


def _tally(tally: Tally) -> str:
    tried = f" (of {tally.possible:,} possible)" if tally.possible > tally.total else ""
    mark = "ok    " if tally.equal == tally.total else "FAILED"
    return f"{mark} {_KINDS[tally.kind]}: {tally.equal:,} of {tally.total:,} equal{tried}"


def _document(source: Source, subject: Subject, report: CutReport, *, given: bool) -> dict[str, Any]:
    return {
        "source": source.name,
        "message": None if subject.choice == CAPTURE else subject.choice,
        "characters": subject.characters,
        "registry": "given" if given else subject.registry_kind,
        "made": subject.made,
        "seed": report.seed,
        "ok": report.ok,
        "tallies": {kind: asdict(tally) for kind, tally in report.tallies.items()},
        "failure": asdict(report.failure) if report.failure is not None else None,
    }


COMMAND = Command(
    name="stream-check",
    summary="check that a stream decoder gives the same however its stream is cut",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        "capture.sse",
        "answer.txt --decoder my_package.streaming:make_decoder",
        "answer.txt --handles report.json --seed 7 --json",
    ),
    found="a cut gives something else; the smallest is printed",
)
