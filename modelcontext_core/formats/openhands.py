"""Runs of OpenHands: events that are actions or observations, linked by `cause`; and the events of its newer SDK.

The model's own message stands in `tool_call_metadata.model_response`, again in every event of that response: it is told
once. What the screen said of an event (`message`) stands beside it as a caption, and what an edit changed as a diff.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.openai_messages import tell_content, tell_message, tell_tools
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_LISTS: Final = ("history", "trajectory", "events")
_SDK_KINDS: Final = frozenset(
    {"SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent", "UserRejectObservation"}
)
_READ_KEYS: Final = frozenset({*_LISTS, "instance_id", "instruction", "test_result"})


def detect(sample: Sample) -> bool:
    """A record whose history holds actions and observations, a list of such events, or events as lines."""
    return sample.container != "text" and any(_events(node) is not None for node in sample.nodes[:5])


def _is_event(node: Node) -> bool:
    if node.get("kind").text in _SDK_KINDS:
        return node.has("source")
    kind = node.get("action", "observation")
    return kind.is_text and node.get("source").is_text and (node.has("args") or node.has("content"))


def _events(node: Node) -> Node | None:
    """The list of events, or the one event."""
    for candidate in (node, *(node.get(key) for key in _LISTS)):
        if candidate.is_list and any(_is_event(_one(event)) for event in list(candidate)[:5]):
            return candidate
    return node if _is_event(node) else None


def _one(node: Node) -> Node:
    """The first event of a pair of action and observation, as an old form has them."""
    return node.at(0) if node.is_list else node


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation a run; events that are a record each are one conversation."""
    shared: _Run | None = None
    for node in nodes:
        events = _events(node)
        if events is None:
            builder.notice("unknown", node, "a record without events is skipped")
        elif events.is_object:
            shared = shared or _Run(builder.conversation())
            shared.tell(events)
        else:
            run = _Run(builder.conversation(id=node.get("instance_id").label))
            for event in events:
                for one in event if event.is_list else [event]:
                    run.tell(one)
            run.finish(node)
            builder.rest(node, _READ_KEYS)


class _Run:
    """One conversation and what later events refer to."""

    def __init__(self, conversation: ConversationBuilder) -> None:
        self.conversation = conversation
        self.builder = conversation.builder
        self.responses: dict[str, Turn | None] = {}
        self.calls: dict[str, str] = {}  # the call that an action made, by the action's id
        self.first_user = ""

    def tell(self, event: Node) -> None:
        """Tell one event."""
        if event.get("kind").text in _SDK_KINDS:
            self._tell_sdk(event)
        elif event.get("observation").text:
            self._observation(event)
        elif event.get("action").text:
            self._action(event)
        else:
            self.builder.notice("unknown", event, "an event that is neither action nor observation is skipped")

    def _action(self, event: Node) -> None:
        action, args = event.get("action").text, event.get("args")
        time, about = event.get("timestamp").label, event.get("tool_call_metadata")
        if action == "system":
            self.conversation.turn("system", event, time=time).text(args.get("content"))
            tell_tools(self.conversation, args)
        elif action == "message":
            role = "user" if event.get("source").text == "user" else "assistant"
            turn = self.conversation.turn(role, event, time=time)
            turn.text(args.get("content"))
            self.first_user = self.first_user or (args.get("content").text if role == "user" else "")
            for url in args.get("image_urls"):
                turn.media(url, "image", url=url.text)
        elif action in ("recall", "change_agent_state", "null"):
            self.builder.notice("skipped", event, "an action of the program itself")
        elif about.get("model_response").is_object:
            self._response(event, about, time)
        else:
            turn = self.conversation.turn("assistant", event, time=time)
            turn.text(args.get("thought"))
            call_id = about.get("tool_call_id").label or f"action-{event.get('id').label}"
            name = about.get("function_name").text or action
            turn.call(event, id=call_id, name=name, arguments=args)
            _caption(turn, event)
            self.calls[event.get("id").label] = call_id

    def _response(self, event: Node, about: Node, time: str) -> None:
        """The model's message, once for all actions that came of it."""
        response = about.get("model_response")
        self.calls[event.get("id").label] = about.get("tool_call_id").label
        identity = response.get("id").label or response.path
        earlier = self.responses.get(identity)
        if earlier is not None:
            self.builder.notice("merged", event, "an action of a response that was told already")
            _caption(earlier, event)
            return
        message = response.get("choices").at(0).get("message")
        turn = self.responses[identity] = tell_message(self.conversation, message, role="assistant")
        turn.time = time
        _caption(turn, event)
        self.builder.meta("model", response.get("model"))

    def _observation(self, event: Node) -> None:
        content, extras = event.get("content"), event.get("extras")
        time, about = event.get("timestamp").label, event.get("tool_call_metadata")
        kind = event.get("observation").text
        if kind in ("agent_state_changed", "null"):
            self.builder.notice("skipped", event, "an observation of the program itself")
            return
        if kind == "recall":
            turn = self.conversation.turn("system", event, time=time)
            turn.text(content)
            for text in _recalled(extras):
                turn.aside(text, kind, text.text)
            return
        call_id = about.get("tool_call_id").label or self.calls.get(event.get("cause").label, "")
        failed = kind == "error" or extras.at("metadata", "exit_code").label not in ("", "0")
        if call_id:
            name = about.get("function_name").text
            turn = self.conversation.result(event, call_id=call_id, name=name, is_error=failed, time=time)
        else:
            turn = self.conversation.turn("user", event, name="environment", time=time)
            turn.is_error = failed
        # What the model read is the output between these two.
        before, behind = extras.at("metadata", "prefix").text, extras.at("metadata", "suffix").text
        turn.text(content, f"{before}{content.text}{behind}")
        for url in extras.get("image_urls"):
            turn.media(url, "image", url=url.text)
        _caption(turn, event)
        diff = extras.get("diff")
        if diff.text and diff.text not in content.text:
            turn.aside(diff, "diff", diff.text)
        for key in ("old_content", "new_content"):
            if extras.get(key).text:
                self.builder.notice("skipped", extras.get(key), "the contents of an edited file, kept for the screen")

    # -- events of the newer SDK ---------------------------------------------------------------------------------

    def _tell_sdk(self, event: Node) -> None:
        kind, time = event.get("kind").text, event.get("timestamp").label
        if kind == "SystemPromptEvent":
            _tell_text(self.conversation.turn("system", event, time=time), event.get("system_prompt"))
            tell_tools(self.conversation, event)
        elif kind == "MessageEvent":
            message = event.get("llm_message")
            turn = self.conversation.turn(message.get("role").text, event, time=time)
            turn.reasoning(message.get("reasoning_content"))
            tell_content(turn, message.get("content"))
            for content in event.get("extended_content"):
                _tell_text(turn, content)
        elif kind == "ActionEvent":
            self._sdk_action(event, time)
        else:
            failed = kind != "ObservationEvent" or event.at("observation", "is_error").value is True
            call_id, name = event.get("tool_call_id").label, event.get("tool_name").text
            turn = self.conversation.result(event, call_id=call_id, name=name, is_error=failed, time=time)
            observation = event.get("observation")
            content = observation.get("content", "output")
            if content.exists:
                tell_content(turn, content)
            else:
                turn.json(observation)
            turn.text(event.get("error", "rejection_reason"))

    def _sdk_action(self, event: Node, time: str) -> None:
        response = event.get("llm_response_id").label
        turn = self.conversation.turn("assistant", event, time=time)
        if not response or response not in self.responses:
            turn.reasoning(event.get("reasoning_content"))
            for thought in event.get("thought"):
                _tell_text(turn, thought)
        self.responses[response] = None
        call = event.get("tool_call")
        arguments = call.get("arguments", "function").get("arguments") if call.get("function").is_object else ""
        arguments = arguments or (call.get("arguments") if call.get("arguments").exists else event.get("action"))
        name = event.get("tool_name").text or call.get("name").text
        turn.call(event, id=event.get("tool_call_id").label, name=name, arguments=arguments)

    def finish(self, node: Node) -> None:
        """Tell the record's instruction when no message of a user holds it."""
        instruction = node.get("instruction")
        if instruction.text.strip() and instruction.text.strip() not in self.first_user:
            turn = self.conversation.turn("system", instruction)
            turn.aside(instruction, "instruction", instruction.text)
        patch = node.at("test_result", "git_patch")
        if patch.text:
            self.conversation.turn("system", patch).aside(patch, "git_patch", patch.text)
        if node.get("error").text:
            turn = self.conversation.turn("system", node.get("error"))
            turn.is_error = True
            turn.aside(node.get("error"), "error", node.get("error").text)


def _caption(turn: Turn, event: Node) -> None:
    """What the screen said of an event, unless it is the text itself."""
    caption = event.get("message")
    said = (event.get("content").text, event.at("args", "content").text, event.at("args", "thought").text)
    if caption.text and caption.text not in said:
        turn.aside(caption, "caption", caption.text)


def _tell_text(turn: Turn, node: Node) -> None:
    turn.text(node if node.is_text else node.get("text"))


def _recalled(extras: Node) -> list[Node]:
    """What the program put into the context."""
    keys = ("repo_instructions", "additional_agent_instructions", "conversation_instructions")
    knowledge = [item.get("content") for item in extras.get("microagent_knowledge")]
    return [node for node in [*(extras.get(key) for key in keys), *knowledge] if node.text]


READER = Reader(
    name="openhands",
    title="OpenHands run",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"tool_call_metadata", "observation", "extras"}),
)
