"""Traces in memory, and what is computed of them."""

from __future__ import annotations

import pytest

from inspector_app import data
from inspector_app.data import Options
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.base import Conversation, Trace
from modelcontext_core.messages import Message
from tests.app.making import held

TRACE = Trace(format="text", conversations=(Conversation(messages=(Message(role="user", content="x"),)),))


def test_a_trace_is_held_under_a_key_of_its_own() -> None:
    """The same trace twice is held twice: two tabs never share."""
    first, second = data.hold(TRACE, b"", "a"), data.hold(TRACE, b"", "a")

    assert first.key != second.key
    assert data.shelf().get(first.key) is first
    data.shelf().forget(first.key)
    assert data.shelf().get(first.key) is None
    assert data.shelf().get(second.key) is second


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
