"""A value of a wrong Python type is refused where it comes in, in one sentence that says what and where."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from modelcontext_core import (
    DEFAULT_POLICIES,
    ChatResponse,
    ChunkReference,
    HandleStreamDecoder,
    HandleTable,
    Message,
    Part,
    Registry,
    SearchResult,
    StreamDecoder,
    Tool,
    ToolCall,
    ToolImage,
    ToolPolicies,
    ToolPolicy,
    ToolResult,
    WikiRouteResolver,
    WikiScope,
    check_round_trip,
    has_tool_policy,
    observe_generation,
    observe_tool_call,
    page_in_scope,
    summarize_leaks,
    wiki_scopes,
)
from modelcontext_core.responses import ArgumentsDelta, ResponseDecoder, TextDelta
from tests.core.making import A, user

WRONG: Any = {"role": "user", "content": "x"}  # a message as vendors have them
NONE: Any = None
ID: Any = UUID(A)
ENCODED = Registry().encode_with_report([user("x")])
MISTAKES: dict[str, Callable[[], object]] = {
    "Message.role must be str, not NoneType": lambda: Message(role=NONE),
    'Message.content must be str, not NoneType: an empty text is ""': lambda: Message(role="user", content=NONE),
    "Message.content must be str, not list: the parts of a message are Part records in `parts`": lambda: Message(
        role="user",
        content=[WRONG],  # type: ignore[arg-type]
    ),
    "Message.content must be str, not bytes: decode it first": lambda: user(b"x"),  # type: ignore[arg-type]
    "Message.parts[1] must be a Part, not dict": lambda: Message(role="user", parts=[Part(type="text"), WRONG]),
    "Message.parts must be a sequence of Part, not NoneType": lambda: Message(role="user", parts=NONE),
    "Message.tool_calls[0] must be a ToolCall, not dict": lambda: Message(role="assistant", tool_calls=(WRONG,)),
    "Part.text must be str, not NoneType": lambda: Part(type="text", text=NONE),
    "ToolCall.arguments must be str, not dict: it is JSON text, as json.dumps writes it": lambda: ToolCall(
        arguments=WRONG
    ),
    "ToolCall.name must be str, not NoneType": lambda: ToolCall(name=NONE),
    "Tool.description must be str, not NoneType": lambda: Tool(name="a", description=NONE),
    "Tool.parameters must be a Mapping, not NoneType": lambda: Tool(name="a", parameters=NONE),
    "ChatResponse.content must be str, not NoneType": lambda: ChatResponse(content=NONE),
    "ToolResult.success must be bool, not str": lambda: ToolResult(success="false"),  # type: ignore[arg-type]
    "ToolResult.output must be str, not dict: structured output goes into `data`": lambda: ToolResult(
        success=True, output=WRONG
    ),
    "ToolResult.images[0] must be a ToolImage, not bytes": lambda: ToolResult(success=True, images=[b""]),  # type: ignore[list-item]
    "ToolResult.output_files must be a sequence of str, not str": lambda: ToolResult(
        success=True, output_files="a.txt"
    ),
    "ToolImage.chunk_id must be str, not UUID": lambda: ToolImage(chunk_id=ID),
    "SearchResult.knowledge_id must be str, not NoneType": lambda: SearchResult(id="a", knowledge_id=NONE),
    "ChunkReference.chunk_id must be str, not UUID: str(value) gives its text": lambda: ChunkReference(chunk_id=ID),
    "ToolPolicy.ids must be a sequence of str, not str": lambda: ToolPolicy(name="a", ids="chunk_id"),  # type: ignore[arg-type]
    "ToolPolicies.tools['a'] must be a ToolPolicy, not dict": lambda: ToolPolicies(name="p", tools={"a": WRONG}),
    "policies must be a ToolPolicies, not str: ToolPolicies.load(path) reads a pack": lambda: Registry(
        policies="pack.toml"  # type: ignore[arg-type]
    ),
    "policies must be a ToolPolicies, not Path": lambda: has_tool_policy("a", Path("pack.toml")),  # type: ignore[arg-type]
    "citations_enabled must be bool, not ToolPolicies: a pack is given as policies=…": lambda: Registry(
        DEFAULT_POLICIES  # type: ignore[arg-type]
    ),
    "an id or URL to register must be str, not UUID": lambda: Registry().register_document(ID),
    "an id or URL to register must be str, not bytes": lambda: Registry().register_web(b"x"),  # type: ignore[arg-type]
    "an id to register must be str, not int": lambda: Registry().register_issue(7),  # type: ignore[arg-type]
    "title must be str, not NoneType": lambda: Registry().register_web("https://e.com", NONE),
    "reference must be a ChunkReference, not UUID": lambda: Registry().register_chunk(ID),
    "results[0] must be a SearchResult, not dict": lambda: Registry().register_search_results([WRONG]),
    "durable_id must be str, not NoneType": lambda: Registry().chunk_handle(NONE),
    "messages[1] must be a Message, not dict": lambda: Registry().encode_messages([user("x"), WRONG]),
    "messages must be a list of Message, not Message": lambda: Registry().encode_with_report(user("x")),  # type: ignore[arg-type]
    "messages must be a list of Message, not NoneType": lambda: Registry().leaked_identifiers(NONE),
    "messages[0] must be a Message, not str": lambda: Registry().raw_identifiers("x"),  # type: ignore[arg-type]
    "tools[0] must be a Tool, not dict": lambda: Registry().encode_tools([WRONG]),
    "calls[0] must be a ToolCall, not dict": lambda: Registry().decode_tool_calls([WRONG]),
    "text must be str, not bytes: decode it first": lambda: Registry().decode_output_text(b"x"),  # type: ignore[arg-type]
    "text must be str, not NoneType": lambda: Registry().decode_with_report(NONE),
    "text must be str, not list": lambda: Registry().compact_known_text([WRONG]),  # type: ignore[arg-type]
    "response must be a ChatResponse, not dict": lambda: Registry().decode_response(WRONG),
    "result must be a ToolResult, not dict": lambda: Registry().model_tool_result(WRONG),
    "chunk_ids must be a list of str, not str": lambda: Registry().image_sources_note(A),
    "chunk must be str, not NoneType": lambda: Registry().stream_decoder().feed(NONE),
    "chunk must be str, not list": lambda: Registry().stream_decoder().feed([]),  # type: ignore[arg-type]
    "other must be a ToolPolicies, not str": lambda: DEFAULT_POLICIES.extend("pack.toml"),  # type: ignore[arg-type]
    "text must be str, not Path: read the file first": lambda: ToolPolicies.check(Path("pack.toml")),  # type: ignore[arg-type]
    "rules must be those of a registry, whose stream_decoder() makes a decoder, not Registry": lambda: StreamDecoder(
        Registry()  # type: ignore[arg-type]
    ),
    "table must be a HandleTable, not Registry": lambda: HandleStreamDecoder(Registry()),  # type: ignore[arg-type]
    "prefix must be str, not int": lambda: HandleTable(3),  # type: ignore[arg-type]
    "value must be str, not NoneType": lambda: HandleTable("c").handle(NONE),
    "value must be str, not UUID": lambda: HandleTable("c").register(ID),
    "event must be one of the StreamEvent records, not list": lambda: ResponseDecoder(Registry()).feed([]),  # type: ignore[arg-type]
    "chunk must be str, not tuple": lambda: ResponseDecoder(Registry()).feed(TextDelta(text=())),  # type: ignore[arg-type]
    "ArgumentsDelta.text must be str, not NoneType": lambda: ResponseDecoder(Registry()).feed(
        ArgumentsDelta(index=0, text=NONE)
    ),
    "messages[0] must be a Message, not int": lambda: ToolPolicies.discover([1]),  # type: ignore[list-item]
    "encoded_messages[0] must be a Message, not dict": lambda: observe_generation([WRONG], ChatResponse()),
    "call must be a ToolCall, not dict": lambda: observe_tool_call(WRONG),
    "report must be an EncodeReport, not NoneType": lambda: check_round_trip([], NONE, Registry()),
    "registry must be a Registry, not NoneType": lambda: check_round_trip([], ENCODED, NONE),
    "wiki_kb_ids must be a list of str, not str": lambda: wiki_scopes([], "kb-1"),
    "scopes[0] must be a WikiScope, not str": lambda: WikiRouteResolver().resolve_create("a", ["kb-1"]),  # type: ignore[list-item]
    "scopes must be a list of WikiScope, not WikiScope": lambda: WikiRouteResolver().scopes_for(
        "a",
        WikiScope(knowledge_base_id="kb-1"),  # type: ignore[arg-type]
    ),
    "scope must be a WikiScope, not str": lambda: page_in_scope({}, "kb-1"),  # type: ignore[arg-type]
    "leaks[0] must be an IdentifierLeak, not str": lambda: summarize_leaks([A]),  # type: ignore[list-item]
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_a_wrong_type_is_refused_in_one_sentence(sentence: str) -> None:
    """The place, what is wanted, what was given, and what to do where that is plain."""
    if "not Path" in sentence:
        sentence = sentence.replace("Path", type(Path()).__name__)
    with pytest.raises(TypeError, match=f"^{re.escape(sentence)}"):
        MISTAKES[sentence.replace(type(Path()).__name__, "Path")]()


def test_nothing_is_registered_before_a_wrong_message_is_found() -> None:
    """What comes before it in the list leaves no trace in the registry."""
    registry = Registry()

    with pytest.raises(TypeError):
        registry.encode_messages([user("weknora://doc/report-1"), WRONG])

    assert registry.handles() == ()


def test_a_chunk_of_a_wrong_type_leaves_what_is_held() -> None:
    """The decoder goes on as if it had not come."""
    registry = Registry()
    registry.register_document("report-1")
    decoder = registry.stream_decoder()
    held = decoder.feed("see doc://")

    with pytest.raises(TypeError):
        decoder.feed(NONE)

    assert held + decoder.feed("1") + decoder.flush() == "see weknora://doc/report-1"


class Role(StrEnum):
    """A role as some applications have it."""

    USER = "user"


class Text(str):
    """A text with more to it."""

    __slots__ = ()


def test_a_text_of_a_subclass_is_a_text() -> None:
    """String enumerations and other kinds of `str` are as good as a plain one."""
    message = Message(role=Role.USER, content=Text("weknora://doc/report-1"), parts=[Part(type=Text("text"))])

    assert Registry().encode_messages([message])[0].content == "doc://1"
    assert Registry().decode_output_text(Text("doc://1 ")) == " "


def test_a_list_is_as_good_as_a_tuple_and_null_is_no_output() -> None:
    """Sequences may be lists, an iterator may give the messages, and a result of somebody's JSON may hold nulls."""
    message = Message(role="assistant", tool_calls=[ToolCall(name="web_fetch", arguments="{}")], parts=[])

    assert Registry().encode_messages(iter([message])) == [message]
    assert Registry().model_tool_result(ToolResult(success=False, output=NONE, error=NONE)) == "Error: tool call failed"
