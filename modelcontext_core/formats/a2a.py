"""A2A, the protocol between agents: JSON-RPC whose results are messages, tasks, and updates of both.

A task is sent again and again with all that it holds: a message or artifact with a known id is told once, and an
artifact that comes in pieces is joined.
"""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node

__all__ = ["A2ATeller", "is_a2a"]

_METHODS: Final = ("message/", "tasks/", "SendMessage", "SendStreamingMessage", "GetTask", "agent/")
_KINDS: Final = frozenset({"message", "task", "status-update", "artifact-update"})
_WRAPPED: Final = frozenset({"message", "task", "statusUpdate", "artifactUpdate", "msg"})
_ROLES: Final = {"agent": "assistant", "role_agent": "assistant", "role_user": "user"}


def is_a2a(node: Node) -> bool:
    """True for a request or an answer of A2A."""
    if node.get("method").text.startswith(_METHODS) and node.get("params").is_object:
        return not node.get("method").text.startswith("tasks/") or not node.get("params").has("taskId")
    result = node.get("result")
    if result.get("kind").text in _KINDS:
        return True
    return len(result.value if result.is_object else ()) == 1 and any(
        result.get(key).has_any(frozenset({"parts", "status", "artifact", "taskId"})) for key in _WRAPPED
    )


class A2ATeller:
    """Tells requests and answers in order."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._conversation: ConversationBuilder | None = None
        self._told: set[str] = set()
        # Artifacts in the making: where their turn is, the first text and all pieces.
        self._artifacts: dict[str, tuple[Turn, Node, list[str]]] = {}

    def tell(self, node: Node) -> None:
        """Tell one record."""
        if self._conversation is None:
            self._conversation = self.builder.conversation()
        if node.has("method"):
            message = node.at("params", "message")
            if message.is_object:
                self._message(message)
            return
        if node.get("error").is_object:
            error = node.get("error")
            turn = self._conversation.turn("assistant", node)
            turn.is_error = True
            turn.aside(error.get("message"), "error", error.get("message").text, code=error.get("code").label)
            return
        self._result(node.get("result"))

    def _result(self, result: Node) -> None:
        inner = next((result.get(key) for key in _WRAPPED if result.get(key).is_object), result)
        if inner.get("parts").is_list:
            self._message(inner)
        elif inner.get("artifact").is_object:
            self._artifact(inner.get("artifact"), append=inner.get("append").value is True)
        else:
            for message in inner.get("history"):
                self._message(message)
            for artifact in inner.get("artifacts"):
                self._artifact(artifact, append=False)
            status = inner.get("status")
            if status.get("message").is_object:
                self._message(status.get("message"))
            if status.get("state").text:
                self.builder.meta(f"task_state.{inner.get('taskId', 'id').label}"[:80], status.get("state"))
        for key in ("contextId", "taskId"):
            self.builder.meta(key, inner.get(key))

    def _message(self, message: Node) -> None:
        assert self._conversation is not None
        identity = message.get("messageId", "message_id").label
        if identity and identity in self._told:
            self.builder.notice("merged", message, "a message that is sent again is told once")
            return
        self._told.add(identity)
        role = message.get("role").text
        turn = self._conversation.turn(_ROLES.get(role.lower(), role), message)
        for part in message.get("parts"):
            _tell_part(turn, part)

    def _artifact(self, artifact: Node, *, append: bool) -> None:
        assert self._conversation is not None
        identity = artifact.get("artifactId", "artifact_id").label
        known = self._artifacts.get(identity)
        texts = [part.get("text") for part in artifact.get("parts") if part.get("text").is_text]
        if known is not None and not append:
            self.builder.notice("merged", artifact, "an artifact that is sent again is told once")
            return
        if known is None:
            turn = self._conversation.turn("assistant", artifact)
            turn.aside(artifact, "artifact", artifact.get("description").text, name=artifact.get("name").text)
            known = self._artifacts[identity] = (turn, artifact, [])
        turn, _, pieces = known
        for text in texts:
            self.builder.chunk("text", text.text)
            pieces.append(text.text)
        for part in artifact.get("parts"):
            if not part.get("text").is_text:
                _tell_part(turn, part)

    def finish(self) -> None:
        """Tell the artifacts, now that all of their pieces are here."""
        for turn, node, pieces in self._artifacts.values():
            turn.text(node, "".join(pieces))


def _tell_part(turn: Turn, part: Node) -> None:
    file = part.get("file") if part.get("file").is_object else part
    if part.get("text").is_text:
        turn.text(part.get("text"))
    elif part.get("data").is_object or part.get("data").is_list:
        turn.json(part.get("data"))
    elif file.get("uri", "url", "fileWithUri", "bytes", "raw", "fileWithBytes").is_text:
        url, data = file.get("uri", "url", "fileWithUri").text, file.get("bytes", "raw", "fileWithBytes").text
        media_type = file.get("mimeType", "mediaType").text
        turn.media(part, "file", url=url, data=data, media_type=media_type, name=file.get("name", "filename").text)
    elif part:
        turn.unknown(part, "a part of an unknown kind")
