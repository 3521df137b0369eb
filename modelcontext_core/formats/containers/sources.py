"""Bytes from a path, a file or memory, unpacked: zip members one by one, gzip, UTF-16 and UTF-32, a BOM, NUL padding.

What comes out is UTF-8 (not yet checked) behind a `Source`, whose first bytes can be looked at before it is read.
"""

from __future__ import annotations

import codecs
import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, Final

from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.base import NoticeKind
from modelcontext_core.formats.containers.eventstream import looks_like_eventstream
from modelcontext_core.limits import MAX_UNPACK_RATIO, MAX_UNPACKED_BYTES, MAX_ZIP_DIRECTORY_BYTES, MAX_ZIP_MEMBERS, MIB

__all__ = ["HEAD_BYTES", "Source", "open_members"]

# How much is looked at to recognise a container. A source that is shorter is in memory then.
HEAD_BYTES: Final = 4 * MIB
_CHUNK: Final = MIB
_GZIP = b"\x1f\x8b"
# A zip begins with its first member, or, when it has none, with the record at its end.
_ZIPS = (b"PK\x03\x04", b"PK\x05\x06")
# The record at the end of a zip: its signature, and the size of the directory in it; the same of a zip of 64 bits,
# whose record stands before its locator, which stands before the first record.
_ZIP_END = struct.Struct("<4s8xL6x")
_ZIP_END_64 = struct.Struct("<4s36xQ8x")
_ZIP_LOCATOR_64: Final = 20
_ZIP_COMMENT: Final = 65_535
_BOM = codecs.BOM_UTF8
# What the standard library raises for damaged members: offsets out of the file, wrong names, cut headers too.
_BROKEN_MEMBER: Final = (
    zipfile.BadZipFile,
    RuntimeError,
    NotImplementedError,
    OSError,
    ValueError,
    struct.error,
    zlib.error,
    EOFError,
)
_NO_END: Final = "File is not a zip file"  # the standard library's words for a zip that was cut
_GREATEST_HARMLESS: Final = MIB  # below this, a ratio says nothing about a bomb
_RATIO = f"unpacks to more than {MAX_UNPACK_RATIO} times its size (MAX_UNPACK_RATIO)"
_TOTAL = f"unpacks to more than {MAX_UNPACKED_BYTES // MIB} MB (MAX_UNPACKED_BYTES)"

Report = Callable[[NoticeKind, str, str], None]  # kind, where, text


class Source:
    """A stream of bytes with its first bytes known. `name` is the file's; `notes` collects what happened on the way."""

    def __init__(self, stream: Iterator[bytes], *, name: str = "") -> None:
        self.name = name
        self.in_archive = False
        self.notes: list[tuple[NoticeKind, str]] = []
        self._stream = stream
        self._head = bytearray()
        self._ended = False

    def head(self, size: int = HEAD_BYTES) -> bytes:
        """The first `size` bytes (fewer when there are no more); they stay to be read."""
        while len(self._head) < size and not self._ended:
            chunk = next(self._stream, b"")
            self._ended = not chunk
            self._head += chunk
        with memoryview(self._head) as seen:
            return bytes(seen[:size])

    def forget(self) -> None:
        """Let go of the head: whoever looked at all of it needs no copy."""
        self._head = bytearray()

    @property
    def complete(self) -> bool:
        """True when `head` has seen everything."""
        return self._ended

    def chunks(self) -> Iterator[bytes]:
        """Everything, in chunks. The head is given up first."""
        head, self._head = bytes(self._head), bytearray()
        if head:
            yield head
        if not self._ended:
            yield from self._stream
            self._ended = True


def _read_chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


@contextmanager
def _opened(source: bytes | str | Path | BinaryIO) -> Iterator[BinaryIO]:
    if isinstance(source, bytes | bytearray | memoryview):
        yield io.BytesIO(source)
    elif isinstance(source, str | Path):
        try:
            file = Path(source).open("rb")  # noqa: SIM115 -- closed below; only opening it may fail in this way
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise UnreadableTrace(f"the file cannot be opened: {reason}") from None
        with file:
            yield file
    else:
        yield source


def open_members(source: bytes | str | Path | BinaryIO, name: str, report: Report) -> Iterator[Source]:
    """The files in a source: one, or the members of a zip in order. Each is read before the next is asked for.

    `report` is told what was left out. Raises `UnreadableTrace` when the source itself cannot be opened.
    """
    if not name and isinstance(source, str | Path):
        name = Path(source).name
    with _opened(source) as file:
        first = Source(_read_chunks(file), name=name)
        magic = first.head(4)
        if magic in _ZIPS:
            if not _seekable(file):
                file = io.BytesIO(b"".join(first.chunks()))
            yield from _zip_members(file, report)
        elif magic[:2] == _GZIP:
            yield _gzip_member(first)
        elif not magic:
            raise UnreadableTrace("the source is empty", position="byte 0")
        else:
            yield _as_utf8(first)


def _seekable(file: BinaryIO) -> bool:
    try:
        file.seek(0)
    except (OSError, AttributeError, ValueError):
        return False
    return True


def _directory_size(file: BinaryIO) -> int:
    """How large the directory of a zip says it is: the standard library reads all of it, whatever its size."""
    length = file.seek(0, io.SEEK_END)
    start = max(0, length - _ZIP_COMMENT - _ZIP_END.size)
    file.seek(start)
    tail = file.read(length - start)
    place = tail.rfind(b"PK\5\6")
    if place < 0 or len(tail) < place + _ZIP_END.size:
        return 0
    size = int(_ZIP_END.unpack_from(tail, place)[1])
    before = start + place - _ZIP_LOCATOR_64 - _ZIP_END_64.size
    if before >= 0:
        file.seek(before)
        signature, larger = _ZIP_END_64.unpack(file.read(_ZIP_END_64.size))
        if signature == b"PK\6\6":
            return int(larger)
    return size


def _zip_members(file: BinaryIO, report: Report) -> Iterator[Source]:
    if _directory_size(file) > MAX_ZIP_DIRECTORY_BYTES:
        limit = f"{MAX_ZIP_DIRECTORY_BYTES // MIB} MB (MAX_ZIP_DIRECTORY_BYTES)"
        raise UnreadableTrace(f"the zip lists so many files that the list is larger than {limit}", position="byte 0")
    try:
        archive = zipfile.ZipFile(file)
    except _BROKEN_MEMBER as error:
        reason = "the list of its files, which stands at its end, is missing" if str(error) == _NO_END else str(error)
        raise UnreadableTrace(f"a damaged zip: {reason}", position="byte 0") from None
    unpacked = 0
    with archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) > MAX_ZIP_MEMBERS:
            text = f"the limit is {MAX_ZIP_MEMBERS:,} members a zip (MAX_ZIP_MEMBERS): {len(members):,} members"
            report("limit", members[MAX_ZIP_MEMBERS].filename, f"{text}, those from here on are left out")
        for member in members[:MAX_ZIP_MEMBERS]:
            if member.filename.startswith("__MACOSX/") or member.filename.endswith(".DS_Store"):
                continue
            # The sizes that a zip declares may be lies: they only save work, the reading itself is counted too.
            if member.file_size > max(member.compress_size * MAX_UNPACK_RATIO, _GREATEST_HARMLESS):
                report("limit", member.filename, f"the member {_RATIO} and is left out")
                continue
            if unpacked + member.file_size > MAX_UNPACKED_BYTES:
                report("limit", member.filename, f"the zip {_TOTAL}: what follows is left out")
                return
            try:
                with archive.open(member) as stream:
                    budget = _Budget(MAX_UNPACKED_BYTES - unpacked, packed=member.compress_size)
                    yield from _zip_member(stream, member.filename, budget, report)
                    unpacked += budget.used
            except _BROKEN_MEMBER as error:
                report("damaged", member.filename, f"the member cannot be unpacked: {error}")


def _zip_member(stream: IO[bytes], name: str, budget: _Budget, report: Report) -> Iterator[Source]:
    source = Source(budget.guard(stream), name=name)
    budget.note = lambda kind, text: source.notes.append((kind, text))
    magic = source.head(4)
    if magic in _ZIPS or magic[:2] == _GZIP:
        report("limit", name, "an archive inside an archive is not opened (one level)")
    elif not magic:
        report("skipped", name, "the file is empty")
    else:
        cleaned = _as_utf8(source)
        cleaned.notes = source.notes
        cleaned.in_archive = True
        yield cleaned


class _Budget:
    """Counts what is unpacked and ends the stream, with a note, where it grows past a limit or breaks."""

    def __init__(self, limit: int, *, packed: int | None = None) -> None:
        self.limit = limit
        self.packed = packed
        self.used = 0
        self.note: Callable[[NoticeKind, str], None] = lambda _kind, _text: None

    def guard(self, stream: IO[bytes]) -> Iterator[bytes]:
        """The chunks of `stream`, as far as the limits allow and the archive is whole."""
        while True:
            try:
                chunk = stream.read(_CHUNK)
            except (EOFError, zlib.error, OSError, zipfile.BadZipFile) as error:
                self.note("damaged", f"the archive breaks after {self.used:,} unpacked bytes: {error}")
                return
            if not chunk:
                return
            self.used += len(chunk)
            if self.used > self.limit:
                self.note("limit", f"the archive {_TOTAL}: the rest is left out")
                return
            packed = self.packed
            if packed is not None and self.used > max(packed * MAX_UNPACK_RATIO, _GREATEST_HARMLESS):
                self.note("limit", f"the archive {_RATIO}: the rest is left out")
                return
            yield chunk


def _gzip_member(packed: Source) -> Source:
    notes: list[tuple[NoticeKind, str]] = []
    chunks = _gunzipped(packed.chunks(), lambda kind, text: notes.append((kind, text)))
    inner = Source(chunks, name=packed.name.removesuffix(".gz"))
    magic = inner.head(4)
    if magic in _ZIPS or magic[:2] == _GZIP:
        raise UnreadableTrace("an archive inside an archive is not opened (one level)", position="byte 0")
    if not magic:
        raise UnreadableTrace(notes[0][1] if notes else "the gzip is empty", position="byte 0")
    unpacked = _as_utf8(inner)
    unpacked.notes = notes
    return unpacked


def _gunzipped(chunks: Iterator[bytes], note: Callable[[NoticeKind, str], None]) -> Iterator[bytes]:
    """The unpacked chunks of one or several gzip members, as far as they are whole and the limits allow."""
    unpacker = zlib.decompressobj(wbits=31)
    given = used = 0
    inside = False
    for chunk in chunks:
        given += len(chunk)
        rest = chunk
        while rest:
            inside = True
            try:
                data = unpacker.decompress(rest, _CHUNK)
            except zlib.error as error:
                note("damaged", f"the gzip breaks after {used:,} unpacked bytes: {error}")
                return
            used += len(data)
            if used > MAX_UNPACKED_BYTES:
                note("limit", f"the gzip {_TOTAL}: the rest is left out")
                return
            if used > max(given * MAX_UNPACK_RATIO, _GREATEST_HARMLESS):
                note("limit", f"the gzip {_RATIO}: the rest is left out")
                return
            if data:
                yield data
            rest = unpacker.unconsumed_tail
            if unpacker.eof:
                rest = unpacker.unused_data.lstrip(b"\0")
                unpacker = zlib.decompressobj(wbits=31)
                inside = False
                if rest and not _GZIP.startswith(rest[:2]):
                    note("skipped", f"{len(rest):,} bytes after the end of the gzip are no gzip")
                    return
    if inside:
        note("damaged", f"the gzip is cut after {used:,} unpacked bytes")


# --- encodings -------------------------------------------------------------------------------------------------------


def _as_utf8(source: Source) -> Source:
    """The same source as UTF-8 without a BOM and without NUL padding before its text."""
    head = source.head(400)
    encoding = _wide_encoding(head)
    if encoding:
        return Source(_recoded(source.chunks(), encoding), name=source.name)
    if looks_like_eventstream(head):
        return source  # NULs are part of binary frames
    if head.startswith((_BOM, b"\0")):
        return Source(_without_start(source.chunks()), name=source.name)
    return source


def _wide_encoding(head: bytes) -> str:
    """UTF-16 by the BOM or by where the NULs of ASCII text stand, UTF-32 by the BOM; `""` for anything else."""
    if head.startswith(codecs.BOM_UTF32_LE):  # it begins like the BOM of UTF-16
        return "utf-32-le"
    if head.startswith(codecs.BOM_UTF32_BE):
        return "utf-32-be"
    if head.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if head.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    even, odd = head[0:200:2], head[1:200:2]
    if len(odd) >= 4 and odd.count(0) > 0.7 * len(odd) and even.count(0) < 0.1 * len(even):
        return "utf-16-le"
    if len(odd) >= 4 and even.count(0) > 0.7 * len(even) and odd.count(0) < 0.1 * len(odd):
        return "utf-16-be"
    return ""


def _recoded(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
    first = True
    for chunk in chunks:
        try:
            text = decoder.decode(chunk)
        except UnicodeDecodeError:
            # Damaged: from here on what cannot be read is shown as U+FFFD, which the record's own check reports.
            decoder = codecs.getincrementaldecoder(encoding)("replace")
            text = decoder.decode(chunk)
        if first:
            text = text.removeprefix("\ufeff")
            first = False
        if text:
            yield text.encode("utf-8", "surrogatepass")


def _without_start(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Chunks without the BOM and the NULs that stand before the first byte of text."""
    started = False
    for chunk in chunks:
        if not started:
            chunk = chunk.lstrip(b"\0").removeprefix(_BOM).lstrip(b"\0")
            started = bool(chunk)
        if chunk:
            yield chunk
