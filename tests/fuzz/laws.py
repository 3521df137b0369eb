"""The laws of the codec as checks that take any input. A broken law is an `AssertionError` that shows the input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol

from modelcontext_core import DecodeReport, EncodeReport, Message, Registry, Span, check_round_trip, jsontext
from modelcontext_core.grammar import (
    GLUE,
    LETTERS_DIGITS,
    TAG,
    free_after,
    free_before,
    handle_at,
    handle_tokens,
    http_start,
    is_free_text_id,
    is_http_url,
    is_uuid,
    link_end,
    uri_at,
)
from modelcontext_core.limits import MAX_HELD_CHARACTERS, MAX_TAG_CHARACTERS

SOURCES: Final = ("chunk", "document", "knowledge_base", "web")


class Decoder(Protocol):
    """What both stream decoders offer."""

    def feed(self, chunk: str) -> str:
        """The settled text."""

    def flush(self) -> str:
        """The rest."""

    @property
    def pending(self) -> dict[str, str]:
        """What is held back."""


def streamed(decoder: Decoder, chunks: Iterable[str]) -> str:
    """What a decoder makes of chunks; it never holds more than it may, and nothing after the flush."""
    out = []
    for chunk in chunks:
        out.append(decoder.feed(chunk))
        held = sum(map(len, decoder.pending.values()))
        assert held <= MAX_HELD_CHARACTERS, f"{held} characters held"
    out.append(decoder.flush())
    assert not decoder.pending
    return "".join(out)


def stream_law(whole: str, expected: str, new: Callable[[], Decoder], cut: Iterable[Sequence[str]]) -> None:
    """However a text is cut, the stream gives what decoding the whole gives; one decoder does for one text after
    another, because a flush makes it new."""
    decoder = new()
    for chunks in cut:
        got = streamed(decoder, chunks)
        assert expected == got, f"{whole!r} cut as {list(chunks)!r}: whole {expected!r}, streamed {got!r}"


def report_law(whole: str, report: DecodeReport) -> None:
    """The items of a report lie in order on both sides, and what stands between them is copied."""
    at = out_at = 0
    for item in report.items:
        assert at <= item.start <= item.end, f"{whole!r}: {item}"
        assert whole[at : item.start] == report.text[out_at : item.out_start], f"{whole!r}: before {item}"
        at, out_at = item.end, item.out_end
    assert whole[at:] == report.text[out_at:], f"{whole!r}: the end of {report.text!r}"


def no_forging_law(whole: str, report: DecodeReport) -> None:
    """The output holds no complete tag of the grammar and no handle but inside what the decoder wrote.

    A bracket that a restored value brings along counts as written, and so does what a removal joins.
    """
    written = [(item.out_start, item.out_end) for item in report.items if item.kind == "restored"]
    joints = {item.out_start for item in report.items if item.out_start == item.out_end}
    out = report.text
    at = out.find("<")
    while at >= 0:
        tag = TAG.match(out, at)
        if tag is not None and len(tag[0]) <= MAX_TAG_CHARACTERS:
            inside = any(start < tag.end() <= end for start, end in written)
            assert inside, f"{whole!r}: forged {tag[0]!r} in {out!r}"
        at = out.find("<", at + 1)
    for token in handle_tokens(out):
        touched = any(start < token.end and token.start < end for start, end in written)
        joined = any(token.start - 2 <= joint <= token.end for joint in joints)
        assert touched or joined, f"{whole!r}: {out[token.start : token.end]} left in {out!r}"


def decode_laws(registry: Registry, whole: str, cut: Iterable[Sequence[str]]) -> str:
    """All laws of one answer and one registry; gives the decoded text."""
    expected = registry.decode_output_text(whole)
    stream_law(whole, expected, registry.stream_decoder, cut)
    report = registry.decode_with_report(whole)
    assert expected == report.text
    report_law(whole, report)
    no_forging_law(whole, report)
    return expected


# ------------------------------------------------------------------------------------------------ encoding


def texts_of(message: Message) -> Iterator[tuple[str, str]]:
    """`(path, text)` of every text of a message."""
    yield "content", message.content
    yield "reasoning", message.reasoning
    for k, part in enumerate(message.parts):
        yield f"parts[{k}].text", part.text
    for k, call in enumerate(message.tool_calls):
        yield f"tool_calls[{k}].arguments", call.arguments


def skeleton(text: str, *, keys: bool) -> str:
    """JSON text with every string value emptied, of keys too unless `keys` are to be kept."""
    pieces: list[str] = []
    at = 0
    for string in jsontext.strings(text):
        if not (keys and string.is_key):
            pieces += (text[at : string.start], '""')
            at = string.end
    return "".join(pieces) + text[at:]


def span_law(messages: Sequence[Message], report: EncodeReport) -> None:
    """Outside the spans of the report nothing changed, and each span's output holds the handle that it names."""
    spans: dict[tuple[int, str], list[Span]] = {(span.message, span.path): [] for span in report.spans}
    for span in report.spans:
        spans[span.message, span.path].append(span)
    for index, (old, new) in enumerate(zip(messages, report.messages, strict=True)):
        for (path, before), (_, after) in zip(texts_of(old), texts_of(new), strict=True):
            found = spans.pop((index, path), [])
            if "arguments" in path and before != after:
                json_law(before, after, keys=True)  # a replaced string is written with minimal escapes
                for span in found:
                    assert span.handle in after[span.out_start : span.out_end], f"{before!r} -> {after!r}: {span}"
                continue
            at = out_at = 0
            for span in found:
                assert before[at : span.start] == after[out_at : span.out_start], f"{before!r} -> {after!r}: {span}"
                assert span.handle in after[span.out_start : span.out_end], f"{before!r} -> {after!r}: {span}"
                at, out_at = span.end, span.out_end
            assert before[at:] == after[out_at:], f"{before!r} -> {after!r}: the end"
    assert not spans


def gluing_law(messages: Sequence[Message], report: EncodeReport, registry: Registry) -> None:
    """Where nothing but known ids is looked for, an id was replaced only where it stands free, outside URLs and URIs,
    or as a whole URL."""
    rows = {row.handle: row for row in registry.handles()}
    for span in report.spans:
        message = messages[span.message]
        policy = registry.policies.get(message.name) if message.role == "tool" and span.path == "content" else None
        if policy is None or policy.output != "compact" or policy.mine or span.space not in SOURCES:
            continue
        text, start, end = message.content, span.start, span.end
        form = text[start:end]
        if form.startswith(f"{registry.policies.uri_scheme}://"):
            continue
        assert form == rows[span.handle].durable, f"{text!r}: {span}"
        glue = LETTERS_DIGITS | {"_"} if is_uuid(form) else GLUE
        assert free_before(text, start, glue), f"{text!r}: {span}"
        assert free_after(text, end, glue), f"{text!r}: {span}"
        for at in range(start):
            if text.startswith("://", at) and (begin := http_start(text, at)) is not None:
                assert not begin < start < link_end(text, at + 3), f"{text!r}: {span}"


def json_law(before: str, after: str, *, keys: bool = False) -> None:
    """What was JSON stays JSON, byte for byte outside its strings; in arguments the keys stay, too."""
    if before.lstrip()[:1] in ("{", "[") and jsontext.is_valid(before):
        assert jsontext.is_valid(after), f"{before} -> {after}"
        assert skeleton(before, keys=keys) == skeleton(after, keys=keys), f"{before} -> {after}"


def encode_laws(messages: Sequence[Message], new: Callable[[], Registry]) -> None:
    """All laws of encoding one conversation."""
    registry = new()
    report = registry.encode_with_report(messages)
    assert new().encode_messages(messages) == list(report.messages)
    issued = len(registry.handles())
    again = registry.encode_messages(report.messages)
    assert list(report.messages) == again, f"encoded twice: {difference(report.messages, again)}\n{messages}"
    assert issued == len(registry.handles()), "encoding twice issued a handle"
    span_law(messages, report)
    gluing_law(messages, report, registry)
    for old, encoded in zip(messages, report.messages, strict=True):
        for (_, before), (_, after) in zip(texts_of(old), texts_of(encoded), strict=True):
            json_law(before, after)
    trip = check_round_trip(messages, report, registry)
    assert trip.ok, f"{trip.differences[0]}\n{messages}"
    no_durable_law(messages, report.messages, registry)


def difference(one: Sequence[Message], other: Sequence[Message]) -> str:
    """The first text in which two conversations differ."""
    for a, b in zip(one, other, strict=True):
        for (path, x), (_, y) in zip(texts_of(a), texts_of(b), strict=True):
            if x != y:
                return f"{a.role} {a.name} {path}: {x!r} != {y!r}"
    return ""


def no_durable_law(messages: Sequence[Message], encoded: Sequence[Message], registry: Registry) -> None:
    """No id that is known in a source space stands free in a result of a source or compact tool, or in a declared
    field of a call: neither neighbour glued to it, outside URLs, URIs and handles."""
    known = {row.durable for row in registry.handles() if row.space in SOURCES}
    telling = [value for value in known if is_free_text_id(value) and not is_http_url(value)]
    for index, message in enumerate(encoded):
        policy = registry.policies.get(message.name) if message.role == "tool" else None
        if policy is not None and policy.output in ("source", "compact"):
            for value in telling:
                left = standing(message.content, value, registry.policies.uri_scheme)
                assert not left, f"{value!r} left in {message.content!r}, from {messages[index].content!r}"
        for call in message.tool_calls:
            declared = registry.policies.get(call.name)
            if declared is None or not jsontext.is_valid(call.arguments):
                continue
            for string in jsontext.strings(call.arguments):
                kind = declared.id_kinds.get((string.key or "").lower())
                if not string.is_key and kind in SOURCES:
                    text = jsontext.unquote(call.arguments[string.start : string.end]).strip()
                    known_here = any(row.durable == text and row.space == kind for row in registry.handles())
                    assert not known_here, f"{text!r} left in {call.arguments}"


def standing(text: str, value: str, scheme: str) -> bool:
    """Whether a value stands free in a text, found the plain way."""
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        glue = LETTERS_DIGITS | {"_"} if is_uuid(value) else GLUE
        if free_before(text, at, glue) and free_after(text, end, glue) and not covered(text, at, end, scheme):
            return True
        at = text.find(value, at + 1)
    return False


def covered(text: str, start: int, end: int, scheme: str) -> bool:
    """Whether `[start, end)` touches a URL, a URI or a handle, or stands directly behind a handle."""
    slashes = text.find("://")
    while slashes >= 0:
        token, uri = handle_at(text, slashes), uri_at(text, slashes, scheme)
        if token is not None and token.start < end and start <= token.end:
            return True
        if uri is not None and uri.start < end and start < uri.end:
            return True
        begin = http_start(text, slashes)
        if begin is not None and begin < end and start < link_end(text, slashes + 3):
            return True
        slashes = text.find("://", slashes + 1)
    return False
