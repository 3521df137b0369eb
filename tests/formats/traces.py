"""Help for the tests of readers: short views of a trace."""

from __future__ import annotations

from pathlib import Path

from modelcontext_core.formats import Trace, read
from modelcontext_core.limits import MAX_META_BYTES
from modelcontext_core.messages import Message

FIXTURES = Path(__file__).parent / "fixtures"


def trace_of(format_name: str, name: str) -> Trace:
    """What is read of a fixture."""
    return read(FIXTURES / format_name / name)


def messages_of(trace: Trace, number: int = 0) -> list[Message]:
    """The messages of one conversation."""
    return list(trace.conversations[number].messages)


def roles(trace: Trace, number: int = 0) -> list[str]:
    """The roles of one conversation."""
    return [message.role for message in messages_of(trace, number)]


def calls(trace: Trace, number: int = 0) -> list[tuple[str, str]]:
    """Ids and names of all calls of one conversation."""
    return [(call.id, call.name) for message in messages_of(trace, number) for call in message.tool_calls]


def results(trace: Trace, number: int = 0) -> list[tuple[str, str, str]]:
    """Ids, names and texts of all results of one conversation."""
    found = [message for message in messages_of(trace, number) if message.role == "tool"]
    return [(message.tool_call_id, message.name, message.content) for message in found]


def kinds(trace: Trace) -> set[str]:
    """The kinds of its notices."""
    return {notice.kind for notice in trace.notices}


def check(trace: Trace) -> None:
    """What holds for every trace, whatever it was made of."""
    for conversation in trace.conversations:
        assert len(conversation.messages) == len(conversation.origins)
        assert all(message.role for message in conversation.messages)
        for message, origin in zip(conversation.messages, conversation.origins, strict=True):
            named = {name for name, _ in origin.texts}
            assert "content" in named or not message.content
            assert all(f"tool_calls[{index}].arguments" in named for index, _ in enumerate(message.tool_calls))
            assert all(call.id for call in message.tool_calls)
    messages = sum(len(conversation.messages) for conversation in trace.conversations)
    assert messages or trace.notices, "an empty success"
    for key, value in trace.meta.items():
        assert isinstance(value, str | int | float | bool), key
        assert len(str(value).encode("utf-8", "surrogatepass")) < 3 * MAX_META_BYTES
