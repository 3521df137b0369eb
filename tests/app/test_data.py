"""Traces in memory, and what is computed of them."""

from __future__ import annotations

import gc
import json
import weakref
from dataclasses import asdict
from pathlib import Path

import pytest

from inspector_app import cli, data, leak_scans
from inspector_app.data import Options
from inspector_app.proving import proving
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.base import Conversation, Trace
from modelcontext_core.messages import Message
from tests.app.making import CHUNK, CONVERSATION, DOCUMENT, held

# The tool definition names the servers in another order than the call, and the second answer is a branch.
SERVERS = ("srv-0a1b2c3d4e5f", "srv-9f8e7d6c5b4a")
REQUEST = {
    "model": "m",
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "discover_mcp_tools",
                "parameters": {"type": "object", "properties": {"server_id": {"enum": list(SERVERS)}}},
            },
        }
    ],
    "messages": [
        {"role": "user", "content": "Which?"},
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "discover_mcp_tools", "arguments": json.dumps({"server_id": SERVERS[1]})},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps({"server_id": SERVERS[1], "id": CHUNK})},
    ],
}
ANSWERS = [{"index": n, "message": {"role": "assistant", "content": f"{n} summary/{DOCUMENT} {CHUNK}"}} for n in (0, 1)]

TRACE = Trace(format="text", conversations=(Conversation(messages=(Message(role="user", content="x"),)),))


def test_a_trace_is_held_under_a_key_of_its_own() -> None:
    """The same trace twice is held twice: two tabs never share."""
    first, second = data.hold(TRACE, b"", "a"), data.hold(TRACE, b"", "a")

    assert first.key != second.key
    assert data.shelf().get(first.key) is first
    data.shelf().forget(first.key)
    assert data.shelf().get(first.key) is None
    assert data.shelf().get(second.key) is second


def test_a_trace_that_is_closed_is_let_go_of() -> None:
    """A tab may still name it: its texts, and all that was found out and drawn of them, are free all the same."""
    trace = Trace(format="openai_chat", conversations=(Conversation(messages=CONVERSATION),))
    one, options = data.hold(trace, b"source", "a"), Options()
    data.part(one, options, 0)
    assert proving(one, options).wait(20) is not None
    found = weakref.ref(data.analyse(one, options))

    data.shelf().forget(one.key)
    gc.collect()

    assert found() is None
    assert (one.data, one.trace.format, one.conversation.messages) == (b"", "", ())
    assert not any((one.analyses, one.proofs, one.plans, one.drawn, one.proving))


def test_the_weight_of_a_trace_follows_its_texts() -> None:
    """A character that takes more memory weighs more; the source counts where it is kept."""

    def weight(text: str, source: bytes = b"") -> int:
        messages = (Message(role="user", content=text),)
        one = data.hold(Trace(format="text", conversations=(Conversation(messages=messages),)), source, "a")
        data.shelf().forget(one.key)
        return one.weight

    assert weight("x" * 2_000) > weight("x" * 1_000) + 2_000
    assert weight("知" * 1_000) > weight("x" * 1_000) + 2_000
    assert weight("x" * 1_000, b"y" * 5_000) == weight("x" * 1_000) + 5_000


def test_an_analysis_is_made_once_for_each_set_of_options() -> None:
    """The same options give the same object; other options another; only a few are remembered."""
    one = held()

    first = data.analyse(one, Options())
    others = [data.analyse(one, Options(off=frozenset({number}))) for number in range(5)]

    assert data.analyse(one, Options(off=frozenset({4}))) is others[-1]
    assert data.analyse(one, Options()) is not first
    assert len(one.analyses) == 3


def test_another_tokenizer_does_not_encode_again() -> None:
    """The encoding of the token count concerns the proof alone."""
    one = held()

    assert data.analyse(one, Options()) is data.analyse(one, Options(encoding="cl100k_base"))
    assert data.prove(one, Options(encoding="cl100k_base")).before.encoding == "cl100k_base"


def test_citations_of_what_the_tools_returned_are_restored() -> None:
    """A chunk that a tool of the trace returned may be cited in the Decode panel."""
    registry = data.analyse(held(), Options()).registry

    assert "chunk_id=" in registry.decode_output_text('<ref id="chunk://1"/>')


def test_plain_text_may_be_read_as_a_tool_result() -> None:
    """The switch makes one tool message of it."""
    one = held([Message(role="user", content="x")])

    assert data.analyse(one, Options(as_result=True)).messages[0].role == "tool"


def test_rubbish_raises_one_error_with_a_reason() -> None:
    """A picture is no trace."""
    with pytest.raises(UnreadableTrace, match="PNG"):
        data.open_bytes(b"\x89PNG\r\n\x1a\n" + b"\x00" * 40, "x.png")


def test_a_branch_is_encoded_behind_what_it_continues() -> None:
    """Its handles go on where those of its parent ended, and everything counts its own messages only."""
    parent = Conversation(id="a", messages=CONVERSATION)
    again = (Message(role="tool", name="search_knowledge", content=f'<chunk chunk_id="{DOCUMENT}">x</chunk> {CHUNK}'),)
    trace = Trace(
        format="openai_chat", conversations=(parent, Conversation(id="b", parent="a", after=4, messages=again))
    )
    one = data.Held(trace=trace, data=b"", name="x", key="0" * 32, digest="0")

    analysis, proof = data.analyse(one, Options(conversation=2)), data.prove(one, Options(conversation=2))

    assert analysis.encoded[0].content == '<chunk chunk_id="chunk://2">x</chunk> chunk://1'
    assert {(row.handle, row.first_message, row.uses) for row in analysis.handles if row.space == "chunk"} == {
        ("chunk://1", -1, 1),
        ("chunk://2", 0, 1),
    }
    assert [span.message for span in analysis.spans] == [0, 0]
    assert proof.round_trip.ok
    assert not proof.changed_twice


def test_page_command_line_and_leak_scan_give_the_same_handles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tool definitions take their numbers first, a branch goes on after its parent: everywhere."""
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"request": REQUEST, "response": {"object": "chat.completion", "choices": ANSWERS}}))
    assert cli.main(["encode", "--json", str(path)]) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    one = data.open_path(path)
    scan = leak_scans.open_path(path)
    scan.run(lambda _step, _size: None)
    assert scan.result is not None
    leaking = {each.conversation: scan.message_of(each) for each in scan.result.report.occurrences}

    for number, document in enumerate(printed):
        shown, leaked = data.analyse(one, Options(pack="builtin", conversation=number + 1)), leaking[number]
        assert leaked is not None
        assert [asdict(row) for row in shown.handles] == [asdict(row) for row in leaked.handles] == document["handles"]
        assert [message.content for message in shown.encoded] == [each["content"] for each in document["messages"]]
        assert [row.handle for row in shown.handles] == ["res://0001", "ms1", "ms2"]
        assert [row.durable for row in shown.handles][1:] == list(SERVERS)
    assert [row["uses"] for document in printed for row in document["handles"]] == [1, 0, 2, 1, 0, 0]
