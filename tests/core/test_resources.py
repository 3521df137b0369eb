"""Step 1 of encoding: stored references and durable URIs, in every role."""

from __future__ import annotations

import pytest

from modelcontext_core import Message, Part, Registry
from tests.core.making import STORED, A, assistant, call, contents, decoded, result, user


def encoded(text: str) -> str:
    """A user's text, encoded in a new registry."""
    return contents(Registry(), user(text))[0]


@pytest.mark.parametrize(
    "reference",
    [
        STORED,
        f"summary/{A}",
        "local://a",
        "minio://bucket/k",
        "cos://a",
        "tos://a",
        "s3://bucket/a.png",
        "oss://a",
        "ks3://a",
        "obs://a",
        "storage://main/local://a/b",
        "local://a/文件.png?x=1&y#z",
    ],
)
def test_each_kind_of_reference_becomes_a_resource(reference: str) -> None:
    """`resource://` with 22 characters, `summary/<uuid>`, storage URLs with or without their storage."""
    assert "see res://0001." == encoded(f"see {reference}.")
    assert "![x](res://0001)" == encoded(f"![x]({reference})")


@pytest.mark.parametrize(
    "text",
    [
        f"{STORED}x",
        f"x{STORED}",
        "resource://tooshort",
        f"summary/{A}x",
        f"xsummary/{A}",
        "summary/not-a-uuid",
        "xlocal://a",
        "Local://a",
        "local://",
        "local://)",
        "local://...",
        "file://a",
        "storage://local",
    ],
)
def test_what_is_no_reference_stays(text: str) -> None:
    """Glued to a letter, digit or `_`, a 23rd character, upper case, nothing behind the slashes."""
    assert text == encoded(text)


@pytest.mark.parametrize("end", [" ", "\n", ")", "]", ">", "<", '"', "'", "\\", "`", "。", "，", "）", "》", "”"])
def test_a_storage_url_ends_where_text_goes_on(end: str) -> None:
    """Whitespace, one of `) ] > < " ' \\` or a backtick, or CJK punctuation."""
    assert f"res://0001{end}b" == encoded(f"local://a{end}b")


def test_trailing_signs_are_no_part_of_it() -> None:
    """`.,;:!?` at the end of the run."""
    assert "res://0001.,;:!?" == encoded("local://a.b.,;:!?")


def test_numbers_have_four_digits_and_follow_the_text() -> None:
    """Messages in order; in a message content, reasoning, parts, then calls."""
    registry = Registry()
    message = Message(
        role="assistant",
        content="local://a",
        reasoning="local://b",
        parts=(Part(type="text", text="local://c"), Part(type="image", text="local://x")),
        tool_calls=call("any", {"q": "local://d"}).tool_calls,
    )

    [got, after] = registry.encode_messages([message, user("local://e local://a")])

    assert ("res://0001", "res://0002", "res://0003") == (got.content, got.reasoning, got.parts[0].text)
    assert "local://x" == got.parts[1].text
    assert '{"q": "res://0004"}' == got.tool_calls[0].arguments
    assert "res://0005 res://0001" == after.content


def test_references_come_before_ids() -> None:
    """`summary/<document id>` is one resource, never `summary/doc://1`."""
    registry = Registry()
    registry.register_document(A)

    assert ["res://0001 and doc://1"] == contents(registry, result(f"summary/{A} and {A}"))


def test_signed_reasoning_is_never_edited() -> None:
    """A signature covers every byte."""
    message = Message(role="assistant", reasoning="local://a weknora://doc/b", reasoning_signature="s")

    assert [message] == Registry().encode_messages([message])


def test_a_reference_inside_a_reference_is_part_of_it() -> None:
    """The leftmost match wins."""
    assert "res://0001 res://0002" == encoded("local://a/local://b local://b")


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_uris_become_handles_in_every_role(role: str) -> None:
    """Also in a tool that nobody declared."""
    registry = Registry()
    message = Message(role=role, name="unknown" if role == "tool" else "", content="weknora://doc/a weknora://kb/b")

    assert ["doc://1 kb://1"] == contents(registry, message)


def test_sql_keeps_uris_but_not_references() -> None:
    """SQL takes bare ids, so a URI in it stays."""
    sql = {"sql": "x = 'weknora://doc/abc' or y = 'local://a'"}

    assert ["{\"sql\": \"x = 'weknora://doc/abc' or y = 'res://0001'\"}"] == contents(
        Registry(), call("database_query", sql)
    )


def test_broken_arguments_are_left_alone() -> None:
    """Arguments that are not valid JSON are not rewritten, NaN and a byte order mark included."""
    for arguments in ('{"a": "local://a"', '{"a": NaN, "b": "local://a"}', '\ufeff{"a": "local://a"}'):
        assert [arguments] == contents(Registry(), call("any", arguments))


def test_keys_are_never_rewritten() -> None:
    """Only string values of arguments are."""
    assert ['{"local://a": "res://0001"}'] == contents(Registry(), call("any", {"local://a": "local://a"}))


def test_arguments_with_references_and_uris_come_back() -> None:
    """Byte for byte; the rest of the JSON, too."""
    arguments = '{ "a":["local://x y", {"b" : "see weknora://kb/k, 文"}], "n": 1.0, "n": 12345678901234567890 }'
    registry = Registry()
    [encoded_arguments] = contents(registry, call("any", arguments))

    assert (
        '{ "a":["res://0001 y", {"b" : "see kb://1, 文"}], "n": 1.0, "n": 12345678901234567890 }' == encoded_arguments
    )
    assert (arguments, "resolved", []) == decoded(registry, "any", encoded_arguments)


def test_an_assistant_text_with_angle_brackets_around_a_uri() -> None:
    """The form that decoding writes reads back."""
    assert ["<doc://1>-x"] == contents(Registry(), assistant("<weknora://doc/d-1>-x"))
