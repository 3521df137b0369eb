"""Identifiers that still stand in encoded messages: what the model sees although it should not.

*Registered*: the registry has a handle for it, so the codec missed a place. *Unregistered*: some producer emitted a raw
id that nobody declared. What the user typed is left alone on purpose.

Explained in `docs/concepts/leaks.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from modelcontext_core.grammar import find_uuids
from modelcontext_core.handles import link_regions
from modelcontext_core.messages import Message
from modelcontext_core.policies import ToolPolicies
from modelcontext_core.sources import HandleSpaces
from modelcontext_core.wrong_types import checked

Reason = Literal["", "user_text", "signed", "opaque", "inside_url"]
_SAMPLES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifierLeak:
    """The identifiers left in one field of one message. `tool_name` is the tool that produced a tool message, or the
    one that a call is for; `field` is content, reasoning, multi_content or tool_call_arguments."""

    message_index: int
    role: str
    tool_name: str = ""
    field: str = ""
    registered: Sequence[str] = ()
    unregistered: Sequence[str] = ()


class RawIdentifier(NamedTuple):
    """One identifier left in an encoded text, and why the codec had no place to rewrite it (empty: it had)."""

    message: int
    path: str
    start: int
    end: int
    value: str
    registered: bool
    reason: Reason


def leaked_identifiers(messages: Sequence[Message], spaces: HandleSpaces) -> list[IdentifierLeak]:
    """The UUID-shaped values left in every field but the user's, field by field, each value once and sorted."""
    leaks = []
    for index, message in enumerate(messages):
        if message.role == "user":
            continue
        tool_name = message.name if message.role == "tool" else ""
        parts = [part.text for part in message.parts if part.type == "text"]
        fields = [
            (tool_name, "content", [message.content]),
            (tool_name, "reasoning", [message.reasoning]),
            (tool_name, "multi_content", parts),
        ]
        fields += [(call.name, "tool_call_arguments", [call.arguments]) for call in message.tool_calls]
        for name, field, texts in fields:
            values = _distinct(texts)
            if values:
                leaks.append(
                    IdentifierLeak(
                        message_index=index,
                        role=message.role,
                        tool_name=name,
                        field=field,
                        registered=tuple(value for value in values if spaces.knows_uuid(value)),
                        unregistered=tuple(value for value in values if not spaces.knows_uuid(value)),
                    )
                )
    return leaks


def _distinct(texts: Iterable[str]) -> list[str]:
    """The values of some texts, each once whatever its letter case, the first spelling kept, sorted by lower case."""
    found: dict[str, str] = {}
    for text in texts:
        if "-" in text:
            for start, end in find_uuids(text):
                value = text[start:end]
                found.setdefault(value.lower(), value)
    return [found[key] for key in sorted(found)]


def summarize_leaks(leaks: Iterable[IdentifierLeak]) -> str:
    """One line for a log: where, how many, and up to three samples of each kind."""
    parts = []
    for leak in checked("leaks", leaks, IdentifierLeak):
        where = f"{leak.role}/{leak.tool_name}" if leak.tool_name else leak.role
        parts.append(
            f"message[{leak.message_index}] {where} {leak.field}: "
            f"{len(leak.registered)} registered {_samples(leak.registered)}, "
            f"{len(leak.unregistered)} unregistered {_samples(leak.unregistered)}"
        )
    return "; ".join(parts)


def _samples(values: Sequence[str]) -> str:
    more = " ..." if len(values) > _SAMPLES else ""
    return f"[{' '.join(values[:_SAMPLES])}{more}]"


def raw_identifiers(
    messages: Sequence[Message], spaces: HandleSpaces, policies: ToolPolicies
) -> Iterator[RawIdentifier]:
    """Every UUID-shaped place left in encoded messages, the user's texts included, in the order of the text."""
    for index, message in enumerate(messages):
        opaque = message.role == "tool" and _is_opaque(message.name, policies)
        texts: list[tuple[str, str, Reason]] = [
            ("content", message.content, "opaque" if opaque else ""),
            ("reasoning", message.reasoning, "signed" if message.reasoning_signature else ""),
        ]
        texts += [
            (f"parts[{k}].text", part.text, "opaque" if opaque else "")
            for k, part in enumerate(message.parts)
            if part.type == "text"
        ]
        texts += [(f"tool_calls[{k}].arguments", call.arguments, "") for k, call in enumerate(message.tool_calls)]
        for path, text, reason in texts:
            if "-" not in text:
                continue
            links = link_regions(text, scheme_handles=True)
            links.reverse()
            for start, end in find_uuids(text):
                while links and links[-1][1] <= start:
                    links.pop()
                inside = bool(links) and links[-1][0] < start
                why: Reason = "user_text" if message.role == "user" else reason or ("inside_url" if inside else "")
                value = text[start:end]
                yield RawIdentifier(index, path, start, end, value, spaces.knows_uuid(value), why)


def _is_opaque(tool_name: str, policies: ToolPolicies) -> bool:
    policy = policies.get(tool_name)
    return policy is None or policy.output in ("opaque", "directory")
