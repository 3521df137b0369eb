"""Session logs of Claude Code: lines that form a tree, with subagents beside the main conversation.

- The lines of one assistant message (the same `message.id`, a block each) are one turn.
- A prompt or an answer whose parent has been answered already begins a branch: the user went back.
- Sidechains (`isSidechain`, or an `agentId`) are conversations of their own, whose parent is the main one.
- What is neither a user's nor the model's word (hooks, attachments, snapshots) is an aside of role `system` if it has a
  text, else a notice. `toolUseResult` repeats the result for the screen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from modelcontext_core.formats.anthropic_messages import tell_content
from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.known_texts import sentences_in
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Reader, Sample

__all__ = ["READER"]

_SPOKEN: Final = frozenset({"user", "assistant"})
_SIGNS: Final = frozenset({"parentUuid", "sessionId", "isSidechain", "leafUuid"})
# Types that only this log has; they may stand before the first message.
_OWN_TYPES: Final = frozenset(
    {"file-history-snapshot", "queue-operation", "permission-mode", "custom-title", "ai-title"}
)
_META: Final = ("sessionId", "version", "cwd", "gitBranch", "entrypoint")
_TITLES: Final = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
# Keys that hold no text for people, on lines that are told as asides.
_PLUMBING: Final = frozenset(
    {
        "uuid",
        "parentUuid",
        "logicalParentUuid",
        "timestamp",
        "type",
        "subtype",
        "sessionId",
        "session_id",
        "version",
        "cwd",
        "gitBranch",
        "userType",
        "entrypoint",
        "slug",
        "requestId",
        "toolUseID",
        "parentToolUseID",
        "level",
        "leafUuid",
        "sessionKind",
        "agentId",
    }
)


def detect(sample: Sample) -> bool:
    """Lines of users and assistants with the log's ids, or the web form `{loglines: […]}`."""
    if sample.container == "text":
        return False
    if sample.container == "json" and sample.first.get("loglines").is_list:
        return True
    return any(_is_line(node) for node in sample.nodes[:10])


def _is_line(node: Node) -> bool:
    kind = node.get("type").text
    if kind in _OWN_TYPES:
        return True
    if kind == "summary":
        return node.has("summary") and node.has("leafUuid")
    if kind not in _SPOKEN and kind != "system":
        return False
    return node.has("uuid") and node.has_any(_SIGNS) and (kind == "system" or node.has("message"))


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """The main conversation, branches where the user went back, and one for each subagent."""
    log = _Log(builder)
    for node in nodes:
        for line in node.get("loglines") if node.get("loglines").is_list else [node]:
            log.tell(line)
    log.finish()


class _Thread:
    """A conversation that grows: the main one, a branch, or a subagent's."""

    def __init__(self, conversation: ConversationBuilder, agent: str) -> None:
        self.conversation = conversation
        self.agent = agent
        self.messages: dict[str, Turn] = {}  # assistant messages that may get another line, by message id


class _Place:
    """Where a line was told: its thread and the number of turns after it; has it been answered?"""

    __slots__ = ("answered_by", "fingerprint", "thread", "turns")

    def __init__(self, thread: _Thread, fingerprint: int) -> None:
        self.thread = thread
        self.turns = thread.conversation.turns
        self.answered_by: str | None = None
        self.fingerprint = fingerprint


class _Log:
    """All lines told so far."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.places: dict[str, _Place] = {}
        self.main: _Thread | None = None  # of the session that was spoken in last
        self.sessions: dict[str, _Thread] = {}
        self.agents: dict[str, _Thread] = {}
        self.title = ""
        self.branches = 0

    def tell(self, line: Node) -> None:
        """Tell one line."""
        kind = line.get("type").text
        if not line.is_object or not (kind or line.get("message").is_object):
            self.builder.notice("unknown", line, "a line that is no record of the log is skipped")
            return
        for key in _META:
            self.builder.meta(key, line.get(key))
        if kind in _SPOKEN or (not kind and line.get("message").has("role")):
            self._spoken(line, kind or line.at("message", "role").text)
        elif kind == "progress" and line.at("data", "message", "message").is_object:
            self._progress(line.get("data"))
        elif kind in ("last-prompt", "queue-operation"):
            self.builder.notice("merged", line, "a line that repeats a prompt is left out")
        else:
            self._beside(line, kind)

    # -- which conversation --------------------------------------------------------------------------------------

    def _main(self, line: Node) -> _Thread:
        """The main conversation of a line's session: a file may hold several sessions, one after another."""
        session = line.get("sessionId").label
        if session in self.sessions:
            self.main = self.sessions[session]
        elif self.main is None or (session and self.sessions):
            self.main = _Thread(self.builder.conversation(id=session if self.main else ""), "")
        if session:
            self.sessions.setdefault(session, self.main)
        return self.main

    def _agent(self, agent: str) -> _Thread:
        """The thread of a subagent; it begins where the main conversation is at its first line."""
        if agent not in self.agents:
            parent, after = "", 0
            if self.main is not None:
                parent = self.main.conversation.id = self.main.conversation.id or "main"
                after = self.main.conversation.turns
            made = self.builder.conversation(id=f"agent-{agent}", title=f"agent {agent}", parent=parent, after=after)
            self.agents[agent] = _Thread(made, agent)
        return self.agents[agent]

    def _thread_of(self, line: Node, place: _Place | None) -> _Thread:
        agent = line.get("agentId").label
        if agent or line.get("isSidechain").value is True:
            if not agent and place is not None and place.thread.agent:
                return place.thread
            return self._agent(agent or line.get("uuid").label or "sidechain")
        if place is not None and not place.thread.agent:
            if line.get("sessionId").label:  # a resumed session goes on under another id
                self.sessions.setdefault(line.get("sessionId").label, place.thread)
            return place.thread
        return self._main(line)

    def _fork(self, line: Node, thread: _Thread, place: _Place, identity: str) -> _Thread:
        """The thread that a spoken line belongs to: a new branch when its parent was answered by something else."""
        if place.thread is not thread or place.answered_by in (None, identity):
            place.answered_by = identity
            return thread
        self.branches += 1
        parent = thread.conversation
        parent.id = parent.id or "main"
        name = f"{parent.id}/branch-{self.branches}"
        made = self.builder.conversation(id=name, title=parent.title, parent=parent.id, after=place.turns)
        self.builder.notice("merged", line, "the session went back to an earlier message: what follows is a branch")
        return _Thread(made, thread.agent)

    # -- what is said --------------------------------------------------------------------------------------------

    def _spoken(self, line: Node, kind: str) -> None:
        message, uuid = line.get("message"), line.get("uuid").label
        fingerprint = hash(repr(message.value))
        known = self.places.get(uuid) if uuid else None
        if known is not None and known.fingerprint == fingerprint:
            self.builder.notice("merged", line, "a line that stands in the log again is told once")
            return
        place = self.places.get(line.get("parentUuid").label)
        thread = self._thread_of(line, place)
        message_id = message.get("id").label if kind == "assistant" else ""
        open_turn = thread.messages.get(message_id) if message_id else None
        is_result = any(block.get("type").text == "tool_result" for block in message.get("content"))
        if place is not None and open_turn is None and not is_result and known is None:
            thread = self._fork(line, thread, place, message_id or uuid)
        if open_turn is None:
            role = message.get("role").text or kind
            open_turn = thread.conversation.turn(role, line, time=line.get("timestamp").label)
            open_turn.is_error = line.get("isApiErrorMessage").value is True
            open_turn.name = _not_said_by_the_user(line) if role == "user" and not is_result else ""
            if message_id:
                thread.messages[message_id] = open_turn
        self._tell_message(open_turn, line, message)
        if uuid:
            self.places[uuid] = _Place(thread, fingerprint)

    def _tell_message(self, turn: Turn, line: Node, message: Node) -> None:
        if message.is_object and message.get("content").exists:
            tell_content(turn, message.get("content"))
        else:
            turn.json(message)
        if line.get("isCompactSummary").value is True:
            text = "the conversation was compacted: this message stands for what came before it"
            self.builder.notice("merged", line, text)
        self.builder.meta("model", message.get("model"))
        if line.get("toolUseResult"):
            self.builder.notice("merged", line, "toolUseResult repeats a result for the screen and is left out")

    def _progress(self, data: Node) -> None:
        """What a subagent says, reported while its call runs."""
        agent = data.get("agentId").label or "progress"
        message = data.at("message", "message")
        thread = self._agent(agent)
        role = message.get("role").text
        turn = thread.messages.get(message.get("id").label) if message.get("id").label else None
        turn = turn or thread.conversation.turn(role, message, time=data.at("message", "timestamp").label)
        if message.get("id").label:
            thread.messages[message.get("id").label] = turn
        tell_content(turn, message.get("content"))

    def _beside(self, line: Node, kind: str) -> None:
        """Tell the texts of a line that nobody said."""
        if kind in _TITLES and line.get(_TITLES[kind]).text:
            self._take_title(line, line.get(_TITLES[kind]).text)
            if kind != "summary":
                return
        place = self.places.get(line.get("parentUuid").label)
        texts = sentences_in(line, _PLUMBING)
        thread = self._thread_of(line, place) if texts or line.get("uuid").text else None
        if thread is None or not texts:
            self.builder.notice("skipped", line, f"a line of type {kind[:60]!r} without a text for the model")
        else:
            turn = thread.conversation.turn("system", line, time=line.get("timestamp").label)
            turn.is_error = line.get("subtype").text.endswith("error")
            for text in texts:
                turn.aside(text, line.at("attachment", "type").text or line.get("subtype").text or kind, text.text)
        if thread is not None and line.get("uuid").text:
            self.places.setdefault(line.get("uuid").text, _Place(thread, 0))

    def _take_title(self, line: Node, title: str) -> None:
        """A title belongs to the session that it names, or whose message it names; else to the file's last one."""
        place = self.places.get(line.get("leafUuid").label)
        owner = self.sessions.get(line.get("sessionId").label) or (place.thread if place is not None else None)
        if owner is not None and owner in self.sessions.values():
            owner.conversation.title = title
        else:
            self.title = title

    def finish(self) -> None:
        """Give the main conversation its title."""
        if self.main is not None:
            self.main.conversation.title = self.main.conversation.title or self.title
        elif self.title and self.agents:
            next(iter(self.agents.values())).conversation.title = self.title


def _not_said_by_the_user(line: Node) -> str:
    """A name for what the program says in the user's place."""
    if line.get("isCompactSummary").value is True:
        return "compact_summary"
    return "meta" if line.get("isMeta").value is True else ""


READER = Reader(
    name="claude_code_jsonl",
    title="Claude Code session",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"parentUuid", "isSidechain", "leafUuid", "toolUseResult", "loglines"}),
)
