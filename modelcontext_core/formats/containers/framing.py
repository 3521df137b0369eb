"""What kind of container a source is, and its records as documents. No reader deals with any of this.

The order of the questions: binary formats by their first bytes, one JSON document, server-sent events, JSON Lines,
JSON documents one after another, text. A record that is broken is read up to its break, and reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.base import NoticeKind
from modelcontext_core.formats.containers.eventstream import looks_like_eventstream, split_frames
from modelcontext_core.formats.containers.jsonload import BadJson, loads, repair, skip_value
from modelcontext_core.formats.containers.sources import Source
from modelcontext_core.formats.containers.splitting import Piece, split_lines, split_values
from modelcontext_core.formats.containers.sse import looks_like_sse, split_events
from modelcontext_core.formats.nodes import MISSING, Document
from modelcontext_core.formats.reader import Container
from modelcontext_core.limits import MAX_JSON_DEPTH, MAX_RECORD_BYTES, MIB

__all__ = ["Layout", "documents", "look", "whole_document"]

Report = Callable[[NoticeKind, str, str], None]

_BLANKS: Final = b" \t\r\n\0"
_SAMPLE: Final = 40  # records shown to `detect`
_SAMPLE_BYTES: Final = MIB // 4  # of a long array or document that is shown by its beginning
_TOO_LARGE: Final = f"larger than {MAX_RECORD_BYTES // MIB} MB (MAX_RECORD_BYTES)"
_CONTAINER_START = re.compile(rb"[\[{][\s]*[\"\[\]{}\d\-tfn]|[\[{]\s*\Z")
_CUT_WORD = re.compile(rb"(?:-|t|tr|tru|f|fa|fal|fals|n|nu|nul)\Z")
_MAGIC: Final = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"RIFF": "a RIFF file (WebP picture, sound or video)",
    b"%PDF": "a PDF document",
    b"\x7fELF": "a program",
    b"MZ": "a program",
    b"BZh": "a bzip2 archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"\xfd7zXZ": "an xz archive",
    b"PAR1": "a Parquet file",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A container, its first records, and the whole document when it is read already.

    `partial`: a long array or document, of which the sample's only record is the beginning.
    """

    container: Container
    sample: list[Document]
    whole: Document | None = None
    partial: bool = False


def look(source: Source, report: Report) -> Layout:
    """Recognise the container from the beginning of `source` (all of it when it is short).

    Raises `UnreadableTrace` for what is no container at all: nothing, pictures, programs, JSON that is nested too deep.
    """
    head = source.head()
    if head.startswith(b"SQLite format 3\0"):
        return Layout(container="sqlite", sample=[Document(head)])
    if looks_like_eventstream(head):
        return Layout(container="eventstream", sample=_first(_documents_of_frames(iter([head]), _ignore)))
    if head[257:262] == b"ustar":
        raise UnreadableTrace("this is a tar archive, which is not opened: unpack it first", position="byte 0")
    body = head.strip(_BLANKS) if source.complete else head.lstrip(_BLANKS)
    if not body:
        raise UnreadableTrace("the source is empty", position="byte 0")
    broken: BadJson | None = None
    if source.complete:
        try:
            whole = Document(body, loads(body))
        except BadJson as error:
            broken = error
        else:
            return Layout(container="json", sample=[whole], whole=whole)
    if looks_like_sse(head):
        sample = _first(documents_of_events(iter([head]), _ignore, cut=True))
        if source.complete and not sample[0].data and not any(documents_of_events(iter([head]), _ignore)):
            raise UnreadableTrace("these are server-sent events without any data", position="byte 0")
        return Layout(container="sse", sample=sample)
    if _looks_like_lines(body, complete=source.complete):
        return Layout(container="lines", sample=_first(_documents_of_lines(iter([head]), _ignore, last=False)))
    if body[:1] in (b"{", b"["):
        layout = _look_at_json(body, source, broken, report)
        if layout is not None:
            return layout
    return Layout(container="text", sample=[_text_document(body)])


def _ignore(_kind: NoticeKind, _where: str, _text: str) -> None:
    """Nothing is reported while only looking."""


def _first(found: Iterator[Document]) -> list[Document]:
    sample = []
    for document in found:
        sample.append(document)
        if len(sample) == _SAMPLE:
            break
    return sample or [Document(b"")]


def _looks_like_lines(body: bytes, *, complete: bool) -> bool:
    """True when there is more than one line, and at least half of the first lines are JSON objects or arrays, or the
    very first and another one are objects."""
    lines = [line.strip(_BLANKS) for line in body[: 4 * _SAMPLE_BYTES].split(b"\n")]
    if not complete or len(body) > 4 * _SAMPLE_BYTES:
        lines = lines[:-1] or lines
    lines = [line for line in lines if line][:20]
    if len(lines) < 2 and (complete or len(lines) != 1):
        return False
    good = [line for line in lines if line[:1] in (b"{", b"[") and _parses(line)]
    if 2 * len(good) >= len(lines):
        return bool(good)
    return len(good) > 1 and good[0] is lines[0] and good[0][:1] == good[1][:1] == b"{"


def _parses(data: bytes) -> bool:
    try:
        loads(data)
    except BadJson:
        return False
    return True


def _look_at_json(body: bytes, source: Source, broken: BadJson | None, report: Report) -> Layout | None:
    """The layout of text that begins like JSON and is neither one whole document nor lines; `None`: it is no JSON."""
    end = skip_value(body, 0)
    if end < len(body) and _parses(body[:end]):
        following = body[end:].lstrip(b" \t\r\n,\x1e")[:1]
        if following in (b"{", b"["):
            first = Document(body[:end], loads(body[:end]), where="document 1")
            return Layout(container="documents", sample=[first])
    if broken is not None and broken.depth_limit:
        raise UnreadableTrace(broken.reason, position=_position(body, broken.offset))
    if not source.complete:
        container: Container = "array" if body[:1] == b"[" else "json"
        part = repair(body[:_SAMPLE_BYTES]) or repair(body)
        if part is None:
            return None
        return Layout(container=container, sample=[Document(body[: part[1]], part[0])], partial=True)
    if not _CONTAINER_START.match(body):
        return None
    where = _position(body, broken.offset if broken else 0)
    document = _salvage(body, "", report)
    if document is None:
        reason = f"this looks like JSON, but it breaks{f' ({broken.reason})' if broken else ''}"
        raise UnreadableTrace(reason, position=where)
    return Layout(container="json", sample=[document], whole=document)


def _position(data: bytes, offset: int) -> str:
    before = data[:offset]
    return f"line {before.count(bytes([10])) + 1}, byte {offset:,}"


def _text_document(body: bytes) -> Document:
    """Text, of which `body` is the beginning. Raises for binary data."""
    for magic, what in _MAGIC.items():
        if body.startswith(magic):
            raise UnreadableTrace(f"this is {what}, not a trace", position="byte 0")
    sample = body[:65536]
    text = sample.decode("utf-8", "replace")
    strange = sum(1 for c in text if c == "\ufffd" or (c < " " and c not in "\t\n\r\x1b\f"))
    if strange > len(text) / 10:
        raise UnreadableTrace("this is binary data, not a trace", position="byte 0")
    return Document(body, where="")


# --- records ---------------------------------------------------------------------------------------------------------


def whole_document(source: Source) -> Document:
    """Everything as one document: text, a database, binary frames.

    Raises `UnreadableTrace` when it is above the limit, or JSON that is broken beyond reading.
    """
    parts = []
    size = 0
    for chunk in source.chunks():
        size += len(chunk)
        if size > MAX_RECORD_BYTES:
            raise UnreadableTrace(f"one record is {_TOO_LARGE}", position="byte 0")
        parts.append(chunk)
    return Document(b"".join(parts))


def documents(source: Source, container: Container, report: Report) -> Iterator[Document]:
    """The records of `source`, one at a time. What cannot be read of them is reported."""
    if container == "lines":
        yield from _documents_of_lines(source.chunks(), report)
    elif container == "sse":
        yield from documents_of_events(source.chunks(), report)
    elif container == "array":
        pieces = split_values(source.chunks(), inside_array=True)
        yield from _documents_of_pieces(pieces, "element", report)
    elif container == "documents":
        yield from _documents_of_pieces(split_values(source.chunks()), "document", report)
    elif container == "eventstream":
        yield from _documents_of_frames(source.chunks(), report)
    elif container == "json":
        yield from _one_or_more(source, report)
    else:
        document = whole_document(source)
        if container == "text":
            document = Document(_as_utf8(document.data.strip(b"\0"), "", report))
        yield document


def _one_or_more(source: Source, report: Report) -> Iterator[Document]:
    """A long JSON text: one document if it fits, else the values that stand in it."""
    data = source.head(MAX_RECORD_BYTES + 1)
    if len(data) > MAX_RECORD_BYTES:
        yield from _documents_of_pieces(split_values(source.chunks()), "document", report)
        return
    source.forget()
    body = data.strip(_BLANKS)
    del data
    try:
        yield Document(body, loads(body))
    except BadJson:
        yield from _documents_of_pieces(split_values(iter([body])), "document", report)


def _documents_of_pieces(pieces: Iterator[Piece], word: str, report: Report) -> Iterator[Document]:
    for piece in pieces:
        where = f"{word} {piece.number}"
        if piece.data is None:
            report("limit", where, f"a record is {_TOO_LARGE} and is skipped")
            continue
        document = _document(piece.data, where, report)
        if document is not None:
            yield document


def _documents_of_lines(chunks: Iterator[bytes], report: Report, *, last: bool = True) -> Iterator[Document]:
    """The lines that are JSON. `last`: is a last line without its end read too?"""
    for piece in split_lines(chunks):
        if piece.data is None:
            report("limit", f"line {piece.number}", f"a record is {_TOO_LARGE} and is skipped")
            continue
        line = piece.data.strip(b" \t\r\0\x1e").removeprefix(b"\xef\xbb\xbf")
        if line and (last or not piece.cut or _parses(line)):
            document = _document(line, f"line {piece.number}", report)
            if document is not None:
                yield document


def documents_of_events(chunks: Iterator[bytes], report: Report, *, cut: bool = False) -> Iterator[Document]:
    """The data of server-sent events. `cut`: the chunks are a beginning only, a broken last event means nothing."""
    for event in split_events(split_lines(chunks), report):
        where = f"event {event.number}, line {event.line}"
        payloads = event.data
        joined = b"\n".join(payloads)
        if joined.strip() in (b"", b"[DONE]"):
            continue
        if len(joined) > MAX_RECORD_BYTES:
            report("limit", where, f"a record is {_TOO_LARGE} and is skipped")
            continue
        if len(payloads) > 1 and not _parses(joined) and all(_parses(data) or data == b"[DONE]" for data in payloads):
            report("fallback", where, "events without an empty line between them are read line by line")
        else:
            payloads = [joined]
        for data in payloads:
            if data == b"[DONE]" or (cut and event.last and not _parses(data)):
                continue
            if data[:1] not in (b"{", b"[", b'"'):
                text = _as_utf8(data, where, report)
                yield Document(text, text.decode("utf-8", "surrogatepass"), where=where, event=event.name)
                continue
            document = _document(data, where, report)
            if document is not None:
                document.event = event.name
                yield document


def _documents_of_frames(chunks: Iterator[bytes], report: Report) -> Iterator[Document]:
    """The payloads of an AWS event stream, each under its event type."""
    for frame in split_frames(chunks, report):
        document = _document(frame.payload, frame.where, report) if frame.payload.strip() else None
        if document is not None:
            document.event = frame.name
            yield document


def _document(data: bytes, where: str, report: Report) -> Document | None:
    """A record that should be JSON: its value, or what can be read of it, or nothing; all but the first is reported."""
    try:
        return Document(data, loads(data), where=where)
    except BadJson as error:
        if error.depth_limit:
            report("limit", where, f"a record is nested deeper than {MAX_JSON_DEPTH:,} levels and is skipped")
            return None
    return _salvage(data, where, report)


def _salvage(data: bytes, where: str, report: Report) -> Document | None:
    """What can be read of a broken record."""
    clean = _as_utf8(data, where, report)
    try:
        return Document(clean, loads(clean), where=where)
    except BadJson as error:
        broken = error
    part = repair(clean)
    value, offset = part or (MISSING, broken.offset)
    place = _position(clean, offset) if not where else f"{where}, byte {offset:,}"
    if part is None:
        report("damaged", place, f"not JSON ({broken.reason}): skipped")
        return None
    rest = clean[offset:]
    if not rest or rest[:1] == b'"' or _CUT_WORD.match(rest):
        report("damaged", place, "the JSON text is cut: what stands before the cut is read")
    else:
        report("damaged", place, f"the JSON text is broken ({broken.reason}): what stands after it is not read")
    return Document(clean, value, where=where)


def _as_utf8(data: bytes, where: str, report: Report) -> bytes:
    """UTF-8 (lone surrogates allowed); other bytes become U+FFFD and are reported."""
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        count = text.count("\ufffd")
        places = "1 place" if count == 1 else f"{count:,} places"
        place = f"{where}, byte {error.start:,}" if where else f"byte {error.start:,}"
        report("damaged", place, f"bytes that are not UTF-8 are shown as U+FFFD ({places})")
        return text.encode()
    return data
