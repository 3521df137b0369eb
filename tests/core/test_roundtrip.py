"""The round-trip check: yes to what the encoder makes, no to every planted fault, and what is accepted."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from modelcontext_core import EncodeReport, Message, Registry, RoundTrip, ToolCall, ToolPolicies, check_round_trip
from tests.core.making import A, B, assistant, call, result, user


def checked(*messages: Message, registry: Registry | None = None) -> RoundTrip:
    """The check of what the encoder makes."""
    made = registry or Registry()
    return check_round_trip(messages, made.encode_with_report(messages), made)


def planted(old: str, new: str, *messages: Message, registry: Registry | None = None) -> RoundTrip:
    """The check after `old` was replaced by `new` in the encoded texts, spans unchanged."""
    made = registry or Registry()
    report = made.encode_with_report(messages)
    faulty = tuple(
        replace(
            message,
            content=message.content.replace(old, new),
            tool_calls=tuple(replace(c, arguments=c.arguments.replace(old, new)) for c in message.tool_calls),
        )
        for message in report.messages
    )
    assert faulty != report.messages
    return check_round_trip(messages, EncodeReport(messages=faulty, spans=report.spans), made)


SESSION = (
    user(f"local://a weknora://doc/x {A}"),
    assistant(f'<kb chunk_id="{B}" doc="T"/> <web url="https://e.com/?a=1&amp;b"/>'),
    call("get_document_info", {"knowledge_ids": [A], "q": "see weknora://kb/k"}),
    call("database_query", {"sql": f"select 'it''s {A}'"}),
    result(f'kb_id="k&amp;01" <chunk chunk_id="c-000001"/> {A} {B}'),
    result('{"kb_id": "k\\u002d\\"1", "n": 1.0}'),
    result({"id": "issue-01"}, "wiki_read_issue"),
    result({"server_id": "server-01"}, "discover_mcp_tools"),
)


def test_yes_to_everything_that_the_encoder_makes() -> None:
    """Every text comes back byte for byte."""
    trip = checked(*SESSION)

    assert trip.ok
    assert () == trip.differences
    assert 0 == trip.accepted
    assert trip.identical >= 16


@pytest.mark.parametrize(
    ("handle", "wrong"),
    [
        ("res://0001", "res://0002"),
        ("doc://1", "doc://2"),
        ("chunk://1", "chunk://2"),
        ("kb://1", "kb://2"),
        ("url://1", "url://9"),
    ],
)
def test_a_planted_wrong_handle_makes_the_check_say_no(handle: str, wrong: str) -> None:
    """In a text: the difference names message and path, and that it is another identity."""
    trip = planted(handle, wrong, *SESSION)

    assert not trip.ok
    assert trip.differences[0].expected != trip.differences[0].got


def test_a_known_wrong_handle_is_found_as_well() -> None:
    """It stands for something, only not for what was there."""
    trip = planted("doc://1 and", "doc://2 and", result({"knowledge_ids": [A, B]}), result(f"{A} and {B}"))

    [difference] = trip.differences
    assert (1, "content", "identity") == (difference.message, difference.path, difference.rule)
    assert f"{A} and {B}" == difference.expected
    assert f"{B} and {B}" == difference.got


def test_a_wrong_handle_in_arguments_is_found() -> None:
    """Arguments are decoded and compared."""
    messages = (call("get_document_info", {"knowledge_ids": [A, B], "q": "api1 i1 100ms2"}),)
    trip = planted('["doc://1"', '["doc://2"', *messages)

    [difference] = trip.differences
    assert (0, "tool_calls[0].arguments", "arguments") == (difference.message, difference.path, difference.rule)


@pytest.mark.parametrize(
    ("old", "new"),
    [("doc://1", "doc://1x"), ("doc://1", ""), ("see", "sea"), ("doc://1", "doc://1 doc://1"), (".", "")],
)
def test_any_other_damage_is_found(old: str, new: str) -> None:
    """A lost handle, a broken one, one too many, changed prose."""
    assert not planted(old, new, result(f'see {A}. knowledge_id="{A}"')).ok


def test_a_wrong_short_handle_is_found() -> None:
    """Issues and routing ids, too."""
    assert not planted('"i1"', '"i2"', result([{"id": "issue-01"}, {"id": "issue-02"}], "wiki_read_issue")).ok
    assert not planted("ms1", "ms7", result({"server_id": "server-01"}, "discover_mcp_tools")).ok


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("web_fetch", {"urls": ["https://e.com/a#1", "https://e.com/a#2"]}),
        ("data_schema", {"knowledge_id": "weknora://doc/a"}),
        ("data_schema", {"knowledge_id": " doc-000001 "}),
        ("any", {"q": "weknora://doc/%61 weknora://doc/a%2fb"}),
        ("any", '{"q": "\\u0041 weknora://doc/a"}'),
        ("call_mcp_tool", {"arguments": '{"q": 1}'}),
        ("list_knowledge_chunks", {"chunk_id": "weknora://doc/a"}),
    ],
)
def test_the_exceptions_are_accepted_and_counted_apart(tool: str, arguments: object) -> None:
    """Another fragment, a URI as a whole declared value, spaces, needless escapes, a wrapped envelope."""
    trip = checked(call(tool, arguments))

    assert trip.ok
    assert 1 == trip.accepted


def test_the_scheme_of_a_pack_may_have_a_hyphen() -> None:
    """A URI as a whole declared value is accepted under every scheme that a pack may choose."""
    registry = Registry(policies=ToolPolicies.loads('name = "own"\nextends = "builtin"\nuri_scheme = "my-app"\n'))
    trip = checked(call("data_schema", {"knowledge_id": "my-app://doc/a"}), registry=registry)

    assert (True, 1) == (trip.ok, trip.accepted)


def test_handle_words_that_stood_there_are_accepted() -> None:
    """Decoding restores them; so it would have before."""
    registry = Registry()
    registry.register_document("d-000001")
    trip = checked(call("any", {"q": "doc://1 weknora://kb/k"}), registry=registry)

    assert (True, 1) == (trip.ok, trip.accepted)


def test_a_page_in_escapes_is_the_page_whatever_its_fragment() -> None:
    """JSON may write slashes with a backslash; the page was seen first with another fragment."""
    registry = Registry()
    registry.register_web("https://e.com/p?q=1#end", "")
    content = '{"url": "https:\\/\\/e.com\\/p?q=1#top"}'
    trip = checked(Message(role="tool", name="web_search", content=content), registry=registry)

    assert trip.ok


def test_handle_words_in_a_stored_reference_are_no_handles() -> None:
    """They come back as they are, beside words that decoding restores, in whatever escapes."""
    for text in (
        "local://a/doc://1 doc://1",
        "\\u6587local://a/doc://1 doc://1",
        "\\u6587local://a/doc://9",
        "local://a/doc://1 local://a/doc://1b doc://1",
    ):
        registry = Registry()
        registry.register_document("d-000001")
        trip = checked(call("any", f'{{"q": "{text}"}}'), registry=registry)

        assert (True, 1) == (trip.ok, trip.accepted)


def test_texts_that_held_handles_come_back() -> None:
    """What stood there as a handle was copied, and stays a handle."""
    registry = Registry()
    registry.register_document("doc-000001")

    trip = checked(user("doc://1 doc://9 i1 local://a"), result("doc://1 doc-000001"), registry=registry)

    assert (True, 0) == (trip.ok, trip.accepted)


def test_broken_arguments_come_back() -> None:
    """They were not touched."""
    broken = Message(
        role="assistant", tool_calls=(ToolCall(name="any", arguments='{"a": "local://a'), ToolCall(name="x"))
    )

    assert checked(broken).ok


def test_ids_with_every_odd_character_come_back() -> None:
    """Quotes, backslashes, brackets, bars, dollars, line breaks."""
    odd = ['q"uote-1', "back\\slash", "less<than>", "a|b-001", "new\nline", "$1\\1", "文档编号", "'apos'-1", "a&amp;b"]
    registry = Registry()
    for durable in odd:
        registry.register_document(durable)
    quoted = ", ".join("'" + durable.replace("'", "''") + "'" for durable in odd)

    trip = checked(
        call("get_document_info", {"knowledge_ids": odd}),
        call("database_query", {"sql": quoted}),
        result({"knowledge_ids": odd}),
        result("; ".join(odd)),
        result(json.dumps(odd)),
        registry=registry,
    )

    assert (True, 0) == (trip.ok, trip.accepted)
