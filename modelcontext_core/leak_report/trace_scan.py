"""The leaks of one trace: what stands in its messages and tool definitions after they were encoded under a pack.

`find_occurrences` is pure, and the one function that everything else here is made of: the report counts what it finds,
suggestions compare what it finds under two packs, and worker processes and clusters run it on other traces.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from modelcontext_core.detectors import DEFAULT_DETECTORS, Detectors, Hit, PatternTime, find_hits, normalised
from modelcontext_core.formats.base import Trace
from modelcontext_core.handles import link_regions
from modelcontext_core.leak_report.encoded import EncodedConversation, changed_texts, continued
from modelcontext_core.leak_report.places import fingerprint, masked, places, short_hash, shortened
from modelcontext_core.messages import Message, Tool
from modelcontext_core.policies import ToolPolicies

__all__ = [
    "CutShort",
    "Leaks",
    "Occurrence",
    "RowKey",
    "count_leaks",
    "find_occurrences",
    "position_of",
]

SCHEMA_ROLE: Final = "tools"
"""The role of what stands in tool definitions, which belong to no message."""


_new = tuple.__new__  # what the constructor of a named tuple does, without its call in between


class RowKey(NamedTuple):
    """What the leaks of one row have in common. `tool` is empty where a role itself is the producer."""

    role: str
    tool: str
    field: str
    kind: str
    registered: bool
    reason: str
    place: str

    @property
    def producer(self) -> str:
        """The tool, else the role."""
        return self.tool or self.role

    @property
    def counts(self) -> bool:
        """Whether these are leaks; what the user typed is left alone on purpose."""
        return self.reason != "user_text"

    @property
    def fingerprint(self) -> str:
        """Names the row in a baseline and in SARIF."""
        return fingerprint(self.producer, self.field, self.place, self.kind, registered=self.registered)


class Occurrence(NamedTuple):
    """One identifier that the model sees. (A named tuple: a scan makes millions.)

    `trace` and `conversation` say where to open it, `message` is its position (-1: a tool definition), `path` the text
    in it, `[start, end)` characters of the *encoded* text. `json_path` is where it stands in that text when it is JSON,
    `place` the same without positions (or a label). `reason` says why the codec had no place to rewrite it, "" when it
    had. `shown` is the shortened value, `value` the whole one: empty unless asked for.
    """

    trace: str
    conversation: int
    message: int
    role: str
    tool: str
    field: str
    path: str
    start: int
    end: int
    json_path: str
    place: str
    kind: str
    registered: bool
    reason: str
    shown: str
    identity: str
    value: str = ""

    @property
    def row(self) -> RowKey:
        """What it has in common with others: where a report counts it."""
        return RowKey(self.role, self.tool, self.field, self.kind, self.registered, self.reason, self.place)


Leaks = Counter[tuple[int, int, str]]
"""How many leaks there are, by conversation, message (-1: tool definitions) and producer."""


class CutShort(NamedTuple):
    """A message in which the user's patterns ran out of time: what they would have found there is not known."""

    conversation: int
    message: int


class _Text(NamedTuple):
    path: str
    text: str
    role: str
    tool: str
    field: str
    reason: str


def find_occurrences(
    encoded: EncodedConversation,
    detectors: Detectors = DEFAULT_DETECTORS,
    *,
    name: str = "",
    cut_short: Callable[[CutShort], None] = lambda _where: None,
    values: bool = False,
) -> Iterator[Occurrence]:
    """Every identifier in an encoded conversation, in the order of the text; those of tool definitions come first.

    `name` is the trace's. `cut_short` is told of messages in which the user's patterns ran out of time.
    """
    scan = _Scan(encoded, name, values)
    for index, texts in _texts(encoded.tools, encoded.messages[encoded.first :], encoded.pack):
        time = PatternTime()
        for each in texts:
            hits = find_hits(each.text, detectors, encoded.pack.uri_scheme, time)
            if hits:
                yield from scan.occurrences(index, each, hits)
        if time.spent:
            cut_short(CutShort(encoded.number, index))


def count_leaks(trace: Trace, pack: ToolPolicies, detectors: Detectors = DEFAULT_DETECTORS) -> Leaks:
    """How many leaks each producer has in each message: what `find_occurrences` finds in the `encoded_conversations`,
    only counted, which needs neither places nor messages but the texts alone."""
    found: Leaks = Counter()
    for number, (before, conversation) in enumerate(continued(trace)):
        tools, changed = changed_texts(conversation, before, pack)
        for index, texts in _texts(tools, conversation.messages, pack):
            written = changed.get(index + len(before.messages), {}) if index >= 0 else {}
            time = PatternTime()
            for each in texts:
                if each.reason != "user_text":
                    text = written.get(each.path, each.text)
                    hits = len(find_hits(text, detectors, pack.uri_scheme, time))
                    if hits:
                        found[number, index, masked(each.tool) or each.role] += hits
    return found


class _Scan:
    """What one scan remembers: the ids that the registry knows, looked up when there is a first finding."""

    def __init__(self, encoded: EncodedConversation, name: str, values: bool) -> None:
        self._encoded = encoded
        self._name = name
        self._values = values
        self._known: frozenset[str] | None = None

    def occurrences(self, index: int, each: _Text, hits: Sequence[Hit]) -> Iterator[Occurrence]:
        """The findings of one text. There are millions in a large scan: what they share is made once."""
        links = link_regions(each.text, scheme_handles=True) if "://" in each.text else []
        links.reverse()
        known, text, reason = self._known_ids(), each.text, each.reason
        shared = (self._name, self._encoded.number, index, each.role, masked(each.tool), each.field, each.path)
        for (start, end, kind), (json_path, place) in zip(hits, places(text, hits), strict=True):
            while links and links[-1][1] <= start:
                links.pop()
            in_link = bool(links) and kind.startswith("uuid") and links[-1][0] < start
            value = text[start:end]
            same = normalised(value, kind)
            where = (*shared, start, end, json_path, place, kind, same.lower() in known)
            why = reason or ("inside_url" if in_link else "")
            named = (shortened(same), short_hash(kind, same), value if self._values else "")
            yield _new(Occurrence, (*where, why, *named))

    def _known_ids(self) -> frozenset[str]:
        if self._known is None:
            self._known = frozenset(row.durable.lower() for row in self._encoded.registry.handles())
        return self._known


def _texts(tools: Sequence[Tool], messages: Sequence[Message], pack: ToolPolicies) -> Iterator[tuple[int, list[_Text]]]:
    """The texts of tool definitions (-1) and of each message of a conversation, by its position there."""
    if tools:
        yield -1, [text for number, tool in enumerate(tools) for text in _tool_texts(number, tool)]
    for index, message in enumerate(messages):
        yield index, list(_message_texts(message, pack))


def _tool_texts(number: int, tool: Tool) -> Iterator[_Text]:
    yield _Text(f"tools[{number}].description", tool.description, SCHEMA_ROLE, tool.name, "schema", "")
    if tool.parameters:
        written = json.dumps(tool.parameters, ensure_ascii=False, default=str)
        yield _Text(f"tools[{number}].parameters", written, SCHEMA_ROLE, tool.name, "schema", "")


def _message_texts(message: Message, pack: ToolPolicies) -> Iterator[_Text]:
    role = message.role
    tool = message.name if role == "tool" else ""
    reason = "user_text" if role == "user" else "opaque" if role == "tool" and _is_opaque(tool, pack) else ""
    if message.content:
        yield _Text("content", message.content, role, tool, "content", reason)
    if message.reasoning:
        signed = "signed" if message.reasoning_signature else ""
        yield _Text("reasoning", message.reasoning, role, tool, "reasoning", reason or signed)
    for k, part in enumerate(message.parts):
        if part.type == "text" and part.text:
            yield _Text(f"parts[{k}].text", part.text, role, tool, "parts", reason)
    for k, call in enumerate(message.tool_calls):
        yield _Text(f"tool_calls[{k}].arguments", call.arguments, role, call.name, "arguments", "")


def _is_opaque(tool_name: str, pack: ToolPolicies) -> bool:
    policy = pack.get(tool_name)
    return policy is None or policy.output in ("opaque", "directory")


_POSITION_OF_ROLE: Final = {"system": "system", "developer": "system", "user": "user", "tool": "results"}


def position_of(role: str, field: str) -> str:
    """The row of the coverage map that a text counts in."""
    if field in ("reasoning", "arguments"):
        return field
    return "tool_schemas" if field == "schema" else _POSITION_OF_ROLE.get(role, "assistant")
