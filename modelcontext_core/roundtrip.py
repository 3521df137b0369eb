"""The proof that encoding lost nothing: every handle put back gives what the application sent.

The check does not believe the encoder. Handles are found again in the *encoded* text by the grammar and looked up in
the registry's listing; the written form that stood there (an id may stand as itself, as a URI, escaped in a tag) comes
from the report, and must be one of that very identity. Arguments are simply decoded.

Explained in `docs/concepts/lifecycle.md`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from modelcontext_core import jsontext, resources
from modelcontext_core.grammar import (
    ANY_URI,
    CITATION_TAG,
    GLUE,
    WORD_PREFIXES,
    attributes,
    format_handle,
    free_after,
    free_before,
    handle_tokens,
    has_handle,
    html_unescaped,
    read_percent,
    whole_handle,
    without_fragment,
)
from modelcontext_core.handles import Place, replace_places
from modelcontext_core.messages import Message, ToolCall
from modelcontext_core.registry import EncodeReport, Registry, Span
from modelcontext_core.sqltext import unquote_inner
from modelcontext_core.wrong_types import check_type, checked

Rule = Literal["arguments", "text", "identity"]
_SHORT_HANDLE: Final = re.compile(rf"(?:{'|'.join(WORD_PREFIXES.values())})[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One text that does not come back: where, which check failed, what was sent and what came back."""

    message: int
    path: str
    rule: Rule
    expected: str
    got: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """`ok` when there is no difference. `identical` texts came back byte for byte, `accepted` ones differ only as
    encoding may change them (a page's other fragment, a URI as a whole declared value, spaces around one, needless
    escapes, and what decoding alone changes: handle-shaped words that stood there before, wrapped arguments)."""

    ok: bool
    identical: int
    accepted: int
    differences: Sequence[Difference]


def check_round_trip(messages: Sequence[Message], report: EncodeReport, registry: Registry) -> RoundTrip:
    """Whether the encoded messages of `report` give `messages` back, text by text."""
    check_type("report", report, EncodeReport)
    check_type("registry", registry, Registry)
    messages = checked("messages", messages, Message)
    durable = {row.handle: row.durable for row in registry.handles()}
    spans: dict[tuple[int, str], list[Span]] = {}
    for span in report.spans:
        spans.setdefault((span.message, span.path), []).append(span)
    identical = accepted = 0
    differences: list[Difference] = []
    for index, path, before, after, tool in _texts(messages, report.messages):
        rule: Rule
        if tool is not None:
            got, rule = _decoded(registry, tool, after), "arguments"
        else:
            got, rule = _put_back(before, after, spans.get((index, path), []), durable)
        if got == before:
            identical += 1
        elif tool is not None and _comes_back(before, got, tool, registry, durable):
            accepted += 1
        else:
            differences.append(Difference(message=index, path=path, rule=rule, expected=before, got=got))
    return RoundTrip(ok=not differences, identical=identical, accepted=accepted, differences=tuple(differences))


def _decoded(registry: Registry, tool: str, arguments: str) -> str:
    return registry.decode_tool_calls([ToolCall(name=tool, arguments=arguments)])[0].arguments


def _texts(before: Sequence[Message], after: Sequence[Message]) -> Iterator[tuple[int, str, str, str, str | None]]:
    """`(message, path, before, after, tool)`: every text of both sides; `tool` is set for arguments."""
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        yield index, "content", old.content, new.content, None
        yield index, "reasoning", old.reasoning, new.reasoning, None
        for k, (part, out) in enumerate(zip(old.parts, new.parts, strict=True)):
            yield index, f"parts[{k}].text", part.text, out.text, None
        for k, (call, out_call) in enumerate(zip(old.tool_calls, new.tool_calls, strict=True)):
            yield index, f"tool_calls[{k}].arguments", call.arguments, out_call.arguments, call.name


# ------------------------------------------------------------------------------------------------ texts


def _put_back(before: str, after: str, spans: Sequence[Span], durable: Mapping[str, str]) -> tuple[str, Rule]:
    """The text before encoding, made from the text after it: each handle that the grammar finds, in the written form
    recorded for its place. A handle without one stood there before; a form of another identity proves a fault."""
    if not spans:
        return after, "text"
    ends = [span.out_end for span in spans]
    pieces: list[str] = []
    pos = 0
    rule: Rule = "text"
    for start, end, handle in _handles(after):
        at = bisect_left(ends, end)
        span = spans[at] if at < len(spans) else None
        if span is None or start < span.out_start or start < pos:
            continue
        form, identity = before[span.start : span.end], durable.get(handle)
        if identity is None or not _is_form_of(form, identity):
            form, rule = identity or handle, "identity"
        pieces += (after[pos : span.out_start], form)
        pos = span.out_end
    pieces.append(after[pos:])
    return "".join(pieces), rule


def _handles(text: str) -> Iterator[tuple[int, int, str]]:
    """Every handle of a text by the grammar, scheme handles and short ones, in order."""
    found = [
        (token.start, token.end, format_handle(token.space, token.number))
        for token in handle_tokens(text)
        if token.number is not None
    ]
    found += [
        (match.start(), match.end(), match[0])
        for match in _SHORT_HANDLE.finditer(text)
        if free_before(text, match.start(), GLUE) and free_after(text, match.end(), GLUE)
    ]
    return iter(sorted(found))


def _is_form_of(form: str, durable: str) -> bool:
    """Whether `form` is a way to write the identity `durable`: itself, escaped, as a URI, as a tag that names it."""
    if durable in (form, form.strip(), unquote_inner(form)) or _is_page_or_text(html_unescaped(form).strip(), durable):
        return True
    tag = CITATION_TAG.match(form)
    if tag is not None:
        return any(
            name in ("chunk_id", "url") and _is_form_of(form[start:end], durable)
            for name, start, end in attributes(form, tag.end(1), tag.end())
        )
    if "\\" in form and jsontext.is_valid(f'"{form}"'):
        return _is_page_or_text(jsontext.unquote(f'"{form}"').strip(), durable)
    return "://" in form and read_percent(form.rpartition("/")[2]) == durable


def _is_page_or_text(plain: str, durable: str) -> bool:
    return plain == durable or without_fragment(plain) == without_fragment(durable)


# ------------------------------------------------------------------------------------------------ arguments


def _comes_back(before: str, got: str, tool: str, registry: Registry, durable: Mapping[str, str]) -> bool:
    """Whether arguments are the same again but for the exceptions; what stood there as a handle, or wrapped, is
    restored by decoding alone, though not in a stored reference."""
    if _same_but_for_exceptions(before, got, durable):
        return True
    return _same_but_for_exceptions(_decoded(registry, tool, _without_references(before, durable)), got, durable)


def _without_references(arguments: str, durable: Mapping[str, str]) -> str:
    """`arguments` with the stored references that hold a handle-shaped word as handles."""
    odd = {value: handle for handle, value in durable.items() if handle.startswith("res://") and has_handle(value)}
    if not odd or not jsontext.is_valid(arguments):
        return arguments
    edits = []
    for string in jsontext.strings(arguments):
        text = jsontext.unquote(arguments[string.start : string.end])
        spans = resources.references(text)
        places = [Place(start, end, odd[text[start:end]]) for start, end in spans if text[start:end] in odd]
        if places and not string.is_key:
            edits.append((string.start, string.end, replace_places(text, places)[0]))
    return jsontext.replace_strings(arguments, edits) if edits else arguments


def _same_but_for_exceptions(before: str, got: str, durable: Mapping[str, str]) -> bool:
    """Whether two JSON texts differ only where decoding may differ from what was encoded."""
    if not (jsontext.is_valid(before) and jsontext.is_valid(got)):
        return False
    old, new = list(jsontext.strings(before)), list(jsontext.strings(got))
    return len(old) == len(new) and all(
        before[a.start : a.end] == got[b.start : b.end]
        or _same_value(jsontext.unquote(before[a.start : a.end]), jsontext.unquote(got[b.start : b.end]), durable)
        for a, b in zip(old, new, strict=True)
    )


def _same_value(before: str, got: str, durable: Mapping[str, str]) -> bool:
    if got in (before, before.strip()) or without_fragment(before.strip()) == without_fragment(got):
        return True  # only escapes differ, spaces around a declared value, or the fragment of a page
    if ANY_URI.fullmatch(before.strip()) and (whole := whole_handle(got)) is not None and whole.number is not None:
        # A URI in a declared field that does not take its space: the call would be refused, nothing is lost.
        return durable.get(format_handle(whole.space, whole.number)) == _plain_uris(before.strip())
    return _plain_uris(before).strip() in (_plain_uris(got), got)


def _plain_uris(text: str) -> str:
    """`text` with the escapes of its URIs undone, and without the URI around a whole id."""
    return ANY_URI.sub(lambda match: read_percent(match[1].rstrip(".")) or match[0], text)
