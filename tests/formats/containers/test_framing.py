"""Containers: what a source is cut into, and what is said about the pieces that are broken."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from modelcontext_core import limits
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats import Trace, detect, iter_traces, read
from modelcontext_core.formats.containers import splitting as splitting_module
from modelcontext_core.formats.containers.framing import documents, look
from modelcontext_core.formats.containers.sources import Source
from modelcontext_core.formats.containers.splitting import split_lines, split_values

MESSAGES: list[dict[str, object]] = [
    {"role": "user", "content": "Grüße aus 東京 😀"},
    {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": '{"x": 1.0}'}}]},
    {"role": "tool", "tool_call_id": "a", "content": "done"},
]
REQUEST = {"model": "m", "messages": MESSAGES}
ONE = json.dumps(REQUEST, ensure_ascii=False).encode()


def zipped(*members: tuple[str, bytes]) -> bytes:
    """A zip of these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return file.getvalue()


def texts(trace: Trace) -> list[str]:
    """All contents of a trace."""
    return [message.content for conversation in trace.conversations for message in conversation.messages]


@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(lambda data: data, id="plain"),
        pytest.param(lambda data: b"\xef\xbb\xbf" + data, id="bom"),
        pytest.param(lambda data: data.decode().encode("utf-16"), id="utf-16 with bom"),
        pytest.param(lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be"), id="utf-16-be"),
        pytest.param(lambda data: json.dumps(json.loads(data)).encode("utf-16-le"), id="utf-16-le without bom"),
        pytest.param(lambda data: data.decode().encode("utf-32"), id="utf-32 with bom"),
        pytest.param(lambda data: b"\0" * 99 + data + b"\0" * 4096, id="NUL padding"),
        pytest.param(gzip.compress, id="gzip"),
        pytest.param(lambda data: gzip.compress(data[:50]) + gzip.compress(data[50:]), id="gzip in two members"),
        pytest.param(lambda data: zipped(("a.json", data)), id="zip"),
        pytest.param(lambda data: json.dumps(data.decode()).encode(), id="a string that holds it"),
        pytest.param(lambda data: json.dumps({"path": "/v1", "body": data.decode()}).encode(), id="a wrapper"),
        pytest.param(lambda data: b'["POST /v1", ' + data + b"]", id="a name before it"),
        pytest.param(lambda data: b"data: " + data + b"\r\n\r\ndata: [DONE]\r\n\r\n", id="one event"),
        pytest.param(lambda data: b": ping\n\nevent: message\nid: 1\ndata: " + data, id="an event without its end"),
    ],
)
def test_one_request_is_the_same_in_every_packing(pack: Callable[[bytes], bytes]) -> None:
    """What a conversation is packed in changes nothing about it."""
    packed = pack(ONE)
    trace = read(packed)

    assert detect(packed) == "openai_chat"
    assert texts(trace) == ["Grüße aus 東京 😀", "", "done"]
    assert trace.conversations[0].messages[1].tool_calls[0].arguments == '{"x": 1.0}'
    assert trace.notices == ()


@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(lambda one: one + b"\n" + one + b"\n", id="lines"),
        pytest.param(lambda one: one + b"\r\n\r\n" + one, id="lines with CR LF and blank lines"),
        pytest.param(lambda one: json.dumps(json.loads(one), indent=2).encode() * 2, id="documents in a row"),
        pytest.param(lambda one: b"[" + one + b",\n" + one + b"]", id="array"),
        pytest.param(lambda one: zipped(("a.json", one), ("b/c.json", one)), id="zip"),
    ],
)
def test_records_are_read_one_by_one(pack: Callable[[bytes], bytes]) -> None:
    """Two records are two traces for `iter_traces`, and two conversations with ids of their own for `read`."""
    packed = pack(ONE)

    assert [len(trace.conversations) for trace in iter_traces(packed)] == [1, 1]
    whole = read(packed)
    assert len({conversation.id for conversation in whole.conversations}) == 2
    assert texts(whole) == ["Grüße aus 東京 😀", "", "done"] * 2


def test_lines_end_at_line_feeds_only() -> None:
    """U+2028 and U+0085 are text, inside JSON and in plain text."""
    request = {"messages": [{"role": "user", "content": "a\u2028b\x85c"}]}
    line = json.dumps(request, ensure_ascii=False).encode()

    assert texts(read(line + b"\n" + line)) == ["a\u2028b\x85c"] * 2
    assert texts(read("one\u2028two".encode())) == ["one\u2028two"]


def test_a_broken_line_is_read_up_to_its_break_and_named() -> None:
    """The good lines are read; the broken one gives what stands before the break, with its line and byte."""
    trace = read(ONE + b"\n" + ONE[:-4] + b"!}]}\n" + ONE + b"\n" + ONE[:60])

    assert len(trace.conversations) == 4
    damaged = [(notice.kind, notice.where) for notice in trace.notices if notice.kind == "damaged"]
    assert damaged[0][1].startswith("line 2, byte ")
    assert damaged[1][1].startswith("line 4, byte ")


def test_lines_that_are_no_records_leave_the_others_whole() -> None:
    """Where the first line is an object and another one follows, other lines between them are named and passed over."""
    trace = read(b"\n".join([ONE, b"null", b"# a comment", b"42", ONE]))

    assert texts(trace) == ["Grüße aus 東京 😀", "", "done"] * 2
    assert {notice.where[:6] for notice in trace.notices} >= {"line 2", "line 3", "line 4"}


def test_a_cut_document_keeps_the_beginning_of_its_last_text() -> None:
    """A cut conversation is shown as far as it goes, with a notice where it breaks."""
    trace = read(b'{"messages": [{"role": "user", "content": "whole"}, {"role": "assistant", "content": "half an ans')

    assert texts(trace) == ["whole", "half an ans"]
    assert [(notice.kind, notice.where) for notice in trace.notices] == [("damaged", "line 1, byte 85")]


def test_bytes_that_are_not_utf8_are_shown_and_counted() -> None:
    """One wrong byte costs one character."""
    trace = read(ONE.replace("ü".encode(), b"\xfc"))

    assert texts(trace)[0] == "Gr\ufffdße aus 東京 😀"
    assert [notice.kind for notice in trace.notices] == ["damaged"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the source is empty"),
        (b" \n\0\0", "the source is empty"),
        (b"\x89PNG\r\n\x1a\n" + b"\0\1\2" * 50, "PNG picture"),
        (bytes(range(256)) * 20, "binary data"),
        (b"[" * 10_000, "nested deeper than 1,024 levels"),
        (b"[" * 50_000 + b"]" * 50_000, "nested deeper than 1,024 levels"),
        (b'{"messages": [{"ro', "the JSON text is cut"),
        (b'{"a": 1, "b": [2]}', "no conversation was found"),
        (b'{"choices": 7}', "nearest known format: openai_chat"),
        (b"12", "no conversation was found"),
        (zipped(("a.zip", zipped(("b.json", ONE)))), "an archive inside an archive"),
        (zipped(), "the zip holds no file"),
        (zipped(("a/", b"")), "the zip holds no file"),
        (zipped(("a.json", b"")), "a.json: the file is empty"),
        (b"trace.json".ljust(257, b"\0") + b"ustar" + b"\0" * 250 + ONE, "a tar archive"),
        (b"data: [DONE]\n\n", "server-sent events without any data"),
        (b"PK\x03\x04 and nothing more", "the list of its files, which stands at its end, is missing"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value,
)
def test_rubbish_gets_one_clear_sentence(data: bytes, sentence: str) -> None:
    """What is no trace raises one exception, which says where and why."""
    with pytest.raises(UnreadableTrace) as caught:
        read(data)

    assert sentence in str(caught.value)
    assert caught.value.position


def test_a_missing_file_is_an_unreadable_trace(tmp_path: Path) -> None:
    """The same exception tells of a path that cannot be opened."""
    with pytest.raises(UnreadableTrace, match="cannot be opened"):
        read(tmp_path / "nowhere.json")


def test_a_path_and_an_open_file_are_read_too(tmp_path: Path) -> None:
    """`iter_traces` takes what people have."""
    path = tmp_path / "one.jsonl"
    path.write_bytes(ONE + b"\n" + ONE)

    assert len(list(iter_traces(str(path)))) == 2
    with path.open("rb") as file:
        assert len(list(iter_traces(file))) == 2


def test_a_zip_is_read_as_far_as_it_is_readable() -> None:
    """Members that are no traces are named; the others are read, and say which member they come from."""
    trace = read(zipped(("a.json", ONE), ("picture.png", b"\x89PNG\r\n\x1a\n\0\0"), ("note.txt", b"A note.")))

    assert texts(trace) == ["Grüße aus 東京 😀", "", "done", "A note."]
    assert trace.conversations[0].origins[0].record == "a.json"
    assert ("skipped", "picture.png") in [(notice.kind, notice.where) for notice in trace.notices]


def test_a_zip_bomb_is_left_out_by_the_name_of_the_limit() -> None:
    """What unpacks to 200 times its size is not unpacked."""
    bomb = zipped(("bomb.json", b"[" * 3_000_000), ("good.json", ONE))
    trace = read(bomb)

    assert texts(trace)[0] == "Grüße aus 東京 😀"
    assert "MAX_UNPACK_RATIO" in trace.notices[-1].text


@pytest.mark.parametrize("bits", [32, 64])
def test_a_zip_with_an_endless_list_of_members_is_not_opened(bits: int) -> None:
    """The size that the list claims is looked at before the list is read; a comment may follow it."""
    end = struct.pack("<4s8xLL H", b"PK\5\6", 2**27 if bits == 32 else 2**32 - 1, 0, 7) + b"comment"
    larger = struct.pack("<4s36xQ8x", b"PK\6\6", 2**40) + struct.pack("<4s16x", b"PK\6\7")

    with pytest.raises(UnreadableTrace, match="MAX_ZIP_DIRECTORY_BYTES"):
        read(zipped(("a.json", ONE))[:-22] + (larger if bits == 64 else b"") + end)


def test_a_gzip_bomb_is_cut_at_the_limit() -> None:
    """The ratio holds for gzip too."""
    with pytest.raises(UnreadableTrace):
        read(gzip.compress(b" " * 5_000_000 + ONE))


def test_a_cut_gzip_is_read_as_far_as_it_goes() -> None:
    """The notice says that the archive is cut."""
    lines = b"\n".join(
        json.dumps({"messages": [{"role": "user", "content": f"{n} " * 40}]}).encode() for n in range(900)
    )
    trace = read(gzip.compress(lines)[:-500])

    assert 0 < len(trace.conversations) < 900
    assert any("the gzip is cut" in notice.text for notice in trace.notices)


def test_too_many_members_are_left_out_with_a_notice() -> None:
    """The limit on members is named."""
    members = [(f"{number}.txt", b"x") for number in range(limits.MAX_ZIP_MEMBERS + 1)]
    trace = read(zipped(*members))

    assert len(trace.conversations) == limits.MAX_ZIP_MEMBERS
    assert any("MAX_ZIP_MEMBERS" in notice.text for notice in trace.notices)


def test_a_record_above_the_limit_is_skipped_and_the_rest_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing larger than a record may be is ever kept."""
    monkeypatch.setattr(splitting_module, "MAX_RECORD_BYTES", 1000)
    large = json.dumps({"messages": [{"role": "user", "content": "x" * 2000}]}).encode()
    trace = read(ONE + b"\n" + large + b"\n" + ONE)

    assert len(trace.conversations) == 2
    assert [(notice.kind, notice.where) for notice in trace.notices] == [("limit", "line 2")]


def _chunked(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 2, 7, 100_000])
def test_splitting_does_not_depend_on_the_chunks(size: int) -> None:
    """Values and lines are found the same, byte by byte and at once."""
    first, second = '{"a": "]}\\"\\\\", "b": [1, {"c": "é"}]}'.encode(), b'["x\\"", [[]]]'

    values = split_values(_chunked(first + b" \n" + second + b',"s" 12 {"cut', size))
    assert [(piece.data, piece.cut) for piece in values] == [
        (first, False),
        (second, False),
        (b'"s"', False),
        (b'{"cut', True),
    ]
    inside = split_values(_chunked(b" [\n" + first + b"," + second + b"]", size), inside_array=True)
    assert [piece.data for piece in inside] == [first, second]
    lines = split_lines(_chunked(b"a\r\n\nb\rc\nlast", size))
    assert [(piece.number, piece.data, piece.cut) for piece in lines] == [
        (1, b"a", False),
        (2, b"", False),
        (3, b"b\rc", False),
        (4, b"last", True),
    ]


@pytest.mark.parametrize("size", [1, 3, 100_000])
def test_a_value_above_the_limit_is_read_past(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """It is given as `None`, and the values after it are found."""
    monkeypatch.setattr(splitting_module, "MAX_RECORD_BYTES", 50)
    data = b'[{"a": 1}, {"b": "' + b'x\\"' * 40 + b'"}, {"c": 2}]'

    pieces = list(split_values(_chunked(data, size), inside_array=True))

    assert [piece.data for piece in pieces] in (
        [b'{"a": 1}', None, b'{"c": 2}'],
        [b'{"a": 1}', b'{"b": "' + b'x\\"' * 40 + b'"}', b'{"c": 2}'],  # at once in memory: nothing to save
    )
    assert size > 50 or pieces[1].data is None


def test_a_large_array_of_records_is_read_by_its_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the head size an array of records is never held whole, and an array of messages is one record still."""
    monkeypatch.setattr("modelcontext_core.formats.containers.sources.HEAD_BYTES", 500)
    monkeypatch.setattr(Source.head, "__defaults__", (500,))
    records = b"[" + b",".join([ONE] * 20) + b"]"
    messages = json.dumps(MESSAGES * 20).encode()

    assert len(list(iter_traces(records))) == 20
    (trace,) = iter_traces(messages)
    assert len(trace.conversations[0].messages) == 60


def _events(data: bytes) -> tuple[list[tuple[str, object]], list[str]]:
    notices: list[str] = []

    def report(kind: str, where: str, text: str) -> None:
        notices.append(f"{kind} {where}")

    layout = look(Source(iter([data])), report)
    assert layout.container == "sse"
    found = documents(Source(iter([data])), "sse", report)
    return [(document.event, document.value) for document in found], notices


def test_events_follow_the_rules_of_the_standard() -> None:
    """Comments and `[DONE]` are no data, several data lines are joined, the last event may lack its end."""
    first = b': ping\r\n\r\nevent: a\r\ndata: {"x":\r\ndata:  1}\r\nid: 9\r\n\r\n'
    data = first + b'data:[2]\r\n\r\ndata: [DONE]\r\n\r\ndata: {"y": 3}'

    assert _events(data) == ([("a", {"x": 1}), ("", [2]), ("", {"y": 3})], [])


def test_stray_lines_and_missing_empty_lines_are_reported() -> None:
    """Real captures break the rules; what is done about it is said."""
    data = b'HTTP/1.1 200 OK\n\ndata: {"a": 1}\ndata: {"b": 2}\n\n{"error": "x"}\n\ndata: {"c": "cu'

    found, notices = _events(data)

    assert [value for _, value in found] == [{"a": 1}, {"b": 2}, {"error": "x"}, {"c": "cu"}]
    assert notices == [
        "skipped line 1",
        "fallback event 1, line 3",
        "fallback line 6",
        "damaged event 3, line 8, byte 6",
    ]


def test_a_format_can_be_chosen_by_hand() -> None:
    """`format` overrules detection; an unknown name is an error of the caller."""
    assert texts(read(ONE, format="text")) == [ONE.decode()]


def test_a_database_is_no_text() -> None:
    """Asked to read a database as text, a reader says what it is, and shows none of its bytes."""
    trace = read(b"SQLite format 3\0" + b"\xff" * 2000, format="text")

    assert [] == texts(trace)
    assert ["this is a database, not text"] == [notice.text for notice in trace.notices]
    with pytest.raises(ValueError, match="unknown format"):
        read(ONE, format="nothing")


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_an_array_is_cut_at_its_elements_wherever_its_bytes_are(size: int) -> None:
    """Brackets in strings, escapes, deep and empty containers: the elements do not depend on how the bytes come."""
    elements = [
        {"a": ["}", '"]', {"b": [], "c\\": "{[\\"}]},
        [[[]], {}, [{"d": "\\"}]],
        "[x]",
        {"e": [1, None, -1.5, "é"]},
    ]
    source = json.dumps(elements, indent=1).encode()
    chunks = (source[start : start + size] for start in range(0, len(source), size))

    assert [json.loads(piece.data or b"") for piece in split_values(chunks, inside_array=True)] == elements
