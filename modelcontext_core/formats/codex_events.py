"""The events of Codex: what the screen showed. Most repeat an item of the conversation, before or after it.

An event that no item near it repeats is told itself. An event about a call whose item was never seen is the call and
its result.
"""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats.building.builder import ConversationBuilder
from modelcontext_core.formats.building.known_texts import sentences_in
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.responses_items import ItemTeller

__all__ = ["EventTeller"]

_SAID: Final = {
    "user_message": "message",
    "agent_message": "message",
    "agent_reasoning": "text",
    "agent_reasoning_raw_content": "text",
}
# An item of the screen, by its type in `item_completed`.
_ITEM_KINDS: Final = {"UserMessage": "user_message", "AgentMessage": "agent_message", "Reasoning": "agent_reasoning"}
_NAMES: Final = {
    "exec_command_end": "shell",
    "CommandExecution": "shell",
    "patch_apply_end": "apply_patch",
    "FileChange": "apply_patch",
    "web_search_end": "web_search",
    "Extension": "web_search",
    "image_generation_end": "image_generation",
    "view_image_tool_call": "view_image",
}
_ARGUMENTS: Final = ("input", "arguments", "command", "action", "changes", "query", "revised_prompt", "path")
_OUTPUTS: Final = ("output", "formatted_output", "aggregated_output", "results", "content_items", "stdout")
_PLUMBING: Final = frozenset(
    {"type", "id", "turn_id", "thread_id", "call_id", "timestamp", "cwd", "status", "rate_limits", "duration"}
)


class EventTeller:
    """Tells events that no item repeats."""

    def __init__(self, conversation: ConversationBuilder, items: ItemTeller) -> None:
        self.conversation = conversation
        self.builder = conversation.builder
        self.items = items
        self._texts: set[int] = set()  # hashes of the texts of items (and of events that were told)
        self._calls: set[str] = set()  # ids of calls that items hold
        self._own_calls: set[str] = set()  # ids of calls that events told
        # Searches have no id in common with their event: what was searched, and the id of the item if there is one.
        self._searches: dict[int, str] = {}

    # -- what is known of the items ------------------------------------------------------------------------------

    def is_new(self, text: str, *, note: bool = True) -> bool:
        """Was this text not told yet? Notes it."""
        mark = hash(text.strip())
        fresh = bool(text.strip()) and mark not in self._texts
        if note:
            self._texts.add(mark)
        return fresh

    def expect(self, item: Node) -> None:
        """Remember what an item says, so that events around it which repeat it are left out."""
        texts = [part.get("text").text for part in [*item.get("content"), *item.get("summary")]]
        for text in [*texts, "".join(texts), "\n\n".join(texts)]:
            self._texts.add(hash(text.strip()))

    def note_item(self, item: Node) -> None:
        """Remember that an item was told: events behind it repeat its call and its texts."""
        if item.get("call_id", "id").label and item.get("type").text.endswith("_call"):
            self._calls.update({item.get("call_id").label, item.get("id").label} - {""})
        if item.get("type").text == "web_search_call":
            self._searches.setdefault(hash(repr(item.get("action").value)), item.get("id").label)
        self.expect(item)

    def was_told(self, item: Node) -> bool:
        """Did an event tell this call, or its result, already?"""
        if item.get("type").text == "web_search_call":
            return self._searches.get(hash(repr(item.get("action").value))) in self._own_calls
        return bool(item.get("call_id").label) and item.get("call_id").label in self._own_calls

    # -- events --------------------------------------------------------------------------------------------------

    def says_something_new(self, payload: Node) -> bool:
        """Is this an event of what somebody said, which was not told and which no item says so far?"""
        item, kind = _item_of(payload)
        return kind in _SAID and any(self.is_new(text.text, note=False) for text in _texts_of(item, _SAID[kind]))

    def tell(self, payload: Node, time: str) -> None:
        """Tell an event, unless it repeats an item."""
        item, kind = _item_of(payload)
        if kind in _SAID:
            for text in _texts_of(item, _SAID[kind]):
                if self.is_new(text.text):
                    self._said(kind, text, time)
                elif text.text:
                    self.builder.notice("merged", text, "an event that repeats an item is told once")
            return
        call_id = item.get("call_id", "callId").label or (item.get("id").label if kind in _NAMES else "")
        if kind == "McpToolCall":
            call_id = item.get("id").label
        if call_id and (item.has_any(frozenset(_ARGUMENTS)) or item.has("invocation")):
            self._call(item, kind, call_id, time)
        else:
            self._other(item, kind, time)

    def _call(self, item: Node, kind: str, call_id: str, time: str) -> None:
        if call_id in self._calls:
            self.builder.notice("merged", item, "an event that repeats a call or its result is left out")
            return
        known = call_id in self._own_calls
        if _NAMES.get(kind) == "web_search":
            searched = hash(repr(item.get("action").value))
            known = known or searched in self._searches
            call_id = self._searches.setdefault(searched, call_id)
        invocation = item.get("invocation") if item.get("invocation").is_object else item
        name = invocation.get("name", "tool").text or _NAMES.get(kind, kind.removesuffix("_end"))
        if not known:
            self._own_calls.add(call_id)
            turn = self.items.turn(item)
            turn.call(item, id=call_id, name=name, arguments=invocation.get(*_ARGUMENTS))
        error, result = item.get("error"), item.get("result")
        failed = item.get("success").value is False or bool(error) or item.get("exit_code").label not in ("", "0")
        failed = failed or result.has("Err") or item.get("status").text == "failed"
        output = result.get("Ok", "Err") if result.is_object and result.get("Ok", "Err").exists else result
        outputs = [output, error, *(item.get(key) for key in _OUTPUTS)]
        found = next((value for value in outputs if value), None)
        if found is None:
            return
        self.items.close()
        told = self.conversation.result(item, call_id=call_id, name=name, is_error=failed, time=time)
        content = found.get("content") if found.get("content").is_list else found
        if content.is_list and all(part.get("text").is_text for part in content):
            for part in content:
                told.text(part.get("text"))
        else:
            told.json(found)
        told.text(item.get("stderr") if item.get("stderr").text != found.text else item.get(""))

    def _other(self, item: Node, kind: str, time: str) -> None:
        """Texts of anything else are asides, each only once."""
        texts = [text for text in sentences_in(item, _PLUMBING) if self.is_new(text.text)]
        if not texts:
            self.builder.notice("skipped", item, "an event without a text of its own")
            return
        self.items.close()
        turn = self.conversation.turn("system", item, time=time)
        turn.is_error = kind in ("error", "stream_error")
        for text in texts:
            turn.aside(text, kind or "event", text.text)

    def _said(self, kind: str, text: Node, time: str) -> None:
        if kind == "user_message":
            self.items.close()
            self.conversation.turn("user", text, time=time).text(text)
        elif kind == "agent_message":
            self.items.turn(text).text(text)
        else:
            self.items.turn(text).reasoning(text)


def _item_of(payload: Node) -> tuple[Node, str]:
    """The item that an event is about, and what kind of event it is."""
    kind = payload.get("type").text
    item = payload.get("item") if kind == "item_completed" else payload
    return item, _ITEM_KINDS.get(item.get("type").text, item.get("type").text)


def _texts_of(item: Node, key: str) -> list[Node]:
    """The texts that somebody said in an event."""
    found = [item.get(key)] if item.get(key).is_text else []
    parts = [*item.get("content"), *item.get("summary_text"), *item.get("raw_content")]
    return [*found, *(part if part.is_text else part.get("text") for part in parts)]
