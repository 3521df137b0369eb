"""Encoding: messages as the application holds them become messages as the model sees them.

The steps run one after the other over *all* texts, because numbers follow the order of the text and a later step must
see what an earlier one wrote:

1. handles that stand there already keep their numbers; stored references and durable URIs become handles
2. tool-private identities: wiki issues, routing ids
3. canonical citations of history become references
4. identities are registered from declared fields and labels, everything before any replacement
5. known identities are replaced

Explained in `docs/concepts/lifecycle.md`; which fields and labels count: `docs/policies.md`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from modelcontext_core import jsontext, resources
from modelcontext_core.citations import compact_citations
from modelcontext_core.grammar import CITATION_TAG, handle_spans, handle_tokens, is_free_text_id, may_be_mined
from modelcontext_core.handles import Place, link_regions, replace_places
from modelcontext_core.labels import (
    Label,
    find_labels,
    find_mined,
    label_order,
    looks_like_json,
    tag_reference,
)
from modelcontext_core.mcp import (
    ROUTING_SPACES,
    compact_directory,
    compact_server_labels,
    encode_directory,
    routing_handle,
)
from modelcontext_core.message_texts import (
    CallArguments,
    MessageText,
    declared_label,
    is_source,
    is_sql,
    issue_strings,
    with_texts,
)
from modelcontext_core.messages import Message, ToolCall
from modelcontext_core.policies import ToolPolicies, ToolPolicy
from modelcontext_core.rewriting import (
    Replacement,
    Rewriting,
    StringRewriting,
    arguments_replacements,
    arguments_text,
)
from modelcontext_core.sources import HandleSpaces, Origin
from modelcontext_core.sqlhandles import encode_sql


class _LabelPlaces(NamedTuple):
    """The labels of one text: places whose handle is settled, and labels whose value may become known later."""

    settled: list[Place]
    open: list[Label]


class Encoder:
    """One run of `encode_messages`: the messages, and their texts in the order of the text."""

    def __init__(
        self,
        messages: Sequence[Message],
        spaces: HandleSpaces,
        policies: ToolPolicies,
        *,
        citable: bool = False,
        tool_policy: ToolPolicy | None = None,
    ) -> None:
        """`citable` makes labelled sources citable (a fresh result, not a replayed one); `tool_policy` stands for
        the policy of tools that have no name."""
        self._citable = citable
        self._tool_policy = tool_policy
        self._messages = messages
        self._spaces = spaces
        self._policies = policies
        self._items: list[MessageText | CallArguments] = []
        self._labels: dict[int, _LabelPlaces] = {}
        for index, message in enumerate(messages):
            self._collect(index, message)

    # -------------------------------------------------------------------------------------------------- the texts

    def _collect(self, index: int, message: Message) -> None:
        policy = (self._policies.get(message.name) or self._tool_policy) if message.role == "tool" else None
        texts = [("content", message.content)]
        if not message.reasoning_signature:
            texts.append(("reasoning", message.reasoning))
        texts += [(f"parts[{k}].text", part.text) for k, part in enumerate(message.parts) if part.type == "text"]
        self._items += [MessageText(index, message.role, policy, Rewriting(text, path)) for path, text in texts if text]
        for k, call in enumerate(message.tool_calls):
            self._items.append(self._arguments(index, f"tool_calls[{k}].arguments", call))
        if message.reasoning_signature:
            self._reserve(message.reasoning)

    def _arguments(self, index: int, path: str, call: ToolCall) -> CallArguments:
        policy, raw = self._policies.get(call.name), call.arguments
        declared = policy is not None and (policy.ids or policy.sql or policy.routing or policy.issues_decode)
        strings: list[StringRewriting] = []
        if declared or "://" in raw or "summary/" in raw or "\\" in raw:
            if not jsontext.is_valid(raw):
                self._reserve(raw)
            else:
                for string in jsontext.strings(raw):
                    if string.is_key:
                        self._reserve(string.key or "")
                    else:
                        strings.append(StringRewriting(raw, string, path))
        return CallArguments(index, path, policy, raw, strings)

    def _reserve(self, text: str) -> None:
        for token in handle_tokens(text):
            self._spaces.reserve(token)

    # --------------------------------------------------------------------------------------------------- the steps

    def run(self) -> None:
        """All steps, in their order. The results are read off with `messages` and `replacements`."""
        self._durable_texts()
        self._private_identities()
        self._citations()
        self._register()
        self._replace()
        self._spaces.origin = Origin()

    def _at(self, item: MessageText | CallArguments, path: str) -> None:
        self._spaces.origin = Origin(item.message, path)

    def _durable_texts(self) -> None:
        scheme, spaces = self._spaces.uri_scheme, self._spaces
        work: list[tuple[MessageText | CallArguments, Rewriting, resources.Found, bool]] = []
        for item in self._items:
            rewritings = [item.rewriting] if isinstance(item, MessageText) else item.strings
            for rewriting in rewritings:
                found = resources.find(rewriting.text, scheme)
                if not found:
                    continue
                assert found is not None
                for token in found.handles:
                    spaces.reserve(token)
                work.append((item, rewriting, found, not is_sql(item, rewriting)))
        for item, rewriting, found, uris in work:
            if found.references or found.uris:
                self._at(item, rewriting.path)
                rewriting.apply(resources.replace_found(rewriting.text, found, spaces, uris=uris))

    def _private_identities(self) -> None:
        for item in self._items:
            if isinstance(item, CallArguments):
                self._route(item)
            elif item.policy is not None and item.policy.output == "directory":
                self._at(item, item.rewriting.path)
                item.rewriting.apply(encode_directory(item.rewriting.text, self._spaces))
            elif item.policy is not None and item.policy.issues_register:
                self._at(item, item.rewriting.path)
                for string in issue_strings(item):
                    self._issue(jsontext.unquote(item.rewriting.text[string.start : string.end]))
        for item in self._items:
            if isinstance(item, MessageText):
                if item.policy is not None and item.policy.issues_compact:
                    self._compact_issues(item)
                elif item.policy is not None and item.policy.output == "directory":
                    item.rewriting.apply(compact_directory(item.rewriting.text, self._spaces))
                elif item.role in ("system", "user"):
                    item.rewriting.apply(compact_server_labels(item.rewriting.text, self._spaces))

    def _route(self, item: CallArguments) -> None:
        if item.policy is None or not item.policy.routing:
            return
        self._at(item, item.path)
        for rewriting in item.strings:
            string = rewriting.string
            kind = item.policy.routing.get((string.key or "").lower()) if string.depth == 1 else None
            if kind is not None:
                handle = routing_handle(self._spaces, ROUTING_SPACES[kind], rewriting.text)
                _write_whole(rewriting, handle)

    def _issue(self, value: str) -> str | None:
        value = value.strip()
        known = self._spaces.words["issue"].handle(value)
        return known or (self._spaces.register_word("issue", value) if may_be_mined(value) else None)

    def _compact_issues(self, item: MessageText) -> None:
        text, table = item.rewriting.text, self._spaces.words["issue"]
        if not table:
            return
        places = [place for place in table.places(text) if is_free_text_id(text[place.start : place.end])]
        for string in issue_strings(item):
            handle = table.handle(jsontext.unquote(text[string.start : string.end]))
            if handle is not None:
                places.append(Place(string.start + 1, string.end - 1, handle))
        keep, closed = table.tokens(text) + handle_spans(text), link_regions(text, scheme_handles=True)
        item.rewriting.apply(replace_places(text, places, keep, closed))

    def _citations(self) -> None:
        for item in self._items:
            if isinstance(item, MessageText) and (item.role == "assistant" or is_source(item)):
                text = item.rewriting.text
                tags = list(CITATION_TAG.finditer(text))
                if tags:
                    self._at(item, item.rewriting.path)
                    in_json = item.role != "assistant" and looks_like_json(text)
                    compacted = item.policy is not None and item.policy.issues_compact
                    item.rewriting.apply(
                        compact_citations(text, tags, self._spaces, in_json=in_json, issues_compacted=compacted)
                    )

    def _register(self) -> None:
        keys = self._policies.keys
        for item in self._items:
            if isinstance(item, CallArguments):
                self._at(item, item.path)
                for rewriting in item.strings:
                    label = declared_label(item.policy, rewriting)
                    if label is not None:
                        self._mine(label)
            elif is_source(item) or (item.policy is not None and item.policy.mine):
                assert item.policy is not None
                self._at(item, item.rewriting.path)
                text = item.rewriting.text
                labels = find_labels(text, keys, is_json=looks_like_json(text)) if is_source(item) else []
                if item.policy.issues_compact:
                    labels = [label for label in labels if not self._is_altered(label)]
                mined = self._unlabelled(labels, find_mined(text, item.policy)) if item.policy.mine else []
                self._labels[id(item.rewriting)] = self._register_labels(text, labels, mined)

    def _register_labels(self, text: str, labels: Sequence[Label], mined: Sequence[Label]) -> _LabelPlaces:
        """Registers labels and mined places by position. What is known then keeps its number, so its place is settled,
        unless the handle could not be read there (`_<uuid>`); a value that only a later text makes known waits."""
        settled, open_labels = [], []
        for label in sorted([*labels, *mined], key=label_order) if mined else labels:
            handle = self._mine(label)
            if handle is None or not label.mine:
                open_labels.append(label)
            elif text[label.start - 1 : label.start] != "_" and text[label.end : label.end + 1] != "_":
                settled.append(Place(label.start, label.end, handle))
        return _LabelPlaces(settled, open_labels)

    def _is_altered(self, label: Label) -> bool:
        """Whether a value is no identity any more, since the id of an issue was replaced in it.

        Known or not: an identity that looks like what is left would be restored in the place of the issue's.
        """
        return bool(self._spaces.words["issue"].tokens(label.value))

    def _unlabelled(self, labels: Sequence[Label], mined: Sequence[Label]) -> list[Label]:
        """The mined places that do not stand inside a label that names an identity: there it has its name already."""
        naming = [label for label in labels if label.mine and self._names(label)]
        starts = [label.start for label in naming]
        free = []
        for label in mined:
            before = bisect_right(starts, label.start) - 1
            if before < 0 or naming[before].end <= label.start:
                free.append(label)
        return free

    def _names(self, label: Label) -> bool:
        return may_be_mined(label.value) or self._spaces.find(label.space, label.value) is not None

    def _mine(self, label: Label) -> str | None:
        """The handle of a label's identity, registered when it may be taken from text; None when it is not known."""
        spaces, space = self._spaces, label.space
        known = spaces.find(space, label.value)
        if known is None:
            if not (label.mine and may_be_mined(label.value)):
                return None
        elif not self._citable and (label.tag is None or spaces.has_metadata(known[0])):
            return known[1]  # nothing that a replayed label could add
        if space == "chunk":
            reference = tag_reference(label.value, label.tag, spaces.restored, spaces.named_in_text)
            return spaces.register_chunk(reference, citable=self._citable)
        if space == "document":
            return spaces.register_document(label.value)
        if space == "knowledge_base":
            return spaces.register_knowledge_base(label.value)
        return spaces.register_web(label.value, citable=self._citable)

    def _replace(self) -> None:
        for item in self._items:
            if isinstance(item, CallArguments):
                self._replace_in_arguments(item)
            elif item.policy is not None and item.policy.output in ("source", "compact"):
                text = item.rewriting.text
                places, keep = self._spaces.known_places(text)
                if item.policy.issues_compact:
                    places = self._beside_issues(text, places)
                labels = self._labels.get(id(item.rewriting))
                if labels is not None:
                    places, keep = self._with_labels(labels, places, keep)
                if places:
                    item.rewriting.apply(replace_places(text, places, keep))

    def _beside_issues(self, text: str, places: Sequence[Place]) -> list[Place]:
        """The places in which no handle of an issue stands."""
        starts = [start for start, _ in self._spaces.words["issue"].tokens(text)]
        return [place for place in places if bisect_left(starts, place.start) == bisect_left(starts, place.end)]

    def _with_labels(
        self, labels: _LabelPlaces, places: list[Place], keep: list[tuple[int, int]]
    ) -> tuple[list[Place], list[tuple[int, int]]]:
        """Places and kept spans of a text, those of its labels first: a labelled value takes the label's space."""
        labelled = labels.settled
        for label in labels.open:
            handle = self._handle_of(label)
            if handle is not None:
                labelled.append(Place(label.start, label.end, handle))
        if not labelled:
            return places, keep
        taken = {place.start for place in labelled}
        free = [place for place in places if place.start not in taken]
        return free + labelled, [span for span in keep if span[0] not in taken]

    def _handle_of(self, label: Label) -> str | None:
        handle = self._spaces.handle_of(label.space, label.value)
        return handle if label.mine else self._spaces.handle_of("chunk", label.value) or handle

    def _replace_in_arguments(self, item: CallArguments) -> None:
        policy = item.policy
        if policy is None:
            return
        for rewriting in item.strings:
            string = rewriting.string
            key = (string.key or "").lower()
            label = declared_label(policy, rewriting)
            if label is not None:
                handle = self._handle_of(label)
                if handle is not None and label.end == len(rewriting.text):
                    _write_whole(rewriting, handle)
                elif handle is not None:
                    rewriting.apply(replace_places(rewriting.text, [Place(0, label.end, handle)]))
            elif is_sql(item, rewriting):
                rewriting.apply(encode_sql(rewriting.text, self._spaces))
            elif key in policy.issues_decode:
                _write_whole(rewriting, self._spaces.words["issue"].handle(rewriting.text))

    # --------------------------------------------------------------------------------------------------- the results

    def messages(self) -> list[Message]:
        """The encoded messages; a message in which nothing changed is the one that was given."""
        changes = self.changed_texts()
        return [
            with_texts(message, changes[index]) if index in changes else message
            for index, message in enumerate(self._messages)
        ]

    def changed_texts(self) -> dict[int, dict[str, str]]:
        """The texts in which something changed, by the position of their message and their path in it."""
        changes: dict[int, dict[str, str]] = {}
        for item in self._items:
            if isinstance(item, MessageText):
                if item.rewriting.layers:
                    changes.setdefault(item.message, {})[item.rewriting.path] = item.rewriting.text
            elif (text := arguments_text(item.raw, item.strings)) is not item.raw:
                changes.setdefault(item.message, {})[item.path] = text
        return changes

    def replacements(self) -> list[tuple[int, str, list[Replacement]]]:
        """`(message, path, replacements)` of every text in which something was replaced, in the order of the text."""
        result = []
        for item in self._items:
            if isinstance(item, MessageText):
                found, path = item.rewriting.replacements(), item.rewriting.path
            else:
                found, path = arguments_replacements(item.strings), item.path
            if found:
                result.append((item.message, path, found))
        return result


def _write_whole(rewriting: StringRewriting, handle: str | None) -> None:
    if handle is not None and handle != rewriting.text:
        rewriting.apply((handle, [Place(0, len(rewriting.text), handle)]))
