"""Claude Code logs: split messages, parallel calls, branches, subagents, compaction."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read

FIXTURES = Path(__file__).parent / "fixtures" / "claude_code_jsonl"


def _read(name: str) -> Trace:
    return read((FIXTURES / name).read_bytes(), name)


def test_the_lines_of_one_message_are_one_turn() -> None:
    """Thinking, text and both calls come on lines of their own, a result between them: they are one message."""
    messages = _read("parallel.jsonl").conversations[0].messages
    spoken = [message for message in messages if message.role != "system"]

    assert [message.role for message in spoken] == ["user", "assistant", "tool", "tool", "assistant"]
    assert spoken[1].reasoning == "Both files have to be read."
    assert spoken[1].content == "I read both."
    assert [call.id for call in spoken[1].tool_calls] == ["t1", "t2"]
    assert spoken[1].tool_calls[0].arguments == '{"path": "a.txt", "limit": 1.0}'


def test_results_are_linked_and_not_repeated() -> None:
    """Results have the names of their calls; `toolUseResult` is left out with a notice."""
    trace = _read("parallel.jsonl")
    results = [message for message in trace.conversations[0].messages if message.role == "tool"]

    assert [(result.name, result.content) for result in results] == [
        ("Read", "price: 3"),
        ("Read", "No such file: b.txt"),
    ]
    assert len(trace.conversations) == 1, "results beside a second call are no branch"
    assert sum("toolUseResult" in notice.text for notice in trace.notices) == 2


def test_hooks_and_summaries_are_asides() -> None:
    """What a hook adds and the summary are readable, but nobody's text."""
    conversation = _read("parallel.jsonl").conversations[0]
    asides = [part for message in conversation.messages if message.role == "system" for part in message.parts]

    assert [part.type for part in asides] == ["summary", "hook_additional_context"]
    assert conversation.title == "Prices in the shop"


def test_going_back_begins_a_branch() -> None:
    """A second prompt after the same answer is a branch that forks after two messages."""
    main, branch = _read("rewind.jsonl").conversations

    assert [message.content for message in main.messages] == [
        "Add a button.",
        "Where should it be?",
        "On the left.",
        "It is on the left.",
    ]
    assert (branch.parent, branch.after) == (main.id, 2)
    assert branch.messages[1].content == "It is on the right."


def test_compaction_is_named_and_a_repeated_line_told_once() -> None:
    """The summary that replaces the history is named; the same line again is left out."""
    trace = _read("rewind.jsonl")
    summaries = [m for c in trace.conversations for m in c.messages if m.name == "compact_summary"]

    assert [message.content for message in summaries] == ["A button was added on the right."]
    assert any("compacted" in notice.text for notice in trace.notices)


def test_a_subagent_is_a_conversation_of_its_own() -> None:
    """A sidechain has the main conversation as parent, and begins after the call that started it."""
    main, agent = _read("subagent.jsonl").conversations

    assert [message.role for message in main.messages] == ["user", "assistant", "tool", "assistant"]
    assert (agent.parent, agent.after) == (main.id, 2)
    assert [message.content for message in agent.messages] == ["What is the weather?", "It rains in the valley."]


def test_the_web_form_holds_the_lines() -> None:
    """`{loglines: [...]}` is the same log."""
    assert [message.content for message in _read("web_session.json").conversations[0].messages] == [
        "Is this the web?",
        "It is.",
    ]


def test_an_answer_that_stands_in_the_log_again_is_told_once() -> None:
    """A resumed session may repeat its lines: the same id and the same words are one line."""
    line = (
        '{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s",'
        '"message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Done."}]}}'
    )
    trace = read(f"{line}\n{line}\n".encode())

    assert [message.content for message in trace.conversations[0].messages] == ["Done."]
    assert [notice.kind for notice in trace.notices] == ["merged"]


def test_several_sessions_in_one_file_stay_apart() -> None:
    """A line of another session whose parent is unknown begins a conversation; one with a known parent goes on."""
    lines = [
        '{"type":"user","uuid":"1","parentUuid":null,"sessionId":"A","message":{"role":"user","content":"One"}}',
        '{"type":"ai-title","aiTitle":"First","sessionId":"A"}',
        '{"type":"user","uuid":"2","parentUuid":null,"sessionId":"B","message":{"role":"user","content":"Two"}}',
        '{"type":"user","uuid":"3","parentUuid":"1","sessionId":"C","message":{"role":"user","content":"Three"}}',
    ]
    conversations = read("\n".join(lines).encode()).conversations

    assert [[message.content for message in c.messages] for c in conversations] == [["One", "Three"], ["Two"]]
    assert [c.title for c in conversations] == ["First", ""]
