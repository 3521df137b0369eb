"""Leaks: UUID-shaped values that still stand in encoded messages."""

from __future__ import annotations

import pytest

from modelcontext_core import IdentifierLeak, Message, Part, Registry, ToolCall, summarize_leaks
from tests.core.making import A, B, C, assistant, call, result, user


def leaks(*messages: Message, registry: Registry | None = None) -> list[IdentifierLeak]:
    """The leaks of messages, as they are."""
    return (registry or Registry()).leaked_identifiers(messages)


def test_every_field_is_looked_at() -> None:
    """Content, reasoning (signed, too), text parts together, and the arguments of each call apart."""
    message = Message(
        role="assistant",
        content=A,
        reasoning=B,
        reasoning_signature="s",
        parts=(Part(type="text", text=C), Part(type="text", text=B), Part(type="image", text=A, data=A)),
        tool_calls=(ToolCall(name="one", arguments=A), ToolCall(name="two", arguments=B), ToolCall(name="three")),
    )

    assert [
        ("content", "", (A,)),
        ("reasoning", "", (B,)),
        ("multi_content", "", (C, B)),
        ("tool_call_arguments", "one", (A,)),
        ("tool_call_arguments", "two", (B,)),
    ] == [(leak.field, leak.tool_name, leak.unregistered) for leak in leaks(message)]


def test_user_messages_are_skipped() -> None:
    """What the user typed is left alone on purpose; a system text is not."""
    found = leaks(user(A), Message(role="system", content=A))

    assert [(1, "system", "content")] == [(leak.message_index, leak.role, leak.field) for leak in found]


def test_a_tool_message_names_its_tool() -> None:
    """An assistant's content names none."""
    assert ["shell_exec", ""] == [leak.tool_name for leak in leaks(result(A, "shell_exec"), assistant(A))]


def test_registered_in_any_space_and_case() -> None:
    """Then the codec missed a place; else a producer emitted a raw id."""
    registry = Registry()
    registry.register_knowledge_base(A)
    registry.register_issue(B.upper())

    [leak] = leaks(assistant(f"{A.upper()} {B} {C}"), registry=registry)

    assert ((A.upper(), B), (C,)) == (leak.registered, leak.unregistered)


def test_duplicates_collapse_and_lists_are_sorted() -> None:
    """Whatever the letter case; the first spelling is kept, the order is that of lower case."""
    [leak] = leaks(assistant(f"{B.upper()} {A} {B} {C}"))

    assert (A, C, B.upper()) == leak.unregistered


@pytest.mark.parametrize("text", [f"x{A}", f"\\u0041{A}", f"{A}0", A[:-1], A.replace("-", ""), A.replace("-", "_")])
def test_what_is_no_uuid(text: str) -> None:
    """A letter or digit beside it, or another shape."""
    assert [] == leaks(assistant(text))


@pytest.mark.parametrize(
    "text", [f"_{A}_", f"-{A}-", f"https://e.com/{A}", f"\\n{A}", f"\\u003e{A}", f"的{A}的", f"{{{A}}}"]
)
def test_where_a_uuid_leaks(text: str) -> None:
    """Everywhere else; behind an escape, too."""
    assert [(A,)] == [leak.unregistered for leak in leaks(assistant(text))]


def test_an_encoded_conversation_of_declared_tools_has_none() -> None:
    """That is what the codec is for."""
    registry = Registry()
    encoded = registry.encode_messages(
        [
            call("get_document_info", {"knowledge_ids": [A]}),
            result({"knowledge_id": A, "text": f"about {A}, {B}", "kb_id": B}),
        ]
    )

    assert [] == registry.leaked_identifiers(encoded)


def test_the_summary_is_one_line() -> None:
    """Where, how many, and at most three samples of each kind."""
    found = [
        IdentifierLeak(message_index=1, role="tool", tool_name="shell_exec", field="content", unregistered=(A,)),
        IdentifierLeak(message_index=0, role="system", field="content", registered=tuple("abcd"), unregistered=()),
    ]

    assert (
        f"message[1] tool/shell_exec content: 0 registered [], 1 unregistered [{A}]; "
        "message[0] system content: 4 registered [a b c ...], 0 unregistered []"
    ) == summarize_leaks(found)
    assert "" == summarize_leaks([])


def test_raw_identifiers_say_why_they_stayed() -> None:
    """The user's text, signed reasoning, an opaque result, inside a URL; "" where the codec had a place."""
    registry = Registry()
    registry.register_document(A)
    messages = [
        user(A),
        Message(role="assistant", reasoning=A, reasoning_signature="s", parts=(Part(type="text", text=B),)),
        result(A, "unknown"),
        result(f"https://e.com/{A} doc://1/{A}"),
        call("any", A),
    ]

    assert [
        (0, "content", 0, True, "user_text"),
        (1, "reasoning", 0, True, "signed"),
        (1, "parts[0].text", 0, False, ""),
        (2, "content", 0, True, "opaque"),
        (3, "content", 14, True, "inside_url"),
        (3, "content", 59, True, ""),
        (4, "tool_calls[0].arguments", 0, True, ""),
    ] == [(raw.message, raw.path, raw.start, raw.registered, raw.reason) for raw in registry.raw_identifiers(messages)]
