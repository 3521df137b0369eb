"""The texts of messages as the encoder sees them: which there are, whose policy counts, what they declare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from modelcontext_core import jsontext
from modelcontext_core.grammar import whole_handle
from modelcontext_core.labels import Label, looks_like_json, value_label
from modelcontext_core.messages import Message, Part, ToolCall
from modelcontext_core.policies import ToolPolicy
from modelcontext_core.rewriting import Rewriting, StringRewriting


class MessageText(NamedTuple):
    """One text of one message on its way through the steps."""

    message: int
    role: str
    policy: ToolPolicy | None
    rewriting: Rewriting


class CallArguments(NamedTuple):
    """The arguments of one tool call: their string values, when there is anything to look at in them."""

    message: int
    path: str
    policy: ToolPolicy | None
    raw: str
    strings: Sequence[StringRewriting]


def is_source(item: MessageText) -> bool:
    """Whether a text is the result of a tool whose sources are registered."""
    return item.policy is not None and item.policy.output == "source"


def is_sql(item: MessageText | CallArguments, rewriting: Rewriting) -> bool:
    """Whether a string is a declared SQL field of its call."""
    return (
        isinstance(rewriting, StringRewriting)
        and item.policy is not None
        and rewriting.string.depth == 1
        and (rewriting.string.key or "").lower() in item.policy.sql
    )


def declared_label(policy: ToolPolicy | None, rewriting: StringRewriting) -> Label | None:
    """The value of a declared ID field, when it is one whose space the field takes."""
    if policy is None or not policy.id_kinds:
        return None
    kind = policy.id_kinds.get((rewriting.string.key or "").lower())
    if kind is None or whole_handle(rewriting.text) is not None:
        return None
    value = rewriting.text.partition("|")[0] if kind == "document_ref" else rewriting.text
    return value_label(kind, 0, len(value), value)


def issue_strings(item: MessageText) -> list[jsontext.JsonString]:
    """The `id` values of an issue listing: of the object, of a top-level list's objects, of those under `issues`."""
    text, policy = item.rewriting.text, item.policy
    if policy is None or not policy.issues_register or not looks_like_json(text):
        return []
    found = []
    for string in jsontext.strings(text):
        key = string.key
        if string.is_key or key is None or key.lower() not in policy.issues_register:
            continue
        row = string.container
        if row is None or row.kind != "{":
            continue
        rows = row.parent
        if (
            string.depth == 1
            or (string.depth == 2 and rows is not None and rows.kind == "[")
            or (string.depth == 3 and rows is not None and rows.kind == "[" and (rows.key or "").lower() == "issues")
        ):
            found.append(string)
    return found


def with_texts(message: Message, texts: dict[str, str]) -> Message:
    """`message` with other texts at some paths."""
    parts: Sequence[Part] = message.parts
    calls: Sequence[ToolCall] = message.tool_calls
    if parts and any(path.startswith("parts[") for path in texts):
        parts = tuple(
            replace(part, text=texts.get(f"parts[{k}].text", part.text)) for k, part in enumerate(message.parts)
        )
    if calls and any(path.startswith("tool_calls[") for path in texts):
        calls = tuple(
            replace(call, arguments=texts.get(f"tool_calls[{k}].arguments", call.arguments))
            for k, call in enumerate(message.tool_calls)
        )
    return replace(
        message,
        content=texts.get("content", message.content),
        reasoning=texts.get("reasoning", message.reasoning),
        parts=parts,
        tool_calls=calls,
    )
