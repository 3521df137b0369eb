"""Decoding tool calls: what the model wrote becomes what may run.

Only the strings that are replaced change; every other byte of the arguments stays. A handle that cannot be restored
where it stands is *unresolved*: it is reported, and the call must not run.

Explained in `docs/concepts/lifecycle.md`; which fields hold ids, and in which form they come back: `docs/policies.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from modelcontext_core import jsontext
from modelcontext_core.grammar import (
    ASCII_SPACES,
    READS_ON,
    HandleToken,
    Space,
    WordSpace,
    handle_tokens,
    whole_handle,
    whole_legacy_handle,
    whole_word_handle,
)
from modelcontext_core.mcp import ROUTING_SPACES
from modelcontext_core.messages import ToolCall
from modelcontext_core.policies import KeyKind, ToolPolicies, ToolPolicy
from modelcontext_core.sources import HandleSpaces
from modelcontext_core.sqlhandles import decode_sql

# Envelopes that models tend to encode once too often: tool -> (top-level key, what its string may hold).
_WRAPPED: Final[Mapping[str, tuple[str, Callable[[str], str | None]]]] = {
    "web_fetch": ("items", jsontext.unwrap_array),
    "call_mcp_tool": ("arguments", jsontext.unwrap_object),
}
_SPACES_OF: Final[Mapping[KeyKind, tuple[Space, ...]]] = {
    "chunk": ("chunk",),
    "document": ("document",),
    "document_ref": ("document",),
    "knowledge_base": ("knowledge_base",),
    "web": ("web",),
    "known": ("chunk", "document"),
}


def decode_tool_call(call: ToolCall, spaces: HandleSpaces, policies: ToolPolicies) -> ToolCall:
    """`call` with its handles restored; a call that was decoded already is returned as it is."""
    if call.model_arguments:
        return call
    arguments, unresolved = _ArgumentDecoder(call.name, spaces, policies).decode(call.arguments)
    changed = arguments != call.arguments
    resolution = {
        (False, False): "unchanged",
        (True, False): "resolved",
        (True, True): "partially_resolved",
        (False, True): "unresolved",
    }[changed, bool(unresolved)]
    return replace(
        call,
        arguments=arguments,
        model_arguments=call.arguments,
        argument_resolution=resolution,
        unresolved_handles=tuple(sorted(unresolved)),
    )


class _ArgumentDecoder:
    """The arguments of one call of one tool."""

    def __init__(self, name: str, spaces: HandleSpaces, policies: ToolPolicies) -> None:
        self._wrapped = _WRAPPED.get(name)
        self._spaces = spaces
        self._policy = policies.get(name) or ToolPolicy(name=name)
        self._unresolved: set[str] = set()

    def decode(self, arguments: str) -> tuple[str, set[str]]:
        """The decoded JSON text, and the handles in it that could not be restored."""
        policy = self._policy
        declared = policy.id_kinds or policy.issues_decode or policy.routing or self._wrapped
        if not declared and "://" not in arguments and "\\" not in arguments:
            return arguments, self._unresolved
        if not jsontext.is_valid(arguments):
            self._unresolved.update(arguments[token.start : token.end] for token in handle_tokens(arguments))
            return arguments, self._unresolved
        text = self._unwrapped(arguments)
        edits = []
        for string in jsontext.strings(text):
            literal = text[string.start : string.end]
            value = jsontext.unquote(literal) if "\\" in literal else literal[1:-1]
            if string.is_key:
                self._report(value, *handle_tokens(value))
                continue
            decoded = self._value(value, (string.key or "").lower(), string.depth == 1)
            if decoded != value:
                edits.append((string.start, string.end, decoded))
        return jsontext.replace_strings(text, edits) if edits else text, self._unresolved

    def _unwrapped(self, text: str) -> str:
        """`text` with an envelope that was encoded as a string given as what it holds, once."""
        if self._wrapped is None:
            return text
        key, unwrap = self._wrapped
        edits = []
        for string in jsontext.strings(text):
            if string.depth == 1 and not string.is_key and string.key == key:
                inner = unwrap(jsontext.unquote(text[string.start : string.end]))
                if inner is not None:
                    edits.append((string.start, string.end, inner))
        return jsontext.splice(text, edits) if edits else text

    def _value(self, value: str, key: str, top_level: bool) -> str:
        policy = self._policy
        kind = policy.id_kinds.get(key)
        if kind is not None:
            decoded = self._declared(value, kind)
            if decoded is not None:
                return decoded
        elif top_level and key in policy.sql:
            return self._sql(value)
        elif key in policy.issues_decode:
            decoded = self._word(value, ("issue",), "issue")
            if decoded is not None:
                return decoded
        elif top_level and key in policy.routing:
            decoded = self._word(value, ("mcp_server", "mcp_tool"), ROUTING_SPACES[policy.routing[key]])
            if decoded is not None:
                return decoded
        return self._free_text(value)

    def _declared(self, value: str, kind: KeyKind) -> str | None:
        """The value of a declared ID field that is one whole handle, as a bare id; None when it is none, or that of a
        stored reference, which may stand anywhere."""
        head, bar, title = value.partition("|") if kind == "document_ref" else (value, "", "")
        token = whole_handle(head)
        found = (token.space, token.number) if token is not None else whole_legacy_handle(head)
        if found is None or found[0] == "resource":
            return None
        space, number = found
        durable = self._spaces.durable(space, number) if space in _SPACES_OF[kind] else None
        if durable is None:
            self._unresolved.add(head.strip(ASCII_SPACES))
            durable = head
        return durable + bar + self._free_text(title)

    def _word(self, value: str, shapes: tuple[WordSpace, ...], wanted: WordSpace) -> str | None:
        """The value of an issue or routing field that has the shape of such a handle; None when it has not."""
        handle = whole_word_handle(value)
        if handle is None or handle[0] not in shapes:
            return None
        durable = self._spaces.words[wanted].resolve(handle[1])
        if durable is None:
            self._unresolved.add(value.strip(ASCII_SPACES))
            return value
        return durable

    def _sql(self, value: str) -> str:
        restored: set[int] = set()

        def durable(token: HandleToken) -> str | None:
            return self._spaces.durable(token.space, token.number)

        text, places = decode_sql(value, durable)
        restored.update(place.start for place in places)
        self._report(value, *(token for token in handle_tokens(value) if token.start not in restored))
        return text

    def _free_text(self, value: str) -> str:
        if "://" not in value:
            return value
        pieces: list[str] = []
        pos = 0
        for token in handle_tokens(value):
            durable = self._spaces.durable_text(token.space, token.number)
            if durable is None:
                self._report(value, token)
                continue
            if token.space not in ("web", "resource") and READS_ON.match(value, token.end):
                durable = f"<{durable}>"
            pieces += (value[pos : token.start], durable)
            pos = token.end
        return "".join(pieces) + value[pos:] if pieces else value

    def _report(self, text: str, *tokens: HandleToken) -> None:
        self._unresolved.update(text[token.start : token.end] for token in tokens)
